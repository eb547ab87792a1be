#!/usr/bin/python3
"""Row 10 (case B31): 200 tiny trials; the resident size of `serve` and of `work` after the last is
at most 5 % above that after 20.   usage: many_trials.py     one JSON line"""
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support.assay import Daemon, blobs_idx, print_row  # noqa: E402

SPEC = {"kind": "solver_comparison", "training": {"epochs": 1, "batch_size": 32},
        "search": {"strategy": "grid", "parameters": {"training.solver": ["sgdm", "adam"]}}}


def resident(daemon, role):
    pid, = daemon.pids(role)
    for line in open(f"/proc/{pid}/status"):
        if line.startswith("VmRSS"):
            return int(line.split()[1])


def main():
    with Daemon() as daemon:
        dataset = daemon.create_dataset(blobs_idx(n_train=64, n_test=32), "idx")["id"]
        done, early = 0, {}
        while done < 200:
            job = daemon.submit({**SPEC, "dataset": dataset, "seeds": list(range(1, 11))})
            daemon.wait_job(job["id"])
            done += 20
            if done == 20:
                time.sleep(1)
                early = {role: resident(daemon, role) for role in ("serve", "work")}
        time.sleep(1)
        late = {role: resident(daemon, role) for role in ("serve", "work")}
    growth = {role: round(late[role] / early[role] - 1, 4) for role in early}
    print_row(row=10, trials=done, kib_after_20=early, kib_after_200=late, growth=growth)
    return 0 if max(growth.values()) <= 0.05 else 1


sys.exit(main())
