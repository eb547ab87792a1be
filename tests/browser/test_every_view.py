"""What holds for every view: it loads without a word of complaint, fits a desktop and a telephone, can be
read in light and dark, and its fields have names. Its pictures are kept in build/browser/."""
import pathlib

import numpy as np
import pytest
from support.browser import of

LOOKS = (pathlib.Path(__file__).parent / "looks.js").read_text(encoding="utf-8")
IN_SIGHT = """const {top, bottom} = document.querySelector(arguments[0]).getBoundingClientRect();
    const height = document.documentElement.clientHeight;
    return bottom > 0 && (bottom <= height || top < height / 2);"""
# Name of the view, its route, and its subject, which stands there once it is filled. The hostile job is the
# one with the longest names, so whatever fits there fits.
VIEWS = {
    "home": ("#/", of("job-row")),
    "experiment": ("#/experiments/{experiment}", of("job-row")),
    "job": ("#/jobs/{job}", of("trial-row")),
    "job-means": ("#/jobs/{job}?table=means", of("mean-row")),
    "job-curves": ("#/jobs/{job}?table=curves", of("curves") + " canvas"),
    "job-of-5000": ("#/jobs/{many}", of("trial-row")),
    "trial-curves": ("#/trials/{trial}?tab=curves", of("curves") + " canvas"),
    "trial-diverged": ("#/trials/{diverged}?tab=curves", of("curves") + " canvas"),
    "trial-confusion": ("#/trials/{trial}?tab=confusion", of("matrix")),
    "trial-explanations": ("#/trials/{trial}?tab=explanations", of("maps") + " canvas, " + of("maps") + " img"),
    "trial-predict": ("#/trials/{trial}?tab=predict", of("drop")),
    "trial-network": ("#/trials/{trial}?tab=network", of("graph-node")),
    "trial-profile": ("#/trials/{trial}?tab=profile", of("profile-row")),
    "trial-signals": ("#/trials/{heard}?tab=confusion&true={true}&predicted={taken}", of("thumbnail") + " img"),
    "trial-log": ("#/trials/{trial}?tab=log", of("log")),
    "trial-regression": ("#/trials/{regression}?tab=regression", of("scatter") + " circle"),
    "compare": ("#/compare?trials={pair}", of("figure-row")),
    "compare-ten": ("#/compare?trials={ten}", of("curves") + " canvas"),
    "datasets": ("#/datasets", of("dataset-row")),
    "dataset": ("#/datasets/{named}", of("sample") + " img"),
    "dataset-sequences": ("#/datasets/{engines}", of("columns")),
    "dataset-signals": ("#/datasets/{signals}", of("sample") + " img"),
    "weights": ("#/weights", of("weights-row")),
    "weights-one": ("#/weights?id={weights}", of("weights-detail")),
    "networks": ("#/networks", of("network-card")),
    "network": ("#/networks/simple_cnn", of("graph-node")),
    "network-signals": ("#/networks/drsn_cw_1d?dataset={signals}", of("graph-node")),
    "submit": ("#/submit", of("plan") + ", " + of("failure") + ", " + of("problem")),
    "submit-from": ("#/submit?from={job}", of("plan")),
}


@pytest.fixture(scope="session")
def places(daemon, hostile, many, diverged, regression, named, signals, heard, weights):
    job, trials = hostile
    matrix = daemon.get(f"/v1/trials/{heard[1]['id']}/confusion-matrix?part=validation")
    row, column = np.unravel_index(np.argmax(matrix["counts"]), np.shape(matrix["counts"]))
    return {"job": job["id"], "experiment": job["experiment"]["id"], "trial": trials[0]["id"], "many": many[0]["id"],
            "diverged": diverged["id"], "regression": regression["id"], "named": named["id"],
            "signals": signals["id"], "heard": heard[1]["id"], "true": matrix["classes"][row], "taken": matrix["classes"][column],
            "weights": weights["id"], "engines": regression["dataset"], "pair": ",".join(t["id"] for t in trials[:2]),
            "ten": ",".join(t["id"] for t in many[1])}


@pytest.fixture(params=VIEWS)
def view(request, page, places):
    """A view that has been opened and is filled; opens it again when called."""
    route, filled = VIEWS[request.param]

    def open_it():
        page.go(route.format(**places))
        page.shown("main h1")
        page.until(lambda: page.count(filled) > 0, f"{filled} in {route}")
        page.quiet()
        assert page.texts(of("view-error")) == []
    open_it.name, open_it.subject = request.param, filled
    return open_it


def look(page, function):
    return page.script(f"{LOOKS}\nreturn {function}();")


def test_it_loads_and_can_be_read_in_light(page, view):
    view()
    page.picture(view.name)
    assert look(page, "faint") == []
    assert look(page, "wide") == []
    assert look(page, "spilled") == []
    assert look(page, "nameless") == []


def test_it_can_be_read_in_the_dark(page, view):
    page.scheme("dark")
    view()
    page.picture(f"{view.name}-dark")
    assert look(page, "faint") == []


def test_it_fits_a_telephone(page, view):
    """Pictured from its top and, where its subject lies below that, with the subject: of a job's views the tops are alike."""
    page.window(390, 844)
    view()
    page.picture(f"{view.name}-390")
    if not page.script(IN_SIGHT, view.subject):
        page.script("document.querySelector(arguments[0]).scrollIntoView({block: 'center'})", view.subject)
        page.until(lambda: page.script(IN_SIGHT, view.subject), "the subject in sight")
        page.quiet()
        page.picture(f"{view.name}-390-subject")
    assert look(page, "wide") == []
    assert look(page, "spilled") == []
