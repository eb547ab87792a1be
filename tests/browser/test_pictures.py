"""What a network confuses, why it says what it says, and what it says of one's own picture or sequence."""
import csv
import io
from urllib.parse import quote

import numpy as np
import pytest
from conftest import CLASSES, spec
from selenium.webdriver.common.keys import Keys
from support import as_shown
from support.browser import of
from support.pictures import png, zip_of

CELL = of("cell")


@pytest.fixture(scope="module")
def crowd(daemon):
    """A finished trial over forty classes: too many for a table."""
    rng = np.random.default_rng(3)
    entries = {f"class {k:02}/{i}.png": png(rng.integers(0, 40, (8, 8), dtype=np.uint8) + np.uint8(5 * k))
               for k in range(40) for i in range(5)}
    made = daemon.create_dataset({"crowd.zip": zip_of(entries)}, "archive", name="crowd")
    job = daemon.submit(spec(made, name="crowd", network={"name": "mlp"}, training={"epochs": 1, "solver": "adam"}))
    [trial] = daemon.wait_job(job["id"])
    assert trial["state"] == "completed", trial
    return trial


def matrix(daemon, trial, part="validation"):
    return daemon.get(f"/v1/trials/{trial['id']}/confusion-matrix?part={part}")


def cell(true, predicted):
    return f'{CELL}[data-true="{true}"][data-predicted="{predicted}"]'


def open_tab(page, trial, tab, more=""):
    page.go(f"#/trials/{trial['id']}?tab={tab}{more}")


def wrong_cell(daemon, trial, part):
    """The cell with the most mistakes: true, predicted, and its samples."""
    counts = np.array(matrix(daemon, trial, part)["counts"])
    np.fill_diagonal(counts, 0)
    true, predicted = np.unravel_index(counts.argmax(), counts.shape)
    names = matrix(daemon, trial, part)["classes"]
    rows = daemon.get(f"/v1/trials/{trial['id']}/predictions?part={part}&true={quote(names[true])}"
                      f"&predicted={quote(names[predicted])}")["items"]
    assert len(rows) == counts.max() > 0
    return int(true), int(predicted), rows


# ------------------------------------------------------------------------------------- the matrix


def test_counts_and_sums_are_those_of_the_api(page, daemon, finished):
    trial = finished[1][0]
    open_tab(page, trial, "confusion")
    for part in ("train", "validation", "test"):
        page.shown(of("matrix"))
        page.choose(of("part"), part)
        said = matrix(daemon, trial, part)
        counts = np.array(said["counts"])
        texts = [as_shown.count(int(n)) if n else "" for n in counts.flatten()]
        page.until(lambda t=texts: page.texts(CELL) == t, f"the counts of {part}")
        assert page.texts(of("row-sum")) == [as_shown.count(int(n)) for n in counts.sum(1)]
        assert page.texts(of("column-sum")) == [as_shown.count(int(n)) for n in counts.sum(0)]
        assert page.texts(of("row-recall")) == [as_shown.percent(counts[k, k] / counts[k].sum()) for k in range(3)]
        assert as_shown.percent(said["accuracy"]) in page.shown(of("matrix-summary"))


@pytest.mark.parametrize("shown,axis", [("recall", 1), ("precision", 0), ("total", None)])
def test_cells_show_shares(page, daemon, hostile, shown, axis):
    trial = hostile[1][0]
    open_tab(page, trial, "confusion", "&part=validation")
    page.shown(of("matrix"))
    page.choose(of("matrix-show"), shown)
    counts = np.array(matrix(daemon, trial)["counts"], float)
    whole = counts.sum(axis=axis, keepdims=axis is not None)
    shares = np.divide(counts, whole, out=np.zeros_like(counts), where=np.broadcast_to(whole, counts.shape) > 0)

    def agrees():
        texts = page.texts(CELL)
        return len(texts) == counts.size and all(
            (text == "") == (n == 0) and (n == 0 or abs(float(text) / 100 - share) < 0.006)
            for text, n, share in zip(texts, counts.flatten(), shares.flatten()))
    page.until(agrees, f"shares of {shown}")
    assert f"show={shown}" in page.script("return location.hash")


def test_classes_keep_their_names_and_take_another_order(page, daemon, hostile):
    trial = hostile[1][0]
    said = matrix(daemon, trial)
    names, counts = said["classes"], np.array(said["counts"])
    assert sorted(names) == sorted(c.strip() for c in CLASSES)
    open_tab(page, trial, "confusion", "&part=validation")
    page.until(lambda: page.texts(of("matrix") + " .row-name .class-name")[:3] == names, "the names of the classes")
    page.choose(of("matrix-order"), "recall")
    worst = [names[k] for k in np.argsort(np.diag(counts) / counts.sum(1), kind="stable")]
    page.until(lambda: page.texts(of("matrix") + " .row-name .class-name")[:3] == worst, "the lowest recall first")


def test_the_table_can_be_saved(page, daemon, finished):
    """The address that the button reads, and that its answer is the matrix: a file of a browser is not looked into."""
    trial = finished[1][0]
    open_tab(page, trial, "confusion")
    page.shown(of("save-csv"))
    page.click(of("save-csv"))
    text = daemon.request("GET", f"/v1/trials/{trial['id']}/confusion-matrix.csv?part=validation").text
    rows = list(csv.reader(io.StringIO(text)))
    assert [[int(n) for n in row[1:]] for row in rows[1:]] == matrix(daemon, trial)["counts"]

# Whether the last colour of a legend's ramp, the n-th of an element, is that of the ground of another element.
RAMP_ENDS_AS = """const [box, n, cell] = arguments;
    const paint = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
    const pixel = (colour) => { paint.fillStyle = colour; paint.fillRect(0, 0, 1, 1); return [...paint.getImageData(0, 0, 1, 1).data]; };
    const ramp = getComputedStyle(document.querySelector(box).querySelectorAll('.ramp-bar')[n]).backgroundImage;
    const [last, wanted] = [pixel(ramp.match(/.*, (\\w+\\(.*\\))\\)$/)[1]), pixel(getComputedStyle(document.querySelector(cell)).backgroundColor)];
    return last.every((c, i) => Math.abs(c - wanted[i]) < 3) || [ramp, last, wanted];"""


def test_the_colours_of_a_matrix_have_a_legend(page, daemon, finished, crowd):
    counts = np.array(matrix(daemon, finished[1][0])["counts"])
    open_tab(page, finished[1][0], "confusion")
    largest = as_shown.count(int(counts.max()))
    page.until(lambda: page.texts(of("matrix-legend") + " .ramp") == [f"Found\n0\n{largest}", f"Mistaken\n0\n{largest}"], "the range of counts")
    strongest = int(np.diag(counts).argmax())
    assert counts.max() == counts[strongest, strongest]
    for scheme in ("light", "dark"):
        page.scheme(scheme)
        page.until(lambda s=scheme: page.script("return document.documentElement.dataset.theme") == s, scheme)
        assert page.script(RAMP_ENDS_AS, of("matrix-legend"), 0, cell(strongest, strongest)) is True
        page.picture(f"matrix-legend-{scheme}")
    page.choose(of("matrix-show"), "recall")
    page.shown(of("matrix-legend"), "100 %")
    open_tab(page, crowd, "confusion")
    page.shown(of("matrix-legend"), "Mistaken")  # of a drawing, too


def never_predicted(matrix):
    """Names of classes that occur and that nothing was taken for."""
    counts = np.array(matrix["counts"])
    return [name for name, row, column in zip(matrix["classes"], counts.sum(1), counts.sum(0)) if row > 0 and column == 0]


def test_classes_that_are_never_predicted_are_named(page, daemon, crowd, finished):
    never = never_predicted(matrix(daemon, crowd))
    assert len(never) > 0, "the network is too good"
    open_tab(page, crowd, "confusion", "&part=validation")
    said = page.shown(of("never-predicted"))
    assert said == "Never predicted: " + ", ".join(never[:20]) + (f" and {len(never) - 20} more" if len(never) > 20 else "")
    assert never_predicted(matrix(daemon, finished[1][0])) == []
    open_tab(page, finished[1][0], "confusion", "&part=validation")
    page.shown(of("matrix"))
    assert page.count(of("never-predicted")) == 0


def test_many_classes_are_drawn_and_walked_by_keys(page, daemon, crowd):
    said = matrix(daemon, crowd)
    names = said["classes"]
    open_tab(page, crowd, "confusion", "&part=validation")
    page.shown(of("matrix-words"), names[0])
    page.until(lambda: page.script("return document.querySelector('.matrix-canvas').width > 100"), "a drawing")
    page.script("document.querySelector(arguments[0]).focus()", of("matrix"))
    page.keys(Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ARROW_RIGHT)
    count = said["counts"][2][1]
    page.shown(of("matrix-words"), f"{names[2]} taken for {names[1]}: {as_shown.count(count)}")
    page.keys(Keys.ENTER)
    page.shown(of("cell-title"), f"{names[2]} taken for {names[1]}")
    page.fill(of("class-filter"), names[7])
    page.until(lambda: page.texts(of("matrix") + " .row-name .class-name") and page.count(CELL) < 1600, "a table of a few classes")
    assert names[7] in page.texts(of("matrix") + " .row-name .class-name")


# ------------------------------------------------------------------------------ pictures of a cell


@pytest.mark.parametrize("part", ["train", "validation"])
def test_a_cell_shows_the_pictures_that_it_counts(page, daemon, hostile, part):
    trial = hostile[1][0]
    true, predicted, rows = wrong_cell(daemon, trial, part)
    open_tab(page, trial, "confusion", f"&part={part}")
    page.click(cell(true, predicted))
    page.shown(of("cell-title"), f"{as_shown.count(len(rows))} of the {part} part")
    wanted = [str(row["sample"]) for row in rows][:24]
    page.until(lambda: page.script("return [...document.querySelectorAll(arguments[0])].map(e => e.dataset.sample)",
                                   of("thumbnail")) == wanted, "the pictures of the cell")
    page.until(lambda: page.script("return [...document.querySelectorAll(arguments[0])].some(e => e.naturalWidth === 12)",
                                   of("thumbnail") + " img"), "a picture as it is stored")


def test_cells_are_walked_by_arrows_and_opened_by_enter(page, daemon, hostile):
    trial = hostile[1][0]
    true, predicted, _ = wrong_cell(daemon, trial, "validation")
    open_tab(page, trial, "confusion", "&part=validation")
    page.shown(of("matrix"))
    page.script("document.querySelector(arguments[0]).focus()", cell(0, 0))
    page.keys(*[Keys.ARROW_DOWN] * true, *[Keys.ARROW_RIGHT] * predicted)
    assert page.script("const d = document.activeElement.dataset; return [d.true, d.predicted]") == [str(true), str(predicted)]
    page.keys(Keys.ENTER)
    page.until(lambda: page.count(of("thumbnail")) > 0, "pictures after Enter")
    assert page.script("return document.querySelector(arguments[0]).getAttribute('aria-pressed')", cell(true, predicted)) == "true"


def test_a_wrong_picture_shows_its_maps(page, daemon, hostile):
    """Also where the trial kept none: they are asked for."""
    trial = hostile[1][0]
    true, predicted, rows = wrong_cell(daemon, trial, "train")
    kept = {row["sample"] for row in daemon.get(f"/v1/trials/{trial['id']}/explanations")["items"]}
    at, row = next((i, row) for i, row in enumerate(rows[:24]) if row["sample"] not in kept)
    open_tab(page, trial, "confusion", "&part=train")
    page.click(cell(true, predicted))
    page.click(of("thumbnail"), at)
    page.shown(of("picture-dialog") + " h2", str(row["sample"]))
    page.until(lambda: page.count(of("heat") + "[data-drawn]") == 2, "maps of the predicted and of the true class")
    facts = page.shown(of("picture-facts"), row["true"])
    assert row["predicted"] in facts and as_shown.percent(row["probability"]) in facts
    shares = page.texts(of("picture-dialog") + f" {of('bar')} .bar-share")
    assert shares[0] == as_shown.percent(row["probability"]) and len(shares) == 3
    page.script("""const slider = document.querySelector(arguments[0]); slider.value = 0.25;
                   slider.dispatchEvent(new Event('input', {bubbles: true}))""", of("opacity"))
    assert page.script("return getComputedStyle(document.querySelector(arguments[0])).opacity", of("heat")) == "0.25"
    page.keys(Keys.ESCAPE)
    page.gone(of("picture-dialog"))


# ------------------------------------------------------------------------------------ explanations


def test_kept_pictures_and_any_other(page, daemon, hostile):
    trial = hostile[1][0]
    rows = daemon.get(f"/v1/trials/{trial['id']}/explanations")["items"]
    samples = list(dict.fromkeys(str(row["sample"]) for row in rows))
    open_tab(page, trial, "explanations")
    page.until(lambda: page.script("return [...document.querySelectorAll(arguments[0])].map(e => e.dataset.sample)",
                                   of("kept-picture")) == samples, "the pictures that the trial kept")
    page.shown(of("picture-facts"), f"item {samples[0]}")
    assert "in the validation part of the trial" in page.shown(of("picture-facts")), "the part of the data set instead of the trial's"
    page.until(lambda: page.count(of("heat") + "[data-drawn]") > 0, "a map")
    page.shown(of("maps") + " + * + .ramp", "Share of the strongest place")
    page.shown(of("activation"), "relu1")
    page.shown(of("activation") + " .ramp", "its smallest number")
    other = next(n for n in range(100) if str(n) not in samples)
    page.fill(of("item"), str(other))
    page.click(of("show-item"))
    page.shown(of("picture-facts"), f"item {other}")
    held = {row["sample"] for row in daemon.get(f"/v1/trials/{trial['id']}/predictions?part=validation&limit=500")["items"]}
    part = "validation" if other in held else "training"
    assert f"in the {part} part of the trial" in page.shown(of("picture-facts"))
    page.until(lambda: page.count(of("heat") + "[data-drawn]") > 0, "its map")
    page.choose(of("layer"), "conv1")
    page.click(of("show-activation"))
    page.shown(of("activation"), "conv1: 4 channels of 10 x 10")
    page.until(lambda: page.script("return document.querySelector(arguments[0]).naturalWidth", of("activation") + " img") == 21,
               "four tiles with a line between")


def test_a_method_is_chosen_and_stays(page, daemon, hostile):
    trial = hostile[1][0]
    open_tab(page, trial, "explanations", "&item=1")
    page.until(lambda: page.count(of("heat") + "[data-drawn][aria-label^='Grad-CAM']") > 0, "a map")
    for method, name in (("lime", "LIME"), ("occlusion", "Occlusion")):
        page.choose(of("method"), method)
        page.until(lambda: page.count(of("heat") + f"[data-drawn][aria-label^={name}]") > 0, f"a map of {name}")
        assert page.count(of("maps") + " figure") == page.count(of("heat") + f"[aria-label^={name}]")
    page.fill(of("item"), "2")
    page.click(of("show-item"))
    page.shown(of("picture-facts"), "item 2")
    page.until(lambda: page.count(of("heat") + "[data-drawn][aria-label^=Occlusion]") > 0, "the method that was chosen")
    page.fill(of("mask_size"), "13")
    page.keys(Keys.ENTER)
    page.shown(of("failure"), "larger than the samples of 12 x 12")
    page.fill(of("mask_size"), "12")
    page.keys(Keys.ENTER)
    page.until(lambda: page.count(of("heat") + "[data-drawn][aria-label^=Occlusion]") > 0, "a map with a mask of one's own")
    name = [c["name"] for c in daemon.get(f"/v1/datasets/{trial['dataset']}")["classes"]][0]
    page.script("const s = document.querySelector(arguments[0]); s.value = arguments[1]; s.dispatchEvent(new Event('change'))", of("map-class"), name)
    page.until(lambda: page.count(of("heat") + "[data-drawn]") == 1 and page.count(of("maps") + " figure") == 1, "the map of one class")
    assert name in page.body_of(of("maps"))
    page.fill(of("mask_size"), "")
    page.choose(of("method"), "lime")
    page.choose(of("segmentation"), "superpixels")
    page.until(lambda: page.count(of("heat") + "[data-drawn][aria-label^=LIME]") == 1, "a map of superpixels")
    page.choose(of("segmentation"), "")
    page.choose(of("method"), "grad_cam")
    assert len(page.complaints()) == 1  # the refused request, which the browser tells of itself


# ---------------------------------------------------------------------------------------- trying


def test_a_picture_of_ones_own(page, daemon, hostile, tmp_path):
    trial = hostile[1][0]
    content = png(np.full((20, 30), 100, np.uint8))
    (tmp_path / "mine.png").write_bytes(content)
    answer = daemon.request("POST", f"/v1/trials/{trial['id']}/predict?wait=55", data=content,
                            headers={"Content-Type": "image/png"}).json()["result"]
    open_tab(page, trial, "predict")
    page.shown(of("drop"))
    page.attach(of("choose"), tmp_path / "mine.png")
    page.shown(of("predicted"), answer["predicted"])
    page.until(lambda: page.count(of("heat") + "[data-drawn]") == 1, "the map over the picture")
    shares = sorted((row["probability"] for row in answer["classes"]), reverse=True)
    assert page.texts(of("bar") + " .bar-share") == [as_shown.percent(share) for share in shares]


def test_what_is_no_picture_is_said(page, hostile, tmp_path):
    (tmp_path / "mine.png").write_bytes(b"this is none")
    open_tab(page, hostile[1][0], "predict")
    page.shown(of("drop"))
    page.attach(of("choose"), tmp_path / "mine.png")
    assert page.shown(of("failure"))
    assert len(page.complaints()) == 1  # the refused request, which the browser tells of itself


def test_a_pasted_sequence(page, daemon, regression):
    dataset = daemon.get(f"/v1/datasets/{regression['dataset']}")
    names = [column["name"] for column in dataset["report"]["inputs"]]
    steps = np.random.default_rng(2).normal(100, 5, (12, len(names))).round(3).tolist()
    answer = daemon.request("POST", f"/v1/trials/{regression['id']}/predict?wait=55",
                            json={"sequence": steps, "columns": names}).json()["result"]
    open_tab(page, regression, "predict")
    text = "\n".join([", ".join(names)] + [", ".join(map(str, step)) for step in steps])
    page.until(lambda: page.script("const e = document.querySelector(arguments[0]); if (e) { e.value = arguments[1]; } return !!e",
                                   of("rows"), text), "a field for the steps")
    page.click(of("ask"))
    page.shown(of("predicted"), as_shown.number(answer["last"]))
    # A file like the data set's own.
    rows = [["unit", *names, "wear"]] + [["M1"] + list(map(str, step)) + ["late"] for step in steps]
    for last, place, words in (("M1", "predicted", as_shown.number(answer["last"])), ("M2", "failure", '2 sequences by "unit"')):
        rows[-1][0] = last
        page.script("document.querySelector(arguments[0]).value = arguments[1]", of("rows"), "\n".join(map(",".join, rows)))
        page.click(of("ask"))
        page.shown(of(place), words)
    page.fill(of("rows"), "1, 2\n3, x")
    page.click(of("ask"))
    page.shown(of("failure"), '"x" is no number')
