#!/usr/bin/python3
"""Row 5: one job twice, on one thread and on two, and killed at random steps and resumed: every
number but the times must be equal to the bit.

usage: determinism.py [--kills N]     one JSON line; exit 1 when something differs
"""
import argparse
import os
import pathlib
import random
import signal
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support.assay import Daemon, blobs_idx, print_row  # noqa: E402
from support.outcome import differences, outcome  # noqa: E402

SPEC = {"kind": "solver_comparison", "max_attempts": 50,
        "training": {"epochs": 6, "batch_size": 16, "shuffle": "every_epoch", "validation_frequency": 40,
                     "checkpoint_interval_seconds": 0.2}}


def run(daemon, dataset, kills=0, rng=None):
    """The outcome of the job, and how many kills hit a running trial."""
    job = daemon.submit({**SPEC, "dataset": dataset})
    done = 0
    while done < kills:
        time.sleep(rng.uniform(0.15, 0.8))
        pids = daemon.pids("trial")
        if pids:
            os.kill(rng.choice(pids), signal.SIGKILL)
            done += 1
        elif daemon.get(f"/v1/jobs/{job['id']}")["state"] == "completed":
            break
    states = {t["state"] for t in daemon.wait_job(job["id"])}
    assert states == {"completed"}, f"{states}\n{daemon.tail()}"
    return outcome(daemon, job["id"]), done


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=20)
    kills = parser.parse_args().kills
    rng = random.Random(7)
    images = blobs_idx(n_train=1500, n_test=300, side=20)
    with Daemon(ASSAY_CORES="1") as daemon:
        dataset = daemon.create_dataset(images, "idx")["id"]
        first, _ = run(daemon, dataset)
        twice, _ = run(daemon, dataset)
    with Daemon(ASSAY_CORES="6") as daemon:  # two lanes for each of the three trials
        dataset = daemon.create_dataset(images, "idx")["id"]
        threads, _ = run(daemon, dataset)
    killed, hit = {}, 0
    with Daemon(ASSAY_CORES="2", ASSAY_LEASE_SECONDS="6") as daemon:
        dataset = daemon.create_dataset(images, "idx")["id"]
        while hit < kills:
            killed, n = run(daemon, dataset, kills - hit, rng)
            hit += n
            if differences(first, killed):
                break
    row = {"row": 5, "values": len(first), "kills": hit, "twice_differs": len(differences(first, twice)),
           "threads_differ": len(differences(first, threads)), "killed_differs": len(differences(first, killed))}
    print_row(**row)
    return 0 if not (row["twice_differs"] or row["threads_differ"] or row["killed_differs"]) else 1


sys.exit(main())
