#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Weight files of the peers, and ONNX files of ours in onnxruntime.

usage: onnx_files.py FOLDER      (that has onnx_driver and onnx_read_driver: build/release/tests/accept;
                                 needs the packages onnx, onnxruntime and safetensors, and Debian's
                                 python3-torch)

Prints a JSON line a check; exits 1 when one fails.
  tensors: files that torch.save (zip and legacy), safetensors and onnx wrote; every tensor read by
           us has the name, type, sizes and SHA-256 that it was written with.
  outputs: networks of ours with seeded weights, written as ONNX, checked by onnx.checker, run by
           onnxruntime; largest difference of scores over their largest magnitude <= 1e-4.
  graphs: what torch.onnx.export writes, of opsets 13 and 17, and operators of later ones, read by us
          as networks of the kinds that are named, and run by onnxruntime; the same limit.
  read again: networks of ours, written and read as graphs; the same scores to the same limit.
  graphs of others: uses of operators that torch.onnx.export does not write; the same, or the refusal.
"""
import hashlib
import json
import os
import subprocess
import sys
import tempfile

import numpy
import onnx
import onnxruntime
import safetensors.numpy

DEBIAN = "/usr/bin/python3"
LIMIT = 1e-4
# name, parameters, sizes (height, width, channels), classes, batch
IMAGES = [("squeezenet1_1", {"size": 224}, (224, 224, 3), 1000), ("simple_cnn", {}, (28, 28, 1), 10),
          ("resnet18", {"size": 224}, (224, 224, 3), 1000), ("googlenet", {"size": 224}, (224, 224, 3), 1000),
          ("mobilenet_v2", {"size": 224}, (224, 224, 3), 1000),
          ("efficientnet_lite0", {"size": 224}, (224, 224, 3), 1000),
          ("inception_v3", {"size": 299}, (299, 299, 3), 1000), ("googlenet_lrn", {"size": 224}, (224, 224, 3), 10),
          ("drsn_cw_1d", {}, (2048, 1, 1), 8)]
EVERYTHING = {"layers": [
    {"name": "in", "kind": "image_input"},
    {"name": "conv", "kind": "convolution", "filters": 6, "kernel": [3, 2], "padding": [1, 0, 2, 1], "stride": [2, 1]},
    {"name": "elu", "kind": "elu", "alpha": 0.7}, {"name": "gelu", "kind": "gelu"}, {"name": "silu", "kind": "silu"},
    {"name": "hard", "kind": "hard_swish"},
    {"name": "leaky", "kind": "leaky_relu", "slope": 0.2}, {"name": "lrn", "kind": "local_response_norm", "size": 5},
    {"name": "soft", "kind": "soft_threshold", "threshold": 0.05}, {"name": "clip", "kind": "clipped_relu"},
    {"name": "average", "kind": "average_pool", "kernel": 3, "stride": 2, "padding": 1, "ceil_mode": True, "count_padding": False},
    {"name": "pad", "kind": "channel_padding", "before": 1, "after": 2},
    {"name": "max", "kind": "max_pool", "kernel": 2, "stride": 2, "ceil_mode": True},
    {"name": "mean", "kind": "channel_mean"}, {"name": "tanh", "kind": "tanh"}, {"name": "sigmoid", "kind": "sigmoid"},
    {"name": "times", "kind": "multiplication"}, {"name": "abs", "kind": "absolute"},
    {"name": "drop", "kind": "dropout"}, {"name": "flat", "kind": "flatten"}, {"name": "bn", "kind": "batch_norm"},
    {"name": "fc", "kind": "fully_connected"}, {"name": "softmax", "kind": "softmax"}],
    "connections": [["in", "conv"], ["conv", "elu"], ["elu", "gelu"], ["gelu", "silu"], ["silu", "hard"], ["hard", "leaky"], ["leaky", "lrn"],
                    ["lrn", "soft"], ["soft", "clip"], ["clip", "average"], ["average", "pad"], ["pad", "max"], ["max", "mean"],
                    ["mean", "tanh"], ["tanh", "sigmoid"], ["max", "times"], ["sigmoid", "times"], ["times", "abs"],
                    ["abs", "drop"], ["drop", "flat"], ["flat", "bn"], ["bn", "fc"], ["fc", "softmax"]]}


def chain(*layers):
    """A network of layers one behind another: (kind, options), named by kind and number."""
    named = [{"name": "%s_%d" % (kind, i), "kind": kind, **options} for i, (kind, options) in enumerate(layers)]
    names = [layer["name"] for layer in named]
    return {"layers": named, "connections": [list(pair) for pair in zip(names, names[1:])]}


LARGER = chain(
    ("image_input", {}), ("spatial_padding", {"size": [1, 2, 3, 0], "value": 0.25}),
    ("convolution", {"filters": 6, "kernel": 3, "stride": 2}), ("layer_norm", {}), ("gelu", {}),
    ("transposed_convolution", {"filters": 8, "kernel": [3, 2], "stride": [2, 3], "padding": [1, 0, 0, 1],
                                "output_padding": [1, 2], "groups": 2}), ("group_norm", {"groups": 4, "epsilon": 1e-3}),
    ("spatial_padding", {"size": 2, "mode": "reflect"}), ("cropping", {"size": [1, 0, 2, 3]}),
    ("transposed_convolution", {"filters": 4, "kernel": 3, "padding": 1, "dilation": 2, "output_padding": 1, "bias": False}), ("rms_norm", {}),
    ("spatial_padding", {"size": [0, 1, 2, 0], "mode": "replicate"}),
    ("transposed_convolution", {"filters": 4, "kernel": 3, "stride": 2, "padding": 1, "groups": 4}),
    ("cropping", {"size": [2, 1]}), ("convolution", {"filters": 5, "kernel": 3, "stride": 3}), ("flatten", {}), ("layer_norm", {}),
    ("rms_norm", {}), ("fully_connected", {"outputs": 12}), ("group_norm", {"groups": 3}), ("fully_connected", {}),
    ("softmax", {}))
STEPPED = chain(
    ("sequence_input", {}), ("gru", {"units": 6}), ("layer_norm", {}), ("lstm", {"units": 5, "direction": "bidirectional"}),
    ("group_norm", {"groups": 5}), ("gru", {"units": 4, "direction": "bidirectional", "bias": False}), ("rms_norm", {}),
    ("fully_connected", {"outputs": 7}), ("lstm", {"units": 3, "direction": "bidirectional", "output": "last"}),
    ("layer_norm", {}), ("fully_connected", {}))
POOLED = [("steps pooled by " + method, chain(("sequence_input", {}), ("gru", {"units": 6}), ("sequence_pool", {"method": method}),
                                              ("fully_connected", {}))) for method in ("last", "mean")]
MOVING = chain(
    ("sequence_input", {}), ("temporal_convolution", {"filters": 8, "kernel": 3, "dilation": 2}), ("relu", {}),
    ("positional_encoding", {}), ("attention", {"heads": 2}), ("layer_norm", {}),
    ("positional_encoding", {"encoding": "learned", "length": 20}), ("attention", {"heads": 4, "causal": True, "bias": False}),
    ("temporal_convolution", {"filters": 6, "kernel": 4, "padding": "same", "bias": False}), ("rms_norm", {}),
    ("sequence_pool", {"method": "mean"}), ("fully_connected", {}))
IDS = 11
WORDS = chain(("sequence_input", {"normalisation": "none"}), ("embedding", {"ids": IDS, "outputs": 6, "column": 3}),
              ("attention", {"heads": 3}), ("fully_connected", {}))
SEQUENCES = [("words", WORDS), ("attention and convolution over steps", MOVING), ("lstm_regression", {}), ("lstm_classification", {}),
             ("bilstm", {}), ("gru", {}), ("tcn", {}), ("transformer_encoder", {}), ("norms and both directions", STEPPED), *POOLED] + [
    ("%s %s %s" % (kind, direction, output),
     chain(("sequence_input", {}), (kind, {"units": 8, "direction": direction, "output": output}), ("fully_connected", {})))
    for kind in ("lstm", "gru") for direction in ("forward", "bidirectional") for output in ("sequence", "last")]

TORCH = """
import torch, sys, collections, hashlib
torch.manual_seed(3)
state = collections.OrderedDict((n, torch.randn(s).to(t)) for n, s, t in (
    ("a.weight", (4, 3, 2, 2), torch.float32), ("a.bias", (4,), torch.float16), ("b.weight", (5, 4), torch.bfloat16),
    ("c", (2, 3), torch.float64)))
state["steps"] = torch.tensor(7)
state["turned"] = torch.randn(3, 4).t()
torch.save(state, sys.argv[1])
torch.save(state, sys.argv[2], _use_new_zipfile_serialization=False)
names = {torch.float32: "F32", torch.float16: "F16", torch.bfloat16: "BF16", torch.float64: "F64", torch.int64: "I64"}
for name in sorted(state):
    t = state[name].contiguous()
    raw = bytes(t.view(torch.int16).numpy().tobytes() if t.dtype == torch.bfloat16 else t.numpy().tobytes())
    print(name, names[t.dtype], ",".join(map(str, t.shape)), hashlib.sha256(raw).hexdigest())
"""

GRAPHS = """
import sys, torch, warnings
from torch import nn
warnings.filterwarnings("ignore")
torch.manual_seed(11)

class Image(nn.Module):
    def __init__(self):
        super().__init__()
        self.mirror, self.conv = nn.ReflectionPad2d((1, 2, 3, 0)), nn.Conv2d(3, 6, 3)
        self.edge, self.groups = nn.ConstantPad2d((1, 0, 2, 1), 0.5), nn.GroupNorm(3, 6, eps=1e-4)
        self.up, self.again = nn.ConvTranspose2d(6, 4, 3, 2, (1, 0), 1, groups=2), nn.ReplicationPad2d(1)
        self.each, self.last = nn.InstanceNorm2d(4, affine=True), nn.LayerNorm(4)
        self.wide = nn.ConvTranspose2d(4, 5, (2, 3), (1, 2), dilation=(2, 1), bias=False)
        self.head, self.row, self.fc = nn.Conv2d(5, 2, 3, 3), nn.LayerNorm(352), nn.Linear(352, 5)

    def forward(self, x):
        x = self.groups(torch.relu(self.edge(self.conv(self.mirror(x)))))
        x = self.each(self.again(self.up(x)))[:, :, 1:-1, 2:-3]
        x = self.last(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)
        x = nn.functional.pad(self.wide(x), (-1, 0, -2, -1))
        return self.fc(self.row(torch.flatten(self.head(x), 1)))

class Rms(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(width) + 0.5)

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5) * self.weight

class Steps(nn.Module):
    def __init__(self, both, take):
        super().__init__()
        n, self.take = 1 + both, take
        self.first, self.norm = nn.GRU(9, 6, bidirectional=both), nn.LayerNorm(6 * n)
        self.second, self.rms = nn.LSTM(6 * n, 5, num_layers=2, bidirectional=both), Rms(5 * n)
        self.third, self.fc = nn.GRU(5 * n, 4, bidirectional=both, bias=False), nn.Linear(4 * n, 2)

    def forward(self, x):
        x, last = self.third(self.rms(self.second(self.norm(self.first(x)[0]))[0]))
        if self.take == "states":
            x = torch.cat([last[-2], last[-1]], 1) if last.shape[0] == 2 else last[-1]
        return self.fc(x[-1] if self.take == "step" else x.mean(0) if self.take == "mean" else x)

def export(name, model, x):
    for p in model.parameters():
        if p.dim() == 1:
            nn.init.normal_(p, 0.3, 0.4)
    for opset in (13, 17):
        torch.onnx.export(model.eval(), x, "%s/%s_%d.onnx" % (sys.argv[1], name, opset), opset_version=opset)

export("image", Image(), torch.randn(2, 3, 13, 11))
for both in (False, True):
    for take in ("sequence", "states", "step", "mean"):
        export("steps_%d_%s" % (1 + both, take), Steps(both, take), torch.randn(17, 2, 9))
"""


def read_by_us(driver, path):
    """The lines of the driver."""
    return subprocess.run([driver, "tensors", path], check=True, stdout=subprocess.PIPE,
                          text=True).stdout.splitlines()


def lines_of(arrays):
    """What a reader should say of numpy arrays."""
    names = {"float32": "F32", "float16": "F16", "float64": "F64", "int64": "I64", "int32": "I32", "uint8": "U8"}
    return ["%s %s %s %s" % (n, names[str(arrays[n].dtype)], ",".join(map(str, arrays[n].shape)),
                             hashlib.sha256(arrays[n].tobytes()).hexdigest()) for n in sorted(arrays)]


def arrays():
    """Tensors of several types."""
    rng = numpy.random.default_rng(5)
    made = {"conv.weight": rng.standard_normal((8, 3, 3, 3)).astype("float32"),
            "half": rng.standard_normal((7,)).astype("float16"), "double": rng.standard_normal((2, 2)),
            "count": numpy.array(12, dtype="int64"), "ints": rng.integers(-9, 9, (3, 2)).astype("int32"),
            "bytes": rng.integers(0, 255, (5,)).astype("uint8"), "empty": numpy.zeros((0, 4), dtype="float32")}
    return made


def onnx_model(values, typed):
    """A model that carries arrays as initialisers, raw or in the field of their type."""
    def tensor(name, array):
        kind = onnx.helper.np_dtype_to_tensor_dtype(array.dtype)
        if not typed:
            return onnx.numpy_helper.from_array(array, name)
        return onnx.helper.make_tensor(name, kind, array.shape, array.flatten().tolist())
    value = onnx.helper.make_tensor_value_info
    graph = onnx.helper.make_graph([onnx.helper.make_node("Identity", ["x"], ["y"])], "g",
                                   [value("x", 1, ["N"])], [value("y", 1, ["N"])],
                                   [tensor(n, a) for n, a in values.items()])
    return onnx.helper.make_model(graph)


def say(check, passed, **more):
    """One line."""
    print(json.dumps({"row": "5.files", "check": check, **more, "passed": bool(passed)}), flush=True)
    return bool(passed)


def tensors(driver, folder):
    """Files of four writers."""
    fine = True
    paths = [os.path.join(folder, n) for n in ("zip.pth", "legacy.pth")]
    told = subprocess.run([DEBIAN, "-c", TORCH, *paths], check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    for path in paths:
        fine &= say("torch.save " + os.path.basename(path), read_by_us(driver, path) == told, tensors=len(told))
    values = arrays()
    path = os.path.join(folder, "a.safetensors")
    safetensors.numpy.save_file(values, path)
    fine &= say("safetensors", read_by_us(driver, path) == lines_of(values), tensors=len(values))
    for typed in (False, True):
        path = os.path.join(folder, "a.onnx")
        onnx.save(onnx_model(values, typed), path)
        fine &= say("onnx " + ("typed" if typed else "raw"), read_by_us(driver, path) == lines_of(values), tensors=len(values))
    return fine


def compare(name, folder):
    """Runs what the driver left in a folder."""
    path = os.path.join(folder, "network.onnx")
    model = onnx.load(path)
    onnx.checker.check_model(model, full_check=True)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    [given] = session.get_inputs()
    shape = list(given.shape)
    data = numpy.fromfile(os.path.join(folder, "input"), dtype="float32")
    if len(shape) == 3:
        shape[0:2] = [STEPS, BATCH]
    else:
        shape[0] = BATCH
    got = dict(zip([o.name for o in session.get_outputs()], session.run(None, {"input": data.reshape(shape)})))
    worst = 0.0
    for output, values in got.items():
        ours = numpy.fromfile(os.path.join(folder, output), dtype="float32")
        worst = max(worst, float(numpy.abs(values.flatten() - ours).max() / max(numpy.abs(ours).max(), 1e-30)))
    return say("onnxruntime " + name, worst <= LIMIT and numpy.isfinite(worst), nodes=len(model.graph.node),
               operators=sorted({n.op_type for n in model.graph.node}), outputs=sorted(got), worst=worst)


BATCH, STEPS = 2, 17


def outputs(driver, folder):
    """Networks of ours."""
    fine = True
    for name, parameters, sizes, classes in IMAGES + [("all kinds", EVERYTHING, (13, 11, 3), 5),
                                                      ("larger images and norms", LARGER, (13, 11, 3), 5)]:
        spec = parameters if "layers" in parameters else {"name": name, **parameters}
        subprocess.run([driver, "write", json.dumps(spec), *map(str, sizes), str(classes), str(BATCH), "7", folder], check=True)
        fine &= compare(name, folder)
    for name, parameters in SEQUENCES:
        classes = "4" if name == "lstm_classification" else "0"
        spec = parameters if "layers" in parameters else {"name": name, **parameters}
        subprocess.run([driver, "sequences", json.dumps(spec), str(STEPS), "9", classes, str(BATCH), "7",
                        folder, *([str(IDS)] if name == "words" else [])], check=True)
        fine &= compare(name, folder)
    return fine


def later_operators(path):
    """Norms as operators of their own: GroupNormalization of opset 21, RMSNormalization of 23."""
    rng = numpy.random.default_rng(6)
    made = {"group.weight": rng.standard_normal(6), "group.bias": rng.standard_normal(6), "rms.weight": rng.standard_normal(6),
            "conv.weight": rng.standard_normal((6, 3, 3, 3)), "fc.weight": rng.standard_normal((5, 6 * 11 * 9))}
    node, value = onnx.helper.make_node, onnx.helper.make_tensor_value_info
    nodes = [node("Conv", ["x", "conv.weight"], ["a"]),
             node("GroupNormalization", ["a", "group.weight", "group.bias"], ["b"], num_groups=2, epsilon=1e-3),
             node("Transpose", ["b"], ["c"], perm=[0, 2, 3, 1]), node("RMSNormalization", ["c", "rms.weight"], ["d"], epsilon=1e-4),
             node("Transpose", ["d"], ["e"], perm=[0, 3, 1, 2]), node("Flatten", ["e"], ["f"]),
             node("Gemm", ["f", "fc.weight"], ["y"], transB=1)]
    graph = onnx.helper.make_graph(nodes, "later", [value("x", 1, ["N", 3, 13, 11])], [value("y", 1, ["N", 5])],
                                   [onnx.numpy_helper.from_array(v.astype("float32"), n) for n, v in made.items()])
    onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 23)], ir_version=10), path)


# What each graph must come to, apart from what stands between.
KINDS = {"image": {"spatial_padding", "convolution", "group_norm", "transposed_convolution", "cropping", "layer_norm", "flatten",
                   "fully_connected", "softmax"},
         "steps": {"gru", "lstm", "layer_norm", "rms_norm", "fully_connected"}, "later": {"group_norm", "rms_norm"}}


def read_and_run(driver, folder, path, steps):
    """Kinds of the layers, and the largest difference or why it is not read."""
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    data = numpy.random.default_rng(8).standard_normal((STEPS, BATCH, 9) if steps else (BATCH, 3, 13, 11)).astype("float32")
    theirs = session.run(None, {session.get_inputs()[0].name: data})[0]
    data.tofile(os.path.join(folder, "input"))
    sizes = ["sequences", path, STEPS, 9, 2] if steps else ["images", path, 13, 11, 3, 5]
    done = subprocess.run([driver, *map(str, sizes), str(BATCH), folder], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          check=False, text=True)
    if done.returncode != 0:
        return set(), done.stderr
    ours = numpy.fromfile(os.path.join(folder, "ours"), dtype="float32")
    return set(done.stdout.split()), float(numpy.abs(theirs.flatten() - ours).max() / numpy.abs(theirs).max())


def node_of(op, inputs, output, **attributes):
    """A node named by its output."""
    return onnx.helper.make_node(op, inputs.split(), [output], name=output, **attributes)


POOL = [node_of("GlobalAveragePool", "f", "p"), node_of("Flatten", "p", "r")]
FLAT = [node_of("Flatten", "f", "r")]
# What others write between a convolution "c" of 6 channels and a product with the row "r": opset, nodes, and a kind
# that must come of it or the reason of the refusal.
OTHERS = {
    "softmax of channels": (17, [node_of("Softmax", "c", "f", axis=-3), *POOL], "softmax"),
    "softmax of a column": (17, [node_of("Softmax", "c", "f", axis=-1), *POOL], "over another axis than channels"),
    "softmax of all, by opset 11": (11, [node_of("Softmax", "c", "f"), *POOL], "over channels and pixels at once"),
    "softmax of a pixel, by opset 11": (11, [node_of("GlobalAveragePool", "c", "g"), node_of("Softmax", "g", "f"), *FLAT], "softmax"),
    "gate in front": (17, [node_of("GlobalAveragePool", "c", "p"), node_of("Sigmoid", "p", "g"), node_of("Mul", "g c", "f"), *FLAT],
                      "multiplication"),
    "squeezed": (13, [node_of("GlobalAveragePool", "c", "p"), node_of("Squeeze", "p sides", "r")], "flatten"),
    "flattened from behind": (13, [node_of("Flatten", "c", "r", axis=-3)], "flatten"),
}


# Networks of ours that come back as what they were; with a kind that they are known by.
BACK = [("drsn_cw_1d", (1024, 1, 1), "soft_threshold"), ("drsn_cs_1d", (1024, 1, 1), "soft_threshold"),
        ("drsn_cw_2d", (32, 32, 3), "soft_threshold"), ("drsn_cs_2d", (32, 32, 3), "soft_threshold"), ("tcn", None, "temporal_convolution"),
        ("transformer_encoder", None, "attention"), ("transformer with learned positions", None, "attention"), ("words", None, "embedding")]
SPECS = {"transformer with learned positions": {"name": "transformer_encoder", "position": "learned", "length": 20, "feed_forward": "swiglu",
                                                "causal": False, "output": "mean", "normalisation": "none"}, "words": WORDS}


def ours_again(writer, reader, folder):
    """Networks of ours, read as graphs."""
    fine, path = True, os.path.join(folder, "network.onnx")
    for name, sizes, kind in BACK:
        spec = json.dumps(SPECS.get(name, {"name": name, "normalisation": "none"}))
        if sizes:
            subprocess.run([writer, "write", spec, *map(str, sizes), "5", str(BATCH), "7", folder], check=True)
            job = ["images", path, *sizes, 5, BATCH, folder]
        else:
            subprocess.run([writer, "sequences", spec, str(STEPS), "9", "0", str(BATCH), "7", folder, *([str(IDS)] if name == "words" else [])],
                           check=True)
            job = ["sequences", path, STEPS, 9, 1, BATCH, folder]
        done = subprocess.run([reader, *map(str, job)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, text=True)
        kinds, worst = set(done.stdout.split()), done.stderr
        if done.returncode == 0:
            read, wrote = (numpy.fromfile(os.path.join(folder, n), dtype="float32") for n in ("ours", "scores" if sizes else "output"))
            worst = float(numpy.abs(read - wrote).max() / numpy.abs(wrote).max())
        fine &= say("read again " + name, kind in kinds and worst <= LIMIT, kinds=sorted(kinds), worst=worst)
    return fine


def others(driver, folder):
    """Small graphs as other exporters write them."""
    fine, rng = True, numpy.random.default_rng(9)
    value, path = onnx.helper.make_tensor_value_info, os.path.join(folder, "other.onnx")
    for name, (opset, between, kind) in OTHERS.items():
        pooled = {"GlobalAveragePool"} & {n.op_type for n in between} and "Mul" not in {n.op_type for n in between}
        made = {"conv.weight": rng.standard_normal((6, 3, 3, 3)), "fc.weight": rng.standard_normal((5, 6 if pooled else 6 * 11 * 9))}
        nodes = [node_of("Conv", "x conv.weight", "c"), *between, node_of("Gemm", "r fc.weight", "y", transB=1)]
        lists = [onnx.numpy_helper.from_array(numpy.array([2, 3]), "sides")] if name == "squeezed" else []
        graph = onnx.helper.make_graph(nodes, "other", [value("x", 1, ["N", 3, 13, 11])], [value("y", 1, ["N", 5])],
                                       lists + [onnx.numpy_helper.from_array(v.astype("float32"), n) for n, v in made.items()])
        onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", opset)], ir_version=8), path)
        kinds, worst = read_and_run(driver, folder, path, False)
        passed = kind in worst if isinstance(worst, str) else kind in kinds and worst <= LIMIT
        fine &= say("graph of others: " + name, passed, kinds=sorted(kinds), worst=worst)
    return fine


def graphs(driver, folder):
    """Networks of PyTorch."""
    fine = True
    subprocess.run([DEBIAN, "-c", GRAPHS, folder], check=True)
    later_operators(os.path.join(folder, "later.onnx"))
    for name in sorted(n for n in os.listdir(folder) if n.startswith(("image_", "steps_", "later"))):
        path = os.path.join(folder, name)
        kinds, worst = read_and_run(driver, folder, path, name.startswith("steps"))
        passed = not isinstance(worst, str) and worst <= LIMIT and kinds >= KINDS[name[:5]]
        fine &= say("graph " + name[:-5], passed, kinds=sorted(kinds), worst=worst)
    return fine


def main():
    """All parts."""
    driver, reader = (os.path.abspath(os.path.join(sys.argv[1], name)) for name in ("onnx_driver", "onnx_read_driver"))
    with tempfile.TemporaryDirectory() as folder:
        fine = tensors(driver, folder)
        fine &= outputs(driver, folder)
        fine &= graphs(reader, folder)
        fine &= others(reader, folder)
        fine &= ours_again(driver, reader, folder)
    sys.exit(0 if fine else 1)


if __name__ == "__main__":
    main()
