#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Writes explain.json: Grad-CAM and activations of small networks as PyTorch computes them, in double, in
evaluation mode. Each case: our description, parameters in PyTorch's order, a picture (bytes, channels
last), and what follows: scores, the activation of a layer (channels last), and for every class the weights
of the channels, the map, and the map enlarged by torch.nn.functional.interpolate.
usage: /usr/bin/python3 tests/golden/make_explain.py (PyTorch 1.13) > tests/golden/explain.json"""
import json
import sys

import torch
from torch import nn

torch.set_default_dtype(torch.float64)


class Plain(nn.Module):
    """A fully connected head, dropout, a stride: the map is smaller than the picture."""

    def __init__(self):
        super().__init__()
        self.c1 = nn.Conv2d(3, 5, 3, padding=1)
        self.n1 = nn.BatchNorm2d(5)
        self.c2 = nn.Conv2d(5, 4, 3)
        self.n2 = nn.BatchNorm2d(4)
        self.drop = nn.Dropout(0.5)
        self.fc = nn.Linear(4 * 5 * 4, 3)

    def forward(self, x):
        """Scores, features."""
        x = torch.relu(self.n1(self.c1(x)))
        self.shown = x
        x = nn.functional.max_pool2d(x, 2)
        x = torch.relu(self.n2(self.c2(x)))
        return self.fc(torch.flatten(self.drop(x), 1)), x


class Branches(nn.Module):
    """Two branches joined, averaged: the map is that of the concatenation."""

    def __init__(self):
        super().__init__()
        self.s = nn.Conv2d(1, 3, 1)
        self.a = nn.Conv2d(3, 2, 1)
        self.b = nn.Conv2d(3, 3, 3, padding=1)
        self.fc = nn.Linear(5, 4)

    def forward(self, x):
        """Scores, features."""
        x = torch.relu(self.s(x))
        self.shown = x
        x = torch.cat([torch.relu(self.a(x)), torch.relu(self.b(x))], 1)
        return self.fc(x.mean((2, 3))), x


def layer(name, kind, **options):
    """A layer of a description."""
    return {"name": name, "kind": kind, **options}


PLAIN = {"layers": [
    layer("in", "image_input"), layer("c1", "convolution", filters=5, kernel=3, padding=1), layer("n1", "batch_norm"),
    layer("r1", "relu"), layer("p1", "max_pool", kernel=2, stride=2), layer("c2", "convolution", filters=4, kernel=3),
    layer("n2", "batch_norm"), layer("r2", "relu"), layer("drop", "dropout", rate=0.5),
    layer("fc", "fully_connected"), layer("x", "softmax")]}
BRANCHES = {"layers": [
    layer("in", "image_input"), layer("s", "convolution", filters=3, kernel=1), layer("sr", "relu"),
    layer("a", "convolution", filters=2, kernel=1), layer("ar", "relu"),
    layer("b", "convolution", filters=3, kernel=3, padding=1), layer("br", "relu"), layer("j", "concatenation"),
    layer("g", "global_average_pool"), layer("fc", "fully_connected"), layer("x", "softmax")],
    "connections": [["in", "s"], ["s", "sr"], ["sr", "a"], ["a", "ar"], ["sr", "b"], ["b", "br"], ["ar", "j"],
                    ["br", "j"], ["j", "g"], ["g", "fc"], ["fc", "x"]]}


def rounded(tensor):
    """Numbers with 12 digits."""
    return [float("%.12g" % value) for value in tensor.flatten().tolist()]


def last(tensor):
    """C, H, W to H, W, C."""
    return tensor.permute(1, 2, 0)


def case(name, module, description, shown, features, size):
    """The figures of a network on one picture."""
    torch.manual_seed(len(name))
    for key, value in module.state_dict().items():
        if value.dtype == torch.float64:
            value.copy_(0.5 + torch.rand_like(value) if key.endswith("running_var") else torch.rand_like(value) - 0.4)
    channels, height, width = size
    pixels = torch.randint(0, 256, (height, width, channels))
    x = pixels.permute(2, 0, 1)[None].to(torch.float64) / 127.5 - 1
    scores, maps = module.eval()(x)
    classes = []
    for k in range(scores.shape[1]):
        grad = torch.autograd.grad(scores[0, k], maps, retain_graph=True)[0][0]
        weights = grad.mean((1, 2))
        cam = torch.relu((weights[:, None, None] * maps[0]).sum(0))
        large = nn.functional.interpolate(cam[None, None], size=(height, width), mode="bilinear", align_corners=False)
        classes.append({"weights": rounded(weights), "map": rounded(cam), "enlarged": rounded(large)})
    values = {key: value for key, value in module.state_dict().items() if value.dtype == torch.float64}
    return {"name": name, "description": description, "height": height, "width": width, "channels": channels,
            "class_count": len(classes), "pixels": pixels.flatten().tolist(), "layer": shown, "features": features,
            "parameters": {key: value.flatten().tolist() for key, value in values.items()}, "scores": rounded(scores),
            "activation": rounded(last(module.shown[0])), "classes": classes}


def main():
    """Prints the cases."""
    json.dump([case("plain", Plain(), PLAIN, "r1", "r2", (3, 14, 12)),
               case("branches", Branches(), BRANCHES, "sr", "j", (1, 7, 9))], sys.stdout, separators=(",", ":"))
    print()


if __name__ == "__main__":
    main()
