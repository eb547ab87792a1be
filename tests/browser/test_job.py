"""Jobs and their tables of trials: figures as the API gives them, order, filters, columns, annotations,
thousands of rows, and what happens while a trial runs."""
import pytest
from conftest import LABEL, LONG, MARKUP, OTHER, WORD
from selenium.webdriver.common.keys import Keys
from support import as_shown
from support.browser import of

HEADLINE = "validation_accuracy"


def column(page, key):
    """What stands in a column, row by row."""
    return page.texts(f'{of("trial-row")} [data-column="{key}"]')


def open_job(page, job, query=""):
    page.go(f"#/jobs/{job['id']}{query}")
    page.shown(of("trial-row"))
    page.quiet()


def figure(metric):
    """A figure with its interval, as in a cell."""
    text = as_shown.number(metric["value"])
    return text if metric["low"] is None else f"{text} {as_shown.number(metric['low'])} – {as_shown.number(metric['high'])}"


def results(daemon, job):
    return daemon.get(f"/v1/jobs/{job['id']}/results?discarded=any")


# ------------------------------------------------------------------------------------------- lists


def test_the_list_of_jobs_is_that_of_the_api(page, daemon, finished, hostile):
    page.go("#/")
    said = daemon.get("/v1/jobs?limit=50")["items"]
    page.until(lambda: page.texts(of("job-link")) == [j["name"] or f"Job {j['number']}" for j in said], "the jobs in their order")
    row = page.rows(of("jobs"))[[j["id"] for j in said].index(finished[0]["id"])]
    best = daemon.get(f"/v1/jobs/{finished[0]['id']}")["best"]["value"]
    assert row[1] == "completed" and row[2] == "6 trials" and row[3].split()[0] == as_shown.number(best)


def test_the_time_that_is_shown_is_the_one_that_the_list_is_sorted_by(page, daemon, finished, hostile):
    page.go("#/")
    page.shown(of("job-row"))
    for sort, heading, field in (("", "Submitted", "created_at"), ("created_at", "Submitted", "created_at"), ("-updated_at", "Changed", "updated_at")):
        page.choose(of("filter-sort"), sort)
        page.until(lambda: page.texts(of("jobs") + " th")[-1] == heading, heading)
        page.until(lambda: page.script("return [...document.querySelectorAll(arguments[0])].map((e) => e.dateTime)", of("job-time") + " time")
                   == [job[field] for job in daemon.get(f"/v1/jobs?limit=50&sort={sort or '-created_at'}")["items"]], f"the times {field}")
    page.window(390, 844)
    assert page.script("return getComputedStyle(document.querySelector(arguments[0]), '::before').content", of("job-time")) == '"changed "'


def test_jobs_are_searched_and_filtered(page, finished, hostile):
    page.go("#/")
    page.fill(of("search"), "finished")
    page.until(lambda: page.texts(of("job-link")) == ["finished"], "the one that is called so")
    page.choose(of("filter-state"), "cancelled")
    page.shown(of("no-match"))
    page.driver.refresh()
    page.shown(of("no-match"))  # the address keeps what was chosen
    page.choose(of("filter-state"), "completed")
    page.until(lambda: page.texts(of("job-link")) == ["finished"], "the one that fits both")


def test_an_experiment_shows_its_jobs(page, finished):
    page.go("#/")
    page.all_experiments()
    page.shown(of("experiment-card"), "session")
    page.go(f"#/experiments/{finished[0]['experiment']['id']}")
    page.shown("main h1", "session")
    page.until(lambda: page.texts(of("job-link")) == ["finished"], "its one job")


# ------------------------------------------------------------------------------------ one job


def test_the_head_says_what_the_api_says(page, daemon, finished):
    open_job(page, finished[0])
    said = daemon.get(f"/v1/jobs/{finished[0]['id']}")
    assert page.shown(of("job-state")).splitlines()[-1] == said["state"]
    assert page.shown(of("job-best")).splitlines()[-1] == as_shown.number(said["best"]["value"])
    assert page.shown(of("job-failed")).splitlines()[-1] == "0"
    assert "kept" in page.shown(of("job-labels"))


def test_every_figure_of_every_trial_is_that_of_the_api(page, daemon, finished):
    open_job(page, finished[0])
    said = results(daemon, finished[0])
    shown = [m for m in said["metrics"] if m.startswith(("validation_", "test_"))]
    for metric in shown:
        assert column(page, metric) == [figure(row["metrics"][metric]) for row in said["items"]], metric
    assert column(page, "training.solver") == [row["parameters"]["training.solver"] for row in said["items"]]
    assert column(page, "seed") == [str(row["seed"]) for row in said["items"]]
    assert column(page, "training_loss") == [as_shown.number(row["training_loss"]) for row in said["items"]]


def test_means_over_seeds_with_their_intervals(page, daemon, finished):
    open_job(page, finished[0])
    page.click(of("show-means"))
    groups = daemon.get(f"/v1/jobs/{finished[0]['id']}/results?over=seeds")["groups"]
    page.until(lambda: len(page.rows(of("means"))) == len(groups), "a row for each solver")
    for row, group in zip(page.rows(of("means")), groups):
        mean = group["metrics"][HEADLINE]
        assert row[:2] == [group["parameters"]["training.solver"], str(group["trials"])]
        assert row[2] == f"{as_shown.number(mean['mean'])} {as_shown.number(mean['low'])} – {as_shown.number(mean['high'])}"


def test_sorting_by_a_column(page, daemon, finished):
    open_job(page, finished[0])
    losses = sorted((row["metrics"]["validation_loss"]["value"], row["index"]) for row in results(daemon, finished[0])["items"])
    ascending = [str(index) for _, index in losses]
    for order in (ascending, ascending[::-1], sorted(ascending, key=int)):
        page.click(of("sort-validation_loss"))
        page.until(lambda o=order: column(page, "index") == o, f"the order {order}")
    assert page.count("[aria-sort]") == 0


def test_filtering_by_words_and_comparisons(page, daemon, finished):
    open_job(page, finished[0])
    rows = results(daemon, finished[0])["items"]
    page.fill(of("trials-filter"), "adam seed=2")
    fitting = [str(r["index"]) for r in rows if r["parameters"]["training.solver"] == "adam" and r["seed"] == 2]
    page.until(lambda: column(page, "index") == fitting, "adam with the seed 2")
    middle = sorted(r["metrics"]["validation_loss"]["value"] for r in rows)[3]
    page.fill(of("trials-filter"), f"validation_loss<{middle!r}")
    page.until(lambda: len(column(page, "index")) == 3, "the three with less loss")
    page.choose(of("trials-state"), "failed")
    page.until(lambda: page.shown(of("trial-count")) == "0 of 6 trials", "none that failed")


def test_hidden_columns_stay_hidden(page, finished):
    open_job(page, finished[0])
    assert len(column(page, "test_loss")) == 6
    page.click(of("columns") + " summary")
    page.click(of("column-test_loss"))
    page.click(of("column-epoch"))
    page.until(lambda: column(page, "test_loss") == [] and column(page, "epoch") == ["2"] * 6, "epoch instead of test loss")
    page.driver.refresh()
    page.until(lambda: column(page, "epoch") == ["2"] * 6, "the same choice after a reload")
    assert column(page, "test_loss") == []


def test_notes_and_labels_of_a_trial(page, daemon, finished):
    """Typed into the table, kept by the API, shown as text, and found by the filter."""
    trial = finished[1][3]
    open_job(page, finished[0])
    row = f'[data-id="{trial["id"]}"] '
    page.click(row + of("trial-notes-edit"))
    page.keys(f"{MARKUP} looks odd", Keys.ENTER)
    page.until(lambda: daemon.get(f"/v1/trials/{trial['id']}")["notes"] == f"{MARKUP} looks odd", "notes that are kept")
    page.click(row + of("trial-labels-edit"))
    page.keys(f"{LABEL}, odd", Keys.ENTER)
    page.until(lambda: set(daemon.get(f"/v1/trials/{trial['id']}")["labels"]) == {LABEL, "odd"}, "labels that are kept")
    page.shown(row + of("trial-notes"), MARKUP)
    page.fill(of("trials-filter"), "looks")
    page.until(lambda: column(page, "index") == [str(trial["index"])], "found by its notes")


def test_escape_gives_an_edit_up(page, daemon, finished):
    before = daemon.get(f"/v1/jobs/{finished[0]['id']}")["notes"]
    open_job(page, finished[0])
    page.click(of("job-notes-edit"))
    page.keys("never mind", Keys.ESCAPE)
    page.shown(of("job-notes-edit"))
    assert daemon.get(f"/v1/jobs/{finished[0]['id']}")["notes"] == before


def test_discarded_trials_are_shown_on_demand(page, daemon, finished):
    trial = finished[1][5]
    open_job(page, finished[0])
    page.click(f'[data-id="{trial["id"]}"] input[type=checkbox]')
    page.click(of("trials-discard"))
    page.until(lambda: str(trial["index"]) not in column(page, "index"), "one trial less")
    assert daemon.get(f"/v1/trials/{trial['id']}")["discarded"] is True
    page.click(of("show-discarded"))
    page.until(lambda: str(trial["index"]) in column(page, "index"), "the discarded one again")
    page.click(of("trials-take-back"))
    page.until(lambda: daemon.get(f"/v1/trials/{trial['id']}")["discarded"] is False, "the trial taken back")


def test_the_request_as_a_command(page, daemon, finished):
    """What is copied can be run, and gives what the page shows."""
    import json
    import shlex
    import subprocess
    page.go("#/?search=finished")
    page.until(lambda: page.texts(of("job-link")) == ["finished"], "the job")
    page.click(of("curl"))
    command = page.until(lambda: page.script("return document.querySelector(arguments[0]).dataset.command", of("curl")), "a command")
    said = json.loads(subprocess.run(shlex.split(command), check=True, capture_output=True, text=True, timeout=60).stdout)
    assert [j["id"] for j in said["items"]] == [finished[0]["id"]]


# ------------------------------------------------------------------------------------ narrow boxes

SEEN = """const box = document.querySelector('.trials-box').getBoundingClientRect();
    return [...document.querySelectorAll('[data-test=trial-row]')[1].querySelectorAll('td')].filter((cell) => {
        const {left, right} = cell.getBoundingClientRect();
        return left >= box.left - 1 && right <= box.right + 1;
    }).map((cell) => cell.dataset.column)"""


@pytest.mark.parametrize("width", [1280, 390])
def test_what_tells_trials_apart_and_the_headline_are_seen_first(page, daemon, finished, width):
    page.window(width, 844)
    open_job(page, finished[0])
    first = ["index", "training.solver", "seed", HEADLINE]
    page.until(lambda: page.script(SEEN)[1:5] == first, f"{first} within the box")
    said = results(daemon, finished[0])["items"]
    shown = column(page, HEADLINE)
    assert shown == ([figure(row["metrics"][HEADLINE]) for row in said] if width > 390
                     else [as_shown.number(row["metrics"][HEADLINE]["value"]) for row in said])
    cut = page.script("""return [...document.querySelectorAll('[data-test=trial-row] td')].filter((cell) =>
        arguments[0].includes(cell.dataset.column) && cell.scrollWidth > cell.clientWidth).length""", first)
    assert cut == 0, "a value is cut off"


@pytest.mark.parametrize("width", [1280, 390])
def test_columns_out_of_sight_are_hinted_and_reached_by_keys(page, finished, width):
    page.window(width, 844)
    open_job(page, finished[0])
    sides = """const frame = document.querySelector('.trials-box').parentElement;
        return ['::before', '::after'].map((side) => frame.matches('.sideways') && getComputedStyle(frame, side).content)
            .concat([frame.matches('.more-left'), frame.matches('.more-right')])"""
    page.until(lambda: page.script(sides)[1:] == ['"›"', False, True], "an edge on the right alone")
    page.shown(of("more-columns"), "Columns go on to the right")
    page.script("document.querySelector('.trials-box').focus()")
    page.keys(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    page.until(lambda: page.script(sides)[2:] == [True, True], "an edge on both sides")
    for _ in range(100):
        page.keys(*[Keys.ARROW_RIGHT] * 20)
        if not page.script(sides)[3]:
            break
    page.until(lambda: page.script(sides)[2:] == [True, False], "the last column")
    assert column(page, "index")[0] == "1" and page.script(SEEN)[:2] == [None, "index"], "the number stays in sight"


# --------------------------------------------------------------------------------------- hostile


def test_names_stay_text(page, hostile):
    """Names, notes, labels and experiment in markup, long and in other scripts: shown to the letter."""
    job, _ = hostile
    open_job(page, job)
    body = page.body()
    for text in (f"{MARKUP} {OTHER} {WORD}", f"{MARKUP} {WORD}", LABEL, LONG):
        assert " ".join(text.split()) in " ".join(body.split()), text
    assert page.driver.title.startswith(" ".join(f"{MARKUP} {OTHER}".split()))
    assert page.count("main img[src=x], main script") == 0
    page.go("#/")
    page.shown(of("job-link"), OTHER)
    assert page.count("main img[src=x], main script") == 0


def test_a_failed_trial_says_why(page, daemon, diverged):
    said = daemon.get(f"/v1/trials/{diverged['id']}")
    open_job(page, said["job"])
    [reason] = column(page, "reason")
    assert reason == f"diverged: {said['error']['text']}"
    page.go(f"#/trials/{diverged['id']}")
    page.shown("main", said["error"]["text"])


# -------------------------------------------------------------------------------------- thousands


def test_five_thousand_trials_come_whole(page, many):
    job, _ = many
    page.go(f"#/jobs/{job['id']}")
    page.until(lambda: page.shown(of("trial-count")) == "5\u202f000 trials", "all of them")
    assert page.count(of("trial-row")) < 200, "rows out of sight are drawn"
    page.script("document.querySelector('.trials-box').scrollTop = 1e9")
    page.until(lambda: column(page, "index")[-1:] == ["5000"], "the last one")


def test_five_thousand_trials_are_sorted_and_filtered(page, daemon, many):
    job, _ = many
    page.go(f"#/jobs/{job['id']}")
    page.until(lambda: page.shown(of("trial-count")) == "5\u202f000 trials", "all of them")
    best = daemon.get(f"/v1/jobs/{job['id']}/trials?sort=best&limit=5&fields=index,headline_value")["items"]
    page.click(of("sort-" + HEADLINE))
    page.click(of("sort-" + HEADLINE))
    page.until(lambda: [c.split()[0] for c in column(page, HEADLINE)[:5]] == [as_shown.number(t["headline_value"]) for t in best],
               "the best first")
    page.choose(of("trials-state"), "failed")
    failed = job["counts"]["failed"]
    page.until(lambda: page.shown(of("trial-count")) == f"{failed} of 5\u202f000 trials", "those that failed")
    assert set(column(page, "state")) == {"failed"}


# ------------------------------------------------------------------------------------------- live


def test_a_running_trial_moves_on(page, daemon, running):
    job, trial = running
    open_job(page, job)
    assert column(page, "state") == ["running"]
    assert page.count(f'{of("trial-row")} progress') == 1

    def seconds():
        return column(page, "seconds")[0]
    before, loss = seconds(), column(page, "training_loss")[0]
    page.until(lambda: seconds() != before, "time going on")
    page.until(lambda: column(page, "training_loss")[0] != loss, "another training loss")
    daemon.post(f"/v1/jobs/{job['id']}/stop", {})
    page.until(lambda: column(page, "state") == ["stopped"], "the trial that was stopped")
    page.until(lambda: page.shown(of("job-state")).splitlines()[-1] == "stopped", "the job that ended")
    said = results(daemon, job)["items"][0]
    page.until(lambda: column(page, HEADLINE) == [figure(said["metrics"][HEADLINE])], "its figures")


def test_a_job_is_cancelled_after_a_question(page, daemon, running):
    job, _ = running
    open_job(page, job)
    page.click(of("job-cancel"))
    page.shown(of("ask"), "nothing of them is kept")
    page.click(of("ask-no"))
    page.gone(of("ask"))
    assert daemon.get(f"/v1/jobs/{job['id']}")["state"] == "running"
    page.click(of("job-cancel"))
    page.click(of("ask-yes"))
    page.until(lambda: column(page, "state") == ["cancelled"], "the trial that was cancelled")
    assert daemon.get(f"/v1/jobs/{job['id']}")["state"] == "cancelled"


# --------------------------------------------------------------------------------------- keyboard


def focused(page):
    return page.script("""const e = document.activeElement;
        return e.dataset.test ?? e.getAttribute('aria-label') ?? e.innerText ?? ''""")


def tab_to(page, name, most=80):
    """Tab by Tab to an element; every stop on the way shows that it has the focus."""
    for _ in range(most):
        page.keys(Keys.TAB)
        visible = page.script("""const e = document.activeElement, s = getComputedStyle(e);
            return e === document.body || s.outlineStyle !== 'none' || s.boxShadow !== 'none'""")
        assert visible, f"no sign of the focus at {focused(page)}"
        if focused(page) == name:
            return
    raise AssertionError(f"{name} is not reached by Tab")


def test_from_the_list_to_a_trial_by_keyboard_alone(page, finished):
    page.go("#/?search=finished")
    page.until(lambda: page.texts(of("job-link")) == ["finished"], "the job")
    page.quiet()
    tab_to(page, "job-link")
    page.keys(Keys.ENTER)
    page.shown(of("trial-row"))
    page.quiet()
    tab_to(page, "sort-" + HEADLINE)
    page.keys(Keys.ENTER)
    page.until(lambda: page.count('[aria-sort="ascending"]') == 1, "sorted by the keyboard")
    assert focused(page) == "sort-" + HEADLINE, "the focus was lost by sorting"
    tab_to(page, "trial-link")
    page.keys(Keys.ENTER)
    page.until(lambda: page.script("return location.hash").startswith("#/trials/"), "the trial")


@pytest.mark.parametrize("width", [1280, 390])
def test_every_menu_opens_in_sight(page, finished, width):
    page.window(width)
    open_job(page, finished[0])
    for n in range(page.count(".menu > summary")):
        page.click(".menu > summary", n)
        left, right, most = page.until(lambda: page.script("""const box = document.querySelector('.menu[open] > .sheet')
            ?.getBoundingClientRect(); return box && box.width && [box.left, box.right, document.documentElement.clientWidth]"""),
                                       "the sheet of the menu")
        assert 0 <= left and right <= most, (n, left, right, most)
        page.click(".menu > summary", n)


@pytest.mark.parametrize("width", [1280, 390])
def test_choosing_two_trials_leads_to_their_comparison(page, finished, width):
    page.window(width)
    open_job(page, finished[0])
    for trial in finished[1][:2]:
        page.click(f'[data-id="{trial["id"]}"] input[type=checkbox]')
    page.shown(of("selected"), "2 chosen")
    page.click(of("compare"))
    ids = ",".join(t["id"] for t in finished[1][:2])
    page.until(lambda: page.script("return decodeURIComponent(location.hash)") == f"#/compare?trials={ids}", "the comparison")


def test_points_that_a_search_chooses_later_are_no_values_yet(page, daemon, blobs):
    """Of a Bayesian search whose first trial is at work; its table, its means and one of its open trials."""
    rate = "training.learning_rate"
    job = daemon.submit({"kind": "solver_comparison", "dataset": blobs["id"], "seeds": [1],
                         "training": {"epochs": 100000, "batch_size": 8, "solver": "sgdm"}, "search": {
                             "strategy": "bayesian", "trials": 3, "initial_trials": 1, "parameters": {rate: {"min": 0.001, "max": 0.1}}}})
    try:
        first, _, third = daemon.trials(job["id"])
        open_job(page, job)
        page.until(lambda: column(page, rate) == [as_shown.number(first["parameters"][rate]), "–", "–"], "one value and two to come")
        page.go(f"#/jobs/{job['id']}?table=means")
        page.until(lambda: page.count(of("mean-row")) == 1, "the mean of the one point that there is")
        page.go(f"#/trials/{third['id']}")
        page.shown(of("trial-explanation"), "the search chooses its point")
    finally:
        daemon.request("POST", f"/v1/jobs/{job['id']}/cancel")
        daemon.wait_job(job["id"])
