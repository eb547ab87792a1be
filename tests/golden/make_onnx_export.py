#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Small networks as PyTorch exports them to ONNX, and what PyTorch says of one batch.

usage: make_onnx_export.py     (needs python3-torch; writes onnx/export_*.onnx and .json beside it, and
                                the models as seeds of tests/fuzz/fuzz_onnx.c)

cnn: batch norm kept, gelu, depthwise convolution, a sum, a concatenation; folded: the same with its
batch norms folded into convolutions; lstm: an LSTM and a linear layer on every step; unknown:
operators that the core lacks; frames: padding, cropping, transposed convolution and norms; recurrent:
GRU and LSTM of both directions with norms, up to their last states; refused: uses of operators that no
layer has. tests/unit/core/exchange/test_onnx.c reads them.
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


class Frames(nn.Module):
    """What makes images larger and smaller, and norms within a sample."""

    def __init__(self):
        super().__init__()
        self.mirror, self.edge = nn.ReflectionPad2d((1, 0, 2, 1)), nn.ReplicationPad2d((0, 1, 0, 0))
        self.up = nn.ConvTranspose2d(4, 4, 3, 2, (1, 0), (1, 0), groups=2)
        self.conv, self.groups, self.each = nn.Conv2d(3, 4, 3, 2), nn.GroupNorm(2, 4), nn.InstanceNorm2d(4, affine=True)
        self.last, self.down, self.fc = nn.LayerNorm(4), nn.Conv2d(4, 2, 3, 4), nn.Linear(2 * 2 * 2, 3)

    def forward(self, x):
        """Scores."""
        x = self.groups(self.conv(self.mirror(x)))
        x = nn.functional.pad(self.each(self.up(x)), (1, 0, 0, 1), value=0.5)[:, :, 1:, :-2]
        x = self.last(self.edge(x).permute(0, 2, 3, 1)).permute(0, 3, 1, 2)
        return self.fc(torch.flatten(self.down(x), 1))


class Recurrent(nn.Module):
    """A row of each sequence."""

    def __init__(self):
        super().__init__()
        self.gru, self.norm = nn.GRU(3, 4, bidirectional=True), nn.LayerNorm(8)
        self.lstm, self.fc = nn.LSTM(8, 3, bidirectional=True), nn.Linear(6, 2)

    def forward(self, x):
        """Both last states."""
        last = self.lstm(self.norm(self.gru(x)[0]))[1][0]
        return self.fc(torch.cat([last[-2], last[-1]], 1))


class Refused(nn.Module):
    """An end that is counted from the front, pixels and channels at once, a norm of columns, another transposition."""

    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(5)

    def forward(self, x):
        """[N, C, H, W]."""
        x = nn.functional.pad(x[:, :, :4, :5], (0, 0, 1, 0, 1, 0))
        return self.norm(x).permute(0, 1, 3, 2)


class Unknown(nn.Module):
    """What the core lacks."""

    def forward(self, x):
        """Two operators."""
        return torch.cos(torch.sin(x)) + torch.sin(x)


def export(name, model, x, opset=13, **more):
    """The file, and input and output as JSON."""
    path = os.path.join(HERE, "export_%s" % name)
    model.eval()
    torch.onnx.export(model, x, path + ".onnx", opset_version=opset, **more)
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
    frames, recurrent = Frames(), Recurrent()
    for p in [*frames.parameters(), *recurrent.parameters()]:
        if p.dim() == 1:
            nn.init.normal_(p, 0.3, 0.4)
    export("frames", frames, x)
    export("recurrent", recurrent, torch.randint(-100, 100, (5, 2, 3)) / 64, opset=17)
    export("refused", Refused(), x[:1, :1], opset=17)


if __name__ == "__main__":
    main()
