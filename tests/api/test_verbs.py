"""What people ask of jobs and trials, while they run and afterwards."""
from conftest import UNKNOWN_ID, long_job, spec, wait_until


def state_of(daemon, trial_id):
    return daemon.get(f"/v1/trials/{trial_id}")["state"]


def test_stop_keeps_an_evaluated_result(daemon, running):
    job, trial = running
    answer = daemon.post(f"/v1/jobs/{job['id']}/stop")
    assert answer["applied"] == {"changed": 0, "requested": 1, "unchanged": 0, "refused": 0}
    [stopped] = daemon.wait_job(job["id"])
    assert stopped["state"] == "stopped" and stopped["step"] > 0
    assert daemon.get(f"/v1/trials/{trial['id']}/confusion-matrix")["total"] > 0
    assert daemon.post(f"/v1/trials/{trial['id']}/stop")["effect"] == "unchanged"
    daemon.refused("POST", f"/v1/trials/{trial['id']}/cancel", 409, "wrong_state")


def test_cancel_keeps_nothing(daemon, running):
    """B08: the process is gone as well."""
    job, trial = running
    assert daemon.pids("trial")
    assert daemon.post(f"/v1/trials/{trial['id']}/cancel")["effect"] == "requested"
    [cancelled] = daemon.wait_job(job["id"])
    assert cancelled["state"] == "cancelled"
    assert daemon.get(f"/v1/trials/{trial['id']}/metrics")["metrics"] == {}
    daemon.refused("GET", f"/v1/trials/{trial['id']}/network", 404, "not_found")
    wait_until(lambda: not daemon.pids("trial"))
    assert daemon.post(f"/v1/trials/{trial['id']}/cancel")["effect"] == "unchanged"


def test_a_trial_pauses_and_goes_on(daemon, running):
    job, trial = running
    assert daemon.post(f"/v1/trials/{trial['id']}/pause")["effect"] == "requested"
    wait_until(lambda: state_of(daemon, trial["id"]) == "paused")
    paused = daemon.get(f"/v1/trials/{trial['id']}")
    assert paused["checkpoint_step"] == paused["step"] > 0
    assert daemon.post(f"/v1/trials/{trial['id']}/pause")["effect"] == "unchanged"
    assert daemon.post(f"/v1/trials/{trial['id']}/resume")["effect"] == "changed"
    wait_until(lambda: daemon.get(f"/v1/trials/{trial['id']}")["step"] > paused["step"])
    attempts = daemon.get(f"/v1/trials/{trial['id']}")["attempts"]
    assert attempts[-1]["resumed_step"] == paused["step"] and attempts[0]["outcome"] == "paused"
    steps = daemon.get(f"/v1/trials/{trial['id']}/metrics?names=training_loss&max_points=100000")["metrics"]["training_loss"]["step"]
    assert steps == list(range(1, len(steps) + 1))


def test_a_stop_in_the_queue_keeps_what_the_checkpoint_holds(daemon, running):
    """Paused, let go while its job is held, stopped: evaluated, not lost, and nothing else of the job starts."""
    job, trial = running
    daemon.post(f"/v1/trials/{trial['id']}/pause")
    wait_until(lambda: state_of(daemon, trial["id"]) == "paused")
    step = daemon.get(f"/v1/trials/{trial['id']}")["step"]
    daemon.post(f"/v1/jobs/{job['id']}/pause")
    assert daemon.post(f"/v1/trials/{trial['id']}/resume")["effect"] == "changed"
    assert state_of(daemon, trial["id"]) == "queued"
    assert daemon.post(f"/v1/trials/{trial['id']}/stop")["effect"] == "requested"
    [stopped] = daemon.wait_job(job["id"])
    assert stopped["state"] == "stopped" and stopped["step"] >= step > 0
    assert daemon.get(f"/v1/trials/{trial['id']}/confusion-matrix")["total"] > 0
    assert daemon.get(f"/v1/jobs/{job['id']}")["paused"]
    assert daemon.post(f"/v1/trials/{trial['id']}/restart")["held"]
    assert daemon.post(f"/v1/trials/{trial['id']}/cancel")["effect"] == "changed"


def test_a_paused_job_starts_nothing(daemon, running, dataset):
    job = daemon.submit(spec(dataset, name="waiting"))
    assert daemon.post(f"/v1/jobs/{job['id']}/pause")["paused"]
    daemon.post(f"/v1/jobs/{running[0]['id']}/cancel")
    daemon.wait_job(running[0]["id"])
    held = daemon.trials(job["id"])
    assert all(t["held"] and t["state"] in ("queued", "running", "completed") for t in held)
    waiting = [t for t in held if t["state"] == "queued"]
    assert waiting and all("paused" in t["explanation"] for t in waiting)
    refused = daemon.refused("POST", f"/v1/trials/{waiting[-1]['id']}/pause", 409, "wrong_state")["detail"]
    assert refused.startswith("the trial is queued: ") and f"POST /v1/jobs/{job['id']}/pause" in refused
    assert daemon.get(f"/v1/jobs/{job['id']}")["state"] in ("paused", "running")
    assert not daemon.post(f"/v1/jobs/{job['id']}/resume")["paused"]
    assert all(t["state"] == "completed" for t in daemon.wait_job(job["id"]))


def test_restart_runs_only_the_states_that_are_named(daemon, dataset):
    job = daemon.submit(long_job(dataset, seeds=[1, 2]))
    trials = daemon.trials(job["id"])
    wait_until(lambda: state_of(daemon, trials[0]["id"]) == "running")
    daemon.post(f"/v1/jobs/{job['id']}/cancel")
    daemon.wait_job(job["id"])
    daemon.refused("POST", f"/v1/jobs/{job['id']}/restart", 409, "wrong_state", json={"states": ["failed"]})
    answer = daemon.post(f"/v1/jobs/{job['id']}/restart", {"states": ["cancelled", "failed"]})
    assert answer["applied"]["changed"] == 2
    assert all(t["state"] in ("queued", "running") for t in daemon.trials(job["id"]))
    daemon.post(f"/v1/jobs/{job['id']}/cancel")
    daemon.wait_job(job["id"])


def test_bulk_has_a_result_for_each(daemon, dataset, finished):
    job = daemon.submit(long_job(dataset))
    results = daemon.post("/v1/jobs/bulk", {"action": "cancel", "ids": [job["id"], finished[0]["id"], UNKNOWN_ID, "x"]})["results"]
    assert [r["status"] for r in results] == [200, 409, 404, 404]
    assert [r["code"] for r in results] == [None, "wrong_state", "not_found", "not_found"]
    assert [r["applied"] for r in results] == [True, False, False, False]
    daemon.wait_job(job["id"])
    for action, changes in (("cancel", False), ("archive", True), ("archive", False), ("unarchive", True),
                            ("pause", True), ("pause", False), ("resume", True), ("resume", False)):
        [row] = daemon.post("/v1/jobs/bulk", {"action": action, "ids": [job["id"]]})["results"]
        assert (row["status"], row["applied"]) == (200, changes), (action, row)
    refused = daemon.refused("POST", "/v1/jobs/bulk", 422, "invalid_field", "/action",
                             json={"action": "explode", "ids": [job["id"]]})
    assert all(action in refused["detail"] for action in ("pause", "resume", "stop", "cancel", "restart", "unarchive"))


def test_bulk_by_a_filter(daemon, dataset):
    """All jobs that it fits and no other; an archived one only when asked for."""
    made = [daemon.submit(long_job(dataset, name=f"filtered {i}", labels=["by filter"] if i < 2 else []))["id"] for i in range(3)]
    for job in made:
        daemon.post(f"/v1/jobs/{job}/pause")

    def bulk(action, **fields):
        answer = daemon.post("/v1/jobs/bulk", {"action": action, "filter": {"dataset": dataset["id"], **fields}})
        assert all(r["status"] in (200, 409) for r in answer["results"]), answer
        return [r["id"] for r in answer["results"]]

    assert bulk("archive", label="by filter") == made[:2]
    assert bulk("cancel", search="FILTERED") == made[2:]
    daemon.wait_job(made[2])  # it may have been at work before it was paused
    assert bulk("cancel", search="filtered", state="cancelled") == made[2:]  # repeating is harmless
    assert bulk("unarchive", label="by filter", archived=True) == made[:2]
    assert bulk("cancel", label="nobody has this") == []
    assert sorted(bulk("cancel", label="by filter", kind="solver_comparison")) == sorted(made[:2])
    for job in made:
        daemon.wait_job(job)


def test_a_failed_trial_says_why(daemon, dataset):
    """A28: divergence is told, with the step; what was good is kept."""
    job = daemon.submit(spec(dataset, training={"solver": "sgdm", "learning_rate": 1e10, "epochs": 50, "batch_size": 16}))
    [trial] = daemon.wait_job(job["id"])
    assert trial["state"] == "failed" and trial["error"]["class"] == "diverged"
    assert "diverged" in trial["explanation"].lower()
    log = daemon.get(f"/v1/trials/{trial['id']}/log")["items"]
    assert log[0]["text"].startswith("starts: core ") and log[-1]["level"] == "error"
    assert "no longer finite" in log[-1]["text"], log
    listed = daemon.get(f"/v1/jobs/{job['id']}/trials?error_class=diverged")["items"]
    assert [t["id"] for t in listed] == [trial["id"]]
    assert daemon.get(f"/v1/jobs/{job['id']}")["state"] == "failed"


def test_notes_and_discarding(daemon, dataset):
    job = daemon.submit(spec(dataset, seeds=[5]))
    trials = daemon.wait_job(job["id"])
    best = daemon.get(f"/v1/jobs/{job['id']}")["best"]["trial"]
    changed = daemon.request("PATCH", f"/v1/trials/{best}", json={"notes": "=cmd()", "discarded": True}).json()
    assert changed["discarded"] and changed["notes"] == "=cmd()" and changed["labels"] == []
    labelled = daemon.request("PATCH", f"/v1/trials/{best}", json={"labels": ["odd", "猫"]}).json()
    assert labelled["labels"] == ["odd", "猫"] and labelled["discarded"] and labelled["notes"] == "=cmd()"
    assert [t["id"] for t in daemon.get(f"/v1/jobs/{job['id']}/trials?label=odd")["items"]] == [best]
    assert daemon.get(f"/v1/jobs/{job['id']}/trials?label=od&fields=id")["items"] == []
    assert daemon.get(f"/v1/jobs/{job['id']}")["best"]["trial"] != best
    assert len(daemon.get(f"/v1/jobs/{job['id']}/results")["items"]) == len(trials) - 1
    assert len(daemon.get(f"/v1/jobs/{job['id']}/results?discarded=any")["items"]) == len(trials)
    lines = daemon.request("GET", f"/v1/jobs/{job['id']}/results.csv?discarded=true").text
    assert ",'=cmd()\r\n" in lines
