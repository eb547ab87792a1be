"""Data sets of sequences: tables in, report out; the turbofan preset; what is refused, and how."""
import os
import pathlib
import subprocess

import pytest

import assay

LIFE = {"sequence": "unit", "time": "cycle", "remaining_life": True}
TRAIN = b"unit,cycle,a,b\r\n1,1,5,3\r\n1,2,6,3\r\n1,3,,3\r\n2,1,7,3\r\n2,2,x,3\r\n3,1,8,3\r\n3,2,9,3\r\n"


def make(daemon, name, files, layout="table", **fields):
    return daemon.create_dataset(files, layout, name=name, kind="sequences", **fields)


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
    daemon.refused("POST", "/v1/jobs", 422, "not_supported", "/dataset",
                   json={"kind": "solver_comparison", "dataset": made["id"]})


def test_the_command_line_makes_one(daemon, tmp_path):
    env = {**os.environ, "ASSAY_SERVER": daemon.url}
    assayd = assay.BINARY
    subprocess.run([assayd, "simulate", "turbofan", str(tmp_path), "--engines", "3", "--seed", "5"], check=True)
    files = [str(tmp_path / name) for name in ("train_FD.txt", "test_FD.txt", "RUL_FD.txt")]
    done = subprocess.run([assayd, "dataset", "create", "--layout", "cmapss", "--name", "simulated", *files],
                          env=env, check=True, capture_output=True, text=True)
    made = daemon.get(f"/v1/datasets/{done.stdout.strip()}")
    assert made["state"] == "ready" and made["counts"] == {"train": 3, "validation": 0, "test": 3}
