#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Transfer learning on flowers12 with the real weights of squeezenet1_1, over HTTP, beside PyTorch.

usage: transfer.py accuracy|head|bits [--data DIR] [--seeds 1,2,3] [--epochs N] [--trials N] [--kills N]

accuracy  all layers and the head alone, each beside the peer with the same recipe and seeds, and from
          scratch: our mean test accuracy >= the peer's - 0.015 (row 3.2)
head      the head alone, training without evaluation, against the peer that computes features anew in
          each epoch: >= 3.5 times as fast; then --trials trials of one sweep: one pass over the frozen
          layers in all (row 3.4)
bits      a head-only trial with kept rows, without, and killed --kills times: equal to the bit
          (row 3.8t, the part of the frozen prefix)

sgdm 0.9, learning rate 1e-3, head factor 10, L2 1e-4 of weights, batch 32. Needs Debian's python3-torch
and python3-torchvision, and the data (ASSAY_TEST_DATA). One JSON line or more; exit 0 when all hold.
"""
import argparse
import io
import os
import pathlib
import random
import signal
import statistics
import sys
import tarfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from peer_simple_cnn import environment  # noqa: E402

if __name__ == "__main__":
    environment()
import numpy  # noqa: E402  after the environment is right
import torch  # noqa: E402
import torchvision  # noqa: E402
from PIL import Image  # noqa: E402
from support.assay import Daemon, print_row  # noqa: E402
from support.outcome import differences, outcome  # noqa: E402

MEAN, STD = (123.675, 116.28, 103.53), (58.395, 57.12, 57.375)


# ---------------------------------------------------------------------------------------- the peer


class Peer:
    """torchvision's squeezenet1_1 with a head for 12 classes, one thread."""

    def __init__(self, photos, weights):
        torch.set_num_threads(1)
        self.weights = torch.load(weights, map_location="cpu")
        self.parts = {part: self.read(photos / part) for part in ("train", "test")}

    @staticmethod
    def read(directory):
        names = sorted(d.name for d in directory.iterdir())
        pixels, labels = [], []
        for label, name in enumerate(names):
            for path in sorted((directory / name).iterdir()):
                pixels.append(numpy.asarray(Image.open(path).convert("RGB"), dtype=numpy.float32))
                labels.append(label)
        x = (torch.from_numpy(numpy.stack(pixels)) - torch.tensor(MEAN)) / torch.tensor(STD)
        return x.permute(0, 3, 1, 2).contiguous(), torch.tensor(labels)

    def network(self, seed, head_only):
        torch.manual_seed(seed)
        network = torchvision.models.squeezenet1_1()
        network.load_state_dict(self.weights)
        network.classifier[1] = torch.nn.Conv2d(512, 12, 1)
        torch.nn.init.normal_(network.classifier[1].weight, std=0.01)
        torch.nn.init.zeros_(network.classifier[1].bias)
        for parameter in network.features.parameters():
            parameter.requires_grad = not head_only
        return network

    @staticmethod
    def solver(network):
        groups = [{"params": [p], "lr": 1e-3 * (10 if name.startswith("classifier") else 1),
                   "weight_decay": 0 if name.endswith("bias") else 1e-4}
                  for name, p in network.named_parameters() if p.requires_grad]
        return torch.optim.SGD(groups, lr=1e-3, momentum=0.9)

    def train(self, seed, head_only, epochs):
        """The trained network and the seconds that training took."""
        network = self.network(seed, head_only)
        solver, loss = self.solver(network), torch.nn.CrossEntropyLoss()
        x, labels = self.parts["train"]
        began = time.monotonic()
        network.train()
        for _ in range(epochs):
            for batch in torch.randperm(len(x)).split(32):
                solver.zero_grad()
                loss(network(x[batch]), labels[batch]).backward()
                solver.step()
        return network, time.monotonic() - began

    def accuracy(self, network):
        network.eval()
        x, labels = self.parts["test"]
        with torch.no_grad():
            found = torch.cat([network(part).argmax(1) for part in x.split(64)])
        return float((found == labels).float().mean())


# ------------------------------------------------------------------------------------------- ours


class Ours:
    """A daemon with the pictures and the weights."""

    def __init__(self, daemon, photos, weights):
        self.daemon = daemon
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w") as archive:
            for part in ("train", "test"):
                archive.add(photos / part, part)
        self.dataset = daemon.create_dataset({"flowers.tar": out.getvalue()}, "archive")
        assert self.dataset["state"] == "ready", self.dataset
        content = weights.read_bytes()
        made = daemon.post("/v1/weights", {"name": "squeezenet1_1",
                                           "files": [{"name": weights.name, "size": len(content)}]})
        daemon.request("PUT", f"/v1/weights/{made['id']}/files/{weights.name}", data=content,
                       headers={"Content-Type": "application/octet-stream"})
        while made["state"] not in ("ready", "refused"):
            time.sleep(0.1)
            made = daemon.get(f"/v1/weights/{made['id']}")
        assert made["state"] == "ready", made
        self.weights = made["id"]

    def spec(self, freeze, epochs, seeds, weights=True):
        return {"kind": "transfer_learning", "dataset": self.dataset["id"], "freeze": freeze, "seeds": seeds,
                "weights": {"squeezenet1_1": self.weights} if weights else None, "split": {"train": 1},
                "training": {"epochs": epochs}, "max_attempts": 50}

    def run(self, spec):
        """The trials, each whole; all must be completed."""
        job = self.daemon.submit(spec)
        trials = self.daemon.wait_job(job["id"], timeout=7200)
        assert all(t["state"] == "completed" for t in trials), [t["error"] for t in trials]
        return job, trials

    def accuracies(self, spec):
        found = []
        for trial in self.run(spec)[1]:
            rows = self.daemon.get(f"/v1/trials/{trial['id']}/evaluations")["items"]
            found.append(next(row["accuracy"] for row in rows if row["part"] == "test"))
        return found

    def passes(self):
        return self.daemon.log.read_text(errors="replace").count("prefix_made")


# ------------------------------------------------------------------------------------------- rows


def accuracy(args, photos, weights):
    peer, fine = Peer(photos, weights / "squeezenet1_1.pth"), True
    with Daemon(ASSAY_CORES="1") as daemon:
        ours = Ours(daemon, photos, weights / "squeezenet1_1.safetensors")
        for what, freeze in (("all layers", "none"), ("head only", "all_but_head")):
            found = ours.accuracies(ours.spec(freeze, args.epochs, args.seeds))
            theirs = [peer.accuracy(peer.train(seed, freeze != "none", args.epochs)[0]) for seed in args.seeds]
            ok = statistics.mean(found) >= statistics.mean(theirs) - 0.015
            fine = fine and ok
            print_row(row=3.2, what=what, epochs=args.epochs, seeds=args.seeds, ours=found, peer=theirs,
                      ours_mean=round(statistics.mean(found), 4), peer_mean=round(statistics.mean(theirs), 4), ok=ok)
        scratch = ours.accuracies(ours.spec("none", args.epochs, args.seeds[:1], weights=False))
        print_row(row=3.2, what="from scratch", epochs=args.epochs, ours=scratch, ok=scratch[0] < 0.6)
    return fine and scratch[0] < 0.6


def cpu_seconds_of(daemon, spec):
    """Processor seconds of the one trial of the job, as its process used them."""
    job = daemon.submit(spec)
    used = 0.0
    while daemon.get(f"/v1/jobs/{job['id']}")["state"] in ("queued", "running"):
        for pid in daemon.pids("trial"):
            try:
                fields = open(f"/proc/{pid}/stat", encoding="ascii").read().rsplit(")", 1)[1].split()
                used = max(used, (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"))
            except OSError:
                pass
        time.sleep(0.02)
    return used


def head(args, photos, weights):
    """Ours is the whole life of the trial's process: start, the pass over all pictures, training and the
    evaluation of both parts; theirs is the training alone."""
    peer = Peer(photos, weights / "squeezenet1_1.pth")
    with Daemon(ASSAY_CORES="1") as daemon:
        ours = Ours(daemon, photos, weights / "squeezenet1_1.safetensors")
        mine = cpu_seconds_of(daemon, ours.spec("all_but_head", args.epochs, args.seeds[:1]))
        began = time.process_time()
        peer.train(args.seeds[0], True, args.epochs)
        theirs = time.process_time() - began
        first = ours.passes()
        print_row(row=3.4, what="head only", epochs=args.epochs, ours_seconds=round(mine, 2),
                  peer_seconds=round(theirs, 2), times=round(theirs / mine, 2), ok=theirs / mine >= 3.5)
    with Daemon(ASSAY_CORES="2") as daemon:
        ours = Ours(daemon, photos, weights / "squeezenet1_1.safetensors")
        began = time.monotonic()
        ours.run(ours.spec("all_but_head", args.epochs, list(range(1, args.trials + 1))))
        passes = ours.passes()
        print_row(row=3.4, what="a sweep", trials=args.trials, seconds=round(time.monotonic() - began, 1),
                  passes=passes, ok=passes == 1)
    return theirs / mine >= 3.5 and passes == 1 and first == 1


def killed_job(daemon, spec, kills, rng):
    """The job's id after at most so many kills of its trial, and how many there were."""
    job, done = daemon.submit(spec), 0
    while done < kills and daemon.get(f"/v1/jobs/{job['id']}")["state"] in ("queued", "running"):
        time.sleep(rng.uniform(0.2, 1.5))
        for pid in daemon.pids("trial")[:1]:
            os.kill(pid, signal.SIGKILL)
            done += 1
    states = {t["state"] for t in daemon.wait_job(job["id"], timeout=3600)}
    assert states == {"completed"}, f"{states}\n{daemon.tail()}"
    return job["id"], done


def bits(args, photos, weights):
    """The first job's kills meet the pass over the frozen layers, those of the later ones training on kept
    rows; five a job, for a trial waits longer after each failure."""
    def outcomes_with(kills, **options):
        with Daemon(ASSAY_CORES="1", ASSAY_LEASE_SECONDS="6", **options) as daemon:
            ours = Ours(daemon, photos, weights / "squeezenet1_1.safetensors")
            spec = ours.spec("all_but_head", args.epochs, args.seeds[:1])
            spec["training"]["checkpoint_interval_seconds"] = 0.1
            found, hit, rng = [], 0, random.Random(5)
            while not found or hit < kills:
                job, done = killed_job(daemon, spec, min(kills - hit, 5), rng)
                found.append(outcome(daemon, job))
                hit += done
            resumed = daemon.log.read_text(errors="replace").count("trial_runs") - len(found)
            return found, ours.passes(), hit, resumed

    (kept,), made, _, _ = outcomes_with(0)
    killed, _, hit, resumed = outcomes_with(args.kills)
    (without,), refused, _, _ = outcomes_with(0, ASSAY_BLOB_CACHE_BYTES=str(200 << 20))
    found = {"without": differences(kept, without), "killed": [differences(kept, one) for one in killed]}
    ok = not found["without"] and not any(found["killed"]) and made == 1 and refused == 1
    print_row(row="3.8t", what="frozen prefix", values=len(kept), kills=hit, begun_again=resumed, differences=found, ok=ok)
    return ok


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("row", choices=["accuracy", "head", "bits"])
    parser.add_argument("--data", default=os.environ.get("ASSAY_TEST_DATA", "../shared/data"))
    parser.add_argument("--seeds", default="1,2,3", type=lambda text: [int(seed) for seed in text.split(",")])
    parser.add_argument("--epochs", default=5, type=int)
    parser.add_argument("--trials", default=20, type=int)
    parser.add_argument("--kills", default=20, type=int)
    args = parser.parse_args()
    data = pathlib.Path(args.data)
    rows = {"accuracy": accuracy, "head": head, "bits": bits}
    return 0 if rows[args.row](args, data / "photos/flowers12", data / "weights/squeezenet1_1") else 1


if __name__ == "__main__":
    sys.exit(main())
