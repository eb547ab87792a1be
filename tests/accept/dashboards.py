#!/usr/bin/python3
"""Row 9: 50 dashboards, each polling a job, its trial table and two curves once a second with ETags,
while two trials train. Latencies of all requests, and processor use of `serve` and PostgreSQL.

usage: dashboards.py [--clients 50] [--seconds 30]     one JSON line
"""
import argparse
import http.client
import os
import pathlib
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support.assay import Daemon, blobs_idx, print_row, processes  # noqa: E402

TICKS = os.sysconf("SC_CLK_TCK")
SPEC = {"kind": "solver_comparison", "training": {"epochs": 10000, "batch_size": 32, "validation_frequency": 200},
        "search": {"strategy": "grid", "parameters": {"training.solver": ["sgdm", "adam"]}}}


class Dashboard(threading.Thread):
    """One client on one keep-alive connection."""

    def __init__(self, daemon, paths, start, rounds):
        super().__init__(daemon=True)
        self.port, self.paths, self.start_at, self.rounds = daemon.port, paths, start, rounds
        self.latencies, self.statuses = [], {}

    def run(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        tags = {}
        for n in range(self.rounds):
            time.sleep(max(0, self.start_at + n - time.monotonic()))
            for path in self.paths:
                began = time.monotonic()
                connection.request("GET", path, headers={"If-None-Match": tags[path]} if path in tags else {})
                answer = connection.getresponse()
                answer.read()
                self.latencies.append(time.monotonic() - began)
                self.statuses[answer.status] = self.statuses.get(answer.status, 0) + 1
                tags[path] = answer.headers.get("ETag", tags.get(path, ""))


def cpu_seconds(pids):
    total = 0
    for pid in pids:
        try:
            fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
        except OSError:
            continue
        total += (int(fields[11]) + int(fields[12])) / TICKS
    return total


def server_pids(daemon):
    """serve, and PostgreSQL with its backends."""
    postmasters = set(daemon.pids("postgres"))
    return daemon.pids("serve"), [p for p, (parent, _) in processes().items() if parent in postmasters or p in postmasters]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--seconds", type=int, default=30)
    options = parser.parse_args()
    with Daemon(ASSAY_CORES="2") as daemon:
        dataset = daemon.create_dataset(blobs_idx(n_train=2000, n_test=300, side=20), "idx")["id"]
        job = daemon.submit({**SPEC, "dataset": dataset})["id"]
        while [t["state"] for t in daemon.trials(job)].count("running") < 2:
            time.sleep(0.2)
        trials = [t["id"] for t in daemon.trials(job)]
        paths = [f"/v1/jobs/{job}", f"/v1/jobs/{job}/trials"]
        paths += [f"/v1/trials/{t}/metrics?names=training_loss&max_points=500" for t in trials]
        start = time.monotonic() + 1
        clients = [Dashboard(daemon, paths, start + i / options.clients, options.seconds) for i in range(options.clients)]
        for client in clients:
            client.start()
        time.sleep(3)
        serve, postgres = server_pids(daemon)
        before, began = (cpu_seconds(serve), cpu_seconds(postgres)), time.monotonic()
        for client in clients:
            client.join()
        took = time.monotonic() - began
        use = [round((cpu_seconds(p) - b) / took, 4) for p, b in zip((serve, postgres), before)]
        running = [t["state"] for t in daemon.trials(job)].count("running")
        daemon.post(f"/v1/jobs/{job}/cancel")
    latencies = sorted(x for c in clients for x in c.latencies)
    statuses = {}
    for client in clients:
        for status, n in client.statuses.items():
            statuses[status] = statuses.get(status, 0) + n
    p99 = latencies[int(len(latencies) * 0.99)] * 1000
    print_row(row=9, requests=len(latencies), statuses=statuses, p50_ms=round(latencies[len(latencies) // 2] * 1000, 2),
              p99_ms=round(p99, 2), max_ms=round(latencies[-1] * 1000, 2), serve_cores=use[0], postgres_cores=use[1],
              still_training=running)
    return 0 if p99 <= 20 and sum(use) <= 0.05 and set(statuses) <= {200, 304} else 1


sys.exit(main())
