#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Rounding and image networks: what it does to gradients, and to the losses of a few steps.

usage: peer_image_steps.py DRIVER smooth|steps [--double] [--steps N] [--batch N] [--size N] [--networks a,b]

smooth  ResNets with SiLU in the place of each ReLU, in float: no value next to 0 can change sides, so
        gradients must be within 1e-4 of those in double, as PyTorch's own are; and how many values of the
        same network with ReLUs have another sign before a ReLU in float than in double (row 5.1)
steps   googlenet and inception_v3, with and without auxiliary heads, on pixels from 0 to 255: the losses
        of the steps within 1e-3 of PyTorch's in double (--double: DRIVER is of MODE=f64), and in float at
        most twice as far from them as PyTorch's in float; torchvision's network gets ImageNet's
        normalisation and its transform_input, ours rescale_symmetric (row 5.6)

Needs Debian's python3-torch and python3-torchvision. The exit status is 0 when every line says "ok": true.
"""
import argparse
import copy
import json
import os
import sys
import tempfile

from peer import environment, report
from peer_simple_cnn import write_safetensors

if __name__ == "__main__":
    environment()
import torch  # noqa: E402  after the environment is right
import peer_image_networks as networks  # noqa: E402

IMAGENET = ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))


def without_kinks(model):
    """SiLU in the place of every ReLU."""
    for name, child in model.named_children():
        if isinstance(child, torch.nn.ReLU):
            setattr(model, name, torch.nn.SiLU())
        else:
            without_kinks(child)


def smooth_spec(name, size):
    """The template as a description of one's own, likewise."""
    with open("core/network/templates/%s.json" % name, encoding="ascii") as file:
        template = json.load(file)
    text = json.dumps({key: template[key] for key in ("blocks", "layers", "connections") if key in template})
    spec = json.loads(text.replace('"kind": "relu"', '"kind": "silu"'))
    spec["parameters"] = {row["name"]: row["default"] for row in template["parameters"]}
    spec["parameters"]["size"] = size
    return spec


def near_kinks(model, x):
    """How many values before a ReLU have another sign in float than in double."""
    signs, moved = [], 0

    def note(_, inputs):
        signs.append((inputs[0] > 0).clone())
    for precise in (True, False):
        copied = copy.deepcopy(model).double() if precise else copy.deepcopy(model)
        for module in copied.modules():
            if isinstance(module, torch.nn.ReLU):
                module.register_forward_pre_hook(note)
        with torch.no_grad():
            copied(x.double() if precise else x)
    half = len(signs) // 2
    for a, b in zip(signs[:half], signs[half:]):
        moved += int((a != b).sum())
    return moved


def smooth(driver, options):
    """A line for each network and set of operators."""
    for name in options.networks.split(","):
        torch.manual_seed(5)
        model = networks.model_of(name).train()
        x = torch.randn(options.batch, 3, options.size or 224, options.size or 224)
        moved = near_kinks(model, x)
        without_kinks(model)
        path = os.path.join(driver.directory, "random.safetensors")
        write_safetensors(path, model)
        exact = networks.learned(copy.deepcopy(model).double(), x.double(), 1)
        rounded = networks.learned(model, x, 1)
        for operators in networks.BOUNDS:
            ours = driver.learn(smooth_spec(name, x.shape[2]), path, x, operators, 1)
            line = networks.learn_line({"name": name}, exact, ours, rounded)
            line.update(operators=operators, relu_inputs_of_another_sign=moved)
            line["ok"] = line["ok"] and line["worst"]["gradient"][0] <= 1e-4
            yield line


def farthest(losses, exact):
    """The largest relative difference."""
    return max(abs(a - b) / abs(b) for a, b in zip(losses, exact))


def steps(driver, options):
    """A line for each network, with and without heads, and set of operators."""
    for name in options.networks.split(","):
        for spec, model in networks.learning_models(name, options):
            model.transform_input = True
            kind = torch.double if options.double else torch.float
            pixels = torch.randint(0, 256, (options.batch, 3, spec["size"], spec["size"]))
            mean, std = (torch.tensor(part, dtype=torch.double).reshape(1, 3, 1, 1) for part in IMAGENET)
            path = os.path.join(driver.directory, "random.safetensors")
            write_safetensors(path, model)
            x = (pixels.double() / 255 - mean) / std
            exact = networks.learned(copy.deepcopy(model).double(), x, options.steps)[0]
            rounded = exact if options.double else networks.learned(model, x.float(), options.steps)[0]
            for operators in networks.BOUNDS:
                ours = driver.learn(spec, path, pixels.to(kind) / 127.5 - 1, operators, options.steps)[0]
                line = {"row": "5.6", "network": name, "heads": spec["auxiliary_heads"], "operators": operators,
                        "double": options.double, "losses": ours, "peer_losses": exact,
                        "difference": farthest(ours, exact), "peer": farthest(rounded, exact)}
                line["bound"] = max(1e-3, 2 * line["peer"])
                line["ok"] = line["difference"] <= line["bound"] and len(ours) == options.steps
                yield line


def main():
    """Parses the command line, runs, prints."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("driver")
    parser.add_argument("what", choices=["smooth", "steps"])
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--size", type=int, default=0, help="of the pictures; 0: usual")
    parser.add_argument("--double", action="store_true", help="steps: DRIVER is of MODE=f64")
    parser.add_argument("--networks", required=True)
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    with tempfile.TemporaryDirectory(prefix="assay-peer-") as directory:
        kinds = {"smooth": smooth, "steps": steps}
        return report(kinds[options.what](networks.Driver(options.driver, directory), options))


if __name__ == "__main__":
    sys.exit(main())
