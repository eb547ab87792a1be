"""Curves: what is drawn, thinned, zoomed, marked; live; of a trial, of a job, of trials side by side."""
import math

import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from support.browser import of

# Pixels of a chart, the n-th on the page, that have about the colour of a variable.
PIXELS = """
    const [n, name] = arguments;
    const paint = document.createElement('canvas').getContext('2d');
    paint.fillStyle = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
    paint.fillRect(0, 0, 1, 1);
    const wanted = paint.getImageData(0, 0, 1, 1).data;
    const box = document.querySelectorAll('[data-test=curves]')[n];
    let found = 0;
    for (const canvas of box?.querySelectorAll('canvas') ?? []) {
        const {data} = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
        for (let i = 0; i < data.length; i += 4) {
            const far = Math.abs(data[i] - wanted[0]) + Math.abs(data[i + 1] - wanted[1]) + Math.abs(data[i + 2] - wanted[2]);
            found += data[i + 3] > 200 && far < 30;
        }
    }
    return found"""
SIZES = """return performance.getEntriesByType('resource').filter((e) => e.name.includes('/metrics?'))
    .map((e) => [new URL(e.name).search, e.decodedBodySize])"""
NAMES = "[data-test=curve-panel] h2"


def drawn(page, place, chart=0):
    """Waits until the curve of a place (1, 2, ...) is on the canvas."""
    page.until(lambda: page.script(PIXELS, chart, f"--series-{place}") > 10, f"curve {place} on chart {chart}")


def plain(text):
    """Digits without the thin spaces between thousands."""
    return text.replace("\u202f", "")


def drag(page, chart=0):
    """Draws a box over the middle of a chart."""
    box = page.driver.find_elements(By.CSS_SELECTOR, of("curves"))[chart]
    ActionChains(page.driver).move_to_element_with_offset(box, -60, 0).click_and_hold().move_by_offset(90, 0).release().perform()


def test_training_and_validation_share_a_chart(page, finished):
    trial = finished[1][0]
    page.go(f"#/trials/{trial['id']}?tab=curves")
    page.shown(of("legend-row"), "Validation")
    assert page.texts(NAMES)[:2] == ["Loss", "Accuracy"]
    for place in (1, 2):
        drawn(page, place)
    loss = page.daemon.get(f"/v1/trials/{trial['id']}")["summaries"]["training_loss"]
    cells = page.script("return [...document.querySelectorAll('[data-test=legend-row]')[0].cells].map((c) => c.innerText)")
    told = [float(cell.replace("−", "-")) for cell in cells[2:]]
    assert told == pytest.approx([loss["last"], loss["min"]], rel=5e-3)


def test_a_curve_of_a_single_point_is_seen(page, heard):
    """A trial of one step: each curve is one point, without a line that would show it."""
    page.go(f"#/trials/{heard[1]['id']}?tab=curves")
    for place in (1, 2):
        page.until(lambda p=place: page.script(PIXELS, 0, f"--series-{p}") > 50, f"a point of curve {place} that one sees")
    page.picture("curves-single-points")


def test_a_curve_can_be_hidden(page, finished):
    page.go(f"#/trials/{finished[1][0]['id']}?tab=curves")
    drawn(page, 2)
    page.click(of("legend-toggle"), 1)
    page.until(lambda: page.script(PIXELS, 0, "--series-2") == 0, "validation hidden")
    drawn(page, 1)


def test_ten_long_curves_are_thinned_and_zoom_brings_the_rest(page, many):
    job, first = many
    page.go("#/compare?trials=" + ",".join(t["id"] for t in first))
    page.until(lambda: page.count(of("legend-row")) == 10, "ten curves")
    for place in (1, 8):
        drawn(page, place)
    assert plain(page.shown(of("curve-remark"))).startswith("15000 of 1000000 points are drawn")
    drag(page)
    steps = plain(page.shown(of("zoom-bar"), "steps"))
    low, high = (int(word) for word in steps.split("\n")[0].replace("steps ", "").split(" to "))
    assert 1 <= low < high <= 100000 and high - low < 60000
    page.until(lambda: plain(page.texts(of("curve-remark"))[0]).split(" of ")[1].split(" ")[0] != "1000000", "a piece of the curves")
    page.quiet()
    sizes = page.script(SIZES)
    assert len(sizes) == 20 and all(size < 1_000_000 for _, size in sizes)
    assert sum("to_step" in query for query, _ in sizes) == 10
    page.click(of("zoom-reset"))
    page.gone(of("zoom-bar"))
    page.until(lambda: " of 1000000 " in plain(page.texts(of("curve-remark"))[0]), "all of the curves again")


def test_zoom_by_keyboard(page, many):
    page.go(f"#/trials/{many[1][0]['id']}?tab=curves")
    drawn(page, 1)
    page.script("document.querySelector('[data-test=curves]').focus()")
    page.keys("+")
    before = page.shown(of("zoom-bar"), "steps")
    page.quiet()  # the piece that was zoomed into is there
    page.keys(Keys.ARROW_RIGHT)
    page.until(lambda: page.texts(of("zoom-bar"))[0] != before, "moved to the right")
    page.keys("0")
    page.gone(of("zoom-bar"))


def test_a_move_is_not_undone_when_the_chart_is_drawn_anew(page, many):
    page.go(f"#/trials/{many[1][0]['id']}?tab=curves")
    drawn(page, 1)
    page.script("document.querySelector('[data-test=curves]').focus()")
    page.keys("+")
    before = page.shown(of("zoom-bar"), "steps")
    page.quiet()
    page.script("""document.querySelector('[data-test=curves]').dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowRight'}));
        document.querySelector('[data-test=log-scale]').click()""")
    page.until(lambda: page.texts(of("zoom-bar"))[0] != before, "moved to the right")


def test_what_is_not_finite_is_a_gap_with_a_mark(page, diverged):
    page.go(f"#/trials/{diverged['id']}?tab=curves")
    drawn(page, 1)
    page.until(lambda: page.texts(of("curve-remark"))[0] == "4 values are not finite: × NaN, ↑ ∞, ↓ −∞.", "the remark")
    assert "NaN" in page.texts(of("legend-row"))[0]
    page.click(of("log-scale"))
    drawn(page, 1)


def test_scale_and_smoothing_stay_in_the_address(page, finished):
    page.go(f"#/trials/{finished[1][0]['id']}?tab=curves")
    drawn(page, 1)
    page.click(of("log-scale"))
    page.choose(of("smoothing"), "0.9")
    page.until(lambda: "log=1" in page.script("return location.hash"), "log in the address")
    address = page.script("return location.hash")
    assert "smoothing=0.9" in address
    page.go(address)
    drawn(page, 1)
    assert page.script("return document.querySelector('[data-test=log-scale]').getAttribute('aria-pressed')") == "true"
    assert page.script("return document.querySelector('[data-test=smoothing]').value") == "0.9"


def test_curves_grow_while_a_trial_runs(page, running):
    page.go(f"#/trials/{running[1]['id']}?tab=curves")
    drawn(page, 1)

    def progress():
        return page.script("return document.querySelector('[data-test=trial-progress]').value")

    before = progress()
    page.until(lambda: progress() > before, "progress without a reload")
    legend = page.texts(of("legend-row"))[0]
    page.until(lambda: page.texts(of("legend-row"))[0] != legend, "another last value")


def test_curves_of_a_job(page, finished):
    job, trials = finished
    page.go(f"#/jobs/{job['id']}?table=curves")
    page.until(lambda: page.count(of("legend-row")) == len(trials), "a row a trial")
    assert "solver sgdm, seed 1" in page.texts(of("legend-row"))[0]
    page.choose(of("curve-metric"), "validation_accuracy")
    page.until(lambda: page.texts(NAMES) == ["Validation accuracy"], "another metric")
    drawn(page, len(trials))  # the last one lies above the others, which are equal
    page.choose(of("curve-trials"), "running")
    page.until(lambda: page.count(of("legend-row")) == 0, "no trial runs")


def test_speed_is_counted_in_what_trains(page, daemon, regression, heard, finished):
    """Sequences, windows or pictures: over the chart of a trial, in the choice of a job and of a comparison."""
    windows = daemon.submit({"kind": "sequence_regression", "dataset": regression["dataset"], "name": "cut", "data": {"window": 20, "rul_threshold": 60},
                             "network": {"name": "lstm_regression", "units": 4}, "training": {"epochs": 1}})
    [cut] = daemon.wait_job(windows["id"])
    trials = {"Sequences": regression, "Windows": heard[1], "Windows of sequences": cut, "Pictures": finished[1][0]}
    for word, trial in trials.items():
        name = f"{word.split()[0]} per second"
        page.go(f"#/trials/{trial['id']}?tab=curves")
        page.until(lambda n=name: n in page.texts(NAMES), f"a chart of {name}")
        page.go(f"#/jobs/{trial['job']['id']}?table=curves&metric=images_per_second")
        page.until(lambda n=name: page.texts(NAMES) == [n], f"the job's chart of {name}")
    page.go(f"#/compare?trials={regression['id']},{cut['id']}&metric=images_per_second")
    page.until(lambda: page.texts(NAMES) == ["Samples per second"], "a word for both")


def test_curves_take_the_colours_of_the_theme(page, finished):
    page.scheme("dark")
    page.go(f"#/trials/{finished[1][0]['id']}?tab=curves")
    drawn(page, 1)
    dark = page.script("return getComputedStyle(document.documentElement).getPropertyValue('--series-1').trim()")
    page.scheme("light")
    page.until(lambda: page.script("return getComputedStyle(document.documentElement).getPropertyValue('--series-1').trim()") != dark, "light")
    drawn(page, 1)


# --------------------------------------------------------------------------------------- compare


def test_trials_side_by_side(page, finished):
    trials = [t for t in finished[1] if t["seed"] == 1]
    page.go("#/compare?trials=" + ",".join(t["id"] for t in trials))
    page.until(lambda: page.count(of("compare-trial")) == 3, "three columns")
    differing = page.texts(of("differing-row"))
    assert any(row.startswith("training.solver") and "sgdm\tadam" not in row and "rmsprop" in row for row in differing)
    assert not any(row.startswith("training.epochs") for row in differing)
    page.click(of("show-same"))
    assert any(row.startswith("training.epochs") for row in page.texts(of("same-row")))
    losses = []
    for trial in trials:
        parts = {e["part"]: e for e in page.daemon.get(f"/v1/trials/{trial['id']}/evaluations")["items"]}
        losses.append(parts["validation"]["loss"])
    cells = page.script("""return [...document.querySelector('[data-metric=validation_loss]').cells].slice(1)
        .map((cell) => [cell.innerText, cell.dataset.test ?? ''])""")
    assert [bool(mark) for _, mark in cells] == [math.isclose(loss, min(losses)) for loss in losses]


def test_a_trial_is_left_out_of_a_comparison(page, finished):
    page.go("#/compare?trials=" + ",".join(t["id"] for t in finished[1][:3]))
    page.until(lambda: page.count(of("compare-trial")) == 3, "three columns")
    page.click(of("compare-remove"))
    page.until(lambda: page.count(of("compare-trial")) == 2, "two columns")
    assert finished[1][0]["id"] not in page.script("return location.hash")


def test_matrices_side_by_side(page, finished):
    trials = finished[1][:2]
    page.go("#/compare?trials=" + ",".join(t["id"] for t in trials))
    page.until(lambda: len(page.texts(of("compare-matrix"))) == 2, "two matrices")
    page.choose(of("compare-part"), "test")
    for trial, text in zip(trials, page.until(lambda: page.texts(of("compare-matrix")), "matrices of the test part")):
        assert f"Trial {trial['index']}" in text
    matrix = page.daemon.get(f"/v1/trials/{trials[0]['id']}/confusion-matrix?part=test")
    right = f"{100 * matrix['accuracy']:.1f} % right"
    page.until(lambda: right in page.texts(of("compare-matrix"))[0], right)
