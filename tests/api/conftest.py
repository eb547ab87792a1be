"""Black-box tests: one daemon with its own data directory and PostgreSQL for the whole run, every
answer compared with api-spec/openapi.yaml on its way."""
import json
import pathlib
import re
import secrets
import struct
import sys

import jsonschema
import numpy as np
import psycopg2
import pytest
import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
import assay  # noqa: E402

SPEC = yaml.safe_load((ROOT / "api-spec/openapi.yaml").read_text(encoding="utf-8"))
STATUS = {slug: int(status) for slug, status in
          re.findall(r'X\(\w+, "(\w+)", (\d+)', (ROOT / "server/base/error.h").read_text())}
PROBLEM = "application/problem+json"
PARAMETER = {"{id}": "[0-9a-f]{32}"}
UNKNOWN_ID = "0192f00000007000800000000000dead"


def _pattern(path):
    parts = [PARAMETER.get(part, "[^/]+") if part.startswith("{") else re.escape(part)
             for part in path.split("/")]
    return re.compile("/".join(parts) + "$")


# Fixed paths come before those with parameters, as in the router.
PATHS = sorted(((_pattern(path), item) for path, item in SPEC["paths"].items()),
               key=lambda row: row[0].pattern.count("[^"))


def check_schema(schema, value):
    jsonschema.Draft202012Validator({**schema, "components": SPEC["components"]}).validate(value)


def check_problem(answer):
    """A problem document whose code and status belong together."""
    assert answer.headers["Content-Type"] == PROBLEM, answer.headers
    document = answer.json()
    check_schema({"$ref": "#/components/schemas/Problem"}, document)
    assert STATUS[document["code"]] == answer.status_code == document["status"], document
    assert not re.search(r"select |insert |constraint|psql|/tmp/|\.c:\d", document.get("detail", ""), re.I), document
    return document


def check_answer(method, path, answer):
    """What the API description says about this request's answer."""
    if answer.status_code >= 400:
        return check_problem(answer) if method != "HEAD" else None
    item = next(item for pattern, item in PATHS if pattern.match(path.partition("?")[0]))
    operation = item["get" if method == "HEAD" else method.lower()]
    described = operation["responses"][str(answer.status_code)]
    if "$ref" in described or "content" not in described or method == "HEAD":
        assert not answer.content, (method, path, answer.content[:200])
        return None
    media = answer.headers["Content-Type"].partition(";")[0]
    assert media in described["content"], (media, described)
    if media == "application/json":
        check_schema(described["content"][media]["schema"], answer.json())
    return None


class CheckedDaemon(assay.Daemon):
    """A daemon whose every answer is checked against the description."""

    def request(self, method, path, **kwargs):
        check = kwargs.pop("check", True)
        answer = super().request(method, path, **kwargs)
        if check and not kwargs.get("stream"):
            check_answer(method, path, answer)
        return answer

    def refused(self, method, path, status, code, pointer=None, parameter=None, **kwargs):
        """The problem document of a request that must fail in exactly this way."""
        answer = self.request(method, path, **kwargs)
        assert answer.status_code == status, f"{method} {path}: {answer.status_code} {answer.text}"
        problem = answer.json()
        assert problem["code"] == code, problem
        if pointer is not None:
            assert problem.get("pointer") == pointer, problem
        if parameter is not None:
            assert problem.get("parameter") == parameter, problem
        return problem

    def __exit__(self, *_):
        """A sanitizer that found something on the way or at the end fails the run."""
        self.stop()
        found = re.findall(r".*(?:Sanitizer|runtime error:).*", self.log.read_text(errors="replace"))
        super().__exit__(*_)
        assert not found, found

    def database(self):
        """A connection to the daemon's own PostgreSQL."""
        data = self.directory / "data"
        [pid] = self.pids("postgres")
        arguments = assay.processes()[pid][1]
        socket = next(a.split("=", 1)[1] for a in arguments if "unix_socket_directories=" in a)
        connection = psycopg2.connect(host=socket, user="assay", dbname="assay",
                                      password=(data / "pg-password").read_text().strip())
        connection.autocommit = True
        return connection


@pytest.fixture(scope="session")
def import_root(tmp_path_factory):
    """A directory of the server that data sets may be read from."""
    root = tmp_path_factory.mktemp("import-root")
    root.chmod(0o755)
    return root


@pytest.fixture(scope="session")
def daemon(import_root):
    with CheckedDaemon(ASSAY_IMPORT_ROOTS=str(import_root), ASSAY_POLL_SECONDS="1",
                       ASSAY_MAX_TRIALS="50") as running:
        yield running


@pytest.fixture(autouse=True)
def alive(daemon):
    """No test may bring the daemon down."""
    yield
    assert daemon.process.poll() is None, daemon.tail()
    assert daemon.get("/healthz")["status"] == "ok"


@pytest.fixture(scope="session")
def dataset(daemon):
    """400 training and 100 test pictures of 12 x 12 in 3 classes, easy to learn."""
    made = daemon.create_dataset(assay.blobs_idx(), "idx", name="blobs")
    assert made["state"] == "ready", made
    return made


def spec(dataset, **fields):
    """The shortest useful job on a data set."""
    return {"kind": "solver_comparison", "dataset": dataset["id"],
            "training": {"epochs": 2, "batch_size": 32}, **fields}


@pytest.fixture(scope="session")
def finished(daemon, dataset):
    """A finished comparison of three solvers with two seeds, and its trials."""
    job = daemon.submit(spec(dataset, name="finished", experiment="session", labels=["kept"], seeds=[1, 2]))
    trials = daemon.wait_job(job["id"])
    assert [t["state"] for t in trials] == ["completed"] * 6, trials
    return daemon.get(f"/v1/jobs/{job['id']}"), trials


@pytest.fixture(scope="session")
def trial(finished):
    return finished[1][0]


def long_job(dataset, **fields):
    """A job that runs for as long as a test needs it."""
    return spec(dataset, **{"training": {"epochs": 100000, "batch_size": 8, "solver": "sgdm"}, **fields})


def wait_until(condition, timeout=120, every=0.1):
    import time
    deadline = time.monotonic() + timeout
    while time.monotonic() < deadline:
        value = condition()
        if value:
            return value
        time.sleep(every)
    raise AssertionError("it did not come about in time")


@pytest.fixture
def running(daemon, dataset):
    """A job with one trial that is at work; cancelled afterwards."""
    job = daemon.submit(long_job(dataset, name="running"))
    trial = wait_until(lambda: next((t for t in daemon.trials(job["id"])
                                     if t["state"] == "running" and t["step"] > 0), None))
    yield job, trial
    daemon.request("POST", f"/v1/jobs/{job['id']}/cancel")
    daemon.wait_job(job["id"])


# ----------------------------------------------------------------------------------------- weights


TENSOR_TYPES = {"<f4": "F32", "<f2": "F16", "<i8": "I64"}


def safetensors(tensors, header=None, tail=b"", pad=0):
    """A file as the format's description says; header replaces what belongs there."""
    rows, data = {}, b""
    for name, array in tensors.items():
        raw = np.ascontiguousarray(array).tobytes()
        rows[name] = {"dtype": TENSOR_TYPES[array.dtype.str], "shape": list(array.shape),
                      "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = (json.dumps(rows) if header is None else header).encode() + b" " * pad
    return struct.pack("<Q", len(text)) + text + data + tail


def some_tensors(seed=0):
    rng = np.random.default_rng(seed)
    return {"fc.weight": rng.normal(size=(3, 4)).astype("<f4"), "conv.weight": rng.normal(size=(2, 1, 5, 5)).astype("<f2"),
            "bn.num_batches_tracked": np.array(7, "<i8"), "fc.bias": np.zeros(3, "<f4"), "empty": np.zeros((0, 3), "<f4")}


def declare_weights(daemon, name, files, **fields):
    return daemon.post("/v1/weights", {"name": name, "files": files, **fields}, status=(201,))


def wait_weights(daemon, made):
    return wait_until(lambda: next((w for w in [daemon.get(f"/v1/weights/{made['id']}")]
                                    if w["state"] in ("ready", "refused")), None))


def upload_weights(daemon, content, name=None, **fields):
    """The weights once they are ready or refused."""
    made = declare_weights(daemon, name or f"weights {secrets.token_hex(4)}", [{"name": "w.bin", "size": len(content)}], **fields)
    answer = daemon.request("PUT", f"/v1/weights/{made['id']}/files/w.bin", data=content,
                            headers={"Content-Type": "application/octet-stream"})
    assert answer.status_code == 202, answer.text
    return wait_weights(daemon, made)


@pytest.fixture(scope="session")
def weights(daemon):
    made = upload_weights(daemon, safetensors(some_tensors()), "kept", origin="a test", url="https://example.org/w",
                  licence="MIT", notes="n", preprocessing={"mean": [0.5], "std": [0.25]})
    assert made["state"] == "ready", made["error"]
    return made
