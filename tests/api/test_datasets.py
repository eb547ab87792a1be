"""/v1/datasets: declaring, uploading in pieces, reading from paths, the check, lists, deletion."""
import concurrent.futures
import hashlib
import os
import secrets

import pytest
from pictures import pictures, png, tar_of, zip_of

import assay
import numpy as np

BYTES = {"Content-Type": "application/octet-stream"}


def declare(daemon, name, files, layout="archive", **fields):
    return daemon.post("/v1/datasets", {"name": name, "layout": layout, "files": files, **fields}, status=(201,))


def put(daemon, made, file, data, query="", **kwargs):
    return daemon.request("PUT", f"/v1/datasets/{made['id']}/files/{file}{query}", data=data, headers=BYTES, **kwargs)


def test_idx_files_become_a_data_set(daemon, dataset):
    assert dataset["counts"] == {"train": 400, "validation": 0, "test": 100}
    assert dataset["image"] == {"height": 12, "width": 12, "channels": 1}
    assert [c["name"] for c in dataset["classes"]] == ["0", "1", "2"]
    assert len(dataset["digest"]) == 64
    assert all(f["complete"] and f["received"] == f["size"] for f in dataset["files"])


@pytest.mark.parametrize("pack", [zip_of, tar_of, lambda e: tar_of(e, "w")], ids=["zip", "tar.gz", "tar"])
def test_archives_with_parts_and_names_of_all_scripts(daemon, pack):
    """B20, B33, A01, A03: names intact, classes in order of their bytes, hidden folders ignored."""
    entries = {f"train/{k}": v for k, v in pictures(["10", "2", "1", "soße", "猫"], per_class=3).items()}
    entries |= {f"test/{k}": v for k, v in pictures(["10", "2", "1", "soße", "猫"], per_class=2, seed=1).items()}
    entries["train/2/א.png"] = png(np.full((16, 16), 99, np.uint8))
    entries["train/.ipynb_checkpoints/x.png"] = png(np.full((16, 16), 9, np.uint8))
    made = daemon.create_dataset({"set.bin": pack(entries)}, "archive", name=f"scripts {secrets.token_hex(4)}")
    assert made["state"] == "ready", made
    assert [c["name"] for c in made["classes"]] == ["1", "10", "2", "soße", "猫"]
    assert made["counts"] == {"train": 16, "validation": 0, "test": 10}
    names = {i["name"] for i in daemon.get(f"/v1/datasets/{made['id']}/items?limit=500")["items"]}
    assert any(n.endswith("2/א.png") for n in names)
    assert made["report"]["counts"]["ignored"] >= 1


def test_a_bad_archive_is_refused_with_a_sentence(daemon):
    made = daemon.create_dataset({"a.zip": b"PK\x03\x04 this is no archive"}, "archive", name="no archive")
    assert made["state"] == "refused" and made["error"] and made["report"] is None
    assert "/" not in made["error"].replace("tar/", ""), made["error"]
    daemon.refused("GET", f"/v1/datasets/{made['id']}/items", 409, "wrong_state")
    daemon.refused("POST", "/v1/jobs", 409, "wrong_state", "/dataset",
                   json={"kind": "solver_comparison", "dataset": made["id"]})


def test_what_no_job_can_use_is_said_at_the_check_and_at_submission(daemon):
    """No part that trains; pictures of which none can be kept back to validate."""
    only_test = assay.blobs_idx(n_train=1, n_test=10)
    only_test["train-images-idx3-ubyte"] = assay.idx(np.zeros((0, 12, 12), np.uint8))
    only_test["train-labels-idx1-ubyte"] = assay.idx(np.zeros(0, np.uint8))
    made = {"no_train_part": daemon.create_dataset(only_test, "idx", name="only test"),
            "indivisible": daemon.create_dataset({"a.zip": zip_of(pictures(["a", "b"], per_class=1))}, "archive", name="two")}
    for code, dataset in made.items():
        assert code in [w["code"] for w in dataset["report"]["warnings"]], dataset
        job = {"kind": "solver_comparison", "dataset": dataset["id"]}
        daemon.refused("POST", "/v1/jobs", 422, "invalid_field", "/dataset", json=job)
        daemon.refused("POST", "/v1/jobs?dry_run=true", 422, "invalid_field", "/dataset", json=job)
    whole = {"kind": "solver_comparison", "dataset": made["indivisible"]["id"], "split": {"train": 1}}
    assert daemon.post("/v1/jobs?dry_run=true", whole)["trial_count"] == 3


def test_deep_pictures_that_come_out_black_are_told(daemon):
    dark = np.random.default_rng(0).integers(0, 256, (8, 8), dtype=np.uint16)
    entries = {f"{c}/{i}.png": png(np.roll(dark, i + ord(c))) for c in "ab" for i in range(3)}
    made = daemon.create_dataset({"a.zip": zip_of(entries)}, "archive", name="dark")
    assert made["report"]["counts"]["sixteen_bit"] == 6
    assert {"sixteen_bit", "sixteen_bit_dark"} <= {w["code"] for w in made["report"]["warnings"]}


def test_an_upload_goes_on_where_it_stands(daemon):
    data = zip_of(pictures(["a", "b"], per_class=4))
    made = declare(daemon, "in pieces", [{"name": "a.zip", "size": len(data)}])
    assert made["state"] == "uploading"
    first = put(daemon, made, "a.zip", data[:1000]).json()
    assert first == {"name": "a.zip", "received": 1000, "complete": False, "state": "uploading"}
    problem = daemon.refused("PUT", f"/v1/datasets/{made['id']}/files/a.zip?offset=7", 409, "offset_mismatch",
                             parameter="offset", data=b"x", headers=BYTES)
    assert problem["received"] == 1000
    assert daemon.get(f"/v1/datasets/{made['id']}")["files"][0]["received"] == 1000
    last = put(daemon, made, "a.zip", data[1000:], "?offset=1000")
    assert last.status_code == 202 and last.json()["complete"]
    assert daemon.wait_dataset(made["id"])["state"] == "ready"


@pytest.mark.parametrize("size", [1, 986, 987, 988, 2000, 32767, 32768, 65535, 65537, 1048575, 1048576, 1048577, 3000001])
def test_stored_bytes_are_those_that_were_sent(daemon, size):
    """B26: sizes around buffers and chunks, content full of NULs; the declared digest is the client's."""
    data = secrets.token_bytes(size // 2) + b"\0" * (size - size // 2)
    made = declare(daemon, f"bytes {size}", [{"name": "x", "size": size, "sha256": hashlib.sha256(data).hexdigest()}])
    answer = put(daemon, made, "x", data)
    assert answer.status_code == 202 and answer.json()["received"] == size, answer.text
    assert daemon.wait_dataset(made["id"])["state"] == "refused"


def test_another_digest_or_size_starts_the_file_again(daemon):
    made = declare(daemon, "another digest", [{"name": "x", "size": 3, "sha256": "0" * 64}])
    assert put(daemon, made, "x", b"abc").json()["code"] == "invalid_field"
    assert daemon.get(f"/v1/datasets/{made['id']}")["files"][0]["received"] == 0
    assert put(daemon, made, "x", b"abcd").json()["code"] in ("invalid_field", "too_large")
    open_end = declare(daemon, "open end", [{"name": "x"}])
    assert put(daemon, open_end, "x", b"ab", "?final=false").json()["received"] == 2
    assert put(daemon, open_end, "x", b"cd", "?offset=2").status_code == 202


def test_files_of_the_server_below_an_allowed_root(daemon, import_root):
    data = zip_of(pictures(["a", "b"], per_class=4))
    (import_root / "deep").mkdir(exist_ok=True)
    (import_root / "deep/set.zip").write_bytes(data)
    made = declare(daemon, "by path", [{"path": str(import_root / "deep/set.zip")}])
    assert made["files"][0]["name"] == "set.zip" and made["state"] == "checking"
    assert daemon.wait_dataset(made["id"])["state"] == "ready"


def test_no_path_leads_out(daemon, import_root, tmp_path):
    """B18: traversal, absolute, encoded, links; nothing is read and nothing is left behind."""
    secret = tmp_path / "secret.zip"
    secret.write_bytes(zip_of(pictures(["a", "b"], per_class=2)))
    os.symlink(secret, import_root / "link.zip")
    os.symlink(tmp_path, import_root / "up")
    texts = set()
    for path in (str(secret), "../secret.zip", str(import_root / ".." / "secret.zip"), "link.zip", "up/secret.zip",
                 "/etc/passwd", "deep/../../secret.zip", "%2e%2e/secret.zip", "missing.zip", ".", str(import_root)):
        problem = daemon.refused("POST", "/v1/datasets", 422, "invalid_field", "/files/0/path",
                                 json={"name": "leak", "layout": "archive", "files": [{"path": path}]})
        texts.add(problem["detail"])
    assert len(texts) == 1, texts
    assert not daemon.get("/v1/datasets?search=leak")["items"]


def test_one_of_twenty_gets_the_name(daemon):
    """B15: a race for one name, decided by the database, told without SQL."""
    body = {"name": "wanted", "layout": "archive", "files": [{"name": "a.zip"}]}
    with concurrent.futures.ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(lambda _: assay.requests.post(daemon.url + "/v1/datasets", json=body, timeout=60),
                                range(20)))
    assert sorted(a.status_code for a in answers) == [201] + [409] * 19
    for answer in answers:
        assert answer.status_code == 201 or answer.json()["code"] == "conflict"
        assert "dataset_" not in answer.text and "unique" not in answer.text.lower().replace("not unique", "")


def test_the_same_key_makes_one_data_set(daemon):
    body = {"name": "keyed", "layout": "archive", "files": [{"name": "a.zip"}]}
    key = {"Idempotency-Key": "k-" + secrets.token_hex(8)}
    first = daemon.request("POST", "/v1/datasets", json=body, headers=key)
    again = daemon.request("POST", "/v1/datasets", json=body, headers=key)
    assert first.status_code == again.status_code == 201
    assert first.json()["id"] == again.json()["id"]
    assert again.headers["Idempotency-Replayed"] == "true" and "Idempotency-Replayed" not in first.headers
    daemon.refused("POST", "/v1/datasets", 422, "idempotency_key_reused", json={**body, "name": "other"}, headers=key)


def test_a_list_in_pages_with_filters_and_fields(daemon, dataset):
    seen, cursor = [], ""
    while cursor is not None:
        page = daemon.get(f"/v1/datasets?limit=2&sort=name&fields=id,name{cursor and '&cursor=' + cursor}")
        assert len(page["items"]) <= 2 and all(set(i) == {"id", "name"} for i in page["items"])
        seen += [i["name"] for i in page["items"]]
        cursor = page["next_cursor"]
    assert seen == sorted(seen, key=lambda n: n.encode()) and "blobs" in seen and len(set(seen)) == len(seen)
    assert [i["id"] for i in daemon.get("/v1/datasets?search=BLOB")["items"]] == [dataset["id"]]
    assert all(i["state"] == "refused" for i in daemon.get("/v1/datasets?state=refused")["items"])
    cursor = daemon.get("/v1/datasets?limit=1&sort=name")["next_cursor"]
    daemon.refused("GET", f"/v1/datasets?limit=1&sort=created_at&cursor={cursor}", 400, "invalid_parameter",
                   parameter="cursor")


def test_names_and_notes_can_be_edited(daemon):
    made = declare(daemon, "old name", [{"name": "a.zip"}])
    changed = daemon.request("PATCH", f"/v1/datasets/{made['id']}", json={"name": "new name", "notes": "=1+1"}).json()
    assert (changed["name"], changed["notes"]) == ("new name", "=1+1") and changed["revision"] > made["revision"]
    daemon.refused("PATCH", f"/v1/datasets/{made['id']}", 409, "conflict", json={"name": "blobs"})


def test_deletion(daemon, dataset):
    made = declare(daemon, "short life", [{"name": "a.zip"}])
    assert daemon.request("DELETE", f"/v1/datasets/{made['id']}").status_code == 204
    daemon.refused("GET", f"/v1/datasets/{made['id']}", 404, "not_found")
    daemon.refused("DELETE", f"/v1/datasets/{made['id']}", 404, "not_found")
    assert declare(daemon, "short life", [{"name": "a.zip"}])["id"] != made["id"]


def test_items_and_pictures(daemon):
    import io
    from PIL import Image
    entries = pictures(["x", "y"], per_class=5)
    made = daemon.create_dataset({"a.zip": zip_of(entries)}, "archive", name="items")
    every = daemon.get(f"/v1/datasets/{made['id']}/items")["items"]
    assert len(every) == 10 and [i["n"] for i in every] == list(range(10))
    ys = daemon.get(f"/v1/datasets/{made['id']}/items?class=y")["items"]
    assert len(ys) == 5 and all(i["class"] == "y" for i in ys)
    assert daemon.get(f"/v1/datasets/{made['id']}/items?part=test")["items"] == []
    paged, cursor = [], ""
    while cursor is not None:
        page = daemon.get(f"/v1/datasets/{made['id']}/items?class=y&limit=2{cursor and '&cursor=' + cursor}")
        paged, cursor = paged + page["items"], page["next_cursor"]
    assert paged == ys
    for item in every:
        answer = daemon.request("GET", item["image"])
        seen = np.asarray(Image.open(io.BytesIO(answer.content)))
        sent = np.asarray(Image.open(io.BytesIO(entries[item["name"]])))
        assert (seen == sent).all(), item
        assert daemon.request("GET", item["image"], headers={"If-None-Match": answer.headers["ETag"]}).status_code == 304


def test_too_large_a_body_is_refused_before_it_is_sent(daemon):
    made = declare(daemon, "too large", [{"name": "a.zip"}])
    answer = assay.requests.put(f"{daemon.url}/v1/datasets/{made['id']}/files/a.zip", data=b"", timeout=60,
                                headers={**BYTES, "Content-Length": str(1 << 45), "Expect": "100-continue"})
    assert answer.status_code == 413 and answer.json()["code"] == "too_large"
