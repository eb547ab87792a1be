"""Health, figures, the description, HEAD everywhere, and that the description is the code's."""
import os
import re
import subprocess

import pytest
from conftest import ROOT, SPEC, UNKNOWN_ID, wait_until
from assay import BINARY
from test_explanations import job_of, run

GETS = sorted(path for path, item in SPEC["paths"].items() if "get" in item)

ASSETS = {2: "/page/app.js", 3: "/page/style/base.css", 4: "/page/views/trial/tabs.js"}  # by the depth of the route


def filled(path, dataset, weights, finished, trial):
    ids = {"datasets": dataset["id"], "weights": weights["id"], "jobs": finished[0]["id"], "trials": trial["id"],
           "experiments": finished[0]["experiment"]["id"]}
    kind = path.split("/")[2] if path.count("/") > 2 else ""
    if path.startswith("/page/"):
        return ASSETS[path.count("/")]
    return path.replace("{id}", ids.get(kind, UNKNOWN_ID)).replace("{name}", "simple_cnn").replace("{n}", "0")


def test_health(daemon):
    assert daemon.get("/healthz")["status"] == "ok"
    wait_until(lambda: daemon.get("/readyz") == {"status": "ready", "listening": True})
    assert daemon.get("/openapi.json") == SPEC


def test_figures_for_prometheus(daemon, finished):
    text = daemon.request("GET", "/metrics").text
    for line in text.splitlines():
        assert re.fullmatch(r"# (HELP|TYPE) assay_\w+ .+|assay_\w+(\{\w+=\"\w+\"\})? [-+.e0-9]+", line), line
    values = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
    assert float(values['assay_trials{state="completed"}']) >= 6
    assert float(values["assay_workers"]) == 1
    assert float(values["assay_workers_in_trouble"]) == 0
    assert float(values["assay_http_requests_total"]) > 0


def test_routes_are_the_paths_of_the_description():
    listed = subprocess.run([BINARY, "routes"], check=True, capture_output=True, text=True).stdout
    described = {f"{method.upper()} {path}" for path, item in SPEC["paths"].items()
                 for method in item if method in ("get", "put", "post", "patch", "delete")}
    assert set(listed.split("\n")) - {""} == described


@pytest.fixture(scope="module")
def asked(daemon, dataset):
    """A trial with explanations, a question to it, and an explanation that it was asked for."""
    made = run(daemon, job_of(dataset))
    picture = daemon.request("GET", f"/v1/datasets/{dataset['id']}/items/0/image").content
    answer = daemon.request("POST", f"/v1/trials/{made['id']}/predict?wait=55", data=picture,
                            headers={"Content-Type": "image/png"})
    why = daemon.request("POST", f"/v1/trials/{made['id']}/explanations?wait=55", json={"method": "grad_cam", "item": 0})
    assert why.status_code == 200, why.text
    return made, answer.json()["id"], why.json()["id"]


@pytest.mark.parametrize("path", [path for path in GETS if not path.endswith(("/regression", "/weights/{id}/network"))])
def test_head_is_get_without_a_body(daemon, dataset, weights, finished, trial, asked, path):
    """B27: HEAD on every route, file and streamed answers too."""
    explained = "explanations" in path or "activations" in path
    path = path.replace("/predictions/{id}", f"/predictions/{asked[1]}")
    path = path.replace("/v1/explanations/{id}", f"/v1/explanations/{asked[2]}")
    address = filled(path, dataset, weights, finished, asked[0] if explained else trial)
    if path.endswith("/activations"):
        items = daemon.get(f"/v1/trials/{asked[0]['id']}/explanations?method=activations")["items"]
        address += f"?layer=relu1&sample={items[0]['sample']}"
    plain = {"Accept-Encoding": "identity"}  # else the length is that of the packed form
    head = daemon.request("HEAD", address, headers=plain)
    assert head.status_code == 200 and head.content == b"", head.headers
    if path not in ("/v1/events", "/metrics"):
        got = daemon.request("GET", address, headers=plain)
        assert got.status_code == 200
        assert head.headers["Content-Length"] == str(len(got.content))
        assert head.headers.get("ETag") == got.headers.get("ETag")


def test_every_get_refuses_a_parameter_it_does_not_know(daemon, dataset, weights, finished, trial):
    for path in GETS:
        daemon.refused("GET", filled(path, dataset, weights, finished, trial) + "?colour=red", 400, "invalid_parameter",
                       parameter="colour")


def test_request_ids_are_taken_over(daemon):
    assert daemon.request("GET", "/healthz", headers={"X-Request-Id": "abc-1.2_3"}).headers["X-Request-Id"] == "abc-1.2_3"
    made = daemon.request("GET", "/v1/nothing", headers={"X-Request-Id": "not sound\t!"})
    assert made.headers["X-Request-Id"] == made.json()["request_id"] != "not sound\t!"


def test_no_text_of_the_machine_in_the_repository_description():
    text = (ROOT / "api-spec/openapi.yaml").read_text()
    assert os.sep + "work" + os.sep not in text
