#!/usr/bin/python3
"""Writes regression.json: sequences of unequal lengths and every regression figure as numpy has it, by the
whole-array formulas of core/metrics/regression.h (nothing incremental).
usage: /usr/bin/python3 tests/golden/make_regression.py > tests/golden/regression.json"""
import json

import numpy as np


def figures(predictions, targets, a_early, a_late, scale):
    d = [y - t for y, t in zip(predictions, targets)]
    steps, truth = np.concatenate(d), np.concatenate(targets)
    last = np.array([row[-1] for row in d])
    return {
        "loss": np.mean([np.sum((row / scale) ** 2) / (2 * len(row)) for row in d]),
        "rmse": np.sqrt(np.mean(steps ** 2)),
        "mae": np.mean(np.abs(steps)),
        "r2": 1 - np.sum(steps ** 2) / np.sum((truth - truth.mean()) ** 2),
        "mean_max_absolute_error": np.mean([np.max(np.abs(row)) for row in d]),
        "last_step_rmse": np.sqrt(np.mean(last ** 2)),
        "phm08_score": np.sum(np.where(last < 0, np.exp(-last / a_early) - 1, np.exp(last / a_late) - 1)),
    }


def case(rng, lengths, a_early, a_late, scale, base):
    targets = [base + np.minimum(np.arange(n, 0, -1.0), 150) for n in lengths]
    predictions = [t + rng.normal(3, 12, len(t)) for t in targets]
    maxima = np.array([np.max(np.abs(y - t)) for y, t in zip(predictions, targets)])
    return {"lengths": lengths, "a_early": a_early, "a_late": a_late, "target_scale": scale,
            "targets": np.concatenate(targets).tolist(), "predictions": np.concatenate(predictions).tolist(),
            "figures": {k: float(v) for k, v in figures(predictions, targets, a_early, a_late, scale).items()},
            "max_standard_error": float(maxima.std(ddof=1) / np.sqrt(len(lengths)))}


def main():
    rng = np.random.default_rng(8)
    print(json.dumps([case(rng, [31, 7, 1, 58, 12, 3], 13, 10, 1, 0),
                      case(rng, [200, 40, 77], 10, 13, 41.5, 0),
                      case(rng, [9, 9, 9, 9], 13, 10, 150, 1e7)]))


main()
