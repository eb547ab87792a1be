"""What surrounds every view: policy, navigation, colours, sign-in, a server that goes and comes back."""
import os
import signal
import subprocess
import time

import pytest
import requests
from conftest import Page, wait_until
from selenium.webdriver.common.keys import Keys
from support import assay
from support.browser import of


def test_a_script_in_the_page_is_refused(page):
    """The policy is not only sent: the browser keeps to it."""
    page.go("#/")
    page.shown(of("brand"))
    page.script("""const s = document.createElement('script');
        s.textContent = 'window.inlined = 1'; document.body.append(s)""")
    assert page.script("return window.inlined") is None
    [complaint] = page.complaints()
    assert "Content Security Policy" in complaint


def test_sections_are_one_click_away(page, finished):
    page.go("#/")
    for name, route in (("datasets", "#/datasets"), ("networks", "#/networks"), ("weights", "#/weights"),
                        ("submit", "#/submit"), ("home", "#/")):
        page.click(of(f"nav-{name}"))
        page.until(lambda r=route: page.script("return location.hash") == r, f"the address {route}")
        page.until(lambda n=name: page.script("return document.querySelector('[aria-current=page]').dataset.section") == n,
                   f"{name} marked as current")
        page.until(lambda: page.count("main h1") == 1, "one heading")


def test_an_address_that_leads_nowhere(page):
    page.go("#/nowhere/at/all")
    page.shown(of("view-error"), "No such page")
    page.click(of("brand"))
    page.gone(of("view-error"))


def test_colours_follow_the_system_and_the_switch(page):
    def theme():
        return page.script("return document.documentElement.dataset.theme")

    page.go("#/")
    page.shown(of("theme"))
    assert theme() == "light"
    page.scheme("dark")
    page.until(lambda: theme() == "dark", "dark as the system")
    page.click(of("theme"))  # from the system's to light
    page.until(lambda: theme() == "light", "light by choice")
    page.go("#/datasets")
    page.shown(of("theme"))
    assert theme() == "light", "the choice was forgotten"
    page.click(of("theme"))
    page.until(lambda: theme() == "dark", "dark by choice")


def test_tab_reaches_the_content_first_by_the_skip_link(page):
    page.go("#/")
    page.shown(of("brand"))
    page.keys(Keys.TAB)
    assert page.script("return document.activeElement.className") == "skip"
    page.keys(Keys.ENTER)
    assert page.script("return document.activeElement.id") == "main"


@pytest.fixture
def frozen_parent(daemon):
    """The parent of the server, which starts it anew when it has died, stands still until it is asked to go on."""
    [parent] = daemon.pids("parent")
    os.kill(parent, signal.SIGSTOP)
    yield lambda: os.kill(parent, signal.SIGCONT)
    os.kill(parent, signal.SIGCONT)
    daemon.wait_ready()


def test_a_lost_server_is_said_and_comes_back(page, daemon, finished, frozen_parent):
    page.go(f"#/jobs/{finished[0]['id']}")
    page.shown("main h1", "finished")
    [serve] = daemon.pids("serve")
    os.kill(serve, signal.SIGKILL)
    page.shown(of("banner"), "cannot be reached")
    page.picture("server-away")
    assert "finished" in page.body(), "what was there is gone"
    frozen_parent()
    page.shown(of("banner"), "back")
    page.gone(of("banner"))
    daemon.wait_ready()
    changed = daemon.request("PATCH", f"/v1/jobs/{finished[0]['id']}", json={"notes": "written after the fall"})
    assert changed.status_code == 200, changed.text
    page.until(lambda: "written after the fall" in page.body() + page.script(
        "return [...document.querySelectorAll('textarea, input')].map(e => e.value).join()"), "what is new after the fall")
    assert all("ERR_" in text or "502" in text or "503" in text for text in page.complaints())


@pytest.fixture(scope="module")
def closed():
    """A daemon of its own that asks for a token, since the first token closes the door for everyone."""
    with assay.Daemon() as daemon:
        made = subprocess.run([assay.BINARY, "token", "create", "--role", "viewer", "--name", "reader"], check=True,
                              env=daemon.options, capture_output=True, text=True)
        daemon.token = made.stdout.strip()

        wait_until(lambda: requests.get(daemon.url + "/v1/jobs", timeout=10).status_code == 401, "a closed door")
        yield daemon


def test_a_late_refusal_of_the_last_token_asks_for_nothing(page, chrome, closed):
    """A slow answer to the wrong token may come when the right one is entered."""
    there = Page(chrome, closed)
    there.go("#/")
    there.shown(of("signin-box"), "Access token")
    there.script("""const own = window.fetch;
        window.late = 0;
        window.fetch = async (address, options) => {
          const answer = await own(address, options);
          if (answer.status === 401 && String(address).includes('/v1/jobs')) {
            await new Promise((done) => setTimeout(done, 3000));
            window.late += 1;
          }
          return answer;
        };""")
    there.fill(of("token"), "not-the-token")
    there.click(of("signin"))
    there.shown(of("signin-box"), "refused")
    there.fill(of("token"), closed.token)
    there.click(of("signin"))
    there.gone(of("signin-box"))
    there.until(lambda: there.script("return window.late") > 0, "the late refusal")
    there.shown("main h1")
    time.sleep(1)
    assert there.texts(of("signin-box")) == [], "a token was asked for again"
    there.complaints()


def test_a_token_opens_the_page(page, chrome, closed):
    there = Page(chrome, closed)
    there.go("#/")
    there.shown(of("signin-box"), "Access token")
    there.picture("sign-in")
    there.fill(of("token"), "not-the-token")
    there.click(of("signin"))
    there.shown(of("signin-box"), "refused")
    there.fill(of("token"), closed.token)
    there.click(of("signin"))
    there.gone(of("signin-box"))
    there.shown("main h1")
    there.driver.refresh()
    there.shown("main h1")
    assert there.texts(of("signin-box")) == [], "the token was forgotten within the tab"
    there.click(of("signout"))
    there.shown(of("signin-box"))
    assert all("401" in text for text in there.complaints())
