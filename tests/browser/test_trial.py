"""One trial: its head, what can be asked of it, its tabs, its log and the profile of its steps."""
import hashlib
import re

import pytest
from conftest import spec
from support.browser import of


def test_the_head_says_what_the_service_says(page, finished):
    trial = finished[1][0]
    page.go(f"#/trials/{trial['id']}")
    page.shown(of("trial-explanation"), trial["explanation"])
    assert "solver sgdm" in page.shown(of("trial-parameters")) and "seed 1" in page.shown(of("trial-parameters"))
    page.shown(of("trial-data"), "blobs")
    page.click(of("trial-job"))
    page.until(lambda: page.script("return location.hash") == f"#/jobs/{finished[0]['id']}", "the job")


def test_a_failure_is_a_sentence(page, diverged):
    page.go(f"#/trials/{diverged['id']}")
    said = page.shown(of("trial-explanation"))
    assert said == page.daemon.get(f"/v1/trials/{diverged['id']}")["explanation"] and "no longer finite" in said
    page.click(f"{of('trial-attempts')} summary")
    assert "failed" in page.shown(f"{of('trial-attempts')} tbody tr")


def test_tabs_go_back_with_the_browser(page, finished):
    page.go(f"#/trials/{finished[1][0]['id']}?tab=curves")
    page.shown(of("curve-board"))
    page.click(of("tab-log"))
    page.shown(of("log-line"), "completed after step")
    page.click(of("tab-profile"))
    page.shown(of("profile-table"))
    page.driver.back()
    page.shown(of("log-line"))
    page.driver.back()
    page.shown(of("curve-board"))


def test_verbs_are_those_of_the_state(page, running):
    _, trial = running
    page.go(f"#/trials/{trial['id']}")
    page.shown(of("verb-pause"))
    assert page.count(of("verb-resume")) == page.count(of("verb-restart")) == 0
    assert page.count(of("tab-profile")) == 0
    page.click(of("verb-pause"))
    page.shown(of("verb-resume"))
    assert page.daemon.get(f"/v1/trials/{trial['id']}")["state"] == "paused"
    page.click(of("verb-cancel"))
    page.click(of("ask-no"))
    page.gone(of("ask"))
    assert page.daemon.get(f"/v1/trials/{trial['id']}")["state"] == "paused"
    page.click(of("verb-cancel"))
    page.click(of("ask-yes"))
    page.shown(of("verb-restart"))
    assert page.daemon.get(f"/v1/trials/{trial['id']}")["state"] == "cancelled"


def test_notes_are_kept(page, finished):
    trial = finished[1][-1]
    page.go(f"#/trials/{trial['id']}")
    page.click(of("trial-notes-edit"))
    page.fill(of("trial-notes-field"), "猫 <b>noted</b>")
    page.click(of("trial-explanation"))
    page.shown(of("trial-notes"), "猫 <b>noted</b>")
    page.until(lambda: page.daemon.get(f"/v1/trials/{trial['id']}")["notes"] == "猫 <b>noted</b>", "notes that the service keeps")


def test_an_ending_trial_shows_what_it_left(page, running):
    _, trial = running
    page.go(f"#/trials/{trial['id']}?tab=curves")
    page.click(of("verb-stop"))
    page.shown(of("tab-profile"))
    page.until(lambda: page.count(of("trial-head")) == 1 and "stopped" in page.texts(of("trial-head"))[0], "stopped")


def test_the_log_is_whole_and_filters(page, diverged):
    page.go(f"#/trials/{diverged['id']}?tab=log")
    lines = page.daemon.get(f"/v1/trials/{diverged['id']}/log?limit=500")["items"]
    page.until(lambda: len(page.texts(of("log-line"))) == len(lines), "every line")
    grave = [line for line in lines if line["level"] in ("warn", "error")]
    page.choose(of("log-level"), "warn")
    page.until(lambda: len(page.texts(of("log-line"))) == len(grave), "warnings alone")


def test_head_and_log_agree_about_threads(page, finished):
    trial = finished[1][0]
    page.go(f"#/trials/{trial['id']}?tab=log")
    [most] = re.findall(r"threads \d+ of at most (\d+),", page.shown(of("log-line"), "starts"))
    assert f"up to {most} thread" in page.shown(of("trial-facts"))


def test_the_log_goes_on_as_the_trial_does(page, running):
    trial = running[1]
    page.go(f"#/trials/{trial['id']}?tab=log")
    page.shown(of("log-line"), "starts")
    page.daemon.post(f"/v1/trials/{trial['id']}/stop")
    page.shown(of("log-line"), "stopped after step")


def test_the_profile_is_that_of_the_service(page, finished):
    trial = finished[1][0]
    page.go(f"#/trials/{trial['id']}?tab=profile")
    page.shown(of("profile-table"))
    profile = page.daemon.get(f"/v1/trials/{trial['id']}/profile")
    rows = page.texts(of("profile-row"))
    assert len(rows) == len(profile["items"]) and rows[0].startswith(profile["items"][0]["operator"])
    waits = sum(item["share"] for item in profile["items"] if item["phase"] == "data_wait")
    told = float(page.shown(of("phase-data_wait")).split()[-2])
    assert told == pytest.approx(100 * waits, abs=0.06)
    assert f"{profile['steps']} steps" in page.shown(of("profile-steps"))
    page.click(of("profile-by-layer"))
    page.until(lambda: len(page.texts(of("profile-row"))) == len(profile["by_layer"]), "a row a layer and phase")


def test_the_chosen_tab_stands_within_a_telephone(page, finished):
    page.window(390, 844)
    for name in ("log", "curves"):
        page.go(f"#/trials/{finished[1][0]['id']}?tab={name}")
        page.shown(of(f"tab-{name}"))
        page.until(lambda: page.script("""const link = document.querySelector('.tabs [aria-current]').getBoundingClientRect();
            return link.left >= 0 && link.right <= innerWidth"""), f"the whole link of {name} in sight")
    assert page.script("return window.scrollY") == 0


# ----------------------------------------------------------------------------------- its network

# The next file that the page saves is kept in the page instead.
KEEP_FILE = """
    const own = URL.createObjectURL;
    URL.createObjectURL = (blob) => { window.savedBlob = blob; return own(blob); };
    HTMLAnchorElement.prototype.click = function () { window.savedName = this.download; };"""
READ_FILE = """const done = arguments[0];
    window.savedBlob.arrayBuffer().then((b) => crypto.subtle.digest('SHA-256', b)).then((d) => done([window.savedName,
        [...new Uint8Array(d)].map((n) => n.toString(16).padStart(2, '0')).join('')]));"""


def open_network(page, trial):
    page.go(f"#/trials/{trial['id']}?tab=network")
    page.shown(of("network-edit-copy"))


@pytest.mark.parametrize("button,query,suffix", [("network-onnx", "?format=onnx", "onnx"), ("network-download", "", "safetensors")])
def test_a_trained_network_is_saved(page, daemon, finished, button, query, suffix):
    trial = finished[1][0]
    open_network(page, trial)
    page.script(KEEP_FILE)
    page.click(of(button))
    page.until(lambda: page.script("return window.savedName"), "a file")
    content = daemon.request("GET", f"/v1/trials/{trial['id']}/network{query}").content
    assert page.driver.execute_async_script(READ_FILE) == [f"{trial['id']}.{suffix}", hashlib.sha256(content).hexdigest()]


def test_a_network_that_has_no_operators_says_which(page, daemon, blobs):
    layers = [{"name": "in", "kind": "image_input"}, {"name": "odd", "kind": "adaptive_average_pool", "size": 5},
              {"name": "fc", "kind": "fully_connected"}, {"name": "softmax", "kind": "softmax"}]
    job = daemon.submit(spec(blobs, name="no onnx", network={"layers": layers}, training={"epochs": 1, "batch_size": 400, "solver": "adam"}))
    [trial] = daemon.wait_job(job["id"])
    assert trial["state"] == "completed", trial
    open_network(page, trial)
    page.click(of("network-onnx"))
    said = daemon.request("GET", f"/v1/trials/{trial['id']}/network?format=onnx").json()
    assert said["code"] == "not_supported"
    page.until(lambda: page.texts(of("failure")) == [said["detail"] + "."], "the refusal as a sentence")
    page.picture("trial-network-refused")
    assert len(page.complaints()) == 1  # the refused request


def test_without_weights_nothing_is_saved(page, diverged):
    open_network(page, diverged)
    assert page.count(of("network-onnx")) == page.count(of("network-download")) == 0
