"""Every block of api-spec/recipes.md is run, in order, against a daemon of its own."""
import os
import pathlib
import re
import subprocess

import assay
import courses
import numpy as np
import pytest
from conftest import ROOT, CheckedDaemon
from pictures import pictures, png

PAGE = ROOT / "api-spec/recipes.md"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)
BLOCKS = [(match[1], match[2], PAGE.read_text()[:match.start()].count("\n") + 2) for match in BLOCK.finditer(PAGE.read_text())]
EXAMPLE = "http://127.0.0.1:8470"


def tables():
    """Engines whose column a rises to the end of their life: {name: text}."""
    rng = np.random.default_rng(1)

    def part(engines, whole):
        lines = ["unit,cycle,a,b"]
        for unit in range(1, engines + 1):
            life = int(rng.integers(20, 30))
            for cycle in range(1, (life if whole else life - 8) + 1):
                lines.append(f"{unit},{cycle},{cycle / life:.3f},{5 + rng.normal():.3f}")
        return "\n".join(lines) + "\n"

    return {"train.csv": part(8, True), "test.csv": part(3, False), "rul.csv": "8\n8\n8\n"}


class Reader:
    """Somebody who types the page: one shell, one Python, one database session."""

    def __init__(self, daemon, directory):
        self.daemon, self.directory = daemon, directory
        self.names = {"__name__": "recipes"}
        self.state = directory / ".state"
        self.state.write_text("")
        bin_directory = directory / "bin"
        bin_directory.mkdir()
        (bin_directory / "assayd").symlink_to(assay.BINARY)
        self.env = {k: v for k, v in os.environ.items() if not k.startswith("ASSAY_")}
        self.env |= {"PATH": f"{bin_directory}:{os.environ['PATH']}", "ASSAY_DATA_DIR": daemon.options["ASSAY_DATA_DIR"]}

    def sh(self, text):
        script = f". {self.state}\nset -euo pipefail\n{text}\n" \
                 f"{{ declare -f field; declare -p $(compgen -v | grep -x '[A-Z]'); }} >{self.state}\n"
        done = subprocess.run(["bash", "-c", script], cwd=self.directory, env=self.env, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, (done.stdout, done.stderr)
        return done.stdout

    def python(self, text):
        here = os.getcwd()
        os.chdir(self.directory)
        try:
            exec(compile(text, str(PAGE), "exec"), self.names)  # pylint: disable=exec-used
        finally:
            os.chdir(here)

    def sql(self, text):
        with self.daemon.database().cursor() as cursor:
            cursor.execute(text)
            found = cursor.fetchall()
            assert found or "true_class <> predicted_class" in text, text  # a network may be right everywhere
            return found


@pytest.fixture(scope="module")
def reader(tmp_path_factory):
    directory = tmp_path_factory.mktemp("recipes")
    for name, content in pictures(["daisy", "rose", "tulip"]).items():
        path = directory / "photos" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    (directory / "photo.png").write_bytes(png(np.full((20, 20), 125, np.uint8)))
    for name, content in {**tables(), "courses.csv": courses.table(courses.runs(8, 2)).decode()}.items():
        (directory / name).write_text(content)
    with CheckedDaemon(ASSAY_POLL_SECONDS="1") as running:
        yield Reader(running, directory)


def test_the_page_has_all_kinds_of_blocks():
    assert {kind for kind, _, _ in BLOCKS} == {"sh", "python", "sql"} and len(BLOCKS) >= 25
    assert len(BLOCK.findall(PAGE.read_text())) * 2 == PAGE.read_text().count("```")


@pytest.mark.parametrize("kind, text, line", BLOCKS, ids=[f"line {line}" for _, _, line in BLOCKS])
def test_a_block(reader, kind, text, line):
    getattr(reader, kind)(text.replace(EXAMPLE, reader.daemon.url))


def test_what_the_blocks_left(reader):
    """After the last block: the photographs, the tables, the jobs, the files that were saved."""
    files = {path.name for path in pathlib.Path(reader.directory).iterdir()}
    assert files >= {"photos.tar.gz", "results.csv", "network.safetensors", "flowers.backup", "watched.txt"}
    counts = reader.sql("select j.name, count(*) from report.trials t join report.jobs j on j.id = t.job_id group by 1 order by 1")
    assert counts == [("courses", 1), ("finer", 1), ("life", 2), ("rates", 4), ("smaller batches", 1), ("solvers", 12),
                      ("transfer", 2), ("windows", 1)]
    lines = (reader.directory / "results.csv").read_text().splitlines()
    assert len(lines) == 7 and all(",completed," in line for line in lines[1:])
    assert len(reader.names["rows"]) == 4 and reader.names["job"]["state"] == "completed"
