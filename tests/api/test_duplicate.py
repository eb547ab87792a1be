"""Jobs and trials submitted again, as they were and with changes."""
import pytest
from conftest import UNKNOWN_ID, spec, wait_until


@pytest.fixture(scope="module")
def swept(daemon, dataset):
    """Two settings, one of them in an object, with two seeds: the job and its trials."""
    job = daemon.submit(spec(dataset, name="swept", notes="of old", labels=["kept"], seeds=[3, 5],
                             search={"parameters": {"training": [{"solver": "adam", "learning_rate": 0.002}, {"solver": "sgdm"}],
                                                    "network.filters": [4]}}))
    return job, daemon.wait_job(job["id"])


def hashes(daemon, job):
    return [t["hash"] for t in daemon.trials(job["id"])]


def test_a_job_is_submitted_again(daemon, swept):
    job, _ = swept
    again = daemon.post(f"/v1/jobs/{job['id']}/duplicate")
    assert again["id"] != job["id"] and again["duplicated_from"] == job["id"] and job["duplicated_from"] is None
    assert again["submitted"] == job["submitted"] and again["resolved"] == job["resolved"]
    assert hashes(daemon, again) == hashes(daemon, job)
    assert all(t["duplicated_from"] is None for t in daemon.trials(again["id"]))
    assert [t["headline_value"] for t in daemon.wait_job(again["id"])] == [t["headline_value"] for t in daemon.wait_job(job["id"])]
    listed = daemon.get("/v1/jobs?search=swept&fields=id,duplicated_from")["items"]
    assert listed == [{"id": again["id"], "duplicated_from": job["id"]}, {"id": job["id"], "duplicated_from": None}]


def test_changes_are_a_merge_patch(daemon, swept):
    job, _ = swept
    patch = {"name": "changed <b>", "notes": None, "seeds": [3], "training": {"epochs": 1}, "search": {"parameters": {"network.filters": None}}}
    plan = daemon.post(f"/v1/jobs/{job['id']}/duplicate?dry_run=true", patch)
    assert plan["dry_run"] and plan["trial_count"] == 2 and plan["resolved"]["training"]["epochs"] == 1
    key = {"Idempotency-Key": "duplicate-1"}
    made = daemon.post(f"/v1/jobs/{job['id']}/duplicate", patch, headers=key)
    assert daemon.post(f"/v1/jobs/{job['id']}/duplicate", patch, headers=key)["id"] == made["id"]
    daemon.refused("POST", f"/v1/jobs/{job['id']}/duplicate", 422, "idempotency_key_reused", json={}, headers=key)
    assert made["name"] == "changed <b>" and made["notes"] == "" and made["labels"] == ["kept"]
    assert "notes" not in made["submitted"] and made["submitted"]["training"] == {**job["submitted"]["training"], "epochs": 1}
    assert [t["parameters"] for t in daemon.wait_job(made["id"])] == \
        [{"training": {"solver": "adam", "learning_rate": 0.002}}, {"training": {"solver": "sgdm"}}]


def test_a_trial_becomes_a_job_of_its_own(daemon, swept):
    """With the hash of the one that it repeats, also when that was extended meanwhile."""
    job, trials = swept
    for trial in trials:
        plan = daemon.post(f"/v1/trials/{trial['id']}/duplicate?dry_run=true")
        assert [(t["hash"], t["parameters"], t["seed"]) for t in plan["trials"]] == [(trial["hash"], {}, trial["seed"])]
    again = daemon.post(f"/v1/trials/{trials[0]['id']}/duplicate", {"name": "alone"})
    [alone] = daemon.wait_job(again["id"])
    assert again["duplicated_from"] == job["id"] and alone["duplicated_from"] == trials[0]["id"]
    assert alone["headline_value"] == trials[0]["headline_value"]
    daemon.post(f"/v1/trials/{alone['id']}/extend", {"epochs": 3})
    [longer] = daemon.wait_job(again["id"])
    plan = daemon.post(f"/v1/trials/{alone['id']}/duplicate?dry_run=true")
    assert [t["hash"] for t in plan["trials"]] == [longer["hash"]] != [trials[0]["hash"]]


def test_a_default_sweep_and_a_cosine_are_settled(daemon, dataset):
    job = daemon.submit(spec(dataset, training={"epochs": 1, "batch_size": 64, "schedule": {"kind": "cosine"}}))
    for trial in daemon.wait_job(job["id"]):
        daemon.post(f"/v1/trials/{trial['id']}/extend", {"epochs": 2})
    for trial in daemon.wait_job(job["id"]):
        assert daemon.get(f"/v1/trials/{trial['id']}")["resolved"]["training"]["schedule"]["period"] == 1
        plan = daemon.post(f"/v1/trials/{trial['id']}/duplicate?dry_run=true")
        assert [t["hash"] for t in plan["trials"]] == [trial["hash"]]


def test_many_are_duplicated(daemon, swept):
    job, _ = swept
    headers = {"Idempotency-Key": "copies"}
    rows = daemon.post("/v1/jobs/bulk", {"action": "duplicate", "ids": [job["id"], UNKNOWN_ID, "x"]}, headers=headers)["results"]
    again = daemon.post("/v1/jobs/bulk", {"action": "duplicate", "ids": [job["id"], UNKNOWN_ID, "x"]}, headers=headers)["results"]
    assert [r["created"] for r in again] == [r["created"] for r in rows]  # sent twice, made once
    assert [(r["status"], r["applied"], r["code"]) for r in rows] == [(201, True, None), (404, False, "not_found"), (404, False, "not_found")]
    made = daemon.get(f"/v1/jobs/{rows[0]['created']}")
    assert made["duplicated_from"] == job["id"] and rows[1]["created"] is None
    daemon.post(f"/v1/jobs/{made['id']}/cancel")
    wait_until(lambda: daemon.get(f"/v1/jobs/{made['id']}")["finished_at"])
    daemon.refused("POST", "/v1/jobs/bulk", 422, "unknown_field", "/epochs", json={"action": "duplicate", "ids": [job["id"]], "epochs": 3})


def test_what_is_not_there(daemon):
    for path in (f"/v1/jobs/{UNKNOWN_ID}/duplicate", f"/v1/trials/{UNKNOWN_ID}/duplicate", "/v1/jobs/x/duplicate"):
        daemon.refused("POST", path, 404, "not_found", json={"name": "n"})
