#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Writes tests/golden/attention.json: small networks of attention and of convolutions over time as
PyTorch computes them, in double, each sequence by itself: outputs, half mean squared error, gradients.
The form is that of sequences.json.

usage: make_attention.py > tests/golden/attention.json
"""
import json

import torch
from torch import nn

torch.set_default_dtype(torch.float64)


def numbers(tensor):
    """A flat list, twelve digits."""
    return [float("%.12g" % v) for v in tensor.detach().reshape(-1).tolist()]


class Encoder(nn.Module):
    """A pre-norm encoder layer; mask: whether steps see only those before them."""

    def __init__(self, width, heads, hidden, swiglu, mask):
        super().__init__()
        self.norm1, self.self_attn = nn.LayerNorm(width), nn.MultiheadAttention(width, heads)
        self.norm2 = nn.LayerNorm(width)
        if swiglu:
            self.gate = nn.Linear(width, hidden)
        self.linear1, self.linear2 = nn.Linear(width, hidden), nn.Linear(hidden, width)
        self.mask = mask

    def attend(self, x):
        """Attention over the steps of one sequence."""
        n = len(x)
        mask = torch.ones(n, n, dtype=torch.bool).triu(1) if self.mask else None
        return self.self_attn(x[:, None], x[:, None], x[:, None], attn_mask=mask)[0][:, 0]

    def forward(self, x):
        x = x + self.attend(self.norm1(x))
        y = self.norm2(x)
        if hasattr(self, "gate"):
            y = nn.functional.silu(self.gate(y)) * self.linear1(y)
        else:
            y = nn.functional.gelu(self.linear1(y))
        return x + self.linear2(y)


class Block(nn.Module):
    """A residual block of dilated convolutions."""

    def __init__(self, filters, kernel, dilation, same):
        super().__init__()
        self.conv1 = nn.Conv1d(filters, filters, kernel, dilation=dilation)
        self.conv2 = nn.Conv1d(filters, filters, kernel, dilation=dilation)
        span = dilation * (kernel - 1)
        self.before = span // 2 if same else span
        self.behind = span - self.before

    def convolve(self, convolution, x):
        """Over time, with zeros around the sequence."""
        padded = nn.functional.pad(x.T[None], (self.before, self.behind))
        return torch.relu(convolution(padded)[0].T)

    def forward(self, x):
        return torch.relu(x + self.convolve(self.conv2, self.convolve(self.conv1, x)))


class Positions(nn.Module):
    """Sines and cosines, or with a length learned rows."""

    def __init__(self, width, length=0):
        super().__init__()
        if length:
            self.weight = nn.Parameter(torch.zeros(length, width))
        self.width, self.length = width, length

    def forward(self, x):
        if self.length:
            return x + self.weight[:len(x)]
        at = torch.arange(len(x))[:, None]
        angle = at * 10000.0 ** (-torch.arange(0, self.width, 2) / self.width)
        both = torch.stack([angle.sin(), angle.cos()], 2).reshape(len(x), -1)
        return x + both[:, :self.width]


class Pool(nn.Module):
    """The last step, or the mean of all."""

    def __init__(self, mean):
        super().__init__()
        self.mean = mean

    def forward(self, x):
        return x.mean(0, keepdim=True) if self.mean else x[-1:]


class Embedding(nn.Embedding):
    """Of the id in a column."""

    def forward(self, x):
        return super().forward(x[:, 1].long())


def case(name, description, parts, features, responses, lengths, ids=0):
    """A network of named parts on sequences of these lengths."""
    network = nn.Sequential()
    for key, part in parts:
        network.add_module(key, part)
    for parameter in network.parameters():
        nn.init.uniform_(parameter, -0.7, 0.8)
    x = [torch.rand(n, features) * 4 - 2 for n in lengths]
    if ids:
        x = [torch.randint(0, ids, (n, features)).double() for n in lengths]
    outputs = [network(one) for one in x]
    y = [torch.rand(len(one), responses) for one in outputs]
    loss = sum(((a - b) ** 2).sum() / (2 * len(b)) / len(x) for a, b in zip(outputs, y))
    loss.backward()
    return {"name": name, "description": description, "features": features,
            "responses": responses,
            "parameters": {k: numbers(v) for k, v in network.named_parameters()},
            "gradients": {k: numbers(v.grad) for k, v in network.named_parameters()},
            "sequences": [numbers(one) for one in x], "targets": [numbers(one) for one in y],
            "outputs": [numbers(one) for one in outputs], "loss": float("%.12g" % loss.item())}


def transformer(name, lengths, **options):
    """A transformer_encoder of the catalogue with width 6, two heads, hidden 5."""
    description = {"name": "transformer_encoder", "width": 6, "heads": 2, "hidden": 5,
                   "dropout": 0, "normalisation": "none", "length": 9, **options}
    position = options.get("position", "sinusoidal")
    parts = [("projection", nn.Linear(3, 6))]
    if position != "none":
        parts.append(("positions", Positions(6, 9 if position == "learned" else 0)))
    for i in range(options["depth"]):
        parts.append(("layer%d" % (i + 1),
                      Encoder(6, 2, 5, options.get("feed_forward") == "swiglu",
                              options.get("causal", True))))
    parts.append(("norm", nn.LayerNorm(6)))
    if options.get("output", "sequence") != "sequence":
        parts.append(("pool", Pool(options["output"] == "mean")))
    parts.append(("fc", nn.Linear(6, 2)))
    return case(name, description, parts, 3, 2, lengths)


def tcn(name, lengths, dilations, **options):
    """A tcn of the catalogue with four filters."""
    description = {"name": "tcn", "filters": 4, "dilations": dilations, "dropout": 0,
                   "normalisation": "none", **options}
    same = options.get("padding") == "same"
    parts = [("projection", nn.Linear(3, 4))]
    for i, dilation in enumerate(dilations):
        parts.append(("block%d" % (i + 1), Block(4, options.get("kernel", 3), dilation, same)))
    if options.get("output", "sequence") != "sequence":
        parts.append(("pool", Pool(options["output"] == "mean")))
    parts.append(("fc", nn.Linear(4, 1)))
    return case(name, description, parts, 3, 1, lengths)


def embedded(name, lengths):
    """Ids of a column, learned positions, two attention layers without a name for a block."""
    layers = [{"name": "in", "kind": "sequence_input", "normalisation": "none"},
              {"name": "e", "kind": "embedding", "ids": 5, "outputs": 4, "column": 1},
              {"name": "p", "kind": "positional_encoding", "encoding": "learned", "length": 9},
              {"name": "fc", "kind": "fully_connected"}]
    parts = [("e", Embedding(5, 4)), ("p", Positions(4, 9)), ("fc", nn.Linear(4, 2))]
    return case(name, {"layers": layers}, parts, 2, 2, lengths, ids=5)


def main():
    """Prints the cases."""
    torch.manual_seed(1)
    print(json.dumps([
        transformer("encoder, causal", [4, 1, 7, 4], depth=1),
        transformer("encoders, both ways, swiglu", [3, 6], depth=2, feed_forward="swiglu",
                    causal=False, position="learned"),
        transformer("encoder, last step", [5, 2, 8], depth=1, output="last", position="none"),
        transformer("encoder, mean", [2, 9], depth=1, output="mean", causal=False),
        tcn("tcn, causal", [5, 1, 9, 5], [1, 2]),
        tcn("tcn, same, even kernel", [6, 2, 7], [1, 3], padding="same", kernel=4),
        tcn("tcn, mean", [4, 8], [2], output="mean", kernel=2),
        embedded("embedding of a column", [6, 1, 9]),
    ]))


if __name__ == "__main__":
    main()
