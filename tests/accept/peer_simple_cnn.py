#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""simple_cnn on Fashion-MNIST beside PyTorch, from the same weights and in the same batch order.

usage: peer_simple_cnn.py DRIVER correctness|speed [--data DIR] [--epochs N] [--seeds N] [--pairs N]
                          [--images N] [--solvers a,b]

correctness  loss by step and test accuracy under each solver; a JSON line per solver (row 2)
speed        images per second of the sgdm training, one thread, interleaved pairs (row 3)

DRIVER is the built tests/accept/train_driver. Needs Debian's python3-torch and
dataset-fashion-mnist. Both sides hold decoded pixels in memory; the peer even holds them as
normalised floats, so that its step only gathers, while ours normalises bytes within the step.
The exit status is 0 when every line says "ok": true.
"""
import argparse
import gzip
import json
import os
import statistics
import struct
import subprocess
import sys
import tempfile
import time

from peer import environment, report

BATCH = 128
L2 = 1e-4
RATES = {"sgdm": 0.01, "rmsprop": 0.001, "adam": 0.001}


def read_idx(path):
    """An IDX file of bytes as a tensor of uint8."""
    with gzip.open(path, "rb") as file:
        content = file.read()
    rank = content[3]
    shape = struct.unpack(">%dI" % rank, content[4:4 + 4 * rank])
    return torch.frombuffer(bytearray(content[4 + 4 * rank:]), dtype=torch.uint8).reshape(shape)


class Data:
    """Pixels as floats in [0, 1] and labels, of both parts."""

    def __init__(self, directory):
        def part(name):
            images = read_idx("%s/%s-images-idx3-ubyte.gz" % (directory, name))
            labels = read_idx("%s/%s-labels-idx1-ubyte.gz" % (directory, name))
            return images.unsqueeze(1).to(torch.float32).div(255.0), labels.to(torch.int64)
        self.images, self.labels = part("train")
        self.test_images, self.test_labels = part("t10k")


def make_model(seed):
    """The network with the first values of the service: Glorot uniform, zero biases."""
    torch.manual_seed(seed)
    model = torch.nn.Sequential()
    model.add_module("conv1", torch.nn.Conv2d(1, 20, 5))
    model.add_module("bn1", torch.nn.BatchNorm2d(20))
    model.add_module("relu1", torch.nn.ReLU())
    model.add_module("flatten", torch.nn.Flatten())
    model.add_module("fc", torch.nn.Linear(20 * 24 * 24, 10))
    for layer in (model.conv1, model.fc):
        torch.nn.init.xavier_uniform_(layer.weight)
        torch.nn.init.zeros_(layer.bias)
    return model


def write_safetensors(path, model):
    """Writes the state of a model, float32, in the layout of safetensors."""
    header, blobs, offset = {}, [], 0
    for name, value in model.state_dict().items():
        if name.endswith("num_batches_tracked"):
            continue
        blob = value.contiguous().numpy().astype("<f4").tobytes()
        header[name] = {"dtype": "F32", "shape": list(value.shape),
                        "data_offsets": [offset, offset + len(blob)]}
        blobs.append(blob)
        offset += len(blob)
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + b"".join(blobs))


def make_solver(name, model):
    """The solver with L2 on weights and not on biases or batch norm."""
    weights = [model.conv1.weight, model.fc.weight]
    others = [model.conv1.bias, model.bn1.weight, model.bn1.bias, model.fc.bias]
    groups = [{"params": weights, "weight_decay": L2}, {"params": others, "weight_decay": 0.0}]
    if name == "sgdm":
        return torch.optim.SGD(groups, lr=RATES[name], momentum=0.9)
    if name == "rmsprop":
        return torch.optim.RMSprop(groups, lr=RATES[name], alpha=0.9, eps=1e-8)
    return torch.optim.Adam(groups, lr=RATES[name], betas=(0.9, 0.999), eps=1e-8)


def train_epoch(model, solver, data, order, losses=None):
    """One epoch in the order given; returns images per second."""
    loss_of = torch.nn.CrossEntropyLoss()
    model.train()
    begin = time.perf_counter()
    for first in range(0, len(order), BATCH):
        items = order[first:first + BATCH]
        solver.zero_grad(set_to_none=True)
        loss = loss_of(model(data.images[items]), data.labels[items])
        loss.backward()
        solver.step()
        if losses is not None:
            losses.append(loss.item())
    return len(order) / (time.perf_counter() - begin)


def test_accuracy(model, data):
    """Share of the test part classified right, in evaluation mode."""
    model.eval()
    right = 0
    with torch.no_grad():
        for first in range(0, len(data.test_labels), 1000):
            scores = model(data.test_images[first:first + 1000])
            right += int((scores.argmax(1) == data.test_labels[first:first + 1000]).sum())
    return right / len(data.test_labels)


class Driver:
    """Our side: the built driver and the prepared set it trains on."""

    def __init__(self, path, source, directory):
        self.path, self.directory = path, directory
        self.prepared = self.call("prepare", source, directory)["prepared"]

    def call(self, *arguments):
        """Runs the driver; its line of JSON, if any."""
        done = subprocess.run([self.path, *arguments], stdout=subprocess.PIPE, check=True)
        return json.loads(done.stdout) if done.stdout.strip() else None

    def order(self, seed, epochs):
        """The order of samples of each epoch, as tensors."""
        path = os.path.join(self.directory, "order")
        self.call("order", self.prepared, str(seed), str(epochs), path)
        with open(path, "rb") as file:
            items = torch.frombuffer(bytearray(file.read()), dtype=torch.int32).to(torch.int64)
        return items.reshape(epochs, -1)

    def train(self, solver, seed, epochs, weights, limit=0, evaluate=True):
        """A run; the driver's result."""
        spec = {"weights": weights, "directory": self.directory, "seed": seed, "threads": 1,
                "limit": limit, "evaluate": evaluate,
                "training": {"solver": solver, "epochs": epochs, "batch_size": BATCH, "l2": L2,
                             "shuffle": "every_epoch", "batch_norm_statistics": "moving",
                             "validation_frequency": 0, "checkpoint_interval_seconds": 86400}}
        return self.call("train", self.prepared, json.dumps(spec))


def relative(a, b):
    """Difference of two losses relative to the second, the peer's."""
    return abs(a - b) / abs(b)


def compare_losses(losses, peer):
    """Step 1, the worst to step 20, the mean of steps 80 to 100: relative differences."""
    return {"step_1": relative(losses[0], peer[0]),
            "to_step_20": max(relative(a, b) for a, b in zip(losses[:20], peer[:20])),
            "mean_80_to_100": relative(statistics.mean(losses[79:100]),
                                       statistics.mean(peer[79:100]))}


class Part:
    """Some samples of a data set, in their order, at another precision."""

    def __init__(self, data, items, dtype):
        self.images, self.labels = data.images[items].to(dtype), data.labels[items]


def peer_again(solver, seed, data, order, dtype=None, factor=1.0):
    """The first hundred losses of the peer at a precision, its first weights times a factor."""
    dtype = dtype or torch.float32
    part = Part(data, order[:100 * BATCH], dtype)
    model = make_model(seed).to(dtype)
    with torch.no_grad():
        model.conv1.weight.mul_(factor)
    losses = []
    train_epoch(model, make_solver(solver, model), part, torch.arange(len(part.labels)), losses)
    return losses


def compare_seed(driver, data, solver, seed, epochs):
    """One seed on both sides."""
    model = make_model(seed)
    weights = os.path.join(driver.directory, "weights.safetensors")
    write_safetensors(weights, model)
    ours = driver.train(solver, seed, epochs, weights)
    losses, peer_solver, orders = [], make_solver(solver, model), driver.order(seed, epochs)
    for order in orders:
        train_epoch(model, peer_solver, data, order, losses)
    double = peer_again(solver, seed, data, orders[0], torch.float64)
    nudged = peer_again(solver, seed, data, orders[0], factor=1 + 1e-7)
    return {**compare_losses(ours["losses"], losses), "accuracy": ours["test_accuracy"],
            "accuracy_peer": test_accuracy(model, data),
            "against_peer_in_double": compare_losses(ours["losses"], double),
            "peer_against_itself_in_double": compare_losses(losses, double),
            "peer_against_itself_nudged": compare_losses(nudged, losses)}


def is_rounding(run, key, limit):
    """Is the difference no more than rounding alone makes of the peer itself?"""
    drift = max(run["peer_against_itself_in_double"][key], run["peer_against_itself_nudged"][key])
    return run[key] <= max(limit, 1.5 * drift)


def correctness(driver, data, solver, seeds, epochs):
    """The line of row 2 for one solver. "ok" asks every seed to keep every limit against the peer
    in float; "ok_in_double" asks the same against the peer computing in double precision, which
    shows whose rounding it is when the first fails: early training, above all under rmsprop, can be
    so chaotic that the peer does not keep the limits against itself. "rounding" says whether what
    goes beyond a limit is of the size of the peer's own drift."""
    runs = [compare_seed(driver, data, solver, seed, epochs) for seed in range(1, seeds + 1)]
    limits = {"step_1": 1e-4, "to_step_20": 1e-2, "mean_80_to_100": 0.02}
    worst = {key: max(run[key] for run in runs) for key in limits}
    double = {key: max(run["against_peer_in_double"][key] for run in runs) for key in limits}
    points = 100 * (statistics.mean(run["accuracy"] for run in runs)
                    - statistics.mean(run["accuracy_peer"] for run in runs))
    alike = abs(points) <= 1.0
    return {"row": 2, "solver": solver, "seeds": seeds, "epochs": epochs, "worst_seed": worst,
            "worst_seed_in_double": double, "accuracy_points": points, "runs": runs,
            "rounding": all(is_rounding(run, key, limits[key]) for run in runs for key in limits),
            "ok_in_double": all(double[key] <= limits[key] for key in limits) and alike,
            "ok": all(worst[key] <= limits[key] for key in limits) and alike}


def speed(driver, data, pairs, images):
    """The line of row 3: the second of two epochs on each side, A B A B."""
    model = make_model(1)
    weights = os.path.join(driver.directory, "weights.safetensors")
    write_safetensors(weights, model)
    solver = make_solver("sgdm", model)
    order = torch.randperm(len(data.labels))[:images]
    ours, peer, ours_cpu, peer_cpu = [], [], [], []
    for _ in range(pairs):
        result = driver.train("sgdm", 1, 2, weights, limit=images, evaluate=False)
        ours.append(result["images_per_second"][1])
        ours_cpu.append(result["cpu_seconds"])
        train_epoch(model, solver, data, order)
        begin = time.process_time()
        peer.append(train_epoch(model, solver, data, order))
        peer_cpu.append(time.process_time() - begin)
    ratios = [a / b for a, b in zip(ours, peer)]
    return {"row": 3, "images": images, "images_per_second": ours,
            "images_per_second_peer": peer, "ratios": ratios,
            "median": statistics.median(ratios), "worst": min(ratios),
            "cpu_seconds_whole_run": ours_cpu, "cpu_seconds_epoch_peer": peer_cpu,
            "profile": result["profile"],
            "ok": statistics.median(ratios) >= 1.0 and min(ratios) >= 0.85}


def main():
    """Parses the command line, runs, prints."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("driver")
    parser.add_argument("what", choices=["correctness", "speed"])
    parser.add_argument("--data", default="/usr/share/datasets/fashion-mnist")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--images", type=int, default=60000)
    parser.add_argument("--solvers", default="sgdm,rmsprop,adam")
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    with tempfile.TemporaryDirectory(prefix="assay-peer-") as directory:
        driver = Driver(options.driver, options.data, directory)
        data = Data(options.data)
        if options.what == "speed":
            lines = (speed(driver, data, options.pairs, options.images) for _ in range(1))
        else:
            lines = (correctness(driver, data, solver, options.seeds, options.epochs)
                     for solver in options.solvers.split(","))
        return report(lines)


if __name__ == "__main__":
    environment()
    import torch  # after the environment is right
    sys.exit(main())
