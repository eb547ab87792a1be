"""Explanations asked for after the end: of any item of the data set, or of a posted picture, beside those that a
trial kept and beside the same computed here from its stored network."""
import io
import json

import numpy as np
import pytest
from conftest import UNKNOWN_ID, long_job, spec
from PIL import Image
from pictures import png
from test_explanations import MAP, NETWORK, SIDE, enlarge, evaluate, png_of
from test_predict import engines  # noqa: F401 (a fixture)


@pytest.fixture(scope="module")
def explained(daemon, dataset):
    """A finished trial that kept explanations of five items of its test part."""
    job = daemon.submit(spec(dataset, network=NETWORK, training={"epochs": 2, "batch_size": 32, "solver": "adam"},
                             explain={"samples": 5, "layers": ["relu1", "fc"]}))
    [trial] = daemon.wait_job(job["id"])
    assert trial["state"] == "completed", trial
    return trial, daemon.get(f"/v1/trials/{trial['id']}/explanations")["items"]


def ask(daemon, trial, wait=55, **question):
    answer = daemon.request("POST", f"/v1/trials/{trial['id']}/explanations?wait={wait}", json=question)
    assert answer.status_code == 200, answer.text
    found = answer.json()
    assert found["state"] == "ready" and found["trial"] == trial["id"] and found["error"] is found["code"] is None
    assert daemon.get(f"/v1/explanations/{found['id']}") == found
    return found


def ask_of(daemon, trial, body, query="", media="image/png"):
    answer = daemon.request("POST", f"/v1/trials/{trial['id']}/explanations?wait=55{query}", data=body,
                            headers={"Content-Type": media})
    assert answer.status_code == 200, answer.text
    return answer.json()


def values(daemon, found, n=0):
    array = daemon.get(f"/v1/explanations/{found['id']}/{n}")
    assert {k: array[k] for k in found["result"]["arrays"][n]} == found["result"]["arrays"][n]
    return np.array(array["values"], np.float64).reshape(array["shape"])


def test_the_same_as_what_the_trial_kept(daemon, explained):
    """An item goes in as PNG and comes out as it was: equal bits, row by row."""
    trial, rows = explained
    for row in rows:
        question = {"method": row["method"], **({"layer": row["layer"]} if row["method"] == "activations" else
                                                {"class": row["class"]})}
        found = ask(daemon, trial, item=row["sample"], **question)
        [again] = found["result"]["arrays"]
        assert {k: v for k, v in again.items() if k != "n"} == {k: v for k, v in row.items() if k != "n"}
        kept = daemon.get(f"/v1/trials/{trial['id']}/explanations/{row['n']}")["values"]
        assert daemon.get(f"/v1/explanations/{found['id']}/0")["values"] == kept
    assert len(rows) >= 15


def test_any_wrong_picture_shows_its_map(daemon, dataset, explained):
    trial, rows = explained
    kept = {row["sample"] for row in rows}
    classes = [c["name"] for c in dataset["classes"]]
    path = f"/v1/trials/{trial['id']}/predictions?wrong=true&limit=500&part="
    wrong = [(part, row) for part in ("train", "validation", "test") for row in daemon.get(path + part)["items"]]
    asked = [(part, row) for part, row in wrong if row["sample"] not in kept]
    asked = [one for part in ("train", "validation", "test") for one in [a for a in asked if a[0] == part][:2]]
    assert asked
    for part, row in asked:
        result = (found := ask(daemon, trial, item=row["sample"]))["result"]
        assert (result["sample"], result["true"], result["predicted"]) == (row["sample"], row["true"], row["predicted"])
        assert result["trial_part"] == result["arrays"][0]["trial_part"] == part
        assert result["part"] == ("test" if part == "test" else "train")  # of the data set, which the split cuts
        assert abs(result["probability"] - row["probability"]) < 1e-5
        assert abs(sum(c["probability"] for c in result["classes"]) - 1) < 1e-5
        assert [a["class"] for a in result["arrays"]] == [row["predicted"], row["true"]]
        features, scores, fc = evaluate(daemon, trial, row["sample"])
        for n, name in enumerate((row["predicted"], row["true"])):
            k = classes.index(name)
            assert abs(result["classes"][k]["score"] - scores[k]) < 1e-3
            want = enlarge(np.maximum((features * fc[k].mean((1, 2))).sum(2), 0), SIDE)
            assert np.abs(values(daemon, found, n) - want).max() < 1e-4 * max(1, want.max())
    path = f"/v1/trials/{trial['id']}/predictions?limit=500&part="
    other = {row["sample"] for part in ("train", "validation", "test") for row in daemon.get(path + part)["items"]}
    assert ask(daemon, trial, item=next(n for n in range(500) if n not in other))["result"]["trial_part"] == "train"


def test_a_posted_picture(daemon, explained):
    """As the item that it is a copy of, but nobody knows what it is; of another size and format too."""
    trial, rows = explained
    item = rows[0]["sample"]
    body = daemon.request("GET", f"/v1/datasets/{trial['dataset']}/items/{item}/image").content
    stored, posted = ask(daemon, trial, item=item), ask_of(daemon, trial, body)
    result = posted["result"]
    assert result["sample"] is result["name"] is result["part"] is result["true"] is None
    assert result["classes"] == stored["result"]["classes"]
    assert [a["class"] for a in result["arrays"]] == [result["predicted"]]
    assert (values(daemon, posted) == values(daemon, stored)).all()
    other = ask_of(daemon, trial, body, "&class=1")["result"]
    assert [a["class"] for a in other["arrays"]] == ["1"]
    assert ask_of(daemon, trial, body, "&method=activations&layer=relu1")["result"]["arrays"][0]["shape"] == [MAP, MAP, 4]
    out = io.BytesIO()
    Image.fromarray(np.full((31, 17), 90, np.uint8)).save(out, "JPEG")
    assert values(daemon, ask_of(daemon, trial, out.getvalue(), media="image/jpeg")).shape == (SIDE, SIDE)


def test_drawings(daemon, explained):
    trial, rows = explained
    found = ask(daemon, trial, item=rows[0]["sample"])
    url = f"/v1/explanations/{found['id']}/0"
    numbers, over, alone = values(daemon, found), png_of(daemon, url), png_of(daemon, url + "?overlay=false")
    picture = png_of(daemon, f"/v1/datasets/{trial['dataset']}/items/{rows[0]['sample']}/image")
    assert over.shape == alone.shape == (SIDE, SIDE, 3)
    assert (alone[numbers == 0] == 0).all() and (over[numbers == 0] == picture[numbers == 0][:, None]).all()
    tiles = ask(daemon, trial, item=0, method="activations", layer="relu1")
    assert png_of(daemon, f"/v1/explanations/{tiles['id']}/0").shape == (2 * MAP + 1, 2 * MAP + 1)


def test_an_answer_that_takes_longer(daemon, explained):
    trial, _ = explained
    answer = daemon.request("POST", f"/v1/trials/{trial['id']}/explanations?wait=0", json={"item": 1})
    assert answer.status_code == 202 and answer.json()["state"] == "waiting", answer.text
    url = answer.headers["Location"]
    assert url == f"/v1/explanations/{answer.json()['id']}"
    daemon.refused("GET", f"/v1/predictions/{answer.json()['id']}", 404, "not_found")
    first = daemon.request("GET", url)
    while first.json()["state"] == "waiting":
        first = daemon.request("GET", url + "?wait=30", headers={"If-None-Match": first.headers["ETag"]})
    assert first.json()["result"]["sample"] == 1
    daemon.refused("GET", url + "/9", 404, "not_found")
    daemon.refused("GET", url + "/x", 404, "not_found")


def test_a_key_asks_once(daemon, explained):
    trial, _ = explained
    url, key = f"/v1/trials/{trial['id']}/explanations", {"Idempotency-Key": f"explain-{trial['id']}"}
    first, again = (daemon.request("POST", url, json={"item": 2}, headers=key) for _ in range(2))
    assert first.status_code == 200 and first.json() == again.json()
    assert "Idempotency-Replayed" not in first.headers and again.headers["Idempotency-Replayed"] == "true"
    daemon.refused("POST", url, 422, "idempotency_key_reused", json={"item": 3}, headers=key)
    daemon.refused("POST", url, 422, "idempotency_key_reused", json={"item": 2, "class": "1"}, headers=key)


def test_what_cannot_be_explained(daemon, dataset, explained, engines):  # noqa: F811
    trial, _ = explained
    url = f"/v1/trials/{trial['id']}/explanations"
    grey = png(np.full((12, 12), 7, np.uint8))

    def refused(status, code, pointer, question, path=url):
        return daemon.refused("POST", path, status, code, pointer, json=question)["detail"]

    refused(404, "not_found", None, {"item": 0}, f"/v1/trials/{UNKNOWN_ID}/explanations")
    daemon.refused("GET", f"/v1/explanations/{UNKNOWN_ID}", 404, "not_found")
    daemon.refused("GET", f"/v1/explanations/{UNKNOWN_ID}/0", 404, "not_found")
    refused(422, "invalid_field", "/item", {})
    refused(422, "invalid_field", "/item", {"item": -1})
    assert "500 items" in refused(422, "invalid_field", "/item", {"item": 500})
    refused(422, "invalid_field", "/method", {"item": 0, "method": "deep_dream"})
    refused(422, "invalid_field", "/layer", {"item": 0, "method": "activations"})
    refused(422, "invalid_field", "/layer", {"item": 0, "method": "activations", "layer": "softmax"})
    refused(422, "invalid_field", "/layer", {"item": 0, "layer": "fc"})
    refused(422, "invalid_field", "/class", {"item": 0, "class": "no such"})
    refused(422, "invalid_field", "/class", {"item": 0, "class": "1", "method": "activations", "layer": "fc"})
    refused(422, "unknown_field", "/layers", {"item": 0, "layers": ["fc"]})
    daemon.refused("POST", url, 400, "invalid_json", data=b"{", headers={"Content-Type": "application/json"})
    daemon.refused("POST", url + "?layer=fc", 400, "invalid_parameter", parameter="layer", json={"item": 0})
    daemon.refused("POST", url, 413, "too_large", data=json.dumps({"item": 0, "class": "x" * 70000}),
                   headers={"Content-Type": "application/json"})
    image = {"headers": {"Content-Type": "image/png"}}
    daemon.refused("POST", url + "?layer=fc", 400, "invalid_parameter", parameter="layer", data=grey, **image)
    daemon.refused("POST", url + "?class=x", 400, "invalid_parameter", parameter="class", data=grey, **image)
    daemon.refused("POST", url, 422, "invalid_picture", data=grey[:-20], **image)
    daemon.refused("POST", url, 422, "wrong_input", data=png(np.zeros((12, 12, 3), np.uint8)), **image)
    daemon.refused("POST", url, 415, "unsupported_media_type", data=grey, headers={"Content-Type": "image/gif"})
    refused(422, "not_supported", None, {"item": 0}, f"/v1/trials/{engines[0]['id']}/explanations")
    job = daemon.submit(long_job(dataset))
    [waiting] = daemon.trials(job["id"])
    refused(409, "wrong_state", None, {"item": 0}, f"/v1/trials/{waiting['id']}/explanations")
    daemon.request("POST", f"/v1/jobs/{job['id']}/cancel")
    daemon.wait_job(job["id"])
    [mlp] = daemon.wait_job(daemon.submit(spec(dataset, network={"name": "mlp"}, training={"solver": "adam"}))["id"])
    refused(422, "not_supported", "/method", {"item": 0}, f"/v1/trials/{mlp['id']}/explanations")
