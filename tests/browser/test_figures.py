"""Figures of trials beside the API's answers, digit by digit: at curves and in comparisons; scales."""
import pytest
from conftest import spec
from support import as_shown
from support.browser import of

# Title, the metrics of its two curves, which extreme is told.
CHARTS = (("Loss", {"Training": "training_loss", "Validation": "validation_loss"}, "min"),
          ("Accuracy", {"Training": "training_accuracy", "Validation": "validation_accuracy"}, "max"))


def panels(page):
    """Titles of the charts, which become findable as [data-panel="title"]."""
    return page.script("""return [...document.querySelectorAll('[data-test="curve-panel"]')].map(p => {
        p.dataset.panel = p.querySelector('h2').innerText; return p.dataset.panel; })""")


def open_curves(page, trial):
    page.go(f"#/trials/{trial['id']}?tab=curves")
    page.until(lambda: page.count(of("curves") + " canvas") > 0 and "Loss" in panels(page), "charts")


def legend(page, name):
    """{curve: [last, best]} beside a chart."""
    return {row[1]: row[2:] for row in page.rows(f'[data-panel="{name}"] {of("legend")}')}


def test_last_and_best_of_curves(page, daemon, finished):
    trial = finished[1][0]
    open_curves(page, trial)
    said = daemon.get(f"/v1/trials/{trial['id']}")["summaries"]
    for name, metrics, best in CHARTS:
        wanted = {curve: [as_shown.number(said[m]["last"]), as_shown.number(said[m][best])] for curve, m in metrics.items()}
        page.until(lambda n=name, w=wanted: legend(page, n) == w, f"last and best of {name}: {wanted}")


def test_extremes_of_a_hundred_thousand_points(page, daemon, many):
    """Thinning keeps them."""
    trial = many[1][0]
    open_curves(page, trial)
    said = daemon.get(f"/v1/trials/{trial['id']}")["summaries"]["training_loss"]
    assert said["count"] == 100_000
    page.until(lambda: legend(page, "Loss")["Training"] == [as_shown.number(said["last"]), as_shown.number(said["min"])],
               "the last and the least of all points")


@pytest.mark.parametrize("places", [(0, 4), (1, 2, 5)], ids=["two", "three"])
def test_final_figures_side_by_side(page, daemon, finished, places):
    trials = [finished[1][i] for i in places]
    page.go("#/compare?trials=" + ",".join(t["id"] for t in trials))
    page.shown(of("figure-row"))
    evaluations = [{e["part"]: e for e in daemon.get(f"/v1/trials/{t['id']}/evaluations")["items"]} for t in trials]
    for part in ("validation", "test", "train"):
        for figure in ("accuracy", "balanced_accuracy", "loss"):
            values = [e[part][figure] for e in evaluations]
            cells = page.texts(f'[data-metric="{part}_{figure}"] td')
            assert [c.split()[0] for c in cells] == [as_shown.number(v) for v in values], (part, figure)
            best = (min if figure == "loss" else max)(values)
            assert ["★" in c for c in cells] == [v == best and len(set(values)) > 1 for v in values], (part, figure)


def test_the_axis_of_a_logarithmic_scale(page, many):
    """Other numbers stand at it, and the old ones when it is left."""
    def labels():
        return [float(t.replace("−", "-")) for t in page.texts('[data-panel="Loss"] .dygraph-axis-label-y') if t]
    open_curves(page, many[1][0])
    linear = page.until(labels, "numbers at the axis")
    page.click(of("log-scale"))
    page.until(lambda: labels() and labels() != linear and min(labels()) > 0, "another axis, without zero")
    page.picture("curves-log")
    page.click(of("log-scale"))
    page.until(lambda: labels() == linear, "the axis as before")


def test_samples_without_a_class(page, daemon, blobs):
    """The scores of a network that overflows are no numbers: how many is said, and no share of NaN."""
    layers = [{"name": f"fc{i}", "kind": "fully_connected", "outputs": 4} for i in range(8)]
    network = {"layers": [{"name": "in", "kind": "image_input", "normalisation": "none"},
                          {"name": "conv", "kind": "convolution", "filters": 2, "kernel": 3}, {"name": "flat", "kind": "flatten"}, *layers,
                          {"name": "fc", "kind": "fully_connected"}, {"name": "softmax", "kind": "softmax"}]}
    job = daemon.submit(spec(blobs, name="overflows", network=network, split={"train": 1}, training={
        "solver": "adam", "learning_rate": 1e12, "epochs": 1, "batch_size": 512}))
    [trial] = daemon.wait_job(job["id"])
    page.go(f"#/trials/{trial['id']}?tab=confusion&part=test")
    page.shown(of("matrix-summary"), "of 100 pictures right; 100 got no class, count as wrong and stand in no cell")
    page.go(f"#/trials/{trial['id']}?tab=explanations&item=0")
    facts = page.shown(of("picture-facts"), "taken for no class")
    assert "sure" not in facts and "NaN" not in facts and "null" not in facts, facts
