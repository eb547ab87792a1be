"""More epochs after the end: the bits of a longer training, whatever was killed on the way."""
import json
import os
import signal
import struct

import pytest
from conftest import UNKNOWN_ID, long_job, spec, wait_until

CLOCK = ("images_per_second", "loader_stall_seconds")
# 280 pictures train: 35 steps an epoch, so that the validation at an end is none of the course.
TRAINING = {"solver": "adam", "batch_size": 8, "shuffle": "every_epoch", "validation_frequency": 40,
            "output_network": "best_validation_loss", "checkpoint_interval_seconds": 0.05}
WHOLE = 150


def training(epochs, **fields):
    return {**TRAINING, "epochs": epochs, **fields}


def tensors(daemon, trial):
    """The values of a trained network, without what its file says of its origin."""
    content = daemon.request("GET", f"/v1/trials/{trial['id']}/network").content
    [size] = struct.unpack("<Q", content[:8])
    header = json.loads(content[8:8 + size])
    header.pop("__metadata__")
    return header, content[8 + size:]


def curves(daemon, trial):
    metrics = daemon.get(f"/v1/trials/{trial['id']}/metrics?max_points=100000")["metrics"]
    return {name: series for name, series in metrics.items() if name not in CLOCK}


def same(daemon, one, other):
    """Two trials have the same results to the bit."""
    assert curves(daemon, one) == curves(daemon, other)
    assert tensors(daemon, one) == tensors(daemon, other)
    first, second = (daemon.get(f"/v1/trials/{t['id']}/evaluations")["items"] for t in (one, other))
    assert [{**row, "created_at": None} for row in first] == [{**row, "created_at": None} for row in second]
    assert one["headline_value"] == other["headline_value"] and one["step"] == other["step"]
    assert one["resolved"] == other["resolved"] and one["hash"] == other["hash"]


def finish(daemon, job):
    [trial] = daemon.wait_job(job["id"])
    assert trial["state"] == "completed", trial
    return daemon.get(f"/v1/trials/{trial['id']}")


@pytest.fixture(scope="module")
def whole(daemon, dataset):
    """A trial that had all epochs from the start."""
    return finish(daemon, daemon.submit(spec(dataset, name="whole", training=training(WHOLE))))


@pytest.fixture(scope="module")
def short(daemon, dataset):
    job = daemon.submit(spec(dataset, name="short", training=training(2)))
    return job, finish(daemon, job)


def extend(daemon, trial, epochs):
    return daemon.post(f"/v1/trials/{trial['id']}/extend", {"epochs": epochs})


def test_an_extended_trial_is_one_with_more_epochs(daemon, short, whole):
    """Twice, and with its process killed on the way: resumed, and nothing told of it but the attempts."""
    job, first = short
    evaluated = daemon.get(f"/v1/trials/{first['id']}/evaluations")["items"]
    longer = extend(daemon, first, 3)
    assert longer["effect"] == "changed" and longer["state"] in ("queued", "running")
    assert (longer["resolved"]["training"]["epochs"], longer["total_steps"]) == (3, 105)
    assert longer["headline_value"] == first["headline_value"] and longer["hash"] != first["hash"]
    longer = finish(daemon, job)
    assert [a["resumed_step"] for a in longer["attempts"]] == [0, 70]
    assert daemon.get(f"/v1/trials/{first['id']}/evaluations")["items"] != evaluated
    answer = daemon.post(f"/v1/jobs/{job['id']}/extend", {"epochs": WHOLE})
    assert answer["applied"] == {"changed": 1, "requested": 0, "unchanged": 0, "refused": 0}
    wait_until(lambda: daemon.get(f"/v1/trials/{first['id']}")["checkpoint_step"] > 105, every=0.02)
    for pid in daemon.pids("trial"):
        os.kill(pid, signal.SIGKILL)
    last = finish(daemon, job)
    assert "crashed" in [a["outcome"] for a in last["attempts"]], last["attempts"]
    assert last["attempts"][-1]["resumed_step"] > 105
    same(daemon, last, whole)


def test_what_was_stopped_goes_on_to_its_end(daemon, running):
    job, trial = running
    daemon.post(f"/v1/trials/{trial['id']}/stop")
    [stopped] = daemon.wait_job(job["id"])
    daemon.refused("POST", f"/v1/trials/{trial['id']}/extend", 422, "invalid_field", "/epochs", json={"epochs": max(1, stopped["epoch"] - 1)})
    assert extend(daemon, trial, 100000)["effect"] == "changed"
    wait_until(lambda: daemon.get(f"/v1/trials/{trial['id']}")["step"] > stopped["step"])
    daemon.refused("POST", f"/v1/trials/{trial['id']}/extend", 409, "wrong_state", json={"epochs": 200000})
    assert daemon.get(f"/v1/trials/{trial['id']}/confusion-matrix")["total"] > 0  # of before
    daemon.post(f"/v1/trials/{trial['id']}/cancel")
    daemon.wait_job(job["id"])
    refused = daemon.refused("POST", f"/v1/trials/{trial['id']}/extend", 409, "wrong_state", json={"epochs": 200000})
    assert "cancelled" in refused["detail"]
    daemon.refused("GET", f"/v1/trials/{trial['id']}/confusion-matrix", 404, "not_found")


def test_patience_that_is_over_stays_over(daemon, dataset):
    """More epochs would train no step: said, not done."""
    job = daemon.submit(spec(dataset, training=training(40, learning_rate=1e-30, patience=1, validation_frequency=0)))
    trial = finish(daemon, job)
    assert trial["step"] == 70 < trial["total_steps"]
    refused = daemon.refused("POST", f"/v1/trials/{trial['id']}/extend", 409, "wrong_state", json={"epochs": 80})
    assert "patience" in refused["detail"]
    daemon.refused("POST", f"/v1/jobs/{job['id']}/extend", 409, "wrong_state", json={"epochs": 80})


def test_a_job_extends_those_that_can(daemon, dataset):
    """A sweep over epochs: each has what it lacks, and its parameters say the new number; the same for many jobs."""
    job = daemon.submit(spec(dataset, training={"solver": "sgdm", "batch_size": 32},
                             search={"parameters": {"training.epochs": [1, 3]}}))
    daemon.wait_job(job["id"])
    daemon.refused("POST", f"/v1/jobs/{job['id']}/extend", 422, "invalid_field", "/epochs", json={"epochs": 1})
    answer = daemon.post(f"/v1/jobs/{job['id']}/extend", {"epochs": 3})
    assert answer["applied"] == {"changed": 1, "requested": 0, "unchanged": 0, "refused": 1} and answer["finished_at"] is None
    one, three = daemon.wait_job(job["id"])
    assert one["parameters"] == three["parameters"] == {"training.epochs": 3} and one["hash"] == three["hash"]
    assert curves(daemon, one) == curves(daemon, three)
    rows = daemon.post("/v1/jobs/bulk", {"action": "extend", "ids": [job["id"], UNKNOWN_ID], "epochs": 4})["results"]
    assert [(r["status"], r["applied"]) for r in rows] == [(200, True), (404, False)]
    assert [t["step"] for t in daemon.wait_job(job["id"])] == [36, 36]
    with daemon.database() as connection, connection.cursor() as cursor:
        cursor.execute("select detail->>'epochs' from event where kind = 'job_extend' and job_id = %s order by id", [job["id"]])
        assert cursor.fetchall() == [("3",), ("4",)]
    connection.close()


@pytest.mark.parametrize("body, status, code, pointer", [
    (None, 422, "invalid_field", "/epochs"), ({}, 422, "invalid_field", "/epochs"),
    ({"epochs": 0}, 422, "invalid_field", "/epochs"), ({"epochs": 2.5}, 422, "invalid_field", "/epochs"),
    ({"epochs": 10**7}, 422, "invalid_field", "/epochs"), ({"epochs": 2}, 422, "invalid_field", "/epochs"),
    ({"epochs": 9, "patience": 0}, 422, "unknown_field", "/patience"), ([3], 422, "invalid_field", None)])
def test_bodies_that_are_wrong(daemon, finished, body, status, code, pointer):
    job, trials = finished
    for path in (f"/v1/jobs/{job['id']}/extend", f"/v1/trials/{trials[0]['id']}/extend"):
        kwargs = {"json": body} if body is not None else {}
        daemon.refused("POST", path, status, code, pointer, **kwargs)


def test_other_actions_take_no_epochs(daemon, finished):
    for action, pointer in (("cancel", "/epochs"), ("extend", "/states")):
        body = {"action": action, "ids": [finished[0]["id"]], "epochs": 9, "states": ["failed"]}
        daemon.refused("POST", "/v1/jobs/bulk", 422, "unknown_field", pointer, json={k: v for k, v in body.items()
                       if action == "extend" or k != "states"})
    daemon.refused("POST", "/v1/jobs/bulk", 422, "invalid_field", "/epochs", json={"action": "extend", "ids": [UNKNOWN_ID]})
    for path in (f"/v1/jobs/{UNKNOWN_ID}/extend", f"/v1/trials/{UNKNOWN_ID}/extend"):
        daemon.refused("POST", path, 404, "not_found", json={"epochs": 9})
