"""Jobs that start from weights: whose numbers a trial begins with, what stays frozen, what is refused."""
import io
import json
import os
import pathlib
import re
import struct
import tarfile

import numpy as np
import pytest
from conftest import ROOT, UNKNOWN_ID, declare_weights, safetensors, spec, upload_weights

DATA = pathlib.Path(os.environ.get("ASSAY_TEST_DATA", ROOT / "../shared/data"))
NETWORK = {"layers": [
    {"name": "in", "kind": "image_input", "normalisation": "rescale_unit"},
    {"name": "conv1", "kind": "convolution", "filters": 4, "kernel": 3}, {"name": "bn1", "kind": "batch_norm"},
    {"name": "relu1", "kind": "relu"}, {"name": "fc", "kind": "fully_connected"}, {"name": "softmax", "kind": "softmax"}]}


def tensors_of(content):
    size = struct.unpack("<Q", content[:8])[0]
    header = json.loads(content[8:8 + size])
    header.pop("__metadata__", None)
    return {name: content[8 + size:][slice(*row["data_offsets"])] for name, row in header.items()}


def network_of(daemon, trial):
    answer = daemon.request("GET", f"/v1/trials/{trial['id']}/network")
    assert answer.status_code == 200, answer.text
    return tensors_of(answer.content)


def some_weights(classes=7, seed=3):
    """Weights of NETWORK for other classes than any data set here has."""
    rng = np.random.default_rng(seed)
    return {"conv1.weight": rng.normal(size=(4, 1, 3, 3)).astype("<f4"), "conv1.bias": rng.normal(size=4).astype("<f4"),
            "bn1.weight": rng.normal(size=4).astype("<f4"), "bn1.bias": rng.normal(size=4).astype("<f4"),
            "bn1.running_mean": rng.normal(size=4).astype("<f4"), "bn1.running_var": rng.uniform(1, 2, 4).astype("<f4"),
            "fc.weight": rng.normal(size=(classes, 400)).astype("<f4"), "fc.bias": np.zeros(classes, "<f4")}


@pytest.fixture(scope="module")
def start(daemon):
    made = upload_weights(daemon, safetensors(some_weights()), "for transfer")
    assert made["state"] == "ready", made["error"]
    return made


def transfer(dataset, weights, **fields):
    return {"kind": "transfer_learning", "dataset": dataset["id"], "network": NETWORK, "weights": weights["id"],
            "training": {"epochs": 2}, **fields}


def run(daemon, job):
    made = daemon.submit(job)
    trials = daemon.wait_job(made["id"])
    assert all(t["state"] == "completed" for t in trials), [t.get("error") for t in trials]
    return daemon.get(f"/v1/jobs/{made['id']}"), [daemon.get(f"/v1/trials/{t['id']}") for t in trials]


def test_frozen_layers_keep_the_bits_of_the_weights(daemon, dataset, start):
    job, trials = run(daemon, transfer(dataset, start, search={"parameters": {
        "freeze": ["all_but_head", {"up_to": "conv1"}, "none"]}}))
    given = {name: array.tobytes() for name, array in some_weights().items()}
    same = [{name for name, data in network_of(daemon, trial).items() if data == given.get(name)} for trial in trials]
    body = {name for name in given if not name.startswith("fc.")}
    # The bias before a batch norm moves nothing, so its gradient is nothing but rounding.
    assert [names - {"conv1.bias"} for names in same] == [body - {"conv1.bias"}, {"conv1.weight"}, set()]
    assert "conv1.bias" in same[0] & same[1]
    assert all(t["resolved"]["weights"] == start["digest"] for t in trials)
    assert job["resolved"]["weights"] == start["id"] and job["resolved"]["training"]["head_learning_rate_factor"] == 10
    assert job["kind"] == "transfer_learning" and job["headline_metric"] == "validation_accuracy"
    daemon.refused("DELETE", f"/v1/weights/{start['id']}", 409, "conflict")


def test_factors_of_zero_hold_layers_too(daemon, dataset, start):
    job = transfer(dataset, start, training={"epochs": 1, "l2": 0, "layer_factors": [
        {"layers": "conv*", "learning_rate_factor": 0}, {"layers": "bn1", "learning_rate_factor": 0}]})
    given = {name: array.tobytes() for name, array in some_weights().items()}
    found = network_of(daemon, run(daemon, job)[1][0])
    assert {n for n in given if found[n] == given[n]} == {"conv1.weight", "conv1.bias", "bn1.weight", "bn1.bias"}


def test_augmentation_changes_what_is_learnt_and_nothing_random(daemon, dataset, start):
    job = transfer(dataset, start, search={"parameters": {"augmentation.x_reflection": [False, True]}},
                   augmentation={"crop_padding": 2})
    first, second = run(daemon, job)[1], run(daemon, job)[1]
    networks = [network_of(daemon, t) for t in first]
    assert networks == [network_of(daemon, t) for t in second]
    assert networks[0] != networks[1]


def test_weights_of_another_variant_are_warned_of(daemon, dataset):
    """All that the network wants is there, and more: a deeper variant's."""
    deeper = {**some_weights(), "conv2.weight": np.ones((9, 4, 3, 3), "<f4"), "conv2.bias": np.ones(9, "<f4")}
    made = upload_weights(daemon, safetensors(deeper), "deeper")
    plan = daemon.post("/v1/jobs?dry_run=true", transfer(dataset, made), status=(200,))
    [warning] = plan["warnings"]
    assert (warning["code"], warning["pointer"]) == ("weights_fit_partly", "/weights")
    assert "2 of the file's 10 tensors have no place in the network" in warning["text"]
    report = daemon.post(f"/v1/weights/{made['id']}/match", {"network": NETWORK, "dataset": dataset["id"]})
    assert report["loadable"] and report["partly"] in warning["text"]
    job = daemon.submit(transfer(dataset, made))
    assert job["warnings"] == plan["warnings"]
    daemon.wait_job(job["id"])


def test_what_does_not_fit_is_refused_with_the_reason(daemon, dataset, start):
    def refused(code, pointer, status=422, **fields):
        job = {**transfer(dataset, start), **fields}
        return daemon.refused("POST", "/v1/jobs", status, code, pointer, json=job)

    refused("invalid_field", "/weights", weights=UNKNOWN_ID)
    refused("invalid_field", "/weights/other", weights={"other": start["id"]})
    refused("invalid_field", "/freeze/up_to", freeze={"up_to": "conv2"})
    refused("invalid_field", "/training/layer_factors/0/layers", training={"layer_factors": [{"layers": "features.*"}]})
    deeper = {"layers": NETWORK["layers"][:4] + [{"name": "conv2", "kind": "convolution", "filters": 2, "kernel": 1}]
              + NETWORK["layers"][4:]}
    text = refused("invalid_field", "/weights", network=deeper)["detail"]
    assert text.startswith("the weights do not fit the network: ") and "conv2.weight" in text, text
    waiting = declare_weights(daemon, "not there yet", [{"name": "w"}])
    refused("wrong_state", "/weights", status=409, weights=waiting["id"])


def test_weights_of_another_project_are_none(daemon, dataset):
    with daemon.database().cursor() as sql:
        sql.execute("with p as (insert into project (id, name) values (gen_random_uuid(), 'other start') returning id)"
                    " insert into weights (id, project_id, name, created_by)"
                    " select gen_random_uuid(), p.id, 'theirs too', 'they' from p returning id")
        theirs = sql.fetchone()[0].replace("-", "")
    daemon.refused("POST", "/v1/jobs", 422, "invalid_field", "/weights",
                   json=transfer(dataset, {"id": theirs}))


def test_a_network_for_other_pictures_names_their_size(daemon, dataset, start):
    problem = daemon.refused("POST", "/v1/jobs", 422, "invalid_network",
                             json=spec(dataset, network={"name": "squeezenet1_1"}))
    assert "224" in problem["detail"] and "12" in problem["detail"], problem
    assert any("image_size" in issue["mend"] for issue in problem["issues"] if issue["mend"]), problem["issues"]


def test_trials_of_a_sweep_share_one_pass_over_the_frozen_layers(daemon, dataset):
    weights = upload_weights(daemon, safetensors(some_weights(seed=9)), "for a sweep")
    before = daemon.log.read_text(errors="replace")
    _, trials = run(daemon, transfer(dataset, weights, freeze="all_but_head", seeds=[1, 2], search={"parameters": {
        "training.learning_rate": [0.001, 0.002, 0.003]}}))
    said = re.findall(r"prefix_(made|shared).*? prefix=(\w+)(?: kept=(\d))?", daemon.log.read_text(errors="replace")[len(before):])
    assert sorted(row[0] for row in said) == ["made"] + 5 * ["shared"], said
    assert [row[2] for row in said if row[0] == "made"] == ["1"] and len({row[1] for row in said}) == 1
    networks = [network_of(daemon, trial) for trial in trials]
    assert len({network["fc.weight"] for network in networks}) == 6
    assert len({network["conv1.weight"] for network in networks}) == 1


def test_photographs_with_the_published_weights(daemon):
    """A few pictures of four flowers: the new head alone learns them from features of ImageNet."""
    photos, file = DATA / "photos/flowers12", DATA / "weights/squeezenet1_1/squeezenet1_1.safetensors"
    if not (photos.is_dir() and file.is_file()):
        pytest.skip("needs the photographs and the weights")
    flowers = sorted(d.name for d in (photos / "train").iterdir())[:4]
    chosen = [path for part, n in (("train", 12), ("test", 6)) for flower in flowers
              for path in sorted((photos / part / flower).iterdir())[:n]]
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for path in chosen:
            archive.add(path, path.relative_to(photos))
    flowers12 = daemon.create_dataset({"flowers.tar": out.getvalue()}, "archive", name="a few flowers")
    assert flowers12["state"] == "ready", flowers12
    published = upload_weights(daemon, file.read_bytes(), "squeezenet1_1")
    job, trials = run(daemon, {"kind": "transfer_learning", "dataset": flowers12["id"], "split": {"train": 1},
                               "weights": {"squeezenet1_1": published["id"]}, "freeze": "all_but_head",
                               "training": {"epochs": 8, "batch_size": 8}})
    rows = daemon.get(f"/v1/trials/{trials[0]['id']}/evaluations")["items"]
    assert job["headline_metric"] == "test_accuracy"
    assert next(row["accuracy"] for row in rows if row["part"] == "test") >= 0.7


def test_weights_that_are_not_finite_are_of_no_use(daemon, dataset):
    """In a layer that takes them; a head that is made new may hold what it likes."""
    spoilt = {"conv1.weight": some_weights(), "fc.weight": some_weights()}
    for name, tensors in spoilt.items():
        tensors[name].flat[3] = np.nan
    made = {name: upload_weights(daemon, safetensors(tensors), name) for name, tensors in spoilt.items()}
    problem = daemon.refused("POST", "/v1/jobs", 422, "invalid_field", "/weights",
                             json=transfer(dataset, made["conv1.weight"]))
    assert "conv1.weight" in problem["detail"] and "not finite" in problem["detail"]
    report = daemon.post(f"/v1/weights/{made['conv1.weight']['id']}/match", {"network": NETWORK, "dataset": dataset["id"]})
    assert not report["loadable"] and [t["name"] for t in report["not_finite"]] == ["conv1.weight"]
    assert daemon.post("/v1/jobs?dry_run=true", transfer(dataset, made["fc.weight"]))["trial_count"] == 1


def test_the_preprocessing_of_the_weights_is_that_of_the_network(daemon, dataset):
    """Pictures come in as (x / scale - mean) / std; what the job says itself of its inputs must agree or stands alone."""
    made = upload_weights(daemon, safetensors(some_weights()), "with levels", preprocessing={"mean": [0.5], "std": [0.25]})
    silent = {"layers": [{k: v for k, v in layer.items() if k != "normalisation"} for layer in NETWORK["layers"]]}
    trials = run(daemon, transfer(dataset, made, network=silent, training={"epochs": 1}))[1]
    layer = trials[0]["resolved"]["network"]["layers"][0]
    assert (layer["normalisation"], layer["mean"], layer["std"]) == ("zscore", [127.5], [63.75])
    answer = daemon.request("GET", f"/v1/trials/{trials[0]['id']}/network").content
    rows = {name: np.frombuffer(data, "<f4") for name, data in tensors_of(answer).items() if name.startswith("in.")}
    assert {tuple(v) for v in rows.values()} == {(127.5,), (63.75,)}, rows
    problem = daemon.refused("POST", "/v1/jobs", 422, "invalid_field", "/weights", json=transfer(dataset, made))
    assert "preprocessing" in problem["detail"]
    plan = daemon.post("/v1/jobs?dry_run=true", transfer(dataset, made, data={"normalisation": "rescale_unit"}))
    assert plan["resolved"]["data"]["normalisation"] == "rescale_unit"
    three = upload_weights(daemon, safetensors(some_weights()), preprocessing={"mean": [0.5] * 3, "std": [0.25] * 3})
    daemon.refused("POST", "/v1/jobs", 422, "invalid_field", "/weights", json=transfer(dataset, three, network=silent))


def test_networks_without_a_name_and_with_a_long_one(daemon, dataset, start):
    long_name = "n" * 200
    job = transfer(dataset, start, search={"parameters": {"network": [
        NETWORK, {"name": "layers", **NETWORK}, {"name": long_name, **NETWORK}], "training.l2": [0, 0.1]}})
    del job["network"]
    made = daemon.submit(job)
    with daemon.database().cursor() as sql:
        sql.execute("select network from job_weights where job_id = %s order by length(network)", (made["id"],))
        assert [row[0] for row in sql.fetchall()] == ["", "layers", long_name]
    daemon.post(f"/v1/jobs/{made['id']}/cancel")
    daemon.wait_job(made["id"])


def test_a_frozen_trial_is_no_history_of_a_whole_one(daemon, dataset, start):
    fields = {"training": {"epochs": 3, "batch_size": 48}}
    run(daemon, transfer(dataset, start, freeze="all_but_head", **fields))

    def basis(**more):
        return daemon.post("/v1/jobs?dry_run=true", transfer(dataset, start, **{**fields, **more}))["estimate"]["basis"]

    assert basis(freeze="all_but_head") == "history"
    assert [basis(), basis(freeze={"up_to": "conv1"}), basis(freeze="all_but_head", operators="plain"),
            basis(freeze="all_but_head", training={"batch_size": 40}),
            basis(freeze="all_but_head", augmentation={"x_reflection": True})] == ["multiply_adds"] * 5
