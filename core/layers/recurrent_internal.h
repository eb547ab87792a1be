/* SPDX-License-Identifier: MIT
 *
 * What recurrent layers share. A layer runs from the first step, or beside that from the last one
 * with weights of its own, over the same sequences reversed; its output is then both states side by
 * side. Each direction has the parameters of PyTorch's one-layer module, by its names.
 */
#ifndef NN_LAYERS_RECURRENT_INTERNAL_H
#define NN_LAYERS_RECURRENT_INTERNAL_H

#include "core/layers/shape_internal.h"

enum nn_recurrent_output { NN_RECURRENT_SEQUENCE, NN_RECURRENT_LAST };
enum nn_recurrent_direction { NN_RECURRENT_FORWARD, NN_RECURRENT_BIDIRECTIONAL };

/* The options of every recurrent kind. */
struct nn_recurrent_options {
    size_t units;
    int output, direction; /* enums above */
    bool bias;
    struct nn_factor_options factors;
};

extern const struct jx_field nn_recurrent_fields[];

static inline const struct nn_recurrent_options *
nn_recurrent_options_of(const struct nn_layer *layer)
{
    return layer->options;
}

static inline size_t nn_recurrent_directions(const struct nn_layer *layer)
{
    return nn_recurrent_options_of(layer)->direction == NN_RECURRENT_BIDIRECTIONAL ? 2 : 1;
}

/* What the cells of kinds differ in. */
struct nn_recurrent_cell {
    enum nn_cell_kind kind;
    bool second_bias; /* beside that of the input weights one of the recurrent weights */
    size_t ones_gate; /* whose bias begins as 1; SIZE_MAX: none */
};

enum nn_status nn_recurrent_plan(const struct nn_layer *layer, const struct nn_layer_input *in,
                                 const struct nn_recurrent_cell *cell, struct nn_layer_plan *out);

void nn_recurrent_plan_pass(const struct nn_pass *pass, enum nn_cell_kind cell,
                            struct nn_pass_plan *out);
void nn_recurrent_forward(const struct nn_pass *pass, enum nn_cell_kind cell,
                          const struct nn_run *run, struct nn_view x, struct nn_view y);
void nn_recurrent_backward(const struct nn_pass *pass, enum nn_cell_kind cell,
                           const struct nn_run *run, const struct nn_backward *args);

#endif
