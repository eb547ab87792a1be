#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Writes tests/golden/sequences.json: small LSTM networks as PyTorch computes them, in double, each
sequence by itself: outputs, half mean squared error, gradients.

usage: make_sequences.py > tests/golden/sequences.json
"""
import json

import torch
from torch import nn

torch.set_default_dtype(torch.float64)


def numbers(tensor):
    """A flat list, twelve digits."""
    return [float("%.12g" % v) for v in tensor.detach().reshape(-1).tolist()]


def case(name, features, units, responses, lengths, last):
    """A network of len(units) LSTM layers and a fully connected one."""
    sizes = [features] + units
    layers = [nn.LSTM(sizes[i], sizes[i + 1]) for i in range(len(units))]
    fc = nn.Linear(units[-1], responses)
    for module in layers + [fc]:
        for parameter in module.parameters():
            nn.init.uniform_(parameter, -0.7, 0.8)
    x = [torch.rand(n, features) * 4 - 2 for n in lengths]
    y = [torch.rand(1 if last else n, responses) for n in lengths]
    outputs, loss = [], 0
    for one, target in zip(x, y):
        h = one
        for layer in layers:
            h, _ = layer(h)
        outputs.append(fc(h[-1:] if last else h))
        loss = loss + ((outputs[-1] - target) ** 2).sum() / (2 * len(target)) / len(x)
    loss.backward()
    parameters, gradients = {}, {}
    for i, layer in enumerate(layers):
        key = "l%d." % (i + 1)
        for part in ("weight_ih_l0", "weight_hh_l0"):
            parameters[key + part] = numbers(getattr(layer, part))
            gradients[key + part] = numbers(getattr(layer, part).grad)
        parameters[key + "bias_ih_l0"] = numbers(layer.bias_ih_l0 + layer.bias_hh_l0)
        gradients[key + "bias_ih_l0"] = numbers(layer.bias_ih_l0.grad)
    for part in ("weight", "bias"):
        parameters["fc." + part] = numbers(getattr(fc, part))
        gradients["fc." + part] = numbers(getattr(fc, part).grad)
    description = [{"name": "in", "kind": "sequence_input", "normalisation": "none"}]
    for i, n in enumerate(units):
        ends = last and i + 1 == len(units)
        description.append({"name": "l%d" % (i + 1), "kind": "lstm", "units": n,
                            "output": "last" if ends else "sequence"})
    description.append({"name": "fc", "kind": "fully_connected"})
    return {"name": name, "description": {"layers": description}, "features": features,
            "responses": responses, "parameters": parameters, "gradients": gradients,
            "sequences": [numbers(one) for one in x], "targets": [numbers(one) for one in y],
            "outputs": [numbers(one) for one in outputs], "loss": float("%.12g" % loss.item())}


def main():
    """Prints the cases."""
    torch.manual_seed(1)
    print(json.dumps([
        case("every step", 3, [5], 2, [4, 1, 6, 4], False),
        case("last step", 2, [3], 1, [2, 7, 1], True),
        case("two layers", 3, [4, 17], 1, [5, 2], False),
        case("three layers, last step", 1, [2, 3, 2], 3, [3, 9], True),
        case("one step", 4, [3], 1, [1], False),
    ]))


main()
