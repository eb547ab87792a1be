/* SPDX-License-Identifier: MIT
 *
 * ONNX models (onnx.proto of ONNX 1.x) as tensors and a graph. The reader trusts nothing: every
 * length, number and name is checked before anything is handed out, and it goes into no subgraph.
 *
 * Tensors: raw_data or one typed field, of the types of enum nn_file_dtype. Refused with a reason:
 * values that lie in another file (external data), sparse and segmented tensors, texts, complex and
 * 8-bit floating numbers, sizes that differ from dims times type, names that are no UTF-8, doubled
 * initialisers. Subgraphs, functions and training information are not read, but told of.
 */
#ifndef NN_FILES_ONNX_H
#define NN_FILES_ONNX_H

#include "core/base/base.h"
#include "core/files/safetensors.h"

/* As AttributeProto numbers them. */
enum nn_onnx_type {
    NN_ONNX_OTHER = 0, /* a graph, a list of texts or of tensors, a type: not read */
    NN_ONNX_FLOAT = 1,
    NN_ONNX_INT = 2,
    NN_ONNX_STRING = 3,
    NN_ONNX_TENSOR = 4,
    NN_ONNX_FLOATS = 6,
    NN_ONNX_INTS = 7,
    NN_ONNX_STRINGS = 8
};

struct nn_onnx_attribute {
    const char *name;
    enum nn_onnx_type type;
    double real;
    int64_t integer;
    const char *text;
    const struct nn_file_tensor *tensor;
    const float *reals;
    const int64_t *integers;
    const char *const *texts;
    size_t n; /* of a list */
};

/* Names of values are "" where an optional one is left out. */
struct nn_onnx_node {
    const char *name, *op, *domain; /* domain "": ONNX's own ("ai.onnx" is read as that) */
    const char *const *inputs, *const *outputs;
    size_t n_inputs, n_outputs;
    const struct nn_onnx_attribute *attributes;
    size_t n_attributes;
};

/* An input or output of the graph. */
struct nn_onnx_value {
    const char *name;
    bool has_shape;
    size_t rank;
    int64_t dims[NN_FILE_MAX_RANK]; /* -1: symbolic or unknown */
};

/* In the order of the file. Borrowed from whoever opened it. */
struct nn_onnx_model {
    int64_t ir_version, opset; /* opset: of ONNX's own operators; 0: not said */
    const char *producer;      /* "pytorch 2.1.0"; "" not said */
    bool has_functions;
    const struct nn_file_tensor *tensors; /* initialisers */
    size_t n_tensors;
    const struct nn_onnx_node *nodes;
    size_t n_nodes;
    const struct nn_onnx_value *inputs; /* without those that are initialisers */
    size_t n_inputs;
    const struct nn_onnx_value *outputs;
    size_t n_outputs;
    const struct nn_file_pair *metadata;
    size_t n_metadata;
};

struct nn_onnx;

/* Whether bytes begin as a model does. */
bool nn_onnx_is(const void *bytes, size_t n);

/* bytes: borrowed until close. ERR_INVALID, ERR_LIMIT (more than max_tensors, or a graph of more
 * than 65,536 nodes) and ERR_NOT_SUPPORTED with a sentence that says why. */
NN_MUST_CHECK enum nn_status nn_onnx_open_bytes(const void *bytes, size_t n, size_t max_tensors,
                                                struct nn_onnx **out, struct nn_error *err);
void nn_onnx_close(struct nn_onnx *file);
const struct nn_onnx_model *nn_onnx_model(const struct nn_onnx *file);

/* By name; NULL when the node has none of that name and type. */
const struct nn_onnx_attribute *nn_onnx_attribute(const struct nn_onnx_node *node, const char *name,
                                                  enum nn_onnx_type type);

#endif
