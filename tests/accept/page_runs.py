#!/usr/bin/python3
"""Row 4.4: the browser suite ten times in a row, as `make browser` runs it; a check that fails once is flaky and fails the row.

usage: page_runs.py [--runs 10]     a JSON line a run, then the verdict
"""
import argparse
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
from support.assay import print_row  # noqa: E402

CHECKS = 40
KEPT = ROOT / "build" / "logs" / "page_runs.log"


def run():
    """What one run passed and failed, its seconds, and the names of what failed, whose output is kept in build/logs."""
    began = time.monotonic()
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", "2", "--dist", "loadfile",
                           "tests/browser"], cwd=ROOT, capture_output=True, text=True, check=False)
    closing = done.stdout.strip().splitlines()[-1]
    counted = {word: int(n) for n, word in re.findall(r"(\d+) (passed|failed|error)", closing)}
    if done.returncode != 0:
        KEPT.parent.mkdir(parents=True, exist_ok=True)
        with KEPT.open("a", encoding="utf-8") as kept:
            kept.write(done.stdout)
    names = re.findall(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.M)
    failed = counted.get("failed", 0) + counted.get("error", 0)
    return counted.get("passed", 0), max(failed, done.returncode != 0), round(time.monotonic() - began, 1), names


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=10)
    options = parser.parse_args()
    rows = []
    for n in range(options.runs):
        passed, failed, seconds, names = run()
        rows.append((passed, failed, seconds))
        print_row(row=4.4, run=n + 1, passed=passed, failed=int(failed), seconds=seconds, names=names)
    checks, failures = min(r[0] + r[1] for r in rows), sum(r[1] for r in rows)
    print_row(row=4.4, runs=len(rows), checks=checks, failures=int(failures), longest_seconds=max(r[2] for r in rows))
    return 0 if checks >= CHECKS and failures == 0 else 1


sys.exit(main())
