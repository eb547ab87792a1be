"""What a trained network says of a posted picture or sequence."""
import io
import json
import subprocess

import numpy as np
import pytest
from conftest import UNKNOWN_ID, long_job, spec, wait_until
from pictures import png, zip_of
from PIL import Image
from test_explanations import NETWORK
from test_sequences import SMALL, make

import assay

TYPES = {"PNG": "image/png", "JPEG": "image/jpeg", "WEBP": "image/webp"}


@pytest.fixture(scope="module")
def judged(daemon, dataset):
    """A finished trial with dropout and batch norm, and its predictions on the test part."""
    job = daemon.submit(spec(dataset, network=NETWORK, training={"epochs": 2, "solver": "adam"}))
    [trial] = daemon.wait_job(job["id"])
    assert trial["state"] == "completed", trial
    return trial, daemon.get(f"/v1/trials/{trial['id']}/predictions?part=test&limit=500")["items"]


def ask(daemon, trial, body, media="image/png", wait=55):
    answer = daemon.request("POST", f"/v1/trials/{trial['id']}/predict?wait={wait}", data=body,
                            headers={"Content-Type": media})
    assert answer.status_code == 200, answer.text
    found = answer.json()
    assert found["state"] == "ready" and found["trial"] == trial["id"] and found["finished_at"]
    assert daemon.get(f"/v1/predictions/{found['id']}") == found
    return found["result"]


def picture_of(daemon, trial, sample):
    return daemon.request("GET", f"/v1/datasets/{trial['dataset']}/items/{sample}/image").content


def test_a_sample_fed_back_gets_what_evaluation_gave(daemon, judged):
    """B35: the same way in, so the same class and probability as when the trial was evaluated."""
    trial, rows = judged
    for row in rows[:6]:
        result = ask(daemon, trial, picture_of(daemon, trial, row["sample"]))
        assert result["predicted"] == row["predicted"]
        assert abs(result["probability"] - row["probability"]) < 1e-5
        assert abs(sum(c["probability"] for c in result["classes"]) - 1) < 1e-5
        assert max(result["classes"], key=lambda c: c["probability"])["name"] == row["predicted"]
        scores = np.exp([c["score"] for c in result["classes"]])
        assert np.abs(scores / scores.sum() - [c["probability"] for c in result["classes"]]).max() < 1e-5


def test_the_same_picture_five_times(daemon, judged):
    """B04: dropout and batch norm stand still."""
    trial, rows = judged
    body = picture_of(daemon, trial, rows[0]["sample"])
    answers = [ask(daemon, trial, body) for _ in range(5)]
    assert all(answer == answers[0] for answer in answers)


@pytest.mark.parametrize("kind", TYPES)
def test_other_sizes_and_formats(daemon, dataset, kind):
    """A network of three channels takes grey pictures, of any size, in any of the formats."""
    made = daemon.create_dataset({"c.zip": colours()}, "archive", name=f"colours {kind}")
    [trial] = daemon.wait_job(daemon.submit(spec(made, network=NETWORK, training={"solver": "adam"}))["id"])
    for array in (np.full((40, 23, 3), 90, np.uint8), np.full((5, 5), 200, np.uint8)):
        out = io.BytesIO()
        Image.fromarray(array).save(out, kind)
        result = ask(daemon, trial, out.getvalue(), TYPES[kind])
        assert [c["name"] for c in result["classes"]] == ["blue", "red"]


def colours():
    rng = np.random.default_rng(1)
    entries = {}
    for name, channel in (("red", 0), ("blue", 2)):
        for i in range(12):
            array = rng.integers(0, 40, (12, 12, 3), dtype=np.uint8)
            array[:, :, channel] += 180
            entries[f"{name}/{i}.png"] = png(array)
    return zip_of(entries)


def test_what_cannot_be_answered(daemon, dataset, judged):
    trial, _ = judged
    url = f"/v1/trials/{trial['id']}/predict"
    grey = png(np.full((12, 12), 7, np.uint8))

    def refused(status, code, body=grey, media="image/png", path=url):
        return daemon.refused("POST", path, status, code, data=body, headers={"Content-Type": media})["detail"]

    refused(404, "not_found", path=f"/v1/trials/{UNKNOWN_ID}/predict")
    refused(415, "unsupported_media_type", media="image/gif")
    refused(422, "invalid_picture", b"this is no picture")
    refused(422, "invalid_picture", grey[:-20])
    refused(422, "invalid_picture", b"")
    assert "grey" in refused(422, "wrong_input", png(np.zeros((12, 12, 3), np.uint8)))
    assert "takes pictures" in refused(422, "wrong_input", b'{"sequence": [[1]]}', "application/json")
    refused(413, "too_large", b"x" * ((32 << 20) + 1))
    daemon.refused("GET", f"/v1/predictions/{UNKNOWN_ID}", 404, "not_found")
    job = daemon.submit(long_job(dataset))
    [waiting] = daemon.trials(job["id"])
    refused(409, "wrong_state", path=f"/v1/trials/{waiting['id']}/predict")
    daemon.request("POST", f"/v1/jobs/{job['id']}/cancel")
    daemon.wait_job(job["id"])


def test_a_key_asks_once(daemon, judged):
    trial, rows = judged
    url, bodies = f"/v1/trials/{trial['id']}/predict", [picture_of(daemon, trial, r["sample"]) for r in rows[:2]]
    headers = {"Content-Type": "image/png", "Idempotency-Key": f"once-{trial['id']}"}
    first, again = (daemon.request("POST", url, data=bodies[0], headers=headers) for _ in range(2))
    assert first.status_code == again.status_code == 200 and first.json() == again.json()
    assert "Idempotency-Replayed" not in first.headers and again.headers["Idempotency-Replayed"] == "true"
    daemon.refused("POST", url, 422, "idempotency_key_reused", data=bodies[1], headers=headers)


def test_an_answer_that_takes_longer_is_asked_for_again(daemon, judged):
    trial, rows = judged
    answer = daemon.request("POST", f"/v1/trials/{trial['id']}/predict?wait=0",
                            data=picture_of(daemon, trial, rows[0]["sample"]), headers={"Content-Type": "image/png"})
    assert answer.status_code == 202 and answer.json()["state"] == "waiting", answer.text
    url = answer.headers["Location"]
    assert url == f"/v1/predictions/{answer.json()['id']}"
    first = daemon.request("GET", url)
    while first.json()["state"] == "waiting":
        first = daemon.request("GET", url + "?wait=30", headers={"If-None-Match": first.headers["ETag"]})
    assert first.json()["result"]["predicted"] == rows[0]["predicted"]


# ------------------------------------------------------------------------------------- sequences


@pytest.fixture(scope="module")
def engines(daemon, tmp_path_factory):
    """A finished regression over simulated engines, and the steps of each engine of the test part."""
    directory = tmp_path_factory.mktemp("engines")
    subprocess.run([assay.BINARY, "simulate", "turbofan", str(directory), "--engines", "6", "--seed", "9"], check=True)
    files = {name: (directory / name).read_bytes() for name in ("train_FD.txt", "test_FD.txt", "RUL_FD.txt")}
    made = make(daemon, f"asked {directory.name}", files, layout="cmapss")
    job = daemon.post("/v1/jobs", {"kind": "sequence_regression", "dataset": made["id"], **SMALL,
                                   "data": {"target_scaling": "z_score", "rul_threshold": 100}})
    [trial] = daemon.wait_job(job["id"])
    assert trial["state"] == "completed", trial
    rows = np.loadtxt(directory / "test_FD.txt")
    return trial, made, [rows[rows[:, 0] == unit][:, 2:] for unit in range(1, 7)]


def ask_sequence(daemon, trial, steps, columns=None):
    body = {"sequence": [list(map(float, step)) for step in steps]} | ({"columns": columns} if columns else {})
    return ask(daemon, trial, json.dumps(body), "application/json")


def test_a_sequence_fed_back_gets_what_evaluation_gave(daemon, engines):
    """In the target's unit, whatever the order of the columns."""
    trial, made, steps = engines
    names = [c["name"] for c in made["report"]["inputs"]]
    path = f"/v1/trials/{trial['id']}/predictions?part=test"
    for listed, run in list(zip(daemon.get(path)["items"], steps))[:3]:
        [one] = daemon.get(f"{path}&sequence={listed['sample']}")["items"]
        result = ask_sequence(daemon, trial, run, names)
        assert result["steps"] == len(run) == len(result["values"]) and result["last"] == result["values"][-1]
        assert np.abs(np.array(result["values"]) - np.array(one["predictions"])).max() < 1e-2
        turned = ask_sequence(daemon, trial, run[:, ::-1], names[::-1])
        assert turned == result


def test_sequences_that_do_not_fit(daemon, engines, judged):
    trial, made, steps = engines
    url = f"/v1/trials/{trial['id']}/predict"
    names = [c["name"] for c in made["report"]["inputs"]]

    def refused(body, pointer, code="invalid_field", status=422):
        text = body if isinstance(body, (str, bytes)) else json.dumps(body)
        return daemon.refused("POST", url, status, code, pointer, data=text,
                              headers={"Content-Type": "application/json"})["detail"]

    few = steps[0][:2].tolist()
    assert "step 2 has 1 numbers, not 24" in refused({"sequence": [few[0], [1.0]], "columns": names}, "/sequence/1")
    assert "there is no column" in refused({"sequence": [[1.0]], "columns": ["a"]}, "/columns")
    assert "is not a number" in refused({"sequence": [["x"] * len(names)], "columns": names}, "/sequence/0")
    assert "its value 1 is too large" in refused({"sequence": [[1e39] * len(names)], "columns": names}, "/sequence/0")
    assert "unknown field" in refused({"sequence": few, "colums": names}, "/colums", "unknown_field")
    for wrong, pointer in (("{}", "/sequence"), ('{"sequence": []}', "/sequence"), ('{"sequence": [[]]}', "/sequence/0"),
                           ('{"sequence": 3}', "/sequence")):
        refused(wrong, pointer)
    for wrong in ("{", "[" * 100):
        refused(wrong, None, "invalid_json", 400)
    problem = daemon.refused("POST", url, 422, "wrong_input", data=png(np.zeros((12, 12), np.uint8)),
                             headers={"Content-Type": "image/png"})
    assert "takes sequences" in problem["detail"]
    daemon.refused("POST", "/v1/jobs", 422, "not_supported", "/explain",
                   json={"kind": "sequence_regression", "dataset": made["id"], **SMALL, "explain": {}})


def test_values_that_overflow_are_said_with_a_warning(daemon, engines):
    made, steps = engines[1:]
    network = {"layers": [{"name": "in", "kind": "sequence_input", "normalisation": "none"}, {"name": "fc", "kind": "fully_connected"}]}
    [trial] = daemon.wait_job(daemon.submit({"kind": "sequence_regression", "dataset": made["id"], "network": network,
                                             "search": {"parameters": {"training.epochs": [1]}}})["id"])
    assert trial["state"] == "completed", trial
    names = [c["name"] for c in made["report"]["inputs"]]
    run = steps[0][:2].tolist()
    assert "warning" not in ask_sequence(daemon, trial, run, names)
    said = ask_sequence(daemon, trial, [run[0], [3.4e38] * len(names)], names)
    assert isinstance(said["values"][0], float) and said["last"] in ("NaN", "Infinity", "-Infinity")
    assert "finite" in said["warning"]


def test_a_question_that_takes_too_long_is_given_up(daemon):
    """Attention over so many steps takes minutes: it is refused after one and not tried again, and the next has its turn."""
    table = "unit,cycle,a\n" + "".join(f"{u},{t},{t * u % 7}\n" for u in range(1, 7) for t in range(9))
    made = make(daemon, "for a long question", {"runs.csv": table.encode()},
                table={"sequence": "unit", "time": "cycle", "remaining_life": True})
    [trial] = daemon.wait_job(daemon.submit({
        "kind": "sequence_regression", "dataset": made["id"], "network": {"name": "transformer_encoder"},
        "search": {"parameters": {"training.epochs": [1]}}})["id"])
    url = f"/v1/trials/{trial['id']}/predict?wait=0"
    headers = {"Content-Type": "application/json", "Idempotency-Key": f"long-{trial['id']}"}
    body = json.dumps({"sequence": [[1]] * 200000})
    long, short = (daemon.request("POST", url, data=data, headers={**headers, "Idempotency-Key": key})
                   for data, key in ((body, headers["Idempotency-Key"]), ('{"sequence": [[1]]}', f"short-{trial['id']}")))
    assert long.status_code == short.status_code == 202
    answered = wait_until(lambda: (s := daemon.get(short.headers["Location"]))["state"] != "waiting" and s, every=0.5)
    given_up = daemon.get(long.headers["Location"])
    assert answered["state"] == "ready", answered
    assert (given_up["state"], given_up["code"], given_up["result"]) == ("refused", "too_large", None), given_up
    assert "time limit" in given_up["error"]
    with daemon.database().cursor() as cursor:
        cursor.execute("select fence from prediction where id = %s", (given_up["id"],))
        assert cursor.fetchone() == (1,)
    daemon.refused("POST", url, 413, "too_large", data=body, headers=headers)
