#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Recurrent networks beside PyTorch, from the same weights, on the same sequences in the same order.

usage: peer_lstm.py DRIVER double|speed [--cells lstm] [--pairs N] [--depths 1,2,3] [--orders mixed,sorted]

double  outputs, all gradients of the first batch and 50 training steps, in double, without dropout,
        for depths 1 to 3, every step and the last step predicted; a JSON line each: row 3.7 of
        lstm, row 5.rnn of the other cells: gru, bilstm, bigru (of the last two the last states are
        the forward one's of the last step beside the backward one's of the first, as in h_n).
        DRIVER is tests/accept/lstm_driver built in MODE=f64.
speed   CPU seconds of a training epoch, one thread, interleaved pairs; a JSON line a depth (row
        3.6 of lstm, 5.rnns of the others). DRIVER is the release build.

The sequences are as many and as long as those of FD001 (100 of 128 to 362 steps, 206 on average)
with 17 features of noise. Speed: LSTM of 200 units (times depth), fully connected 50, dropout 0.5,
fully connected 1; batches of 20; adam, gradient norm clipped at 1. The peer computes on padded
batches, time first, padded before the clock starts, its loss masked; both ways it packs them first, since the
way back must not begin in padding. `mixed` takes the sequences in
an order of chance, as the files of FD001 have them (batches padded to 1.45 of their steps); the
wanted ratios are of that. `sorted` takes them longest first, as the published recipe does, which
leaves the peer hardly any padding: for the record. The exit status is 0 when every line says
"ok": true.
"""
import argparse
import json
import os
import statistics
import struct
import subprocess
import sys
import tempfile
import time

from peer import environment, report

if __name__ == "__main__":
    environment()
import torch  # noqa: E402  after the environment is right

WANTED = {1: 2.2, 2: 2.5, 3: 2.5}  # of lstm
WANTED_OTHERS = 2.0
GRU, BOTH_WAYS = ("gru", "bigru"), ("bilstm", "bigru")
FEATURES, BATCH = 17, 20


def fd001_lengths():
    """100 lengths from 128 to 362 with the mean of FD001, in an order of chance."""
    generator = torch.Generator().manual_seed(1)
    spread = torch.randn(100, generator=generator, dtype=torch.float64) * 46 + 200
    lengths = [int(x) for x in spread.clamp(128, 362)]
    lengths[0], lengths[1] = 128, 362
    rest = 20631 - sum(lengths)
    for i in range(abs(rest)):
        at = 2 + i % 98
        lengths[at] += 1 if rest > 0 else -1
    return lengths


class Data:
    """Sequences and targets, also as a file for the driver."""

    def __init__(self, lengths, features, responses, dtype, path):
        generator = torch.Generator().manual_seed(2)
        self.lengths, self.features, self.responses, self.path = lengths, features, responses, path
        self.x = [torch.randn(n, features, generator=generator, dtype=torch.float64)
                  for n in lengths]
        self.y = [torch.rand(n, responses, generator=generator, dtype=torch.float64)
                  for n in lengths]
        with open(path, "wb") as file:
            file.write(struct.pack("<Q", len(lengths)))
            file.write(struct.pack("<%dQ" % len(lengths), *lengths))
            for x, y in zip(self.x, self.y):
                file.write(x.numpy().tobytes() + y.numpy().tobytes())
        self.x = [x.to(dtype) for x in self.x]
        self.y = [y.to(dtype) for y in self.y]

    def batches(self, batch_size):
        """Padded batches, time first: x, y, weight of each row (0 for padding), lengths."""
        pad = torch.nn.utils.rnn.pad_sequence
        out = []
        for first in range(0, len(self.x), batch_size):
            x, y = self.x[first:first + batch_size], self.y[first:first + batch_size]
            weights = pad([torch.full((len(one), 1), 1 / (len(one) * len(x)), dtype=one.dtype)
                           for one in x])
            out.append((pad(x), pad(y), weights, [len(one) for one in x]))
        return out


def make_model(cell, features, responses, units, depth, hidden, dropout, last, dtype):
    """The network of the service: orthogonal recurrent weights; an LSTM has forget bias 1 and one
    bias. Both biases of a GRU begin as numbers of chance, so that neither is mistaken for the
    other."""
    both = cell in BOTH_WAYS

    class Stack(torch.nn.Module):
        """Recurrent layers, a fully connected one, dropout, a fully connected one."""

        def __init__(self):
            super().__init__()
            kind = torch.nn.GRU if cell in GRU else torch.nn.LSTM
            self.lstm = kind(features, units, num_layers=depth, bidirectional=both)
            self.fc1 = torch.nn.Linear((1 + both) * units, hidden)
            self.dropout = torch.nn.Dropout(dropout)
            self.fc = torch.nn.Linear(hidden, responses)

        def forward(self, x, lengths):
            """Predictions of every step, or of each sequence's last."""
            if both:  # padding would come first
                packed = torch.nn.utils.rnn.pack_padded_sequence(x, lengths, enforce_sorted=False)
                h, end = self.lstm(packed)
                end = end if cell in GRU else end[0]
                h = torch.cat([end[-2], end[-1]], 1) if last else torch.nn.utils.rnn.pad_packed_sequence(h)[0]
            else:
                h, _ = self.lstm(x)
                if last:
                    h = h[torch.tensor(lengths) - 1, torch.arange(len(lengths))]
            return self.fc(self.dropout(self.fc1(h)))

    torch.manual_seed(3)
    model = Stack()
    for name, value in model.lstm.named_parameters():
        if name.startswith("weight_ih"):
            torch.nn.init.xavier_uniform_(value)
        elif name.startswith("weight_hh"):
            torch.nn.init.orthogonal_(value)
        elif cell in GRU:
            torch.nn.init.uniform_(value, -0.3, 0.3)
        else:
            torch.nn.init.zeros_(value)
            if name.startswith("bias_ih"):
                with torch.no_grad():
                    value[units:2 * units] = 1
            else:
                value.requires_grad_(False)
    return model.to(dtype)


def trainable(model):
    """Parameters in the order of the service's description."""
    return [value for value in model.parameters() if value.requires_grad]


def write_weights(path, model):
    """All trainable parameters as doubles."""
    with open(path, "wb") as file:
        for value in trainable(model):
            file.write(value.detach().to(torch.float64).contiguous().numpy().tobytes())


def description(cell, units, depth, hidden, dropout, last):
    """The same network for the driver."""
    if cell == "bigru":
        layers = [{"name": "gru%d" % (i + 1), "kind": "gru", "direction": "bidirectional", "units": units,
                   "output": "last" if last and i + 1 == depth else "sequence"} for i in range(depth)]
        return {"layers": [{"name": "input", "kind": "sequence_input", "normalisation": "none"}, *layers,
                           {"name": "fc1", "kind": "fully_connected", "outputs": hidden},
                           {"name": "dropout", "kind": "dropout", "rate": dropout},
                           {"name": "fc", "kind": "fully_connected"}]}
    return {"name": "lstm_regression" if cell == "lstm" else cell, "units": units, "depth": depth, "hidden": [hidden],
            "dropout": dropout, "output": "last" if last else "sequence", "normalisation": "none"}


def loss_of(model, batch, last):
    """Half mean squared error: the mean over steps, then over sequences."""
    x, y, weights, lengths = batch
    predictions = model(x, lengths)
    if last:
        y = y[torch.tensor(lengths) - 1, torch.arange(len(lengths))]
        weights = torch.full((len(lengths), 1), 1 / len(lengths), dtype=y.dtype)
    return predictions, (weights * (predictions - y) ** 2).sum() / 2


def call(driver, spec):
    """Runs the driver."""
    run = subprocess.run([driver, json.dumps(spec)], check=True, capture_output=True, text=True)
    return json.loads(run.stdout)


# --- double ---------------------------------------------------------------------------------------

def distance(a, b):
    """Norm of the difference relative to the norm."""
    return float((a - b).norm() / b.norm())


def read_result(path, sizes):
    """Consecutive vectors of doubles."""
    with open(path, "rb") as file:
        numbers = torch.frombuffer(bytearray(file.read()), dtype=torch.float64)
    assert len(numbers) == sum(sizes), (len(numbers), sum(sizes))
    return torch.split(numbers, sizes)


def peer_steps(model, batches, epochs, last):
    """Predictions and gradients of the first batch, losses and parameters after all steps."""
    solver = torch.optim.Adam(trainable(model), lr=0.01, eps=1e-8)
    losses, first = [], None
    for _ in range(epochs):
        for batch in batches:
            solver.zero_grad(set_to_none=True)
            predictions, loss = loss_of(model, batch, last)
            loss.backward()
            if first is None:
                rows = [predictions[i:i + 1] if last else predictions[:n, i]
                        for i, n in enumerate(batch[3])]
                first = (torch.cat([r.detach().reshape(-1) for r in rows]),
                         [value.grad.reshape(-1).clone() for value in trainable(model)])
            solver.step()
            losses.append(loss.item())
    return first, losses, [value.detach().reshape(-1) for value in trainable(model)]


def double_line(driver, directory, cell, depth, last):
    """The line of row 3.7 or 5.rnn for one network: sequences of 1 to 40 steps, batches of 8, the last
    batch a single sequence."""
    lengths = [12, 1, 40, 7, 7, 23, 31, 2, 19, 40, 5, 28, 1, 3, 16, 9, 33]
    data = Data(lengths, 5, 2, torch.float64, os.path.join(directory, "data"))
    model = make_model(cell, 5, 2, 24, depth, 10, 0.0, last, torch.float64)
    weights, result = os.path.join(directory, "weights"), os.path.join(directory, "result")
    write_weights(weights, model)
    epochs = 17  # of three batches: 51 steps
    ours = call(driver, {"network": description(cell, 24, depth, 10, 0, last), "features": 5,
                         "responses": 2, "data": data.path, "weights": weights, "epochs": epochs,
                         "batch_size": 8, "threads": 1, "result": result,
                         "training": {"solver": "adam", "learning_rate": 0.01, "l2": 0}})
    first, losses, after = peer_steps(model, data.batches(8), epochs, last)
    sizes = [len(first[0])] + 2 * [len(value) for value in after]
    found = read_result(result, sizes)
    count = len(after)
    figures = {"outputs": distance(found[0], first[0]),
               "gradients": max(distance(a, b) for a, b in zip(found[1:1 + count], first[1])),
               "losses": max(abs(a - b) / b for a, b in zip(ours["losses"], losses)),
               "parameters_after": max(distance(a, b)
                                       for a, b in zip(found[1 + count:], after))}
    return {"row": 3.7 if cell == "lstm" else "5.rnn", "cell": cell, "depth": depth, "predicts": "last step" if last else "every step",
            "steps": len(losses), **figures, "ok": max(figures.values()) <= 1e-9}


# --- speed ----------------------------------------------------------------------------------------

def peer_epoch(model, solver, batches):
    """CPU seconds of one training epoch."""
    began = time.process_time()
    model.train()
    for batch in batches:
        solver.zero_grad(set_to_none=True)
        _, loss = loss_of(model, batch, False)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(trainable(model), 1.0)
        solver.step()
    return time.process_time() - began


def speed_line(driver, directory, cell, depth, pairs, order):
    """The line of row 3.6 for one depth: the second epochs of both sides, A B A B."""
    lengths = fd001_lengths()
    lengths = sorted(lengths, reverse=True) if order == "sorted" else lengths
    data = Data(lengths, FEATURES, 1, torch.float32, os.path.join(directory, "data"))
    model = make_model(cell, FEATURES, 1, 200, depth, 50, 0.5, False, torch.float32)
    solver = torch.optim.Adam(trainable(model), lr=0.01, eps=1e-8)
    weights = os.path.join(directory, "weights")
    write_weights(weights, model)
    batches = data.batches(BATCH)
    spec = {"network": description(cell, 200, depth, 50, 0.5, False), "features": FEATURES,
            "responses": 1, "data": data.path, "weights": weights, "epochs": 2,
            "batch_size": BATCH, "threads": 1,
            "training": {"solver": "adam", "learning_rate": 0.01, "l2": 0,
                         "gradient_clipping": {"method": "global_l2norm", "threshold": 1}}}
    peer_epoch(model, solver, batches)
    ours, peer = [], []
    for _ in range(pairs):
        ours.append(call(driver, spec)["cpu_seconds"][1])
        peer.append(peer_epoch(model, solver, batches))
    ratios = [b / a for a, b in zip(ours, peer)]
    wanted = (WANTED[depth] if cell == "lstm" else WANTED_OTHERS) if order == "mixed" else None
    padded = sum(x.shape[0] * x.shape[1] for x, _, _, _ in batches) / sum(lengths)
    return {"row": 3.6 if cell == "lstm" else "5.rnns", "cell": cell, "depth": depth, "order": order, "padded_to": padded, "cpu_seconds": ours,
            "cpu_seconds_peer": peer, "ratios": ratios, "median": statistics.median(ratios),
            "worst": min(ratios), "wanted": wanted,
            "ok": wanted is None or statistics.median(ratios) >= wanted}


def main():
    """Parses the command line, runs, prints."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("driver")
    parser.add_argument("what", choices=["double", "speed"])
    parser.add_argument("--cells", default="lstm")
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--depths", default="1,2,3")
    parser.add_argument("--orders", default="mixed,sorted")
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    with tempfile.TemporaryDirectory(prefix="assay-peer-") as directory:
        depths = [int(d) for d in options.depths.split(",")]
        cells = options.cells.split(",")
        if options.what == "speed":
            lines = (speed_line(options.driver, directory, cell, depth, options.pairs, order)
                     for cell in cells for depth in depths for order in options.orders.split(","))
        else:
            lines = (double_line(options.driver, directory, cell, depth, last)
                     for cell in cells for depth in depths for last in (False, True))
        return report(lines)


if __name__ == "__main__":
    sys.exit(main())
