#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Residual shrinkage networks of the catalogue beside PyTorch's.

usage: peer_shrinkage.py DRIVER

The networks of Zhao et al. 2020 are written here from the paper, in PyTorch, with random weights and
statistics. In double: scores in evaluation, the loss, the gradient of every parameter and the
running statistics after one batch, and the losses of the steps after it (row 5.2).

DRIVER is the built tests/accept/image_driver of MODE=f64. Needs Debian's python3-torch. The exit
status is 0 when every line says "ok": true.
"""
import json
import os
import subprocess
import sys
import tempfile

from peer import environment, report
from peer_simple_cnn import write_safetensors

if __name__ == "__main__":
    environment()
import numpy  # noqa: E402  after the environment is right
import torch  # noqa: E402
from torch import nn  # noqa: E402

from peer_image_networks import CLASSES, Driver, difference, learned  # noqa: E402

BATCH, SIZE, STEPS, BOUND = 4, 32, 5, 1e-9


def convolution(channels, filters, stride, flat):
    """3 x 3, or with signals 1 x 3."""
    if flat:
        return nn.Conv2d(channels, filters, (1, 3), (1, stride), (0, 1))
    return nn.Conv2d(channels, filters, 3, stride, 1)


class Unit(nn.Module):
    """RSBU-CS or RSBU-CW."""

    def __init__(self, channels, filters, stride, flat, shared):
        super().__init__()
        self.step = (1 if flat else stride, stride)
        self.pad = (filters - channels) // 2
        self.shared = shared
        self.bn1, self.bn2 = nn.BatchNorm2d(channels), nn.BatchNorm2d(filters)
        self.conv1 = convolution(channels, filters, stride, flat)
        self.conv2 = convolution(filters, filters, 1, flat)
        self.fc1, self.bn3 = nn.Linear(filters, filters), nn.BatchNorm1d(filters)
        self.fc2 = nn.Linear(filters, 1 if shared else filters)

    def threshold(self, x):
        """tau, [N, C or 1, 1, 1]."""
        mean = x.abs().mean((2, 3))
        alpha = torch.sigmoid(self.fc2(torch.relu(self.bn3(self.fc1(mean)))))
        level = mean.mean(1, keepdim=True) if self.shared else mean
        return (alpha * level)[:, :, None, None]

    def forward(self, x):
        y = self.conv1(torch.relu(self.bn1(x)))
        y = self.conv2(torch.relu(self.bn2(y)))
        y = torch.sign(y) * torch.relu(y.abs() - self.threshold(y))
        shortcut = x[:, :, ::self.step[0], ::self.step[1]]
        return y + nn.functional.pad(shortcut, (0, 0, 0, 0, self.pad, self.pad))


class Shrinkage(nn.Module):
    """The whole network; its names are those of the catalogue."""

    def __init__(self, flat, shared):
        super().__init__()
        self.conv1, channels = convolution(3, 4, 2, flat), 4
        for stage, filters in enumerate((4, 8, 16), 1):
            units = []
            for i in range(4):
                units.append(Unit(channels, filters, 1 if i else 2, flat, shared))
                channels = filters
            setattr(self, "stage%d" % stage, nn.Sequential(*units))
        self.bn, self.fc = nn.BatchNorm2d(16), nn.Linear(16, CLASSES)

    def forward(self, x):
        y = self.stage3(self.stage2(self.stage1(self.conv1(x))))
        return self.fc(torch.relu(self.bn(y)).mean((2, 3)))


def random_model(flat, shared):
    """With random scales, shifts and statistics, so that nothing is 0 or 1 by chance."""
    torch.manual_seed(7)
    model = Shrinkage(flat, shared)
    for module in model.modules():
        if isinstance(module, (nn.BatchNorm1d, nn.BatchNorm2d)):
            nn.init.uniform_(module.weight, 0.8, 1.2)
            nn.init.normal_(module.bias, 0, 0.1)
            nn.init.normal_(module.running_mean, 0, 0.1)
            nn.init.uniform_(module.running_var, 0.5, 1.5)
    return model


def scores(driver, name, weights, x, operators):
    """Scores in evaluation, in double."""
    source, out = (os.path.join(driver.directory, part) for part in ("input", "scores"))
    x.permute(0, 2, 3, 1).contiguous().numpy().tofile(source)
    subprocess.run([driver.path, "infer", json.dumps({"name": name}), weights, source,
                    str(len(x)), str(SIZE), str(CLASSES), operators, "", out],
                   stdout=subprocess.DEVNULL, check=True)
    return torch.from_numpy(numpy.fromfile(out)).reshape(len(x), CLASSES)


def worst_gradient(found, exact):
    """The largest difference relative to the parameter's largest, and its name. What a batch norm
    behind it undoes has no gradient but rounding: hence the floor."""
    floor = 1e-4 * max(float(value.abs().max()) for value in exact.values())
    return max((float((found[name] - value.flatten()).abs().max())
                / max(floor, float(value.abs().max())), name) for name, value in exact.items())


def lines(driver):
    """A line a network and set of operators."""
    for name in ("drsn_cs_1d", "drsn_cw_1d", "drsn_cs_2d", "drsn_cw_2d"):
        model = random_model(name.endswith("1d"), "_cs_" in name)
        path = os.path.join(driver.directory, "random.safetensors")
        write_safetensors(path, model)
        model, x = model.double(), torch.randn(BATCH, 3, SIZE, SIZE, dtype=torch.float64)
        with torch.no_grad():
            theirs = model.eval()(x)
        losses, exact = learned(model.train(), x, STEPS)
        for operators in ("plain", "optimised"):
            ours = scores(driver, name, path, x, operators)
            our_losses, found = driver.learn({"name": name}, path, x, operators, STEPS)
            line = {"row": "5.2", "network": name, "operators": operators,
                    "scores": difference(ours, theirs), "worst": worst_gradient(found, exact),
                    "losses": max(abs(a - b) / b for a, b in zip(our_losses, losses)),
                    "names": set(found) - {"input.mean", "input.std"} == set(exact),
                    "bound": BOUND}
            line["ok"] = line["names"] and all(
                figure <= BOUND for figure in (line["scores"], line["worst"][0], line["losses"]))
            yield line


if __name__ == "__main__":
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory(prefix="assay-peer-") as temporary:
        sys.exit(report(lines(Driver(sys.argv[1], temporary))))
