"""Where the time of a step went."""
import pytest
from conftest import UNKNOWN_ID, long_job, wait_until

PHASES = {"forward", "backward", "loss", "update", "data_wait", "other"}


def test_shares_add_up_to_one(daemon, trial):
    profile = daemon.get(f"/v1/trials/{trial['id']}/profile")
    assert profile["trial"] == trial["id"] and profile["steps"] == 16  # of 18: two warm up
    for rows in (profile["items"], profile["by_layer"]):
        assert sum(row["share"] for row in rows) == pytest.approx(1)
        assert sum(row["seconds"] for row in rows) == pytest.approx(profile["seconds_per_step"])
        assert all(0 <= row["share"] <= 1 and row["phase"] in PHASES for row in rows)
    assert {row["phase"] for row in profile["items"]} == PHASES
    assert profile["items"] == sorted(profile["items"], key=lambda row: -row["seconds"])
    assert profile["validation_seconds"] > 0 and profile["checkpoint_seconds"] >= 0


def test_items_gather_layers(daemon, trial):
    profile = daemon.get(f"/v1/trials/{trial['id']}/profile")
    layers = [row for row in profile["by_layer"] if row["layer"]]
    for item in profile["items"]:
        of_item = [row for row in layers if (row["operator"], row["phase"]) == (item["operator"], item["phase"])]
        assert len(of_item) == item["layers"]
        if of_item:
            assert sum(row["seconds"] for row in of_item) == pytest.approx(item["seconds"])
    beside = {row["operator"]: row["phase"] for row in profile["by_layer"] if row["layer"] is None}
    assert beside == {"loss": "loss", "sgdm": "update", "loader": "data_wait", "other": "other"}


def test_the_view_says_the_same(daemon, trial):
    profile = daemon.get(f"/v1/trials/{trial['id']}/profile")
    with daemon.database() as connection, connection.cursor() as cursor:
        cursor.execute("select coalesce(nullif(layers, ''), null), operator, phase, seconds_per_step, steps"
                       " from report.step_profile where trial_id = %s", (trial["id"],))
        rows = cursor.fetchall()
    told = [(row["layer"], row["operator"], row["phase"], row["seconds"], profile["steps"]) for row in profile["by_layer"]]
    assert sorted(rows, key=str) == sorted(told, key=str)


def test_there_is_none_before_the_end(daemon, running):
    answer = daemon.request("GET", f"/v1/trials/{running[1]['id']}/profile")
    assert answer.status_code == 404 and answer.json()["code"] == "not_found"
    assert daemon.request("GET", f"/v1/trials/{UNKNOWN_ID}/profile").status_code == 404


def test_a_cancelled_trial_keeps_none_a_stopped_one_does(daemon, dataset):
    job = daemon.submit(long_job(dataset, seeds=[1, 2]))
    first, second = daemon.trials(job["id"])
    for trial, verb in ((first, "cancel"), (second, "stop")):
        wait_until(lambda trial=trial: daemon.get(f"/v1/trials/{trial['id']}")["step"] > 4)
        daemon.request("POST", f"/v1/trials/{trial['id']}/{verb}")
    daemon.wait_job(job["id"])
    assert daemon.request("GET", f"/v1/trials/{first['id']}/profile").status_code == 404
    assert daemon.get(f"/v1/trials/{second['id']}/profile")["steps"] > 0
