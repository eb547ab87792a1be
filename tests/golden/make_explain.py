#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Writes explain.json: Grad-CAM, activations, occlusion and LIME of small networks as PyTorch and numpy compute them,
in double, in evaluation mode. Each case: our description, parameters in PyTorch's order, a sample (bytes, of a signal
floats, channels last), and what follows: scores, the activation of a layer (channels last), and for every class the
weights of the channels, the map, the map enlarged by torch.nn.functional.interpolate, and the maps of what hides.
usage: /usr/bin/python3 tests/golden/make_explain.py (PyTorch 1.13) > tests/golden/explain.json"""
import json
import sys

import numpy
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


class Wave(nn.Module):
    """A window of a signal: to us an image of one row."""

    def __init__(self):
        super().__init__()
        self.c1 = nn.Conv2d(2, 4, (1, 5), stride=(1, 2), padding=(0, 2))
        self.c2 = nn.Conv2d(4, 3, (1, 3))
        self.fc = nn.Linear(3, 2)

    def forward(self, x):
        """Scores, features."""
        x = torch.relu(self.c1(x))
        self.shown = x
        x = torch.relu(self.c2(x))
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
WAVE = {"layers": [
    layer("in", "image_input"), layer("c1", "convolution", filters=4, kernel=[1, 5], stride=[1, 2], padding=[0, 2]),
    layer("r1", "relu"), layer("c2", "convolution", filters=3, kernel=[1, 3]), layer("r2", "relu"),
    layer("g", "global_average_pool"), layer("fc", "fully_connected"), layer("x", "softmax")]}


def rounded(tensor):
    """Numbers with 12 digits."""
    return [float("%.12g" % value) for value in tensor.flatten().tolist()]


def last(tensor):
    """C, H, W to H, W, C."""
    return tensor.permute(1, 2, 0)


# ---------------------------------------------------------------------------------------------- what hides


def starts(side, mask, stride):
    """Where a mask stands along a side: the last at the far end."""
    return sorted({min(at, side - mask) for at in range(0, side - mask + stride, stride)})


def occlusion(score, sample, fill, mask, stride):
    """For every class how far the score falls, a mean over the masks that cover a place. sample: H, W, C."""
    height, width, _ = sample.shape
    whole = score(sample)
    sums = torch.zeros(len(whole), height, width)
    count = torch.zeros(height, width)
    for y in starts(height, mask[0], stride[0]):
        for x in starts(width, mask[1], stride[1]):
            hidden = sample.clone()
            hidden[y:y + mask[0], x:x + mask[1]] = fill
            sums[:, y:y + mask[0], x:x + mask[1]] += (whole - score(hidden))[:, None, None]
            count[y:y + mask[0], x:x + mask[1]] += 1
    return sums / count


def philox(counter, key):
    """Philox4x32-10 (Salmon et al., SC'11)."""
    for _ in range(10):
        first, second = 0xD2511F53 * counter[0], 0xCD9E8D57 * counter[2]
        counter = [(second >> 32) ^ counter[1] ^ key[0], second & 0xFFFFFFFF,
                   (first >> 32) ^ counter[3] ^ key[1], first & 0xFFFFFFFF]
        key = [(key[0] + 0x9E3779B9) & 0xFFFFFFFF, (key[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return counter


def shown(copy, segments, seed):
    """Which segments a copy shows: bits of the stream (seed, purpose 14, copy); the first copy is the sample."""
    if copy == 0:
        return numpy.ones(segments)
    words = [word for block in range(segments // 128 + 1) for word in philox([block, copy, 0, 14 << 24], [seed, 0])]
    return numpy.array([words[j // 32] >> (j % 32) & 1 for j in range(segments)], numpy.float64)


def grid(height, width, wanted):
    """The segment of each place."""
    rows = min(max(int((wanted * height / width) ** 0.5 + 0.5), 1), height, wanted)
    columns = min(max(int(wanted / rows + 0.5), 1), width)
    y, x = numpy.mgrid[:height, :width]
    return y * rows // height * columns + x * columns // width


def lime(score, sample, fill, segments, copies, seed):
    """For every class the coefficient of each place's segment: weighted ridge regression, the intercept free."""
    cells = grid(*sample.shape[:2], segments)
    z = numpy.array([shown(i, cells.max() + 1, seed) for i in range(copies)])
    answers = []
    for row in z:
        hidden = sample.clone()
        hidden[torch.tensor(row[cells] == 0)] = fill
        answers.append(score(hidden).numpy())
    weights = numpy.exp(-8 * (1 - numpy.sqrt(z.mean(1))) ** 2)
    design = numpy.hstack([z, numpy.ones((copies, 1))])
    ridge = numpy.diag([1.0] * z.shape[1] + [0.0])
    found = numpy.linalg.solve(design.T @ (weights[:, None] * design) + ridge,
                               design.T @ (weights[:, None] * numpy.array(answers)))
    return torch.tensor(found[:-1].T[:, cells])


HIDING = {"plain": {"fill": [120.4, 77, 200], "mask": [5, 4], "stride": [3, 3], "segments": 30, "copies": 90, "seed": 7},
          "branches": {"fill": [9], "mask": [2, 9], "stride": [2, 1], "segments": 150, "copies": 70, "seed": 1},
          "wave": {"fill": [0.25, -1.5], "mask": [1, 6], "stride": [1, 4], "segments": 8, "copies": 40, "seed": 4294967295}}


def case(name, module, description, shown_layer, features, size):
    """The figures of a network on one sample."""
    torch.manual_seed(len(name))
    for key, value in module.state_dict().items():
        if value.dtype == torch.float64:
            value.copy_(0.5 + torch.rand_like(value) if key.endswith("running_var") else torch.rand_like(value) - 0.4)
    channels, height, width = size
    signal = height == 1
    sample = torch.randint(0, 256, (height, width, channels))
    sample = (sample - 128) / 64 if signal else sample.to(torch.float64)
    module.eval()

    def enter(values):
        x = values.permute(2, 0, 1)[None]
        return x if signal else x / 127.5 - 1

    def score(values):
        with torch.no_grad():
            return module(enter(values))[0][0]

    scores, maps = module(enter(sample))
    activation = last(module.shown[0])
    hiding = HIDING[name]
    fill = torch.tensor([float(x) for x in hiding["fill"]])
    fill = fill if signal else torch.floor(fill + 0.5)
    hidden = {"occlusion": occlusion(score, sample, fill, hiding["mask"], hiding["stride"]),
              "lime": lime(score, sample, fill, hiding["segments"], hiding["copies"], hiding["seed"])}
    classes = []
    for k in range(scores.shape[1]):
        grad = torch.autograd.grad(scores[0, k], maps, retain_graph=True)[0][0]
        weights = grad.mean((1, 2))
        cam = torch.relu((weights[:, None, None] * maps[0]).sum(0))
        large = nn.functional.interpolate(cam[None, None], size=(height, width), mode="bilinear", align_corners=False)
        classes.append({"weights": rounded(weights), "map": rounded(cam), "enlarged": rounded(large),
                        **{method: rounded(found[k]) for method, found in hidden.items()}})
    values = {key: value for key, value in module.state_dict().items() if value.dtype == torch.float64}
    numbers = sample.flatten().tolist()
    return {"name": name, "description": description, "height": height, "width": width, "channels": channels,
            "class_count": len(classes), "signal": signal,
            "sample": numbers if signal else [int(x) for x in numbers], "layer": shown_layer, "features": features,
            "parameters": {key: value.flatten().tolist() for key, value in values.items()}, "scores": rounded(scores),
            "activation": rounded(activation), "hiding": hiding, "classes": classes}


def main():
    """Prints the cases."""
    json.dump([case("plain", Plain(), PLAIN, "r1", "r2", (3, 14, 12)),
               case("branches", Branches(), BRANCHES, "sr", "j", (1, 7, 9)),
               case("wave", Wave(), WAVE, "r1", "r2", (2, 1, 30))], sys.stdout, separators=(",", ":"))
    print()


if __name__ == "__main__":
    main()
