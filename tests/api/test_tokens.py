"""Tokens over their life: whose name the audit trail bears, and what happens to those who wait when
a token comes or goes."""
import subprocess
import threading
import time

import pytest
import requests
from assay import BINARY
from conftest import CheckedDaemon, wait_until

HEARTBEAT = 15  # of an event stream, seconds
KEPT = 5        # how long an answer to "who is this?" is kept


@pytest.fixture(scope="module")
def own():
    with CheckedDaemon(ASSAY_POLL_SECONDS="1") as daemon:
        yield daemon


def run(daemon, *arguments):
    return subprocess.run([BINARY, "token", *arguments], env={**daemon.options}, check=True,
                          capture_output=True, text=True)


def make(daemon, name, role="admin"):
    """Headers with a new token, and its id."""
    made = run(daemon, "create", "--role", role, "--name", name)
    return {"Authorization": f"Bearer {made.stdout.strip()}"}, made.stderr.split()[1].rstrip(";")


class Stream:
    """An event stream that is read in the background."""

    def __init__(self, daemon, headers):
        self.answer = requests.get(daemon.url + "/v1/events", headers=headers, stream=True, timeout=60)
        assert self.answer.status_code == 200
        self.text, self.ended = "", None
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def read(self):
        for piece in self.answer.iter_content(1):
            self.text += piece.decode()
        self.ended = time.monotonic()


def upload(daemon, headers, name):
    answer = daemon.request("POST", "/v1/datasets", headers=headers,
                            json={"name": name, "layout": "archive", "files": [{"name": "a.zip"}]})
    assert answer.status_code == 201, answer.text
    return answer.json()


def test_a_life_with_tokens(own):
    """In one piece, since each step needs what the one before has left."""
    open_stream = Stream(own, {})
    before = upload(own, {}, "before")
    wait_until(lambda: before["id"] in open_stream.text, 30)
    assert '"actor":"loopback"' in open_stream.text

    # The first token closes the door, also for those who are inside.
    alice, alice_id = make(own, "alice")
    wait_until(lambda: own.request("GET", "/v1/jobs").status_code == 401, KEPT + 5)
    assert own.request("POST", "/v1/experiments", json={"name": "hers"}, headers=alice).json()["created_by"] == "alice"
    secret = upload(own, alice, "secret")
    wait_until(lambda: open_stream.ended, HEARTBEAT + KEPT + 5)
    assert secret["id"] not in open_stream.text

    # What alice does bears her name, in documents and in events.
    stream, poll = Stream(own, alice), {}
    hers = upload(own, alice, "second")
    wait_until(lambda: hers["id"] in stream.text, 30)
    assert '"actor":"alice"' in stream.text and "loopback" not in stream.text

    # A revoked token ends its stream and its long poll.
    def wait_long():
        shown = own.get(f"/v1/datasets/{hers['id']}", headers=alice)
        tag = requests.get(f"{own.url}/v1/datasets/{hers['id']}", headers=alice, timeout=60).headers["ETag"]
        poll["answer"] = requests.get(f"{own.url}/v1/datasets/{hers['id']}?wait=12", timeout=60,
                                      headers={**alice, "If-None-Match": tag})
        assert shown["id"] == hers["id"]
    waiting = threading.Thread(target=wait_long, daemon=True)
    waiting.start()
    time.sleep(1)
    bob, bob_id = make(own, "bob")
    run(own, "revoke", "--id", alice_id)
    wait_until(lambda: own.request("GET", "/v1/jobs", headers=alice).status_code == 401, KEPT + 5)
    later = upload(own, bob, "later")
    wait_until(lambda: stream.ended, HEARTBEAT + KEPT + 5)
    assert later["id"] not in stream.text
    waiting.join(30)
    assert poll["answer"].status_code == 401, poll["answer"].text

    # The last one opens nothing by its end: only the machine's operator comes in again.
    run(own, "revoke", "--id", bob_id)
    wait_until(lambda: own.request("GET", "/v1/jobs", headers=bob).status_code == 401, KEPT + 5)
    until = time.monotonic() + KEPT + 2
    while time.monotonic() < until:
        own.refused("GET", "/v1/jobs", 401, "unauthenticated")
        time.sleep(0.5)
    own.refused("POST", "/v1/experiments", 401, "unauthenticated", json={"name": "anyone"})
    carol, _ = make(own, "carol")
    assert own.request("GET", "/v1/jobs", headers=carol).status_code == 200


def test_names_of_tokens(own):
    for name in ("", "two\nlines", "\u009b2J", "x" * 96):
        done = subprocess.run([BINARY, "token", "create", "--name", name], env={**own.options},
                              capture_output=True, text=True)
        assert done.returncode == 1 and "name" in done.stderr and not done.stdout, (name, done)
