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
