"""Trials that begin with the weights that another came to."""
import pytest
from conftest import UNKNOWN_ID, spec, wait_until
from test_extend import tensors

# Without statistics that follow the batches, so that a rate of nearly nothing leaves every value as it is.
NETWORK = {"layers": [
    {"name": "in", "kind": "image_input", "normalisation": "rescale_unit"}, {"name": "conv", "kind": "convolution", "filters": 4, "kernel": 3},
    {"name": "relu", "kind": "relu"}, {"name": "fc", "kind": "fully_connected"}, {"name": "softmax", "kind": "softmax"}]}
STILL = {"solver": "sgdm", "learning_rate": 1e-30, "epochs": 1}


@pytest.fixture(scope="module")
def source(daemon, dataset):
    job = daemon.submit(spec(dataset, name="source", labels=["kept"], network=NETWORK, seeds=[4], training={"epochs": 2, "batch_size": 32},
                             search={"parameters": {"training.solver": ["adam"]}}))
    [trial] = daemon.wait_job(job["id"])
    return daemon.get(f"/v1/trials/{trial['id']}")


def fork(daemon, trial, **changes):
    job = daemon.post(f"/v1/trials/{trial['id']}/fork", changes)
    [made] = daemon.wait_job(job["id"])
    assert made["state"] == "completed", made
    return job, daemon.get(f"/v1/trials/{made['id']}")


def test_a_fork_begins_with_the_weights(daemon, source):
    """Of the last checkpoint, and of nothing else: another solver, its steps from 1, its own curves and spec."""
    job, made = fork(daemon, source, name="still", training=STILL)
    assert tensors(daemon, made) == tensors(daemon, source)
    assert made["forked_from"] == {"trial": source["id"], "step": source["step"]} and source["forked_from"] is None
    assert made["duplicated_from"] is job["duplicated_from"] is None
    assert (made["step"], made["seed"], made["parameters"], job["labels"]) == (9, 4, {}, ["kept"])
    assert made["resolved"]["training"]["solver"] == "sgdm" and len(made["resolved"]["initial_checkpoint"]) == 64
    assert made["resolved"]["network"] == source["resolved"]["network"]
    [attempt] = made["attempts"]
    assert attempt["resumed_step"] == 0
    metrics = daemon.get(f"/v1/trials/{made['id']}/metrics?names=training_loss")["metrics"]["training_loss"]
    assert metrics["step"] == list(range(1, 10))


def test_a_fork_can_be_repeated_and_extended(daemon, source):
    """What it began with goes along: a duplicate has its hash, a fork of it another beginning."""
    job, made = fork(daemon, source, training={"epochs": 1})
    for path in (f"/v1/jobs/{job['id']}/duplicate", f"/v1/trials/{made['id']}/duplicate"):
        again = daemon.post(path)
        [copy] = daemon.wait_job(again["id"])
        assert (copy["hash"], copy["headline_value"], copy["forked_from"]) == (made["hash"], made["headline_value"], made["forked_from"])
        daemon.refused("POST", path, 422, "invalid_field", "/seeds", json={"seeds": [1, 2]})
    daemon.post(f"/v1/trials/{made['id']}/extend", {"epochs": 3})
    daemon.wait_job(job["id"])
    longer = daemon.get(f"/v1/trials/{made['id']}")
    assert longer["state"] == "completed" and [a["resumed_step"] for a in longer["attempts"]] == [0, 9]
    _, whole = fork(daemon, source, training={"epochs": 3})
    assert (whole["hash"], tensors(daemon, whole)) == (longer["hash"], tensors(daemon, longer))
    _, second = fork(daemon, longer, training=STILL)
    assert second["forked_from"] == {"trial": longer["id"], "step": 27} and tensors(daemon, second) == tensors(daemon, longer)


def test_what_it_began_with_is_kept(daemon, source):
    """The checkpoint is in use as long as the fork is there, whatever becomes of the trial."""
    _, made = fork(daemon, source, training=STILL)
    with daemon.database() as connection, connection.cursor() as cursor:
        cursor.execute("select count(*) from blob_reference r join trial t on t.start_blob_id = r.blob_id where t.id = %s", [made["id"]])
        assert cursor.fetchone()[0] >= 2  # the checkpoint's row and the fork's
    connection.close()
    plan = daemon.post(f"/v1/trials/{source['id']}/fork?dry_run=true", {"training": STILL})
    assert plan["trials"][0]["hash"] == made["hash"] != source["hash"]


@pytest.mark.parametrize("field, value", [("network", NETWORK), ("dataset", UNKNOWN_ID), ("kind", "solver_comparison"), ("seeds", [1]),
                                          ("search", {}), ("weights", None), ("freeze", "none"), ("split", {"seed": 2}), ("data", {})])
def test_what_the_weights_were_trained_for_stays(daemon, source, field, value):
    daemon.refused("POST", f"/v1/trials/{source['id']}/fork", 422, "invalid_field", f"/{field}", json={field: value})


def test_without_a_checkpoint_there_is_no_fork(daemon, running):
    job, trial = running
    daemon.refused("POST", f"/v1/trials/{trial['id']}/fork", 409, "wrong_state", json={})
    daemon.post(f"/v1/trials/{trial['id']}/pause")
    wait_until(lambda: daemon.get(f"/v1/trials/{trial['id']}")["state"] == "paused")
    plan = daemon.post(f"/v1/trials/{trial['id']}/fork?dry_run=true", {"training": {"epochs": 1}})
    assert plan["trial_count"] == 1
    daemon.post(f"/v1/jobs/{job['id']}/cancel")
    daemon.wait_job(job["id"])
    daemon.refused("POST", f"/v1/trials/{trial['id']}/fork", 409, "wrong_state", json={})
    daemon.refused("POST", f"/v1/trials/{UNKNOWN_ID}/fork", 404, "not_found", json={})
