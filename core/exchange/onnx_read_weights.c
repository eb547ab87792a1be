/* SPDX-License-Identifier: MIT
 *
 * Operators of ONNX that carry weights, convolution aside: products, normalisation, LSTM.
 */
#include <string.h>

#include "core/exchange/onnx_read_internal.h"

/* ---- products ---- */

/* weight: outputs x inputs. */
static bool product(struct nn_onnx_reader *r, const struct nn_onnx_node *node,
                    const struct nn_file_tensor *weight, const struct nn_file_tensor *bias)
{
    size_t layer;
    json_t *options =
        json_pack("{s:I, s:b}", "outputs", (json_int_t)weight->shape[0], "bias", bias ? 1 : 0);
    if (!nn_onnx_add_layer(r, node, "fully_connected", options, 1, weight, &layer)) {
        return false;
    }
    nn_onnx_add_tensor(r, layer, "weight", weight);
    if (bias) {
        nn_onnx_add_tensor(r, layer, "bias", bias);
    }
    return true;
}

bool nn_onnx_read_gemm(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    const struct nn_file_tensor *weight = nn_onnx_tensor_in(r, node, 1);
    const struct nn_file_tensor *bias = nn_onnx_tensor_in(r, node, 2);
    bool plain = nn_onnx_real_of(node, "alpha", 1) == 1 && nn_onnx_real_of(node, "beta", 1) == 1 &&
                 nn_onnx_int_of(node, "transA", 0) == 0;
    if (!weight || weight->rank != 2 || (bias && bias->rank != 1) ||
        (node->n_inputs > 2 && !bias) || !plain) {
        return nn_onnx_lacks(r, "other than x * constant weight + bias");
    }
    if (nn_onnx_int_of(node, "transB", 0) == 0) {
        weight = nn_onnx_turned(r, weight);
    }
    return weight && product(r, node, weight, bias);
}

bool nn_onnx_read_mat_mul(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    const struct nn_file_tensor *weight = nn_onnx_tensor_in(r, node, 1);
    if (!weight || weight->rank != 2 || !nn_onnx_layer_in(r, node, 0)) {
        return nn_onnx_lacks(r, "other than x * constant weight");
    }
    weight = nn_onnx_turned(r, weight);
    return weight && product(r, node, weight, NULL);
}

/* A constant behind a product without a bias is its bias. */
static bool take_bias(struct nn_onnx_reader *r, const struct nn_onnx_node *node,
                      const struct nn_onnx_known *value, const struct nn_file_tensor *bias)
{
    json_t *options = nn_onnx_options(r, value->layer);
    const char *kind = json_string_value(json_object_get(options, "kind"));
    bool fits = strcmp(kind, "fully_connected") == 0 &&
                !json_is_true(json_object_get(options, "bias")) && bias->rank == 1 &&
                nn_onnx_uses(r, value->name) == 1 &&
                (json_int_t)bias->count == json_integer_value(json_object_get(options, "outputs"));
    if (!fits) {
        return nn_onnx_lacks(r, "a constant that is no bias");
    }
    (void)json_object_set_new(options, "bias", json_true());
    nn_onnx_add_tensor(r, value->layer, "bias", bias);
    nn_onnx_mean(r, node, 0, NN_ONNX_LAYER, value->layer, NULL);
    return true;
}

bool nn_onnx_read_add(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    size_t layer;
    for (size_t i = 0; i < 2; i++) {
        const struct nn_onnx_known *value = nn_onnx_input(r, node, i);
        const struct nn_file_tensor *constant = nn_onnx_tensor_in(r, node, 1 - i);
        double number = 0;
        if (value && constant && value->meaning == NN_ONNX_GELU_ERF &&
            nn_onnx_number(r, constant, &number) && number == 1) {
            nn_onnx_mean(r, node, 0, NN_ONNX_GELU_SUM, value->layer, NULL);
            return true;
        }
        if (value && constant && value->meaning == NN_ONNX_LAYER) {
            return take_bias(r, node, value, constant);
        }
    }
    return nn_onnx_add_layer(r, node, "addition", NULL, node->n_inputs, NULL, &layer);
}

/* ---- normalisation ---- */

bool nn_onnx_read_batch_norm(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    static const char *const PARAMETERS[] = {"weight", "bias", "running_mean", "running_var"};
    const struct nn_file_tensor *tensors[4];
    size_t layer;
    for (size_t i = 0; i < 4; i++) {
        tensors[i] = nn_onnx_tensor_in(r, node, i + 1);
        if (!tensors[i] || tensors[i]->rank != 1) {
            return nn_onnx_lacks(r, "statistics that are no constants");
        }
    }
    json_t *options = json_pack("{s:f, s:f}", "epsilon", nn_onnx_real_of(node, "epsilon", 1e-5),
                                "momentum", 1 - nn_onnx_real_of(node, "momentum", 0.9));
    if (!nn_onnx_add_layer(r, node, "batch_norm", options, 1, tensors[0], &layer)) {
        return false;
    }
    for (size_t i = 0; i < 4; i++) {
        nn_onnx_add_tensor(r, layer, PARAMETERS[i], tensors[i]);
    }
    return true;
}

/* ---- LSTM ---- */

/* Gates i, o, f, g of ONNX as PyTorch has them: i, f, g, o; `gate` numbers each. */
static float *gates_turned(struct nn_onnx_reader *r, const float *from, size_t gate)
{
    static const size_t ORDER[4] = {0, 2, 3, 1};
    float *out = nn_arena_alloc(r->arena, 4 * gate, sizeof *out);
    for (size_t g = 0; out && g < 4; g++) {
        memcpy(out + g * gate, from + ORDER[g] * gate, gate * sizeof *out);
    }
    return out;
}

static bool add_gates(struct nn_onnx_reader *r, size_t layer, const char *suffix,
                      const struct nn_file_tensor *tensor)
{
    const float *from = nn_onnx_floats_of(r, tensor);
    size_t units = tensor->shape[1] / 4, columns = tensor->shape[2];
    const float *values = from ? gates_turned(r, from, units * columns) : NULL;
    nn_onnx_add_floats(r, layer, suffix, (const size_t[]){4 * units, columns}, 2, values);
    return values != NULL;
}

/* Both biases of ONNX as the one of ours. */
static bool add_biases(struct nn_onnx_reader *r, size_t layer, const struct nn_file_tensor *biases)
{
    float *from = nn_onnx_floats_of(r, biases);
    size_t units = biases->count / 8;
    for (size_t i = 0; from && i < 4 * units; i++) {
        from[i] += from[4 * units + i];
    }
    const float *values = from ? gates_turned(r, from, units) : NULL;
    nn_onnx_add_floats(r, layer, "bias_ih_l0", (const size_t[]){4 * units}, 1, values);
    return values != NULL;
}

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

static bool lstm_is_plain(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    const struct nn_onnx_attribute *way = nn_onnx_attribute(node, "direction", NN_ONNX_STRING);
    return r->sequences && (!way || strcmp(way->text, "forward") == 0) &&
           nn_onnx_int_of(node, "layout", 0) == 0 && nn_onnx_int_of(node, "input_forget", 0) == 0 &&
           !nn_onnx_attribute(node, "clip", NN_ONNX_FLOAT) &&
           !nn_onnx_attribute(node, "activations", NN_ONNX_STRINGS) && begins_at_zero(r, node) &&
           (node->n_inputs < 8 || node->inputs[7][0] == '\0');
}

bool nn_onnx_read_lstm(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    const struct nn_file_tensor *w = nn_onnx_tensor_in(r, node, 1);
    const struct nn_file_tensor *recurrent = nn_onnx_tensor_in(r, node, 2);
    const struct nn_file_tensor *biases = nn_onnx_tensor_in(r, node, 3);
    bool last = node->n_outputs > 1 && nn_onnx_uses(r, node->outputs[0]) == 0;
    size_t layer;
    if (!w || !recurrent || w->rank != 3 || recurrent->rank != 3 || w->shape[0] != 1 ||
        recurrent->shape[0] != 1 || w->shape[1] != 4 * recurrent->shape[2] ||
        recurrent->shape[1] != w->shape[1] || (biases && biases->count != 2 * w->shape[1]) ||
        !lstm_is_plain(r, node)) {
        return nn_onnx_lacks(r, "other than forward from zero on whole sequences");
    }
    json_t *options = json_pack("{s:I, s:b, s:s}", "units", (json_int_t)recurrent->shape[2], "bias",
                                biases ? 1 : 0, "output", last ? "last" : "sequence");
    if (!nn_onnx_add_layer(r, node, "lstm", options, 1, NULL, &layer)) {
        return false;
    }
    nn_onnx_mean(r, node, last ? 1 : 0, NN_ONNX_STATES, layer, NULL);
    return add_gates(r, layer, "weight_ih_l0", w) &&
           add_gates(r, layer, "weight_hh_l0", recurrent) &&
           (!biases || add_biases(r, layer, biases));
}

/* Takes the axis of directions away. */
bool nn_onnx_read_squeeze(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    const struct nn_onnx_known *value = nn_onnx_input(r, node, 0);
    if (!value || value->meaning != NN_ONNX_STATES) {
        return nn_onnx_lacks(r, "other than behind an LSTM");
    }
    nn_onnx_mean(r, node, 0, NN_ONNX_LAYER, value->layer, NULL);
    return true;
}
