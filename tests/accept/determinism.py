#!/usr/bin/python3
"""Row 5: one job twice, on one thread and on two, and killed at random steps and resumed: every
number but the times must be equal to the bit.

usage: determinism.py [--kills N] [--kind KIND]     one JSON line; exit 1 when something differs
"""
import argparse
import os
import pathlib
import random
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support.assay import BINARY, Daemon, blobs_idx, print_row  # noqa: E402
from support.courses import LABELLED, runs, table  # noqa: E402
from support.outcome import differences, outcome  # noqa: E402

SPECS = {
    "solver_comparison": {
        "training": {"epochs": 6, "batch_size": 16, "shuffle": "every_epoch", "validation_frequency": 40,
                     "checkpoint_interval_seconds": 0.2}},
    "sequence_regression": {
        "split": {"validation": 0.2}, "network": {"name": "lstm_regression", "units": 60, "dropout": 0.3},
        "training": {"epochs": 40, "batch_size": 8, "shuffle": "every_epoch", "validation_frequency": 7,
                     "output_network": "best_validation_loss", "checkpoint_interval_seconds": 0.2},
        "data": {"rul_threshold": 125, "target_scaling": "z_score"},
        "search": {"parameters": {"network.depth": [1, 2, 3]}}},
    "sequence_classification": {
        "split": {"validation": 0.2}, "network": {"name": "bilstm", "task": "classification", "units": 24, "dropout": 0.3},
        "training": {"epochs": 40, "batch_size": 8, "validation_frequency": 7, "class_weights": "balanced", "label_smoothing": 0.1,
                     "micro_batch_size": 3, "ema_decay": 0.9, "output_network": "best_validation_loss", "checkpoint_interval_seconds": 0.2},
        "search": {"parameters": {"network.depth": [1, 2]}}},
}
ROWS = {"solver_comparison": 5, "sequence_regression": 3.8, "sequence_classification": "3.8c"}


def make_dataset(daemon, kind):
    if kind == "solver_comparison":
        return daemon.create_dataset(blobs_idx(n_train=1500, n_test=300, side=20), "idx")["id"]
    if kind == "sequence_classification":
        return daemon.create_dataset({"train.csv": table(runs(60, 1)), "test.csv": table(runs(20, 2))}, "table", name="courses", table=LABELLED)["id"]
    directory = daemon.directory / "turbofan"
    directory.mkdir()
    subprocess.run([BINARY, "simulate", "turbofan", str(directory), "--engines", "40"], check=True)
    files = {p.name: p.read_bytes() for p in directory.iterdir()}
    return daemon.create_dataset(files, "cmapss", kind="sequences")["id"]


def run(daemon, kind, dataset, kills=0, rng=None):
    """The outcome of the job, and how many kills hit a running trial."""
    job = daemon.submit({"kind": kind, "max_attempts": 50, **SPECS[kind], "dataset": dataset})
    done = 0
    while done < kills:
        time.sleep(rng.uniform(0.15, 0.8))
        pids = daemon.pids("trial")
        if pids:
            try:
                os.kill(rng.choice(pids), signal.SIGKILL)
                done += 1
            except ProcessLookupError:
                pass  # it had just ended by itself, which is no kill
        elif daemon.get(f"/v1/jobs/{job['id']}")["state"] == "completed":
            break
    states = {t["state"] for t in daemon.wait_job(job["id"])}
    assert states == {"completed"}, f"{states}\n{daemon.tail()}"
    return outcome(daemon, job["id"]), done


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--kind", choices=SPECS, default="solver_comparison")
    options = parser.parse_args()
    kills, kind = options.kills, options.kind
    rng = random.Random(7)
    with Daemon(ASSAY_CORES="1") as daemon:
        dataset = make_dataset(daemon, kind)
        first, _ = run(daemon, kind, dataset)
        twice, _ = run(daemon, kind, dataset)
    with Daemon(ASSAY_CORES="6") as daemon:  # two lanes for each of the three trials
        dataset = make_dataset(daemon, kind)
        threads, _ = run(daemon, kind, dataset)
    killed, hit = {}, 0
    with Daemon(ASSAY_CORES="2", ASSAY_LEASE_SECONDS="6") as daemon:
        dataset = make_dataset(daemon, kind)
        while hit < kills:
            killed, n = run(daemon, kind, dataset, kills - hit, rng)
            hit += n
            if differences(first, killed):
                break
    row = {"row": ROWS[kind], "kind": kind, "values": len(first), "kills": hit, "twice_differs": len(differences(first, twice)),
           "threads_differ": len(differences(first, threads)), "killed_differs": len(differences(first, killed))}
    print_row(**row)
    return 0 if not (row["twice_differs"] or row["threads_differ"] or row["killed_differs"]) else 1


sys.exit(main())
