"""Why a network says what it says: activations and Grad-CAM of a finished trial, beside the same computed
here from its stored network and pictures."""
import io

import numpy as np
import pytest
from conftest import spec
from PIL import Image
from test_transfer import tensors_of

# Dropout and batch norm: what is read must be as in evaluation (B05).
NETWORK = {"layers": [
    {"name": "in", "kind": "image_input", "normalisation": "rescale_unit"},
    {"name": "conv1", "kind": "convolution", "filters": 4, "kernel": 3}, {"name": "bn1", "kind": "batch_norm"},
    {"name": "relu1", "kind": "relu"}, {"name": "drop", "kind": "dropout", "rate": 0.5},
    {"name": "fc", "kind": "fully_connected"}, {"name": "softmax", "kind": "softmax"}]}
SIDE, MAP, FILTERS, CLASSES = 12, 10, 4, 3


def job_of(dataset, **explain):
    return spec(dataset, network=NETWORK, training={"epochs": 2, "batch_size": 32, "solver": "adam"},
                explain={"samples": 5, "layers": ["relu1", "drop", "fc"], **explain})


def run(daemon, job):
    made = daemon.submit(job)
    [trial] = daemon.wait_job(made["id"])
    assert trial["state"] == "completed", trial
    return trial


@pytest.fixture(scope="module")
def explained(daemon, dataset):
    trial = run(daemon, job_of(dataset))
    return trial, daemon.get(f"/v1/trials/{trial['id']}/explanations")["items"]


def values_of(daemon, trial, row):
    found = daemon.get(f"/v1/trials/{trial['id']}/explanations/{row['n']}")
    assert {key: found[key] for key in row} == row
    return np.array(found["values"], np.float64).reshape(found["shape"])


def png_of(daemon, path):
    answer = daemon.request("GET", path, headers={"Accept": "image/png"})
    assert answer.status_code == 200 and answer.headers["Content-Type"] == "image/png", answer.text
    return np.array(Image.open(io.BytesIO(answer.content)))


def evaluate(daemon, trial, item):
    """relu1, the scores, and d scores / d relu1, in double, from the stored network and picture."""
    raw = tensors_of(daemon.request("GET", f"/v1/trials/{trial['id']}/network").content)
    t = {name: np.frombuffer(data, "<f4").astype(np.float64) for name, data in raw.items()}
    x = png_of(daemon, f"/v1/datasets/{trial['dataset']}/items/{item}/image") / 255.0
    w = t["conv1.weight"].reshape(FILTERS, 3, 3)
    windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3))
    y = np.einsum("yxij,kij->yxk", windows, w) + t["conv1.bias"]
    y = (y - t["bn1.running_mean"]) / np.sqrt(t["bn1.running_var"] + 1e-5) * t["bn1.weight"] + t["bn1.bias"]
    y = np.maximum(y, 0)
    fc = t["fc.weight"].reshape(CLASSES, FILTERS, MAP, MAP)
    return y, np.einsum("yxk,ckyx->c", y, fc) + t["fc.bias"], fc


def enlarge(small, size):
    """Bilinear, pixel centres at +0.5, edges held."""
    place = np.maximum((np.arange(size) + 0.5) * len(small) / size - 0.5, 0)
    low = place.astype(int)
    high = np.minimum(low + 1, len(small) - 1)
    share = place - low
    rows = small[low] * (1 - share)[:, None] + small[high] * share[:, None]
    return rows[:, low] * (1 - share) + rows[:, high] * share


def test_what_was_asked_for_is_kept(daemon, dataset, explained):
    trial, rows = explained
    samples = sorted({row["sample"] for row in rows})
    assert len(samples) == 5 and all(row["part"] == row["trial_part"] == "test" for row in rows)
    for sample in samples:
        of = [row for row in rows if row["sample"] == sample]
        assert [r["layer"] for r in of if r["method"] == "activations"] == ["relu1", "drop", "fc"]
        maps = [r for r in of if r["method"] == "grad_cam"]
        assert [r["class"] for r in maps] == [of[0]["predicted"], of[0]["true"]][:len(maps)]
        assert len(maps) == 1 + (of[0]["predicted"] != of[0]["true"])
        assert all(r["layer"] == "relu1" and r["shape"] == [SIDE, SIDE] for r in maps)
    assert [r["n"] for r in rows] == list(range(len(rows)))
    only = daemon.get(f"/v1/trials/{trial['id']}/explanations?method=grad_cam")["items"]
    assert only == [r for r in rows if r["method"] == "grad_cam"]


def test_numbers_are_those_of_evaluation(daemon, explained):
    trial, rows = explained
    for row in rows:
        features, scores, fc = evaluate(daemon, trial, row["sample"])
        found = values_of(daemon, trial, row)
        classes = sorted({r["true"] for r in rows} | {r["predicted"] for r in rows})
        if row["method"] == "activations":
            want = {"relu1": features, "drop": features, "fc": scores.reshape(1, 1, -1)}[row["layer"]]
        else:
            names = [c["name"] for c in daemon.get(f"/v1/datasets/{trial['dataset']}")["classes"]]
            k = names.index(row["class"])
            assert abs(row["score"] - scores[k]) < 1e-3
            weights = fc[k].mean((1, 2))
            want = enlarge(np.maximum((features * weights).sum(2), 0), SIDE)
        assert classes and np.abs(found - want).max() < 1e-4 * max(1, np.abs(want).max()), row


def test_reading_again_and_running_again_give_the_same(daemon, dataset, explained):
    trial, rows = explained
    url = f"/v1/trials/{trial['id']}/activations?layer=drop&sample={rows[0]['sample']}"
    assert len({str(daemon.get(url)) for _ in range(5)}) == 1
    assert daemon.get(url) == daemon.get(f"/v1/trials/{trial['id']}/explanations/{rows[1]['n']}")
    again = run(daemon, job_of(dataset))
    assert daemon.get(f"/v1/trials/{again['id']}/explanations")["items"] == rows
    for row in rows:
        assert (values_of(daemon, again, row) == values_of(daemon, trial, row)).all()


def test_drawings(daemon, explained):
    trial, rows = explained
    url = f"/v1/trials/{trial['id']}/explanations"
    tiles = next(r for r in rows if r["layer"] == "relu1" and r["method"] == "activations")
    assert png_of(daemon, f"{url}/{tiles['n']}").shape == (2 * MAP + 1, 2 * MAP + 1)
    cam = next(r for r in rows if r["method"] == "grad_cam")
    over, alone = png_of(daemon, f"{url}/{cam['n']}"), png_of(daemon, f"{url}/{cam['n']}?overlay=false")
    assert over.shape == alone.shape == (SIDE, SIDE, 3)
    values = values_of(daemon, trial, cam)
    picture = png_of(daemon, f"/v1/datasets/{trial['dataset']}/items/{cam['sample']}/image")
    assert (alone[values == 0] == 0).all() and (over[values == 0] == picture[values == 0][:, None]).all()
    assert (alone[np.unravel_index(values.argmax(), values.shape)] == 255).all() or values.max() == 0


def test_samples_by_name_and_other_layers(daemon, dataset):
    trial = run(daemon, job_of(dataset, samples=[7, 3], methods=["grad_cam"], feature_layer="conv1") |
                {"explain": {"samples": [7, 3], "methods": ["grad_cam"], "feature_layer": "conv1"}})
    rows = daemon.get(f"/v1/trials/{trial['id']}/explanations")["items"]
    assert [r["sample"] for r in rows if r["class"] == r["predicted"]] == [7, 3]
    assert {r["layer"] for r in rows} == {"conv1"} and {r["part"] for r in rows} == {"train"}
    held = {p["sample"] for p in daemon.get(f"/v1/trials/{trial['id']}/predictions?part=validation&limit=500")["items"]}
    assert [r["trial_part"] for r in rows] == ["validation" if r["sample"] in held else "train" for r in rows]


def test_what_is_not_there_is_said(daemon, dataset, explained, trial):
    mine = explained[0]["id"]
    daemon.refused("GET", f"/v1/trials/{mine}/explanations/999999", 404, "not_found")
    daemon.refused("GET", f"/v1/trials/{mine}/explanations/x", 404, "not_found")
    daemon.refused("GET", f"/v1/trials/{mine}/activations?layer=conv1&sample=1", 404, "not_found")
    daemon.refused("GET", f"/v1/trials/{mine}/activations?layer=drop", 400, "invalid_parameter", parameter="sample")
    daemon.refused("GET", f"/v1/trials/{mine}/explanations?method=deep_dream", 400, "invalid_parameter", parameter="method")
    assert daemon.get(f"/v1/trials/{trial['id']}/explanations")["items"] == []  # it asked for nothing
    daemon.refused("POST", "/v1/jobs", 422, "not_supported", "/explain/methods",
                   json={**job_of(dataset), "network": {"name": "mlp"}, "explain": {}})
    daemon.refused("POST", "/v1/jobs", 422, "invalid_field", "/explain/layers/0",
                   json=job_of(dataset, layers=["softmax"]))
