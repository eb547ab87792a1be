#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Small networks as PyTorch exports them to ONNX, and what PyTorch says of one batch.

usage: make_onnx_export.py     (needs python3-torch; writes onnx/export_*.onnx and .json beside it, and
                                the models as seeds of tests/fuzz/fuzz_onnx.c)

cnn: batch norm kept, gelu, depthwise convolution, a sum, a concatenation; folded: the same with its
batch norms folded into convolutions; lstm: an LSTM and a linear layer on every step; unknown:
operators that the core lacks. tests/unit/core/exchange/test_onnx.c reads them.
"""
import json
import os
import shutil

import torch
from torch import nn

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "onnx")


class Cnn(nn.Module):
    """A bit of everything that image networks have."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1, bias=False), nn.BatchNorm2d(4), nn.ReLU6())
        self.pool = nn.MaxPool2d(3, 2, ceil_mode=True)
        self.depthwise = nn.Conv2d(4, 4, 3, padding=1, groups=4)
        self.gelu = nn.GELU()
        self.left, self.right = nn.Conv2d(4, 3, 1), nn.Conv2d(4, 2, 3, stride=1, padding=(1, 1))
        self.norm = nn.LocalResponseNorm(3)
        self.leaky = nn.LeakyReLU(0.2)
        self.average = nn.AvgPool2d(2)
        self.drop, self.fc = nn.Dropout(0.3), nn.Linear(5 * 2 * 2, 6)
        self.elu, self.head = nn.ELU(), nn.Linear(6, 3, bias=False)

    def forward(self, x):
        """Scores."""
        x = self.pool(self.stem(x))
        x = x + self.gelu(self.depthwise(x))
        x = torch.cat([torch.tanh(self.left(x)), torch.sigmoid(self.right(x))], 1)
        x = torch.flatten(self.average(self.leaky(x)), 1)
        return self.head(self.elu(self.fc(self.drop(x))))


class Lstm(nn.Module):
    """Numbers for every step."""

    def __init__(self):
        super().__init__()
        self.lstm, self.fc = nn.LSTM(3, 4), nn.Linear(4, 2)

    def forward(self, x):
        """[T, N, C]."""
        return self.fc(torch.relu(self.lstm(x)[0]))


class Unknown(nn.Module):
    """What the core lacks."""

    def forward(self, x):
        """Two operators."""
        return torch.cos(torch.sin(x)) + torch.sin(x)


def export(name, model, x, **more):
    """The file, and input and output as JSON."""
    path = os.path.join(HERE, "export_%s" % name)
    model.eval()
    torch.onnx.export(model, x, path + ".onnx", opset_version=13, **more)
    shutil.copy(path + ".onnx", os.path.join(HERE, "../../fuzz/corpus/fuzz_onnx"))
    with torch.no_grad(), open(path + ".json", "w", encoding="ascii") as file:
        y = model(x)
        json.dump({"shape": list(x.shape), "input": [round(v, 7) for v in x.flatten().tolist()],
                   "output": y.flatten().tolist()}, file)


def main():
    """Writes the files."""
    torch.manual_seed(4)
    cnn, x = Cnn(), torch.randint(-100, 100, (2, 3, 9, 9)) / 64
    with torch.no_grad():
        for name, value in cnn.named_buffers():
            if "running" in name:
                value.copy_(torch.rand(value.shape) + 0.5)
    export("cnn", cnn, x, training=torch.onnx.TrainingMode.PRESERVE, do_constant_folding=False)
    export("folded", cnn, x)
    export("lstm", Lstm(), torch.randint(-100, 100, (5, 2, 3)) / 64)
    export("unknown", Unknown(), x)


if __name__ == "__main__":
    main()
