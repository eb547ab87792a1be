"""Searches that choose their points: at random when they are submitted, Bayesian ones when trials have ended."""
import os
import signal

import pytest
from assay import blobs_idx
from conftest import CheckedDaemon, spec, wait_until

RATE, SOLVER = "training.learning_rate", "training.solver"
PARAMETERS = {RATE: {"min": 0.0001, "max": 1, "scale": "log"}, SOLVER: ["sgdm", "adam"]}


def search(dataset, strategy="bayesian", **fields):
    job = spec(dataset, search={"strategy": strategy, "trials": 6, "seed": 5, "parameters": PARAMETERS, **fields})
    return {**job, "training": {"epochs": 1, "batch_size": 32}}


def points(trials):
    return [tuple(t["parameters"].values()) for t in trials]


def ended(daemon, job):
    return sum(t["state"] == "completed" for t in daemon.trials(job["id"]))


@pytest.fixture(scope="module")
def undisturbed(daemon, dataset):
    job = daemon.submit(search(dataset, initial_trials=3))
    opened = daemon.trials(job["id"])
    return job, opened, daemon.wait_job(job["id"])


def test_a_random_search_is_made_at_once(daemon, dataset):
    job = {**search(dataset, "random", trials=3), "seeds": [1, 2]}
    plan = daemon.post("/v1/jobs?dry_run=true", job, status=(200,))
    assert plan["trial_count"] == len(plan["trials"]) == 6
    made = daemon.submit(job)
    trials = daemon.wait_job(made["id"])
    assert [t["state"] for t in trials] == ["completed"] * 6
    assert [(t["parameters"], t["hash"]) for t in trials] == [(t["parameters"], t["hash"]) for t in plan["trials"]]
    assert len(set(points(trials))) == 3 and points(trials)[::2] == points(trials)[1::2]
    assert all(0.0001 <= rate <= 1 and solver in PARAMETERS[SOLVER] for rate, solver in points(trials))
    results = daemon.get(f"/v1/jobs/{made['id']}/results")
    assert [g["trials"] for g in results["groups"]] == [2] * 3
    assert [list(g["parameters"]) for g in results["groups"]] == [[RATE, SOLVER]] * 3


def test_a_bayesian_search_has_all_its_trials_from_the_start(daemon, dataset, undisturbed):
    job, opened, trials = undisturbed
    assert job["trial_count"] == 6 and len(opened) == len(trials) == 6
    later = [t for t in opened if t["parameters"][RATE] is None]
    assert later and all(t["state"] == "queued" and "search chooses" in t["explanation"] for t in later)
    plan = daemon.post("/v1/jobs?dry_run=true", search(dataset, initial_trials=3), status=(200,))
    assert [t["hash"] is None for t in plan["trials"]] == [False] * 3 + [True] * 3
    assert points(plan["trials"][3:]) == [(None, None)] * 3


def test_a_bayesian_search_begins_like_a_random_one_and_goes_its_own_way(daemon, dataset, undisturbed):
    _, _, trials = undisturbed
    assert [t["state"] for t in trials] == ["completed"] * 6
    random = daemon.post("/v1/jobs?dry_run=true", search(dataset, "random"), status=(200,))["trials"]
    assert points(trials)[:3] == points(random)[:3] and points(trials)[3:] != points(random)[3:]
    assert len(set(points(trials))) == 6
    for trial in trials:
        resolved = daemon.get(f"/v1/trials/{trial['id']}")["resolved"]["training"]
        assert (resolved["learning_rate"], resolved["solver"]) == (trial["parameters"][RATE], trial["parameters"][SOLVER])


def test_each_point_follows_from_the_ones_before(daemon, dataset, undisturbed):
    """Whatever is asked for besides: a longer search goes the same way."""
    made = daemon.submit(search(dataset, initial_trials=3, trials=5))
    assert points(daemon.wait_job(made["id"])) == points(undisturbed[2])[:5]


def test_a_paused_search_chooses_nothing_and_a_cancelled_one_ends(daemon, dataset):
    job = daemon.submit(search(dataset, initial_trials=2))
    daemon.post(f"/v1/jobs/{job['id']}/pause")
    wait_until(lambda: all(t["state"] in ("queued", "paused", "completed") for t in daemon.trials(job["id"])))
    held = points(daemon.trials(job["id"]))
    assert held[2:].count((None, None)) >= 3
    daemon.post(f"/v1/jobs/{job['id']}/resume")
    wait_until(lambda: ended(daemon, job) >= 2)
    daemon.post(f"/v1/jobs/{job['id']}/cancel")
    trials = daemon.wait_job(job["id"])
    assert "cancelled" in {t["state"] for t in trials}
    results = daemon.get(f"/v1/jobs/{job['id']}/results")
    assert all(None not in g["parameters"].values() for g in results["groups"])
    answer = daemon.request("GET", f"/v1/jobs/{job['id']}/results.csv")
    assert answer.status_code == 200 and len(answer.text.splitlines()) == 7


def test_a_discarded_trial_gets_its_point_all_the_same(daemon, dataset):
    """Discarded before it had one: its job must not wait for it."""
    job = daemon.submit(search(dataset, initial_trials=2))
    last = daemon.trials(job["id"])[5]
    changed = daemon.request("PATCH", f"/v1/trials/{last['id']}", json={"discarded": True}).json()
    assert changed["discarded"] and changed["parameters"][RATE] is None
    trials = daemon.wait_job(job["id"])
    assert [t["state"] for t in trials] == ["completed"] * 6 and trials[5]["discarded"]
    assert len(set(points(trials))) == 6


def test_later_trials_are_made_like_the_first(daemon, dataset):
    job = search(dataset, initial_trials=1, trials=3, parameters={"training.epochs": [1, 2, 3]})
    job["training"] = {"batch_size": 32, "schedule": {"kind": "cosine"}}
    for trial in daemon.wait_job(daemon.submit(job)["id"]):
        training = daemon.get(f"/v1/trials/{trial['id']}")["resolved"]["training"]
        assert training["schedule"]["period"] == training["epochs"] == trial["parameters"]["training.epochs"]


def test_what_cannot_be_searched_is_refused(daemon, dataset):
    for fields, place in (({"trials": 501}, "/search/trials"), ({"initial_trials": 7}, "/search/initial_trials"),
                          ({"at_once": 0}, "/search/at_once"),
                          ({"parameters": {RATE: {"min": 0.1, "max": -1}}}, f"/search/parameters/{RATE}/max"),
                          ({"parameters": {RATE: {"min": -1, "max": 1}}}, f"/search/parameters/{RATE}"),
                          ({"parameters": {RATE: {"min": 0, "max": 5e-324}}}, f"/search/parameters/{RATE}/max"),
                          ({"trials": 2, "parameters": {SOLVER: ["adam", "adamx"]}}, f"/search/parameters/{SOLVER}/1")):
        daemon.refused("POST", "/v1/jobs", 422, "invalid_field", place, json=search(dataset, **fields))
    daemon.refused("POST", "/v1/jobs", 422, "invalid_field", "/search/strategy",
                   json={**search(dataset), "split": {"train": 1}})
    daemon.refused("POST", "/v1/jobs", 422, "invalid_field", "/search/at_once", json=search(dataset, "random", at_once=2))


def test_a_point_that_cannot_be_tried_fails_and_the_search_goes_on(daemon, dataset):
    """By itself each value is one that a trial can have; together some are not."""
    job = search(dataset, trials=6, initial_trials=1, at_once=5, parameters={
        "training.schedule.minimum_learning_rate": [0, 0.1], RATE: [1, 0.01, 0.02]})
    job["training"]["schedule"] = {"kind": "cosine"}
    trials = daemon.wait_job(daemon.submit(job)["id"])
    failed = [t for t in trials if t["state"] == "failed"]
    assert {t["state"] for t in trials} == {"completed", "failed"} and len(failed) == 2
    assert {t["error"]["class"] for t in failed} == {"invalid_input"}
    assert {tuple(t["parameters"].values()) for t in failed} == {(0.1, 0.01), (0.1, 0.02)}
    assert all("cannot be tried" in t["explanation"] for t in failed)


def test_killed_anywhere_the_same_points_come(undisturbed):
    with CheckedDaemon(ASSAY_POLL_SECONDS="1", ASSAY_CORES="2") as own:
        dataset = own.create_dataset(blobs_idx(), "idx", name="own")
        job = own.submit(search(dataset, initial_trials=3))
        for role, done in (("work", 1), ("serve", 3), ("work", 4), ("serve", 4)):
            wait_until(lambda least=done: ended(own, job) >= least, every=0.05)
            [pid] = own.pids(role)
            os.kill(pid, signal.SIGKILL)
            own.wait_ready()
        trials = own.wait_job(job["id"])
        assert [t["state"] for t in trials] == ["completed"] * 6
        assert points(trials) == points(undisturbed[2])
