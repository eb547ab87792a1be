"""The page in a real browser: one daemon, one browser and one history for the whole run. Whatever a
test makes the page complain about fails it, unless the test asked for the complaints itself."""
import pathlib
import subprocess
import sys
import time

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
from support import assay, history  # noqa: E402
from support.browser import Browser  # noqa: E402
from support.pictures import png, zip_of  # noqa: E402
from support.tones import WINDOW, tones  # noqa: E402

MARKUP = '<img src=x onerror="window.hostile=1"><script>window.hostile=1</script>&amp;'
LABEL = "<img src=x onerror=window.hostile=1>"
LONG = "a name that goes on " * 9 + "and ends here"
WORD = "outer_race_of_the_second_bearing_" * 2  # nowhere to break it
OTHER = "猫と犬 · قط وكلب · Ñandú · 🐈\u200d⬛"
CLASSES = ["<b>bold<b>", "猫と犬", "long " + "class " * 12 + "name"]
NETWORK = {"layers": [
    {"name": "in", "kind": "image_input", "normalisation": "rescale_unit"},
    {"name": "conv1", "kind": "convolution", "filters": 4, "kernel": 3}, {"name": "bn1", "kind": "batch_norm"},
    {"name": "relu1", "kind": "relu"}, {"name": "fc", "kind": "fully_connected"}, {"name": "softmax", "kind": "softmax"}]}
LSTM = {"network": {"name": "lstm_regression", "units": 12, "hidden": [6]}, "training": {"epochs": 4, "batch_size": 4}}


def wait_until(condition, what, timeout=120):
    deadline = time.monotonic() + timeout
    while time.monotonic() < deadline:
        value = condition()
        if value:
            return value
        time.sleep(0.05)
    raise AssertionError(f"it did not come about in time: {what}")


def spec(dataset, **fields):
    return {"kind": "solver_comparison", "dataset": dataset["id"], "training": {"epochs": 2, "batch_size": 32}, **fields}


@pytest.fixture(scope="session")
def daemon():
    with assay.Daemon(ASSAY_POLL_SECONDS="1", ASSAY_MAX_TRIALS="5000") as running:
        yield running


# ------------------------------------------------------------------------------------------ data


@pytest.fixture(scope="session")
def blobs(daemon):
    made = daemon.create_dataset(assay.blobs_idx(), "idx", name="blobs")
    assert made["state"] == "ready", made
    return made


@pytest.fixture(scope="session")
def finished(daemon, blobs):
    """A comparison of three solvers with two seeds: the job and its trials."""
    job = daemon.submit(spec(blobs, name="finished", experiment="session", labels=["kept"], seeds=[1, 2]))
    trials = daemon.wait_job(job["id"])
    assert [t["state"] for t in trials] == ["completed"] * 6, trials
    return daemon.get(f"/v1/jobs/{job['id']}"), trials


def grey_entries(rng, name, level, count):
    return {f"{name}/{i}.png": png(rng.integers(level, level + 120, (12, 12), dtype=np.uint8)) for i in range(count)}


@pytest.fixture(scope="session")
def named(daemon):
    """Pictures in classes with hostile names, unbalanced, hard to tell apart, two of them no pictures."""
    rng = np.random.default_rng(5)
    entries = {}
    for name, level, count in zip(CLASSES, (60, 66, 72), (60, 40, 12)):
        entries.update(grey_entries(rng, name, level, count))
    entries[f"{CLASSES[0]}/<i>broken<i>.png"] = b"\x89PNG\r\n\x1a\n and no more"
    entries[f"{CLASSES[1]}/empty.png"] = b""
    made = daemon.create_dataset({"named.zip": zip_of(entries)}, "archive", name=f"{MARKUP} {OTHER} {WORD}", notes=MARKUP)
    assert made["state"] == "ready" and made["report"]["counts"]["refused"] == 2, made
    return made


@pytest.fixture(scope="session")
def hostile(daemon, named):
    """A job whose every text tries to be more than text: the job and its trials, with explanations."""
    job = daemon.submit(spec(named, name=f"{MARKUP} {OTHER} {WORD}", experiment=f"{MARKUP} {WORD}", labels=[LABEL, OTHER],
                             notes=f"{MARKUP}\n{LONG}", network=NETWORK, seeds=[1, 2],
                             search={"strategy": "grid", "parameters": {"training.solver": ["sgdm", "adam"]}},
                             explain={"samples": 8, "part": "validation", "layers": ["relu1"]}))
    trials = daemon.wait_job(job["id"])
    assert [t["state"] for t in trials] == ["completed"] * 4, trials
    return daemon.get(f"/v1/jobs/{job['id']}"), trials


@pytest.fixture(scope="session")
def regression(daemon, tmp_path_factory):
    """A finished regression over simulated engines: its one trial."""
    directory = tmp_path_factory.mktemp("engines")
    subprocess.run([assay.BINARY, "simulate", "turbofan", str(directory), "--engines", "6", "--seed", "9"], check=True)
    files = {name: (directory / name).read_bytes() for name in ("train_FD.txt", "test_FD.txt", "RUL_FD.txt")}
    made = daemon.create_dataset(files, "cmapss", name="engines")
    assert made["state"] == "ready", made
    job = daemon.submit({"kind": "sequence_regression", "dataset": made["id"], "name": "engines", **LSTM,
                         "search": {"strategy": "grid", "parameters": {"data.rul_threshold": [60]}}})
    [trial] = daemon.wait_job(job["id"])
    assert trial["state"] == "completed", trial
    return trial


@pytest.fixture(scope="session")
def signals(daemon):
    """Windows of signals in two classes."""
    made = daemon.create_dataset({"recordings.zip": zip_of(tones(8))}, "signals", name="bearings", signal={"window": WINDOW})
    assert made["state"] == "ready", made
    return made


@pytest.fixture(scope="session")
def heard(daemon, signals):
    """A network of signals after a single step, alone in its experiment: the job and its trial."""
    job = daemon.submit({"kind": "signal_classification", "dataset": signals["id"], "name": "heard", "experiment": "one", "seeds": [1],
                         "network": {"name": "drsn_cw_1d", "repeats": 0}, "training": {"epochs": 1, "batch_size": signals["counts"]["train"]},
                         "search": {"strategy": "grid", "parameters": {"training.solver": ["adam"]}}})
    [trial] = daemon.wait_job(job["id"])
    assert (trial["state"], trial["step"]) == ("completed", 1), trial
    return daemon.get(f"/v1/jobs/{job['id']}"), trial


@pytest.fixture(scope="session")
def weights(daemon, hostile):
    """The network of a trial, uploaded as weights."""
    content = daemon.request("GET", f"/v1/trials/{hostile[1][0]['id']}/network").content
    made = daemon.post("/v1/weights", {"name": f"{MARKUP} {WORD}", "origin": f"{MARKUP} {LONG}", "licence": "MIT",
                                       "files": [{"name": "network.safetensors", "size": len(content)}]})
    daemon.request("PUT", f"/v1/weights/{made['id']}/files/network.safetensors", data=content,
                   headers={"Content-Type": "application/octet-stream"})
    return wait_until(lambda: next((w for w in daemon.get("/v1/weights")["items"] if w["state"] == "ready"), None), "weights that were checked")


@pytest.fixture(scope="session")
def many(daemon, blobs, finished):
    """A job of 5,000 trials, the first ten with a curve of 100,000 points: the job and those ten."""
    job = history.fill_job(daemon, blobs, finished[1][0])
    first = daemon.get(f"/v1/jobs/{job['id']}/trials?limit=10")["items"]
    history.fill_curves(daemon, job["id"], [t["id"] for t in first])
    return job, first


@pytest.fixture(scope="session")
def diverged(daemon, blobs):
    """A failed trial whose curves and figures hold NaN and infinities."""
    job = daemon.submit(spec(blobs, name="diverged", training={"epochs": 20, "batch_size": 32, "solver": "sgdm",
                                                               "learning_rate": 1e12}))
    [trial] = daemon.wait_job(job["id"])
    assert trial["state"] == "failed" and trial["error"]["class"] == "diverged", trial
    history.replace_values(daemon, job["id"], trial["id"], "training_loss", [2, "NaN", 1, "Infinity", "-Infinity", 0.5, "NaN"])
    return trial


@pytest.fixture
def running(daemon, blobs):
    """A job with one trial at work, cancelled afterwards: the job and its trial."""
    job = daemon.submit(spec(blobs, name="running", training={"epochs": 100000, "batch_size": 8, "solver": "sgdm"}))
    trial = wait_until(lambda: next((t for t in daemon.trials(job["id"]) if t["state"] == "running" and t["step"] > 0),
                                    None), "a trial at work")
    yield job, trial
    daemon.request("POST", f"/v1/jobs/{job['id']}/cancel")
    daemon.wait_job(job["id"])


# ------------------------------------------------------------------------------------------ page


class Page:
    """The daemon's page in the shared browser."""

    def __init__(self, browser, daemon):
        self.browser, self.daemon = browser, daemon

    def __getattr__(self, name):
        return getattr(self.browser, name)

    def go(self, route):
        """Opens a route such as "#/jobs/ID"."""
        self.browser.open(f"{self.daemon.url}/{route}")


@pytest.fixture(scope="session")
def chrome():
    with Browser() as browser:
        yield browser


@pytest.fixture
def page(chrome, daemon, request):
    """The page at 1,280 pixels in light, nothing remembered; must not complain, nor run what a name holds."""
    failed_before = request.session.testsfailed
    chrome.open("about:blank")
    chrome.forget()
    chrome.window(1280)
    chrome.scheme("light")
    chrome.complaints()
    yield Page(chrome, daemon)
    if request.session.testsfailed == failed_before:
        assert chrome.complaints() == []
        assert not chrome.script("return window.hostile"), "a name was run as a script"
