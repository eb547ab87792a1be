"""Occlusion and LIME of a finished trial: what it kept, the same asked for later, and beside what `predict` says of
pictures whose parts were hidden here. Windows of signals: test_signals.py."""
import io
import json

import numpy as np
import pytest
from conftest import spec, wait_until
from PIL import Image
from pictures import png
from test_explain_later import ask, ask_of, values
from test_explanations import NETWORK, SIDE, png_of

HIDING = {"methods": ["occlusion", "lime"], "occlusion": {"mask_size": 4, "stride": 3},
          "lime": {"segments": 9, "copies": 64, "seed": 5}}


@pytest.fixture(scope="module")
def hidden(daemon, dataset):
    """A finished trial that kept maps of what hides, of three items: the trial and their rows."""
    job = daemon.submit(spec(dataset, network=NETWORK, training={"epochs": 2, "batch_size": 32, "solver": "adam"},
                             explain={"samples": 3, **HIDING}))
    [trial] = daemon.wait_job(job["id"])
    assert trial["state"] == "completed", trial
    return trial, daemon.get(f"/v1/trials/{trial['id']}/explanations")["items"]


def kept(daemon, trial, row):
    found = daemon.get(f"/v1/trials/{trial['id']}/explanations/{row['n']}")
    return np.array(found["values"], np.float64).reshape(found["shape"])


def picture_of(daemon, trial, item):
    answer = daemon.request("GET", f"/v1/datasets/{trial['dataset']}/items/{item}/image")
    return np.array(Image.open(io.BytesIO(answer.content)))


def score_of(daemon, trial, picture, name):
    answer = daemon.request("POST", f"/v1/trials/{trial['id']}/predict?wait=55", data=png(picture),
                            headers={"Content-Type": "image/png"})
    return next(c["score"] for c in answer.json()["result"]["classes"] if c["name"] == name)


def test_what_was_asked_for_is_kept(daemon, hidden):
    trial, rows = hidden
    assert len({row["sample"] for row in rows}) == 3 and {row["method"] for row in rows} == {"occlusion", "lime"}
    for sample in {row["sample"] for row in rows}:
        of = [row for row in rows if row["sample"] == sample]
        told = list(dict.fromkeys([of[0]["predicted"], of[0]["true"]]))
        assert [(row["method"], row["class"]) for row in of] == [(m, c) for m in ("occlusion", "lime") for c in told]
        assert all(row["layer"] is None and row["shape"] == [SIDE, SIDE] and row["score"] is not None for row in of)
    url = f"/v1/trials/{trial['id']}/explanations"
    assert daemon.get(url + "?method=lime")["items"] == [row for row in rows if row["method"] == "lime"]
    assert daemon.get(url + "?method=grad_cam")["items"] == []
    assert daemon.get(f"/v1/trials/{trial['id']}")["resolved"]["explain"]["lime"] == {"segmentation": "grid", **HIDING["lime"]}


def test_asked_for_later_the_bits_are_equal(daemon, hidden):
    trial, rows = hidden
    for row in rows[:4]:
        found = ask(daemon, trial, item=row["sample"], method=row["method"], **{"class": row["class"]},
                    **{row["method"]: HIDING[row["method"]]})
        [again] = found["result"]["arrays"]
        assert {k: v for k, v in again.items() if k != "n"} == {k: v for k, v in row.items() if k != "n"}
        assert (values(daemon, found) == kept(daemon, trial, row)).all()


def test_the_mean_of_what_trained_hides(daemon, hidden):
    """As the trial's network says of itself: a grey level, near that of all pictures."""
    trial, rows = hidden
    with daemon.database() as connection, connection.cursor() as cursor:
        cursor.execute("select detail from artefact where trial_id = %s and kind = 'network'", (trial["id"],))
        detail = cursor.fetchone()[0]
    [mean] = (detail if isinstance(detail, dict) else json.loads(detail))["mean"]
    some = np.mean([picture_of(daemon, trial, item) for item in range(0, 500, 10)])
    assert abs(mean - some) < 10 and mean != round(mean)
    row = rows[0]
    found = ask(daemon, trial, item=row["sample"], method="occlusion", occlusion=HIDING["occlusion"],
                mask_value=[int(mean + 0.5)], **{"class": row["class"]})
    assert (values(daemon, found) == kept(daemon, trial, row)).all()


def test_occlusion_is_how_far_the_score_falls(daemon, hidden):
    """Beside `predict` of four pictures, of each a quarter hidden."""
    trial, rows = hidden
    picture = picture_of(daemon, trial, rows[0]["sample"])
    name, half = rows[0]["class"], SIDE // 2
    whole = score_of(daemon, trial, picture, name)
    want = np.zeros((SIDE, SIDE))
    for y in (0, half):
        for x in (0, half):
            hides = picture.copy()
            hides[y:y + half, x:x + half] = 33
            want[y:y + half, x:x + half] = whole - score_of(daemon, trial, hides, name)
    found = ask(daemon, trial, item=rows[0]["sample"], method="occlusion", mask_value=33,
                occlusion={"mask_size": [half, half], "stride": half}, **{"class": name})
    assert np.abs(values(daemon, found) - want).max() < 1e-4 * max(1, abs(whole)) and np.abs(want).max() > 0


def test_lime_is_of_cells(daemon, hidden):
    trial, rows = hidden
    row = next(row for row in rows if row["method"] == "lime")
    cells = kept(daemon, trial, row).reshape(3, 4, 3, 4).transpose(0, 2, 1, 3).reshape(9, 16)
    assert (cells == cells[:, :1]).all() and len({*cells[:, 0]}) == 9
    again = {**HIDING["lime"], "seed": 6}
    other = ask(daemon, trial, item=row["sample"], method="lime", lime=again, **{"class": row["class"]})
    assert (values(daemon, other) != kept(daemon, trial, row)).any()
    cut = ask(daemon, trial, item=row["sample"], method="lime", lime={**HIDING["lime"], "segmentation": "superpixels"})
    assert 2 <= len({*values(daemon, cut).ravel()}) <= 9


def test_drawings(daemon, hidden):
    trial, rows = hidden
    for row in rows[:3]:
        url, numbers = f"/v1/trials/{trial['id']}/explanations/{row['n']}", kept(daemon, trial, row)
        over, alone = png_of(daemon, url), png_of(daemon, url + "?overlay=false")
        assert over.shape == alone.shape == (SIDE, SIDE, 3)
        assert (alone[numbers <= 0] == 0).all()
        if numbers.max() > 0:
            assert (alone[np.unravel_index(numbers.argmax(), numbers.shape)] == 255).all()


def test_a_posted_picture_and_a_network_without_maps(daemon, dataset):
    [mlp] = daemon.wait_job(daemon.submit(spec(dataset, network={"name": "mlp"}, training={"solver": "adam"}))["id"])
    picture = np.random.default_rng(1).integers(0, 256, (SIDE, SIDE), np.uint8)
    for method in ("occlusion", "lime"):
        found = ask_of(daemon, mlp, png(picture), f"&method={method}&class=1")["result"]
        assert [(a["method"], a["class"], a["shape"]) for a in found["arrays"]] == [(method, "1", [SIDE, SIDE])]


def test_what_cannot_be_hidden(daemon, dataset, hidden):
    trial, _ = hidden
    url = f"/v1/trials/{trial['id']}/explanations"

    def refused(pointer, **question):
        return daemon.refused("POST", url, 422, "invalid_field", pointer, json={"item": 0, **question})["detail"]

    refused("/occlusion", occlusion={})
    refused("/lime", method="occlusion", lime={})
    refused("/mask_value", mask_value=3)
    refused("/mask_value", method="lime", mask_value=256)
    refused("/mask_value", method="lime", mask_value=[1, 2])
    refused("/layer", method="lime", layer="conv1")
    refused("/occlusion/mask_size", method="occlusion", occlusion={"mask_size": SIDE + 1})
    refused("/occlusion/mask_size/1", method="occlusion", occlusion={"mask_size": [1, 0]})
    refused("/occlusion/stride", method="occlusion", occlusion={"mask_size": 2, "stride": 3})
    refused("/lime/segments", method="lime", lime={"segments": 401})
    refused("/class", method="lime", **{"class": "no such"})
    daemon.refused("POST", url, 422, "unknown_field", "/lime/cells", json={"item": 0, "method": "lime", "lime": {"cells": 3}})
    job = spec(dataset, network={"name": "mlp"}, explain={"methods": ["occlusion"], "occlusion": {"mask_size": SIDE + 1}})
    daemon.refused("POST", "/v1/jobs", 422, "invalid_field", "/explain/occlusion/mask_size", json=job)


def test_a_network_from_before_the_mean_was_kept(daemon, dataset, hidden):
    """Last: its detail is changed."""
    trial, rows = hidden
    with daemon.database() as connection, connection.cursor() as cursor:
        cursor.execute("update artefact set detail = (detail::jsonb - 'mean')::json where trial_id = %s and kind = 'network'",
                       (trial["id"],))
    url = f"/v1/trials/{trial['id']}/explanations?wait=55"
    daemon.refused("POST", url, 422, "invalid_field", "/mask_value", json={"item": 0, "method": "occlusion"})
    assert ask(daemon, trial, item=rows[0]["sample"], method="occlusion", mask_value=0)["state"] == "ready"


def test_a_wish_is_heeded_while_it_explains(daemon, dataset):
    """Paused it is paused, not done, and explains again when it goes on; cancelled nothing is left."""
    slow = {"layers": [{**layer, "filters": 256, "kernel": 5} if layer["kind"] == "convolution" else layer for layer in NETWORK["layers"]]}
    made = spec(dataset, network=slow, training={"epochs": 1, "batch_size": 32, "solver": "sgdm"}, threads=1,
                explain={"samples": 60, "methods": ["lime"], "lime": {"copies": 4096}})

    def begin():
        job = daemon.submit(made)
        [trial] = daemon.trials(job["id"])
        url = f"/v1/trials/{trial['id']}"
        wait_until(lambda: daemon.get(url)["phase"] == "explaining")
        return job, url

    job, url = begin()
    assert daemon.post(f"{url}/pause")["effect"] == "requested"
    wait_until(lambda: daemon.get(url)["state"] != "running")
    paused = daemon.get(url)
    assert (paused["state"], paused["attempts"][-1]["outcome"]) == ("paused", "paused")
    assert paused["step"] == paused["checkpoint_step"] == paused["total_steps"]
    assert daemon.get(f"{url}/evaluations")["items"] == daemon.get(f"{url}/explanations")["items"] == []
    assert daemon.post(f"{url}/resume")["effect"] == "changed"
    [done] = daemon.wait_job(job["id"])
    assert done["state"] == "completed" and len({r["sample"] for r in daemon.get(f"{url}/explanations")["items"]}) == 60

    job, url = begin()
    assert daemon.post(f"{url}/cancel")["effect"] == "requested"
    [cancelled] = daemon.wait_job(job["id"])
    assert cancelled["state"] == daemon.get(url)["attempts"][-1]["outcome"] == "cancelled"
    log = [line["text"] for line in daemon.get(f"{url}/log")["items"]]
    assert log[-1] == "cancelled" and not any(" after step " in text for text in log), log
