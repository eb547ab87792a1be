"""Tokens, roles and projects: nothing of one project is seen from another."""
import subprocess

import pytest
from assay import BINARY, blobs_idx
from conftest import CheckedDaemon, spec


@pytest.fixture(scope="module")
def team():
    """A daemon with two projects; {name: headers} of their tokens."""
    with CheckedDaemon(ASSAY_POLL_SECONDS="1") as daemon:
        def token(project, role):
            done = subprocess.run([BINARY, "token", "create", "--project", project, "--role", role, "--name", role],
                                  env={**daemon.options}, check=True, capture_output=True, text=True)
            return {"Authorization": f"Bearer {done.stdout.strip()}"}
        yield daemon, {(p, r): token(p, r) for p in ("red", "blue") for r in ("viewer", "submitter", "admin")}


@pytest.fixture(scope="module")
def red_things(team):
    """A finished job of the red project."""
    daemon, tokens = team
    daemon.session.headers.update(tokens["red", "submitter"])
    dataset = daemon.create_dataset(blobs_idx(60, 20), "idx", name="secret set")
    job = daemon.submit(spec(dataset, training={"epochs": 1, "solver": "sgdm"}, experiment="secret plan"))
    [trial] = daemon.wait_job(job["id"])
    daemon.session.headers.pop("Authorization")
    return dataset, job, trial


def test_without_a_token_only_health_is_told(team):
    daemon, _ = team
    assert daemon.request("GET", "/healthz").status_code == 200
    daemon.refused("GET", "/v1/jobs", 401, "unauthenticated")
    daemon.refused("GET", "/v1/jobs", 401, "unauthenticated", headers={"Authorization": "Bearer wrong"})
    daemon.refused("POST", "/v1/jobs", 401, "unauthenticated", json={})


def test_roles(team, red_things):
    daemon, tokens = team
    viewer, dataset = tokens["red", "viewer"], red_things[0]
    assert daemon.request("GET", f"/v1/jobs/{red_things[1]['id']}", headers=viewer).status_code == 200
    for method, path in (("POST", "/v1/jobs"), ("POST", f"/v1/jobs/{red_things[1]['id']}/cancel"),
                         ("PATCH", f"/v1/jobs/{red_things[1]['id']}"), ("POST", "/v1/datasets"),
                         ("DELETE", f"/v1/datasets/{dataset['id']}")):
        daemon.refused(method, path, 403, "forbidden", headers=viewer, **({} if method == "DELETE" else {"json": {}}))
    assert daemon.request("POST", "/v1/networks/analyze", headers=viewer,
                          json={"network": {"name": "simple_cnn"}, "dataset": dataset["id"]}).status_code == 200


def test_other_projects_ids_do_not_exist(team, red_things):
    daemon, tokens = team
    dataset, job, trial = red_things
    blue = tokens["blue", "admin"]
    gets = [f"/v1/datasets/{dataset['id']}", f"/v1/datasets/{dataset['id']}/items",
            f"/v1/datasets/{dataset['id']}/items/0/image", f"/v1/jobs/{job['id']}", f"/v1/jobs/{job['id']}/trials",
            f"/v1/jobs/{job['id']}/results", f"/v1/jobs/{job['id']}/results.csv", f"/v1/trials/{trial['id']}",
            f"/v1/experiments/{job['experiment']['id']}", f"/v1/events?job={job['id']}"]
    gets += [f"/v1/trials/{trial['id']}/{what}" for what in ("metrics", "evaluations", "confusion-matrix",
             "confusion-matrix.csv", "predictions", "log", "network")]
    for path in gets:
        red = daemon.request("GET", path, headers={**tokens["red", "viewer"]}, stream="/events" in path)
        assert red.status_code == 200, path
        red.close()
        # The tag that red has must not help blue either.
        daemon.refused("GET", path, 404, "not_found", headers={**blue, "If-None-Match": red.headers.get("ETag", "*")})
    for path in (f"/v1/jobs/{job['id']}/cancel", f"/v1/jobs/{job['id']}/archive", f"/v1/trials/{trial['id']}/restart"):
        daemon.refused("POST", path, 404, "not_found", headers=blue)
    for path in (f"/v1/jobs/{job['id']}", f"/v1/trials/{trial['id']}", f"/v1/datasets/{dataset['id']}"):
        daemon.refused("PATCH", path, 404, "not_found", headers=blue, json={"notes": "mine"})
    daemon.refused("DELETE", f"/v1/datasets/{dataset['id']}", 404, "not_found", headers=blue)
    daemon.refused("POST", "/v1/jobs", 422, "invalid_field", "/dataset", headers=blue, json=spec(dataset))
    daemon.refused("POST", "/v1/networks/analyze", 422, "invalid_field", "/dataset", headers=blue,
                   json={"network": {"name": "simple_cnn"}, "dataset": dataset["id"]})
    result = daemon.request("POST", "/v1/jobs/bulk", headers=blue, json={"action": "restart", "ids": [job["id"]]}).json()
    assert result["results"][0]["status"] == 404


def test_lists_names_and_keys_are_of_one_project(team, red_things):
    daemon, tokens = team
    blue, red = tokens["blue", "submitter"], tokens["red", "submitter"]
    for path in ("/v1/jobs", "/v1/datasets", "/v1/experiments"):
        assert daemon.get(path, headers=blue)["items"] == []
        assert daemon.get(path, headers=red)["items"]
    key = {"Idempotency-Key": "the-same"}
    a = daemon.request("POST", "/v1/experiments", json={"name": "same name"}, headers={**red, **key})
    b = daemon.request("POST", "/v1/experiments", json={"name": "same name"}, headers={**blue, **key})
    assert a.status_code == b.status_code == 201 and a.json()["id"] != b.json()["id"]
    assert "Idempotency-Replayed" not in b.headers


def test_a_revoked_token_ends(team):
    daemon, _ = team
    def run(*args):
        return subprocess.run([BINARY, "token", *args], env={**daemon.options}, check=True, capture_output=True, text=True)
    made = run("create", "--project", "red", "--role", "viewer", "--name", "short")
    headers = {"Authorization": f"Bearer {made.stdout.strip()}"}
    token_id = made.stderr.split()[1].rstrip(";")
    assert daemon.request("GET", "/v1/jobs", headers=headers).status_code == 200
    run("revoke", "--project", "red", "--id", token_id)
    from conftest import wait_until
    wait_until(lambda: daemon.request("GET", "/v1/jobs", headers=headers).status_code == 401)
