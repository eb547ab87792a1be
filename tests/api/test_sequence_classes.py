"""Classes of whole sequences: a job from tables to a matrix, predictions and answers; what is refused, and how."""
import csv
import json

import pytest

from conftest import upload_weights
from courses import CLASSES, LABELLED, runs, table
from test_custom_metrics import ACCURACY, LOG_LOSS

SMALL = {"kind": "sequence_classification", "network": {"name": "lstm_classification", "units": 12, "dropout": 0},
         "training": {"epochs": 30, "batch_size": 16, "learning_rate": 0.01}}


@pytest.fixture(scope="module")
def train():
    return runs(40, 1)


@pytest.fixture(scope="module")
def courses(daemon, train):
    made = daemon.create_dataset({"train.csv": table(train), "test.csv": table(runs(20, 2))}, "table", name="courses",
                                 table=LABELLED)
    assert made["state"] == "ready", made
    assert made["counts"] == {"train": 120, "validation": 0, "test": 60} and made["class_count"] == 3
    return made


@pytest.fixture(scope="module")
def finished(daemon, courses):
    job = daemon.submit({**SMALL, "dataset": courses["id"], "split": {"validation": 0.25}, "evaluation": {
        "custom_metrics": [{"name": "own_accuracy", "lua": ACCURACY, "direction": "higher"},
                           {"name": "log_loss", "lua": LOG_LOSS, "direction": "lower"}]}})
    trials = daemon.wait_job(job["id"])
    assert [t["state"] for t in trials] == ["completed"], trials
    return daemon.get(f"/v1/jobs/{job['id']}"), trials[0]


def test_by_default_it_is_one_lstm(daemon, courses):
    plan = daemon.post("/v1/jobs?dry_run=true", {"kind": "sequence_classification", "dataset": courses["id"]})
    assert plan["trial_count"] == 1 and plan["resolved"]["network"]["name"] == "lstm_classification"
    data = plan["resolved"]["data"]
    assert set(data) == {"input_scaling", "keep_constant", "sort"}
    assert "phm08" not in plan["resolved"]["evaluation"]
    assert (plan["resolved"]["split"]["train"], plan["resolved"]["split"]["validation"]) == (1, 0)


def test_a_classification_is_reported_as_one(daemon, finished):
    job, trial = finished
    assert job["headline_metric"] == "validation_accuracy" and job["headline_direction"] == "higher"
    shown = daemon.get(f"/v1/trials/{trial['id']}")
    assert {"training_loss", "training_accuracy", "validation_loss", "validation_accuracy"} <= set(shown["summaries"])
    assert shown["summaries"]["training_accuracy"]["count"] == shown["total_steps"] == 30 * 6
    evaluations = {e["part"]: e for e in daemon.get(f"/v1/trials/{trial['id']}/evaluations")["items"]}
    assert [evaluations[p]["sample_count"] for p in ("train", "validation", "test")] == [90, 30, 60]
    for e in evaluations.values():
        assert e["task"] == "classification" and e["confusion_matrix"]
        assert e["accuracy"] >= 0.9 and e["accuracy_low"] <= e["accuracy"] <= e["accuracy_high"]
    assert evaluations["test"]["accuracy"] >= 0.95
    assert trial["headline_value"] == evaluations["validation"]["accuracy"]
    for part in ("validation", "test"):
        own = {m["name"]: m["value"] for m in evaluations[part]["custom_metrics"]}
        assert own["own_accuracy"] == evaluations[part]["accuracy"]
        assert own["log_loss"] == pytest.approx(evaluations[part]["loss"], abs=1e-6)
    results = daemon.get(f"/v1/jobs/{job['id']}/results")
    assert results["headline_metric"] == "validation_accuracy" and len(results["items"]) == 1
    daemon.refused("GET", f"/v1/trials/{trial['id']}/regression?part=test", 404, "not_found")
    listed = daemon.get("/v1/jobs?kind=sequence_classification")["items"]
    assert job["id"] in [j["id"] for j in listed]


def test_the_matrix_counts_the_predictions(daemon, finished, train):
    """And the parts are cut by class; samples are those of the data set, whose classes are known."""
    trial = finished[1]
    path = f"/v1/trials/{trial['id']}"
    for part, each in (("validation", 10), ("test", 20)):
        matrix = daemon.get(f"{path}/confusion-matrix?part={part}")
        assert matrix["classes"] == CLASSES and [sum(row) for row in matrix["counts"]] == [each] * 3
        rows = daemon.get(f"{path}/predictions?part={part}&limit=500")["items"]
        counts = [[sum((r["true"], r["predicted"]) == (t, p) for r in rows) for p in CLASSES] for t in CLASSES]
        assert counts == matrix["counts"]
        assert all(1 / 3 - 1e-6 <= r["probability"] <= 1 and r["image"] is None for r in rows)
        if part == "validation":
            assert all(train[r["sample"]][0] == r["true"] for r in rows)
        head, *saved = csv.reader(daemon.request("GET", f"{path}/predictions.csv?part={part}").text.splitlines())
        assert head == ["sample", "true", "predicted", "probability"]
        assert [(int(s), t, p) for s, t, p, _ in saved] == [(r["sample"], r["true"], r["predicted"]) for r in rows]
        wrong = daemon.get(f"{path}/predictions?part={part}&wrong=true")["items"]
        assert wrong == [r for r in rows if r["true"] != r["predicted"]]
    daemon.refused("GET", f"{path}/predictions?part=test&sequence=1", 400, "invalid_parameter")


def test_a_sequence_fed_back_gets_what_evaluation_gave(daemon, finished, train):
    trial = finished[1]
    url = f"/v1/trials/{trial['id']}/predict"
    for row in daemon.get(f"/v1/trials/{trial['id']}/predictions?part=validation&limit=3")["items"]:
        steps = train[row["sample"]][1].tolist()
        result = daemon.post(url, {"sequence": steps, "columns": ["a", "b"]})["result"]
        assert result["predicted"] == row["predicted"]
        assert result["probability"] == pytest.approx(row["probability"], abs=1e-4)
        assert [c["name"] for c in result["classes"]] == CLASSES
        assert sum(c["probability"] for c in result["classes"]) == pytest.approx(1, abs=1e-5)
        turned = {"sequence": [step[::-1] for step in steps], "columns": ["b", "a"]}
        assert daemon.post(url, turned)["result"] == result
    daemon.refused("POST", url, 422, "invalid_field", "/columns", json={"sequence": [[1.0]], "columns": ["a"]})
    daemon.refused("POST", url, 422, "wrong_input", data=b"\x89PNG", headers={"Content-Type": "image/png"})


def test_a_sequence_that_overflows_has_no_class(daemon, courses):
    """Numbers that are none win no comparison: not the first class, and a sentence that says why."""
    network = {"layers": [{"name": "in", "kind": "sequence_input", "normalisation": "none"}, {"name": "pool", "kind": "sequence_pool"},
                          {"name": "fc", "kind": "fully_connected"}, {"name": "softmax", "kind": "softmax"}]}
    [trial] = daemon.wait_job(daemon.submit({**SMALL, "dataset": courses["id"], "network": network, "training": {"epochs": 1}})["id"])
    assert trial["state"] == "completed", trial
    url = f"/v1/trials/{trial['id']}/predict"
    far = daemon.post(url, {"sequence": [[3.4e38, -3.4e38]], "columns": ["a", "b"]})["result"]
    assert (far["predicted"], far["probability"]) == (None, "NaN") and "finite" in far["warning"], far
    assert {c["name"]: c["probability"] for c in far["classes"]} == {name: "NaN" for name in CLASSES}
    near = daemon.post(url, {"sequence": [[0.5, 0]], "columns": ["a", "b"]})["result"]
    assert near["predicted"] in CLASSES and "warning" not in near


def test_the_network_comes_back(daemon, finished, courses):
    trial = finished[1]
    path = f"/v1/trials/{trial['id']}/network"
    made = upload_weights(daemon, daemon.request("GET", path).content)
    body = {"network": SMALL["network"], "dataset": courses["id"], "head": "kept"}
    report = daemon.post(f"/v1/weights/{made['id']}/match", body)
    assert report["loadable"] and not report["missing"], report
    onnx = upload_weights(daemon, daemon.request("GET", f"{path}?format=onnx").content, name="courses as onnx")
    assert (onnx["state"], onnx["format"]) == ("ready", "onnx"), onnx
    job = daemon.submit({**SMALL, "dataset": courses["id"], "weights": made["id"], "training": {"epochs": 1}})
    assert daemon.wait_job(job["id"])[0]["state"] == "completed"


def test_what_images_have_is_had(daemon, courses):
    """Other networks, weights of classes, smoothing, pieces, an average; bits do not depend on threads."""
    fields = {"network": {"name": "bilstm", "task": "classification", "units": 6},
              "training": {"epochs": 3, "batch_size": 16, "class_weights": "balanced", "label_smoothing": 0.1,
                           "micro_batch_size": 5, "ema_decay": 0.9}}
    losses = []
    for threads in (1, 2):
        job = daemon.submit({**SMALL, "dataset": courses["id"], "threads": threads, **fields})
        [trial] = daemon.wait_job(job["id"])
        assert trial["state"] == "completed" and trial["headline_metric"] == "test_accuracy", trial
        losses.append(daemon.get(f"/v1/trials/{trial['id']}/metrics?names=training_loss")["metrics"]["training_loss"])
    assert json.dumps(losses[0]) == json.dumps(losses[1])


@pytest.mark.parametrize("fields, code, pointer", [
    ({"kind": "sequence_regression"}, "invalid_field", "/dataset"),
    ({"kind": "solver_comparison"}, "invalid_field", "/dataset"),
    ({"data": {"rul_threshold": 100}}, "invalid_field", "/data/rul_threshold"),
    ({"data": {"target_scaling": "range"}}, "invalid_field", "/data/target_scaling"),
    ({"data": {"window": 5}}, "invalid_field", "/data/window"),
    ({"evaluation": {"phm08": {"a_early": 7}}}, "invalid_field", "/evaluation/phm08"),
    ({"evaluation": {"metrics": ["rmse"]}}, "invalid_field", "/evaluation/metrics/0"),
    ({"training": {"class_weights": [1, 2]}}, "invalid_field", "/training/class_weights"),
    ({"augmentation": {"x_reflection": True}}, "invalid_field", "/augmentation"),
    ({"network": {"name": "lstm_regression"}}, "invalid_network", None),
    ({"explain": {}}, "not_supported", "/explain"),
])
def test_what_is_of_others_is_refused(daemon, courses, fields, code, pointer):
    daemon.refused("POST", "/v1/jobs", 422, code, pointer, json={**SMALL, "dataset": courses["id"], **fields})


def test_sets_that_have_no_two_of_a_class(daemon):
    """Nothing can be kept back of them, and a set of one class has nothing to tell apart."""
    lone = daemon.create_dataset({"data.csv": table(runs(1, 3))}, "table", name="one each", table=LABELLED)
    daemon.refused("POST", "/v1/jobs", 422, "invalid_field", "/dataset", json={**SMALL, "dataset": lone["id"]})
    same = daemon.create_dataset({"data.csv": table([r for r in runs(4, 3) if r[0] == "rises"])}, "table", name="one class",
                                 table=LABELLED)
    daemon.refused("POST", "/v1/jobs", 422, "invalid_field", "/dataset", json={**SMALL, "dataset": same["id"]})
    alike = daemon.create_dataset({"data.csv": table([r for r in runs(1, 3) for _ in range(4)])}, "table", name="copies", table=LABELLED)
    assert {w["text"] for w in alike["report"]["warnings"] if w["code"] == "alike"} == {
        f"all 4 sequences of class \"{name}\" in the train part are the same" for name in CLASSES}
    problem = daemon.refused("POST", "/v1/jobs", 422, "invalid_field", "/dataset", json={**SMALL, "dataset": alike["id"]})
    assert "add different sequences, or a test part" in problem["detail"]
