"""More of what a trial has come to: further epochs, the same once more, another that begins with its weights."""
import pytest
from support.browser import of


@pytest.fixture(scope="module")
def source(daemon, blobs):
    """A job with two trials, for copies of it: lists of other tests are not to have them."""
    job = daemon.submit({"kind": "solver_comparison", "dataset": blobs["id"], "name": "source", "seeds": [1, 2],
                         "training": {"solver": "sgdm", "epochs": 1, "batch_size": 32}})
    trials = daemon.wait_job(job["id"])
    assert [t["state"] for t in trials] == ["completed"] * 2, trials
    return job, trials


def test_more_epochs_are_asked_for_and_given(page, blobs):
    job = page.daemon.submit({"kind": "solver_comparison", "dataset": blobs["id"], "name": "extended",
                              "training": {"solver": "sgdm", "epochs": 1, "batch_size": 32}})
    [trial] = page.daemon.wait_job(job["id"])
    page.go(f"#/trials/{trial['id']}")
    page.click(of("verb-extend"))
    page.click(of("ask-no"))
    page.gone(of("ask"))
    page.click(of("verb-extend"))
    assert page.script("return document.querySelector('[data-test=epochs]').min") == "2"
    page.fill(of("epochs"), "3")
    page.click(of("ask-yes"))
    page.shown(of("trial-explanation"), f"Completed after {3 * trial['step']} steps.")
    page.go(f"#/jobs/{job['id']}")
    page.click(of("job-extend"))
    page.fill(of("epochs"), "5")
    page.click(of("ask-yes"))
    page.until(lambda: page.daemon.trials(job["id"])[0]["step"] == 5 * trial["step"], "five epochs in all")


def test_a_trial_is_run_once_more(page, source):
    job, trials = source
    page.go(f"#/trials/{trials[0]['id']}")
    page.click(of("verb-duplicate"))
    page.until(lambda: page.script("return location.hash").startswith("#/jobs/"), "the job that was made")
    made = page.daemon.get(f"/v1/jobs/{page.script('return location.hash').rpartition('/')[2]}")
    assert made["duplicated_from"] == job["id"] and made["id"] != job["id"]
    [again] = page.daemon.wait_job(made["id"])
    assert again["duplicated_from"] == trials[0]["id"] and again["headline_value"] == trials[0]["headline_value"]


def test_a_trial_is_forked(page, source):
    trial = source[1][1]
    page.go(f"#/trials/{trial['id']}")
    page.click(of("verb-fork"))
    page.fill(of("fork-epochs"), "1")
    page.fill(of("fork-rate"), "0.0005")
    page.click(of("ask-yes"))
    page.until(lambda: page.script("return location.hash").startswith("#/jobs/"), "the job that was made")
    [made] = page.daemon.wait_job(page.script("return location.hash").rpartition("/")[2])
    assert made["forked_from"] == {"trial": trial["id"], "step": trial["step"]}
    training = page.daemon.get(f"/v1/trials/{made['id']}")["resolved"]["training"]
    assert (training["epochs"], training["learning_rate"]) == (1, 0.0005)
