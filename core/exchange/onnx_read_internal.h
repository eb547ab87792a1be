/* SPDX-License-Identifier: MIT
 *
 * A graph of ONNX while it becomes a description; private to the room.
 */
#ifndef NN_EXCHANGE_ONNX_READ_INTERNAL_H
#define NN_EXCHANGE_ONNX_READ_INTERNAL_H

#include "core/base/memory.h"
#include "core/exchange/onnx.h"

/* What a value of the graph is. */
enum nn_onnx_meaning {
    NN_ONNX_LAYER,    /* what a layer gives */
    NN_ONNX_CONSTANT, /* a tensor */
    NN_ONNX_SIZES,    /* sizes of a value, or made of such */
    NN_ONNX_STATES,   /* what an LSTM gives, before the axis of its directions is squeezed away */
    /* steps of x * (1 + erf(x / sqrt 2)) / 2, where x is what the layer gives */
    NN_ONNX_GELU_SCALED,
    NN_ONNX_GELU_ERF,
    NN_ONNX_GELU_SUM,
    NN_ONNX_GELU_PRODUCT
};

struct nn_onnx_known {
    const char *name;
    enum nn_onnx_meaning meaning;
    size_t layer; /* index */
    const struct nn_file_tensor *tensor;
};

enum { NN_ONNX_READ_NODES = 4096, NN_ONNX_READ_INPUTS = 64 };

struct nn_onnx_reader {
    const struct nn_onnx_model *model;
    struct nn_arena *arena;
    struct nn_onnx_known *known; /* in the order in which they came */
    size_t n_known, room;
    json_t *layers;      /* with names, kinds and options */
    json_t *connections; /* [from, to] */
    struct nn_file_tensor *tensors;
    size_t n_tensors, room_tensors;
    bool sequences;
    enum nn_status status; /* NN_ERR_MEMORY once something had no room */
    const char *why;       /* the node cannot be read: what of it lacks; NULL: its operator */
};

/* ---- steps ---- */

void nn_onnx_know(struct nn_onnx_reader *r, const struct nn_onnx_known *value);
/* The last value of a name; NULL when there is none. */
const struct nn_onnx_known *nn_onnx_find_known(const struct nn_onnx_reader *r, const char *name);
const char *nn_onnx_layer_name(const struct nn_onnx_reader *r, size_t layer);
bool nn_onnx_name_taken(const struct nn_onnx_reader *r, const char *name);
/* false: no memory. */
bool nn_onnx_connect(struct nn_onnx_reader *r, size_t from, const char *to);
/* The graph's input as the first layer. */
NN_MUST_CHECK enum nn_status nn_onnx_read_input(struct nn_onnx_reader *r, struct nn_error *err);
/* Removes what the output does not need, and ends a network of images in classes. */
NN_MUST_CHECK enum nn_status nn_onnx_finish(struct nn_onnx_reader *r, struct nn_error *err);

/* ---- for the functions of the table ---- */

/* The i-th input; NULL when it is left out or unknown. */
const struct nn_onnx_known *nn_onnx_input(const struct nn_onnx_reader *r,
                                          const struct nn_onnx_node *node, size_t i);
/* The same where it must be a layer's or a tensor; NULL otherwise. */
const struct nn_onnx_known *nn_onnx_layer_in(const struct nn_onnx_reader *r,
                                             const struct nn_onnx_node *node, size_t i);
const struct nn_file_tensor *nn_onnx_tensor_in(const struct nn_onnx_reader *r,
                                               const struct nn_onnx_node *node, size_t i);

/* A layer for the node that takes the first n inputs of it; options is transferred and gets name
 * and kind. weight: the tensor that may tell the layer's name, or NULL. *out_layer: its index.
 * false: an input is no layer's, or there is no memory. */
NN_MUST_CHECK bool nn_onnx_add_layer(struct nn_onnx_reader *r, const struct nn_onnx_node *node,
                                     const char *kind, json_t *options_take, size_t n,
                                     const struct nn_file_tensor *weight, size_t *out_layer);
/* Another meaning for the node's i-th output. */
void nn_onnx_mean(struct nn_onnx_reader *r, const struct nn_onnx_node *node, size_t i,
                  enum nn_onnx_meaning meaning, size_t layer, const struct nn_file_tensor *tensor);
/* The options of a layer, to be changed. */
json_t *nn_onnx_options(const struct nn_onnx_reader *r, size_t layer);

/* The layer's parameter <layer>.<suffix>: the tensor as it is, or single-precision numbers of a
 * shape, borrowed from the arena. */
void nn_onnx_add_tensor(struct nn_onnx_reader *r, size_t layer, const char *suffix,
                        const struct nn_file_tensor *tensor);
void nn_onnx_add_floats(struct nn_onnx_reader *r, size_t layer, const char *suffix,
                        const size_t *shape, size_t rank, const float *values);
/* Its numbers as single precision; NULL: no memory, or numbers of another kind. */
float *nn_onnx_floats_of(struct nn_onnx_reader *r, const struct nn_file_tensor *tensor);
/* Its only number. */
bool nn_onnx_number(struct nn_onnx_reader *r, const struct nn_file_tensor *tensor, double *out);
/* Axes of two turned round, as a tensor of the arena. */
const struct nn_file_tensor *nn_onnx_turned(struct nn_onnx_reader *r,
                                            const struct nn_file_tensor *tensor);
/* A whole-number attribute, or what stands in its place. */
int64_t nn_onnx_int_of(const struct nn_onnx_node *node, const char *name, int64_t fallback);
double nn_onnx_real_of(const struct nn_onnx_node *node, const char *name, double fallback);
/* How often nodes take a value. */
size_t nn_onnx_uses(const struct nn_onnx_reader *r, const char *value);
/* false with r->why: always, for `return nn_onnx_lacks(r, "...")`. */
bool nn_onnx_lacks(struct nn_onnx_reader *r, const char *why);

/* ---- the table ---- */

/* One row an operator. read: false when it cannot be read as it is used here. */
struct nn_onnx_operator {
    const char *op;
    bool (*read)(struct nn_onnx_reader *r, const struct nn_onnx_node *node);
};
extern const struct nn_onnx_operator nn_onnx_operators[]; /* ended by op NULL */

bool nn_onnx_read_conv(struct nn_onnx_reader *r, const struct nn_onnx_node *node);
bool nn_onnx_read_max_pool(struct nn_onnx_reader *r, const struct nn_onnx_node *node);
bool nn_onnx_read_average_pool(struct nn_onnx_reader *r, const struct nn_onnx_node *node);
bool nn_onnx_read_gemm(struct nn_onnx_reader *r, const struct nn_onnx_node *node);
bool nn_onnx_read_mat_mul(struct nn_onnx_reader *r, const struct nn_onnx_node *node);
bool nn_onnx_read_batch_norm(struct nn_onnx_reader *r, const struct nn_onnx_node *node);
bool nn_onnx_read_lstm(struct nn_onnx_reader *r, const struct nn_onnx_node *node);
bool nn_onnx_read_squeeze(struct nn_onnx_reader *r, const struct nn_onnx_node *node);
bool nn_onnx_read_add(struct nn_onnx_reader *r, const struct nn_onnx_node *node);

#endif
