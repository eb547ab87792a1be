#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Writes tests/golden/sequences.json: small recurrent networks as PyTorch computes them, in double, each
sequence by itself: outputs, half mean squared error or cross-entropy, gradients.

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


def make(features, units, outputs, kind, both):
    """len(units) recurrent layers and a fully connected one, with numbers of chance."""
    sizes = [features] + [n * (2 if both else 1) for n in units]
    module = {"lstm": nn.LSTM, "gru": nn.GRU}[kind]
    layers = [module(sizes[i], n, bidirectional=both) for i, n in enumerate(units)]
    fc = nn.Linear(sizes[-1], outputs)
    for module in layers + [fc]:
        for parameter in module.parameters():
            nn.init.uniform_(parameter, -0.7, 0.8)
    return layers, fc


def run(layers, fc, x, kind, last):
    """What is said of one sequence: a row a step, or one of its end."""
    h = x
    for layer in layers:
        h, end = layer(h)
        end = end if kind == "gru" else end[0]
    return fc(end.reshape(1, -1) if last else h)


def network(layers, fc, kind, units, both, last):
    """The same as a description, with parameters and gradients."""
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
    return {"description": {"layers": description}, "parameters": parameters, "gradients": gradients}


def case(name, features, units, responses, lengths, last, kind="lstm", both=False):
    """A network that predicts numbers."""
    layers, fc = make(features, units, responses, kind, both)
    x = [torch.rand(n, features) * 4 - 2 for n in lengths]
    y = [torch.rand(1 if last else n, responses) for n in lengths]
    outputs, loss = [], 0
    for one, target in zip(x, y):
        outputs.append(run(layers, fc, one, kind, last))
        loss = loss + ((outputs[-1] - target) ** 2).sum() / (2 * len(target)) / len(x)
    loss.backward()
    return {"name": name, **network(layers, fc, kind, units, both, last), "features": features,
            "responses": responses,
            "sequences": [numbers(one) for one in x], "targets": [numbers(one) for one in y],
            "outputs": [numbers(one) for one in outputs], "loss": float("%.12g" % loss.item())}


def classified(name, features, units, classes, lengths, kind="lstm", both=False, weighted=False, smoothing=0.0):
    """A network that tells classes of whole sequences apart. Means are over sequences, not over their weights."""
    layers, fc = make(features, units, classes, kind, both)
    x = [torch.rand(n, features) * 4 - 2 for n in lengths]
    labels = torch.randint(classes, (len(lengths),))
    weights = torch.rand(classes) + 0.5 if weighted else torch.ones(classes)
    outputs = [run(layers, fc, one, kind, True) for one in x]
    loss = nn.functional.cross_entropy(torch.cat(outputs), labels, weights, reduction="sum",
                                       label_smoothing=smoothing) / len(x)
    loss.backward()
    told = network(layers, fc, kind, units, both, True)
    told["description"]["layers"].append({"name": "softmax", "kind": "softmax"})
    return {"name": name, **told, "features": features, "classes": classes, "labels": labels.tolist(),
            "class_weights": numbers(weights), "label_smoothing": smoothing,
            "sequences": [numbers(one) for one in x],
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
        classified("lstm classifies", 3, [5], 3, [4, 1, 6, 4]),
        classified("two gru classify", 2, [4, 3], 4, [2, 7, 1], "gru"),
        classified("both ways classify", 3, [4, 5], 2, [5, 2, 9], both=True),
        classified("weights and smoothing", 2, [3], 3, [3, 5, 1, 2, 8], weighted=True, smoothing=0.1),
    ]))


main()
