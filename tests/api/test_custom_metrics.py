"""Metrics that a job brings along, in Lua: columns of its results, or a refusal that names the line."""
import pytest

from conftest import spec

ACCURACY = """
local right = 0
for i, p in ipairs(predictions) do
  local best = 1
  for k = 2, #p do if p[k] > p[best] then best = k end end
  if best == targets[i] then right = right + 1 end
end
return right / #predictions
"""
LOG_LOSS = """
local sum = 0
for i, p in ipairs(predictions) do sum = sum - math.log(p[targets[i]]) end
return sum / #predictions
"""
METRICS = [
    {"name": "own_accuracy", "lua": ACCURACY, "direction": "higher"},
    {"name": "log_loss", "lua": LOG_LOSS, "direction": "lower"},
    {"name": "rate", "lua": "assert(parameters.kind == 'solver_comparison' and #classes == 3)\n"
                            "return parameters.training.learning_rate"},
    {"name": "no_number", "lua": "return 0/0"},
    {"name": "broken", "lua": "\nreturn predictions[1][1] + nothing"},
    {"name": "endless", "lua": "while true do end"},
    {"name": "greedy", "lua": "local t = {} for i = 1, 1e9 do t[i] = {} end"},
]


@pytest.fixture(scope="module")
def measured(daemon, dataset):
    job = daemon.submit(spec(dataset, name="own metrics", evaluation={"metrics": ["accuracy", "loss"],
                                                                      "custom_metrics": METRICS},
                             training={"epochs": 1, "batch_size": 32, "solver": "sgdm"}))
    trials = daemon.wait_job(job["id"])
    assert [t["state"] for t in trials] == ["completed"]
    return job, trials[0]


def evaluation(daemon, trial, part):
    items = daemon.get(f"/v1/trials/{trial['id']}/evaluations")["items"]
    return next(e for e in items if e["part"] == part)


def custom(daemon, trial, part):
    return {m["name"]: m for m in evaluation(daemon, trial, part)["custom_metrics"]}


@pytest.mark.parametrize("part", ["validation", "test"])
def test_they_see_what_was_predicted(daemon, measured, part):
    job, trial = measured
    own, built_in = custom(daemon, trial, part), evaluation(daemon, trial, part)
    assert own["own_accuracy"]["value"] == built_in["accuracy"] and own["own_accuracy"]["error"] is None
    assert own["log_loss"]["value"] == pytest.approx(built_in["loss"], abs=1e-7)
    shown = daemon.get(f"/v1/trials/{trial['id']}")
    assert own["rate"]["value"] == shown["resolved"]["training"]["learning_rate"] > 0
    assert own["no_number"] == {"name": "no_number", "direction": "none", "value": "NaN", "error": None}


def test_one_that_fails_costs_its_own_value(daemon, measured):
    _, trial = measured
    own = custom(daemon, trial, "test")
    assert own["broken"]["value"] is None
    assert own["broken"]["error"] == "line 2: attempt to perform arithmetic on a nil value (global 'nothing')"
    assert own["endless"]["error"] == "more than 100000000 instructions"
    assert own["greedy"]["error"].startswith("more than ")
    log = daemon.get(f"/v1/trials/{trial['id']}/log")["items"]
    assert any(line["level"] == "warn" and "metric 'broken' has no value on the test part" in line["text"]
               for line in log)


def test_they_are_columns_of_the_results(daemon, measured):
    job, trial = measured
    results = daemon.get(f"/v1/jobs/{job['id']}/results")
    row = results["items"][0]["metrics"]
    assert row["test_own_accuracy"]["value"] == row["test_accuracy"]["value"]
    assert row["validation_log_loss"]["n"] == 120
    assert row["test_no_number"]["value"] == "NaN"
    assert not {"train_own_accuracy", "train_broken"} & set(results["metrics"])
    assert results["groups"][0]["metrics"]["test_no_number"]["mean"] is None
    text = daemon.request("GET", f"/v1/jobs/{job['id']}/results", headers={"Accept": "text/csv"}).text
    assert "test_log_loss" in text.splitlines()[0]


@pytest.mark.parametrize("item,field,text", [
    ({"name": "m", "lua": "local x =\n\nreturn )"}, "lua", "line 3"),
    ({"name": "m", "lua": "\x1bLua"}, "lua", "binary"),
    ({"name": "m", "lua": "goto nowhere"}, "lua", "nowhere"),
    ({"name": "m", "lua": "return 1" + " " * 16384}, "lua", ""),
    ({"name": "accuracy", "lua": "return 1"}, "name", "metric of that name"),
    ({"name": "1st", "lua": "return 1"}, "name", "letter"),
    ({"name": "m" * 41, "lua": "return 1"}, "name", ""),
    ({"name": "m"}, "lua", "required"),
])
def test_broken_ones_are_refused_at_once(daemon, dataset, item, field, text):
    good = {"name": "good", "lua": "return 1"}
    body = spec(dataset, evaluation={"custom_metrics": [good, item]})
    problem = daemon.refused("POST", "/v1/jobs", 422, "invalid_field",
                             f"/evaluation/custom_metrics/1/{field}", json=body)
    assert text in problem["detail"]


def test_the_number_of_them_is_limited(daemon, dataset):
    many = [{"name": f"m{i}", "lua": "return 1"} for i in range(17)]
    daemon.refused("POST", "/v1/jobs", 422, "invalid_field", "/evaluation/custom_metrics",
                   json=spec(dataset, evaluation={"custom_metrics": many}))


def test_one_that_failed_keeps_its_column_and_says_why(daemon, measured):
    job, trial = measured
    results = daemon.get(f"/v1/jobs/{job['id']}/results")
    [row] = results["items"]
    assert {"validation_broken", "test_broken", "test_endless"} <= set(results["metrics"]) & set(results["custom_metrics"])
    assert row["metrics"]["test_broken"] is None and row["metrics"]["validation_endless"] is None
    assert {(w["part"], w["metric"]) for w in row["warnings"]} == {
        (part, metric) for part in ("validation", "test") for metric in ("broken", "endless", "greedy")}
    assert all(w["text"] == "line 2: attempt to perform arithmetic on a nil value (global 'nothing')"
               for w in row["warnings"] if w["metric"] == "broken")
    assert daemon.get(f"/v1/trials/{trial['id']}")["warnings"] == row["warnings"]
    text = daemon.request("GET", f"/v1/jobs/{job['id']}/results", headers={"Accept": "text/csv"}).text
    assert "test_broken" in text.splitlines()[0]
