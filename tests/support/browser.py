"""A real browser for tests: Debian's Chromium without a window, driven by its own driver.

Everything waits for a condition; nothing waits for a time. The page redraws what it shows while it is
looked at, so elements are asked for anew each time and never kept."""
import json
import pathlib
import time

from selenium import webdriver
from selenium.common.exceptions import (ElementClickInterceptedException, ElementNotInteractableException,
                                        JavascriptException, NoSuchElementException, StaleElementReferenceException)
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

PICTURES = pathlib.Path(__file__).resolve().parents[2] / "build/browser"
PASSING = (StaleElementReferenceException, ElementClickInterceptedException, ElementNotInteractableException,
           NoSuchElementException, JavascriptException)
# No sandbox: root and chroots have none, and only our own page is ever opened. /dev/shm may be missing or small.
ARGUMENTS = ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--no-proxy-server",
             "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync",
             "--disable-extensions", "--hide-scrollbars", "--lang=en-US")
FORGET = """
    for (const name of ['localStorage', 'sessionStorage']) {
        try {
            if (window[name].getItem('forgotten') !== 'NOW') {
                window[name].clear();
                window[name].setItem('forgotten', 'NOW');
            }
        } catch { /* about:blank has neither */ }
    }"""
# Lets tests see whether the page waits for an answer.
COUNT_REQUESTS = """(() => {
    const plain = window.fetch;
    window.underWay = 0;
    window.fetch = (...all) => {
        window.underWay++;
        return plain(...all).finally(() => { setTimeout(() => { window.underWay--; }); });
    };
})()"""


def of(name):
    """The selector of the element that is called so for tests."""
    return f'[data-test="{name}"]'


class Browser:
    """One browser with one tab. A context manager."""

    def __init__(self, record_requests=False):
        options = Options()
        options.binary_location = "/usr/bin/chromium"
        for argument in ARGUMENTS:
            options.add_argument(argument)
        logs = {"browser": "ALL", **({"performance": "ALL"} if record_requests else {})}
        options.set_capability("goog:loggingPrefs", logs)
        options.ignore_local_proxy_environment_variables()
        self.driver = webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))
        self.driver.set_page_load_timeout(60)
        self.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": COUNT_REQUESTS})
        self.patience = 30
        self.forgetting = None
        self.window(1280)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.driver.quit()

    def forget(self):
        """From now on each page begins without what pages before kept in the browser. Done by the page itself, before its
        scripts: a command to the browser reaches it only after a moment."""
        if self.forgetting:
            self.driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", {"identifier": self.forgetting})
        self.forgetting = self.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument",
                                                      {"source": FORGET.replace("NOW", str(time.time_ns()))})["identifier"]

    # ------------------------------------------------------------------------------------ the window

    def window(self, width, height=900):
        """The size of what the page gets to see, to the pixel."""
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600})

    def scheme(self, name):
        """What the person prefers: light or dark."""
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia",
                                    {"features": [{"name": "prefers-color-scheme", "value": name}]})

    def picture(self, name):
        """Keeps what the tab shows as build/browser/<name>.png."""
        PICTURES.mkdir(parents=True, exist_ok=True)
        self.driver.save_screenshot(str(PICTURES / f"{name}.png"))

    def open(self, address):
        """Loads the address anew, also where only the part behind # differs."""
        self.driver.get("about:blank")
        self.driver.get(address)

    def script(self, text, *arguments):
        return self.driver.execute_script(text, *arguments)

    # -------------------------------------------------------------------------------------- waiting

    def until(self, condition, what):
        """The first true value of condition(); elements that have just gone are asked for again."""
        deadline, value = time.monotonic() + self.patience, None
        while time.monotonic() < deadline:
            try:
                value = condition()
                if value:
                    return value
            except PASSING:
                pass
            time.sleep(0.02)
        raise AssertionError(f"not within {self.patience} s: {what}; last {value!r}; page: {self.body()[-1500:]!r}")

    def body(self):
        return self.script("return document.body ? document.body.innerText : ''")

    def body_of(self, selector):
        """All that stands in an element."""
        return self.script("return document.querySelector(arguments[0]).innerText", selector)

    def count(self, selector):
        return self.script("return document.querySelectorAll(arguments[0]).length", selector)

    def texts(self, selector):
        """What a person reads in each of the elements that are shown, in their order."""
        return self.script("""return [...document.querySelectorAll(arguments[0])]
            .filter(e => e.getClientRects().length).map(e => (e.innerText ?? e.textContent).trim())""", selector)

    def rows(self, selector):
        """The cells of each row of a table's body that is shown."""
        return self.script("""return [...document.querySelectorAll(arguments[0] + ' tbody tr')]
            .filter(r => r.getClientRects().length).map(r => [...r.cells].map(c => c.innerText.trim()))""", selector)

    def all_experiments(self):
        """On the list of jobs: cards of every experiment, not of the newest few."""
        self.shown(of("experiment-card"))
        if self.count(of("all-experiments") + ":not([hidden])"):
            self.click(of("all-experiments"))

    def shown(self, selector, text=""):
        """Waits until an element is shown that holds the text; returns its whole text."""
        def look():
            found = [t for t in self.texts(selector) if text in t]
            return [found[0]] if found else None
        return self.until(look, f"{selector} with {text!r}")[0]

    def gone(self, selector):
        self.until(lambda: not self.texts(selector), f"no more {selector}")

    def quiet(self):
        """Waits until the page waits for nothing and two looks at it, some frames apart, see the same."""
        def looks_the_same():
            before = self.script("return window.underWay === 0 && document.body.innerHTML.length")
            self.driver.execute_async_script("""const done = arguments[0];
                requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))));""")
            return before and before == self.script("return window.underWay === 0 && document.body.innerHTML.length")
        self.until(looks_the_same, "a page at rest")

    # --------------------------------------------------------------------------------------- acting

    def click(self, selector, n=0):
        def try_it():
            self.driver.find_elements(By.CSS_SELECTOR, selector)[n].click()
            return True
        self.until(lambda: self.count(selector) > n and try_it(), f"a click on {selector}")

    def fill(self, selector, text):
        """Replaces what stands in a field, as a person would."""
        def try_it():
            field = self.driver.find_element(By.CSS_SELECTOR, selector)
            field.send_keys(Keys.CONTROL + "a")
            field.send_keys(text or Keys.DELETE)
            return True
        self.until(try_it, f"typing into {selector}")

    def choose(self, selector, value):
        """Picks an option of a select by its value."""
        def try_it():
            option = self.driver.find_element(By.CSS_SELECTOR, f'{selector} option[value="{value}"]')
            option.click()
            return True
        self.until(try_it, f"option {value} of {selector}")

    def attach(self, selector, path):
        """Chooses a file in a field for files."""
        self.driver.find_element(By.CSS_SELECTOR, selector).send_keys(str(path))

    def keys(self, *keys):
        """Presses keys wherever the focus is."""
        self.driver.switch_to.active_element.send_keys(*keys)

    # ------------------------------------------------------------------------------------ what it says

    def complaints(self):
        """Errors of scripts, refused contents and failed requests since the last call."""
        return [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] == "SEVERE"]

    def network_events(self):
        """[(method, parameters)] of the protocol's network events since the last call."""
        events = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        return [(e["method"], e["params"]) for e in events if e["method"].startswith("Network.")]

    def heap_bytes(self):
        """What scripts hold, after the garbage is gone."""
        for _ in range(3):
            self.driver.execute_cdp_cmd("HeapProfiler.collectGarbage", {})
        return self.driver.execute_cdp_cmd("Runtime.getHeapUsage", {})["usedSize"]
