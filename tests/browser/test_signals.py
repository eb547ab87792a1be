"""Signals on the page: networks bound to their windows, and words that fit: a window is no picture, and one step no steps."""
import numpy as np
import pytest
from support.browser import of
from test_networks import figures, figures_of, report


def matrix(daemon, trial, part):
    return daemon.get(f"/v1/trials/{trial['id']}/confusion-matrix?part={part}")


def test_a_network_takes_its_sizes_from_windows(page, daemon, signals):
    said = report(daemon, {"name": "drsn_cw_1d"}, signals)
    page.go(f"#/networks/drsn_cw_1d?dataset={signals['id']}")
    page.until(lambda: figures(page) == figures_of(said), "the figures of windows")
    assert page.script("return document.querySelector(arguments[0]).selectedOptions[0].text", of("bind-dataset")) == signals["name"]


def test_a_network_begins_with_what_it_is_made_for(page, signals, blobs):
    """Both kinds can be chosen for both: to the service a window is an image of one row."""
    kind_of = "return document.querySelector(arguments[0]).value"
    for name, other in (("drsn_cw_1d", blobs), ("simple_cnn", signals)):
        page.go(f"#/networks/{name}")
        page.shown(of("total-learnables"))
        chosen = page.script(kind_of, of("bind-dataset"))
        assert (chosen == signals["id"]) == (name == "drsn_cw_1d") and chosen
        assert page.count(f"{of('bind-dataset')} option[value='{other['id']}']") == 1


def test_a_set_that_does_not_fit_is_not_chosen(page, signals):
    page.go(f"#/networks/lstm_regression?dataset={signals['id']}")
    page.shown(of("total-learnables"))
    assert page.count(of("bind-features")) == 1
    assert page.script("return document.querySelector(arguments[0]).selectedOptions[0].text", of("bind-dataset")) == "sizes given here"


def test_cards_say_what_networks_take(page, signals):
    page.go("#/networks")
    page.shown(of("network-card"))
    takes = dict(zip(page.texts(of("network-card") + " > code"), page.texts(of("network-card") + " .chip")))
    assert takes["drsn_cw_1d"] == takes["convnet_1d"] == "windows"
    assert (takes["drsn_cw_2d"], takes["simple_cnn"], takes["gru"]) == ("pictures", "pictures", "sequences")


def test_a_data_set_has_windows(page, signals):
    page.go(f"#/datasets/{signals['id']}")
    page.shown(of("samples") + " h2", "Windows as training sees them")
    page.go("#/datasets")
    page.shown(of("dataset-row"), "2 classes, windows of 128 samples, 1 channel")
    assert "picture" not in page.body_of(of("datasets-list")).lower().replace("no pictures", "")


@pytest.mark.parametrize("part", ["validation", "train"])
def test_a_matrix_counts_windows(page, daemon, heard, part):
    counts = np.array(matrix(daemon, heard[1], part)["counts"])
    page.go(f"#/trials/{heard[1]['id']}?tab=confusion&part={part}")
    page.shown(of("matrix-summary"), f"of {counts.sum()} windows right")
    assert page.texts(of("matrix") + " .sum-name") == ["Windows", "Recall"]
    true, predicted = np.unravel_index((counts - np.diag(np.diag(counts))).argmax(), counts.shape)
    page.click(f'{of("cell")}[data-true="{true}"][data-predicted="{predicted}"]')
    page.shown(of("cell-samples"), "A click shows why")
    page.click(of("thumbnail"))
    page.shown(of("picture-dialog"), "sure")
    page.until(lambda: page.count(of("heat") + "[data-drawn]") == 2, "bands of the predicted and of the true class")
    assert page.count(of("picture-dialog") + " " + of("failure")) == 0
    page.quiet()
    assert "picture" not in page.body().lower()
    assert page.count('main [aria-label*="icture"], dialog[aria-label*="icture"], dialog [aria-label*="icture"]') == 0


def test_a_window_has_a_band_over_its_plot(page, daemon, heard):
    page.go(f"#/trials/{heard[1]['id']}?tab=explanations&item=3")
    page.shown(of("picture-facts"), "item 3 of the data set")
    page.until(lambda: page.count(of("heat") + "[data-drawn]") > 0, "a band")
    box = "const r = document.querySelector(arguments[0]).getBoundingClientRect(); return [r.left, r.top, r.width, r.height]"

    def fits():
        plot, band = (page.script(box, of("maps") + what) for what in (" img", " canvas"))
        return np.allclose(plot, band, atol=1) and abs(plot[2] - 2 * plot[3]) < 2
    page.until(fits, "a band as wide and as high as its plot")
    page.choose(of("method"), "occlusion")
    page.until(lambda: page.count(of("heat") + "[data-drawn][aria-label^=Occlusion]") > 0, "a band of occlusion")
    page.quiet()
    assert "picture" not in page.body().lower()


def test_matrices_side_by_side_count_windows(page, heard):
    page.go(f"#/compare?trials={heard[1]['id']}")
    page.shown(of("compare-matrix") + " .sum-name", "Windows")
    page.shown("main h1", "Compare 1 trial")


def test_one_is_no_plural(page, heard):
    job, trial = heard
    page.go(f"#/trials/{trial['id']}")
    page.shown(of("trial-explanation"), "Completed after 1 step.")
    page.go(f"#/jobs/{job['id']}")
    page.until(lambda: page.texts('tbody [data-column="progress"]') == ["1 step"], "one step")
    assert page.texts(of("trial-count")) == ["1 trial"]
    page.shown("main", "1 of 1 trial ended")
    page.go(f"#/experiments/{job['experiment']['id']}")
    page.shown("main", "1 job, 1 of 1 trial completed")
    page.go("#/")
    page.all_experiments()
    page.shown(of("experiment-card"), "1 job · 1 trial")
    page.go(f"#/compare?trials={trial['id']}")
    page.until(lambda: "1 step, " in page.body_of(of("compare-table")), "one step")
