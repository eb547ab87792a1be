"""What finished trials say, in every form in which it is told."""
import csv
import io
import json
import re
import struct

import numpy as np
import pytest

import assay
from conftest import safetensors, some_tensors, spec, upload_weights


def rows(text):
    return list(csv.reader(io.StringIO(text)))


def matrix(daemon, trial, part="validation"):
    return daemon.get(f"/v1/trials/{trial['id']}/confusion-matrix?part={part}")


def test_a_trial_shows_all_that_led_to_it(daemon, trial):
    shown = daemon.get(f"/v1/trials/{trial['id']}")
    assert shown["resolved"]["training"]["solver"] == "sgdm" and shown["resolved"]["seed"] == 1
    assert shown["step"] == shown["total_steps"] == 18 and shown["explanation"].startswith("Completed")
    attempt = shown["attempts"][-1]
    assert attempt["outcome"] == "completed" and attempt["core_build"] and attempt["instruction_set"]
    assert {"training_loss", "training_accuracy", "validation_loss", "validation_accuracy"} <= set(shown["summaries"])
    loss = shown["summaries"]["training_loss"]
    assert loss["count"] == 18 and loss["last_step"] == 18 and loss["min"] <= loss["last"] <= loss["max"]


@pytest.mark.parametrize("part,samples", [("train", 280), ("validation", 120), ("test", 100)])
def test_matrix_accuracy_and_predictions_agree(daemon, dataset, finished, part, samples):
    """A10, A11: trace over sum is the accuracy exactly; rows are true classes; predictions add up to the cells."""
    for trial in finished[1]:
        m = matrix(daemon, trial, part)
        counts = np.array(m["counts"])
        assert m["total"] == counts.sum() == samples and m["classes"] == ["0", "1", "2"]
        evaluation = next(e for e in daemon.get(f"/v1/trials/{trial['id']}/evaluations")["items"] if e["part"] == part)
        assert evaluation["accuracy"] == m["accuracy"] == counts.trace() / counts.sum()
        assert evaluation["sample_count"] == samples
        for k, row in enumerate(evaluation["per_class"]):
            assert row["support"] == counts[k].sum() and row["predicted"] == counts[:, k].sum()
    truth = {i["n"]: i["class"] for i in daemon.get(f"/v1/datasets/{dataset['id']}/items?limit=500")["items"]}
    every = daemon.get(f"/v1/trials/{finished[1][0]['id']}/predictions?part={part}&limit=500")["items"]
    seen = np.zeros((3, 3), int)
    for p in every:
        assert truth[p["sample"]] == p["true"] and 0 < p["probability"] <= 1
        seen[int(p["true"]), int(p["predicted"])] += 1
    counts = np.array(matrix(daemon, finished[1][0], part)["counts"])
    assert (seen == (counts - np.diag(np.diag(counts)) if part == "train" else counts)).all()


def test_what_overflows_is_given_no_class(daemon, dataset):
    """A last step may leave a network whose scores are not finite: the trial has diverged, nothing is predicted, all is wrong."""
    layers = [{"name": f"fc{i}", "kind": "fully_connected", "outputs": 4} for i in range(8)]
    network = {"layers": [{"name": "in", "kind": "image_input", "normalisation": "none"},
                          {"name": "conv", "kind": "convolution", "filters": 2, "kernel": 3}, {"name": "flat", "kind": "flatten"}, *layers,
                          {"name": "fc", "kind": "fully_connected"}, {"name": "softmax", "kind": "softmax"}]}
    job = daemon.submit(spec(dataset, network=network, split={"train": 1}, training={
        "solver": "adam", "learning_rate": 1e12, "epochs": 1, "batch_size": 512}))
    [trial] = daemon.wait_job(job["id"])
    assert (trial["state"], trial["error"]["class"]) == ("failed", "diverged"), trial
    assert "train part" in trial["error"]["text"]
    [e] = [e for e in daemon.get(f"/v1/trials/{trial['id']}/evaluations")["items"] if e["part"] == "test"]
    assert (e["accuracy"], e["loss"], e["unclassified"], e["sample_count"]) == (0, "NaN", 100, 100)
    assert [(row["support"] > 0, row["recall"]) for row in e["per_class"]] == [(True, 0)] * 3
    m = matrix(daemon, trial, "test")
    assert m["counts"] == [[0] * 3] * 3 and (m["total"], m["unclassified"], m["accuracy"]) == (100, 100, 0)
    listed = daemon.get(f"/v1/trials/{trial['id']}/predictions?part=test&wrong=true&limit=500")["items"]
    assert len(listed) == 100 and {(p["predicted"], p["probability"]) for p in listed} == {(None, "NaN")}
    saved = rows(daemon.request("GET", f"/v1/trials/{trial['id']}/predictions.csv?part=test").text)
    assert {tuple(row[2:]) for row in saved[1:]} == {("", "NaN")}
    log = [line["text"] for line in daemon.get(f"/v1/trials/{trial['id']}/log")["items"]]
    assert "100 of 100 samples of the test part are given no class: the network's scores of them are not finite" in log
    picture = daemon.request("GET", f"/v1/datasets/{dataset['id']}/items/0/image").content
    for question in ("predict", "explanations"):
        said = daemon.request("POST", f"/v1/trials/{trial['id']}/{question}?wait=55", data=picture,
                              headers={"Content-Type": "image/png"}).json()["result"]
        assert (said["predicted"], said["probability"]) == (None, "NaN") and "finite" in said["warning"], said
        assert {c["probability"] for c in said["classes"]} == {"NaN"}


def test_the_sparse_form_has_the_same_counts(daemon, finished):
    trial = finished[1][0]
    path = f"/v1/trials/{trial['id']}/confusion-matrix?part=test"
    dense, sparse = daemon.get(path), daemon.get(path + "&form=sparse")
    counts = np.zeros((3, 3), int)
    for true, predicted, n in sparse["cells"]:
        assert counts[true, predicted] == 0 < n
        counts[true, predicted] = n
    assert counts.tolist() == dense["counts"]
    assert {k: v for k, v in sparse.items() if k != "cells"} == {k: v for k, v in dense.items() if k != "counts"}
    daemon.refused("GET", path + "&form=csv", 400, "invalid_parameter", parameter="form")
    daemon.refused("GET", path.replace("matrix", "matrix.csv") + "&form=sparse", 400, "invalid_parameter", parameter="form")


def test_class_a_taken_for_class_b(daemon, finished):
    trial = finished[1][0]
    counts = matrix(daemon, trial)["counts"]
    for t in range(3):
        for p in range(3):
            listed = daemon.get(f"/v1/trials/{trial['id']}/predictions?true={t}&predicted={p}&limit=500")["items"]
            assert len(listed) == counts[t][p]
    wrong = daemon.get(f"/v1/trials/{trial['id']}/predictions?wrong=true&limit=500")["items"]
    right, cursor = [], ""
    while cursor is not None:
        page = daemon.get(f"/v1/trials/{trial['id']}/predictions?wrong=false&limit=50{cursor and '&cursor=' + cursor}")
        right, cursor = right + page["items"], page["next_cursor"]
    assert len(wrong) + len(right) == 120 and len({p["sample"] for p in wrong + right}) == 120
    image = daemon.request("GET", right[0]["image"])
    assert image.headers["Content-Type"] == "image/png" and image.content[:4] == b"\x89PNG"


def test_predictions_as_a_table(daemon, finished):
    path = f"/v1/trials/{finished[1][0]['id']}/predictions"
    head, *table = rows(daemon.request("GET", f"{path}.csv?part=test").text)
    assert head == ["sample", "true", "predicted", "probability"]
    listed = daemon.get(f"{path}?part=test&limit=500")
    assert listed["next_cursor"] is None
    assert [[int(r[0]), r[1], r[2], float(r[3])] for r in table] == \
        [[one["sample"], one["true"], one["predicted"], one["probability"]] for one in listed["items"]]


def test_every_export_of_a_matrix_is_the_same(daemon, finished):
    """A13: JSON, CSV by address, CSV by Accept, and the view in the database, cell by cell."""
    for trial in finished[1][:2]:
        m = matrix(daemon, trial)
        by_path = daemon.request("GET", f"/v1/trials/{trial['id']}/confusion-matrix.csv")
        by_accept = daemon.request("GET", f"/v1/trials/{trial['id']}/confusion-matrix", headers={"Accept": "text/csv"})
        assert by_path.text == by_accept.text and by_path.headers["Content-Type"].startswith("text/csv")
        table = rows(by_path.text)
        assert table[0][1:] == m["classes"] == [r[0] for r in table[1:]]
        assert [[int(c) for c in r[1:]] for r in table[1:]] == m["counts"]
        with daemon.database() as connection, connection.cursor() as cursor:
            cursor.execute("select true_class, predicted_class, count from report.confusion "
                           "where trial_id = %s and part = 'validation'", (trial["id"],))
            for true, predicted, count in cursor.fetchall():
                assert m["counts"][m["classes"].index(true)][m["classes"].index(predicted)] == count
        evaluation = next(e for e in daemon.get(f"/v1/trials/{trial['id']}/evaluations")["items"]
                          if e["part"] == "validation")
        assert evaluation["confusion_matrix"]["counts"] == m["counts"]


def test_means_and_intervals_over_seeds(daemon, finished):
    job, trials = finished
    results = daemon.get(f"/v1/jobs/{job['id']}/results")
    assert [r["id"] for r in results["items"]] == [t["id"] for t in trials]
    assert "validation_accuracy" in results["metrics"] and "test_loss" in results["metrics"]
    assert len(results["groups"]) == 3
    for group in results["groups"]:
        for name in results["metrics"]:
            values = [r["metrics"][name]["value"] for r in results["items"] if r["parameters"] == group["parameters"]]
            cell = group["metrics"][name]
            assert cell["n"] == group["trials"] == len(values) == 2
            assert cell["mean"] == pytest.approx(np.mean(values), abs=1e-12)
            assert cell["deviation"] == pytest.approx(np.std(values, ddof=1), abs=1e-12)
            half = 12.7062 * np.std(values, ddof=1) / 2 ** 0.5
            assert cell["high"] - cell["mean"] == pytest.approx(half, rel=1e-4, abs=1e-12)
    for row in results["items"]:
        cell = row["metrics"]["validation_accuracy"]
        assert cell["low"] <= cell["value"] <= cell["high"] and cell["n"] == 120
        assert row["headline_value"] == cell["value"]


def test_pages_of_a_table_make_the_whole(daemon, finished):
    job = f"/v1/jobs/{finished[0]['id']}"
    path = job + "/results"
    whole = daemon.get(path + "?sort=best")
    assert whole["next_cursor"] is None and whole["revision"] == daemon.get(job)["revision"]
    for over, member, limit in (("trials", "items", 4), ("seeds", "groups", 2)):
        pages, cursor = [], ""
        while cursor is not None:
            page = daemon.get(f"{path}?sort=best&over={over}&limit={limit}{cursor}")
            assert page["groups" if member == "items" else "items"] == [] and page["metrics"] == whole["metrics"]
            pages.append(page[member])
            cursor = page["next_cursor"] and "&cursor=" + page["next_cursor"]
        assert [len(page) for page in pages] == [limit, len(whole[member]) - limit], over
        assert sum(pages, []) == whole[member], over
    picked = daemon.get(path + "?limit=3&fields=id,metrics")["items"]
    assert [set(row) for row in picked] == [{"id", "metrics"}] * 3


def test_only_what_changed_since_a_revision(daemon, dataset):
    """Single trials while only they changed; all where the whole job did, or where nobody knows."""
    job = daemon.submit(spec(dataset, seeds=[1, 2]))
    trials = daemon.wait_job(job["id"])
    path = f"/v1/jobs/{job['id']}/results?limit=500&changed_since="
    before = daemon.get(path + "0")
    assert len(before["items"]) == len(trials)
    assert daemon.get(path + str(before["revision"]))["items"] == []
    assert daemon.get(path + str(before["revision"] + 100))["items"] == []
    daemon.request("PATCH", f"/v1/trials/{trials[1]['id']}", json={"notes": "odd"})
    daemon.request("PATCH", f"/v1/trials/{trials[3]['id']}", json={"labels": ["kept"]})
    after = daemon.get(path + str(before["revision"]))
    assert [t["id"] for t in after["items"]] == [trials[1]["id"], trials[3]["id"]]
    assert after["items"][0]["notes"] == "odd" and after["revision"] > before["revision"]
    daemon.request("PATCH", f"/v1/jobs/{job['id']}", json={"notes": "of the job"})
    assert len(daemon.get(path + str(after["revision"]))["items"]) == len(trials)
    last = daemon.get(path + "0")["revision"]
    daemon.request("PATCH", f"/v1/trials/{trials[0]['id']}", json={"notes": "later"})
    assert len(daemon.get(path + str(last))["items"]) == 1
    with daemon.database() as connection, connection.cursor() as cursor:  # as housekeeping trims
        cursor.execute("delete from event where job_id = %s", (job["id"],))
    daemon.request("PATCH", f"/v1/trials/{trials[0]['id']}", json={"notes": "last"})
    assert len(daemon.get(path + str(last))["items"]) == len(trials)


def test_the_table_as_csv(daemon, finished):
    job, trials = finished
    results = daemon.get(f"/v1/jobs/{job['id']}/results")
    by_path = daemon.request("GET", f"/v1/jobs/{job['id']}/results.csv")
    assert by_path.text == daemon.request("GET", f"/v1/jobs/{job['id']}/results", headers={"Accept": "text/csv"}).text
    assert "attachment" in by_path.headers["Content-Disposition"]
    table = [dict(zip(rows(by_path.text)[0], r)) for r in rows(by_path.text)[1:]]
    assert len(table) == 6
    for line, item in zip(table, results["items"]):
        assert line["trial"] == item["id"] and line["training.solver"] == item["parameters"]["training.solver"]
        assert int(line["seed"]) == item["seed"]
        for name in results["metrics"]:
            assert float(line[name]) == item["metrics"][name]["value"]
    groups = rows(daemon.request("GET", f"/v1/jobs/{job['id']}/results.csv?over=seeds").text)
    assert len(groups) == 4
    for line, group in zip(groups[1:], results["groups"]):
        line = dict(zip(groups[0], line))
        assert int(line["trials"]) == 2
        assert float(line["validation_accuracy_mean"]) == group["metrics"]["validation_accuracy"]["mean"]


def test_sorting_by_the_headline(daemon, finished):
    job, _ = finished
    best = [r["headline_value"] for r in daemon.get(f"/v1/jobs/{job['id']}/results?sort=best")["items"]]
    assert best == sorted(best, reverse=True)
    worst = [t["headline_value"] for t in daemon.get(f"/v1/jobs/{job['id']}/trials?sort=worst")["items"]]
    assert worst == sorted(worst)


def test_the_network_is_a_safetensors_file(daemon, trial):
    answer = daemon.request("GET", f"/v1/trials/{trial['id']}/network")
    size = struct.unpack("<Q", answer.content[:8])[0]
    header = json.loads(answer.content[8:8 + size])
    tensors = {k: v for k, v in header.items() if k != "__metadata__"}
    assert tensors["conv1.weight"]["shape"] == [20, 1, 5, 5]
    assert tensors["fc.weight"]["shape"] == [3, 20 * 8 * 8]
    assert len(answer.content) == 8 + size + max(t["data_offsets"][1] for t in tensors.values())
    assert "attachment" in answer.headers["Content-Disposition"]
    again = daemon.request("GET", f"/v1/trials/{trial['id']}/network", headers={"If-None-Match": answer.headers["ETag"]})
    assert again.status_code == 304


def test_the_log(daemon, finished):
    trial = finished[1][1]
    with daemon.database() as connection, connection.cursor() as cursor:
        cursor.execute("insert into trial_log (trial_id, n, fence, project_id, level, line) "
                       "select id, 1000 + g, fence, project_id, 'info', 'line ' || g from trial, generate_series(1, 5) g "
                       "where id = %s", (trial["id"],))
    lines = daemon.get(f"/v1/trials/{trial['id']}/log")["items"]
    told = [line["text"] for line in lines[:-5]]
    assert re.fullmatch(r"starts: core .+, instruction set \w+, threads \d+ of at most \d+, 18 steps in 2 epochs", told[0]), told
    most = daemon.get(f"/v1/trials/{trial['id']}")["attempts"][0]["threads"]
    assert f" of at most {most}, " in told[0], "the log and the attempt disagree"
    assert any(re.fullmatch(r"step 18 of 18: training loss \S+, validation loss \S+, accuracy \S+", t) for t in told), told
    assert any(t.startswith("test part: 100 samples, loss ") for t in told), told
    assert re.fullmatch(r"completed after step 18 of 18, in \S+ s", told[-1]), told
    assert [line["text"] for line in lines[-5:]] == [f"line {g}" for g in range(1, 6)]
    paged, cursor = [], ""
    while cursor is not None:
        page = daemon.get(f"/v1/trials/{trial['id']}/log?limit=2{cursor and '&cursor=' + cursor}")
        paged, cursor = paged + page["items"], page["next_cursor"]
    assert paged == lines


def test_before_it_is_evaluated_there_is_nothing(daemon, running):
    _, trial = running
    assert daemon.get(f"/v1/trials/{trial['id']}/evaluations")["items"] == []
    daemon.refused("GET", f"/v1/trials/{trial['id']}/confusion-matrix", 404, "not_found")
    daemon.refused("GET", f"/v1/trials/{trial['id']}/network", 404, "not_found")
    daemon.refused("GET", f"/v1/trials/{trial['id']}/predictions", 404, "not_found")


def test_a_cursor_of_another_list_is_refused(daemon, dataset, finished):
    """Taken, it would silently leave out rows."""
    job, trials = finished
    other = daemon.submit(spec(dataset, name="other cursors", training={"epochs": 1, "batch_size": 32}))
    daemon.wait_job(other["id"])
    twin = daemon.create_dataset(assay.blobs_idx(n_train=40, n_test=10), "idx", name="other cursors")
    content = safetensors(some_tensors())
    weights = [upload_weights(daemon, content)["id"] for _ in range(2)]
    pairs = [(f"/v1/jobs/{job['id']}/results", f"/v1/jobs/{other['id']}/results"),
             (f"/v1/jobs/{job['id']}/trials", f"/v1/jobs/{other['id']}/trials"),
             *((f"/v1/trials/{trials[0]['id']}/{what}", f"/v1/trials/{trials[1]['id']}/{what}")
               for what in ("predictions", "log")),
             (f"/v1/datasets/{dataset['id']}/items", f"/v1/datasets/{twin['id']}/items"),
             tuple(f"/v1/weights/{w}/tensors" for w in weights)]
    for mine, theirs in pairs:
        cursor = daemon.get(f"{theirs}?limit=1")["next_cursor"]
        assert len(daemon.get(f"{theirs}?limit=1&cursor={cursor}")["items"]) == 1, theirs
        daemon.refused("GET", f"{mine}?limit=1&cursor={cursor}", 400, "invalid_parameter", parameter="cursor")
