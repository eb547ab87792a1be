#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Writes tests/golden/sequences.json: small recurrent networks as PyTorch computes them, in double, each
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


def parts_of(module, kind):
    """{name here: the tensors that it is the sum of}: an LSTM's two biases are one here."""
    parts = {}
    for way in ("", "_reverse")[:1 + module.bidirectional]:
        get = lambda name: getattr(module, name + "_l0" + way)  # noqa: E731, B023
        biases = {"bias_ih": ["bias_ih", "bias_hh"]} if kind == "lstm" else {"bias_ih": ["bias_ih"], "bias_hh": ["bias_hh"]}
        for key, names in {"weight_ih": ["weight_ih"], "weight_hh": ["weight_hh"], **biases}.items():
            parts[key + "_l0" + way] = [get(name) for name in names]
    return parts


def case(name, features, units, responses, lengths, last, kind="lstm", both=False):
    """A network of len(units) recurrent layers and a fully connected one."""
    sizes = [features] + [n * (2 if both else 1) for n in units]
    module = {"lstm": nn.LSTM, "gru": nn.GRU}[kind]
    layers = [module(sizes[i], n, bidirectional=both) for i, n in enumerate(units)]
    fc = nn.Linear(sizes[-1], responses)
    for module in layers + [fc]:
        for parameter in module.parameters():
            nn.init.uniform_(parameter, -0.7, 0.8)
    x = [torch.rand(n, features) * 4 - 2 for n in lengths]
    y = [torch.rand(1 if last else n, responses) for n in lengths]
    outputs, loss = [], 0
    for one, target in zip(x, y):
        h = one
        for layer in layers:
            h, end = layer(h)
            end = end if kind == "gru" else end[0]
        outputs.append(fc(end.reshape(1, -1) if last else h))
        loss = loss + ((outputs[-1] - target) ** 2).sum() / (2 * len(target)) / len(x)
    loss.backward()
    parameters, gradients = {}, {}
    for i, layer in enumerate(layers):
        for part, tensors in parts_of(layer, kind).items():
            parameters["l%d.%s" % (i + 1, part)] = numbers(sum(tensors))
            gradients["l%d.%s" % (i + 1, part)] = numbers(tensors[0].grad)
    for part in ("weight", "bias"):
        parameters["fc." + part] = numbers(getattr(fc, part))
        gradients["fc." + part] = numbers(getattr(fc, part).grad)
    description = [{"name": "in", "kind": "sequence_input", "normalisation": "none"}]
    for i, n in enumerate(units):
        ends = last and i + 1 == len(units)
        description.append({"name": "l%d" % (i + 1), "kind": kind, "units": n,
                            "output": "last" if ends else "sequence",
                            **({"direction": "bidirectional"} if both else {})})
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
        case("gru, every step", 3, [5], 2, [4, 1, 6, 4], False, "gru"),
        case("gru, last step", 2, [3], 1, [2, 7, 1], True, "gru"),
        case("two gru", 3, [4, 17], 1, [5, 2], False, "gru"),
        case("both ways, every step", 3, [5], 2, [4, 1, 6, 4], False, both=True),
        case("both ways, last", 2, [3], 1, [2, 7, 1], True, both=True),
        case("two both ways, last", 3, [4, 5], 2, [5, 2, 9], True, both=True),
        case("gru both ways, every step", 2, [4, 3], 2, [3, 1, 6], False, "gru", both=True),
        case("gru both ways, last", 2, [3], 1, [2, 7, 1], True, "gru", both=True),
    ]))


main()
