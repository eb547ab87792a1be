/* SPDX-License-Identifier: MIT
 *
 * Kinds of layers as operators of ONNX: a row each, and a small function. A kind without a row has
 * no operators there, and a network that has one is refused.
 */
#include <stdio.h>
#include <string.h>

#include "core/exchange/onnx_write_internal.h"

double nn_onnx_real_option(const struct nn_onnx_layer *layer, const char *name)
{
    return json_number_value(json_object_get(layer->options, name));
}

int64_t nn_onnx_int_option(const struct nn_onnx_layer *layer, const char *name)
{
    return json_integer_value(json_object_get(layer->options, name));
}

void nn_onnx_sides_option(const struct nn_onnx_layer *layer, const char *name, int64_t before[2],
                          int64_t after[2])
{
    const json_t *list = json_object_get(layer->options, name);
    size_t n = json_array_size(list);
    for (size_t axis = 0; axis < 2; axis++) {
        size_t first = n == 4 ? 2 * axis : n == 2 ? axis : 0;
        size_t second = n == 4 ? first + 1 : first;
        before[axis] = n == 0 ? 0 : json_integer_value(json_array_get(list, first));
        after[axis] = n == 0 ? 0 : json_integer_value(json_array_get(list, second));
    }
}

/* ---- ranks ---- */

void nn_onnx_input_as(struct nn_onnx_writer *w, const struct nn_onnx_layer *layer, size_t i,
                      enum nn_onnx_rank rank, char out[NN_ONNX_NAME_SIZE])
{
    static const int64_t SIDES[2] = {2, 3};
    const struct nn_onnx_term *in = &layer->in[i];
    char what[32], axes[NN_ONNX_NAME_SIZE];
    if (in->rank == rank || in->rank == NN_ONNX_SEQUENCE) {
        (void)snprintf(out, NN_ONNX_NAME_SIZE, "%s", in->name);
        return;
    }
    (void)snprintf(what, sizeof what, "input_%zu", i);
    nn_onnx_inner(layer, what, out);
    if (rank == NN_ONNX_ROWS) { /* C, H, W: the order that the weights behind it have */
        nn_onnx_simple(w, "Flatten", in->name, NULL, out);
        return;
    }
    (void)snprintf(what, sizeof what, "axes_%zu", i);
    nn_onnx_inner(layer, what, axes);
    nn_onnx_axes(w, axes, SIDES, 2);
    nn_onnx_simple(w, "Unsqueeze", in->name, axes, out);
}

enum nn_onnx_rank nn_onnx_common_rank(const struct nn_onnx_layer *layer)
{
    enum nn_onnx_rank rank = layer->in[0].rank;
    for (size_t i = 1; i < layer->n_in; i++) {
        rank = layer->in[i].rank > rank ? layer->in[i].rank : rank;
    }
    return rank;
}

/* ---- shapes ---- */

static bool write_global_average_pool(struct nn_onnx_writer *w, struct nn_onnx_layer *layer)
{
    char input[NN_ONNX_NAME_SIZE];
    nn_onnx_input_as(w, layer, 0, NN_ONNX_IMAGE, input);
    nn_onnx_simple(w, "GlobalAveragePool", input, NULL, layer->out.name);
    layer->out.rank = NN_ONNX_IMAGE;
    return true;
}

static bool write_channel_mean(struct nn_onnx_writer *w, struct nn_onnx_layer *layer)
{
    static const int64_t CHANNELS = 1;
    nn_onnx_begin(w, "ReduceMean", layer->out.name);
    nn_onnx_in(w, layer->in[0].name);
    nn_onnx_out(w, layer->out.name);
    nn_onnx_ints(w, "axes", &CHANNELS, 1);
    nn_onnx_int(w, "keepdims", 1);
    nn_onnx_end(w);
    layer->out.rank = layer->in[0].rank;
    return layer->in[0].rank != NN_ONNX_SEQUENCE;
}

static bool write_flatten(struct nn_onnx_writer *w, struct nn_onnx_layer *layer)
{
    nn_onnx_simple(w, "Flatten", layer->in[0].name, NULL, layer->out.name);
    layer->out.rank = NN_ONNX_ROWS;
    return layer->in[0].rank != NN_ONNX_SEQUENCE;
}

static bool write_concatenation(struct nn_onnx_writer *w, struct nn_onnx_layer *layer)
{
    char names[NN_ONNX_INPUTS_MAX][NN_ONNX_NAME_SIZE];
    enum nn_onnx_rank rank = nn_onnx_common_rank(layer);
    for (size_t i = 0; i < layer->n_in; i++) {
        nn_onnx_input_as(w, layer, i, rank, names[i]);
    }
    nn_onnx_begin(w, "Concat", layer->out.name);
    for (size_t i = 0; i < layer->n_in; i++) {
        nn_onnx_in(w, names[i]);
    }
    nn_onnx_out(w, layer->out.name);
    nn_onnx_int(w, "axis", rank == NN_ONNX_SEQUENCE ? 2 : 1);
    nn_onnx_end(w);
    layer->out.rank = rank;
    return true;
}

/* ---- sums and products ---- */

/* The inputs one after the other, by an operator of two. */
static bool folded(struct nn_onnx_writer *w, struct nn_onnx_layer *layer, const char *op)
{
    char sum[NN_ONNX_NAME_SIZE], next[NN_ONNX_NAME_SIZE], value[NN_ONNX_NAME_SIZE], what[32];
    enum nn_onnx_rank rank = nn_onnx_common_rank(layer);
    nn_onnx_input_as(w, layer, 0, rank, sum);
    for (size_t i = 1; i < layer->n_in; i++) {
        bool last = i + 1 == layer->n_in;
        nn_onnx_input_as(w, layer, i, rank, value);
        (void)snprintf(what, sizeof what, "part_%zu", i);
        nn_onnx_inner(layer, what, next);
        nn_onnx_simple(w, op, sum, value, last ? layer->out.name : next);
        (void)snprintf(sum, sizeof sum, "%s", next);
    }
    layer->out.rank = rank;
    return layer->n_in > 1;
}

static bool write_addition(struct nn_onnx_writer *w, struct nn_onnx_layer *layer)
{
    return folded(w, layer, "Add");
}

static bool write_multiplication(struct nn_onnx_writer *w, struct nn_onnx_layer *layer)
{
    return folded(w, layer, "Mul");
}

void nn_onnx_steps_product(struct nn_onnx_writer *w, const char *from, const char *weight,
                           const char *bias, const char *out)
{
    char turned[NN_ONNX_NAME_SIZE + 16], product[NN_ONNX_NAME_SIZE + 16];
    (void)snprintf(turned, sizeof turned, "%s/weight", out);
    (void)snprintf(product, sizeof product, "%s/product", out);
    nn_onnx_simple(w, "Transpose", weight, NULL, turned);
    nn_onnx_simple(w, "MatMul", from, turned, bias ? product : out);
    if (bias) {
        nn_onnx_simple(w, "Add", product, bias, out);
    }
}

static bool write_fully_connected(struct nn_onnx_writer *w, struct nn_onnx_layer *layer)
{
    char input[NN_ONNX_NAME_SIZE], weight[NN_ONNX_NAME_SIZE], bias[NN_ONNX_NAME_SIZE];
    bool with_bias = nn_onnx_has_parameter(w, layer, "bias");
    nn_onnx_parameter(w, layer, "weight", weight);
    if (with_bias) {
        nn_onnx_parameter(w, layer, "bias", bias);
    }
    if (layer->in[0].rank == NN_ONNX_SEQUENCE) {
        nn_onnx_steps_product(w, layer->in[0].name, weight, with_bias ? bias : NULL,
                              layer->out.name);
        layer->out.rank = NN_ONNX_SEQUENCE;
        return true;
    }
    nn_onnx_input_as(w, layer, 0, NN_ONNX_ROWS, input);
    nn_onnx_begin(w, "Gemm", layer->out.name);
    nn_onnx_in(w, input);
    nn_onnx_in(w, weight);
    if (with_bias) {
        nn_onnx_in(w, bias);
    }
    nn_onnx_out(w, layer->out.name);
    nn_onnx_int(w, "transB", 1);
    nn_onnx_end(w);
    layer->out.rank = NN_ONNX_ROWS;
    return true;
}

/* ---- the table ---- */

const struct nn_onnx_kind nn_onnx_kinds[] = {
    {"absolute", nn_onnx_write_absolute},
    {"adaptive_average_pool", nn_onnx_write_adaptive_pool},
    {"addition", write_addition},
    {"attention", nn_onnx_write_attention},
    {"average_pool", nn_onnx_write_average_pool},
    {"batch_norm", nn_onnx_write_batch_norm},
    {"channel_mean", write_channel_mean},
    {"channel_padding", nn_onnx_write_channel_padding},
    {"clipped_relu", nn_onnx_write_clipped_relu},
    {"concatenation", write_concatenation},
    {"convolution", nn_onnx_write_convolution},
    {"cropping", nn_onnx_write_cropping},
    {"dropout", nn_onnx_write_dropout},
    {"elu", nn_onnx_write_elu},
    {"embedding", nn_onnx_write_embedding},
    {"flatten", write_flatten},
    {"fully_connected", write_fully_connected},
    {"gelu", nn_onnx_write_gelu},
    {"global_average_pool", write_global_average_pool},
    {"group_norm", nn_onnx_write_group_norm},
    {"gru", nn_onnx_write_gru},
    {"hard_swish", nn_onnx_write_hard_swish},
    {"layer_norm", nn_onnx_write_layer_norm},
    {"leaky_relu", nn_onnx_write_leaky_relu},
    {"local_response_norm", nn_onnx_write_local_response_norm},
    {"lstm", nn_onnx_write_lstm},
    {"max_pool", nn_onnx_write_max_pool},
    {"multiplication", write_multiplication},
    {"positional_encoding", nn_onnx_write_positional_encoding},
    {"relu", nn_onnx_write_relu},
    {"rms_norm", nn_onnx_write_rms_norm},
    {"sequence_pool", nn_onnx_write_sequence_pool},
    {"sigmoid", nn_onnx_write_sigmoid},
    {"silu", nn_onnx_write_silu},
    {"soft_threshold", nn_onnx_write_soft_threshold},
    {"softmax", nn_onnx_write_softmax},
    {"spatial_padding", nn_onnx_write_spatial_padding},
    {"tanh", nn_onnx_write_tanh},
    {"temporal_convolution", nn_onnx_write_temporal_convolution},
    {"transposed_convolution", nn_onnx_write_transposed_convolution},
    {0},
};
