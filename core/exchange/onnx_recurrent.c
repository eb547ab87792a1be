/* SPDX-License-Identifier: MIT
 *
 * Recurrent layers as operators of ONNX: the gates of PyTorch in ONNX's order, a row of tensors for
 * each direction.
 */
#include <stdio.h>
#include <string.h>

#include "core/exchange/onnx_write_internal.h"

/* A cell. order: where PyTorch has what ONNX has as its gate 0, 1, ... */
struct cell {
    const char *op;
    size_t gates, order[4];
};
static const struct cell LSTM = {"LSTM", 4, {0, 3, 1, 2}}; /* i f g o -> i o f g */
static const struct cell GRU = {"GRU", 3, {1, 0, 2}};      /* r z n -> z r h */

/* ---- tensors ---- */

/* Appends the gates of a parameter of one direction; `gate` numbers each. */
static float *gates_put(struct nn_onnx_writer *w, const struct nn_onnx_layer *layer,
                        const struct cell *cell, const char *suffix, size_t gate, float *to)
{
    const float *from = nn_onnx_values(w, layer, suffix, cell->gates * gate);
    for (size_t g = 0; from && g < cell->gates; g++) {
        memcpy(to + g * gate, from + cell->order[g] * gate, gate * sizeof *to);
    }
    return to + cell->gates * gate;
}

static void put_suffix(char out[32], const char *name, size_t direction)
{
    (void)snprintf(out, 32, "%s%s", name, direction == 0 ? "" : "_reverse");
}

/* A weight as [directions, gates x units, columns]. */
static void put_weight(struct nn_onnx_writer *w, const struct nn_onnx_layer *layer,
                       const struct cell *cell, const char *parameter, const size_t shape[3],
                       const char *name)
{
    size_t gate = shape[1] / cell->gates * shape[2];
    float *values = nn_arena_alloc(w->arena, shape[0] * shape[1] * shape[2], sizeof *values);
    float *at = values;
    char suffix[32];
    for (size_t d = 0; values && d < shape[0]; d++) {
        put_suffix(suffix, parameter, d);
        at = gates_put(w, layer, cell, suffix, gate, at);
    }
    nn_onnx_floats(w, name, shape, 3, values);
}

/* Both biases of each direction; a cell that has one here has zeros for the other. */
static void put_biases(struct nn_onnx_writer *w, const struct nn_onnx_layer *layer,
                       const struct cell *cell, size_t directions, size_t units, const char *name)
{
    static const char *const NAMES[2] = {"bias_ih_l0", "bias_hh_l0"};
    const size_t shape[2] = {directions, 2 * cell->gates * units};
    float *values = nn_arena_alloc(w->arena, shape[0] * shape[1], sizeof *values);
    float *at = values;
    char suffix[32];
    for (size_t i = 0; values && i < 2 * directions; i++) {
        put_suffix(suffix, NAMES[i % 2], i / 2);
        if (i % 2 == 0 || nn_onnx_has_parameter(w, layer, suffix)) {
            (void)gates_put(w, layer, cell, suffix, units, at);
        }
        at += cell->gates * units;
    }
    nn_onnx_floats(w, name, shape, 2, values);
}

/* ---- nodes ---- */

/* Both states of a step beside each other: [T, 2, N, units] -> [T, N, 2 units], of the last ones
 * [2, N, units] -> [N, 2 units]. */
static void join_directions(struct nn_onnx_writer *w, const struct nn_onnx_layer *layer, bool last,
                            const char *states)
{
    static const int64_t STEPS[4] = {0, 2, 1, 3}, LAST[3] = {1, 0, 2}, SHAPE[3] = {0, 0, -1};
    char turned[NN_ONNX_NAME_SIZE], shape[NN_ONNX_NAME_SIZE];
    nn_onnx_inner(layer, "turned", turned);
    nn_onnx_inner(layer, "shape", shape);
    nn_onnx_transpose(w, states, last ? LAST : STEPS, last ? 3 : 4, turned);
    if (last) {
        nn_onnx_simple(w, "Flatten", turned, NULL, layer->out.name);
        return;
    }
    nn_onnx_axes(w, shape, SHAPE, 3);
    nn_onnx_simple(w, "Reshape", turned, shape, layer->out.name);
}

/* The axis of the one direction taken away. */
static void drop_direction(struct nn_onnx_writer *w, const struct nn_onnx_layer *layer, bool last,
                           const char *states)
{
    const int64_t direction = last ? 0 : 1; /* Y_h [1, N, C], Y [T, 1, N, C] */
    char axis[NN_ONNX_NAME_SIZE];
    nn_onnx_inner(layer, "axis", axis);
    nn_onnx_axes(w, axis, &direction, 1);
    nn_onnx_simple(w, "Squeeze", states, axis, layer->out.name);
}

static bool write(struct nn_onnx_writer *w, struct nn_onnx_layer *layer, const struct cell *cell)
{
    static const char *const NAMES[3] = {"W", "R", "B"};
    char names[3][NN_ONNX_NAME_SIZE], states[NN_ONNX_NAME_SIZE];
    bool last = strcmp(json_string_value(json_object_get(layer->options, "output")), "last") == 0;
    bool biases = nn_onnx_has_parameter(w, layer, "bias_ih_l0");
    size_t directions = nn_onnx_has_parameter(w, layer, "weight_ih_l0_reverse") ? 2 : 1;
    size_t units = layer->out.channels / directions, rows = cell->gates * units;
    for (size_t i = 0; i < 3; i++) {
        nn_onnx_inner(layer, NAMES[i], names[i]);
    }
    nn_onnx_inner(layer, "states", states);
    put_weight(w, layer, cell, "weight_ih_l0",
               (const size_t[]){directions, rows, layer->in[0].channels}, names[0]);
    put_weight(w, layer, cell, "weight_hh_l0", (const size_t[]){directions, rows, units}, names[1]);
    if (biases) {
        put_biases(w, layer, cell, directions, units, names[2]);
    }
    nn_onnx_begin(w, cell->op, states);
    nn_onnx_in(w, layer->in[0].name);
    for (size_t i = 0; i < (biases ? 3U : 2U); i++) {
        nn_onnx_in(w, names[i]);
    }
    nn_onnx_out(w, last ? "" : states);
    if (last) {
        nn_onnx_out(w, states);
    }
    nn_onnx_int(w, "hidden_size", (int64_t)units);
    nn_onnx_string(w, "direction", directions == 2 ? "bidirectional" : "forward");
    if (cell == &GRU) {
        nn_onnx_int(w, "linear_before_reset", 1); /* the reset gate behind the product */
    }
    nn_onnx_end(w);
    (directions == 2 ? join_directions : drop_direction)(w, layer, last, states);
    layer->out.rank = last ? NN_ONNX_ROWS : NN_ONNX_SEQUENCE;
    return true;
}

bool nn_onnx_write_lstm(struct nn_onnx_writer *w, struct nn_onnx_layer *layer)
{
    return write(w, layer, &LSTM);
}

bool nn_onnx_write_gru(struct nn_onnx_writer *w, struct nn_onnx_layer *layer)
{
    return write(w, layer, &GRU);
}
