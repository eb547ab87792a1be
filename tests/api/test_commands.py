"""The command line as a person meets it: help, numbers instead of ids, reasons; a port that is taken."""
import importlib.util
import os
import pathlib
import shutil
import subprocess
import tempfile

import pytest
from assay import BINARY, blobs_idx, free_port
from conftest import long_job, spec


def run(*arguments, server=None, **options):
    env = {k: v for k, v in os.environ.items() if not k.startswith("ASSAY_")}
    env.update(options, **({"ASSAY_SERVER": server} if server else {}))
    return subprocess.run([BINARY, *map(str, arguments)], env=env, capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize("role", ["serve", "work", "submit", "dataset", "weights", "list", "show", "cancel", "simulate",
                                  "migrate", "token", "backup", "restore", "health", "routes", "version"])
def test_every_command_has_its_help(role):
    asked = run("help", role)
    assert asked.returncode == 0 and asked.stdout.startswith("usage: assayd ") and role in asked.stdout, asked
    for flag in ("--help", "-h"):
        flagged = run(role, flag)
        assert (flagged.returncode, flagged.stdout) == (0, asked.stdout), flagged
    assert asked.stdout != run("help").stdout


def test_health_of_server_and_worker(daemon, tmp_path):
    well = run("health", server=daemon.url)
    assert (well.returncode, well.stdout) == (0, "ready\n"), well
    nowhere = f"http://127.0.0.1:{free_port()}"
    gone = run("health", server=nowhere)
    assert gone.returncode == 1 and not gone.stdout, gone
    assert gone.stderr.startswith(f"assayd: no answer from {nowhere}: "), gone
    data = daemon.directory / "data"
    works = run("health", "work", ASSAY_DATA_DIR=str(data))
    assert (works.returncode, works.stdout) == (0, "works\n"), works
    nobody = run("health", "work", ASSAY_DATA_DIR=str(tmp_path))
    assert nobody.returncode == 1 and "no worker" in nobody.stderr, nobody
    address = daemon.database().get_dsn_parameters()
    (tmp_path / "work").mkdir()
    (tmp_path / "work/node").write_text("0192f000000070008000000000000bad")
    silent = run("health", "work", ASSAY_DATA_DIR=str(tmp_path), ASSAY_DATABASE=f"host={address['host']} dbname=assay user=assay "
                 f"password={(data / 'pg-password').read_text().strip()}")
    assert silent.returncode == 1 and "no sign" in silent.stderr, silent
    assert run("health", "wrok").returncode == 2


def test_help_names_the_environment():
    text = run("help").stdout
    assert "ASSAY_SERVER" in text and "ASSAY_TOKEN" in text and "--server" in text
    assert run("help", "sumbit").returncode == 2
    assert run("submit", "--watcg").returncode == 2


def test_a_job_by_its_number(daemon, finished):
    job = finished[0]
    by_id, by_number = (run("show", name, server=daemon.url) for name in (job["id"], job["number"]))
    assert by_id.returncode == 0 and by_id.stdout == by_number.stdout and "completed" in by_id.stdout
    missing = run("show", 999999, server=daemon.url)
    assert missing.returncode == 1 and "number 999999" in missing.stderr


def test_cancel_prints_what_it_did(daemon, dataset):
    job = daemon.submit(long_job(dataset))
    daemon.post(f"/v1/jobs/{job['id']}/pause")
    done = run("cancel", job["number"], server=daemon.url)
    assert done.returncode == 0 and "cancelled" in done.stdout and "the job is " in done.stdout, done
    daemon.wait_job(job["id"])


def test_issues_of_a_network_are_told_once_and_whole(daemon, dataset, tmp_path):
    job = tmp_path / "job.json"
    job.write_text('{"kind": "solver_comparison", "dataset": "%s", "network": {"layers": [{"name": "in", "kind": "image_input"}, '
                   '{"name": "c", "kind": "convolution", "filters": 2, "kernel": 99}, {"name": "fc", "kind": "fully_connected"}, '
                   '{"name": "sm", "kind": "softmax"}]}}' % dataset["id"])
    told = run("submit", job, server=daemon.url)
    assert told.returncode == 1 and told.stdout == ""
    first, *issues = told.stderr.splitlines()
    assert first == "assayd: 422 invalid_network:"
    assert issues and issues[0].startswith('  error at /network/layers/1') and 'layer "c": ' in issues[0]
    assert len(set(issues)) == len(issues) and "; " in issues[0], issues


def test_what_cannot_be_read_says_why(daemon, tmp_path):
    assert "No such file" in run("submit", tmp_path / "none.json", server=daemon.url).stderr
    assert "No such file" in run("dataset", "create", "--layout", "archive", tmp_path / "none.zip", server=daemon.url).stderr
    assert "it is no file" in run("dataset", "create", "--layout", "archive", "/dev/null", server=daemon.url).stderr


def test_pictures_are_brought_to_a_size_and_to_three_channels(daemon, tmp_path):
    files = []
    for name, content in blobs_idx(30, 10).items():
        files.append(tmp_path / name)
        files[-1].write_bytes(content)
    made = run("dataset", "create", "--layout", "idx", "--image-size", "24,20", "--channels", "3", *files,
               server=daemon.url)
    assert made.returncode == 0, made.stderr
    report = daemon.get(f"/v1/datasets/{made.stdout.strip()}")["report"]
    assert report["image"] == {"height": 24, "width": 20, "channels": 3}
    assert report["counts"]["resized"] == 40
    for flag, value in (("--image-size", "24x20"), ("--image-size", ","), ("--channels", "rgb"), ("--channels", "")):
        told = run("dataset", "create", "--layout", "idx", flag, value, *files, server=daemon.url)
        assert told.returncode == 2 and f"{flag} takes whole numbers" in told.stderr, told
    assert "/channels" in run("dataset", "create", "--layout", "idx", "--channels", "2", *files, server=daemon.url).stderr


def test_own_metrics_stand_in_the_table(daemon, dataset, tmp_path):
    job = daemon.submit(spec(dataset, training={"epochs": 1, "batch_size": 32, "solver": "sgdm"}, evaluation={
        "custom_metrics": [{"name": "seven", "lua": "return 7"}, {"name": "broken", "lua": "return nothing + 1"}]}))
    daemon.wait_job(job["id"])
    shown = run("show", job["id"], server=daemon.url).stdout
    assert "validation_seven" in shown and "7.0000" in shown and "test_broken" in shown
    assert "trial 1: test_broken has no value: line 1: " in shown


def test_a_port_that_is_taken_ends_the_daemon(daemon):
    place = pathlib.Path(tempfile.mkdtemp(prefix="assay-", dir="/tmp"))
    place.chmod(0o755)
    try:
        ended = run(ASSAY_DATA_DIR=str(place / "data"), ASSAY_LISTEN=daemon.host, ASSAY_STOP_SECONDS="0")
        assert ended.returncode not in (0, 2), ended.returncode
        assert "Address already in use" in ended.stderr
        assert ended.stderr.count(" start_failed ") == 1, ended.stderr
        wrong = [line for line in ended.stderr.splitlines() if "FATAL" in line or "misses migrations" in line]
        # a connection that is still open when PostgreSQL is told to stop is told so
        assert all("due to administrator command" in line for line in wrong), wrong
    finally:
        shutil.rmtree(place, ignore_errors=True)


def test_what_lacks_is_said_before_the_usage(tmp_path):
    folder = run("dataset", "create", "--layout", "archive", tmp_path)
    assert folder.returncode == 2 and f"tar -czf NAME.tar.gz -C {tmp_path} ." in folder.stderr, folder
    for arguments, words in (((tmp_path / "a.csv",), "--layout is missing"), (("--layout", "table"), "no file is named")):
        said = run("dataset", "create", *arguments)
        assert said.returncode == 2 and words in said.stderr.splitlines()[0] and "usage:" in said.stderr, said


def test_a_named_network_of_another_size_says_what_mends_it(daemon, dataset, tmp_path):
    job = tmp_path / "job.json"
    for size, told in (("", "give 0 (to a named network as size)"), (', "size": 0', "")):
        job.write_text('{"kind": "solver_comparison", "dataset": "%s", "explain": {}, "network": {"name": "mobilenet_v2"%s}}'
                       % (dataset["id"], size))
        said = run("submit", job, server=daemon.url).stderr
        assert told in said and "grad_cam" not in said and ("the height is 224" in said) == (size == ""), said


def test_the_demonstration_compares_like_with_like():
    """The last sentences of `make demo`: a best for each threshold, none over all of them."""
    spec_of = importlib.util.spec_from_file_location("table", pathlib.Path(__file__).parents[1] / "demo/table.py")
    table = importlib.util.module_from_spec(spec_of)
    spec_of.loader.exec_module(table)
    rows = [("turbofans: x", f"threshold {t}, depth {d}", "test_rmse", [t / 10 + d], [1], f"threshold {t}")
            for t in (150, 200) for d in (2, 1)]
    said = list(table.findings(rows))
    assert "16.0 with threshold 150, depth 1; 21.0 with threshold 200, depth 1" in said[0], said
    assert len(said) == 2 and "not to be compared" in said[1], said
    assert len(list(table.findings([(*row[:5], "") for row in rows[:2]]))) == 1
