#!/usr/bin/python3
"""Planted faults. Each tests/mutants/*.patch begins with a line `suite: BUILD && RUN`, of which RUN must
fail once the patch is applied while BUILD succeeds, and a line `fault: WHAT`. Works in a scratch clone of what
is committed.

usage: run.py [--apply-only] [NAME...]    --apply-only checks that each patch applies (lint)
"""
import glob
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))


def header(path, key):
    match = re.search(rf"^{key}: (.+)$", open(path, encoding="utf-8").read(), re.M)
    return match.group(1) if match else None


def applies(path, tree):
    return subprocess.run(["git", "apply", "--check", path], cwd=tree, capture_output=True, text=True)


def shell(command, tree):
    return subprocess.run(command, shell=True, cwd=tree, capture_output=True, text=True)


def run_one(path, tree):
    """"caught" when the suite named by the patch fails on the patched tree, "MISSED" when it passes,
    "BROKEN" when the patched tree does not build: that would be caught by anything."""
    build, run = header(path, "suite").split(" && ", 1)
    subprocess.run(["git", "apply", path], cwd=tree, check=True)
    try:
        if shell(build, tree).returncode:
            return "BROKEN"
        return "caught" if shell(run, tree).returncode else "MISSED"
    finally:
        subprocess.run(["git", "apply", "-R", path], cwd=tree, check=True)


def sound(suites, tree):
    """Suites that fail without any fault: they could not catch one."""
    return [suite for suite in sorted(suites)
            if shell(suite, tree).returncode != 0]


def main():
    args = sys.argv[1:]
    only = [a for a in args if not a.startswith("-")]
    patches = [p for p in sorted(glob.glob(os.path.join(ROOT, "tests/mutants/*.patch")))
               if not only or os.path.basename(p)[:-6] in only]
    bad = [f"{os.path.basename(p)}: no suite of two parts or no fault line" for p in patches
           if " && " not in (header(p, "suite") or "") or not header(p, "fault")]
    bad += [f"{os.path.basename(p)}: does not apply: {r.stderr.strip()}" for p in patches
            for r in [applies(p, ROOT)] if r.returncode]
    if bad or "--apply-only" in args:
        print("\n".join(bad) if bad else f"mutants: {len(patches)} patches apply")
        return 1 if bad or not patches else 0
    caught = 0
    with tempfile.TemporaryDirectory() as scratch:
        tree = os.path.join(scratch, "tree")
        subprocess.run(["git", "clone", "-q", ROOT, tree], check=True)
        for suite in sound({header(p, "suite") for p in patches}, tree):
            print(f"fails without a fault: {suite}")
            return 1
        for path in patches:
            verdict = run_one(path, tree)
            caught += verdict == "caught"
            print(f"{verdict}  {os.path.basename(path)}: {header(path, 'fault')}", flush=True)
    print(f"{caught} passed, {len(patches) - caught} failed")
    return 0 if caught == len(patches) else 1


sys.exit(main())
