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
    /* what a recurrent layer gives, with the axis of its directions; that axis beside the units;
     * the last state of the one direction `number` */
    NN_ONNX_STATES,
    NN_ONNX_STATES_TURNED,
    NN_ONNX_STATE,
    NN_ONNX_CHANNELS_LAST, /* what a layer gives, as [N, H, W, C] */
    NN_ONNX_STEPS_LAST,    /* what a layer gives, as [N, C, T] */
    /* steps of x - min(max(x, -t), t) */
    NN_ONNX_SOFT_MINUS,
    NN_ONNX_SOFT_ABOVE,
    NN_ONNX_SOFT_WITHIN,
    /* steps of x * (1 + erf(x / sqrt 2)) / 2, where x is what the layer gives */
    NN_ONNX_GELU_SCALED,
    NN_ONNX_GELU_ERF,
    NN_ONNX_GELU_SUM,
    NN_ONNX_GELU_PRODUCT,
    /* steps of (x - mean) / sqrt(variance + epsilon) * weight + bias, and the same without mean */
    NN_ONNX_NORM_MEAN,
    NN_ONNX_NORM_CENTRED,
    NN_ONNX_NORM_SQUARE,
    NN_ONNX_NORM_VARIANCE,
    NN_ONNX_NORM_ABOVE_ZERO,
    NN_ONNX_NORM_ROOT,
    NN_ONNX_NORM_FACTOR, /* 1 / root */
    NN_ONNX_NORM_RATIO,
    NN_ONNX_NORM_SCALED, /* its layer is there; the bias is not */
    NN_ONNX_NORM_GROUPS, /* channels as [N, groups, the rest] */
    NN_ONNX_NORM_GROUPS_DONE,
    /* steps of rows that say which step it is (onnx_read_positions.c), and of those of ids */
    NN_ONNX_STEP_COUNT,
    NN_ONNX_POSITIONS,
    NN_ONNX_POSITION_COLUMN,
    NN_ONNX_ANGLES,
    NN_ONNX_SINES,
    NN_ONNX_COSINES,
    NN_ONNX_EVEN_SINES,
    NN_ONNX_ODD_COSINES,
    NN_ONNX_POSITION_ROWS,
    NN_ONNX_ROWS_OF_ALL,
    NN_ONNX_COLUMN,
    NN_ONNX_IDS,
    /* steps of attention (onnx_read_attention.c) */
    NN_ONNX_STEPS_TWICE, /* [steps, steps] as a shape */
    NN_ONNX_ALL_HIDDEN,
    NN_ONNX_LATER_HIDDEN,
    NN_ONNX_HEADS_SPLIT,
    NN_ONNX_BY_HEAD,
    NN_ONNX_QUERIES,
    NN_ONNX_KEYS,
    NN_ONNX_VALUES,
    NN_ONNX_TURNED_KEYS,
    NN_ONNX_SCALED_QUERIES,
    NN_ONNX_SCORES,
    NN_ONNX_SHARES,
    NN_ONNX_HEADS_SAY,
    NN_ONNX_HEADS_BY_STEP,
    NN_ONNX_HEADS_JOINED,
    NN_ONNX_ATTENDED /* its layer is there; the bias is not */
};

/* The number of NN_ONNX_SIZES that are all sizes of what the layer gives. */
enum { NN_ONNX_WHOLE_SIZES = 1 };

/* Of the steps of a norm. */
struct nn_onnx_norm {
    const char *kind;
    double epsilon;
    size_t groups;
    bool channels_last; /* of an image that was turned so */
};

struct nn_onnx_known {
    const char *name;
    enum nn_onnx_meaning meaning;
    size_t layer; /* index */
    bool sides;   /* a row as an image of one pixel */
    const struct nn_file_tensor *tensor;
    size_t number;
    bool causal; /* of scores and what is made of them */
    struct nn_onnx_norm norm;
};

/* What is known of what a layer gives; 0: sizes that are not. */
struct nn_onnx_extent {
    bool row;   /* [N, C]: what has no pixels and no steps any more */
    bool steps; /* of a sequence; its height and width are 1 */
    size_t height, width, channels;
};

enum { NN_ONNX_READ_NODES = 4096, NN_ONNX_LAYER_NAME_MAX = 63 };

struct nn_onnx_reader {
    const struct nn_onnx_model *model;
    struct nn_arena *arena;
    struct nn_onnx_known *known; /* in the order in which they came */
    size_t n_known, room;
    json_t *layers;      /* with names, kinds and options */
    json_t *connections; /* [from, to] */
    struct nn_file_tensor *tensors;
    size_t n_tensors, room_tensors;
    struct nn_onnx_extent *extents; /* of layers */
    size_t room_extents;
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
/* Numbered in the order of the graph where nothing tells; the match of weights reads such names. */
void nn_onnx_choose_name(const struct nn_onnx_reader *r, const struct nn_onnx_node *node,
                         const char *kind, const struct nn_file_tensor *weight,
                         char out[NN_ONNX_LAYER_NAME_MAX + 1]);
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
/* The same behind one layer, whatever the node's inputs are. */
NN_MUST_CHECK bool nn_onnx_add_layer_behind(struct nn_onnx_reader *r,
                                            const struct nn_onnx_node *node, const char *kind,
                                            json_t *options_take, size_t before,
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
/* The layer before another; false: it has none. */
bool nn_onnx_before(const struct nn_onnx_reader *r, size_t layer, size_t *out);
/* A copy of the layer's parameter; false: there is none. */
bool nn_onnx_tensor_of(const struct nn_onnx_reader *r, size_t layer, const char *suffix,
                       struct nn_file_tensor *out);
/* Its numbers as single precision; NULL: no memory, or numbers of another kind. */
float *nn_onnx_floats_of(struct nn_onnx_reader *r, const struct nn_file_tensor *tensor);
/* Its only number. */
bool nn_onnx_number(struct nn_onnx_reader *r, const struct nn_file_tensor *tensor, double *out);
/* A tensor of the arena; name and values are borrowed. NULL: no memory. */
const struct nn_file_tensor *nn_onnx_made(struct nn_onnx_reader *r, const char *name,
                                          const size_t *shape, size_t rank, const float *values);
/* Axes of two turned round, as a tensor of the arena. */
const struct nn_file_tensor *nn_onnx_turned(struct nn_onnx_reader *r,
                                            const struct nn_file_tensor *tensor);
/* The numbers of a constant input, when there are n of them; otherwise NULL. */
const float *nn_onnx_numbers_in(struct nn_onnx_reader *r, const struct nn_onnx_node *node, size_t i,
                                size_t n);
/* Whether an attribute says these numbers. */
bool nn_onnx_ints_are(const struct nn_onnx_node *node, const char *name, const int64_t *values,
                      size_t n);
/* The n-th of the axes that a node lists, as it says it; -9: fewer. */
int64_t nn_onnx_listed_axis(struct nn_onnx_reader *r, const struct nn_onnx_node *node, size_t n,
                            size_t *out_count);
/* A whole-number attribute, or what stands in its place. */
int64_t nn_onnx_int_of(const struct nn_onnx_node *node, const char *name, int64_t fallback);
double nn_onnx_real_of(const struct nn_onnx_node *node, const char *name, double fallback);
/* How often nodes take a value. */
size_t nn_onnx_uses(const struct nn_onnx_reader *r, const char *value);
/* false with r->why: always, for `return nn_onnx_lacks(r, "...")`. */
bool nn_onnx_lacks(struct nn_onnx_reader *r, const char *why);

/* ---- axes and sizes ---- */

struct nn_onnx_extent nn_onnx_extent_of(const struct nn_onnx_reader *r, size_t layer);
void nn_onnx_set_extent(struct nn_onnx_reader *r, size_t layer, struct nn_onnx_extent extent);
/* The layer's, by its kind and options, from that of its first input. */
void nn_onnx_extend(struct nn_onnx_reader *r, size_t layer, struct nn_onnx_extent before);
bool nn_onnx_is_row(const struct nn_onnx_reader *r, size_t layer);
void nn_onnx_mark_row(struct nn_onnx_reader *r, size_t layer);
bool nn_onnx_is_one_pixel(const struct nn_onnx_reader *r, size_t layer);
/* Axes of a layer's output, or of it with channels last: 2, 3 or 4. */
size_t nn_onnx_rank(const struct nn_onnx_reader *r, const struct nn_onnx_known *value);
/* An axis counted from the front. */
int64_t nn_onnx_axis(const struct nn_onnx_reader *r, const struct nn_onnx_known *value,
                     int64_t axis);
bool nn_onnx_is_channels(const struct nn_onnx_reader *r, const struct nn_onnx_known *value,
                         int64_t axis);

/* ---- norms within a sample ---- */

/* What such a norm may stand behind: a layer's output, or an image with its channels last. */
const struct nn_onnx_known *nn_onnx_norm_source(const struct nn_onnx_reader *r,
                                                const struct nn_onnx_node *node, size_t i);
/* Whether an axis is that of the source's channels, and the last one. */
bool nn_onnx_is_last_channels(const struct nn_onnx_reader *r, const struct nn_onnx_known *value,
                              int64_t axis);
/* The node gives what the layer does, as the norm's source was. */
void nn_onnx_mean_normed(struct nn_onnx_reader *r, const struct nn_onnx_node *node,
                         bool channels_last, size_t layer);

/* ---- the table ---- */

/* One row a use of an operator. read: false when it cannot be read as it is used here; then the
 * next row of that operator is asked, and the last one says why. */
struct nn_onnx_operator {
    const char *op;
    bool (*read)(struct nn_onnx_reader *r, const struct nn_onnx_node *node);
};
extern const struct nn_onnx_operator nn_onnx_operators[]; /* ended by op NULL */

/* ---- layers of many nodes (onnx_read_patterns.c) ---- */

enum { NN_ONNX_EITHER = -1 }; /* the first or the second input */
/* What a node of an operator makes of a value that is its input `at`: another value. */
struct nn_onnx_step {
    const char *op;
    enum nn_onnx_meaning from, to;
    int at;
    /* Whether the node is such a step; NULL: always. value is what it gives, from the one before it
     * but for name and meaning, and may be changed; other: the other one of the first two inputs.
     */
    bool (*fits)(struct nn_onnx_reader *r, const struct nn_onnx_node *node,
                 struct nn_onnx_known *value, size_t other);
};
/* By the first step that fits; steps are ended by op NULL. */
bool nn_onnx_read_by_steps(struct nn_onnx_reader *r, const struct nn_onnx_node *node,
                           const struct nn_onnx_step *steps);
/* Of a layer's value: whether it has a row a step. */
bool nn_onnx_is_steps(const struct nn_onnx_reader *r, const struct nn_onnx_known *value);
/* Whether an input is one constant number without an axis; which. */
bool nn_onnx_index_is(struct nn_onnx_reader *r, const struct nn_onnx_node *node, size_t i,
                      double *out);
/* Whether an input is one constant number, this one. */
bool nn_onnx_number_is(struct nn_onnx_reader *r, const struct nn_onnx_node *node, size_t i,
                       double wanted);

#endif
