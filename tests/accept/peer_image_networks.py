#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Image networks of the catalogue beside torchvision's.

usage: peer_image_networks.py DRIVER weights|random|learn|speed [--data DIR] [--pairs N] [--steps N]
                              [--batch N] [--networks a,b]

weights  squeezenet1_1 with real ImageNet weights, every file of them, against the stored logits
         and layer figures, plain and optimised; the f16 file against the network with rounded
         weights too (row 3.1)
random   each network with random weights and statistics against torchvision's, in evaluation
learn    each network from random weights: the loss, the gradient of every parameter and the running
         statistics after one batch, the losses of the steps after it, and how many parameters there
         are; googlenet and inception_v3 with auxiliary heads too (row 5.1)
speed    training steps of all layers, images per second, one thread, interleaved pairs (row 3.3)

DRIVER is the built tests/accept/image_driver. Needs Debian's python3-torch and
python3-torchvision. The exit status is 0 when every line says "ok": true.
"""
import argparse
import collections
import copy
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

from peer import environment, report
from peer_simple_cnn import write_safetensors

if __name__ == "__main__":
    environment()
import numpy  # noqa: E402  after the environment is right
import torch  # noqa: E402
import torchvision  # noqa: E402

BOUNDS = {"plain": 1e-5, "optimised": 1e-4}
# torchvision's ReLUs work in place, so what it recorded of a convolution is the ReLU's output
RECORDED = {"features.0": "features.1", "classifier.1": "classifier.2"}
CLASSES = 12


class Driver:
    """Our side."""

    def __init__(self, path, directory):
        self.path, self.directory = path, directory

    def infer(self, network, weights, x, classes, operators, layers=()):
        """Scores and the figures of layers for x, an NCHW tensor."""
        source = os.path.join(self.directory, "input")
        out = os.path.join(self.directory, "scores")
        with open(source, "wb") as file:
            file.write(x.permute(0, 2, 3, 1).contiguous().numpy().tobytes())
        done = subprocess.run(
            [self.path, "infer", network, weights, source, str(len(x)), str(x.shape[2]),
             str(classes), operators, ",".join(layers), out], stdout=subprocess.PIPE, check=True)
        with open(out, "rb") as file:
            scores = torch.frombuffer(bytearray(file.read()), dtype=torch.float32)
        return scores.reshape(len(x), classes), json.loads(done.stdout)

    def learn(self, spec, weights, x, operators, steps):
        """Losses of the steps, and by name the gradients (or values) after the first."""
        source, out = (os.path.join(self.directory, name) for name in ("input", "gradients"))
        with open(source, "wb") as file:
            file.write(x.permute(0, 2, 3, 1).contiguous().numpy().tobytes())
        done = subprocess.run(
            [self.path, "learn", json.dumps(spec), weights, source, str(len(x)), str(x.shape[2]),
             str(CLASSES), operators, str(steps), out], stdout=subprocess.PIPE, check=True)
        result, found, at = json.loads(done.stdout), {}, 0
        numbers = numpy.fromfile(out, dtype=x.numpy().dtype)
        for name, count in result["parameters"]:
            found[name] = torch.from_numpy(numbers[at:at + count])
            at += count
        return result["losses"], found

    def train(self, network, batch, steps):
        """Seconds of a training step."""
        done = subprocess.run([self.path, "train", network, str(batch), "224", str(CLASSES),
                               str(steps), "optimised"], stdout=subprocess.PIPE, check=True)
        return json.loads(done.stdout)


def difference(a, b):
    """Largest difference of two tensors relative to the largest magnitude of the second."""
    return float((a - b).abs().max() / b.abs().max())


def figure_difference(ours, theirs):
    """The worst of mean, largest magnitude and norm of the layers; a mean relative to the largest
    magnitude."""
    worst = 0.0
    for name, their in theirs.items():
        our = ours[RECORDED.get(name, name)]
        worst = max(worst, abs(our["mean"] - their["mean"]) / their["absmax"],
                    abs(our["absmax"] - their["absmax"]) / their["absmax"],
                    abs(our["l2"] - their["l2"]) / their["l2"])
    return worst


def rounded_reference(directory, x):
    """Logits of torchvision's network with the weights rounded to half precision."""
    state = torch.load(directory + "/squeezenet1_1.pth")
    model = torchvision.models.squeezenet1_1()
    model.load_state_dict({name: value.half().float() for name, value in state.items()})
    with torch.no_grad():
        return model.eval()(x)


def weights(driver, options):
    """The lines of row 3.1: one a file and set of operators."""
    directory = options.data + "/weights/squeezenet1_1"
    x = torch.from_numpy(numpy.load(directory + "/reference_input.npy"))
    logits = torch.from_numpy(numpy.load(directory + "/reference_logits.npy"))
    with open(directory + "/reference_activations.json", encoding="ascii") as file:
        layers = json.load(file)
    rounded = rounded_reference(directory, x)
    for name in ("squeezenet1_1.safetensors", "squeezenet1_1-f16.safetensors",
                 "squeezenet1_1.pth", "squeezenet1_1-legacy.pth"):
        half = "f16" in name
        for operators, bound in BOUNDS.items():
            ours, figures = driver.infer("squeezenet1_1", "%s/%s" % (directory, name), x, 1000,
                                         operators, [RECORDED.get(k, k) for k in layers])
            line = {"row": "3.1", "file": name, "operators": operators,
                    "logits": difference(ours, rounded if half else logits), "bound": bound}
            line["ok"] = line["logits"] <= bound
            if half:
                line["logits_of_f32"] = difference(ours, logits)
                line["ok"] = line["ok"] and line["logits_of_f32"] <= 5e-3
            else:
                line["layers"] = figure_difference(figures, layers)
                line["ok"] = line["ok"] and line["layers"] <= bound
            yield line


def lite_block(channels, out, kernel, stride, expansion):
    """A block of EfficientNet-Lite with timm's names: an inverted residual, or without expansion a
    depthwise and a pointwise convolution."""
    nn = torch.nn
    wide, parts = channels * expansion, []

    def add(name, norm, *sizes, act=True, **options):
        parts.append((name, nn.Conv2d(*sizes, bias=False, **options)))
        parts.append((norm, nn.BatchNorm2d(sizes[1])))
        if act:
            parts.append((norm + "_act", nn.ReLU6()))
    if expansion > 1:
        add("conv_pw", "bn1", channels, wide, 1)
    add("conv_dw", "bn2" if expansion > 1 else "bn1", wide, wide, kernel, stride=stride,
        padding=kernel // 2, groups=wide)
    add("conv_pwl" if expansion > 1 else "conv_pw", "bn3" if expansion > 1 else "bn2",
        wide, out, 1, act=False)
    return nn.Sequential(collections.OrderedDict(parts))


class Residual(torch.nn.Sequential):
    """A stage: blocks of which all but the first add their input, and the first if it can."""

    def forward(self, x):
        for block in self:
            y = block(x)
            x = x + y if x.shape == y.shape else y
        return x


def efficientnet_lite0(num_classes):
    """EfficientNet-Lite0 after its paper, with the names of timm's state dict."""
    nn, channels, blocks = torch.nn, 32, lite_stages()
    stages = []
    for kernel, stride, expansion, out, repeats in blocks:
        stage = []
        for i in range(repeats):
            stage.append(lite_block(channels, out, kernel, stride if i == 0 else 1, expansion))
            channels = out
        stages.append(Residual(*stage))
    return nn.Sequential(collections.OrderedDict([
        ("conv_stem", nn.Conv2d(3, 32, 3, 2, 1, bias=False)), ("bn1", nn.BatchNorm2d(32)),
        ("act1", nn.ReLU6()), ("blocks", nn.Sequential(*stages)),
        ("conv_head", nn.Conv2d(320, 1280, 1, bias=False)), ("bn2", nn.BatchNorm2d(1280)),
        ("act2", nn.ReLU6()), ("pool", nn.AdaptiveAvgPool2d(1)), ("flat", nn.Flatten()),
        ("drop", nn.Dropout(0.2)), ("classifier", nn.Linear(1280, num_classes))]))


def lite_stages():
    """Kernel, stride, expansion, channels, blocks of each stage of EfficientNet-B0."""
    return ((3, 1, 1, 16, 1), (3, 2, 6, 24, 2), (5, 2, 6, 40, 2), (3, 2, 6, 80, 3),
            (5, 1, 6, 112, 3), (5, 2, 6, 192, 4), (3, 1, 6, 320, 1))


def model_of(name):
    """torchvision's network, or ours where it has none."""
    if name == "efficientnet_lite0":
        return efficientnet_lite0(CLASSES)
    options = {"aux_logits": False, "init_weights": True} if name in AUXILIARY else {}
    return getattr(torchvision.models, name)(num_classes=CLASSES, **options)


def random_model(name):
    """A network with random weights and statistics, in evaluation."""
    torch.manual_seed(3)
    model = model_of(name)
    for module in model.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            torch.nn.init.uniform_(module.weight, 0.8, 1.2)
            torch.nn.init.normal_(module.bias, 0, 0.1)
            torch.nn.init.normal_(module.running_mean, 0, 0.1)
            torch.nn.init.uniform_(module.running_var, 0.5, 1.5)
    return model.eval()


def random(driver, options):
    """A line for each network and set of operators."""
    for name in options.networks.split(","):
        model = random_model(name)
        x = torch.randn(2, 3, 224, 224)
        with torch.no_grad():
            theirs = model(x)
        path = os.path.join(driver.directory, "random.safetensors")
        write_safetensors(path, model)
        for operators, bound in BOUNDS.items():
            ours, _ = driver.infer(name, path, x, CLASSES, operators)
            line = {"row": "3.networks", "network": name, "operators": operators,
                    "logits": difference(ours, theirs), "bound": bound}
            line["ok"] = line["logits"] <= bound
            yield line


# what a spec says beside the name, and the weight of the losses of torchvision's auxiliary heads
AUXILIARY = {"googlenet": 0.3, "inception_v3": 0.4}


def learning_models(name, options):
    """The network in training without dropout, as a spec and as torchvision's; with heads too."""
    size = options.size or (299 if name == "inception_v3" else 224)
    for heads in ([False, True] if name in AUXILIARY else [False]):
        spec, arguments = {"name": name, "size": size}, {}
        if name in AUXILIARY:
            spec["auxiliary_heads"] = heads
            arguments = {"aux_logits": heads, "init_weights": True}
        torch.manual_seed(5)
        model = getattr(torchvision.models, name)(num_classes=CLASSES, **arguments).train()
        for module in model.modules():
            if isinstance(module, torch.nn.Dropout):
                module.p = 0.0
        for key in ("dropout", "auxiliary_dropout"):
            if key == "dropout" and not name.startswith("resnet") or heads and name == "googlenet":
                spec[key] = 0
        yield spec, model


def loss_of(model, x, y):
    """The loss with those of the auxiliary heads, as torchvision's references weigh them."""
    out = model(x)
    if isinstance(out, torch.Tensor):
        return torch.nn.functional.cross_entropy(out, y)
    weight = AUXILIARY[type(model).__name__.lower().replace("inception3", "inception_v3")]
    losses = {key: torch.nn.functional.cross_entropy(value, y)
              for key, value in out._asdict().items() if value is not None}
    return losses.pop("logits") + weight * sum(losses.values())


def learned(model, x, steps):
    """Losses of the steps of sgdm, and gradients and statistics after the first backward."""
    y, solver = torch.arange(len(x)) % CLASSES, None
    solver = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)
    losses, found = [], {}
    for i in range(steps):
        solver.zero_grad()
        loss = loss_of(model, x, y)
        loss.backward()
        losses.append(float(loss))
        if i == 0:
            found = {name: value.grad.clone() for name, value in model.named_parameters()}
            found.update((name, value.clone()) for name, value in model.named_buffers()
                         if not name.endswith("num_batches_tracked"))
        solver.step()
    return losses, found


def learn(driver, options):
    """The lines of row 5.1: one a network and set of operators."""
    for name in options.networks.split(","):
        for spec, model in learning_models(name, options):
            x = torch.randn(options.batch, 3, spec["size"], spec["size"])
            path = os.path.join(driver.directory, "random.safetensors")
            write_safetensors(path, model)
            exact = learned(copy.deepcopy(model).double(), x.double(), options.steps)
            rounded = exact if options.double else learned(model, x, options.steps)
            x = x.double() if options.double else x
            count = sum(value.numel() for value in model.parameters())
            for operators in BOUNDS:
                ours = driver.learn(spec, path, x, operators, options.steps)
                line = learn_line(spec, exact, ours, rounded)
                line["operators"], line["parameters"] = operators, count
                yield line


def worst_of(found, exact):
    """The worst of all gradients and of all statistics, with its name."""
    worst = {"gradient": (0.0, ""), "statistics": (0.0, "")}
    for name, value in exact.items():
        kind = "statistics" if "running" in name else "gradient"
        worst[kind] = max(worst[kind], (difference(found[name].flatten(), value.flatten()), name))
    return worst


def learn_line(spec, exact, ours, rounded):
    """A line: ours and PyTorch's own rounding beside PyTorch in double. One value rounded to the
    other side of 0 before a ReLU moves gradients by more than any bound, in PyTorch as here."""
    (losses, theirs), (our_losses, found) = exact, ours
    worst, peer = worst_of(found, theirs), worst_of(rounded[1], theirs)
    bound = {kind: max(1e-4, 2 * peer[kind][0]) for kind in worst}
    line = {"row": "5.1", "network": spec["name"], "heads": spec.get("auxiliary_heads"),
            "names": set(found) - {"input.mean", "input.std"} == set(theirs), "worst": worst,
            "peer": peer, "bound": bound, "losses": our_losses,
            "loss": abs(our_losses[0] - losses[0]) / losses[0],
            "later_losses": max(abs(a - b) / abs(b) for a, b in zip(our_losses, losses)),
            "peer_later_losses": max(abs(a - b) / abs(b) for a, b in zip(rounded[0], losses))}
    line["ok"] = (line["names"] and line["loss"] <= 1e-4
                  and line["later_losses"] <= max(1e-3, 2 * line["peer_later_losses"])
                  and all(worst[kind][0] <= bound[kind] for kind in worst))
    return line


class Peer:
    """Training of torchvision's network on images in memory."""

    def __init__(self, name, batch):
        self.model = model_of(name).train()
        self.x, self.y = torch.rand(batch, 3, 224, 224), torch.arange(batch) % CLASSES
        self.solver = torch.optim.SGD(self.model.parameters(), lr=1e-3, momentum=0.9)

    def step(self):
        """One step."""
        self.solver.zero_grad(set_to_none=True)
        torch.nn.functional.cross_entropy(self.model(self.x), self.y).backward()
        self.solver.step()

    def train(self, steps):
        """Wall and processor seconds of a step, the first one left out."""
        self.step()
        wall, cpu = time.perf_counter(), time.process_time()
        for _ in range(steps):
            self.step()
        return (time.perf_counter() - wall) / steps, (time.process_time() - cpu) / steps


def speed(driver, options):
    """The line of row 3.3 for each network: A B A B, ratios of wall and of processor time."""
    for name in options.networks.split(","):
        peer, wall, cpu, ours = Peer(name, options.batch), [], [], []
        for _ in range(options.pairs):
            result = driver.train(name, options.batch, options.steps)
            theirs = peer.train(options.steps)
            ours.append(options.batch / result["seconds"])
            wall.append(theirs[0] / result["seconds"])
            cpu.append(theirs[1] / result["cpu_seconds"])
        yield {"row": "3.3", "network": name, "batch": options.batch, "images_per_second": ours,
               "ratios": wall, "median": statistics.median(wall), "worst": min(wall),
               "ratios_of_processor_time": cpu, "median_of_processor_time": statistics.median(cpu),
               "ok": statistics.median(wall) >= 1.0 and min(wall) >= 0.85}


def main():
    """Parses the command line, runs, prints."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("driver")
    parser.add_argument("what", choices=["weights", "random", "learn", "speed"])
    parser.add_argument("--data", default=os.environ.get("ASSAY_TEST_DATA", "../shared/data"))
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--size", type=int, default=0, help="learn: of the pictures; 0: usual")
    parser.add_argument("--double", action="store_true", help="learn: DRIVER is of MODE=f64")
    parser.add_argument("--networks", default="squeezenet1_1")
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    with tempfile.TemporaryDirectory(prefix="assay-peer-") as directory:
        driver = Driver(options.driver, directory)
        kinds = {"weights": weights, "random": random, "learn": learn, "speed": speed}
        return report(kinds[options.what](driver, options))


if __name__ == "__main__":
    sys.exit(main())
