#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Small state dicts as torch.save writes them, in both containers, and what they hold.

usage: make_weights.py            (needs python3-torch; writes weights/ beside it)

Every file holds the same tensors: types, a transposed and a narrowed view, one storage under two
names, a scalar, an empty one and the counter of a batch norm. tests/unit/core/files/test_weights.c
compares each with weights.txt: a line a tensor, "name dtype shape values".
"""
import collections
import os

import torch

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "weights")
NAMES = {torch.float32: "F32", torch.float16: "F16", torch.bfloat16: "BF16",
         torch.float64: "F64", torch.int64: "I64", torch.uint8: "U8", torch.bool: "BOOL"}


def tensors():
    """The tensors by name."""
    base = torch.arange(24, dtype=torch.float32).reshape(4, 6) / 8 - 1
    shared = torch.tensor([0.5, -0.25, 3.0])
    return collections.OrderedDict([
        ("features.0.weight", base.clone().reshape(2, 3, 2, 2)),
        ("transposed", base.t()),
        ("narrowed", base[1:3, 2:5]),
        ("tied.a", shared), ("tied.b", shared),
        ("half", torch.tensor([1.5, -0.1, 65504.0, 6e-8]).half()),
        ("brain", torch.tensor([1.5, -0.1, 3e38]).bfloat16()),
        ("double", torch.tensor([0.1, -1e300], dtype=torch.float64)),
        ("bytes", torch.tensor([0, 255], dtype=torch.uint8)),
        ("mask", torch.tensor([True, False])),
        ("scalar", torch.tensor(7.0)),
        ("empty", torch.zeros(0, 3)),
        ("bn.num_batches_tracked", torch.tensor(12, dtype=torch.int64)),
    ])


def main():
    """Writes the files."""
    os.makedirs(HERE, exist_ok=True)
    state = tensors()
    nested = {"epoch": 90, "state_dict": state, "optimizer": {"state": {0: {"momentum": state["half"]}},
              "param_groups": [{"lr": 0.1, "params": [0]}]}, "best": -1.5, "arch": "none"}
    for name, value in (("plain", state), ("nested", nested)):
        torch.save(value, "%s/%s.pth" % (HERE, name))
        torch.save(value, "%s/%s-stream.pth" % (HERE, name), _use_new_zipfile_serialization=False)
    model = torch.nn.BatchNorm1d(2)  # its state dict carries attributes (_metadata)
    torch.save(model.state_dict(), "%s/module.pth" % HERE)
    torch.save({"p": torch.nn.Parameter(torch.ones(2))}, "%s/parameter.pth" % HERE)
    torch.save(torch.nn.Linear(2, 1), "%s/whole-model.pth" % HERE)
    with open("%s/weights.txt" % HERE, "w", encoding="ascii") as file:
        for name in sorted(state):
            value = state[name]
            file.write("%s %s %s %s\n" % (
                name, NAMES[value.dtype], ",".join(map(str, value.shape)) or "-",
                ",".join("%.17g" % v for v in value.double().flatten().tolist()) or "-"))


if __name__ == "__main__":
    main()
