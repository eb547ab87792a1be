#!/usr/bin/python3
"""tests/README.md lists every public case with its test or the reason why it comes later. Each test
that it names as `path::name` must exist: the file, and the name inside it."""
import os
import re
import sys

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
ROW = re.compile(r"^\| ([AB]\d\d) \| (.*) \|$")
TEST = re.compile(r"`(tests/[\w./-]+)::(\w+)`")
EXPECTED = 63


def main():
    rows = [m.groups() for m in map(ROW.match, open(os.path.join(ROOT, "tests/README.md"),
                                                    encoding="utf-8")) if m]
    bad = []
    if len({case for case, _ in rows}) != EXPECTED:
        bad.append(f"{len(rows)} cases listed, {EXPECTED} expected")
    for case, text in rows:
        tests = TEST.findall(text)
        if not tests and not text.startswith("later: "):
            bad.append(f"{case}: neither a test nor a reason")
        for path, name in tests:
            full = os.path.join(ROOT, path)
            if not os.path.exists(full) or not re.search(rf"\b{name}\b", open(full, encoding="utf-8").read()):
                bad.append(f"{case}: {path}::{name} does not exist")
    print("\n".join(bad) if bad else f"cases: {len(rows)} rows hold")
    return 1 if bad else 0


sys.exit(main())
