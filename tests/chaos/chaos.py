#!/usr/bin/python3
"""Kills processes of a running daemon at random moments while trials run, then compares: the points
of every trial must equal those of an uninterrupted run, every trial must end completed, and the
invariants of tests/chaos/invariants.sql must hold.

usage: chaos.py [--kills N] [--roles trial,work,serve,postgres,parent] [--seed S]
Closes with "N passed, N failed"; one check per role and job, one per invariant and role.
"""
import argparse
import os
import pathlib
import random
import signal
import sys
import time
import uuid

import requests

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support.assay import Daemon, blobs_idx, print_row  # noqa: E402
from support.courses import LABELLED, runs, table  # noqa: E402
from support.outcome import differences, outcome, query  # noqa: E402

ROLES = ["trial", "work", "serve", "postgres", "parent"]
INVARIANTS = pathlib.Path(__file__).with_name("invariants.sql")
OPTIONS = {"ASSAY_LEASE_SECONDS": "6", "ASSAY_LOG_LEVEL": "info"}
# Long enough that several kills hit one trial, with a checkpoint every half second to resume from.
TRAINING = {"epochs": 12, "batch_size": 16, "shuffle": "every_epoch", "validation_frequency": 50,
            "checkpoint_interval_seconds": 0.5}


def make_specs(daemon):
    """Jobs of two kinds, which take turns."""
    images = daemon.create_dataset(blobs_idx(n_train=1500, n_test=300, side=20), "idx")["id"]
    courses = daemon.create_dataset({"train.csv": table(runs(60, 1)), "test.csv": table(runs(20, 2))}, "table", name="courses", table=LABELLED)["id"]
    common = {"max_attempts": 20, "seeds": [1, 2]}
    return [{"kind": "solver_comparison", "dataset": images, **common, "network": {"name": "simple_cnn", "filters": 24}, "training": TRAINING},
            {"kind": "sequence_classification", "dataset": courses, **common, "split": {"validation": 0.2},
             "network": {"name": "bilstm", "task": "classification", "units": 48, "dropout": 0.2},
             "training": {**TRAINING, "epochs": 100, "ema_decay": 0.9}}]


def violated(daemon):
    """[(invariant's name, rows)] of those that do not hold."""
    broken = []
    lines = [line for line in INVARIANTS.read_text().splitlines() if not line.startswith("--")]
    for body in "\n".join(lines).split(";"):
        if body.strip():
            rows = query(daemon, body)
            if rows:
                broken.append((rows[0][0], rows[:3]))
    return broken


def kill(daemon, role, rng):
    """Kills one process of the role; False when there is none just now."""
    pids = daemon.pids(role)
    if not pids:
        return False
    try:
        os.kill(rng.choice(pids), signal.SIGKILL)
    except ProcessLookupError:  # it ended by itself meanwhile
        return False
    if role == "parent":
        daemon.process.wait()
        time.sleep(rng.uniform(0, 1))
        daemon.start()
    return True


def submit(daemon, spec):
    """Submits until it is answered, under one key: just now a process may be gone."""
    key = {"Idempotency-Key": str(uuid.uuid4())}
    while True:
        try:
            return daemon.submit(spec, headers=key)
        except (requests.RequestException, AssertionError):
            time.sleep(0.2)


def run_role(daemon, role, kills, specs, expected, rng):
    """Kills until the count is reached, submitting the next job whenever one is through."""
    done, jobs, job = 0, [], None
    while done < kills or job is not None:
        if job is None:
            daemon.wait_ready()
            job = submit(daemon, specs[len(jobs) % len(specs)])
            jobs.append(job["id"])
        if rng.random() < 0.8:  # mostly while trials run and are told; else in the middle of a start
            daemon.wait_ready()
        time.sleep(rng.uniform(0.2, 2.5))
        if done < kills:
            done += kill(daemon, role, rng)
        try:
            finished = daemon.get(f"/v1/jobs/{job['id']}")["state"] in ("completed", "failed", "stopped", "cancelled")
        except (requests.RequestException, AssertionError):
            finished = False
        job = None if finished else job
    return [compare(daemon, job_id, expected[i % len(specs)]) for i, job_id in enumerate(jobs)]


def compare(daemon, job_id, expected):
    """"" when the job equals the uninterrupted one, else what differs."""
    states = {t["state"] for t in daemon.wait_job(job_id)}
    if states != {"completed"}:
        return f"trials ended {sorted(states)}"
    got = outcome(daemon, job_id)
    wrong = differences(expected, got)
    return f"{len(wrong)} of {len(expected)} values differ, first {min(wrong)}" if wrong else ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=25)
    parser.add_argument("--roles", default=",".join(ROLES))
    parser.add_argument("--seed", type=int, default=None)
    options = parser.parse_args()
    seed = options.seed if options.seed is not None else int(time.time())
    rng = random.Random(seed)
    passed = failed = 0
    failures = []
    with Daemon(**OPTIONS) as daemon:
        specs, expected = make_specs(daemon), []
        for spec in specs:
            first = daemon.submit(spec)
            assert {t["state"] for t in daemon.wait_job(first["id"])} == {"completed"}, daemon.tail()
            expected.append(outcome(daemon, first["id"]))
            assert len(expected[-1]) > 1000, f"only {len(expected[-1])} values"
        for role in options.roles.split(","):
            found = run_role(daemon, role, options.kills, specs, expected, rng)
            specs, expected = specs[::-1], expected[::-1]  # few kills hit the first job alone
            broken = violated(daemon)
            failures += [f"{role}: {text}" for text in found if text]
            failures += [f"{role}: broken invariant {name}: {rows}" for name, rows in broken]
            passed += found.count("") + (not broken)
            failed += len(found) - found.count("") + bool(broken)
            print_row(role=role, kills=options.kills, jobs=len(found), values_each=sorted(len(e) for e in expected), seed=seed,
                      different=[f for f in found if f], invariants=[name for name, _ in broken])
        if failed:
            print(daemon.tail(8000))
    for failure in failures:
        print(f"FAILED: {failure}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


sys.exit(main())
