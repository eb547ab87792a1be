"""What a regression over sequences predicted, part by part and sequence by sequence."""
import pytest
from support import as_shown
from support.browser import of

FIGURES = ("rmse", "mae", "r2", "mean_max_absolute_error", "last_step_rmse", "phm08_score")


@pytest.fixture
def shown(page, regression):
    page.go(f"#/trials/{regression['id']}?tab=regression")
    page.shown(of("regression-figures"))
    return page


def evaluations(daemon, trial):
    return {e["part"]: e for e in daemon.get(f"/v1/trials/{trial['id']}/evaluations")["items"]}


def test_figures_of_each_part_are_those_of_the_api(shown, daemon, regression):
    for part, said in evaluations(daemon, regression).items():
        shown.choose(of("part"), part)
        known = [as_shown.number(said[key]) for key in FIGURES if key in said]
        shown.until(lambda k=known: shown.texts(of("regression-figures") + " b") == k, f"the figures of {part}")


def test_sequences_stand_with_the_worst_first(shown, daemon, regression):
    said = daemon.get(f"/v1/trials/{regression['id']}/predictions?part=test&sort=-worst_error&limit=50")["items"]
    shown.choose(of("part"), "test")
    rows = [[s["name"], as_shown.count(s["length"]), as_shown.number(s["rmse"]), as_shown.number(s["worst"]["error"]),
             as_shown.count(s["worst"]["step"])] for s in said]
    shown.until(lambda: shown.rows(of("sequences")) == rows, "the sequences as the API sorts them")


def test_predictions_can_be_saved(shown):
    """What the button asks for; a file of a browser is not looked into."""
    shown.choose(of("part"), "test")
    shown.script("window.asked = []; const plain = window.fetch; window.fetch = (a, ...all) => { asked.push(String(a)); return plain(a, ...all); }")
    shown.click(of("save-csv"))
    shown.until(lambda: any("/predictions.csv?part=test" in one for one in shown.script("return asked")), "the table asked for")
    shown.quiet()
    assert shown.complaints() == [] and not shown.texts(of("failure"))


def test_a_sequence_is_drawn_when_it_is_chosen(shown, daemon, regression):
    said = daemon.get(f"/v1/trials/{regression['id']}/predictions?part=test&sort=-worst_error&limit=50")["items"]
    shown.choose(of("part"), "test")
    shown.until(lambda: len(shown.rows(of("sequences"))) == len(said), "the sequences of the test part")
    last = said[-1]
    shown.click(of("sequence-row") + f'[data-sample="{last["sample"]}"] button')
    words = shown.shown(of("sequence-words"), last["name"])
    assert as_shown.number(last["rmse"]) in words and f"step {last['worst']['step']}" in words
    assert f"sequence={last['sample']}" in shown.script("return location.hash")


def test_every_point_taken_is_drawn(shown, daemon, regression):
    shown.choose(of("part"), "test")
    points = daemon.get(f"/v1/trials/{regression['id']}/regression?part=test")["points"]
    shown.until(lambda: shown.count(of("scatter") + " .points circle") == len(points["target"]), "a circle for each point")
    assert shown.count(of("histogram") + " rect") > 3


# ------------------------------------------------------------------------------ several targets


@pytest.fixture(scope="module")
def thresholds(daemon, regression):
    """A job of two thresholds: errors of two targets."""
    job = daemon.submit({"kind": "sequence_regression", "dataset": regression["dataset"], "name": "two targets", "experiment": "targets",
                         "network": {"name": "lstm_regression", "units": 4}, "training": {"epochs": 1, "batch_size": 4},
                         "search": {"strategy": "grid", "parameters": {"data.rul_threshold": [60, 90], "training.solver": ["adam", "sgdm"]}}})
    trials = daemon.wait_job(job["id"])
    assert [t["state"] for t in trials] == ["completed"] * 4, trials
    return daemon.get(f"/v1/jobs/{job['id']}"), trials


def test_each_target_has_a_best_of_its_own(page, thresholds):
    job, trials = thresholds
    page.go(f"#/jobs/{job['id']}")
    page.shown(of("trial-row"))
    best = {t: min(x["headline_value"] for x in trials if x["parameters"]["data.rul_threshold"] == t) for t in (60, 90)}
    page.until(lambda: page.texts(of("best-of-target")) == [f"{t}: {as_shown.number(v)}" for t, v in best.items()], "a best for each")
    assert "for each RUL threshold" in page.shown(of("job-best"))
    for table in ("trials", "means"):
        page.click(of(f"show-{table}"))
        page.until(lambda: page.count(of("targets-differ")) == 2, f"a word beside the best and at the table of {table}")
        assert all("errors of trials that differ in it are not of one target" in text for text in page.texts(of("targets-differ")))


def test_lists_say_that_a_best_is_of_several_targets(page, thresholds, regression):
    job, _ = thresholds
    page.go("#/?search=two%20targets")
    page.shown(of("several-targets"), "RUL threshold differs")
    page.go(f"#/experiments/{job['experiment']['id']}")
    page.until(lambda: page.count(f"{of('best-row')} {of('several-targets')}") == 1, "a word at the best of the experiment")
    page.go(f"#/jobs/{regression['job']['id']}")
    page.shown(of("trial-row"))
    assert page.count(of("targets-differ")) == page.count(of("best-of-target")) == 0


def test_no_trial_of_another_target_is_best(page, thresholds):
    _, trials = thresholds
    for pair, stars in ((trials[:2], True), (trials[::2], False)):
        page.go("#/compare?trials=" + ",".join(t["id"] for t in pair))
        page.until(lambda: page.count(of("figure-row")) > 0, "the figures")
        assert (page.count(of("best")) > 0) == stars and (page.count(of("targets-differ")) == 0) == stars
