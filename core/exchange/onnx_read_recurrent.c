/* SPDX-License-Identifier: MIT
 *
 * Recurrent operators of ONNX as layers, and what makes a sequence or a row of what they give.
 */
#include <stdio.h>
#include <string.h>

#include "core/exchange/onnx_read_rows_internal.h"

/* A cell. order: where ONNX has what PyTorch has as its gate 0, 1, ... */
struct cell {
    const char *op, *kind;
    size_t gates, order[4];
    bool second_bias;
};
static const struct cell LSTM = {"LSTM", "lstm", 4, {0, 2, 3, 1}, false}; /* i o f g -> i f g o */
static const struct cell GRU = {"GRU", "gru", 3, {1, 0, 2}, true};        /* z r h -> r z n */

/* ---- tensors ---- */

/* The gates of one direction as a parameter; `gate` numbers each. */
static void add_gates(struct nn_onnx_reader *r, size_t layer, const struct cell *cell,
                      const char *name, size_t direction, const size_t *shape, size_t rank,
                      const float *from)
{
    size_t rows = shape[0] / cell->gates, gate = rank == 2 ? rows * shape[1] : rows;
    float *out = nn_arena_alloc(r->arena, cell->gates * gate, sizeof *out);
    char suffix[32];
    for (size_t g = 0; out && g < cell->gates; g++) {
        memcpy(out + g * gate, from + cell->order[g] * gate, gate * sizeof *out);
    }
    (void)snprintf(suffix, sizeof suffix, "%s%s", name, direction == 0 ? "" : "_reverse");
    nn_onnx_add_floats(r, layer, suffix, shape, rank, out);
}

static void add_weights(struct nn_onnx_reader *r, size_t layer, const struct cell *cell,
                        const char *name, const struct nn_file_tensor *tensor)
{
    const float *from = nn_onnx_floats_of(r, tensor);
    size_t rows = tensor->shape[1], columns = tensor->shape[2];
    for (size_t d = 0; from && d < tensor->shape[0]; d++) {
        add_gates(r, layer, cell, name, d, (const size_t[]){rows, columns}, 2,
                  from + d * rows * columns);
    }
}

/* A cell that has one bias here has the sum of both. */
static void add_biases(struct nn_onnx_reader *r, size_t layer, const struct cell *cell,
                       const struct nn_file_tensor *tensor, size_t rows)
{
    float *from = nn_onnx_floats_of(r, tensor);
    for (size_t d = 0; from && d < tensor->count / (2 * rows); d++) {
        float *first = from + 2 * d * rows, *second = first + rows;
        for (size_t i = 0; !cell->second_bias && i < rows; i++) {
            first[i] += second[i];
        }
        add_gates(r, layer, cell, "bias_ih_l0", d, &rows, 1, first);
        if (cell->second_bias) {
            add_gates(r, layer, cell, "bias_hh_l0", d, &rows, 1, second);
        }
    }
}

/* ---- the operators ---- */

/* The first state must be zero, as ours is. */
static bool begins_at_zero(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    for (size_t i = 5; i < node->n_inputs && i < 7; i++) {
        const struct nn_file_tensor *state = nn_onnx_tensor_in(r, node, i);
        const float *values = state ? nn_onnx_floats_of(r, state) : NULL;
        for (size_t k = 0; values && k < state->count; k++) {
            if (values[k] != 0) {
                return false;
            }
        }
        if (node->inputs[i][0] != '\0' && !values) {
            return false;
        }
    }
    return node->n_inputs < 5 || node->inputs[4][0] == '\0'; /* lengths of sequences */
}

static bool is_plain(struct nn_onnx_reader *r, const struct nn_onnx_node *node,
                     const struct cell *cell, size_t directions)
{
    const struct nn_onnx_attribute *way = nn_onnx_attribute(node, "direction", NN_ONNX_STRING);
    const struct nn_onnx_known *from = nn_onnx_layer_in(r, node, 0);
    const char *expected = directions == 2 ? "bidirectional" : "forward";
    return r->sequences && from && !nn_onnx_is_row(r, from->layer) && directions <= 2 &&
           strcmp(way ? way->text : "forward", expected) == 0 &&
           nn_onnx_int_of(node, "layout", 0) == 0 && nn_onnx_int_of(node, "input_forget", 0) == 0 &&
           (cell != &GRU || nn_onnx_int_of(node, "linear_before_reset", 0) != 0) &&
           !nn_onnx_attribute(node, "clip", NN_ONNX_FLOAT) &&
           !nn_onnx_attribute(node, "activations", NN_ONNX_STRINGS) && begins_at_zero(r, node) &&
           (node->n_inputs < 8 || node->inputs[7][0] == '\0');
}

/* Both weights as [directions, gates x units, columns]. */
static bool weights_fit(const struct nn_file_tensor *w, const struct nn_file_tensor *recurrent,
                        const struct nn_file_tensor *biases, const struct cell *cell)
{
    return w && recurrent && w->rank == 3 && recurrent->rank == 3 && w->shape[0] >= 1 &&
           recurrent->shape[0] == w->shape[0] && recurrent->shape[2] >= 1 &&
           w->shape[1] == cell->gates * recurrent->shape[2] && recurrent->shape[1] == w->shape[1] &&
           (!biases || biases->count == 2 * w->shape[0] * w->shape[1]);
}

static bool read(struct nn_onnx_reader *r, const struct nn_onnx_node *node, const struct cell *cell)
{
    const struct nn_file_tensor *w = nn_onnx_tensor_in(r, node, 1);
    const struct nn_file_tensor *recurrent = nn_onnx_tensor_in(r, node, 2);
    const struct nn_file_tensor *biases = nn_onnx_tensor_in(r, node, 3);
    bool last = node->n_outputs > 1 && nn_onnx_uses(r, node->outputs[0]) == 0;
    size_t layer;
    if (!weights_fit(w, recurrent, biases, cell) || !is_plain(r, node, cell, w->shape[0])) {
        return nn_onnx_lacks(r, cell == &GRU ? "linear_before_reset 0, first states, or lengths"
                                             : "other than from zero on whole sequences");
    }
    json_t *options = json_pack("{s:I, s:b, s:s, s:s}", "units", (json_int_t)recurrent->shape[2],
                                "bias", biases ? 1 : 0, "output", last ? "last" : "sequence",
                                "direction", w->shape[0] == 2 ? "bidirectional" : "forward");
    if (!nn_onnx_add_layer(r, node, cell->kind, options, 1, NULL, &layer)) {
        return false;
    }
    nn_onnx_mean(r, node, 0, NN_ONNX_STATES, layer, NULL);
    if (last) {
        nn_onnx_mark_row(r, layer);
        nn_onnx_mean(r, node, 1, NN_ONNX_STATES, layer, NULL);
    }
    add_weights(r, layer, cell, "weight_ih_l0", w);
    add_weights(r, layer, cell, "weight_hh_l0", recurrent);
    if (biases) {
        add_biases(r, layer, cell, biases, w->shape[1]);
    }
    return r->status == NN_OK;
}

bool nn_onnx_read_lstm(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    return read(r, node, &LSTM);
}

bool nn_onnx_read_gru(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    return read(r, node, &GRU);
}

/* ---- what becomes of the states ---- */

/* The layer whose states the first input is, of one direction or both; NULL: it is not. */
static const struct nn_onnx_known *states_in(const struct nn_onnx_reader *r,
                                             const struct nn_onnx_node *node,
                                             enum nn_onnx_meaning meaning, bool both)
{
    const struct nn_onnx_known *value = nn_onnx_input(r, node, 0);
    if (!value || value->meaning != meaning) {
        return NULL;
    }
    const json_t *way = json_object_get(nn_onnx_options(r, value->layer), "direction");
    bool is_both = strcmp(json_string_value(way), "bidirectional") == 0;
    return is_both == both ? value : NULL;
}

static bool is_layer(struct nn_onnx_reader *r, const struct nn_onnx_node *node, size_t layer)
{
    nn_onnx_mean(r, node, 0, NN_ONNX_LAYER, layer, NULL);
    return true;
}

/* Takes the axis of the one direction away. */
bool nn_onnx_read_squeeze(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    const struct nn_onnx_known *value = states_in(r, node, NN_ONNX_STATES, false);
    if (!value) {
        return false;
    }
    size_t n, rank = nn_onnx_is_row(r, value->layer) ? 3 : 4;
    int64_t axis = nn_onnx_listed_axis(r, node, 0, &n);
    axis += axis < 0 ? (int64_t)rank : 0;
    return n == 1 && axis == (rank == 3 ? 0 : 1) && is_layer(r, node, value->layer);
}

/* [T, 2, N, units] -> [T, N, 2, units], of the last ones [2, N, units] -> [N, 2, units]. */
bool nn_onnx_read_states_turned(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    static const int64_t STEPS[4] = {0, 2, 1, 3}, LAST[3] = {1, 0, 2};
    const struct nn_onnx_known *value = states_in(r, node, NN_ONNX_STATES, true);
    if (!value || !(nn_onnx_is_row(r, value->layer) ? nn_onnx_ints_are(node, "perm", LAST, 3)
                                                    : nn_onnx_ints_are(node, "perm", STEPS, 4))) {
        return false;
    }
    nn_onnx_mean(r, node, 0, NN_ONNX_STATES_TURNED, value->layer, NULL);
    return true;
}

/* Both directions side by side; the last axis is of twice the units, or of what is left. */
bool nn_onnx_read_states_joined(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    const struct nn_onnx_known *value = states_in(r, node, NN_ONNX_STATES_TURNED, true);
    if (!value) {
        return false;
    }
    size_t axes = nn_onnx_is_row(r, value->layer) ? 2 : 3;
    const float *shape = nn_onnx_numbers_in(r, node, 1, axes);
    json_int_t units =
        json_integer_value(json_object_get(nn_onnx_options(r, value->layer), "units"));
    return shape && (shape[axes - 1] == -1 || shape[axes - 1] == (float)(2 * units)) &&
           is_layer(r, node, value->layer);
}

bool nn_onnx_read_states_flat(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    const struct nn_onnx_known *value = states_in(r, node, NN_ONNX_STATES_TURNED, true);
    return value && nn_onnx_is_row(r, value->layer) && nn_onnx_int_of(node, "axis", 1) == 1 &&
           is_layer(r, node, value->layer);
}

/* The only number of the second input along the first axis, and without an axis of its own. */
static bool index_of(struct nn_onnx_reader *r, const struct nn_onnx_node *node, double *out)
{
    const struct nn_file_tensor *index = nn_onnx_tensor_in(r, node, 1);
    return index && index->rank == 0 && nn_onnx_number(r, index, out) &&
           nn_onnx_int_of(node, "axis", 0) == 0;
}

/* The last state of one direction: h[-1] of one, h[-2] and h[-1] of two. */
bool nn_onnx_read_state(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    const struct nn_onnx_known *one = states_in(r, node, NN_ONNX_STATES, false);
    const struct nn_onnx_known *two = states_in(r, node, NN_ONNX_STATES, true);
    const struct nn_onnx_known *value = one ? one : two;
    double index = 0, n = one ? 1 : 2;
    if (!value || !nn_onnx_is_row(r, value->layer) || !index_of(r, node, &index) || index < -n ||
        index >= n) {
        return false;
    }
    if (one) {
        return is_layer(r, node, one->layer);
    }
    nn_onnx_know(r, &(struct nn_onnx_known){.name = node->n_outputs > 0 ? node->outputs[0] : "",
                                            .meaning = NN_ONNX_STATE,
                                            .layer = two->layer,
                                            .number = (size_t)(index < 0 ? index + 2 : index)});
    return true;
}

/* Last states of both directions in their order. */
bool nn_onnx_read_states_concat(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    const struct nn_onnx_known *first = states_in(r, node, NN_ONNX_STATE, true);
    const struct nn_onnx_known *second = nn_onnx_input(r, node, 1);
    int64_t axis = nn_onnx_int_of(node, "axis", -9);
    return first && second && node->n_inputs == 2 && second->meaning == NN_ONNX_STATE &&
           second->layer == first->layer && first->number == 0 && second->number == 1 &&
           (axis == 1 || axis == -1) && is_layer(r, node, first->layer);
}

/* A row for each sequence. */
static bool pool_steps(struct nn_onnx_reader *r, const struct nn_onnx_node *node,
                       const char *method)
{
    const struct nn_onnx_known *value = nn_onnx_layer_in(r, node, 0);
    size_t layer;
    if (!value || !r->sequences || nn_onnx_is_row(r, value->layer) ||
        !nn_onnx_add_layer(r, node, "sequence_pool", json_pack("{s:s}", "method", method), 1, NULL,
                           &layer)) {
        return false;
    }
    nn_onnx_mark_row(r, layer);
    return true;
}

bool nn_onnx_read_last_step(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    double index = 0;
    return index_of(r, node, &index) && index == -1 && pool_steps(r, node, "last");
}

bool nn_onnx_read_mean_step(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    size_t n;
    return nn_onnx_listed_axis(r, node, 0, &n) == 0 && n == 1 &&
           nn_onnx_int_of(node, "keepdims", 1) == 0 && pool_steps(r, node, "mean");
}
