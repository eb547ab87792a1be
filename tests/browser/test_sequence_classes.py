"""Classes of sequences on the page: the form finds their kind of job, the matrix and an answer show classes, not numbers."""
import json

import pytest
from support import as_shown
from support.browser import of
from support.courses import CLASSES, LABELLED, runs, table


@pytest.fixture(scope="module")
def courses(daemon):
    """A finished classification of sequences: its one trial, and what it was trained on."""
    train = runs(30, 4)
    made = daemon.create_dataset({"data.csv": table(train)}, "table", name="courses of the page", table=LABELLED)
    assert made["state"] == "ready", made
    job = daemon.submit({"kind": "sequence_classification", "dataset": made["id"], "name": "courses",
                         "network": {"name": "lstm_classification", "units": 8},
                         "training": {"epochs": 4, "batch_size": 8, "learning_rate": 0.01}})
    [trial] = daemon.wait_job(job["id"])
    assert trial["state"] == "completed", trial
    return trial, train


def test_the_form_knows_which_sequences_have_classes(page, courses, regression):
    trial, _ = courses
    for dataset, kind in ((trial["dataset"], "sequence_classification"), (regression["dataset"], "sequence_regression")):
        page.go(f"#/submit?dataset={dataset}")
        page.shown(of("plan-trials"))
        written = json.loads(page.script("return document.querySelector(arguments[0]).value", of("json")))
        assert (written["kind"], written["dataset"]) == (kind, dataset)


def test_the_matrix_is_one_of_sequences(page, daemon, courses):
    trial, _ = courses
    page.go(f"#/trials/{trial['id']}?tab=confusion")
    matrix = daemon.get(f"/v1/trials/{trial['id']}/confusion-matrix?part=validation")
    page.shown(of("matrix"))
    page.shown(of("matrix-summary"), "sequences right")
    counts = [[int(page.texts(of("cell") + f'[data-true="{t}"][data-predicted="{p}"]')[0] or 0) for p in range(3)] for t in range(3)]
    assert counts == matrix["counts"]
    true, predicted = next((t, p) for t in range(3) for p in range(3) if counts[t][p])
    page.click(of("cell") + f'[data-true="{true}"][data-predicted="{predicted}"]')
    rows = daemon.get(f"/v1/trials/{trial['id']}/predictions?part=validation&true={CLASSES[true]}&predicted={CLASSES[predicted]}")["items"]
    page.until(lambda: page.count(of("thumbnail")) == min(24, len(rows)), "a tile for each sequence")
    assert f"Sequence {rows[0]['sample']}" in page.texts(of("thumbnail"))[0]
    assert page.count(of("cell-samples") + " img") == 0


def paste(page, trial, steps):
    page.go(f"#/trials/{trial['id']}?tab=predict")
    text = "\n".join(["a,b"] + [f"{a},{b}" for a, b in steps])
    page.until(lambda: page.script("const e = document.querySelector(arguments[0]); if (e) { e.value = arguments[1]; } return !!e",
                                   of("rows"), text), "a field for the steps")
    page.click(of("ask"))


def test_a_pasted_sequence_gets_a_class(page, daemon, courses):
    trial, train = courses
    steps = train[0][1].tolist()
    answer = daemon.request("POST", f"/v1/trials/{trial['id']}/predict?wait=55",
                            json={"sequence": steps, "columns": ["a", "b"]}).json()["result"]
    paste(page, trial, steps)
    page.shown(of("predicted"), answer["predicted"])
    assert as_shown.percent(answer["probability"]) in page.shown(of("answer"))


def test_a_sequence_that_overflows_gets_a_sentence(page, daemon, courses):
    layers = [{"name": "in", "kind": "sequence_input", "normalisation": "none"}, {"name": "pool", "kind": "sequence_pool"},
              {"name": "fc", "kind": "fully_connected"}, {"name": "softmax", "kind": "softmax"}]
    [trial] = daemon.wait_job(daemon.submit({"kind": "sequence_classification", "dataset": courses[0]["dataset"],
                                             "network": {"layers": layers}, "training": {"epochs": 1}})["id"])
    paste(page, trial, [(3.4e38, -3.4e38)])
    page.shown(of("predicted"), "No class")
    page.shown(of("warning"), "finite")
