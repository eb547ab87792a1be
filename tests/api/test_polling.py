"""ETags, long polls, the event stream."""
import json
import threading
import time

import pytest
import requests
from conftest import UNKNOWN_ID, long_job, spec, wait_until


@pytest.mark.parametrize("path", ["/v1/jobs/{job}", "/v1/jobs/{job}/trials", "/v1/jobs/{job}/results",
                                  "/v1/jobs/{job}/results.csv", "/v1/trials/{trial}", "/v1/trials/{trial}/metrics",
                                  "/v1/trials/{trial}/evaluations", "/v1/trials/{trial}/confusion-matrix",
                                  "/v1/trials/{trial}/predictions", "/v1/trials/{trial}/log", "/v1/trials/{trial}/profile", "/v1/jobs?limit=3",
                                  "/v1/datasets?limit=3", "/v1/datasets/{dataset}"])
def test_an_unchanged_thing_is_not_sent_again(daemon, dataset, finished, trial, path):
    path = path.format(job=finished[0]["id"], trial=trial["id"], dataset=dataset["id"])
    first = daemon.request("GET", path)
    again = daemon.request("GET", path, headers={"If-None-Match": first.headers["ETag"]})
    assert again.status_code == 304 and again.headers["ETag"] == first.headers["ETag"]
    other = daemon.request("GET", path, headers={"If-None-Match": '"something-else"'})
    assert other.status_code == 200 and other.content == first.content
    weak = daemon.request("GET", path, headers={"If-None-Match": 'W/' + first.headers["ETag"]})
    assert weak.status_code == 304


def test_the_query_is_part_of_the_tag(daemon, finished):
    path = f"/v1/jobs/{finished[0]['id']}/trials"
    tags = {daemon.request("GET", path + q).headers["ETag"] for q in ("", "?limit=2", "?limit=3", "?sort=best")}
    assert len(tags) == 4
    a = daemon.request("GET", path + "?limit=2&sort=best").headers["ETag"]
    assert a == daemon.request("GET", path + "?sort=best&limit=2").headers["ETag"]
    daemon.request("GET", path + "?limit=2&wait=1", headers={"If-None-Match": '"x"'})


def test_values_that_trade_places_are_another_query(daemon, trial):
    """Answers are kept by a hash of the query: neighbours must not meet in it."""
    path = f"/v1/trials/{trial['id']}/predictions"
    tags = {daemon.request("GET", f"{path}?true={t}&predicted={p}&limit={n}").headers["ETag"]
            for t in range(3) for p in range(3) for n in range(1, 8)}
    assert len(tags) == 63


def test_a_wait_ends_with_the_change(daemon, dataset):
    job = daemon.submit(long_job(dataset, name="waited for"))
    daemon.post(f"/v1/jobs/{job['id']}/cancel")
    daemon.wait_job(job["id"])
    for path, unchanged in ((f"/v1/jobs/{job['id']}", 0.5), (f"/v1/jobs/{job['id']}/trials", 0.5), ("/v1/jobs?search=waited", 0.5)):
        tag = daemon.request("GET", path).headers["ETag"]
        joint = "&" if "?" in path else "?"
        answers = []
        thread = threading.Thread(target=lambda: answers.append(
            requests.get(f"{daemon.url}{path}{joint}wait=30", headers={"If-None-Match": tag}, timeout=60)))
        thread.start()
        time.sleep(unchanged)
        assert not answers
        daemon.request("PATCH", f"/v1/jobs/{job['id']}", json={"notes": path})
        thread.join(60)
        assert answers and answers[0].status_code == 200 and answers[0].headers["ETag"] != tag


def test_a_wait_without_a_change_ends_unchanged(daemon, finished):
    path = f"/v1/jobs/{finished[0]['id']}"
    tag = daemon.request("GET", path).headers["ETag"]
    begun = time.monotonic()
    answer = daemon.request("GET", path + "?wait=1", headers={"If-None-Match": tag})
    assert answer.status_code == 304 and 0.9 < time.monotonic() - begun < 30
    assert daemon.request("GET", path + "?wait=30").status_code == 200


def events(daemon, query="", last=None, count=1, timeout=60):
    """The first `count` events of a stream."""
    headers = {"Last-Event-ID": str(last)} if last is not None else {}
    found = []
    with requests.get(f"{daemon.url}/v1/events{query}", headers=headers, stream=True, timeout=timeout) as answer:
        assert answer.status_code == 200 and answer.headers["Content-Type"].startswith("text/event-stream")
        event = {}
        for line in answer.iter_lines(decode_unicode=True):
            if not line:
                if "data" in event:
                    found.append(event)
                event = {}
                if len(found) >= count:
                    return found
            elif not line.startswith(":"):
                key, _, value = line.partition(": ")
                event[key] = value
    return found


def test_the_stream_goes_on_where_it_was_left(daemon, dataset):
    job = daemon.submit(spec(dataset, training={"epochs": 1, "solver": "sgdm"}))
    first = events(daemon, f"?job={job['id']}&after=0", count=1)
    assert json.loads(first[0]["data"])["job"] == job["id"]
    daemon.wait_job(job["id"])
    with daemon.database() as connection, connection.cursor() as cursor:
        cursor.execute("select id, kind from event where job_id = %s order by id", (job["id"],))
        stored = cursor.fetchall()
    rest = events(daemon, f"?job={job['id']}", last=first[0]["id"], count=len(stored) - 1)
    seen = [(int(e["id"]), e["event"]) for e in first + rest]
    assert seen == stored
    for event in rest:
        data = json.loads(event["data"])
        assert data["id"] == int(event["id"]) and data["kind"] == event["event"]
    revisions = [json.loads(e["data"])["revision"] for e in first + rest]
    assert revisions == sorted(set(revisions))


def test_the_stream_tells_as_it_happens(daemon, finished):
    got = []
    thread = threading.Thread(target=lambda: got.extend(events(daemon, f"?job={finished[0]['id']}", count=1)))
    thread.start()
    time.sleep(0.7)
    assert not got
    for n in range(60):  # a stream that is not open yet hears the next
        daemon.request("PATCH", f"/v1/jobs/{finished[0]['id']}", json={"notes": f"streamed {n}"})
        thread.join(1)
        if not thread.is_alive():
            break
    assert got and json.loads(got[0]["data"])["job"] == finished[0]["id"]


def test_a_stream_of_nothing_is_refused(daemon):
    daemon.refused("GET", f"/v1/events?job={UNKNOWN_ID}", 404, "not_found")


def test_polls_while_it_trains_see_the_revision_rise(daemon, running):
    job, trial = running
    seen = [daemon.get(f"/v1/jobs/{job['id']}")["revision"]]
    wait_until(lambda: daemon.get(f"/v1/jobs/{job['id']}")["revision"] > seen[0])
    before = daemon.get(f"/v1/trials/{trial['id']}")["step"]
    wait_until(lambda: daemon.get(f"/v1/trials/{trial['id']}")["step"] > before)
