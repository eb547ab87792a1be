#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Solvers, clipping and schedules beside PyTorch: 100 steps in double from random values with random gradients.

usage: peer_solvers.py DRIVER    DRIVER is tests/accept/solver_driver built in MODE=f64

A JSON line a case (row 5.4): the rule it was compared with, the largest differences of rates, norms and values relative
to the largest number of their kind. The cases and the peer's rules are those of tests/golden/make_solvers.py, here with
parameters of up to 20,000 numbers. The exit status is 0 when every line says "ok": true.
"""
import json
import os
import subprocess
import sys
import tempfile

from peer import environment, report

BOUND, STEPS, COUNTS = 1e-9, 100, [20011, 64, 1, 4099]
FACTORS = [(1.0, 1.0), (0.0, 2.0), (1.0, 0.5), (0.7, 1.0)]


def difference(found, expected):
    """Largest difference relative to the largest number."""
    return float((found - expected).abs().max() / expected.abs().max())


def line(driver, directory, training, data):
    """One case on both sides."""
    values, curvature, noise = data
    path, result = os.path.join(directory, "data"), os.path.join(directory, "result")
    spec = {"training": training, "steps": STEPS, "steps_per_epoch": golden.STEPS_PER_EPOCH, "data": path,
            "result": result, "parameters": [{"count": n, "l2_factor": f[0], "rate_factor": f[1]}
                                             for n, f in zip(COUNTS, FACTORS)]}
    subprocess.run([driver, json.dumps(spec)], check=True)
    with open(result, "rb") as file:
        found = torch.frombuffer(bytearray(file.read()), dtype=torch.float64)
    rates, norms, after = torch.split(found, [STEPS, STEPS, sum(COUNTS)])
    series, expected, moved = golden.run(training, values, curvature, noise, FACTORS)
    figures = {"rates": difference(rates, torch.tensor(series, dtype=torch.float64)),
               "norms": difference(norms, torch.tensor(expected, dtype=torch.float64)),
               "values": difference(after, torch.cat(moved))}
    return {"row": 5.4, "training": training, "rule": golden.rule_of(training), "steps": STEPS, **figures,
            "ok": max(figures.values()) <= BOUND}


def main():
    """All cases on the same data."""
    if len(sys.argv) != 2:
        print(__doc__)
        return 2
    generator = torch.Generator().manual_seed(5)
    count = sum(COUNTS)
    values = torch.randn(count, generator=generator, dtype=torch.float64)
    curvature = torch.rand(count, generator=generator, dtype=torch.float64) / 2
    noise = torch.randn(STEPS, count, generator=generator, dtype=torch.float64)
    with tempfile.TemporaryDirectory(prefix="assay-peer-") as directory:
        with open(os.path.join(directory, "data"), "wb") as file:
            for part in (values, curvature, noise):
                file.write(part.numpy().tobytes())
        data = values.split(COUNTS), curvature.split(COUNTS), [row.split(COUNTS) for row in noise]
        return report(line(sys.argv[1], directory, training, data) for training in golden.CASES)


if __name__ == "__main__":
    environment()
    import torch  # after the environment is right
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden"))
    import make_solvers as golden
    sys.exit(main())
