#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Row 5.6, over HTTP: squeezenet1_1 with its ImageNet weights, googlenet and inception_v3 in one short sweep.

usage: image_sweep.py [--data DIR] [--size N] [--epochs N] [--pictures N] [--networks a,b]

Photographs of flowers12 at a small size, few epochs: what is shown is the comparison, not the accuracy. Each
network must be completed and have a row of the results table with accuracy, seconds and parameters; the
parameters are torchvision's; the confusion matrix of the test part must have as many pictures of each class
as there are, and the accuracy on its diagonal. squeezenet1_1, the only one that was trained before, must be
best where all pictures are seen. Needs Debian's python3-torchvision and the data (ASSAY_TEST_DATA). JSON
lines; exit 0 when all hold.
"""
import argparse
import io
import os
import pathlib
import sys
import tarfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import torchvision  # noqa: E402
from support.assay import Daemon, print_row  # noqa: E402

NETWORKS = ("squeezenet1_1", "googlenet", "inception_v3")
CLASSES = 12


def parameters(name):
    """Learnable parameters of torchvision's network with this many classes, without auxiliary heads."""
    options = {} if name.startswith("squeezenet") else {"aux_logits": False, "init_weights": False}
    model = getattr(torchvision.models, name)(num_classes=CLASSES, **options)
    return sum(value.numel() for value in model.parameters())


def upload_pictures(daemon, photos, size, most):
    """At most so many to train of each class, all to test."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for folder in sorted((photos / "train").iterdir()):
            for path in sorted(folder.iterdir())[:most or None]:
                archive.add(path, f"train/{folder.name}/{path.name}")
        archive.add(photos / "test", "test")
    dataset = daemon.create_dataset({"flowers.tar": out.getvalue()}, "archive", image_size=size)
    assert dataset["state"] == "ready", dataset
    return dataset


def upload_weights(daemon, path):
    content = path.read_bytes()
    made = daemon.post("/v1/weights", {"name": path.stem, "files": [{"name": path.name, "size": len(content)}]})
    daemon.request("PUT", f"/v1/weights/{made['id']}/files/{path.name}", data=content,
                   headers={"Content-Type": "application/octet-stream"})
    while made["state"] not in ("ready", "refused"):
        time.sleep(0.1)
        made = daemon.get(f"/v1/weights/{made['id']}")
    assert made["state"] == "ready", made
    return made["id"]


def check(daemon, row, name, per_class):
    """The line of a trial."""
    matrix = daemon.get(f"/v1/trials/{row['id']}/confusion-matrix?part=test")
    counts = matrix["counts"]
    diagonal = sum(counts[k][k] for k in range(CLASSES)) / sum(map(sum, counts))
    trial = daemon.get(f"/v1/trials/{row['id']}")
    analysis = daemon.post("/v1/networks/analyze", {"network": {"name": name, "size": 0}, "dataset": trial["dataset"]},
                           status=(200,))
    evaluations = daemon.get(f"/v1/trials/{row['id']}/evaluations")["items"]
    accuracy = next(e["accuracy"] for e in evaluations if e["part"] == "test")
    ok = (trial["state"] == "completed" and abs(diagonal - accuracy) < 1e-9
          and [sum(line) for line in counts] == per_class
          and analysis["totals"]["learnables"] == parameters(name))
    return {"network": name, "accuracy": accuracy, "parameters": analysis["totals"]["learnables"], "counts": counts, "ok": ok}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", default=os.environ.get("ASSAY_TEST_DATA", "../shared/data"))
    parser.add_argument("--size", type=int, default=96)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--pictures", type=int, default=0, help="at most so many of a class to train; 0: all")
    parser.add_argument("--networks", default=",".join(NETWORKS))
    args = parser.parse_args()
    names, photos = args.networks.split(","), pathlib.Path(args.data) / "photos/flowers12"
    weights = pathlib.Path(args.data) / "weights/squeezenet1_1/squeezenet1_1.safetensors"
    per_class = [len(list(folder.iterdir())) for folder in sorted((photos / "test").iterdir())]
    began = time.monotonic()
    with Daemon(ASSAY_CORES=str(os.cpu_count())) as daemon:
        dataset, pretrained = upload_pictures(daemon, photos, args.size, args.pictures), upload_weights(daemon, weights)
        job = daemon.submit({
            "kind": "transfer_learning", "dataset": dataset["id"], "freeze": "none", "split": {"train": 1},
            "weights": {"squeezenet1_1": pretrained}, "training": {"epochs": args.epochs},
            "search": {"parameters": {"network": [{"name": name, "size": 0} for name in names]}}})
        daemon.wait_job(job["id"], timeout=7200)
        results = daemon.get(f"/v1/jobs/{job['id']}/results")
        lines = [check(daemon, row, name, per_class) for name, row in zip(names, results["items"])]
        for line, row in zip(lines, results["items"]):
            print_row(row=5.6, size=args.size, epochs=args.epochs, **line, table=row)
        best = max(lines, key=lambda line: line["accuracy"])["network"]
        fine = len(lines) == len(names) and all(line["ok"] for line in lines)
        fine = fine and (args.pictures > 0 or best == NETWORKS[0])
    print_row(row=5.6, what="the sweep", seconds=round(time.monotonic() - began), best=best, ok=fine)
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
