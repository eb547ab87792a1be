"""Searches that choose their points: at random, when they are submitted."""
from conftest import spec

RATE, SOLVER = "training.learning_rate", "training.solver"
PARAMETERS = {RATE: {"min": 0.0001, "max": 1, "scale": "log"}, SOLVER: ["sgdm", "adam"]}


def search(dataset, strategy="random", **fields):
    job = spec(dataset, search={"strategy": strategy, "trials": 6, "seed": 5, "parameters": PARAMETERS, **fields})
    return {**job, "training": {"epochs": 1, "batch_size": 32}}


def points(trials):
    return [tuple(t["parameters"].values()) for t in trials]


def test_a_random_search_is_made_at_once(daemon, dataset):
    job = {**search(dataset, trials=3), "seeds": [1, 2]}
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
