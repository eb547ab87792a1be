#!/usr/bin/python3
"""Sizes worth a second look: C files above 500 lines, headers above 250, functions above 60 lines
(clang-tidy enforces the last in detail; this one is quick). A *_simd.h is code, not a header."""
import re
import subprocess
import sys

FILE_LIMIT, HEADER_LIMIT, INTERNAL_LIMIT, FUNCTION_LIMIT = 500, 250, 320, 60


def function_sizes(path):
    start, name = None, None
    for number, line in enumerate(open(path, encoding="utf-8"), 1):
        if line.startswith("{") and start is None:
            start = number
        elif line.startswith("}") and start is not None:
            yield name, number - start - 1
            start = None
        elif start is None:
            match = re.match(r"^[a-z].*?(\w+)\(", line)
            name = match.group(1) if match else name


def file_limit(path):
    if path.endswith("_internal.h"):
        return INTERNAL_LIMIT
    return HEADER_LIMIT if path.endswith(".h") and not path.endswith("_simd.h") else FILE_LIMIT


def main():
    files = subprocess.run(["git", "ls-files", "core/*.c", "core/*.h", "server/*.c", "server/*.h"],
                           check=True, capture_output=True, text=True).stdout.split()
    bad = 0
    for path in files:
        lines = sum(1 for _ in open(path, encoding="utf-8"))
        limit = file_limit(path)
        if lines > limit:
            print(f"{path}: {lines} lines (limit {limit})")
            bad += 1
        if path.endswith(".c"):
            for name, size in function_sizes(path):
                if size > FUNCTION_LIMIT:
                    print(f"{path}: {name} has {size} lines (limit {FUNCTION_LIMIT})")
                    bad += 1
    return 1 if bad else 0


sys.exit(main())
