"""Signals: recordings in, windows and a report out; training under noise; what is refused, and how."""
import io
import json
import math
import os
import pathlib
import subprocess
import tarfile
import wave
import zipfile

import numpy as np
import pytest

import assay
from test_explanations import png_of
from tones import WINDOW, tone, tones

SMALL = {"kind": "signal_classification", "seeds": [1],
         "network": {"name": "drsn_cw_1d", "repeats": 1},
         "training": {"epochs": 6, "batch_size": 32, "learning_rate": 0.05}}


EXPLAIN = {"samples": 2, "methods": ["grad_cam", "occlusion", "lime"], "mask_value": 0,
           "occlusion": {"mask_size": WINDOW // 2, "stride": WINDOW // 2}, "lime": {"segments": 8, "copies": 64}}


def packed(files):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return out.getvalue()


def wav(levels):
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(12800)
        file.writeframes(np.asarray(levels).astype("<i2").tobytes())
    return out.getvalue()


def make(daemon, name, files, **signal):
    return daemon.create_dataset({"recordings.zip": packed(files)}, "signals", name=name,
                                 signal={"window": WINDOW, **signal})


@pytest.fixture(scope="module")
def signals(daemon):
    made = make(daemon, "tones", tones())
    assert made["state"] == "ready", made
    return made


def test_recordings_become_windows(daemon, signals):
    assert signals["kind"] == "signals" and signals["layout"] == "signals"
    assert signals["counts"] == {"train": 112, "validation": 24, "test": 24}
    assert signals["signal"] == {"window": WINDOW, "channels": 1}
    assert signals["image"] is None and signals["sequence"] is None
    assert [c["name"] for c in signals["classes"]] == ["fast", "slow"]
    assert signals["report"]["signal"] == {"window": WINDOW, "stride": WINDOW, "channels": 1, "recordings": 40,
                                           "parts_by": "recordings", "gap": None}
    assert signals["report"]["warnings"] == []
    items = daemon.get(f"/v1/datasets/{signals['id']}/items?limit=500")["items"]
    parts = {}
    for item in items:
        recording, first = item["name"].split("@")
        parts.setdefault(recording, set()).add(item["part"])
        assert int(first) % WINDOW == 0
    assert len(items) == 160 and all(len(p) == 1 for p in parts.values())
    picture = daemon.request("GET", items[0]["image"])
    assert picture.headers["Content-Type"] == "image/png" and picture.content[:4] == b"\x89PNG"
    assert signals["id"] in [d["id"] for d in daemon.get("/v1/datasets?kind=signals")["items"]]


def test_formats_give_the_same_windows(daemon):
    levels = np.round(tone(7) * 20000)
    made = make(daemon, "two formats", {"train/a/1.f32": (levels / 32768).astype("<f4").tobytes(),
                                        "train/b/1.f32": tone(3).tobytes(), "test/a/1.wav": wav(levels)})
    assert made["state"] == "ready", made
    assert made["report"]["signal"]["parts_by"] == "folders"
    assert "duplicates_across_parts" in {w["code"] for w in made["report"]["warnings"]}
    assert [d["count"] for d in made["report"]["duplicates"]] == [2] * 4


def test_one_recording_a_class_is_cut_by_time(daemon):
    files = {"rig/one.f32": tone(5, 40 * WINDOW).tobytes(), "rig/two.f32": tone(9, 40 * WINDOW).tobytes(),
             "rig/labels.csv": "recording,class\none.f32,slow\ntwo.f32,fast\n"}
    refused = make(daemon, "too few to share", files)
    assert refused["state"] == "refused" and 'by "time"' in refused["error"]
    made = make(daemon, "by time", files, stride=WINDOW // 2, parts={"by": "time", "gap": 100})
    assert made["state"] == "ready", made
    assert made["report"]["signal"]["parts_by"] == "time" and made["report"]["signal"]["gap"] == 100
    spans = {}
    for item in daemon.get(f"/v1/datasets/{made['id']}/items?limit=500")["items"]:
        first = int(item["name"].split("@")[1])
        low, high = spans.get(item["part"], (first, first))
        spans[item["part"]] = (min(low, first), max(high, first))
    assert spans["train"][1] + WINDOW + 100 <= spans["validation"][0]
    assert spans["validation"][1] + WINDOW + 100 <= spans["test"][0]


def test_what_cannot_be_taken_is_listed(daemon):
    files = {**tones(8), "slow/short.f32": tone(1, 20).tobytes(), "slow/word.csv": "1\n2\nx\n",
             "fast/cut.wav": wav(tone(1) * 9000)[:-7], "fast/notes.pdf": "%PDF"}
    made = make(daemon, "some refused", files)
    assert made["state"] == "ready", made
    assert {r["name"]: r["reason"] for r in made["report"]["refused"]} == {
        "slow/short.f32": "too_short", "slow/word.csv": "not_a_number", "fast/cut.wav": "damaged",
        "fast/notes.pdf": "unsupported"}
    assert "refused_entries" in {w["code"] for w in made["report"]["warnings"]}


@pytest.mark.parametrize("fields, pointer", [
    ({"layout": "archive", "signal": {}}, "/signal"),
    ({"layout": "signals", "kind": "sequences"}, "/layout"),
    ({"layout": "signals", "image_size": 8}, "/image_size"),
    ({"layout": "signals", "signal": {"window": 1}}, "/signal/window"),
    ({"layout": "signals", "signal": {"parts": {"train": 0.8, "validation": 0.3}}}, "/signal/parts/validation"),
])
def test_a_wrong_declaration_names_the_field(daemon, fields, pointer):
    daemon.refused("POST", "/v1/datasets", 422, "invalid_field", pointer,
                   json={"name": "wrong", "files": [{"name": "x.zip", "size": 1}], **fields})


@pytest.mark.parametrize("fields, code, pointer", [
    ({"kind": "solver_comparison"}, "invalid_field", "/dataset"),
    ({"augmentation": {"x_reflection": True}}, "invalid_field", "/augmentation"),
    ({"split": {"train": 0.8}}, "invalid_field", "/split/train"),
    ({"split": {"validation": 0.2}}, "invalid_field", "/split/validation"),
    ({"data": {"normalisation": "rescale_unit"}}, "invalid_field", "/data/normalisation"),
    ({"data": {"sort": "none"}}, "invalid_field", "/data/sort"),
    ({"data": {"noise": {"kind": "brown"}}}, "invalid_field", "/data/noise/kind"),
    ({"data": {"noise": {"snr_db": 1000}}}, "invalid_field", "/data/noise/snr_db"),
    ({"data": {"noise": {"level": 3}}}, "unknown_field", "/data/noise/level"),
    ({"explain": {"occlusion": {"mask_size": WINDOW + 1}}}, "invalid_field", "/explain/occlusion/mask_size"),
    ({"explain": {"lime": {}, "mask_value": [1, 2]}}, "invalid_field", "/explain/mask_value"),
    ({"explain": {"lime": {"segmentation": "superpixels"}}}, "invalid_field", "/explain/lime/segmentation"),
])
def test_what_is_of_pictures_is_refused(daemon, signals, fields, code, pointer):
    daemon.refused("POST", "/v1/jobs", 422, code, pointer, json={**SMALL, "dataset": signals["id"], **fields})


def test_noise_is_for_signals(daemon, dataset):
    daemon.refused("POST", "/v1/jobs", 422, "invalid_field", "/data/noise",
                   json={"kind": "solver_comparison", "dataset": dataset["id"], "data": {"noise": {"kind": "pink"}}})
    daemon.refused("POST", "/v1/jobs", 422, "invalid_field", "/dataset",
                   json={"kind": "signal_classification", "dataset": dataset["id"]})


def test_a_network_of_sequences_is_refused_in_the_words_of_signals(daemon, signals):
    [first, *_] = daemon.refused("POST", "/v1/jobs", 422, "invalid_network", json={
        **SMALL, "dataset": signals["id"], "network": {"name": "lstm_classification"}})["issues"]
    assert "windows of signals, not sequences" in first["text"], first


def test_noise_that_leaves_the_range_of_numbers_is_no_divergence(daemon):
    made = make(daemon, "loud", {name: (np.frombuffer(data, "<f4") * np.float32(1e37)).tobytes()
                                 for name, data in tones(8).items()})
    assert made["state"] == "ready", made
    job = daemon.submit({**SMALL, "dataset": made["id"], "data": {"noise": {"kind": "gaussian", "snr_db": -60}}})
    [trial] = daemon.wait_job(job["id"])
    assert (trial["state"], trial["error"]["class"]) == ("failed", "invalid_input"), trial
    assert "raise snr_db" in trial["explanation"], trial["explanation"]


def test_by_default_it_is_the_published_comparison(daemon, signals):
    plan = daemon.post("/v1/jobs?dry_run=true", {"kind": "signal_classification", "dataset": signals["id"]})
    assert plan["trial_count"] == 36
    assert plan["resolved"]["search"]["parameters"] == {
        "network.name": ["convnet_1d", "resnet_1d", "drsn_cs_1d", "drsn_cw_1d"],
        "data.noise.kind": ["gaussian", "laplacian", "pink"], "data.noise.snr_db": [-5, 0, 5]}
    training = plan["resolved"]["training"]
    assert training["epochs"] == 100 and training["batch_size"] == 128
    schedule = training["schedule"]
    assert (schedule["kind"], schedule["drop_factor"], schedule["drop_period"]) == ("piecewise", 0.1, 40)
    assert "sort" not in plan["resolved"]["data"] and plan["resolved"]["split"]["train"] == 1


@pytest.fixture(scope="module")
def swept(daemon, signals):
    job = daemon.submit({**SMALL, "dataset": signals["id"], "explain": EXPLAIN, "search": {"parameters": {
        "data.noise.kind": ["none", "gaussian"], "data.noise.snr_db": [0]}}})
    trials = daemon.wait_job(job["id"])
    assert [t["state"] for t in trials] == ["completed"] * 2, trials
    return trials


def test_networks_learn_through_noise(daemon, swept):
    for trial in swept:
        matrix = daemon.get(f"/v1/trials/{trial['id']}/confusion-matrix?part=test")
        assert matrix["classes"] == ["fast", "slow"]
        right = sum(matrix["counts"][k][k] for k in range(2))
        assert sum(map(sum, matrix["counts"])) == 24
        assert right >= 22, (trial["parameters"], matrix)
    assert {t["parameters"]["data.noise.kind"] for t in swept} == {"none", "gaussian"}


def test_fixed_noise_is_part_of_the_data(daemon, signals):
    """Equal seeds of noise give equal bits whatever else; another seed gives other ones; fresh differs from fixed."""
    digests = {}
    noises = {"a": {"seed": 1}, "again": {"seed": 1}, "b": {"seed": 2}, "fresh": {"seed": 1, "draw": "fresh"}}
    for name, noise in noises.items():
        spec = {**SMALL, "dataset": signals["id"], "name": name, "data": {"noise": {"kind": "pink", "snr_db": -3, **noise}},
                "search": {"parameters": {}}, "training": {"epochs": 2, "batch_size": 32},
                "threads": 2 if name == "again" else 1}
        job = daemon.submit(spec)
        trial, = daemon.wait_job(job["id"])
        assert trial["state"] == "completed", trial
        points = daemon.get(f"/v1/trials/{trial['id']}/metrics?names=training_loss")
        digests[name] = json.dumps(points["metrics"]["training_loss"]["value"], sort_keys=True)
    assert digests["a"] == digests["again"]
    assert len({digests["a"], digests["b"], digests["fresh"]}) == 3


def test_a_window_is_predicted(daemon, swept):
    trial = swept[0]
    for cycles, name in ((5, "slow"), (25, "fast")):
        window = [float(x) for x in tone(cycles, WINDOW, phase=0.3)]
        for signal in (window, [[x] for x in window]):
            answer = daemon.post(f"/v1/trials/{trial['id']}/predict", {"signal": signal})
            assert answer["result"]["predicted"] == name, answer
            assert abs(sum(c["probability"] for c in answer["result"]["classes"]) - 1) < 1e-5
    path = f"/v1/trials/{trial['id']}/predict"
    daemon.refused("POST", path, 422, "invalid_field", "/signal", json={"signal": [1, 2, 3]})
    daemon.refused("POST", path, 422, "invalid_field", "/signal/3", json={"signal": [1, 2, 3, "x"] + [0] * (WINDOW - 4)})
    daemon.refused("POST", path, 422, "unknown_field", "/sequence", json={"sequence": [[1]], "signal": [1]})
    daemon.refused("POST", path, 422, "wrong_input", data=b"\x89PNG", headers={"Content-Type": "image/png"})


def values_of(daemon, path):
    found = daemon.get(path)
    return np.array(found["values"], np.float64).reshape(found["shape"])


def window_of(row):
    """The samples of an item, as they were uploaded: without the noise of a trial."""
    name, first = row["name"].split("@")
    return np.frombuffer(tones()[name], "<f4")[int(first):int(first) + WINDOW].astype(np.float64)


def score_of(daemon, trial, window, name):
    answer = daemon.post(f"/v1/trials/{trial['id']}/predict?wait=55", {"signal": list(window)})
    return next(c["score"] for c in answer["result"]["classes"] if c["name"] == name)


def test_a_window_is_explained(daemon, swept):
    """Kept and asked for later, to the bit; of occlusion also as `predict` of windows with one half at 0 says it."""
    for trial in swept:
        url = f"/v1/trials/{trial['id']}/explanations"
        rows = daemon.get(url)["items"]
        assert len({row["sample"] for row in rows}) == 2 and all(row["shape"] == [1, WINDOW] for row in rows)
        assert {row["method"] for row in rows} == set(EXPLAIN["methods"])
        for row in rows[:3]:
            more = {} if row["method"] == "grad_cam" else {"mask_value": 0, row["method"]: EXPLAIN[row["method"]]}
            question = {"item": row["sample"], "method": row["method"], "class": row["class"], **more}
            answer = daemon.post(url + "?wait=55", question)
            kept = values_of(daemon, f"{url}/{row['n']}")
            assert (values_of(daemon, f"/v1/explanations/{answer['id']}/0") == kept).all()
            assert answer["result"]["name"] == row["name"]
            if row["method"] == "occlusion":
                window, halves = window_of(row), []
                whole = score_of(daemon, trial, window, row["class"])
                for at in (0, WINDOW // 2):
                    hidden = window.copy()
                    hidden[at:at + WINDOW // 2] = 0
                    halves += [whole - score_of(daemon, trial, hidden, row["class"])] * (WINDOW // 2)
                assert np.abs(kept[0] - halves).max() < 1e-4 * max(1, abs(whole)) and np.abs(halves).max() > 1e-3


def test_a_map_of_a_window_is_a_band_over_its_plot(daemon, swept):
    url = f"/v1/trials/{swept[0]['id']}/explanations"
    row = daemon.get(url + "?method=grad_cam")["items"][0]
    plot = png_of(daemon, f"/v1/datasets/{swept[0]['dataset']}/items/{row['sample']}/image")
    over, alone = png_of(daemon, f"{url}/{row['n']}"), png_of(daemon, f"{url}/{row['n']}?overlay=false")
    numbers = np.repeat(values_of(daemon, f"{url}/{row['n']}")[0], plot.shape[1] // WINDOW)
    assert over.shape == alone.shape == (*plot.shape, 3)
    assert (alone == alone[:1]).all() and (alone[0][numbers <= 0] == 0).all()
    assert numbers.max() <= 0 or (alone[0][numbers.argmax()] == 255).all()
    assert (over[:, numbers <= 0] == plot[:, numbers <= 0, None]).all()


def test_windows_are_named_not_posted(daemon, swept):
    url = f"/v1/trials/{swept[0]['id']}/explanations?wait=55"
    daemon.refused("POST", url, 422, "wrong_input", data=b"\x89PNG", headers={"Content-Type": "image/png"})
    daemon.refused("POST", url, 422, "invalid_field", "/item", json={"item": 160})


def test_the_gearbox_by_the_command_line(daemon, tmp_path):
    place = tmp_path / "gearbox"
    command = [assay.BINARY, "simulate", "gearbox", str(place), "--recordings", "7", "--samples", "4096", "--seed", "3"]
    subprocess.run(command, check=True)
    archive = tmp_path / "gearbox.tar.gz"
    with tarfile.open(archive, "w:gz") as out:
        out.add(place, arcname="gearbox")
    done = subprocess.run([assay.BINARY, "dataset", "create", "--layout", "signals", "--name", "gearbox",
                           "--signal", '{"window": 2048}', str(archive)],
                          env={**os.environ, "ASSAY_SERVER": daemon.url}, check=True, capture_output=True, text=True)
    made = daemon.get(f"/v1/datasets/{done.stdout.strip()}")
    assert made["state"] == "ready" and made["counts"] == {"train": 80, "validation": 16, "test": 16}
    assert [c["name"] for c in made["classes"]] == sorted([
        "healthy", "inner_race", "outer_race", "ball", "root_crack", "pitting", "broken_tooth", "missing_tooth"])
    wrong = subprocess.run([*command, "--engines", "4"], capture_output=True, text=True)
    assert wrong.returncode == 2 and "usage" in wrong.stderr


def test_real_recordings(daemon):
    """One MATLAB-free recording a class of the bearing data: by time."""
    place = pathlib.Path(os.environ.get("ASSAY_TEST_DATA", "../shared/data")) / "signals" / "cwru"
    if not place.exists():
        pytest.skip(f"{place} is not there")
    files = sorted(place.glob("[0-9]_*.f32"))
    table = "recording,class\n" + "".join(f"{f.name},{f.stem[2:]}\n" for f in files)
    made = daemon.create_dataset({"cwru.zip": packed({**{f.name: f.read_bytes() for f in files}, "labels.csv": table})},
                                 "signals", name="cwru", signal={"window": 1024, "parts": {"by": "time"}})
    assert made["state"] == "ready", made
    assert made["class_count"] == 10 and made["report"]["signal"]["recordings"] == 10
    assert min(c["test"] for c in made["classes"]) >= 16
