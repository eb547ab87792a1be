/* SPDX-License-Identifier: MIT
 *
 * Operators of ONNX as layers: a row each, and a small function. What has no row, or is used in a
 * way that no layer has, is named in the refusal.
 */
#include <math.h>
#include <string.h>

#include "core/exchange/onnx_read_internal.h"

/* ---- functions of each value ---- */

static bool one(struct nn_onnx_reader *r, const struct nn_onnx_node *node, const char *kind,
                json_t *options_take)
{
    size_t layer;
    return nn_onnx_add_layer(r, node, kind, options_take, 1, NULL, &layer);
}

static bool read_relu(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    return one(r, node, "relu", NULL);
}

static bool read_tanh(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    return one(r, node, "tanh", NULL);
}

static bool read_sigmoid(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    return one(r, node, "sigmoid", NULL);
}

static bool read_absolute(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    return one(r, node, "absolute", NULL);
}

static bool read_leaky_relu(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    return one(r, node, "leaky_relu",
               json_pack("{s:f}", "slope", nn_onnx_real_of(node, "alpha", 0.01)));
}

static bool read_elu(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    return one(r, node, "elu", json_pack("{s:f}", "alpha", nn_onnx_real_of(node, "alpha", 1)));
}

/* Bounds are attributes up to opset 10, then inputs. */
static bool read_clip(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    double least = nn_onnx_real_of(node, "min", -INFINITY);
    double most = nn_onnx_real_of(node, "max", INFINITY);
    (void)nn_onnx_number(r, nn_onnx_tensor_in(r, node, 1), &least);
    (void)nn_onnx_number(r, nn_onnx_tensor_in(r, node, 2), &most);
    if (least != 0 || !(most > 0)) {
        return nn_onnx_lacks(r, "other than from 0 up");
    }
    return most > 1e6 ? one(r, node, "relu", NULL)
                      : one(r, node, "clipped_relu", json_pack("{s:f}", "ceiling", most));
}

static bool read_dropout(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    double rate = nn_onnx_real_of(node, "ratio", 0.5);
    (void)nn_onnx_number(r, nn_onnx_tensor_in(r, node, 1), &rate);
    return one(r, node, "dropout", json_pack("{s:f}", "rate", rate));
}

static bool read_softmax(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    int64_t axis = nn_onnx_int_of(node, "axis", -1);
    if (axis != -1 && axis != (r->sequences ? 2 : 1)) {
        return nn_onnx_lacks(r, "over another axis than channels");
    }
    return one(r, node, "softmax", NULL);
}

static bool read_gelu(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    const struct nn_onnx_attribute *a = nn_onnx_attribute(node, "approximate", NN_ONNX_STRING);
    return a && strcmp(a->text, "none") != 0 ? nn_onnx_lacks(r, "approximated")
                                             : one(r, node, "gelu", NULL);
}

static bool read_lrn(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    return one(
        r, node, "local_response_norm",
        json_pack("{s:I, s:f, s:f, s:f}", "size", (json_int_t)nn_onnx_int_of(node, "size", 1),
                  "alpha", nn_onnx_real_of(node, "alpha", 1e-4), "beta",
                  nn_onnx_real_of(node, "beta", 0.75), "k", nn_onnx_real_of(node, "bias", 1)));
}

/* ---- x * (1 + erf(x / sqrt 2)) / 2, as PyTorch writes gelu before opset 20 ---- */

static bool read_div(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    const struct nn_onnx_known *value = nn_onnx_layer_in(r, node, 0);
    double number = 0;
    if (!value || !nn_onnx_number(r, nn_onnx_tensor_in(r, node, 1), &number) ||
        fabs(number - sqrt(2)) > 1e-6) {
        return nn_onnx_lacks(r, "other than in gelu");
    }
    nn_onnx_mean(r, node, 0, NN_ONNX_GELU_SCALED, value->layer, NULL);
    return true;
}

static bool read_erf(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    const struct nn_onnx_known *value = nn_onnx_input(r, node, 0);
    if (!value || value->meaning != NN_ONNX_GELU_SCALED) {
        return nn_onnx_lacks(r, "other than in gelu");
    }
    nn_onnx_mean(r, node, 0, NN_ONNX_GELU_ERF, value->layer, NULL);
    return true;
}

/* A layer whose only input is the other one, which it multiplies; known by its index alone. */
static bool gelu_layer(struct nn_onnx_reader *r, const struct nn_onnx_node *node, size_t of)
{
    struct nn_onnx_node whole = *node;
    static const char NAME[] = "\x01gelu"; /* no name of a file: those have no control characters */
    const char *inputs[] = {NAME};
    const struct nn_onnx_node source = {.outputs = inputs, .n_outputs = 1};
    nn_onnx_mean(r, &source, 0, NN_ONNX_LAYER, of, NULL);
    whole.inputs = inputs;
    whole.n_inputs = 1;
    return one(r, &whole, "gelu", NULL);
}

static bool read_mul(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    size_t layer;
    for (size_t i = 0; i < 2 && node->n_inputs == 2; i++) {
        const struct nn_onnx_known *value = nn_onnx_input(r, node, i);
        const struct nn_onnx_known *other = nn_onnx_input(r, node, 1 - i);
        double number = 0;
        if (!value || !other) {
            continue;
        }
        if (value->meaning == NN_ONNX_GELU_SUM && other->meaning == NN_ONNX_LAYER &&
            other->layer == value->layer) {
            nn_onnx_mean(r, node, 0, NN_ONNX_GELU_PRODUCT, value->layer, NULL);
            return true;
        }
        if (value->meaning == NN_ONNX_GELU_PRODUCT && other->meaning == NN_ONNX_CONSTANT &&
            nn_onnx_number(r, other->tensor, &number) && number == 0.5) {
            return gelu_layer(r, node, value->layer);
        }
    }
    return nn_onnx_add_layer(r, node, "multiplication", NULL, 2, NULL, &layer);
}

/* ---- shapes ---- */

static bool read_identity(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    const struct nn_onnx_known *value = nn_onnx_input(r, node, 0);
    if (value) {
        nn_onnx_mean(r, node, 0, value->meaning, value->layer, value->tensor);
    }
    return value != NULL;
}

static bool read_constant(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    const struct nn_onnx_attribute *a = nn_onnx_attribute(node, "value", NN_ONNX_TENSOR);
    if (!a) {
        return nn_onnx_lacks(r, "other than a tensor");
    }
    nn_onnx_mean(r, node, 0, NN_ONNX_CONSTANT, 0, a->tensor);
    return true;
}

/* ---- sizes, which PyTorch computes for the first states of an LSTM ---- */

static bool read_shape(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    nn_onnx_mean(r, node, 0, NN_ONNX_SIZES, 0, NULL);
    return true;
}

static bool takes_sizes(const struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    for (size_t i = 0; i < node->n_inputs; i++) {
        const struct nn_onnx_known *value = nn_onnx_input(r, node, i);
        if (value && value->meaning == NN_ONNX_SIZES) {
            return true;
        }
    }
    return false;
}

static bool read_gather(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    return takes_sizes(r, node) ? read_shape(r, node) : nn_onnx_lacks(r, "other than of sizes");
}

/* One number over and over: whoever asks for it looks at the number. */
static bool read_expand(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    const struct nn_file_tensor *tensor = nn_onnx_tensor_in(r, node, 0);
    nn_onnx_mean(r, node, 0, NN_ONNX_CONSTANT, 0, tensor);
    return tensor ? true : nn_onnx_lacks(r, "other than of a constant");
}

static bool read_transpose(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    const struct nn_file_tensor *tensor = nn_onnx_tensor_in(r, node, 0);
    if (!tensor || tensor->rank != 2) {
        return nn_onnx_lacks(r, "other than of a constant matrix");
    }
    const struct nn_onnx_attribute *order = nn_onnx_attribute(node, "perm", NN_ONNX_INTS);
    bool turns = !order || (order->n == 2 && order->integers[0] == 1);
    tensor = turns ? nn_onnx_turned(r, tensor) : tensor;
    nn_onnx_mean(r, node, 0, NN_ONNX_CONSTANT, 0, tensor);
    return tensor != NULL;
}

static bool read_flatten(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    return nn_onnx_int_of(node, "axis", 1) == 1 && !r->sequences
               ? one(r, node, "flatten", NULL)
               : nn_onnx_lacks(r, "other than behind the batch");
}

/* To [N, all the rest] alone. */
static bool read_reshape(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    const struct nn_file_tensor *shape = nn_onnx_tensor_in(r, node, 1);
    const float *sizes = shape && shape->count == 2 ? nn_onnx_floats_of(r, shape) : NULL;
    bool flattens = sizes && !r->sequences &&
                    (sizes[1] == -1 || (sizes[0] == -1 && sizes[1] > 0)) &&
                    nn_onnx_layer_in(r, node, 0);
    return flattens ? one(r, node, "flatten", NULL) : nn_onnx_lacks(r, "other than flattening");
}

/* A row of features as an image of one pixel is what it was. */
static bool read_unsqueeze(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    const struct nn_file_tensor *axes = nn_onnx_tensor_in(r, node, 1);
    if (takes_sizes(r, node)) {
        return read_shape(r, node);
    }
    const float *sides = axes && axes->count == 2 ? nn_onnx_floats_of(r, axes) : NULL;
    if (!sides || sides[0] != 2 || sides[1] != 3 || r->sequences || !nn_onnx_layer_in(r, node, 0)) {
        return nn_onnx_lacks(r, "other than a row as an image of one pixel");
    }
    return read_identity(r, node);
}

static bool read_global_average_pool(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    return one(r, node, "global_average_pool", NULL);
}

/* The n-th axis that is reduced: an attribute up to opset 17, then an input. */
static int64_t reduced_axis(struct nn_onnx_reader *r, const struct nn_onnx_node *node, size_t n,
                            size_t *out_count)
{
    const struct nn_onnx_attribute *a = nn_onnx_attribute(node, "axes", NN_ONNX_INTS);
    const struct nn_file_tensor *tensor = nn_onnx_tensor_in(r, node, 1);
    const float *values = tensor && !a ? nn_onnx_floats_of(r, tensor) : NULL;
    *out_count = a ? a->n : values ? tensor->count : 0;
    int64_t axis = n >= *out_count ? -9 : a ? a->integers[n] : (int64_t)values[n];
    return axis < 0 ? axis + 4 : axis;
}

static bool read_reduce_mean(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    size_t n;
    int64_t first = reduced_axis(r, node, 0, &n), second = reduced_axis(r, node, 1, &n);
    bool kept = nn_onnx_int_of(node, "keepdims", 1) != 0;
    if (n == 2 && first + second == 5 && first > 0 && second > 0 && first != 1 && second != 1) {
        return one(r, node, "global_average_pool", NULL); /* its output may stand for a row too */
    }
    return n == 1 && first == 1 && kept && !r->sequences ? one(r, node, "channel_mean", NULL)
                                                         : nn_onnx_lacks(r, "over other axes");
}

static bool read_concat(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    int64_t axis = nn_onnx_int_of(node, "axis", -9);
    size_t layer;
    if (takes_sizes(r, node)) {
        return read_shape(r, node);
    }
    if (axis != (r->sequences ? 2 : 1) && axis != (r->sequences ? -1 : -3)) {
        return nn_onnx_lacks(r, "along another axis than channels");
    }
    return nn_onnx_add_layer(r, node, "concatenation", NULL, node->n_inputs, NULL, &layer);
}

/* Channels of zeros; none at all is what PyTorch writes before some pools. */
static bool read_pad(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    const struct nn_file_tensor *pads = nn_onnx_tensor_in(r, node, 1);
    const float *n = pads && pads->count == 8 ? nn_onnx_floats_of(r, pads) : NULL;
    const struct nn_onnx_attribute *mode = nn_onnx_attribute(node, "mode", NN_ONNX_STRING);
    double value = 0;
    (void)nn_onnx_number(r, nn_onnx_tensor_in(r, node, 2), &value);
    bool fine = n && value == 0 && (!mode || strcmp(mode->text, "constant") == 0);
    for (size_t i = 0; fine && i < 8; i++) {
        fine = i % 4 == 1 ? n[i] >= 0 : n[i] == 0;
    }
    if (fine && n[1] == 0 && n[5] == 0) {
        return read_identity(r, node);
    }
    return fine
               ? one(r, node, "channel_padding",
                     json_pack("{s:I, s:I}", "before", (json_int_t)n[1], "after", (json_int_t)n[5]))
               : nn_onnx_lacks(r, "other than channels of zeros");
}

/* ---- the table ---- */

const struct nn_onnx_operator nn_onnx_operators[] = {
    {"Abs", read_absolute},
    {"Add", nn_onnx_read_add},
    {"AveragePool", nn_onnx_read_average_pool},
    {"BatchNormalization", nn_onnx_read_batch_norm},
    {"Clip", read_clip},
    {"Concat", read_concat},
    {"Constant", read_constant},
    {"Conv", nn_onnx_read_conv},
    {"Div", read_div},
    {"Dropout", read_dropout},
    {"Elu", read_elu},
    {"Erf", read_erf},
    {"Expand", read_expand},
    {"Flatten", read_flatten},
    {"Gather", read_gather},
    {"Gelu", read_gelu},
    {"Gemm", nn_onnx_read_gemm},
    {"GlobalAveragePool", read_global_average_pool},
    {"Identity", read_identity},
    {"LRN", read_lrn},
    {"LSTM", nn_onnx_read_lstm},
    {"LeakyRelu", read_leaky_relu},
    {"MatMul", nn_onnx_read_mat_mul},
    {"MaxPool", nn_onnx_read_max_pool},
    {"Mul", read_mul},
    {"Pad", read_pad},
    {"ReduceMean", read_reduce_mean},
    {"Relu", read_relu},
    {"Reshape", read_reshape},
    {"Shape", read_shape},
    {"Sigmoid", read_sigmoid},
    {"Softmax", read_softmax},
    {"Squeeze", nn_onnx_read_squeeze},
    {"Tanh", read_tanh},
    {"Transpose", read_transpose},
    {"Unsqueeze", read_unsqueeze},
    {0},
};
