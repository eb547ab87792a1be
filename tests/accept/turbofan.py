#!/usr/bin/python3
"""Row 5.7: remaining useful life on C-MAPSS FD001 over HTTP as the literature measures it: targets cut off at 125 cycles, the 14
sensors that vary, the last cycle of each of the 100 test engines. The mean RMSE of three seeds must be at most 14.

usage: turbofan.py [--epochs N] [--seeds 1,2,3] [--cores N] | turbofan.py --choose

A JSON line a seed, then the verdict; exit 1 when it does not hold. Targets of test engines are cut off like those of training;
`rmse_uncut` is the same against the RUL file as it is.

The recipe is that of CANDIDATES with the smallest mean validation RMSE of three seeds, a fifth of the training engines held out, from
the 30th cycle of an engine on: the shortest test engine has 31, so longer windows cannot be judged by it. `--choose` prints these. Test
figures had no part in it. The rows of the verdict are then trained on all 100 engines. Needs the real files below ASSAY_TEST_DATA
(default ../shared/data).

Seen on 2026-12-01 (AVX2), validation: 12.40 (lstm 64, rate 0.01), 12.46 (100 units), 12.86 (rate 0.005), 13.09 (two of 64), 13.26 (160
epochs), 13.54 (32 units, rate 0.02), 13.86 (bilstm on windows of 30), 14.16 (rate 0.02). Tested, the first gives 13.19, 12.85, 12.54:
mean 12.86; scores 280, 262, 252; uncut 14.63, 14.10, 13.90. The average of the weights is what makes whole sequences steady from seed to
seed: without it two lstm of 64 validated between 9.8 and 19.2. Windows of 30 and of 50 had been tested before: 14.08 and 14.12.
Published for a BiLSTM: 13.65 and 295.
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
BOUND, CAP, JUDGED_FROM = 14.0, 125, 30


def recipe(network, data, **training):
    """What all have in common: adam, the gradient of each parameter limited to norm 1, a running average of the weights."""
    return {"network": {"hidden": [network["units"] // 2], "dropout": 0.2, **network},
            "data": {"rul_threshold": CAP, "target_scaling": "range", **data},
            "training": {"solver": "adam", "shuffle": "every_epoch", "gradient_clipping": {"method": "l2norm", "threshold": 1},
                         "ema_decay": 0.99, **training}}


def windows(steps):
    """A BiLSTM of 32 on the last steps; the rate a fifth after 0.6 of the epochs."""
    return recipe({"name": "bilstm", "units": 32, "output": "last"}, {"window": steps, "window_stride": 2}, learning_rate=0.003, epochs=16,
                  batch_size=128, schedule={"kind": "piecewise", "drop_period": 10, "drop_factor": 0.2})


def whole(units, rate, epochs=80, depth=1):
    """LSTMs over whole sequences."""
    return recipe({"name": "lstm_regression", "units": units, "depth": depth}, {}, learning_rate=rate, epochs=epochs, batch_size=10,
                  schedule={"kind": "cosine"})


CANDIDATES = {"lstm 64, rate 0.01": whole(64, 0.01), "lstm 64, rate 0.005": whole(64, 0.005),
              "lstm 64, rate 0.02": whole(64, 0.02), "lstm 100, rate 0.01": whole(100, 0.01),
              "lstm 64 twice, rate 0.01": whole(64, 0.01, depth=2), "lstm 64, rate 0.01, 160 epochs": whole(64, 0.01, 160),
              "lstm 32, rate 0.02": whole(32, 0.02), "bilstm 32, windows of 30": windows(30)}
CHOSEN = "lstm 64, rate 0.01"


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


def validation_rmse(daemon, trial, data):
    path, squares = f"/v1/trials/{trial}/predictions?part=validation", []
    first, stride = data.get("window", 1), data.get("window_stride", 1)
    for item in daemon.get(path + "&limit=500")["items"]:
        one = daemon.get(f"{path}&sequence={item['sample']}")["items"][0]
        errors = [p - t for p, t in zip(one["predictions"], one["targets"])]
        squares += [e * e for i, e in enumerate(errors) if first + i * stride >= JUDGED_FROM]
    return statistics.fmean(squares) ** 0.5


def choose(daemon, dataset):
    for name, spec in CANDIDATES.items():
        trials = run(daemon, dataset, spec, [1, 2, 3], split={"validation": 0.2})
        values = [validation_rmse(daemon, t["id"], spec["data"]) for t in trials]
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
