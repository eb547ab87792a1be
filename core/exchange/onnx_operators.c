/* SPDX-License-Identifier: MIT
 *
 * Kinds of layers as operators of ONNX: a row each, and a small function. A kind without a row has
 * no operators there, and a network that has one is refused.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/exchange/onnx_write_internal.h"

static double real_option(const struct nn_onnx_layer *layer, const char *name)
{
    return json_number_value(json_object_get(layer->options, name));
}

static int64_t int_option(const struct nn_onnx_layer *layer, const char *name)
{
    return json_integer_value(json_object_get(layer->options, name));
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

/* All inputs alike: images where one is an image. */
static enum nn_onnx_rank common_rank(const struct nn_onnx_layer *layer)
{
    enum nn_onnx_rank rank = layer->in[0].rank;
    for (size_t i = 1; i < layer->n_in; i++) {
        rank = layer->in[i].rank > rank ? layer->in[i].rank : rank;
    }
    return rank;
}

/* ---- functions of each value ---- */

static bool one(struct nn_onnx_writer *w, struct nn_onnx_layer *layer, const char *op)
{
    nn_onnx_simple(w, op, layer->in[0].name, NULL, layer->out.name);
    layer->out.rank = layer->in[0].rank;
    return true;
}

static bool write_relu(struct nn_onnx_writer *w, struct nn_onnx_layer *layer)
{
    return one(w, layer, "Relu");
}

static bool write_tanh(struct nn_onnx_writer *w, struct nn_onnx_layer *layer)
{
    return one(w, layer, "Tanh");
}

static bool write_sigmoid(struct nn_onnx_writer *w, struct nn_onnx_layer *layer)
{
    return one(w, layer, "Sigmoid");
}

static bool write_absolute(struct nn_onnx_writer *w, struct nn_onnx_layer *layer)
{
    return one(w, layer, "Abs");
}

static bool write_dropout(struct nn_onnx_writer *w, struct nn_onnx_layer *layer)
{
    return one(w, layer, "Identity");
}

static bool with_slope(struct nn_onnx_writer *w, struct nn_onnx_layer *layer, const char *op,
                       const char *option)
{
    nn_onnx_begin(w, op, layer->out.name);
    nn_onnx_in(w, layer->in[0].name);
    nn_onnx_out(w, layer->out.name);
    nn_onnx_real(w, "alpha", real_option(layer, option));
    nn_onnx_end(w);
    layer->out.rank = layer->in[0].rank;
    return true;
}

static bool write_leaky_relu(struct nn_onnx_writer *w, struct nn_onnx_layer *layer)
{
    return with_slope(w, layer, "LeakyRelu", "slope");
}

static bool write_elu(struct nn_onnx_writer *w, struct nn_onnx_layer *layer)
{
    return with_slope(w, layer, "Elu", "alpha");
}

static bool write_clipped_relu(struct nn_onnx_writer *w, struct nn_onnx_layer *layer)
{
    char least[NN_ONNX_NAME_SIZE], most[NN_ONNX_NAME_SIZE];
    nn_onnx_inner(layer, "least", least);
    nn_onnx_inner(layer, "most", most);
    nn_onnx_scalar(w, least, 0);
    nn_onnx_scalar(w, most, (float)real_option(layer, "ceiling"));
    nn_onnx_begin(w, "Clip", layer->out.name);
    nn_onnx_in(w, layer->in[0].name);
    nn_onnx_in(w, least);
    nn_onnx_in(w, most);
    nn_onnx_out(w, layer->out.name);
    nn_onnx_end(w);
    layer->out.rank = layer->in[0].rank;
    return true;
}

/* x * sigmoid(x) */
static bool write_silu(struct nn_onnx_writer *w, struct nn_onnx_layer *layer)
{
    char sigmoid[NN_ONNX_NAME_SIZE];
    nn_onnx_inner(layer, "sigmoid", sigmoid);
    nn_onnx_simple(w, "Sigmoid", layer->in[0].name, NULL, sigmoid);
    nn_onnx_simple(w, "Mul", layer->in[0].name, sigmoid, layer->out.name);
    layer->out.rank = layer->in[0].rank;
    return true;
}

/* x * (1 + erf(x / sqrt 2)) / 2, as PyTorch writes it; opset 20 has an operator for it. */
static bool write_gelu(struct nn_onnx_writer *w, struct nn_onnx_layer *layer)
{
    char root[NN_ONNX_NAME_SIZE], ones[NN_ONNX_NAME_SIZE], half[NN_ONNX_NAME_SIZE];
    char scaled[NN_ONNX_NAME_SIZE], erf_of[NN_ONNX_NAME_SIZE], sum[NN_ONNX_NAME_SIZE];
    char product[NN_ONNX_NAME_SIZE];
    nn_onnx_inner(layer, "root", root);
    nn_onnx_inner(layer, "one", ones);
    nn_onnx_inner(layer, "half", half);
    nn_onnx_inner(layer, "scaled", scaled);
    nn_onnx_inner(layer, "erf", erf_of);
    nn_onnx_inner(layer, "sum", sum);
    nn_onnx_inner(layer, "product", product);
    nn_onnx_scalar(w, root, (float)sqrt(2));
    nn_onnx_scalar(w, ones, 1);
    nn_onnx_scalar(w, half, 0.5F);
    nn_onnx_simple(w, "Div", layer->in[0].name, root, scaled);
    nn_onnx_simple(w, "Erf", scaled, NULL, erf_of);
    nn_onnx_simple(w, "Add", erf_of, ones, sum);
    nn_onnx_simple(w, "Mul", layer->in[0].name, sum, product);
    nn_onnx_simple(w, "Mul", product, half, layer->out.name);
    layer->out.rank = layer->in[0].rank;
    return true;
}

/* x - clip(x, -t, t): what is not farther than t from 0 becomes 0. */
static bool write_soft_threshold(struct nn_onnx_writer *w, struct nn_onnx_layer *layer)
{
    char x[NN_ONNX_NAME_SIZE], t[NN_ONNX_NAME_SIZE], minus[NN_ONNX_NAME_SIZE];
    char above[NN_ONNX_NAME_SIZE], within[NN_ONNX_NAME_SIZE];
    enum nn_onnx_rank rank = common_rank(layer);
    nn_onnx_input_as(w, layer, 0, rank, x);
    if (layer->n_in > 1) {
        nn_onnx_input_as(w, layer, 1, rank, t);
    } else {
        nn_onnx_inner(layer, "threshold", t);
        nn_onnx_scalar(w, t, (float)real_option(layer, "threshold"));
    }
    nn_onnx_inner(layer, "minus", minus);
    nn_onnx_inner(layer, "above", above);
    nn_onnx_inner(layer, "within", within);
    nn_onnx_simple(w, "Neg", t, NULL, minus);
    nn_onnx_simple(w, "Max", x, minus, above);
    nn_onnx_simple(w, "Min", above, t, within);
    nn_onnx_simple(w, "Sub", x, within, layer->out.name);
    layer->out.rank = rank;
    return true;
}

static bool write_softmax(struct nn_onnx_writer *w, struct nn_onnx_layer *layer)
{
    nn_onnx_begin(w, "Softmax", layer->out.name);
    nn_onnx_in(w, layer->in[0].name);
    nn_onnx_out(w, layer->out.name);
    nn_onnx_int(w, "axis", layer->in[0].rank == NN_ONNX_SEQUENCE ? 2 : 1);
    nn_onnx_end(w);
    layer->out.rank = layer->in[0].rank;
    return true;
}

/* ---- normalisation ---- */

static bool write_batch_norm(struct nn_onnx_writer *w, struct nn_onnx_layer *layer)
{
    static const char *const PARAMETERS[] = {"weight", "bias", "running_mean", "running_var"};
    char names[4][NN_ONNX_NAME_SIZE];
    if (layer->in[0].rank == NN_ONNX_SEQUENCE) {
        (void)strcpy(w->lack, "on sequences");
        return false;
    }
    for (size_t i = 0; i < 4; i++) {
        nn_onnx_parameter(w, layer, PARAMETERS[i], names[i]);
    }
    nn_onnx_begin(w, "BatchNormalization", layer->out.name);
    nn_onnx_in(w, layer->in[0].name);
    for (size_t i = 0; i < 4; i++) {
        nn_onnx_in(w, names[i]);
    }
    nn_onnx_out(w, layer->out.name);
    nn_onnx_real(w, "epsilon", real_option(layer, "epsilon"));
    nn_onnx_end(w);
    layer->out.rank = layer->in[0].rank;
    return true;
}

static bool write_local_response_norm(struct nn_onnx_writer *w, struct nn_onnx_layer *layer)
{
    char input[NN_ONNX_NAME_SIZE];
    nn_onnx_input_as(w, layer, 0, NN_ONNX_IMAGE, input);
    nn_onnx_begin(w, "LRN", layer->out.name);
    nn_onnx_in(w, input);
    nn_onnx_out(w, layer->out.name);
    nn_onnx_int(w, "size", int_option(layer, "size"));
    nn_onnx_real(w, "alpha", real_option(layer, "alpha"));
    nn_onnx_real(w, "beta", real_option(layer, "beta"));
    nn_onnx_real(w, "bias", real_option(layer, "k"));
    nn_onnx_end(w);
    layer->out.rank = NN_ONNX_IMAGE;
    return true;
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

static bool write_channel_padding(struct nn_onnx_writer *w, struct nn_onnx_layer *layer)
{
    int64_t pads[8] = {0, int_option(layer, "before"), 0, 0, 0, int_option(layer, "after"), 0, 0};
    char input[NN_ONNX_NAME_SIZE], name[NN_ONNX_NAME_SIZE];
    nn_onnx_input_as(w, layer, 0, NN_ONNX_IMAGE, input);
    nn_onnx_inner(layer, "pads", name);
    nn_onnx_axes(w, name, pads, 8);
    nn_onnx_simple(w, "Pad", input, name, layer->out.name);
    layer->out.rank = NN_ONNX_IMAGE;
    return true;
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
    enum nn_onnx_rank rank = common_rank(layer);
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
    enum nn_onnx_rank rank = common_rank(layer);
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

/* Steps of a sequence are rows of a product; the weight is turned round when the file is loaded. */
static void steps_times_weight(struct nn_onnx_writer *w, struct nn_onnx_layer *layer,
                               const char *weight, const char *bias)
{
    char turned[NN_ONNX_NAME_SIZE], product[NN_ONNX_NAME_SIZE];
    nn_onnx_inner(layer, "weight", turned);
    nn_onnx_inner(layer, "product", product);
    nn_onnx_simple(w, "Transpose", weight, NULL, turned);
    nn_onnx_simple(w, "MatMul", layer->in[0].name, turned, bias ? product : layer->out.name);
    if (bias) {
        nn_onnx_simple(w, "Add", product, bias, layer->out.name);
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
        steps_times_weight(w, layer, weight, with_bias ? bias : NULL);
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

/* ---- LSTM ---- */

/* Gates i, f, g, o of PyTorch as ONNX has them: i, o, f, g; `rows` numbers a gate. */
static const float *gates_turned(struct nn_onnx_writer *w, const float *from, size_t gate)
{
    static const size_t ORDER[4] = {0, 3, 1, 2};
    float *out = nn_arena_alloc(w->arena, 8 * gate, sizeof *out);
    for (size_t g = 0; out && from && g < 4; g++) {
        memcpy(out + g * gate, from + ORDER[g] * gate, gate * sizeof *out);
    }
    return out; /* what follows is zero: the second bias */
}

static void lstm_tensors(struct nn_onnx_writer *w, const struct nn_onnx_layer *layer,
                         char names[3][NN_ONNX_NAME_SIZE])
{
    size_t units = layer->out.channels, inputs = layer->in[0].channels;
    const float *input = nn_onnx_values(w, layer, "weight_ih_l0", 4 * units * inputs);
    const float *recurrent = nn_onnx_values(w, layer, "weight_hh_l0", 4 * units * units);
    nn_onnx_inner(layer, "W", names[0]);
    nn_onnx_inner(layer, "R", names[1]);
    nn_onnx_inner(layer, "B", names[2]);
    nn_onnx_floats(w, names[0], (const size_t[]){1, 4 * units, inputs}, 3,
                   gates_turned(w, input, units * inputs));
    nn_onnx_floats(w, names[1], (const size_t[]){1, 4 * units, units}, 3,
                   gates_turned(w, recurrent, units * units));
    if (nn_onnx_has_parameter(w, layer, "bias_ih_l0")) {
        const float *bias = nn_onnx_values(w, layer, "bias_ih_l0", 4 * units);
        nn_onnx_floats(w, names[2], (const size_t[]){1, 8 * units}, 2,
                       gates_turned(w, bias, units));
    }
}

static bool write_lstm(struct nn_onnx_writer *w, struct nn_onnx_layer *layer)
{
    char names[3][NN_ONNX_NAME_SIZE], all[NN_ONNX_NAME_SIZE], axis[NN_ONNX_NAME_SIZE];
    bool last = strcmp(json_string_value(json_object_get(layer->options, "output")), "last") == 0;
    const int64_t direction = last ? 0 : 1; /* Y_h [1, N, C], Y [T, 1, N, C] */
    if (nn_onnx_has_parameter(w, layer, "weight_ih_l0_reverse")) {
        (void)strcpy(w->lack, "both directions");
        return false;
    }
    lstm_tensors(w, layer, names);
    nn_onnx_inner(layer, "states", all);
    nn_onnx_inner(layer, "axis", axis);
    nn_onnx_axes(w, axis, &direction, 1);
    nn_onnx_begin(w, "LSTM", all);
    nn_onnx_in(w, layer->in[0].name);
    nn_onnx_in(w, names[0]);
    nn_onnx_in(w, names[1]);
    if (nn_onnx_has_parameter(w, layer, "bias_ih_l0")) {
        nn_onnx_in(w, names[2]);
    }
    nn_onnx_out(w, last ? "" : all);
    if (last) {
        nn_onnx_out(w, all);
    }
    nn_onnx_int(w, "hidden_size", (int64_t)layer->out.channels);
    nn_onnx_end(w);
    nn_onnx_simple(w, "Squeeze", all, axis, layer->out.name);
    layer->out.rank = last ? NN_ONNX_ROWS : NN_ONNX_SEQUENCE;
    return true;
}

/* ---- the table ---- */

const struct nn_onnx_kind nn_onnx_kinds[] = {
    {"absolute", write_absolute},
    {"adaptive_average_pool", nn_onnx_write_adaptive_pool},
    {"addition", write_addition},
    {"average_pool", nn_onnx_write_average_pool},
    {"batch_norm", write_batch_norm},
    {"channel_mean", write_channel_mean},
    {"channel_padding", write_channel_padding},
    {"clipped_relu", write_clipped_relu},
    {"concatenation", write_concatenation},
    {"convolution", nn_onnx_write_convolution},
    {"dropout", write_dropout},
    {"elu", write_elu},
    {"flatten", write_flatten},
    {"fully_connected", write_fully_connected},
    {"gelu", write_gelu},
    {"global_average_pool", write_global_average_pool},
    {"leaky_relu", write_leaky_relu},
    {"local_response_norm", write_local_response_norm},
    {"lstm", write_lstm},
    {"max_pool", nn_onnx_write_max_pool},
    {"multiplication", write_multiplication},
    {"relu", write_relu},
    {"sigmoid", write_sigmoid},
    {"silu", write_silu},
    {"soft_threshold", write_soft_threshold},
    {"softmax", write_softmax},
    {"tanh", write_tanh},
    {0},
};
