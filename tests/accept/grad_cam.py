#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Row 3.10: Grad-CAM on the test part of flowers12, over HTTP. squeezenet1_1 with its real weights learns
the 12 classes; the trial keeps the maps of the test part. Of each picture that is classified right the
fifth of its cells (a grid of --cells x --cells) with the largest map is painted over with the picture's
mean colour, and so is a fifth drawn at random, and both are posted to `predict`: the score of the class
(before the softmax) must fall further without the map's cells in at least 70 % of the pictures.

usage: grad_cam.py [--data DIR] [--epochs N] [--freeze none|all_but_head] [--samples N] [--cells N] [--draws N]

The random fifth is the mean of --draws draws. One JSON line; exit 0 when it holds. Needs Debian's
python3-torch and python3-torchvision (as transfer.py, whose daemon it uses) and the data (ASSAY_TEST_DATA).
"""
import argparse
import io
import os
import pathlib
import random
import sys

import numpy
from PIL import Image

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support.assay import Daemon, print_row  # noqa: E402
from transfer import Ours  # noqa: E402


def image_of(daemon, dataset, sample):
    answer = daemon.request("GET", f"/v1/datasets/{dataset}/items/{sample}/image")
    return numpy.array(Image.open(io.BytesIO(answer.content)))


def painted(picture, cells, grid):
    """The picture with these cells of the grid (numbers, row by row) in its mean colour."""
    out = picture.copy()
    rows = numpy.linspace(0, picture.shape[0], grid + 1).astype(int)
    columns = numpy.linspace(0, picture.shape[1], grid + 1).astype(int)
    mean = picture.mean((0, 1)).round().astype(numpy.uint8)
    for cell in cells:
        y, x = divmod(int(cell), grid)
        out[rows[y]:rows[y + 1], columns[x]:columns[x + 1]] = mean
    return out


def score_of(daemon, trial, picture, name):
    """Of the class, as `predict` says it."""
    out = io.BytesIO()
    Image.fromarray(picture).save(out, "PNG")
    answer = daemon.request("POST", f"/v1/trials/{trial}/predict?wait=55", data=out.getvalue(),
                            headers={"Content-Type": "image/png"})
    assert answer.status_code == 200, answer.text
    return next(c["score"] for c in answer.json()["result"]["classes"] if c["name"] == name)


def fall(daemon, trial, row, rng, args):
    """How much lower the score is without the map's cells, and without random ones."""
    found = daemon.get(f"/v1/trials/{trial['id']}/explanations/{row['n']}")
    cam = numpy.array(found["values"]).reshape(found["shape"])
    rows = numpy.linspace(0, cam.shape[0], args.cells + 1).astype(int)
    columns = numpy.linspace(0, cam.shape[1], args.cells + 1).astype(int)
    means = [cam[rows[y]:rows[y + 1], columns[x]:columns[x + 1]].mean()
             for y in range(args.cells) for x in range(args.cells)]
    fifth = len(means) // 5
    top = numpy.argsort(means)[::-1][:fifth]
    picture = image_of(daemon, trial["dataset"], row["sample"])
    score = row["score"]
    drawn = [score - score_of(daemon, trial["id"], painted(picture, rng.sample(range(len(means)), fifth), args.cells),
                              row["class"]) for _ in range(args.draws)]
    return score - score_of(daemon, trial["id"], painted(picture, top, args.cells), row["class"]), sum(drawn) / len(drawn)


def main():
    """Prints the row."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", default=os.environ.get("ASSAY_TEST_DATA", "../shared/data"))
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--freeze", default="none")
    parser.add_argument("--samples", type=int, default=240)
    parser.add_argument("--cells", type=int, default=14)
    parser.add_argument("--draws", type=int, default=1)
    args = parser.parse_args()
    data = pathlib.Path(args.data)
    with Daemon() as daemon:
        ours = Ours(daemon, data / "photos/flowers12", data / "weights/squeezenet1_1/squeezenet1_1.safetensors")
        spec = ours.spec(args.freeze, args.epochs, [1])
        _, [trial] = ours.run({**spec, "explain": {"samples": args.samples, "part": "test", "methods": ["grad_cam"]}})
        rows = daemon.get(f"/v1/trials/{trial['id']}/explanations")["items"]
        pictures = {row["sample"]: row for row in rows}
        right = [row for row in pictures.values() if row["predicted"] == row["true"]]
        falls = [fall(daemon, trial, row, random.Random(row["sample"]), args) for row in right]
        wins = sum(top > drawn for top, drawn in falls)
        share = wins / len(falls)
        print_row(row="3.10", layer=rows[0]["layer"], pictures=len(pictures), right=len(right), further=wins,
                  share=round(share, 3), mean_fall=round(sum(f[0] for f in falls) / len(falls), 3),
                  mean_fall_random=round(sum(f[1] for f in falls) / len(falls), 3), wanted=0.7, passed=share >= 0.7)
    return 0 if share >= 0.7 else 1


if __name__ == "__main__":
    sys.exit(main())
