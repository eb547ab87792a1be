#!/usr/bin/python3
"""Row 4.5: the page over a job of 5,000 trials and ten curves of 100,000 points: first useful paint at
most 1 s (median of five loads with an empty cache), no answer above 1 MB, and after ten minutes of
polling, with new points every two seconds, at most a tenth more of the browser's heap than after two.

usage: page.py [--minutes 10]     one JSON line; the heap is first looked at after a fifth of the time
"""
import argparse
import pathlib
import statistics
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import history  # noqa: E402
from support.assay import Daemon, blobs_idx, print_row  # noqa: E402
from support.browser import Browser  # noqa: E402

PAINT_MS, ANSWER_BYTES, GROWTH, LOADS = 1000, 1_000_000, 0.10, 5
POINTS, EVERY, MORE = 100_000, 2.0, 20
# The moment at which what one came for was first drawn: two frames after it stands in the page.
WATCH = """(() => {
    const look = new MutationObserver(() => {
        if (document.querySelector(%s)) {
            look.disconnect();
            requestAnimationFrame(() => requestAnimationFrame(() => { window.drawnAt = performance.now(); }));
        }
    });
    look.observe(document, {childList: true, subtree: true});
})()"""
ROWS = "'[data-test=\"trial-row\"]'"
CURVES = "'[data-test=\"curves\"] canvas'"


class Watched:
    """A browser that keeps one route open, and what the server answered to it."""

    def __init__(self, address, sought):
        self.browser, self.address = Browser(record_requests=True), address
        self.names, self.sizes = {}, {}
        self.browser.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": WATCH % sought})

    def load(self):
        """Milliseconds from the start of loading to the first useful picture."""
        self.browser.driver.execute_cdp_cmd("Network.clearBrowserCache", {})
        self.browser.open(self.address)
        drawn = self.browser.until(lambda: self.browser.script("return window.drawnAt"), f"a picture at {self.address}")
        self.count_answers()
        return round(drawn, 1)

    def count_answers(self):
        for method, event in self.browser.network_events():
            if method == "Network.requestWillBeSent":
                self.names[event["requestId"]] = event["request"]["url"].rpartition("/v1")[2]
            elif method == "Network.dataReceived":
                self.sizes[event["requestId"]] = self.sizes.get(event["requestId"], 0) + event["dataLength"]

    def largest(self):
        """Bytes of the longest answer, and what was asked."""
        return max((size, self.names.get(request, "")) for request, size in self.sizes.items())


def polled(views, daemon, job, trials, minutes):
    """Heaps of the views early and late, while points come in."""
    began, step, heaps = time.monotonic(), POINTS + 1, {}
    for name, until in (("early", minutes * 12), ("late", minutes * 60)):
        while time.monotonic() - began < until:
            history.append_points(daemon, job, trials, step, MORE)
            step += MORE
            for view in views:
                view.count_answers()
            time.sleep(EVERY)
        heaps[name] = [view.browser.heap_bytes() for view in views]
    return heaps


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=10)
    options = parser.parse_args()
    with Daemon(ASSAY_MAX_TRIALS="5000") as daemon:
        dataset = daemon.create_dataset(blobs_idx(), "idx")
        sample = daemon.wait_job(daemon.submit({"kind": "solver_comparison", "dataset": dataset["id"],
                                                "training": {"epochs": 2, "batch_size": 32}})["id"])[0]
        job = history.fill_job(daemon, dataset, sample)["id"]
        trials = [t["id"] for t in daemon.get(f"/v1/jobs/{job}/trials?limit=10")["items"]]
        history.fill_curves(daemon, job, trials, POINTS)
        views = [Watched(f"{daemon.url}/#/jobs/{job}", ROWS),
                 Watched(f"{daemon.url}/#/compare?trials={','.join(trials)}", CURVES)]
        try:
            paints = [[view.load() for _ in range(LOADS)] for view in views]
            heaps = polled(views, daemon, job, trials, options.minutes)
        finally:
            for view in views:
                view.browser.driver.quit()
    largest = max(view.largest() for view in views)
    growth = [round(late / early - 1, 4) for early, late in zip(heaps["early"], heaps["late"])]
    medians = [statistics.median(p) for p in paints]
    print_row(row=4.5, paint_ms_trials=paints[0], paint_ms_curves=paints[1], largest_answer_bytes=largest[0],
              largest_answer=largest[1], answers=[len(v.sizes) for v in views], minutes=options.minutes,
              heap_bytes=heaps, heap_growth=growth)
    return 0 if max(medians) <= PAINT_MS and largest[0] <= ANSWER_BYTES and max(growth) <= GROWTH else 1


sys.exit(main())
