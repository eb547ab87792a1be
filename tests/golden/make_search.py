#!/usr/bin/python3
"""Writes search.json: Gaussian processes conditioned on a few measurements, as numpy has them by the textbook
formulas of core/search/gp_internal.h (an explicit inverse and a determinant, no Cholesky factor).
usage: /usr/bin/python3 tests/golden/make_search.py > tests/golden/search.json"""
import json

import numpy as np


def correlation(x, z, lengths, choices):
    d = x[:, None, :] - z[None, :, :]
    d[..., choices] = d[..., choices] != 0
    s = np.sqrt(5 * np.sum((d / lengths) ** 2, axis=-1))
    return (1 + s + s ** 2 / 3) * np.exp(-s)


def case(rng, choices, n, lengths, noise, amplitude):
    """choices: of each axis how many there are; 0: a range."""
    lengths, is_choice = np.array(lengths), np.array(choices) > 0

    def points(count):
        return np.column_stack([rng.integers(0, c, count) if c else rng.random(count).round(6) for c in choices]).astype(float)

    x, z, y = points(n), points(7), rng.normal(3, 2, n)
    z[0] = x[0]
    k = amplitude * (correlation(x, x, lengths, is_choice) + noise * np.eye(n))
    to = amplitude * correlation(z, x, lengths, is_choice)
    inverse, off = np.linalg.inv(k), y - y.mean()
    variance = amplitude - np.sum((to @ inverse) * to, axis=1)
    sign, logarithm = np.linalg.slogdet(2 * np.pi * k)
    assert sign > 0
    return {"choices": choices, "x": x.ravel().tolist(), "y": y.tolist(), "lengths": lengths.tolist(), "noise": noise,
            "amplitude": amplitude, "z": z.ravel().tolist(), "mean": (y.mean() + to @ inverse @ off).tolist(),
            "deviation": np.sqrt(variance).tolist(), "likelihood": float(-0.5 * (off @ inverse @ off) - 0.5 * logarithm)}


def main():
    rng = np.random.default_rng(40)
    print(json.dumps([case(rng, [0], 1, [0.3], 0.01, 1.0),
                      case(rng, [0], 6, [0.3], 0.01, 2.5),
                      case(rng, [0, 0, 0], 25, [0.2, 1.0, 5.0], 0.001, 0.4),
                      case(rng, [0, 4, 2], 30, [0.5, 0.7, 2.0], 0.1, 9.0)]))


main()
