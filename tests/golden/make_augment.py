#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Writes augment.json: images changed by PyTorch's affine_grid and grid_sample, and colours by the formulas.
usage: /usr/bin/python3 tests/golden/make_augment.py > tests/golden/augment.json

Each step of a chain is a 3 x 3 matrix of its own in pixels about the image's centre; their product, inverted and taken
to affine_grid's units, is one grid (align_corners=False, zeros outside). The fill value is what the sampled weights
leave: grid_sample of an image of ones. Levels are given before they are rounded.
"""
import json
import math

import torch

NEUTRAL = {"x_mirrored": False, "y_mirrored": False, "scale": [1, 1], "shear_degrees": [0, 0], "rotation_degrees": 0,
           "translation": [0, 0], "padded": [0, 0], "window": None, "brightness": 1, "contrast": 1, "saturation": 1,
           "hue": 0, "fill": [0, 0, 0]}
CASES = [
    {"rotation_degrees": 30},
    {"rotation_degrees": -90, "fill": [9, 9, 9]},
    {"scale": [1.5, 1.5]},
    {"scale": [0.6, 1.3], "fill": [255, 0, 40]},
    {"shear_degrees": [20, 0]},
    {"shear_degrees": [-15, 35]},
    {"translation": [1.25, -2.5], "fill": [100, 150, 200]},
    {"x_mirrored": True, "rotation_degrees": 12},
    {"y_mirrored": True, "padded": [2, -1], "scale": [1.1, 0.9]},
    {"window": [1.5, 0.75, 5.25, 4.5]},
    {"window": [0, 2, 9, 3.5], "x_mirrored": True},
    {"x_mirrored": True, "y_mirrored": True, "scale": [0.8, 1.2], "shear_degrees": [10, -5], "rotation_degrees": 77,
     "translation": [-0.5, 1.5], "padded": [1, 1], "window": [1, 1, 6, 5], "fill": [1, 2, 3]},
    {"translation": [300, 0], "fill": [7, 8, 9]},
    {"brightness": 1.4},
    {"contrast": 0.3, "brightness": 0.8},
    {"saturation": 0},
    {"saturation": 1.7},
    {"hue": 0.25},
    {"hue": -0.1, "saturation": 0.5, "contrast": 1.5, "brightness": 0.9, "rotation_degrees": 45, "fill": [50, 60, 70]},
]


def forward(change, height, width):
    """The map of positions in src (pixels from the corner) to those in dst."""
    def matrix(a, b, c, d, e, f):
        return torch.tensor([[a, b, c], [d, e, f], [0, 0, 1]], dtype=torch.float64)

    angle = math.radians(change["rotation_degrees"])
    shear = [math.tan(math.radians(s)) for s in change["shear_degrees"]]
    window = change["window"] or [0, 0, width, height]
    steps = [matrix(1, 0, -width / 2, 0, 1, -height / 2),
             matrix(-1 if change["x_mirrored"] else 1, 0, 0, 0, -1 if change["y_mirrored"] else 1, 0),
             matrix(change["scale"][0], 0, 0, 0, change["scale"][1], 0),
             matrix(1, shear[0], 0, 0, 1, 0), matrix(1, 0, 0, shear[1], 1, 0),
             matrix(math.cos(angle), -math.sin(angle), 0, math.sin(angle), math.cos(angle), 0),
             matrix(1, 0, change["translation"][0], 0, 1, change["translation"][1]),
             matrix(1, 0, width / 2, 0, 1, height / 2),
             matrix(1, 0, -change["padded"][0], 0, 1, -change["padded"][1]),
             matrix(1, 0, -window[0], 0, 1, -window[1]),
             matrix(width / window[2], 0, 0, 0, height / window[3], 0)]
    out = torch.eye(3, dtype=torch.float64)
    for step in steps:
        out = step @ out
    return out


def grid_of(change, height, width):
    """affine_grid's theta: in units of half the size from the centre."""
    units = torch.tensor([[width / 2, 0, width / 2], [0, height / 2, height / 2], [0, 0, 1]], dtype=torch.float64)
    theta = torch.linalg.inv(units) @ torch.linalg.inv(forward(change, height, width)) @ units
    return torch.nn.functional.affine_grid(theta[None, :2], [1, 1, height, width], align_corners=False)


def colours(image, change):
    """Brightness, contrast, saturation, hue, one after the other; image is channels x height x width."""
    image = image * change["brightness"]
    grey_of = torch.tensor([0.299, 0.587, 0.114], dtype=torch.float64)
    grey = image[0] if len(image) == 1 else torch.einsum("c,chw->hw", grey_of, image)
    image = change["contrast"] * image + (1 - change["contrast"]) * grey.mean()
    if len(image) == 3:
        grey = torch.einsum("c,chw->hw", grey_of, image)
        image = change["saturation"] * image + (1 - change["saturation"]) * grey
        yiq = torch.tensor([[0.299, 0.587, 0.114], [0.596, -0.274, -0.322], [0.211, -0.523, 0.312]],
                           dtype=torch.float64)
        y, i, q = torch.einsum("kc,chw->khw", yiq, image)
        turned = torch.complex(i, q) * torch.exp(torch.tensor(2j * math.pi * change["hue"]))
        image = torch.einsum("kc,chw->khw", torch.linalg.inv(yiq), torch.stack([y, turned.real, turned.imag]))
    return image


def run(change, image):
    """What becomes of an image of height x width x channels."""
    height, width, channels = image.shape
    grid = grid_of(change, height, width)
    planes = colours(image.permute(2, 0, 1).to(torch.float64), change)
    def sample(x):
        return torch.nn.functional.grid_sample(x[None], grid, align_corners=False)[0]

    within = sample(torch.ones(1, height, width, dtype=torch.float64))
    fill = torch.tensor(change["fill"][:channels], dtype=torch.float64)[:, None, None]
    return (sample(planes) + (1 - within) * fill).clamp(0, 255).permute(1, 2, 0)


def main():
    """All cases on pictures of 7 x 9 with 3 and with 1 channels."""
    out = []
    for channels in (3, 1):
        image = torch.tensor([(i * i * 7 + i * 37) % 251 for i in range(7 * 9 * channels)]).reshape(7, 9, channels)
        for case in CASES:
            change = {**NEUTRAL, **case}
            if channels == 1:
                change["saturation"], change["hue"] = 1, 0
            levels = [round(x, 4) for x in run(change, image).flatten().tolist()]
            out.append({"channels": channels, "change": change, "levels": levels})
    print("[" + ",\n".join(json.dumps(case) for case in out) + "]")


if __name__ == "__main__":
    main()
