# SPDX-License-Identifier: MIT
"""What the comparisons with a peer share."""
import json
import os
import sys


def environment():
    """One thread everywhere and the right OpenBLAS core, before any library is loaded."""
    with open("/proc/cpuinfo", encoding="ascii") as file:
        flags = file.read()
    core = "SkylakeX" if "avx512dq" in flags else "Haswell" if "avx2" in flags else "Nehalem"
    wanted = {"OPENBLAS_CORETYPE": core, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1",
              "MKL_NUM_THREADS": "1"}
    if any(os.environ.get(key) != value for key, value in wanted.items()):
        os.execve(sys.executable, [sys.executable] + sys.argv, {**os.environ, **wanted})


def report(lines):
    """Prints lines as they come; the exit status, 0 when every one says "ok": true."""
    good = True
    for line in lines:
        good = good and line["ok"]
        print(json.dumps(line), flush=True)
    return 0 if good else 1
