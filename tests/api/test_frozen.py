"""PostgreSQL says nothing any more, as with a hung disk or host: requests that need it are refused
in time, what does not need it is answered as ever, and all goes on when it wakes up."""
import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
import requests
from assay import processes
from conftest import CheckedDaemon, wait_until

PATIENCE = 15  # seconds that a statement is waited for
PROMPT = 8     # what needs no database is answered well before


@pytest.fixture
def own():
    with CheckedDaemon(ASSAY_POLL_SECONDS="1") as daemon:
        yield daemon


def postgres_tree(daemon):
    [top] = daemon.pids("postgres")
    return [top] + [pid for pid, (parent, _) in processes().items() if parent == top]


def timed(url, **kwargs):
    begun = time.monotonic()
    answer = requests.get(url, timeout=60, **kwargs)
    return answer, time.monotonic() - begun


def prompt(daemon, path, status, **kwargs):
    answer, took = timed(daemon.url + path, **kwargs)
    assert answer.status_code == status and took < PROMPT, (path, answer.status_code, took)
    return answer


def test_a_frozen_database_stops_nothing_else(own):
    made = own.post("/v1/experiments", {"name": "before"})
    poll = own.request("GET", "/v1/jobs")
    tag = {"If-None-Match": poll.headers["ETag"]}
    with ThreadPoolExecutor(16) as pool:
        # Every connection of the pool is open, every request thread has been at work.
        assert {a.status_code for a, _ in pool.map(lambda i: timed(f"{own.url}/v1/jobs?search=x{i}"), range(64))} == {200}
        prompt(own, "/v1/jobs", 304, headers=tag)
        frozen = postgres_tree(own)
        try:
            for pid in frozen:
                os.kill(pid, signal.SIGSTOP)
            asked = [pool.submit(timed, f"{own.url}/v1/jobs?search=y{i}") for i in range(10)]
            time.sleep(3)  # they hold all request threads
            for _ in range(2):
                prompt(own, "/healthz", 200)
                prompt(own, "/openapi.json", 200)
                text = prompt(own, "/metrics", 200).text
                assert "assay_database_answers 0" in text and "assay_http_running" in text
                assert "assay_jobs " not in text
                prompt(own, "/v1/jobs", 304, headers=tag)
                time.sleep(4)  # beyond the time for which a right to read is kept
            for answer, took in (f.result() for f in asked):
                assert answer.status_code == 503 and took < PATIENCE + 15, (answer.text, took)
                assert answer.json()["code"] in ("database_unavailable", "overloaded")
            # From now on it is known: nobody else waits as long.
            for answer, took in pool.map(lambda i: timed(f"{own.url}/v1/jobs?search=z{i}"), range(10)):
                assert answer.status_code == 503 and took < PATIENCE - 3, (answer.text, took)
            prompt(own, "/healthz", 200)
        finally:
            for pid in frozen:
                os.kill(pid, signal.SIGCONT)
    wait_until(lambda: own.request("GET", f"/v1/experiments/{made['id']}", check=False).status_code == 200)
    assert "assay_database_answers 1" in own.request("GET", "/metrics").text
    assert own.post("/v1/experiments", {"name": "after"})["name"] == "after"
