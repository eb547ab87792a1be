"""Data sets on the page: what a check found, how the classes are balanced, a new one from an archive."""
import time

import pytest
from conftest import CLASSES, MARKUP, OTHER, WORD
from selenium.webdriver.common.keys import Keys
from support import as_shown
from support.browser import of
from support.pictures import pictures, zip_of


@pytest.fixture
def shown(page, named):
    page.go(f"#/datasets/{named['id']}")
    page.shown(of("balance"))
    return page


def bars(page):
    """{class: (samples, width of its bar)} as they are drawn, in their order."""
    rows = page.script("""return [...document.querySelectorAll('[data-test="class-bar"]')].map(r =>
        [r.cells[0].innerText.trim(), r.cells[5].innerText.trim(),
         [...r.querySelectorAll('.piece')].reduce((sum, p) => sum + p.getBoundingClientRect().width, 0)])""")
    return {name: (n, width) for name, n, width in rows}


def test_the_balance_of_classes_is_that_of_the_api(shown, named):
    drawn = bars(shown)
    assert list(drawn) == [c["name"] for c in named["classes"]]
    for row in named["classes"]:
        assert drawn[row["name"]][0] == as_shown.count(row["train"] + row["validation"] + row["test"])
    widths = {c["name"]: drawn[c["name"]][1] / c["train"] for c in named["classes"]}
    assert max(widths.values()) - min(widths.values()) < 0.02 * max(widths.values()), "bars are not in proportion"


def test_the_largest_class_first(shown, named):
    shown.click(of("balance-sort"))
    largest = sorted(named["classes"], key=lambda c: -c["train"])
    shown.until(lambda: list(bars(shown)) == [c["name"] for c in largest], "the largest class first")


def test_refused_entries_say_why(shown, named):
    shown.shown(of("refused"), "Refused (2)")
    shown.click(of("refused") + " summary")
    said = [[r["name"], r["reason"].replace("_", " "), r["text"]] for r in named["report"]["refused"]]
    shown.until(lambda: shown.rows(of("refused")) == said, "name, reason and text of each")
    assert shown.count(of("refused") + " i") == 0, "a name was taken for markup"


def test_pictures_of_one_class(shown, daemon, named):
    shown.choose(of("samples-class"), CLASSES[2])
    said = daemon.get(f"/v1/datasets/{named['id']}/items", params={"class": CLASSES[2], "limit": 48})["items"]
    shown.until(lambda: shown.texts(of("sample") + " b") == [CLASSES[2]] * len(said), "pictures of that class alone")
    shown.until(lambda: shown.script("""return [...document.querySelectorAll('[data-test="sample"] img')]
        .filter(i => i.complete && i.naturalWidth === 12).length""") == len(said), "every picture in its size")


def test_the_list_is_searched_by_name(page, named, blobs):
    page.go("#/datasets")
    page.shown(of("dataset-row"), "blobs")
    page.fill(of("dataset-search"), "猫と犬")
    page.until(lambda: [t.splitlines()[0].split("\t")[0] for t in page.texts(of("dataset-row"))] == [f"{MARKUP} {OTHER} {WORD}"],
               "the one that has the name")
    page.fill(of("dataset-search"), "no set is called so")
    page.shown("main .empty", "No name fits")


def test_notes_are_changed_where_they_stand(page, daemon):
    made = daemon.create_dataset({"a.zip": zip_of(pictures(["x", "y"]))}, "archive", name="for notes")
    page.go(f"#/datasets/{made['id']}")
    page.click(of("dataset-edit") + " summary")
    page.fill(of("edit-notes"), MARKUP)
    page.click(of("edit-save"))
    page.shown(of("dataset-notes"), MARKUP)
    assert daemon.get(f"/v1/datasets/{made['id']}")["notes"] == MARKUP


def test_a_new_set_from_an_archive(page, daemon, tmp_path):
    """From the file to the checked set, on the page alone; then it is deleted again, by the keyboard."""
    archive = tmp_path / "fresh.zip"
    archive.write_bytes(zip_of(pictures(["left", "right"], per_class=7)))
    name = f"fresh {time.time_ns()}"
    page.go("#/datasets")
    page.click(of("dataset-new"))
    page.choose(of("dataset-source"), "archive")
    page.attach(of("dataset-files"), archive)
    page.shown(of("dataset-words"), "1 file,")
    page.fill(of("dataset-name"), name)
    page.click(of("dataset-create"))
    page.until(lambda: set(bars(page)) == {"left", "right"}, "the two classes")
    made = daemon.get("/v1/datasets", params={"search": name})["items"][0]
    assert made["state"] == "ready" and made["counts"]["train"] == 14
    page.click(of("dataset-delete"))
    page.shown(of("ask"), name)
    page.script("document.querySelector(arguments[0]).focus()", of("ask-yes"))
    page.keys(Keys.ENTER)
    page.until(lambda: page.script("return location.hash") == "#/datasets", "the list")
    assert daemon.get("/v1/datasets", params={"search": name})["items"] == []


def test_a_name_that_is_taken_is_said_at_its_field(page, named, blobs, tmp_path):
    archive = tmp_path / "twice.zip"
    archive.write_bytes(zip_of(pictures(["left", "right"], per_class=2)))
    page.go("#/datasets")
    page.click(of("dataset-new"))
    page.choose(of("dataset-source"), "archive")
    page.attach(of("dataset-files"), archive)
    page.fill(of("dataset-name"), blobs["name"])
    page.click(of("dataset-create"))
    page.shown(of("problem"), "exists already")
    assert page.count(of("dataset-name") + "[aria-invalid=true]") == 1
    [complaint] = page.complaints()
    assert "409" in complaint
