"""A new job from the form: a dry run with every change, mistakes told at their field, and the job itself."""
import json
import time

import pytest
from conftest import MARKUP
from support import as_shown
from support.browser import of


@pytest.fixture
def form(page, blobs):
    page.go(f"#/submit?dataset={blobs['id']}")
    page.shown(of("plan-trials"))
    return page


def plan_trials(page):
    return page.shown(of("plan-trials")).splitlines()[0]


def written(page):
    return json.loads(page.script("return document.querySelector(arguments[0]).value", of("json")))


def type_into(page, selector, text):
    """Typed and left, as a person leaves a field for the next one."""
    page.fill(selector, text)
    page.script("document.activeElement.blur()")


def test_the_dry_run_follows_each_change(form, daemon, blobs):
    spec = {"kind": "solver_comparison", "dataset": blobs["id"]}
    form.choose(of("field-kind"), "solver_comparison")
    assert plan_trials(form) == as_shown.count(daemon.post("/v1/jobs?dry_run=true", spec)["trial_count"])
    type_into(form, of("field-seeds"), "1, 2, 3, 4")
    said = daemon.post("/v1/jobs?dry_run=true", {**spec, "seeds": [1, 2, 3, 4]})
    form.until(lambda: plan_trials(form) == as_shown.count(said["trial_count"]), "four times the trials")
    assert form.shown(of("plan-memory")).splitlines()[0] == as_shown.size(said["estimate"]["memory_bytes"])


def test_a_mistake_is_told_at_its_field(form):
    field = '[data-pointer="/training/learning_rate"]'
    type_into(form, field, "-1")
    form.shown(of("problem"), "above 0")
    assert form.count(field + "[aria-invalid=true]") == 1
    assert form.script("return document.querySelector(arguments[0]).closest('.field').contains(document.querySelector(arguments[1]))",
                       field, of("problem")), "the problem stands elsewhere"
    form.picture("submit-mistake")
    assert form.script("return document.querySelector(arguments[0]).disabled", of("submit-job")) is True
    type_into(form, field, "0.05")
    form.gone(of("problem"))
    form.shown(of("plan-trials"))
    assert all("422" in text for text in form.complaints())


def test_what_is_refused_takes_the_defaults_back_and_says_how_to_mend_it(form, daemon, blobs):
    """Nothing of the dry run before is told of a document that none has gone through with; a single issue has its mend, too."""
    good = {"kind": "solver_comparison", "dataset": blobs["id"]}
    wrong = {**good, "network": {"name": "simple_cnn", "filterz": 3}}
    told = "const e = document.querySelector(arguments[0]); return e.placeholder ?? e.options[0].text"
    form.until(lambda: form.script(told, of("field-training.epochs")) != "", "the default of the epochs")
    defaults = [form.script(told, of(f"field-{name}")) for name in ("training.epochs", "training.solver")]
    form.shown(of("sweep-default"), "By default")
    form.fill(of("json"), json.dumps(wrong))
    issues = daemon.request("POST", "/v1/jobs?dry_run=true", json=wrong).json()["issues"]
    assert len(issues) == 1 and issues[0]["mend"]
    form.shown(of("dry-run") + " " + of("mend"), issues[0]["mend"])
    form.shown(of("problem"), issues[0]["mend"])
    form.picture("submit-mend")
    assert [form.script(told, of(f"field-{name}")) for name in ("training.epochs", "training.solver")] == ["", "default"]
    assert form.texts(of("sweep-default")) == form.texts(of("plan")) == []
    form.fill(of("json"), json.dumps(good))
    form.shown(of("plan-trials"))
    assert [form.script(told, of(f"field-{name}")) for name in ("training.epochs", "training.solver")] == defaults
    assert form.texts(of("stale")) == []
    assert all("422" in text for text in form.complaints())


def test_a_sweep_is_written_by_hand(form):
    form.click(of("sweep-add"))
    form.fill(of("sweep-path"), "training.learning_rate")
    type_into(form, of("sweep-values"), "0.1, 0.01, 0.001, 0.0001")
    form.until(lambda: plan_trials(form) == "4", "a trial for each value")
    assert written(form)["search"]["parameters"] == {"training.learning_rate": [0.1, 0.01, 0.001, 0.0001]}


def test_a_random_search_takes_ranges(form):
    parameters = {"training.learning_rate": {"min": 0.0001, "max": 0.1, "scale": "log"}, "training.batch_size": {"min": 8, "max": 16, "integer": True}}
    form.choose(of("field-search.strategy"), "random")
    form.click(of("sweep-add"))
    form.fill(of("sweep-path"), "training.learning_rate")
    type_into(form, of("sweep-values"), "1e-4 to 0.1 log")
    type_into(form, of("field-search.trials"), "7")
    form.until(lambda: plan_trials(form) == "7", "as many trials as asked for")
    assert written(form)["search"] == {"strategy": "random", "trials": 7, "parameters": {"training.learning_rate": parameters["training.learning_rate"]}}
    form.fill(of("json"), json.dumps({**written(form), "search": {"strategy": "random", "trials": 4, "parameters": parameters}}))
    form.script("document.activeElement.blur()")
    form.until(lambda: plan_trials(form) == "4", "the search of the document")
    assert form.script("return [...document.querySelectorAll(arguments[0])].map((one) => one.value)", of("sweep-values")) == [
        "0.0001 to 0.1 log", "8 to 16 integer"]


def test_form_and_document_are_one(form, blobs):
    """What is written as JSON stands in the fields, and the other way round."""
    type_into(form, of("field-name"), "by field")
    form.until(lambda: written(form).get("name") == "by field", "the name in the document")
    form.fill(of("json"), json.dumps({"kind": "solver_comparison", "dataset": blobs["id"], "name": "by hand", "seeds": [7]}))
    form.script("document.activeElement.blur()")
    form.until(lambda: form.script("return document.querySelector(arguments[0]).value", of("field-name")) == "by hand",
               "the name in its field")


def test_a_job_is_submitted_and_shown(form, daemon):
    name = f"{MARKUP} {time.time_ns()}"
    type_into(form, of("field-name"), name)
    form.click(of("sweep-add"))
    form.fill(of("sweep-path"), "training.solver")
    type_into(form, of("sweep-values"), "adam")
    form.until(lambda: plan_trials(form) == "1", "one trial")
    form.click(of("submit-job"))
    form.until(lambda: form.script("return location.hash").startswith("#/jobs/"), "the job's page")
    job = daemon.get(f"/v1/jobs/{form.script('return location.hash').rpartition('/')[2]}")
    assert job["name"] == name and job["trial_count"] == 1 and job["submitted"]["search"]["parameters"] == {"training.solver": ["adam"]}
    form.shown(of("trial-row"))
    daemon.request("POST", f"/v1/jobs/{job['id']}/cancel", json={})  # 409 when it was quicker
    daemon.wait_job(job["id"])


def test_a_job_like_another(page, daemon, hostile):
    job, _ = hostile
    page.go(f"#/submit?from={job['id']}")
    page.shown(of("plan-trials"))
    assert plan_trials(page) == as_shown.count(job["trial_count"])
    copy = written(page)
    assert copy["search"] == job["submitted"]["search"] and copy["network"] == job["submitted"]["network"]
    assert daemon.post("/v1/jobs?dry_run=true", copy)["trial_count"] == job["trial_count"]
