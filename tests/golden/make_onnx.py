#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Small ONNX models as the onnx package writes them, and the tensors that they hold.

usage: make_onnx.py            (needs the package onnx; writes onnx/ beside it)

types.onnx holds every type that is read, as raw bytes and as the typed field; types.txt has a line
a tensor, "name dtype shape values", as weights.txt. The others are to be refused: their values lie
elsewhere, are texts, sparse, or have sizes that differ from what they say. All are seeds of
tests/fuzz/fuzz_onnx.c too.
tests/unit/core/files/test_onnx.c reads them.
"""
import os

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

GOLDEN = os.path.dirname(os.path.abspath(__file__))
HERE, SEEDS = os.path.join(GOLDEN, "onnx"), os.path.join(GOLDEN, "../fuzz/corpus/fuzz_onnx")
TYPES = [("F32", TensorProto.FLOAT, [-1.5, 0.25, 3e38]), ("F16", TensorProto.FLOAT16, [1.5, -0.25, 65504.0]),
         ("BF16", TensorProto.BFLOAT16, [1.5, -0.25, 1024.0]), ("F64", TensorProto.DOUBLE, [0.1, -1e300, 0.0]),
         ("I64", TensorProto.INT64, [-1, 2**40, 7]), ("I32", TensorProto.INT32, [-1, 2**30, 7]),
         ("I16", TensorProto.INT16, [-1, 300, 7]), ("I8", TensorProto.INT8, [-1, 100, 7]),
         ("U8", TensorProto.UINT8, [0, 255, 7]), ("U16", TensorProto.UINT16, [0, 65535, 7]),
         ("U32", TensorProto.UINT32, [0, 2**31, 7]), ("U64", TensorProto.UINT64, [0, 2**40, 7]),
         ("BOOL", TensorProto.BOOL, [0, 1, 1])]


def model(tensors, **more):
    """A graph of one Identity that carries the tensors."""
    graph = helper.make_graph(
        [helper.make_node("Identity", ["x"], ["y"], name="same")], "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 3])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", 3])], tensors, **more)
    made = helper.make_model(graph, producer_name="make_onnx", producer_version="1", ir_version=8,
                             opset_imports=[helper.make_opsetid("", 17)])
    helper.set_model_props(made, {"purpose": "test"})
    return made


def save(name, made):
    """Writes a model."""
    for directory in (HERE, SEEDS):
        os.makedirs(directory, exist_ok=True)
        with open(os.path.join(directory, name + ".onnx"), "wb") as file:
            file.write(made.SerializeToString(deterministic=True))


def typed_and_raw():
    """Tensors of all types twice, and what a reader says of them."""
    tensors, lines = [], []
    for name, kind, values in TYPES:
        typed = helper.make_tensor("typed." + name, kind, [3], values)
        raw = numpy_helper.from_array(numpy_helper.to_array(typed), "raw." + name)
        for tensor in (typed, raw):
            tensors.append(tensor)
            lines.append("%s %s 3 %s" % (tensor.name, name, ",".join("%.17g" % v for v in values)))
    tensors.append(helper.make_tensor("scalar", TensorProto.FLOAT, [], [7.0]))
    tensors.append(helper.make_tensor("empty", TensorProto.FLOAT, [0, 3], []))
    block = numpy.arange(24, dtype=numpy.float32).reshape(2, 3, 2, 2)
    tensors.append(numpy_helper.from_array(block, "block"))
    lines += ["scalar F32 - 7", "empty F32 0,3 -",
              "block F32 2,3,2,2 " + ",".join("%d" % v for v in block.flatten())]
    return tensors, sorted(lines)


def refused():
    """Models by the sentence that refuses them."""
    outside = helper.make_tensor("w", TensorProto.FLOAT, [1], [1.0])
    outside.ClearField("float_data")
    outside.data_location = TensorProto.EXTERNAL
    outside.external_data.add(key="location", value="../../../etc/passwd")
    long = helper.make_tensor("w", TensorProto.FLOAT, [2], [1.0, 2.0])
    long.dims[0] = 3
    negative = helper.make_tensor("w", TensorProto.FLOAT, [1], [1.0])
    negative.dims[0] = -1
    huge = helper.make_tensor("w", TensorProto.FLOAT, [1], [1.0])
    huge.dims[:] = [2**40, 2**40]
    both = helper.make_tensor("w", TensorProto.FLOAT, [1], [1.0])
    both.raw_data = b"\0\0\0\0"
    deep = helper.make_tensor("w", TensorProto.FLOAT, [1] * 9, [1.0])
    segment = helper.make_tensor("w", TensorProto.FLOAT, [1], [1.0])
    segment.segment.begin = 0
    good = helper.make_tensor("w", TensorProto.FLOAT, [1], [1.0])
    nameless = helper.make_tensor("", TensorProto.FLOAT, [1], [1.0])
    text = helper.make_tensor("w", TensorProto.STRING, [1], ["x"])
    sparse = helper.make_sparse_tensor(good, helper.make_tensor("", TensorProto.INT64, [1], [1]), [4])
    return {"external": model([outside]), "longer": model([long]), "negative": model([negative]),
            "huge": model([huge]), "both": model([both]), "deep": model([deep]), "segment": model([segment]),
            "doubled": model([good, good]), "nameless": model([nameless]), "text": model([text]),
            "sparse": model([], sparse_initializer=[sparse])}


def main():
    """Writes the files."""
    tensors, lines = typed_and_raw()
    save("types", model(tensors))
    with open(os.path.join(HERE, "types.txt"), "w", encoding="ascii") as file:
        file.write("\n".join(lines) + "\n")
    for name, made in refused().items():
        save(name, made)


if __name__ == "__main__":
    main()
