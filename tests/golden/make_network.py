#!/usr/bin/python3
"""Writes network.json: small networks as PyTorch computes them, in double. Each case: our description,
parameters in PyTorch's order, input (channels last), labels, and what follows: scores in training mode,
gradients of the mean cross-entropy, running statistics after the step, scores in evaluation mode.
usage: /usr/bin/python3 tests/golden/make_network.py (PyTorch 1.13) > tests/golden/network.json"""
import json

import torch
from torch import nn

torch.set_default_dtype(torch.float64)


class Inception(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Conv2d(3, 4, 1)
        self.an = nn.BatchNorm2d(4, eps=1e-3)
        self.p = nn.MaxPool2d(3, 2, 1, ceil_mode=True)
        self.c = nn.Conv2d(4, 4, 3, padding=1)
        self.m = nn.AvgPool2d(2, 2, ceil_mode=True)
        self.fc = nn.Linear(4 + 4, 5)

    def forward(self, x):
        a = torch.relu(self.an(self.a(x)))
        a = self.p(a)
        c = torch.relu(self.c(a) + a)
        j = torch.cat([self.m(c), self.m(a)], 1)
        return self.fc(j.mean((2, 3)))


def layer(name, kind, **options):
    return {"name": name, "kind": kind, **options}


INCEPTION = {
    "layers": [
        layer("in", "image_input"), layer("a", "convolution", filters=4, kernel=1),
        layer("an", "batch_norm", epsilon=1e-3), layer("ar", "relu"),
        layer("p", "max_pool", kernel=3, stride=2, padding=1, ceil_mode=True),
        layer("c", "convolution", filters=4, kernel=3, padding=1), layer("s", "addition"),
        layer("sr", "relu"), layer("m1", "average_pool", kernel=2, ceil_mode=True),
        layer("m2", "average_pool", kernel=2, ceil_mode=True), layer("j", "concatenation"),
        layer("g", "global_average_pool"), layer("fc", "fully_connected"), layer("x", "softmax")],
    "connections": [["in", "a"], ["a", "an"], ["an", "ar"], ["ar", "p"], ["p", "c"], ["c", "s"],
                    ["p", "s"], ["s", "sr"], ["sr", "m1"], ["p", "m2"], ["m1", "j"], ["m2", "j"],
                    ["j", "g"], ["g", "fc"], ["fc", "x"]],
}


def simple_cnn(filters, kernel, height, width, channels, classes):
    rest = (height - kernel + 1) * (width - kernel + 1)
    names = [("conv1", nn.Conv2d(channels, filters, kernel)), ("bn1", nn.BatchNorm2d(filters)),
             ("relu1", nn.ReLU()), ("flatten", nn.Flatten()), ("fc", nn.Linear(filters * rest, classes))]
    module = nn.Sequential()
    for name, child in names:
        module.add_module(name, child)
    return module


def strided():
    module = nn.Sequential()
    for name, child in [("c1", nn.Conv2d(2, 3, 3, stride=2, padding=1)), ("b1", nn.BatchNorm2d(3)),
                        ("p", nn.AvgPool2d(3, 1, 1, count_include_pad=False)),
                        ("c2", nn.Conv2d(3, 4, 2)), ("r", nn.ReLU()), ("f", nn.Flatten()),
                        ("l1", nn.Linear(4 * 3 * 2, 6)), ("b2", nn.BatchNorm1d(6)), ("r2", nn.ReLU()),
                        ("l2", nn.Linear(6, 3))]:
        module.add_module(name, child)
    return module


def flat():
    module = nn.Sequential()
    for name, child in [("c", nn.Conv2d(2, 3, (3, 2), bias=False)), ("f", nn.Flatten()),
                        ("b", nn.BatchNorm1d(3 * 3 * 4)), ("r", nn.ReLU()),
                        ("l", nn.Linear(3 * 3 * 4, 4))]:
        module.add_module(name, child)
    return module


FLAT = {"layers": [
    layer("in", "image_input"), layer("c", "convolution", filters=3, kernel=[3, 2], bias=False),
    layer("f", "flatten"), layer("b", "batch_norm"), layer("r", "relu"),
    layer("l", "fully_connected"), layer("x", "softmax")]}


STRIDED = {"layers": [
    layer("in", "image_input"), layer("c1", "convolution", filters=3, kernel=3, stride=2, padding=1),
    layer("b1", "batch_norm"),
    layer("p", "average_pool", kernel=3, stride=1, padding=1, count_padding=False),
    layer("c2", "convolution", filters=4, kernel=2), layer("r", "relu"), layer("f", "flatten"),
    layer("l1", "fully_connected", outputs=6), layer("b2", "batch_norm"), layer("r2", "relu"),
    layer("l2", "fully_connected"), layer("x", "softmax")]}


def resized():
    module = nn.Sequential()
    for name, child in [
            ("r", nn.ReflectionPad2d((1, 2, 2, 1))), ("c", nn.Conv2d(4, 6, 3, groups=2, dilation=2)),
            ("a", nn.Tanh()), ("t", nn.ConvTranspose2d(6, 9, (3, 2), stride=2, padding=(1, 0),
                                                       output_padding=(1, 0), groups=3)),
            ("b", nn.BatchNorm2d(9)), ("s", nn.SiLU()), ("p", nn.ReplicationPad2d((2, 0, 1, 1))),
            ("u", nn.ConvTranspose2d(9, 2, (2, 3), dilation=(1, 2), padding=(1, 2), bias=False)),
            ("k", nn.ConstantPad2d((1, 0, 0, 2), 0.3)), ("q", nn.ZeroPad2d((-1, -2, 0, -1))),
            ("d", nn.ConvTranspose2d(2, 2, 2, stride=2, groups=2)), ("m", nn.Conv2d(2, 4, 2, groups=2, stride=4)),
            ("f", nn.Flatten()), ("l", nn.LazyLinear(3))]:
        module.add_module(name, child)
    module(torch.zeros(2, 4, 5, 4))
    return module


RESIZED = {"layers": [
    layer("in", "image_input"),
    layer("r", "spatial_padding", size=[2, 1, 1, 2], mode="reflect"),
    layer("c", "convolution", filters=6, kernel=3, groups=2, dilation=2), layer("a", "tanh"),
    layer("t", "transposed_convolution", filters=9, kernel=[3, 2], stride=2, padding=[1, 0],
          output_padding=[1, 0], groups=3), layer("b", "batch_norm"),
    layer("s", "silu"), layer("p", "spatial_padding", size=[1, 1, 2, 0], mode="replicate"),
    layer("u", "transposed_convolution", filters=2, kernel=[2, 3], dilation=[1, 2],
          padding=[1, 2], bias=False),
    layer("k", "spatial_padding", size=[0, 2, 1, 0], value=0.3),
    layer("q", "cropping", size=[0, 1, 1, 2]),
    layer("d", "transposed_convolution", filters=2, kernel=2, stride=2, groups=2),
    layer("m", "convolution", filters=4, kernel=2, groups=2, stride=4), layer("f", "flatten"),
    layer("l", "fully_connected"), layer("x", "softmax")]}


class ChannelNorm(nn.LayerNorm):
    """Layer normalisation of the channels of each pixel."""

    def forward(self, x):
        return super().forward(x.movedim(1, -1)).movedim(-1, 1)


class RmsNorm(nn.Module):
    """The channels of each pixel divided by their root mean square (Zhang, Sennrich 2019)."""

    def __init__(self, channels, eps):
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.ones(channels)), eps

    def forward(self, x):
        r = torch.rsqrt(x.square().mean(1, keepdim=True) + self.eps)
        return x * r * self.weight[:, None, None]


def norms():
    module = nn.Sequential()
    for name, child in [("c", nn.Conv2d(2, 6, 2)), ("n1", ChannelNorm(6, eps=1e-3)),
                        ("n2", nn.GroupNorm(3, 6)), ("n3", RmsNorm(6, 1e-2)), ("f", nn.Flatten()),
                        ("n4", nn.LayerNorm(6 * 4 * 3)), ("l", nn.Linear(6 * 4 * 3, 4))]:
        module.add_module(name, child)
    return module


NORMS = {"layers": [
    layer("in", "image_input"), layer("c", "convolution", filters=6, kernel=2),
    layer("n1", "layer_norm", epsilon=1e-3), layer("n2", "group_norm", groups=3),
    layer("n3", "rms_norm", epsilon=1e-2), layer("f", "flatten"), layer("n4", "layer_norm"),
    layer("l", "fully_connected"), layer("x", "softmax")]}


def hard():
    module = nn.Sequential()
    for name, child in [("c", nn.Conv2d(4, 6, 3)), ("h", nn.Hardswish()), ("f", nn.Flatten()),
                        ("l", nn.Linear(6 * 3 * 2, 4))]:
        module.add_module(name, child)
    return module


HARD = {"layers": [
    layer("in", "image_input"), layer("c", "convolution", filters=6, kernel=3),
    layer("h", "hard_swish"), layer("f", "flatten"), layer("l", "fully_connected"),
    layer("x", "softmax")]}


def numbers(tensor):
    return [float("%.12g" % v) for v in tensor.detach().reshape(-1).tolist()]


def case(name, description, module, shape, classes, batch):
    height, width, channels = shape
    for parameter in module.parameters():
        nn.init.uniform_(parameter, -0.6, 0.8)
    for key, buffer in module.named_buffers():
        if "running" in key:
            nn.init.uniform_(buffer, 0.3, 1.2)
    used = {k: v.clone() for k, v in module.state_dict().items() if "num_batches" not in k}
    x = torch.rand(batch, channels, height, width) * 2 - 1
    labels = torch.randint(0, classes, (batch,))
    module.eval()
    evaluation = module(x)
    module.train()
    scores = module(x)
    nn.functional.cross_entropy(scores, labels).backward()
    grads = {k: p.grad for k, p in module.named_parameters() if p.grad is not None}
    after = {k: v for k, v in module.state_dict().items() if "running" in k}
    used = {k: v for k, v in used.items() if k in grads or k in after}
    return {"name": name, "description": description, "height": height, "width": width,
            "channels": channels, "classes": classes, "batch": batch,
            "parameters": {k: numbers(v) for k, v in used.items()},
            "input": numbers(x.permute(0, 2, 3, 1)), "labels": labels.tolist(),
            "evaluation_scores": numbers(evaluation), "scores": numbers(scores),
            "gradients": {k: numbers(v) for k, v in grads.items()},
            "statistics": {k: numbers(v) for k, v in after.items()}}


def main():
    torch.manual_seed(1)
    cases = [
        case("simple_cnn", {"name": "simple_cnn", "filters": 3, "kernel": 3},
             simple_cnn(3, 3, 6, 5, 2, 4), (6, 5, 2), 4, 5),
        case("inception", INCEPTION, Inception(), (7, 6, 3), 5, 4),
        case("flat", FLAT, flat(), (5, 5, 2), 4, 4),
        case("strided", STRIDED, strided(), (8, 6, 2), 3, 6),
        case("resized", RESIZED, resized(), (5, 4, 4), 3, 3),
        case("norms", NORMS, norms(), (5, 4, 2), 4, 3),
        case("hard", HARD, hard(), (5, 4, 4), 4, 3),
    ]
    print(json.dumps(cases))


main()
