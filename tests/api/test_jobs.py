"""/v1/jobs: submission, dry run, idempotency, lists, edits."""
import concurrent.futures
import secrets

from conftest import UNKNOWN_ID, spec


def test_a_submitted_job_is_stored_with_both_specs(daemon, finished):
    job, trials = finished
    assert job["state"] == "completed" and job["trial_count"] == 6 and job["progress"] == 1
    assert job["submitted"]["seeds"] == [1, 2] and "precision" not in job["submitted"]
    assert job["resolved"]["precision"] == "f32"
    assert job["experiment"]["name"] == "session" and job["headline_direction"] == "higher"
    best = max(trials, key=lambda t: t["headline_value"])
    assert job["best"]["value"] == best["headline_value"]
    assert [t["parameters"]["training.solver"] for t in trials] == ["sgdm"] * 2 + ["rmsprop"] * 2 + ["adam"] * 2
    assert [t["seed"] for t in trials] == [1, 2] * 3


def test_a_dry_run_stores_nothing(daemon, dataset):
    before = daemon.get("/v1/jobs?limit=1")["items"]
    plan = daemon.post("/v1/jobs?dry_run=true", spec(dataset, seeds=[1, 2, 3]), status=(200,))
    assert plan["trial_count"] == len(plan["trials"]) == 9
    assert plan["estimate"]["seconds"] > 0 and plan["estimate"]["memory_bytes"] > 0
    assert plan["resolved"]["training"]["epochs"] == 2
    assert daemon.get("/v1/jobs?limit=1")["items"] == before


def test_equal_trials_have_equal_hashes_in_plan_and_store(daemon, dataset, finished):
    plan = daemon.post("/v1/jobs?dry_run=true", spec(dataset, seeds=[1, 2]), status=(200,))
    assert [t["hash"] for t in plan["trials"]] == [t["hash"] for t in finished[1]]


def test_progress_has_a_whole_from_the_start(daemon, dataset):
    """Also while no trial has begun: the steps of all trials are planned."""
    made = daemon.submit(spec(dataset, name="planned", seeds=[1, 2]))
    assert made["steps"]["total"] == 6 * 18 and made["steps"]["done"] == 0 and made["progress"] == 0
    assert all(t["total_steps"] == 18 for t in daemon.trials(made["id"]))
    daemon.post(f"/v1/jobs/{made['id']}/cancel")
    daemon.wait_job(made["id"])


def test_a_job_on_a_set_that_is_not_ready_says_how_to_wait(daemon):
    made = daemon.post("/v1/datasets", {"name": "half there", "layout": "idx", "files": [
        {"name": "a-images-idx3-ubyte", "size": 100}, {"name": "a-labels-idx1-ubyte", "size": 100}]}, status=(201,))
    assert made["kind"] == "image_classification"
    refused = daemon.refused("POST", "/v1/jobs", 409, "wrong_state", "/dataset", json=spec(made))
    assert refused["detail"] == "the data set is uploading, not ready: upload the rest of its files"


def test_transfer_without_weights_is_warned_of(daemon, dataset):
    job = spec(dataset, kind="transfer_learning", network={"name": "simple_cnn"})
    plan = daemon.post("/v1/jobs?dry_run=true", job, status=(200,))
    assert [w["pointer"] for w in plan["warnings"]] == ["/weights"]
    assert daemon.post("/v1/jobs?dry_run=true", spec(dataset), status=(200,))["warnings"] == []
    daemon.refused("POST", "/v1/jobs", 422, "invalid_field", "/weights", json={**job, "freeze": "all_but_head"})


def test_ids_that_are_none_and_parts_that_are_not_there(daemon, finished):
    assert "\"2\" is no id" in daemon.refused("GET", "/v1/jobs/2", 404, "not_found")["detail"]
    assert "\"2\" is no id" in daemon.refused("POST", "/v1/trials/2/stop", 404, "not_found")["detail"]
    trial = daemon.submit(spec({"id": finished[0]["dataset"]["id"]}, split={"train": 1}, training={
        "epochs": 1, "batch_size": 32, "solver": "sgdm"}))
    [trial] = daemon.wait_job(trial["id"])
    for what in ("confusion-matrix", "predictions"):
        refused = daemon.refused("GET", f"/v1/trials/{trial['id']}/{what}", 404, "not_found")
        assert refused["detail"] == "the validation part has not been evaluated; evaluated are: train, test", refused


def test_a_number_in_place_of_an_id_is_told_its_address(daemon, dataset, finished):
    """Of every resource that shows one; whoever's it is not learns nothing of it."""
    job, trials = finished
    for path, one in ((f"/v1/jobs/{job['number']}", job), (f"/v1/trials/{trials[0]['number']}", trials[0]),
                      (f"/v1/datasets/{dataset['number']}", dataset)):
        detail = daemon.refused("GET", path, 404, "not_found")["detail"]
        assert detail.startswith(f'"{one["number"]}" is no id: ids are 32 hex digits; '), detail
        assert detail.endswith(f" is {path.rpartition('/')[0]}/{one['id']}"), detail
    detail = daemon.refused("POST", f"/v1/jobs/{job['number']}/pause", 404, "not_found")["detail"]
    assert detail.endswith(f"job {job['number']} is /v1/jobs/{job['id']}")
    for number in ("999999999", "9" * 40):
        assert daemon.refused("GET", f"/v1/jobs/{number}", 404, "not_found")["detail"].endswith("no job has the number")
    assert daemon.request("HEAD", f"/v1/jobs/{job['number']}").status_code == 404
    assert [j["id"] for j in daemon.get(f"/v1/jobs?number={job['number']}&archived=any")["items"]] == [job["id"]]
    assert daemon.get("/v1/jobs?number=999999999")["items"] == []
    daemon.refused("GET", "/v1/jobs?number=0", 400, "invalid_parameter", parameter="number")
    detail = daemon.refused("POST", "/v1/jobs", 422, "invalid_field", "/dataset", json=spec({"id": "7"}))["detail"]
    assert "32 hex digits" in detail


def test_what_is_warned_of_is_kept_with_the_job(daemon, dataset):
    asked = spec(dataset, name="warned", training={"solver": "adam", "momentum": 0.5, "epochs": 1, "batch_size": 32})
    plan = daemon.post("/v1/jobs?dry_run=true", asked, status=(200,))
    [warning] = plan["warnings"]
    assert (warning["code"], warning["pointer"]) == ("no_effect", "/training/momentum")
    job = daemon.submit(asked)
    assert daemon.get(f"/v1/jobs/{job['id']}")["warnings"] == job["warnings"] == plan["warnings"]
    daemon.wait_job(job["id"])


def test_a_refusal_for_memory_says_what_would_fit(daemon, dataset):
    job = spec(dataset, network={"name": "simple_cnn", "filters": 512}, limits={"memory_bytes": 16 << 20},
               training={"solver": "sgdm", "epochs": 1, "batch_size": 512})
    text = daemon.refused("POST", "/v1/jobs?dry_run=true", 422, "invalid_field", "/training/batch_size", json=job)["detail"]
    fits = int(text.partition("micro_batch_size (or batch_size) ")[2].split()[0])
    job["training"]["micro_batch_size"] = fits
    plan = daemon.post("/v1/jobs?dry_run=true", job, status=(200,))
    assert f"would need {plan['estimate']['memory_bytes']}," in text, (text, plan["estimate"])


def test_the_created_answer_says_where(daemon, dataset):
    answer = daemon.request("POST", "/v1/jobs", json=spec(dataset, name="where"))
    assert answer.status_code == 201 and answer.headers["Location"] == f"/v1/jobs/{answer.json()['id']}"
    assert answer.headers["ETag"]
    daemon.post(f"/v1/jobs/{answer.json()['id']}/cancel")


def test_the_same_key_makes_one_job(daemon, dataset):
    key, body = {"Idempotency-Key": secrets.token_hex(8)}, spec(dataset, name="keyed")
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        import requests
        answers = list(pool.map(lambda _: requests.post(daemon.url + "/v1/jobs", json=body, headers=key, timeout=60),
                                range(8)))
    made = [a for a in answers if a.status_code == 201]
    assert made and all(a.status_code in (201, 409) for a in answers), [a.text for a in answers]
    assert len({a.json()["id"] for a in made}) == 1
    assert len(daemon.get("/v1/jobs?search=keyed")["items"]) == 1
    daemon.refused("POST", "/v1/jobs", 422, "idempotency_key_reused", json=spec(dataset, name="other"), headers=key)
    daemon.post(f"/v1/jobs/{made[0].json()['id']}/cancel")


def test_lists_filter_sort_and_page(daemon, dataset, finished):
    job = finished[0]
    ids = []
    for i in range(5):
        made = daemon.submit(spec(dataset, name=f"listed {i}", labels=["listed", f"n{i}"], experiment="listing"))
        ids.append(made["id"])
    results = daemon.post("/v1/jobs/bulk", {"action": "cancel", "ids": ids})["results"]
    assert [r["id"] for r in results] == ids and {r["status"] for r in results} <= {200, 409}  # done already
    def names(query):
        return [i["name"] for i in daemon.get(f"/v1/jobs?{query}")["items"]]
    assert names("label=listed") == [f"listed {i}" for i in (4, 3, 2, 1, 0)]
    assert names("label=listed&sort=created_at") == [f"listed {i}" for i in range(5)]
    assert names("label=n3") == ["listed 3"] and names("label=nobody") == []
    assert names("search=LISTED%202") == ["listed 2"]
    assert "finished" in names(f"experiment={job['experiment']['id']}&limit=500")
    assert "finished" in names(f"dataset={dataset['id']}&state=completed&limit=500")
    assert names(f"experiment={UNKNOWN_ID}") == []
    assert names("label=listed&kind=solver_comparison") == [f"listed {i}" for i in (4, 3, 2, 1, 0)]
    assert names("label=listed&kind=sequence_regression") == []
    kinds = {k: daemon.get(f"/v1/jobs?kind={k}&archived=any&limit=500")["items"] for k in (
        "solver_comparison", "transfer_learning", "sequence_regression", "sequence_classification", "signal_classification")}
    assert all(j["kind"] == kind for kind, found in kinds.items() for j in found)
    assert sum(map(len, kinds.values())) == len(daemon.get("/v1/jobs?archived=any&limit=500")["items"])
    daemon.refused("GET", "/v1/jobs?kind=comparison", 400, "invalid_parameter", parameter="kind")
    seen, cursor = [], ""
    while cursor is not None:
        page = daemon.get(f"/v1/jobs?label=listed&sort=name&limit=2&fields=name{cursor and '&cursor=' + cursor}")
        seen, cursor = seen + [i["name"] for i in page["items"]], page["next_cursor"]
    assert seen == [f"listed {i}" for i in range(5)]
    after = daemon.get(f"/v1/jobs/{ids[2]}")["created_at"]
    assert "listed 0" not in names(f"label=listed&created_after={after}")
    assert "listed 4" not in names(f"label=listed&created_before={after}")
    daemon.post(f"/v1/jobs/{ids[0]}/archive")
    assert "listed 0" not in names("label=listed") and names("label=listed&archived=true") == ["listed 0"]
    assert len(names("label=listed&archived=any")) == 5
    daemon.post(f"/v1/jobs/{ids[0]}/unarchive")
    assert "listed 0" in names("label=listed")


def test_what_was_written_is_read_at_once(daemon, finished):
    job = finished[0]["id"]
    for i in range(40):
        daemon.request("PATCH", f"/v1/jobs/{job}", json={"labels": [f"round {i}"]})
        assert daemon.get(f"/v1/jobs/{job}")["labels"] == [f"round {i}"]
        assert [j["id"] for j in daemon.get(f"/v1/jobs?label=round%20{i}&archived=any")["items"]] == [job]
        verb = ("archive", "unarchive")[i % 2]
        daemon.post(f"/v1/jobs/{job}/{verb}")
        assert (job in [j["id"] for j in daemon.get("/v1/jobs?limit=500")["items"]]) == (verb == "unarchive")


def test_every_field_of_a_row_can_be_asked_for(daemon, finished):
    row = daemon.get("/v1/jobs?limit=1")["items"][0]
    assert set(daemon.get("/v1/jobs?limit=1&fields=" + ",".join(row))["items"][0]) == set(row)
    row = daemon.get(f"/v1/jobs/{finished[0]['id']}/trials?limit=1")["items"][0]
    picked = daemon.get(f"/v1/jobs/{finished[0]['id']}/trials?limit=1&fields=" + ",".join(row))["items"][0]
    assert picked == row


def test_edits_and_if_match(daemon, finished):
    job = daemon.request("GET", f"/v1/jobs/{finished[0]['id']}")
    changed = daemon.request("PATCH", f"/v1/jobs/{finished[0]['id']}", json={"notes": "seen", "labels": ["kept", "ö"]},
                             headers={"If-Match": job.headers["ETag"]})
    assert changed.status_code == 200 and changed.json()["notes"] == "seen"
    assert changed.json()["labels"] == ["kept", "ö"] and changed.json()["name"] == "finished"
    assert changed.headers["ETag"] != job.headers["ETag"]
    daemon.refused("PATCH", f"/v1/jobs/{finished[0]['id']}", 412, "precondition_failed", parameter="If-Match",
                   json={"notes": "late"}, headers={"If-Match": job.headers["ETag"]})
    assert daemon.get(f"/v1/jobs/{finished[0]['id']}")["notes"] == "seen"


def test_experiments(daemon, finished):
    made = daemon.request("POST", "/v1/experiments", json={"name": "flowers", "notes": "n"})
    assert made.status_code == 201 and made.headers["Location"].endswith(made.json()["id"])
    daemon.refused("POST", "/v1/experiments", 409, "conflict", json={"name": "flowers"})
    changed = daemon.request("PATCH", f"/v1/experiments/{made.json()['id']}", json={"name": "blossoms"}).json()
    assert changed["name"] == "blossoms" and changed["notes"] == "n"
    session = daemon.get("/v1/experiments?search=session")["items"][0]
    assert session["job_count"] >= 1 and session["completed_count"] >= 6
    assert daemon.get("/v1/experiments?limit=1")["next_cursor"]


def test_more_trials_than_allowed(daemon, dataset):
    daemon.refused("POST", "/v1/jobs", 422, "invalid_field", "/search/parameters",
                   json=spec(dataset, seeds=list(range(20))))
