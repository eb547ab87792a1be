"""ONNX: a trained network as a model that this service reads again, with equal tensors; a graph as a
description. What onnxruntime makes of such files is an acceptance row (tests/accept/onnx_files.py)."""
from conftest import ROOT, spec, upload_weights
from test_weights import parse


def onnx_of(daemon, trial, **kwargs):
    return daemon.request("GET", f"/v1/trials/{trial['id']}/network?format=onnx", **kwargs)


def test_a_trained_network_comes_back_with_equal_tensors(daemon, trial):
    answer = onnx_of(daemon, trial)
    assert answer.status_code == 200 and answer.headers["Content-Type"] == "application/octet-stream", answer.text
    assert answer.headers["Content-Disposition"] == f'attachment; filename="{trial["id"]}.onnx"'
    stored = parse(daemon.request("GET", f"/v1/trials/{trial['id']}/network").content)
    made = upload_weights(daemon, answer.content, name="as onnx")
    assert (made["state"], made["format"]) == ("ready", "onnx"), made
    read = parse(daemon.request("GET", f"/v1/weights/{made['id']}/content").content)
    learnt = {name: row for name, row in stored.items() if name.split(".")[0] != "input"}
    assert learnt and {name: read[name] for name in learnt} == learnt
    etag = answer.headers["ETag"]
    assert etag != daemon.request("GET", f"/v1/trials/{trial['id']}/network").headers["ETag"]
    assert onnx_of(daemon, trial, headers={"If-None-Match": etag}).status_code == 304


def test_external_data_is_refused_with_its_reason(daemon):
    tensor = b"\x08\x01\x10\x01\x42\x01w\x6a\x10\x0a\x08location\x12\x04/etc\x70\x01"
    graph = b"\x2a" + bytes([len(tensor)]) + tensor
    made = upload_weights(daemon, b"\x08\x08\x3a" + bytes([len(graph)]) + graph, name="external")
    assert made["state"] == "refused" and "external data" in made["error"], made


def golden(name):
    return (ROOT / "tests/golden/onnx" / f"{name}.onnx").read_bytes()


def test_a_graph_is_a_description_that_a_job_takes(daemon, dataset, trial):
    """PyTorch's export: its graph as a description, its weights under the description's names."""
    made = upload_weights(daemon, golden("export_cnn"), name="a graph")
    assert made["state"] == "ready" and made["report"]["graph"]["producer"].startswith("pytorch"), made
    assert made["report"]["graph"]["refused"] is None and "network" not in made["report"]
    address = f"/v1/weights/{made['id']}/network"
    network = daemon.get(address)
    assert daemon.request("HEAD", address).status_code == 200
    assert [layer["kind"] for layer in network["layers"]][:3] == ["image_input", "convolution", "batch_norm"]
    report = daemon.request("POST", "/v1/networks/analyze", json={"network": network}).json()
    assert report["valid"], report["issues"]
    match = daemon.request("POST", f"/v1/weights/{made['id']}/match",
                           json={"network": network, "classes": 3, "head": "kept",
                                 "input": {"height": 9, "width": 9, "channels": 3}}).json()
    assert match["loadable"] and not match["unexpected"], match
    grey = upload_weights(daemon, onnx_of(daemon, trial).content, name="a graph to train")
    again = daemon.get(f"/v1/weights/{grey['id']}/network")
    trained = daemon.wait_job(daemon.submit(spec(dataset, network=again, weights=grey["id"]))["id"])
    assert {t["state"] for t in trained} == {"completed"}, trained


LARGER = ("image_input", {}), ("spatial_padding", {"size": [1, 0], "mode": "reflect"}), ("convolution", {"filters": 4, "kernel": 3, "stride": 2}), \
    ("group_norm", {"groups": 2}), ("transposed_convolution", {"filters": 2, "kernel": 3, "stride": 2, "output_padding": 1}), \
    ("layer_norm", {}), ("cropping", {"size": 1}), ("rms_norm", {}), ("flatten", {}), ("fully_connected", {}), ("softmax", {})


def test_a_network_that_makes_images_larger_comes_back(daemon, dataset):
    """Written by a trial, read as a description, trained from there: the layers are the same."""
    layers = [{"name": kind, "kind": kind, **options} for kind, options in LARGER]
    names = [layer["name"] for layer in layers]
    network = {"layers": layers, "connections": [list(pair) for pair in zip(names, names[1:])]}
    trials = daemon.wait_job(daemon.submit(spec(dataset, network=network))["id"])
    assert {t["state"] for t in trials} == {"completed"}, trials
    made = upload_weights(daemon, onnx_of(daemon, trials[0]).content, name="larger as onnx")
    assert made["state"] == "ready" and made["report"]["graph"]["refused"] is None, made
    read = daemon.get(f"/v1/weights/{made['id']}/network")
    assert [layer["kind"] for layer in read["layers"]] == [kind for kind, _ in LARGER]
    again = daemon.wait_job(daemon.submit(spec(dataset, network=read, weights=made["id"]))["id"])
    assert {t["state"] for t in again} == {"completed"}, again


def test_uses_that_no_layer_has_are_named(daemon):
    made = upload_weights(daemon, golden("export_refused"), name="a norm of columns")
    refused = daemon.request("GET", f"/v1/weights/{made['id']}/network")
    assert refused.status_code == 422 and refused.json()["code"] == "not_supported", refused.text
    assert "LayerNormalization (other than of channels" in refused.json()["detail"]


def test_operators_that_lack_are_named(daemon, weights):
    made = upload_weights(daemon, golden("types"), name="no network")
    assert made["state"] == "ready" and made["tensor_count"] == 29, made
    refused = daemon.request("GET", f"/v1/weights/{made['id']}/network")
    assert refused.status_code == 422 and refused.json()["code"] == "not_supported", refused.text
    assert "output is no layer" in refused.json()["detail"]
    other = daemon.request("GET", f"/v1/weights/{weights['id']}/network")
    assert other.status_code == 422 and "only an ONNX file" in other.json()["detail"]
