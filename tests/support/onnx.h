/* SPDX-License-Identifier: MIT
 *
 * ONNX test cases as Debian's libonnx-testdata ships them: one model file and tensors in and out.
 * Reads just what such cases hold (protobuf wire format, float and int64 tensors); for tests alone,
 * trusting the files.
 */
#ifndef TESTS_SUPPORT_ONNX_H
#define TESTS_SUPPORT_ONNX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ONNX_RANK_MAX = 8, ONNX_INPUTS_MAX = 8, ONNX_ATTRIBUTES_MAX = 16 };

struct onnx_tensor {
    char name[64];
    size_t rank, dims[ONNX_RANK_MAX], count;
    int type;          /* 1: float */
    float *values;     /* NULL of other types */
    size_t n_integers; /* of type int64, the first ones */
    int64_t integers[ONNX_RANK_MAX];
};

struct onnx_attribute {
    char name[32], text[32];
    int64_t integer;
    double real;
    size_t n_integers;
    int64_t integers[ONNX_RANK_MAX];
};

/* A graph of one node. */
struct onnx_case {
    char op[48];
    size_t n_nodes, n_inputs, n_outputs, n_attributes;
    struct onnx_attribute attributes[ONNX_ATTRIBUTES_MAX];
    struct onnx_tensor inputs[ONNX_INPUTS_MAX]; /* in the order of the node; rank 0 if left out */
    struct onnx_tensor output;                  /* the first */
};

/* Reads DIRECTORY/model.onnx and its first data set; false when there is none. */
bool onnx_case_read(const char *directory, struct onnx_case *out);
void onnx_case_free(struct onnx_case *c);

/* NULL when the node has no such attribute. */
const struct onnx_attribute *onnx_attribute(const struct onnx_case *c, const char *name);
int64_t onnx_integer(const struct onnx_case *c, const char *name, int64_t fallback);

#endif
