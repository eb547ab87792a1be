#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The demonstration's table: what the settings of some jobs gave, each over its seeds.

usage: table.py URL JOB...
"""
import json
import statistics
import sys
import urllib.request

HEADLINES = {"sequence_regression": "test_rmse"}
NAMES = {"training.solver": "solver", "data.rul_threshold": "threshold", "network.depth": "depth"}


def get(url, path):
    with urllib.request.urlopen(url + path, timeout=30) as answer:
        return json.load(answer)


def setting_of(trial):
    """What tells the trial from others of its job, whatever its seeds are."""
    return ", ".join(f"{NAMES.get(key, key)} {value}" for key, value in sorted(trial["parameters"].items())
                     if not key.endswith("seed"))


def target_of(trial, names):
    """What the trial had to predict, as far as trials of its job differ in it; "" where they do not."""
    return ", ".join(f"{NAMES.get(name, name)} {trial['parameters'][name]}" for name in names)


def rows_of(url, job_id):
    """[(job, setting, metric, values, seconds, target)] in the order of the trials."""
    job = get(url, f"/v1/jobs/{job_id}")
    metric = HEADLINES.get(job["kind"], "validation_accuracy")
    settings = {}
    for trial in get(url, f"/v1/jobs/{job_id}/results")["items"]:
        cell = trial["metrics"].get(metric)
        target = target_of(trial, job["target_parameters"])
        values, seconds, _ = settings.setdefault(setting_of(trial), ([], [], target))
        if cell and isinstance(cell["value"], (int, float)):
            values.append(cell["value"])
        seconds.append(trial["seconds"] or 0)
    return [(job["name"], setting, metric, *rest) for setting, rest in settings.items()]


def cells_of(row):
    name, setting, metric, values, seconds, _ = row
    figures = [f"{f(values):.4g}" for f in (statistics.mean, min, max)] if values else ["-"] * 3
    if len(values) == 1:
        figures[1:] = ["", ""]
    return [name, setting or "-", metric.replace("_", " "), *figures, str(len(values)), f"{sum(seconds):.0f}"]


def print_table(rows):
    cells = [["job", "setting", "metric", "mean", "least", "most", "trials", "seconds"], *map(cells_of, rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(cells[0]))]
    for row in cells:
        print("  ".join(cell.ljust(width) if i < 3 else cell.rjust(width)
                        for i, (cell, width) in enumerate(zip(row, widths))))


def best_of_targets(rows):
    """{target: (mean, setting)} of the least errors: those of different targets are not compared."""
    best = {}
    for _, setting, _, values, _, target in rows:
        if values:
            best[target] = min(best.get(target, (float("inf"), "")), (statistics.mean(values), setting))
    return best


def findings(rows):
    """One sentence for each comparison that the rows allow."""
    means = {row[:2]: statistics.mean(row[3]) for row in rows if row[3]}
    best = [(value, setting) for (name, setting), value in means.items() if name.startswith("Fashion-MNIST")]
    if best:
        yield f"Of the solvers, {max(best)[1].split()[-1]} did best: {100 * max(best)[0]:.1f} %."
    photographs = {name: value for (name, _), value in means.items() if name.startswith("photographs")}
    scratch = photographs.pop("photographs, from scratch", None)
    for name, value in photographs.items():
        if scratch is not None:
            yield (f"Weights of {name.split(', ')[1]} are worth {100 * (value - scratch):.1f} points on photographs: "
                   f"{100 * value:.1f} % against {100 * scratch:.1f} % from scratch.")
    errors = best_of_targets(row for row in rows if row[0].startswith("turbofans"))
    if errors:
        said = [f"{value:.1f} with {setting}" for value, setting in errors.values()]
        yield f"At best the remaining life is off by (RMSE, in cycles) {'; '.join(said)}."
    if len(errors) > 1:
        yield "A smaller threshold is an easier target: errors of different thresholds are not to be compared."


def main(url, *jobs):
    rows = [row for job in jobs for row in rows_of(url, job)]
    print_table(rows)
    print()
    for sentence in findings(rows):
        print(sentence)


if __name__ == "__main__":
    main(*sys.argv[1:])
