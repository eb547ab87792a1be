"""Data sets of sequences: tables in, report out; the turbofan preset; what is refused, and how."""
import csv
import io
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import assay
from conftest import upload_weights

LIFE = {"sequence": "unit", "time": "cycle", "remaining_life": True}
TRAIN = b"unit,cycle,a,b\r\n1,1,5,3\r\n1,2,6,3\r\n1,3,,3\r\n2,1,7,3\r\n2,2,x,3\r\n3,1,8,3\r\n3,2,9,3\r\n"


def make(daemon, name, files, layout="table", **fields):
    return daemon.create_dataset(files, layout, name=name, **fields)  # the kind is that of the layout


@pytest.fixture(scope="module")
def turbofan(tmp_path_factory):
    """The real files where they are, else simulated ones: {name: bytes}."""
    real = pathlib.Path(os.environ.get("ASSAY_TEST_DATA", "../shared/data")) / "cmapss"
    names = ["train_FD001.txt", "test_FD001.txt", "RUL_FD001.txt"]
    if not (real / names[0]).exists():
        real, names = tmp_path_factory.mktemp("turbofan"), ["train_FD.txt", "test_FD.txt", "RUL_FD.txt"]
        subprocess.run([assay.BINARY, "simulate", "turbofan", str(real), "--engines", "40"], check=True)
    return {name: (real / name).read_bytes() for name in names}


def test_a_table_becomes_a_data_set(daemon):
    made = make(daemon, "small runs", {"train.csv": TRAIN, "test.csv": b"unit,cycle,a,b\n1,1,5,3\n",
                                       "rul.csv": b"12\n"}, table={**LIFE, "missing": "previous"})
    assert made["state"] == "ready", made
    assert made["kind"] == "sequences" and made["layout"] == "table"
    assert made["counts"] == {"train": 2, "validation": 0, "test": 1}
    assert made["sequence"] == {"inputs": 2, "targets": 1, "longest": 3}
    assert made["image"] is None and made["classes"] is None and made["class_count"] == 0
    assert made["options"]["table"] == {**LIFE, "missing": "previous"}
    report = made["report"]
    assert report["counts"]["refused"] == 1 and report["counts"]["filled"] == 1
    assert report["refused"] == [{"name": "train/2", "reason": "not_a_number",
                                  "text": '"train.csv", line 6, column 3 (a): "x" is not a number'}]
    assert report["constant_inputs"] == ["b"]
    assert {w["code"] for w in report["warnings"]} == {"refused_sequences", "filled", "constant_inputs"}
    [constant] = [w["text"] for w in report["warnings"] if w["code"] == "constant_inputs"]
    assert constant.startswith('1 of 2 inputs have one value in the whole train part ("b")'), constant
    plan = daemon.post("/v1/jobs?dry_run=true", {"kind": "sequence_regression", "dataset": made["id"]}, status=(200,))
    [warning] = [w for w in plan["warnings"] if w["code"] == "constant_inputs"]
    assert "1 of 2 inputs" in warning["text"] and ": b;" in warning["text"], warning
    assert report["parts"]["train"] == {"sequences": 2, "steps": 5, "length": {"min": 2, "max": 3, "mean": 2.5}}
    assert report["parts"]["validation"] is None
    inputs = {c["name"]: c for c in report["inputs"]}
    assert inputs["a"]["min"] == 5 and inputs["a"]["max"] == 9 and inputs["a"]["filled"] == 1
    assert len(made["digest"]) == 64 and made["digest"] == report["digest"]
    listed = daemon.get("/v1/datasets?kind=sequences")["items"]
    assert made["id"] in [d["id"] for d in listed] and all(d["kind"] == "sequences" for d in listed)


def test_classes_of_sequences(daemon):
    made = make(daemon, "classes of runs", {"data.csv": b"id,a,class\n1,5,up\n1,6,up\n2,6,down\n2,5,down\n"},
                table={"sequence": "id", "task": "classification", "target": "class"})
    assert made["state"] == "ready", made
    assert [c["name"] for c in made["classes"]] == ["down", "up"] and made["class_count"] == 2
    assert made["sequence"]["targets"] == 0


def test_turbofan_files(daemon, turbofan):
    made = make(daemon, "turbofan", turbofan, layout="cmapss")
    assert made["state"] == "ready", made
    assert made["sequence"]["inputs"] == 24 and made["sequence"]["targets"] == 1
    assert made["report"]["constant_inputs"] == ["setting3", "s1", "s5", "s10", "s16", "s18", "s19"]
    assert made["report"]["targets"][0]["min"] == 1
    if "train_FD001.txt" in turbofan:
        assert made["counts"] == {"train": 100, "validation": 0, "test": 100}
        assert made["report"]["parts"]["train"]["length"] == {"min": 128, "max": 362, "mean": 206.31}
        assert made["sequence"]["longest"] == 362
    twin = make(daemon, "turbofan again", turbofan, layout="cmapss")
    assert twin["digest"] == made["digest"]


@pytest.mark.parametrize("text, words", [
    (b"unit,cycle,a\n1,1,5\n1,2\n", "line 3: 2 fields, 3 are expected"),
    (b"unit,cycle,a\n1,1,\"5\n1,2,6\n", "line 2, field 3: a quoted field never ends"),
    (b"unit,cycle,a\n1,1,5\n\x00", "line 3, field 1: a NUL byte"),
    (b"unit,cycle,a\n" + b"1" * 3000000 + b"\n", "the row has more than 1048576 bytes"),
    (b"unit,cycle,a\n" + b"," * 100000 + b"\n", "the row has more than 8192 fields"),
    (b"unit,cycle,a\n1,1,nan\n", "\"nan\" is not finite"),
    (b"unit,cycle,a\n1,1,1e999\n", "\"1e999\" is too large"),
    (b"\xff\xfeu\x00n\x00i\x00t\x00", "no text file, or UTF-16"),
    (b"unit,time,a\n1,1,5\n", "has no column \"cycle\""),
], ids=range(9))
def test_a_bad_table_is_refused_with_its_place(daemon, text, words):
    made = make(daemon, f"bad: {words}", {"train.csv": text}, table=LIFE)
    assert made["state"] == "refused", made
    assert words in made["error"], made["error"]
    assert "/tmp" not in made["error"] and "input-0" not in made["error"]


def test_on_refused_fail_names_the_cell(daemon):
    made = make(daemon, "all or nothing", {"train.csv": TRAIN}, table={**LIFE, "missing": "mean"}, on_refused="fail")
    assert made["state"] == "refused"
    assert made["error"] == '"train.csv", line 6, column 3 (a): "x" is not a number'


def test_items_are_listed(daemon, turbofan):
    made = make(daemon, "turbofan items", turbofan, layout="cmapss")
    items = daemon.get(f"/v1/datasets/{made['id']}/items?limit=500")["items"]
    assert len(items) == sum(made["counts"].values())
    assert items[0]["name"] == "train/1" and items[0]["part"] == "train" and items[0]["class"] is None
    assert max(i["steps"] for i in items) == made["sequence"]["longest"]
    assert sum(i["steps"] for i in items) == made["report"]["counts"]["steps"]
    page = daemon.get(f"/v1/datasets/{made['id']}/items?part=test&limit=7")
    assert [i["name"] for i in page["items"]] == [f"test/{k}" for k in range(1, 8)]
    page = daemon.get(f"/v1/datasets/{made['id']}/items?part=test&limit=7&cursor={page['next_cursor']}")
    assert page["items"][0]["name"] == "test/8"
    daemon.refused("GET", f"/v1/datasets/{made['id']}/items/0/image", 404, "not_found")


def test_what_needs_pictures_says_so(daemon):
    made = make(daemon, "no pictures", {"train.csv": b"unit,cycle,a\n1,1,5\n1,2,6\n"}, table=LIFE)
    daemon.refused("POST", "/v1/jobs", 422, "invalid_field", "/dataset",
                   json={"kind": "solver_comparison", "dataset": made["id"]})


def test_the_command_line_makes_one(daemon, tmp_path):
    env = {**os.environ, "ASSAY_SERVER": daemon.url}
    assayd = assay.BINARY
    place = tmp_path / "made by it"
    subprocess.run([assayd, "simulate", "turbofan", str(place), "--engines", "3", "--seed", "5"], check=True)
    files = [str(place / name) for name in ("train_FD.txt", "test_FD.txt", "RUL_FD.txt")]
    done = subprocess.run([assayd, "dataset", "create", "--layout", "cmapss", "--name", "simulated", *files],
                          env=env, check=True, capture_output=True, text=True)
    made = daemon.get(f"/v1/datasets/{done.stdout.strip()}")
    assert made["state"] == "ready" and made["counts"] == {"train": 3, "validation": 0, "test": 3}


# ------------------------------------------------------------------------------------- training

SMALL = {"network": {"name": "lstm_regression", "units": 12, "hidden": [6]}, "training": {"epochs": 4, "batch_size": 4}}


@pytest.fixture(scope="module")
def engines(daemon, tmp_path_factory):
    """Eight simulated engines in each part."""
    directory = tmp_path_factory.mktemp("engines")
    subprocess.run([assay.BINARY, "simulate", "turbofan", str(directory), "--engines", "8", "--seed", "3"], check=True)
    files = {name: (directory / name).read_bytes() for name in ("train_FD.txt", "test_FD.txt", "RUL_FD.txt")}
    made = make(daemon, "eight engines", files, layout="cmapss")
    assert made["state"] == "ready", made
    return made


def regression(daemon, dataset, **fields):
    job = daemon.post("/v1/jobs", {"kind": "sequence_regression", "dataset": dataset["id"], **SMALL, **fields})
    trials = daemon.wait_job(job["id"])
    return daemon.get(f"/v1/jobs/{job['id']}"), trials


@pytest.fixture(scope="module")
def finished_regression(daemon, engines):
    """Two thresholds, a quarter of the train part held out."""
    job, trials = regression(daemon, engines, split={"validation": 0.25},
                             search={"parameters": {"data.rul_threshold": [60, 100]}})
    assert [t["state"] for t in trials] == ["completed"] * 2, trials
    return job, trials


def test_curves_and_evaluations_of_a_regression(daemon, finished_regression):
    job, trials = finished_regression
    assert job["headline_metric"] == "validation_rmse" and job["headline_direction"] == "lower"
    for trial in trials:
        shown = daemon.get(f"/v1/trials/{trial['id']}")
        assert {"training_loss", "training_rmse", "validation_loss", "validation_rmse"} <= set(shown["summaries"])
        assert "training_accuracy" not in shown["summaries"]
        assert shown["summaries"]["training_rmse"]["count"] == shown["total_steps"] == 8
        assert set(daemon.get(f"/v1/trials/{trial['id']}/metrics")["metrics"]) == set(shown["summaries"])
        evaluations = {e["part"]: e for e in daemon.get(f"/v1/trials/{trial['id']}/evaluations")["items"]}
        assert set(evaluations) == {"train", "validation", "test"}
        assert [evaluations[p]["sample_count"] for p in ("train", "validation", "test")] == [6, 2, 8]
        for e in evaluations.values():
            assert e["task"] == "regression" and e["confusion_matrix"] is None
            assert e["mean_max_absolute_error"] >= e["rmse"] >= e["mae"] > 0
        assert trial["headline_value"] == evaluations["validation"]["rmse"]
    assert job["best"]["trial"] == min(trials, key=lambda t: t["headline_value"])["id"]


def test_predictions_of_sequences_are_those_of_the_figures(daemon, finished_regression):
    for trial, threshold in zip(finished_regression[1], (60, 100)):
        path = f"/v1/trials/{trial['id']}/predictions?part=test"
        listed = daemon.get(path + "&limit=5")
        rest = daemon.get(path + f"&limit=5&cursor={listed['next_cursor']}")
        every = listed["items"] + rest["items"]
        assert len(every) == 8 and rest["next_cursor"] is None
        assert [p["name"] for p in every] == [f"test/{i}" for i in range(1, 9)]
        errors, largest = [], []
        for p in every:
            assert "targets" not in p and p["error"] == pytest.approx(p["predicted"] - p["target"], abs=1e-3)
            one = daemon.get(f"{path}&sequence={p['sample']}")["items"]
            assert len(one) == 1 and one[0]["name"] == p["name"]
            targets, predictions = np.array(one[0]["targets"]), np.array(one[0]["predictions"])
            assert len(targets) == len(predictions) == p["length"]
            assert targets.max() <= threshold and (targets[-1], predictions[-1]) == (p["target"], p["predicted"])
            errors.append(predictions - targets)
            largest.append(np.abs(errors[-1]).max())
        test = next(e for e in daemon.get(f"/v1/trials/{trial['id']}/evaluations")["items"] if e["part"] == "test")
        every_step = np.concatenate(errors)
        assert test["rmse"] == pytest.approx(np.sqrt((every_step ** 2).mean()), rel=1e-5)
        assert test["mae"] == pytest.approx(np.abs(every_step).mean(), rel=1e-5)
        assert test["mean_max_absolute_error"] == pytest.approx(np.mean(largest), rel=1e-5)
        assert test["last_step_rmse"] == pytest.approx(np.sqrt(np.mean([e[-1] ** 2 for e in errors])), rel=1e-5)
        assert test["steps"] == len(every_step)


def test_the_spread_of_errors_is_that_of_the_predictions(daemon, finished_regression):
    trial = finished_regression[1][0]["id"]
    whole = daemon.get(f"/v1/trials/{trial}/regression?part=test&points=20000&bins=7")
    path = f"/v1/trials/{trial}/predictions?part=test"
    listed = daemon.get(path)["items"]
    errors, steps = [], []
    for p in listed:
        one = daemon.get(f"{path}&sequence={p['sample']}")["items"][0]
        error = np.array(one["predictions"]) - np.array(one["targets"])
        assert p["rmse"] == pytest.approx(np.sqrt((error ** 2).mean()), rel=1e-5)
        assert p["worst"]["step"] == np.abs(error).argmax() + 1
        assert p["worst"]["error"] == pytest.approx(error[p["worst"]["step"] - 1], abs=1e-4)
        errors.append(error)
        steps += [(p["sample"], k + 1) for k in range(len(error))]
    every, points, found = np.concatenate(errors), whole["points"], whole["errors"]
    assert whole["sequences"] == len(listed) and whole["steps"] == len(every) == len(points["target"])
    assert list(zip(points["sample"], points["step"])) == steps
    assert np.array(points["predicted"]) - np.array(points["target"]) == pytest.approx(every, abs=1e-4)
    assert (found["low"], found["high"]) == pytest.approx((every.min(), every.max()), abs=1e-4)
    assert found["not_finite"] == 0 and sum(found["counts"]) == len(every)
    edges = np.linspace(every.min(), every.max(), 8)
    assert np.abs(np.histogram(every, edges)[0] - found["counts"]).sum() <= 2  # an error may lie on an edge
    few = daemon.get(f"/v1/trials/{trial}/regression?part=test&points=10")
    assert len(few["points"]["target"]) <= 10 and few["steps"] == len(every) and len(few["errors"]["counts"]) == 40


def test_sequences_can_be_had_worst_first(daemon, finished_regression):
    path = f"/v1/trials/{finished_regression[1][0]['id']}/predictions?part=test"
    rows, cursor = [], ""
    while cursor is not None:
        page = daemon.get(f"{path}&sort=-worst_error&limit=3{cursor}")
        rows += page["items"]
        cursor = page["next_cursor"] and f"&cursor={page['next_cursor']}"
    worst = [abs(r["worst"]["error"]) for r in rows]
    assert worst == sorted(worst, reverse=True)
    assert sorted(r["sample"] for r in rows) == sorted(r["sample"] for r in daemon.get(path)["items"])


def test_predictions_as_a_table(daemon, finished_regression):
    path = f"/v1/trials/{finished_regression[1][0]['id']}/predictions"
    answer = daemon.request("GET", f"{path}.csv?part=test")
    assert answer.headers["Content-Type"].startswith("text/csv") and "predictions.csv" in answer.headers["Content-Disposition"]
    head, *table = csv.reader(answer.text.splitlines())
    assert head == ["sample", "name", "step", "target", "predicted"]
    listed = daemon.get(f"{path}?part=test")["items"]
    assert len(table) == sum(one["length"] for one in listed)
    for one in listed:
        whole = daemon.get(f"{path}?part=test&sequence={one['sample']}")["items"][0]
        mine = [row for row in table if row[0] == str(one["sample"])]
        assert {row[1] for row in mine} == {one["name"]} and [int(row[2]) for row in mine] == list(range(1, one["length"] + 1))
        assert [float(row[3]) for row in mine] == whole["targets"] and [float(row[4]) for row in mine] == whole["predictions"]
    assert daemon.request("GET", f"{path}.csv?part=train").text == ",".join(head) + "\r\n"  # none is kept of it
    daemon.refused("GET", f"/v1/trials/{'0' * 32}/predictions.csv", 404, "not_found")
    daemon.refused("GET", f"{path}.csv?part=tests", 400, "invalid_parameter")


def test_head_of_the_spread(daemon, finished_regression):
    path = f"/v1/trials/{finished_regression[1][0]['id']}/regression"
    head, got = daemon.request("HEAD", path), daemon.request("GET", path)
    assert head.status_code == 200 and head.content == b"" and head.headers["ETag"] == got.headers["ETag"]
    assert daemon.request("GET", path, headers={"If-None-Match": got.headers["ETag"]}).status_code == 304


@pytest.mark.parametrize("network", [{"name": "gru", "units": 8, "hidden": [4]},
                                     {"name": "bilstm", "units": 6, "depth": 2, "hidden": [], "output": "last"}], ids=["gru", "bilstm"])
def test_recurrent_networks_train_and_come_back(daemon, engines, network):
    """Its file has the names of PyTorch's modules, and fits a new network."""
    job, trials = regression(daemon, engines, network=network, data={"rul_threshold": 60}, split={"validation": 0.25})
    assert [t["state"] for t in trials] == ["completed"], trials
    points = daemon.get(f"/v1/trials/{trials[0]['id']}/metrics?names=training_loss")["metrics"]["training_loss"]["value"]
    assert points[-1] < points[0]
    made = upload_weights(daemon, daemon.request("GET", f"/v1/trials/{trials[0]['id']}/network").content)
    names = {t["name"] for t in daemon.get(f"/v1/weights/{made['id']}/tensors?limit=100")["items"]}
    assert {"gru1.bias_hh_l0"} <= names if network["name"] == "gru" else {"lstm2.weight_hh_l0_reverse"} <= names
    report = daemon.post(f"/v1/weights/{made['id']}/match", {"network": network, "dataset": engines["id"], "head": "kept"})
    assert report["loadable"] and not report["missing"], report


def test_windows_train_and_whole_sequences_are_judged(daemon, engines):
    """Each validation sequence is predicted wherever a window ends, each test sequence at its last step alone."""
    fields = {"data": {"rul_threshold": 60, "window": 20, "window_stride": 3}, "split": {"validation": 0.25},
              "network": {"name": "gru", "units": 6, "hidden": [], "output": "last"},
              "training": {"epochs": 2, "batch_size": 32, "shuffle": "every_epoch"}}
    job, trials = regression(daemon, engines, **fields)
    assert [t["state"] for t in trials] == ["completed"], trials
    trial, lengths = trials[0], {i["name"]: i["steps"] for i in daemon.get(f"/v1/datasets/{engines['id']}/items?limit=100")["items"]}
    windows = {part: {} for part in ("validation", "test")}
    for part, found in windows.items():
        for p in daemon.get(f"/v1/trials/{trial['id']}/predictions?part={part}")["items"]:
            one = daemon.get(f"/v1/trials/{trial['id']}/predictions?part={part}&sequence={p['sample']}")["items"][0]
            found[p["name"]] = len(one["predictions"])
            if part == "validation":  # a run to failure: one cycle is left at the end, and each stride three more
                assert one["targets"] == [float(min(60, 1 + 3 * k)) for k in reversed(range(len(one["targets"])))]
    assert len(windows["validation"]) == 2 and set(windows["test"].values()) == {1}
    assert all(n == max(0, lengths[name] - 20) // 3 + 1 for name, n in windows["validation"].items())
    evaluations = {e["part"]: e for e in daemon.get(f"/v1/trials/{trial['id']}/evaluations")["items"]}
    assert [evaluations[p]["sample_count"] for p in ("train", "validation", "test")] == [6, 2, 8]
    assert evaluations["test"]["rmse"] == pytest.approx(evaluations["test"]["last_step_rmse"], rel=1e-6)
    trained = sum(max(0, n - 20) // 3 + 1 for name, n in lengths.items()
                  if name.startswith("train/") and name not in windows["validation"])
    assert trial["total_steps"] == 2 * -(-trained // 32)
    _, twins = regression(daemon, engines, threads=2, **fields)
    names = "training_loss,validation_rmse"
    both = [daemon.get(f"/v1/trials/{t['id']}/metrics?names={names}")["metrics"] for t in (trial, twins[0])]
    assert both[0] == both[1]
    _, every = regression(daemon, engines, **{**fields, "data": {**fields["data"], "window_test": "every"}})
    test = next(e for e in daemon.get(f"/v1/trials/{every[0]['id']}/evaluations")["items"] if e["part"] == "test")
    assert test["last_step_rmse"] == pytest.approx(evaluations["test"]["last_step_rmse"], rel=1e-6)
    assert test["steps"] == sum(max(0, n - 20) // 3 + 1 for name, n in lengths.items() if name.startswith("test/"))


def test_other_networks_of_sequences(daemon, engines):
    """Transformers and temporal convolutions learn, and give a prediction for every step."""
    networks = [{"name": "transformer_encoder", "width": 8, "heads": 2, "hidden": 16, "depth": 1},
                {"name": "transformer_encoder", "width": 8, "heads": 2, "hidden": 8, "depth": 1, "feed_forward": "swiglu",
                 "position": "learned", "causal": False},
                {"name": "tcn", "filters": 8, "dilations": [1, 4]}]
    job = daemon.post("/v1/jobs", {"kind": "sequence_regression", "dataset": engines["id"], "split": {"validation": 0.25},
                                   "search": {"parameters": {"network": networks}}, "data": {"rul_threshold": 100},
                                   "training": {"epochs": 12, "batch_size": 3, "learning_rate": 0.01}})
    trials = daemon.wait_job(job["id"])
    assert [t["state"] for t in trials] == ["completed"] * 3, [daemon.get(f"/v1/trials/{t['id']}").get("error") for t in trials]
    for trial in trials:
        curve = daemon.get(f"/v1/trials/{trial['id']}/metrics?names=training_rmse")["metrics"]["training_rmse"]["value"]
        assert np.mean(curve[-2:]) < 0.95 * np.mean(curve[:2]), curve  # two steps see every engine
        listed = daemon.get(f"/v1/trials/{trial['id']}/predictions?part=test&limit=2")["items"]
        one = daemon.get(f"/v1/trials/{trial['id']}/predictions?part=test&sequence={listed[0]['sample']}")["items"][0]
        assert len(one["predictions"]) == one["length"] == len(one["targets"])


def test_networks_that_do_not_fit_the_sequences(daemon, engines):
    for network, pointer in (({"name": "transformer_encoder", "width": 10, "heads": 4}, "/network"),
                             ({"name": "transformer_encoder", "position": "learned", "length": 5}, "/network"),
                             ({"name": "tcn", "padding": "valid"}, "/network/padding")):
        answer = daemon.request("POST", "/v1/jobs", json={"kind": "sequence_regression", "dataset": engines["id"],
                                                          "network": network})
        assert answer.status_code == 422 and answer.json()["pointer"].startswith(pointer), answer.text


def test_what_a_regression_does_not_have(daemon, finished_regression):
    trial = finished_regression[1][0]["id"]
    problem = daemon.refused("GET", f"/v1/trials/{trial}/confusion-matrix", 404, "not_found")
    assert "regression has no confusion matrix" in problem["detail"]
    daemon.refused("GET", f"/v1/trials/{trial}/confusion-matrix.csv?part=test", 404, "not_found")
    for query in ("true=a", "predicted=a", "wrong=true", "sequence=4000000"):
        daemon.refused("GET", f"/v1/trials/{trial}/predictions?{query}", 400, "invalid_parameter")


def test_results_table_of_a_regression(daemon, finished_regression):
    job, trials = finished_regression
    table = daemon.get(f"/v1/jobs/{job['id']}/results?sort=best")
    names = ["rmse", "mae", "r2", "mean_max_absolute_error", "last_step_rmse", "phm08_score", "loss"]
    assert table["metrics"] == [f"{part}_{name}" for part in ("validation", "test", "train") for name in names]
    values = [row["metrics"]["validation_rmse"]["value"] for row in table["items"]]
    assert values == sorted(values) and table["items"][0]["id"] == job["best"]["trial"]
    rows = list(csv.DictReader(io.StringIO(daemon.request("GET", f"/v1/jobs/{job['id']}/results.csv").text)))
    assert [float(r["validation_rmse"]) for r in rows] == [t["headline_value"] for t in trials]
    assert [r["data.rul_threshold"] for r in rows] == ["60", "100"]
    assert all(float(r["test_mean_max_absolute_error_low"]) <= float(r["test_mean_max_absolute_error"]) for r in rows)


def test_trials_of_different_targets_are_told_apart(daemon, finished_regression):
    """A threshold changes what is to be predicted: a best trial for each, and every document says so."""
    job, trials = finished_regression
    said = daemon.get(f"/v1/jobs/{job['id']}")
    assert said["target_parameters"] == ["data.rul_threshold"]
    assert said["best_by_target"] == [{"parameters": t["parameters"], "trial": t["id"], "value": t["headline_value"]} for t in trials]
    assert [b["parameters"]["data.rul_threshold"] for b in said["best_by_target"]] == [60, 100]
    [listed] = [j for j in daemon.get("/v1/jobs?fields=id,target_parameters")["items"] if j["id"] == job["id"]]
    assert listed["target_parameters"] == said["target_parameters"]
    assert daemon.get(f"/v1/jobs/{job['id']}/results")["target_parameters"] == said["target_parameters"]
    assert [daemon.get(f"/v1/trials/{t['id']}")["target"] for t in trials] == [t["parameters"] for t in trials]
    daemon.request("PATCH", f"/v1/trials/{trials[0]['id']}", json={"discarded": True})
    assert [b["trial"] for b in daemon.get(f"/v1/jobs/{job['id']}")["best_by_target"]] == [trials[1]["id"]]
    daemon.request("PATCH", f"/v1/trials/{trials[0]['id']}", json={"discarded": False})
    shown = subprocess.run([assay.BINARY, "show", job["id"], "--server", daemon.url], capture_output=True, text=True, check=True).stdout
    assert "trials that differ in data.rul_threshold have different targets" in shown
    table = pathlib.Path(__file__).parents[1] / "demo/table.py"
    shown = subprocess.run([sys.executable, table, daemon.url, job["id"]], capture_output=True, text=True, check=True).stdout
    assert "threshold 60" in shown and "threshold 100" in shown


def test_equal_regressions_are_equal_to_the_bit(daemon, engines, finished_regression):
    """B01: again, on two threads: every number but times."""
    custom = [{"name": "sequences", "lua": "return #lengths"}, {"name": "bias", "lua": """
        local sum, n = 0, 0
        for i = 1, #lengths do
          for t = 1, lengths[i] do sum, n = sum + predictions[i][t] - targets[i][t], n + 1 end
        end
        return sum / n"""}]
    fields = {"split": {"validation": 0.25}, "data": {"rul_threshold": 60},
              "evaluation": {"custom_metrics": custom, "phm08": {"a_early": 7, "a_late": 3}}}
    _, twins = regression(daemon, engines, threads=2, **fields)
    both = [finished_regression[1][0], twins[0]]
    names = "training_loss,gradient_norm,validation_rmse"
    points = [daemon.get(f"/v1/trials/{t['id']}/metrics?names={names}")["metrics"] for t in both]
    assert points[0] == points[1]
    every = [daemon.get(f"/v1/trials/{t['id']}/predictions?part=test")["items"] for t in both]
    assert every[0] == every[1]
    test = next(e for e in daemon.get(f"/v1/trials/{twins[0]['id']}/evaluations")["items"] if e["part"] == "test")
    values = {m["name"]: m["value"] for m in test["custom_metrics"]}
    assert values["sequences"] == 8 and abs(values["bias"]) <= test["mae"], test["custom_metrics"]
    last = [item["error"] for item in every[1]]
    assert test["phm08"] == {"a_early": 7, "a_late": 3}
    assert test["phm08_score"] == pytest.approx(sum(np.expm1(-e / 7 if e < 0 else e / 3) for e in last), rel=1e-4)


def test_a_dry_run_of_the_published_experiment(daemon, engines):
    plan = daemon.post("/v1/jobs?dry_run=true", {"kind": "sequence_regression", "dataset": engines["id"]})
    assert plan["trial_count"] == 9 and plan["headline_metric"] == "test_rmse"
    assert plan["trials"][0]["parameters"] == {"data.rul_threshold": 150, "network.depth": 1}
    assert plan["estimate"]["seconds"] > 0 and plan["estimate"]["memory_bytes"] > 1e6
    assert plan["resolved"]["training"]["gradient_clipping"] == {"method": "l2norm", "threshold": 1}


def test_bad_regressions_name_their_field(daemon, engines, dataset):
    for fields, status, code, pointer in [
            ({"data": {"normalisation": "none"}}, 422, "invalid_field", "/data/normalisation"),
            ({"data": {"rul_threshold": -1}}, 422, "invalid_field", "/data/rul_threshold"),
            ({"data": {"rul": 1}}, 422, "unknown_field", "/data/rul"),
            ({"data": {"window": 0}}, 422, "invalid_field", "/data/window"),
            ({"data": {"window": 2.5}}, 422, "invalid_field", "/data/window"),
            ({"data": {"window": 30, "window_stride": 0}}, 422, "invalid_field", "/data/window_stride"),
            ({"data": {"window": 30, "window_test": "first"}}, 422, "invalid_field", "/data/window_test"),
            ({"network": {"name": "gru", "task": "both"}}, 422, "invalid_network", "/network/task"),
            ({"network": {"name": "bilstm", "task": "classification"}}, 422, "invalid_network", "/network"),
            ({"data": {"sort": "length_descending"}, "training": {"shuffle": "once"}}, 422, "invalid_field", "/data/sort"),
            ({"evaluation": {"metrics": ["accuracy"]}}, 422, "invalid_field", "/evaluation/metrics/0"),
            ({"dataset": dataset["id"]}, 422, "invalid_field", "/dataset"),
            ({"kind": "solver_comparison"}, 422, "invalid_field", "/dataset")]:
        daemon.refused("POST", "/v1/jobs", status, code, pointer,
                       json={"kind": "sequence_regression", "dataset": engines["id"], **fields})
    daemon.refused("POST", "/v1/jobs", 422, "invalid_field", "/data/rul_threshold",
                   json={"kind": "solver_comparison", "dataset": dataset["id"], "data": {"rul_threshold": 150}})
    daemon.refused("POST", "/v1/jobs", 422, "invalid_field", "/data/window",
                   json={"kind": "solver_comparison", "dataset": dataset["id"], "data": {"window": 30}})
    daemon.refused("POST", "/v1/jobs", 422, "invalid_network", "/network", json={
        "kind": "sequence_regression", "dataset": engines["id"], "network": {"name": "lstm_classification"}})


def test_a_network_is_analysed_against_sequences(daemon, engines):
    report = daemon.post("/v1/networks/analyze", {"network": {"name": "lstm_regression"}, "dataset": engines["id"]})
    assert report["valid"], report["issues"]
    assert report["totals"]["learnables"] == 184501  # of the published network on 17 inputs
    assert not daemon.post("/v1/networks/analyze", {"network": {"name": "simple_cnn"}, "dataset": engines["id"]})["valid"]


def test_a_network_of_sequences_starts_from_weights(daemon, engines):
    """What a match says and what a job does are the same, with all inputs and without the constant ones."""
    def trained(**data):
        trial = regression(daemon, engines, training={"epochs": 1}, data={"rul_threshold": 100, **data})[1][0]
        content = daemon.request("GET", f"/v1/trials/{trial['id']}/network").content
        return upload_weights(daemon, content)

    def job(weights, **data):
        return {"kind": "sequence_regression", "dataset": engines["id"], "network": SMALL["network"], "weights": weights["id"],
                "data": {"rul_threshold": 100, **data}, "training": {"epochs": 2}}

    some, every = trained(), trained(keep_constant=True)
    for made, fits, other in ((some, False, True), (every, True, False)):
        assert daemon.post("/v1/jobs?dry_run=true", job(made, keep_constant=fits))["trial_count"] == 1
        daemon.refused("POST", "/v1/jobs", 422, "invalid_field", "/weights", json=job(made, keep_constant=other))
    report = daemon.post(f"/v1/weights/{some['id']}/match", {"network": SMALL["network"], "dataset": engines["id"]})
    assert report["loadable"] and not report["missing"], report
    made = daemon.post("/v1/jobs", job(some))
    assert [t["state"] for t in daemon.wait_job(made["id"])] == ["completed"]


def test_ids_of_an_embedding_come_as_they_are(daemon):
    """Scaled ids are refused before a trial; ids out of range by the trial and by a question, with their place."""
    rows = "".join(f"{unit},{(unit + t) % 5},{t % 3}\n" for unit in range(12) for t in range(4))
    made = make(daemon, "ids", {"train.csv": ("unit,id,y\n" + rows).encode()}, table={"sequence": "unit", "target": "y"})

    def job(ids, **fields):
        return {"kind": "sequence_regression", "dataset": made["id"], "training": {"epochs": 1}, "split": {"validation": 0.25},
                "network": {"layers": [{"name": "in", "kind": "sequence_input", "normalisation": "none"},
                                       {"name": "table", "kind": "embedding", "ids": ids, "outputs": 3},
                                       {"name": "fc", "kind": "fully_connected"}]}, **fields}

    for scaling in ({}, {"data": {"input_scaling": "range"}}):
        problem = daemon.refused("POST", "/v1/jobs", 422, "invalid_network", "/network/layers/1", json=job(5, **scaling))
        assert "data.input_scaling" in problem["issues"][0]["mend"], problem
    plain = {"data": {"input_scaling": "none"}}
    trial = daemon.wait_job(daemon.submit(job(4, **plain))["id"])[0]
    error = daemon.get(f"/v1/trials/{trial['id']}")["error"]
    assert (trial["state"], error["class"]) == ("failed", "invalid_input") and "ids from 0 to 3" in error["text"], error
    trial = daemon.wait_job(daemon.submit(job(5, **plain))["id"])[0]
    assert trial["state"] == "completed", trial
    for steps in ([[7]], [[0], [-1]], [[1.5]]):
        daemon.refused("POST", f"/v1/trials/{trial['id']}/predict", 422, "invalid_field", None, json={"sequence": steps})


def test_values_that_are_no_life_are_not_cut_off(daemon):
    rows = "".join(f"{unit},{t},{t % 5},{1000 + 10 * t + unit}\n" for unit in range(4) for t in range(6))
    made = make(daemon, "volts", {"train.csv": ("unit,cycle,a,volt\n" + rows).encode()},
                table={"sequence": "unit", "time": "cycle", "target": "volt"})
    assert made["state"] == "ready", made
    plan = daemon.post("/v1/jobs?dry_run=true", {"kind": "sequence_regression", "dataset": made["id"], "split": {"validation": 0.5}})
    assert [t["parameters"] for t in plan["trials"]] == [{"network.depth": d} for d in (1, 2, 3)]
