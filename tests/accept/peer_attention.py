#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Transformers and temporal convolutional networks of the catalogue beside PyTorch, from the same
weights, on the same sequences in the same order.

usage: peer_attention.py DRIVER

In double: outputs and all gradients of the first batch, and the losses of 51 training steps and the
parameters after them (row 5.attn), a JSON line a network. PyTorch takes each sequence by itself; the
driver takes batches of 8 of 1 to 150 steps, which is more than a tile of attention holds.

DRIVER is tests/accept/lstm_driver built in MODE=f64. Needs Debian's python3-torch. The exit status is
0 when every line says "ok": true.
"""
import os
import sys
import tempfile

from peer import environment, report

if __name__ == "__main__":
    environment()
import torch  # noqa: E402  after the environment is right
from torch import nn  # noqa: E402

from peer_lstm import Data, call, distance, read_result, trainable, write_weights  # noqa: E402

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden"))
from make_attention import Block, Encoder, Pool, Positions  # noqa: E402

LENGTHS = [12, 1, 40, 7, 7, 23, 150, 2, 19, 40, 5, 128, 1, 3, 16, 65, 33]
FEATURES, RESPONSES, BATCH, EPOCHS, BOUND = 5, 2, 8, 17, 1e-9


def transformer(**options):
    """A description, and its network in PyTorch."""
    spec = {"width": 24, "heads": 3, "hidden": 20, "depth": 2, "length": 150, **options}
    position, layers = spec.get("position", "sinusoidal"), [nn.Linear(FEATURES, 24)]
    if position != "none":
        layers.append(Positions(24, 150 if position == "learned" else 0))
    layers += [Encoder(24, 3, 20, spec.get("feed_forward") == "swiglu", spec.get("causal", True))
               for _ in range(spec["depth"])]
    return {"name": "transformer_encoder", **spec}, layers + [nn.LayerNorm(24)], 24


def tcn(**options):
    """Likewise, with convolutions."""
    spec = {"filters": 12, "dilations": [1, 2, 4, 8], **options}
    blocks = [Block(12, spec.get("kernel", 3), dilation, spec.get("padding") == "same")
              for dilation in spec["dilations"]]
    return {"name": "tcn", **spec}, [nn.Linear(FEATURES, 12)] + blocks, 12


def finished(made):
    """With what stands behind: the pool and the last layer."""
    description, layers, width = made
    output = description.get("output", "sequence")
    if output != "sequence":
        layers.append(Pool(output == "mean"))
    model = nn.Sequential(*layers, nn.Linear(width, RESPONSES)).double()
    for name, value in model.named_parameters():
        if value.dim() > 1:
            nn.init.xavier_uniform_(value)
        elif name.endswith("bias"):
            nn.init.uniform_(value, -0.2, 0.2)
    return {"dropout": 0, "normalisation": "none", **description}, model


def train(model, data):
    """Predictions and gradients of the first batch, losses, parameters after all steps."""
    solver = torch.optim.Adam(trainable(model), lr=0.003, eps=1e-8)
    losses, first = [], None
    for begin in [at for _ in range(EPOCHS) for at in range(0, len(LENGTHS), BATCH)]:
        solver.zero_grad(set_to_none=True)
        rows = [model(x) for x in data.x[begin:begin + BATCH]]
        targets = [y[-len(row):] for row, y in zip(rows, data.y[begin:])]
        loss = sum(((row - y) ** 2).sum() / (2 * len(y) * len(rows))
                   for row, y in zip(rows, targets))
        loss.backward()
        if first is None:
            first = (torch.cat([row.detach().reshape(-1) for row in rows]),
                     [value.grad.reshape(-1).clone() for value in trainable(model)])
        solver.step()
        losses.append(loss.item())
    return first, losses, [value.detach().reshape(-1) for value in trainable(model)]


def line(driver, directory, made):
    """The line of one network."""
    description, model = finished(made)
    data = Data(LENGTHS, FEATURES, RESPONSES, torch.float64, os.path.join(directory, "data"))
    weights, result = os.path.join(directory, "weights"), os.path.join(directory, "result")
    write_weights(weights, model)
    ours = call(driver, {"network": description, "features": FEATURES, "responses": RESPONSES,
                         "data": data.path, "weights": weights, "epochs": EPOCHS,
                         "batch_size": BATCH, "threads": 1, "result": result,
                         "training": {"solver": "adam", "learning_rate": 0.003, "l2": 0}})
    first, losses, after = train(model, data)
    count = len(after)
    found = read_result(result, [len(first[0])] + 2 * [len(value) for value in after])
    figures = {"outputs": distance(found[0], first[0]),
               "gradients": max(distance(a, b) for a, b in zip(found[1:1 + count], first[1])),
               "losses": max(abs(a - b) / b for a, b in zip(ours["losses"], losses)),
               "parameters_after": max(distance(a, b)
                                       for a, b in zip(found[1 + count:], after))}
    return {"row": "5.attn", "network": description, "steps": len(losses), **figures,
            "bound": BOUND, "ok": max(figures["outputs"], figures["gradients"]) <= BOUND}


def main():
    """Each network on its own line."""
    torch.manual_seed(5)
    torch.set_num_threads(1)
    networks = [transformer(), transformer(causal=False, feed_forward="swiglu", position="learned"),
                transformer(output="last", position="none"), transformer(output="mean"), tcn(),
                tcn(padding="same", kernel=4), tcn(output="last", kernel=2)]
    with tempfile.TemporaryDirectory(prefix="assay-peer-") as directory:
        return report(line(sys.argv[1], directory, made) for made in networks)


if __name__ == "__main__":
    sys.exit(main())
