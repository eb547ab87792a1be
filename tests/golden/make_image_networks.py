#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Writes image_networks.json: the image networks of the catalogue as PyTorch computes them, in double,
on two images of 64x64 with five classes. Weights and images come from a formula that the test knows
too (`noise` below), so only what follows is kept: scores in both modes, and of each gradient of the
mean cross-entropy its norm and its product with noise.
usage: /usr/bin/python3 tests/golden/make_image_networks.py > tests/golden/image_networks.json"""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "accept"))
import peer_image_networks as peer  # noqa: E402
import numpy  # noqa: E402
import torch  # noqa: E402

CLASSES, SIZE, BATCH = 5, 64, 2


def noise(name, count):
    """Numbers in [-0.5, 0.5): a hash of the name's FNV-1a and the index."""
    key = 2166136261
    for byte in name.encode():
        key = (key ^ byte) * 16777619 % 2**32
    x = (numpy.arange(count, dtype=numpy.uint64) * 2654435761 + key) % 2**32
    for shift, factor in ((16, 0x7feb352d), (15, 0x846ca68b)):
        x = (x ^ (x >> numpy.uint64(shift))) * factor % 2**32
    x = x ^ (x >> numpy.uint64(16))
    return torch.from_numpy(x.astype(numpy.float64) / 2**32 - 0.5)


def fill(name, value):
    """Values of a parameter or statistic."""
    u = noise(name, value.numel()).reshape(value.shape)
    if value.dim() > 1:
        return u * (24 / value[0].numel()) ** 0.5
    if name.endswith("running_var"):
        return 1 + u
    return 1 + 0.4 * u if name.endswith("weight") else 0.2 * u


def case(name):
    """The figures of a network."""
    peer.CLASSES = CLASSES
    model = peer.model_of(name).double()
    model.load_state_dict({key: fill(key, value) if value.dtype == torch.float64 else value
                           for key, value in model.state_dict().items()})
    for module in model.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
    x = 4 * noise("input", BATCH * 3 * SIZE * SIZE).reshape(BATCH, 3, SIZE, SIZE)
    evaluation = model.eval()(x)
    training = model.train()(x)
    torch.nn.functional.cross_entropy(training, torch.arange(BATCH) % CLASSES).backward()
    gradients = {}
    for key, value in model.named_parameters():
        flat = value.grad.flatten()
        gradients[key] = [float("%.12g" % g) for g in (flat.norm(), flat.dot(noise(key + "#", len(flat))))]
    return {"name": name, "evaluation_scores": evaluation.flatten().tolist(),
            "scores": training.flatten().tolist(), "gradients": gradients}


def main():
    """Prints all networks."""
    names = ("squeezenet1_0", "squeezenet1_1", "mobilenet_v2", "efficientnet_lite0")
    json.dump([case(name) for name in names], sys.stdout, separators=(",", ":"))
    print()


if __name__ == "__main__":
    main()
