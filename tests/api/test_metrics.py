"""Curves: columns, thinning, numbers that are not finite."""
import random

import pytest
from assay import replacing
from conftest import spec, wait_until


def curve(daemon, trial, query=""):
    return daemon.get(f"/v1/trials/{trial['id']}/metrics?names=training_loss{query}")["metrics"]["training_loss"]


@pytest.fixture(scope="module")
def long_trial(daemon, dataset):
    """A finished trial whose curve is replaced by ones of a given length."""
    job = daemon.submit(spec(dataset, training={"epochs": 1, "solver": "sgdm"}))
    [trial] = daemon.wait_job(job["id"])

    @replacing
    def fill(values, metric="training_loss"):
        with daemon.database() as connection, connection.cursor() as cursor:
            cursor.execute("delete from metric_chunk where trial_id = %s and metric = %s", (trial["id"], metric))
            for first in range(0, len(values), 1000):
                part = [float(v) for v in values[first:first + 1000]]
                cursor.execute(
                    "insert into metric_chunk (trial_id, metric, first_step, last_step, fence, project_id, steps, vals) "
                    "select id, %s, %s, %s, fence, project_id, %s::bigint[], %s::float8[] from trial where id = %s",
                    (metric, first + 1, first + len(part), list(range(first + 1, first + len(part) + 1)), part, trial["id"]))
            cursor.execute("select job_touch(%s, %s, 'points', null, 'test', false)", (job["id"], trial["id"]))
        return trial
    return fill


def test_columns_of_a_real_run(daemon, trial):
    metrics = daemon.get(f"/v1/trials/{trial['id']}/metrics")["metrics"]
    loss = metrics["training_loss"]
    assert loss["step"] == list(range(1, 19)) and len(loss["value"]) == loss["total"] == 18
    assert loss["direction"] == "lower" and metrics["validation_accuracy"]["direction"] == "higher"
    assert loss["value"][-1] < loss["value"][0]
    tail = curve(daemon, trial, "&after_step=15")
    assert tail["step"] == [16, 17, 18] and tail["total"] == 3 and tail["value"] == loss["value"][15:]
    summaries = daemon.get(f"/v1/trials/{trial['id']}")["summaries"]["training_loss"]
    assert summaries["min"] == min(loss["value"]) and summaries["last"] == loss["value"][-1]


@pytest.mark.parametrize("points", [4, 5, 7, 320, 999, 1000])
def test_exactly_so_many_points_with_the_extremes(daemon, long_trial, points):
    """B16: 25,000 points, a cap; first, last, smallest and largest are kept."""
    rng = random.Random(points)
    values = [rng.random() for _ in range(25000)]
    low, high = rng.sample(range(1, 24999), 2)
    values[low], values[high] = -5, 5
    trial = long_trial(values)
    got = curve(daemon, trial, f"&max_points={points}")
    assert len(got["step"]) == len(got["value"]) == points and got["total"] == 25000
    assert got["step"] == sorted(set(got["step"])) and got["step"][0] == 1 and got["step"][-1] == 25000
    assert {low + 1, high + 1} <= set(got["step"])
    assert all(got["value"][i] == values[s - 1] for i, s in enumerate(got["step"]))


def test_a_piece_of_a_curve(daemon, long_trial):
    """What a zoomed chart asks for: its own points, thinned for themselves."""
    trial = long_trial([float(i) for i in range(1, 5001)])
    got = curve(daemon, trial, "&after_step=999&to_step=1100")
    assert got["step"] == list(range(1000, 1101)) and got["total"] == 101
    thinned = curve(daemon, trial, "&after_step=999&to_step=3000&max_points=10")
    assert thinned["total"] == 2001 and thinned["step"][0] == 1000 and thinned["step"][-1] == 3000
    assert len(thinned["step"]) == 10
    empty = daemon.get(f"/v1/trials/{trial['id']}/metrics?names=training_loss&after_step=10&to_step=10")
    assert empty["metrics"] == {}


def test_a_hundred_thousand_points_stay_small(daemon, long_trial):
    """B17: the answer is below 1 MB, and all points are there for who asks for them."""
    trial = long_trial([i / 3 for i in range(100000)])
    answer = daemon.request("GET", f"/v1/trials/{trial['id']}/metrics")
    assert len(answer.content) < 1000000
    assert len(answer.json()["metrics"]["training_loss"]["step"]) == 1000
    every = curve(daemon, trial, "&max_points=100000")
    assert every["step"] == list(range(1, 100001)) and every["value"][99999] == 99999 / 3


def test_numbers_that_are_not_finite_are_named(daemon, long_trial):
    """A30, A31: NaN and infinities are stored as such, written by name, and never an extreme."""
    values = [1.0, 2.0, float("nan"), float("inf"), float("-inf"), 0.5, 3.0]
    trial = long_trial(values)
    got = curve(daemon, trial)
    assert got["value"] == [1.0, 2.0, "NaN", "Infinity", "-Infinity", 0.5, 3.0]
    thinned = curve(daemon, trial, "&max_points=4")
    assert thinned["step"] == [1, 6, 7] or len(thinned["step"]) == 4
    assert 0.5 in thinned["value"] and 3.0 in thinned["value"]
    assert daemon.request("GET", f"/v1/trials/{trial['id']}").status_code == 200


def test_a_fast_trial_commits_about_once_a_second(daemon, dataset):
    """However many steps a second it makes: each commit is a transaction and wakes who waits."""
    job = daemon.submit(spec(dataset, network={"name": "simple_cnn", "filters": 1},
                             training={"epochs": 100000, "batch_size": 1, "solver": "sgdm"}))
    [trial] = daemon.trials(job["id"])

    def commits():
        with daemon.database() as connection, connection.cursor() as cursor:
            cursor.execute("select count(*), extract(epoch from max(created_at) - min(created_at)) from event "
                           "where trial_id = %s and kind = 'points'", (trial["id"],))
            n, seconds = cursor.fetchone()
            return (n, seconds) if n >= 5 else None
    n, seconds = wait_until(commits)
    assert n - 1 <= seconds + 1
    daemon.post(f"/v1/jobs/{job['id']}/cancel")
    daemon.wait_job(job["id"])
