"""/v1/weights: declaring, uploading, the check in a child of its own, tensors, content, deletion."""
import concurrent.futures
import hashlib
import io
import json
import os
import pathlib
import pickle
import secrets
import struct
import subprocess
import zipfile

import numpy as np
import pytest
import requests
from assay import BINARY
from conftest import (ROOT, TENSOR_TYPES, UNKNOWN_ID, declare_weights, safetensors, some_tensors, upload_weights,
                      wait_weights)

BYTES = {"Content-Type": "application/octet-stream"}
REAL = pathlib.Path(os.environ.get("ASSAY_TEST_DATA", ROOT / "../shared/data")) / "weights/squeezenet1_1"


def parse(content):
    """{name: (dtype, shape, bytes)} of a safetensors file."""
    size = struct.unpack("<Q", content[:8])[0]
    header = json.loads(content[8:8 + size])
    header.pop("__metadata__", None)
    return {name: (row["dtype"], row["shape"], content[8 + size:][slice(*row["data_offsets"])])
            for name, row in header.items()}


def put(daemon, made, file, data, query="", **kwargs):
    return daemon.request("PUT", f"/v1/weights/{made['id']}/files/{file}{query}", data=data, headers=BYTES, **kwargs)


def test_what_was_declared_is_shown(daemon, weights):
    assert (weights["origin"], weights["url"], weights["licence"], weights["notes"]) == \
        ("a test", "https://example.org/w", "MIT", "n")
    assert weights["preprocessing"] == {"scale": 255, "mean": [0.5], "std": [0.25], "transform_input": False}
    assert (weights["format"], weights["tensor_count"], weights["element_count"]) == ("safetensors", 5, 12 + 50 + 1 + 3)
    assert weights["report"] == {"format": "safetensors", "not_finite": []} and weights["progress"] == 1
    assert weights["files"][0]["complete"] and weights["error"] is None


def test_tensors_in_pages(daemon, weights):
    path = f"/v1/weights/{weights['id']}/tensors"
    every = daemon.get(path)["items"]
    expected = some_tensors()
    assert [t["name"] for t in every] == sorted(expected)
    assert all(t == {"name": t["name"], "dtype": TENSOR_TYPES[expected[t["name"]].dtype.str],
                     "shape": list(expected[t["name"]].shape)} for t in every)
    paged, cursor = [], ""
    while cursor is not None:
        page = daemon.get(f"{path}?limit=2{cursor and '&cursor=' + cursor}")
        paged, cursor = paged + page["items"], page["next_cursor"]
    assert paged == every
    etag = daemon.request("GET", path).headers["ETag"]
    assert daemon.request("GET", path, headers={"If-None-Match": etag}).status_code == 304


def test_the_content_is_whole_and_canonical(daemon, weights):
    answer = daemon.request("GET", f"/v1/weights/{weights['id']}/content")
    assert hashlib.sha256(answer.content).hexdigest() == weights["digest"] == answer.headers["ETag"].strip('"')
    assert len(answer.content) == weights["bytes"]
    found = parse(answer.content)
    assert {n: (TENSOR_TYPES[a.dtype.str], list(a.shape), a.tobytes()) for n, a in some_tensors().items()} == found
    again = {"headers": {"If-None-Match": answer.headers["ETag"]}}
    assert daemon.request("GET", f"/v1/weights/{weights['id']}/content", **again).status_code == 304
    # The same tensors in another order and another header give the same bytes.
    shuffled = safetensors(dict(reversed(some_tensors().items())), pad=64)
    assert upload_weights(daemon, shuffled)["digest"] == weights["digest"]


def test_real_files_give_the_same_tensors(daemon):
    """The published weights in three formats: the same content; its bytes are those of the state dict."""
    names = [f"squeezenet1_1{s}" for s in (".safetensors", ".pth", "-legacy.pth")]
    if not all((REAL / n).is_file() for n in names):
        torch_like = {"features.0.weight": np.ones((2, 3, 3, 3), "<f4")}
        made = [upload_weights(daemon, safetensors(torch_like)), upload_weights(daemon, safetensors(torch_like, pad=8))]
    else:
        made = [upload_weights(daemon, (REAL / n).read_bytes()) for n in names]
        assert [m["format"] for m in made] == ["safetensors", "pytorch", "pytorch_stream"], made
        half = upload_weights(daemon, (REAL / "squeezenet1_1-f16.safetensors").read_bytes())
        assert half["tensor_count"] == made[0]["tensor_count"] == 52 and half["element_count"] == 1235496
        assert {t["dtype"] for t in daemon.get(f"/v1/weights/{half['id']}/tensors")["items"]} == {"F16"}
        mine = parse(daemon.request("GET", f"/v1/weights/{made[1]['id']}/content").content)
        assert mine == parse((REAL / names[0]).read_bytes())
    assert all(m["state"] == "ready" for m in made), made
    assert len({m["digest"] for m in made}) == 1


class Evil:
    def __reduce__(self):
        return os.system, ("touch pwned",)


def torch_zip(payload, entry="archive/data.pkl"):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(entry, payload)
        archive.writestr("archive/version", b"3\n")
    return out.getvalue()


HEADER = '{"a": {"dtype": "F32", "shape": [%s], "data_offsets": [%s]}}'
HOSTILE = {
    "nothing": b"x",
    "text": b"these are no weights at all, and never were",
    "a length beyond the file": struct.pack("<Q", 1 << 60) + b"{}",
    "no header": struct.pack("<Q", 0),
    "no tensors": safetensors({}),
    "offsets beyond the file": safetensors({}, HEADER % ("2", "0, 8")),
    "offsets backwards": safetensors({}, HEADER % ("1", "4, 0"), b"\0" * 4),
    "a shape that overflows": safetensors({}, HEADER % ("4294967296, 4294967296, 2", "0, 4"), b"\0" * 4),
    "a shape of another size": safetensors({}, HEADER % ("3", "0, 8"), b"\0" * 8),
    "negative shape": safetensors({}, HEADER % ("-1", "0, 4"), b"\0" * 4),
    "bytes behind": safetensors({"a": np.zeros(1, "<f4")}, tail=b"secret"),
    "overlap": safetensors({}, '{"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]},'
                               ' "b": {"dtype": "F32", "shape": [1], "data_offsets": [2, 6]}}', b"\0" * 6),
    "the same name twice": safetensors({}, '{"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]},'
                                           ' "a": {"dtype": "F32", "shape": [1], "data_offsets": [4, 8]}}', b"\0" * 8),
    "deep": safetensors({}, "[" * 5000 + "]" * 5000),
    "a pickle that runs a command": pickle.dumps(Evil()),
    "a state dict that runs a command": torch_zip(pickle.dumps({"w": Evil()}, 2)),
    "a pickle that calls eval": torch_zip(b"\x80\x02cbuiltins\neval\nX\x01\x00\x00\x001\x85R."),
    "a pickle cut off": torch_zip(pickle.dumps({"a": 1}, 2)[:-3]),
    "a dictionary of numbers": torch_zip(pickle.dumps({"a": 1}, 2)),
    "a zip without a pickle": torch_zip(b"", entry="archive/readme"),
    "a zip cut off": torch_zip(pickle.dumps({}, 2))[:-30],
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_are_refused_with_a_reason(daemon, name):
    made = upload_weights(daemon, HOSTILE[name])
    assert made["state"] == "refused" and len(made["error"]) > 10, made
    assert "/tmp" not in made["error"] and "input-0" not in made["error"], made["error"]
    assert made["digest"] is None and made["format"] is None and made["bytes"] is None
    for below in ("tensors", "content"):
        daemon.refused("GET", f"/v1/weights/{made['id']}/{below}", 409, "wrong_state")
    assert not list(daemon.directory.rglob("pwned"))


def test_values_that_are_not_finite_are_named(daemon):
    tensors = {"good": np.ones(2, "<f4"), "bad": np.array([1, np.nan], "<f4"), "half": np.array([np.inf], "<f2")}
    assert upload_weights(daemon, safetensors(tensors))["report"]["not_finite"] == ["bad", "half"]


def test_too_many_tensors_are_refused_for_what_they_are(daemon):
    """At once: not read, not tried again, and not taken for a crash."""
    header = json.dumps({f"t{i}": {"dtype": "F32", "shape": [0], "data_offsets": [0, 0]} for i in range(200000)}).encode()
    made = upload_weights(daemon, struct.pack("<Q", len(header)) + header)
    assert made["state"] == "refused" and "200000 tensors are more than 65536" in made["error"], made["error"]


def test_an_upload_goes_on_where_it_stands(daemon):
    data = safetensors({"a": np.arange(300000, dtype="<f4")})
    made = declare_weights(daemon, "in pieces", [{"name": "w", "size": len(data), "sha256": hashlib.sha256(data).hexdigest()}])
    assert put(daemon, made, "w", data[:1000]).json() == \
        {"name": "w", "received": 1000, "complete": False, "state": "uploading"}
    problem = daemon.refused("PUT", f"/v1/weights/{made['id']}/files/w?offset=7", 409, "offset_mismatch",
                             parameter="offset", data=b"x", headers=BYTES)
    assert problem["received"] == 1000
    daemon.refused("GET", f"/v1/weights/{made['id']}/content", 409, "wrong_state")
    assert put(daemon, made, "w", data[1000:], "?offset=1000").status_code == 202
    assert wait_weights(daemon, made)["state"] == "ready"
    daemon.refused("PUT", f"/v1/weights/{made['id']}/files/w?offset={len(data)}", 409, "wrong_state", data=b"x",
                   headers=BYTES)


def test_a_file_of_the_server_below_an_allowed_root(daemon, import_root):
    (import_root / "w.safetensors").write_bytes(safetensors(some_tensors()))
    made = declare_weights(daemon, "by path", [{"path": str(import_root / "w.safetensors")}])
    assert made["files"][0]["name"] == "w.safetensors" and wait_weights(daemon, made)["state"] == "ready"
    daemon.refused("POST", "/v1/weights", 422, "invalid_field", "/files/0/path",
                   json={"name": "leak", "files": [{"path": "/etc/passwd"}]})
    assert not daemon.get("/v1/weights?search=leak")["items"]


def test_the_same_key_makes_one(daemon):
    body = {"name": "keyed", "files": [{"name": "w"}]}
    key = {"Idempotency-Key": "w-" + secrets.token_hex(8)}
    first = daemon.request("POST", "/v1/weights", json=body, headers=key)
    again = daemon.request("POST", "/v1/weights", json=body, headers=key)
    assert first.status_code == again.status_code == 201 and first.json()["id"] == again.json()["id"]
    assert again.headers["Idempotency-Replayed"] == "true" and first.headers["Location"] == f"/v1/weights/{first.json()['id']}"
    daemon.refused("POST", "/v1/weights", 409, "conflict", "/name", json=body)


def test_a_list_with_filters_etag_and_wait_weights(daemon, weights):
    seen, cursor = [], ""
    while cursor is not None:
        page = daemon.get(f"/v1/weights?limit=2&sort=name&fields=id,name{cursor and '&cursor=' + cursor}")
        assert len(page["items"]) <= 2 and all(set(i) == {"id", "name"} for i in page["items"])
        seen += [i["name"] for i in page["items"]]
        cursor = page["next_cursor"]
    assert seen == sorted(seen, key=lambda n: n.encode()) and "kept" in seen and len(set(seen)) == len(seen)
    assert [i["id"] for i in daemon.get("/v1/weights?search=KEPT&state=ready")["items"]] == [weights["id"]]
    etag = daemon.request("GET", f"/v1/weights/{weights['id']}").headers["ETag"]
    assert daemon.request("GET", f"/v1/weights/{weights['id']}", headers={"If-None-Match": etag}).status_code == 304
    changed = daemon.request("PATCH", f"/v1/weights/{weights['id']}", json={"notes": "other"})
    assert changed.json()["revision"] > weights["revision"] and changed.json()["notes"] == "other"
    fresh = daemon.request("GET", f"/v1/weights/{weights['id']}?wait=10", headers={"If-None-Match": etag})
    assert fresh.status_code == 200 and fresh.headers["ETag"] != etag


def test_events_name_the_weights(daemon):
    made = declare_weights(daemon, "told of", [{"name": "w"}])
    with daemon.request("GET", "/v1/events?after=0", stream=True) as stream:
        for line in stream.iter_lines(decode_unicode=True):
            if line.startswith("data: ") and made["id"] in line:
                event = json.loads(line[6:])
                break
    assert event["kind"] == "weights_created" and event["weights"] == made["id"] and event["dataset"] is None


NETWORK = {"layers": [{"name": "input", "kind": "image_input"}, {"name": "conv", "kind": "convolution", "filters": 2, "kernel": 5},
                      {"name": "pool", "kind": "global_average_pool"}, {"name": "fc", "kind": "fully_connected"},
                      {"name": "softmax", "kind": "softmax"}]}


def match(daemon, weights, **body):
    return daemon.post(f"/v1/weights/{weights['id']}/match", body)


def test_a_match_with_a_network_names_every_tensor(daemon):
    """Each fate of a parameter and of a tensor, told by hand-made files."""
    size = {"height": 12, "width": 12, "channels": 1}
    fits = upload_weights(daemon, safetensors({
        "model.conv.weight": np.ones((2, 1, 5, 5), "<f4"), "model.conv.bias": np.ones(2, "<f4"),
        "model.fc.weight": np.ones((1000, 2), "<f4"), "model.fc.bias": np.ones(1000, "<f4"),
        "model.bn.num_batches_tracked": np.array(3, "<i8"), "model.extra": np.ones(5, "<f4")}))
    report = match(daemon, fits, network=NETWORK, classes=3, input=size)
    assert report["loadable"] and report["text"] == "" and (report["head"], report["prefix_removed"]) == ("fc", "model.")
    assert report["matched"] == [{"name": "conv.weight", "shape": [2, 1, 5, 5]}, {"name": "conv.bias", "shape": [2]}]
    assert report["replaced"] == [{"name": "fc.weight", "shape": [3, 2], "found": [1000, 2]},
                                  {"name": "fc.bias", "shape": [3], "found": [1000]}]
    assert report["unexpected"] == [{"name": "model.extra", "shape": [5]}]
    assert report["ignored"] == ["model.bn.num_batches_tracked"]
    assert report["missing"] == report["wrong_shape"] == []
    kept = match(daemon, fits, network=NETWORK, classes=3, input=size, head="kept")
    assert not kept["loadable"] and kept["text"] and len(kept["wrong_shape"]) == 2
    other = upload_weights(daemon, safetensors({"conv.weight": np.ones((2, 1, 3, 3), "<f4")}))
    report = match(daemon, other, network=NETWORK, classes=3, input=size)
    assert not report["loadable"]
    assert report["wrong_shape"] == [{"name": "conv.weight", "shape": [2, 1, 5, 5], "found": [2, 1, 3, 3]}]
    assert report["missing"] == [{"name": "conv.bias", "shape": [2]}]


def test_real_weights_match_their_network(daemon):
    if not (REAL / "squeezenet1_1.pth").is_file():
        return
    made = upload_weights(daemon, (REAL / "squeezenet1_1.pth").read_bytes())
    report = match(daemon, made, network={"name": "squeezenet1_1"}, classes=12)
    assert report["loadable"] and report["head"] == "classifier.1", report
    assert len(report["matched"]) == 50 and [r["name"] for r in report["replaced"]] == ["classifier.1.weight", "classifier.1.bias"]
    assert report["missing"] == report["wrong_shape"] == report["unexpected"] == report["ignored"] == []
    whole = match(daemon, made, network={"name": "squeezenet1_1"}, classes=1000, head="kept")
    assert whole["loadable"] and len(whole["matched"]) == 52


def test_a_match_with_what_a_data_set_has(daemon, dataset, weights):
    report = match(daemon, weights, network=NETWORK, dataset=dataset["id"])
    assert {"name": "conv.weight", "shape": [2, 1, 5, 5]} in report["matched"]
    assert report["replaced"][0] == {"name": "fc.weight", "shape": [3, 2], "found": [3, 4]}
    refused = upload_weights(daemon, b"nothing of use")
    daemon.refused("POST", f"/v1/weights/{refused['id']}/match", 409, "wrong_state", json={"network": NETWORK, "classes": 2})


@pytest.mark.parametrize("body, code, pointer", [
    ({}, "invalid_field", "/network"), ({"network": "squeezenet1_1", "classes": 2}, "invalid_field", "/network"),
    ({"network": NETWORK}, "invalid_field", "/classes"), ({"network": NETWORK, "classes": 0}, "invalid_field", "/classes"),
    ({"network": NETWORK, "classes": 2, "head": "gone"}, "invalid_field", "/head"),
    ({"network": NETWORK, "classes": 2, "dataset": UNKNOWN_ID}, "invalid_field", "/dataset"),
    ({"network": NETWORK, "dataset": UNKNOWN_ID}, "invalid_field", "/dataset"),
    ({"network": NETWORK, "classes": 2, "input": {"height": 0}}, "invalid_field", "/input/height"),
    ({"network": NETWORK, "classes": 2, "input": {"height": 2, "width": 2}}, "invalid_field", None),
    ({"network": {"name": "resnet9000"}, "classes": 2}, "invalid_field", "/network/name"),
    ({"network": {"layers": []}, "classes": 2}, "invalid_field", None),
    ({"network": NETWORK, "classes": 2, "weights": 1}, "unknown_field", "/weights")])
def test_a_match_with_no_network(daemon, weights, body, code, pointer):
    problem = daemon.refused("POST", f"/v1/weights/{weights['id']}/match", 422, code, pointer, json=body)
    assert problem["pointer"].startswith(pointer or "/network")


def test_deletion_and_what_keeps_from_it(daemon, finished):
    made = upload_weights(daemon, safetensors(some_tensors(1)), "used by a job")
    job = finished[0]["id"]
    with daemon.database().cursor() as sql:
        sql.execute("insert into job_weights (job_id, network, weights_id, project_id)"
                    " select id, 'squeezenet1_1', %s, project_id from job where id = %s", (made["id"], job))
        daemon.refused("DELETE", f"/v1/weights/{made['id']}", 409, "conflict")
        sql.execute("delete from job_weights where weights_id = %s", (made["id"],))
        assert daemon.request("DELETE", f"/v1/weights/{made['id']}").status_code == 204
        sql.execute("select count(*) from weights_file where weights_id = %s", (made["id"],))
        assert sql.fetchone()[0] == 0
    daemon.refused("GET", f"/v1/weights/{made['id']}", 404, "not_found")
    daemon.refused("DELETE", f"/v1/weights/{UNKNOWN_ID}", 404, "not_found")


def test_another_project_does_not_see_them(daemon):
    """Nothing is visible across projects: an id of another one is not found."""
    with daemon.database().cursor() as sql:
        sql.execute("with p as (insert into project (id, name) values (gen_random_uuid(), 'other weights') returning id)"
                    " insert into weights (id, project_id, name, created_by)"
                    " select gen_random_uuid(), p.id, 'theirs', 'they' from p returning id")
        theirs = sql.fetchone()[0].replace("-", "")
    for method, path, body in (("GET", "", None), ("GET", "/tensors", None), ("GET", "/content", None),
                               ("PATCH", "", {"notes": "mine"}), ("DELETE", "", None)):
        daemon.refused(method, f"/v1/weights/{theirs}{path}", 404, "not_found", json=body)
    assert not daemon.get("/v1/weights?search=theirs")["items"]
    assert declare_weights(daemon, "theirs", [{"name": "w"}])["state"] == "uploading"


def test_the_command_line_brings_weights_in(daemon, tmp_path):
    def run(*arguments):
        return subprocess.run([BINARY, "weights", *arguments, "--server", daemon.url], capture_output=True, text=True, timeout=120)

    good, bad = tmp_path / "good.safetensors", tmp_path / "bad.pth"
    good.write_bytes(safetensors(some_tensors(3)))
    bad.write_bytes(HOSTILE["a pickle that runs a command"])
    made = run("create", str(good), "--licence", "BSD", "--origin", "a test")
    assert made.returncode == 0, made.stderr
    shown = json.loads(run("show", made.stdout.strip()).stdout)
    assert (shown["name"], shown["licence"], shown["origin"], shown["state"]) == (good.name, "BSD", "a test", "ready")
    assert good.name in run("list").stdout
    refused = run("create", str(bad), "--name", "bad ones")
    assert refused.returncode == 1 and "the weights are refused: " in refused.stderr and not refused.stdout
    assert run("create", str(tmp_path / "nothing")).returncode == 2 and run("melt").returncode == 2


@pytest.mark.parametrize("kind, body", [("weights", {}), ("datasets", {"layout": "archive"})])
def test_a_fill_that_failed_is_forgotten_with_its_key(daemon, import_root, kind, body):
    """The same request answers the same, and the name is free."""
    (import_root / "kept.bin").write_bytes(safetensors(some_tensors()))
    body = {"name": "filled " + kind, "files": [{"path": str(import_root / "kept.bin"), "sha256": "0" * 64}], **body}
    key = {"Idempotency-Key": "f-" + secrets.token_hex(8)}
    for _ in range(3):
        daemon.refused("POST", f"/v1/{kind}", 422, "invalid_field", json=body, headers=key)
    assert not daemon.get(f"/v1/{kind}?search=filled")["items"]


def test_requests_with_one_key_fill_once(daemon, import_root):
    """Ten at once: one fills, the others are told so, and nobody takes anything away."""
    with open(import_root / "large.bin", "wb") as file:
        file.truncate(48 << 20)
    body = {"name": "large", "files": [{"path": str(import_root / "large.bin")}]}
    key = {"Idempotency-Key": "l-" + secrets.token_hex(8)}

    def ask(_):
        return requests.post(daemon.url + "/v1/weights", json=body, headers=key, timeout=120)

    with concurrent.futures.ThreadPoolExecutor(10) as pool:
        answers = list(pool.map(ask, range(10)))
    assert {a.status_code for a in answers} <= {201, 409}, [a.text for a in answers]
    assert {a.json()["code"] for a in answers if a.status_code == 409} <= {"in_progress"}
    [made] = {a.json()["id"] for a in answers if a.status_code == 201}
    again = daemon.request("POST", "/v1/weights", json=body, headers=key)
    assert again.status_code == 201 and again.json()["id"] == made and again.json()["files"][0]["complete"]
    assert wait_weights(daemon, again.json())["state"] == "refused"  # zeros


def test_a_fill_whose_server_died_is_taken_over(daemon, import_root):
    data = safetensors(some_tensors(5))
    (import_root / "half.bin").write_bytes(data)
    body = {"name": "half", "files": [{"path": str(import_root / "half.bin")}]}
    key = {"Idempotency-Key": "h-" + secrets.token_hex(8)}
    made = daemon.request("POST", "/v1/weights", json=body, headers=key).json()
    assert wait_weights(daemon, made)["state"] == "ready"
    with daemon.database().cursor() as sql:  # as it would stand after the declaration alone
        sql.execute("update weights set state = 'uploading', content_blob_id = null, digest = null, format = null, tensors = null,"
                    " tensor_count = null, element_count = null, finished_at = null where id = %s", (made["id"],))
        sql.execute("with b as (insert into blob (id, project_id) select gen_random_uuid(), project_id from weights where id = %s"
                    " returning id) update weights_file set complete = false, received_size = 0, blob_id = b.id from b"
                    " where weights_id = %s", (made["id"], made["id"]))
    again = daemon.request("POST", "/v1/weights", json=body, headers=key)
    assert again.status_code == 201 and again.json()["id"] == made["id"] and again.json()["files"][0]["complete"]
    assert wait_weights(daemon, made)["state"] == "ready"
