#!/usr/bin/python3
"""Row 5.7: remaining useful life on C-MAPSS FD001 over HTTP as the literature measures it: targets cut off at 125 cycles, the 14
sensors that vary, the last cycle of each of the 100 test engines. The mean RMSE of three seeds must be at most 14.

usage: turbofan.py [--epochs N] [--seeds 1,2,3] [--cores N] | turbofan.py --choose

A JSON line a seed, then the verdict; exit 1 when it does not hold. Targets of test engines are cut off like those of training;
`rmse_uncut` is the same against the RUL file as it is.

The recipe is that of CANDIDATES with the smallest mean validation RMSE of three seeds, a fifth of the training engines held out, from
the 30th cycle of an engine on (before it there is no whole window); `--choose` prints these. Test figures had no part in it. The rows of
the verdict are then trained on all 100 engines. Needs the real files below ASSAY_TEST_DATA (default ../shared/data).

Seen on 2026-12-01 (AVX2): bilstm 32 on windows validates at 13.0, 14.2, 14.1; two lstm of 64 on whole sequences at 9.8, 14.8, 19.2 (of
all cycles): the best of all once, but it hangs on the seed. With seed 1, of all cycles, others validated at 12.0 (one lstm of 64), 13.0 (two of
32, batches of 5), 13.9 (two gru of 64), 14.3 (two lstm of 100, dropout 0.5, targets unscaled), 14.5 (two lstm of 64, batches of 5). Tested,
the recipe gives 14.03, 13.99, 14.24: mean 14.08, which misses the bound by 0.08; scores 322, 345, 344; uncut 15.33, 15.14, 15.47. Published
for a BiLSTM: 13.65 and 295.
"""
import argparse
import os
import pathlib
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support.assay import Daemon, print_row  # noqa: E402

FILES = ("train_FD001.txt", "test_FD001.txt", "RUL_FD001.txt")
SENSORS = (2, 3, 4, 7, 8, 9, 11, 12, 13, 14, 15, 17, 20, 21)
TABLE = {"separator": "blank", "header": "no", "sequence": 1, "time": 2, "remaining_life": True, "inputs": [5 + s for s in SENSORS]}
BOUND, CAP, FIRST = 14.0, 125, 30


def recipe(network, data, epochs, batch_size, learning_rate=0.005):
    """What all have in common: adam, the gradient of each parameter limited to norm 1, the rate a fifth after 0.6 of the epochs."""
    return {"network": {"hidden": [network["units"] // 2], "dropout": 0.2, **network},
            "data": {"rul_threshold": CAP, "target_scaling": "range", **data},
            "training": {"solver": "adam", "learning_rate": learning_rate, "epochs": epochs, "batch_size": batch_size,
                         "shuffle": "every_epoch", "gradient_clipping": {"method": "l2norm", "threshold": 1},
                         "schedule": {"kind": "piecewise", "drop_period": -(-epochs * 6 // 10), "drop_factor": 0.2}}}


CANDIDATES = {
    "lstm 64 twice": recipe({"name": "lstm_regression", "units": 64, "depth": 2}, {}, 80, 10),
    "bilstm 32, windows": recipe({"name": "bilstm", "units": 32, "output": "last"}, {"window": FIRST, "window_stride": 2}, 16, 128, 0.003),
}
CHOSEN = "bilstm 32, windows"


def truths(directory):
    return [float(line) for line in (directory / FILES[2]).read_text().split()]


def last_steps(daemon, trial):
    """(predicted, cut-off truth) of the last cycle of each test engine, in the order of the RUL file."""
    items = daemon.get(f"/v1/trials/{trial}/predictions?part=test&limit=500")["items"]
    items.sort(key=lambda item: int(item["name"].rsplit("/", 1)[1]))
    return [(item["predicted"], item["target"]) for item in items]


def rmse(pairs):
    return statistics.fmean((a - b) ** 2 for a, b in pairs) ** 0.5


def run(daemon, dataset, spec, seeds, **more):
    job = daemon.submit({"kind": "sequence_regression", "dataset": dataset, "seeds": seeds, **spec, **more})
    trials = daemon.wait_job(job["id"], timeout=36000)
    assert all(t["state"] == "completed" for t in trials), trials
    return trials


def part(daemon, trial, name):
    return next(e for e in daemon.get(f"/v1/trials/{trial}/evaluations")["items"] if e["part"] == name)


def validation_rmse(daemon, trial):
    """From the FIRST cycle of an engine on; of windows all are."""
    path, squares = f"/v1/trials/{trial}/predictions?part=validation", []
    for item in daemon.get(path + "&limit=500")["items"]:
        one = daemon.get(f"{path}&sequence={item['sample']}")["items"][0]
        errors = [p - t for p, t in zip(one["predictions"], one["targets"])]
        squares += [e * e for e in errors[FIRST - 1 if len(errors) == one["length"] else 0:]]
    return statistics.fmean(squares) ** 0.5


def choose(daemon, dataset):
    for name, spec in CANDIDATES.items():
        values = [validation_rmse(daemon, t["id"]) for t in run(daemon, dataset, spec, [1, 2, 3], split={"validation": 0.2})]
        print_row(row="5.7", candidate=name, validation_rmse=[round(v, 3) for v in values], mean=round(statistics.fmean(values), 3))
    return 0


def judge(daemon, dataset, directory, options):
    spec, values = CANDIDATES[CHOSEN], []
    spec["training"]["epochs"] = options.epochs or spec["training"]["epochs"]
    for trial in run(daemon, dataset, spec, [int(s) for s in options.seeds.split(",")]):
        pairs, test = last_steps(daemon, trial["id"]), part(daemon, trial["id"], "test")
        values.append(test["last_step_rmse"])
        assert len(pairs) == 100 and abs(rmse(pairs) - values[-1]) < 1e-3 * values[-1]
        assert all(cut == min(CAP, true) for (_, cut), true in zip(pairs, truths(directory)))
        print_row(row="5.7", recipe=CHOSEN, seed=trial["seed"], rmse=round(values[-1], 3), phm08_score=round(test["phm08_score"], 1),
                  rmse_uncut=round(rmse([(p, t) for (p, _), t in zip(pairs, truths(directory))]), 3),
                  seconds=round(trial["seconds"], 1))
    holds = statistics.fmean(values) <= BOUND
    print_row(row="5.7", recipe=CHOSEN, mean_rmse=round(statistics.fmean(values), 3), bound=BOUND, holds=holds)
    return 0 if holds else 1


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int)
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--cores", default="2")
    parser.add_argument("--choose", action="store_true")
    options = parser.parse_args()
    directory = pathlib.Path(os.environ.get("ASSAY_TEST_DATA", "../shared/data")) / "cmapss"
    if not (directory / FILES[0]).exists():
        print(f"{directory} has no {FILES[0]}: see ASSAY_TEST_DATA", file=sys.stderr)
        return 2
    with Daemon(ASSAY_CORES=options.cores) as daemon:
        made = daemon.create_dataset({name: (directory / name).read_bytes() for name in FILES}, "table", kind="sequences", table=TABLE)
        assert made["state"] == "ready" and made["sequence"]["inputs"] == len(SENSORS), made
        return choose(daemon, made["id"]) if options.choose else judge(daemon, made["id"], directory, options)


sys.exit(main())
