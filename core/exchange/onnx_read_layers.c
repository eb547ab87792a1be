/* SPDX-License-Identifier: MIT
 *
 * Operators of ONNX as layers: a row each, and a small function. What has no row, or is used in a
 * way that no layer has, is named in the refusal.
 */
#include <math.h>
#include <string.h>

#include "core/exchange/onnx_read_rows_internal.h"

static bool one(struct nn_onnx_reader *r, const struct nn_onnx_node *node, const char *kind,
                json_t *options_take)
{
    size_t layer;
    return nn_onnx_add_layer(r, node, kind, options_take, 1, NULL, &layer);
}

/* ---- shapes ---- */

static bool read_identity(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    const struct nn_onnx_known *value = nn_onnx_input(r, node, 0);
    if (value) {
        struct nn_onnx_known same = *value;
        same.name = node->n_outputs > 0 ? node->outputs[0] : "";
        nn_onnx_know(r, &same);
    }
    return value != NULL;
}

static bool read_flatten(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    const struct nn_onnx_known *value = nn_onnx_layer_in(r, node, 0);
    if (r->sequences || (value && nn_onnx_axis(r, value, nn_onnx_int_of(node, "axis", 1)) != 1)) {
        return nn_onnx_lacks(r, "other than behind the batch");
    }
    return one(r, node, "flatten", NULL);
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

int64_t nn_onnx_listed_axis(struct nn_onnx_reader *r, const struct nn_onnx_node *node, size_t n,
                            size_t *out_count)
{
    const struct nn_onnx_attribute *a = nn_onnx_attribute(node, "axes", NN_ONNX_INTS);
    const struct nn_file_tensor *tensor = nn_onnx_tensor_in(r, node, 1);
    const float *values = tensor && !a ? nn_onnx_floats_of(r, tensor) : NULL;
    *out_count = a ? a->n : values ? tensor->count : 0;
    if (n >= *out_count || (values && !(fabsf(values[n]) < 9))) {
        return -9;
    }
    return a ? a->integers[n] : (int64_t)values[n];
}

/* Whether the axes are the height and the width of an image, in whatever order. */
static bool lists_sides(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    size_t n;
    int64_t first = nn_onnx_listed_axis(r, node, 0, &n);
    int64_t second = nn_onnx_listed_axis(r, node, 1, &n);
    first += first < 0 ? 4 : 0;
    second += second < 0 ? 4 : 0;
    return n == 2 && ((first == 2 && second == 3) || (first == 3 && second == 2));
}

/* A row of features as an image of one pixel is what it was. */
static bool read_unsqueeze(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    const struct nn_onnx_known *value = nn_onnx_layer_in(r, node, 0);
    if (!value || r->sequences || nn_onnx_rank(r, value) != 2 || !lists_sides(r, node)) {
        return nn_onnx_lacks(r, "other than a row as an image of one pixel");
    }
    struct nn_onnx_known image = *value;
    image.name = node->n_outputs > 0 ? node->outputs[0] : "";
    image.sides = true;
    nn_onnx_know(r, &image);
    return true;
}

/* An image of one pixel as a row. */
static bool read_squeeze(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    const struct nn_onnx_known *value = nn_onnx_layer_in(r, node, 0);
    bool all = !nn_onnx_attribute(node, "axes", NN_ONNX_INTS) && node->n_inputs < 2;
    bool sides = value && !r->sequences && nn_onnx_rank(r, value) == 4 &&
                 (all ? nn_onnx_is_one_pixel(r, value->layer) : lists_sides(r, node));
    return sides ? one(r, node, "flatten", NULL)
                 : nn_onnx_lacks(r, "other than of one pixel, or of one direction");
}

static bool read_global_average_pool(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    return one(r, node, "global_average_pool", NULL);
}

static bool read_reduce_mean(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    const struct nn_onnx_known *value = nn_onnx_layer_in(r, node, 0);
    bool kept = nn_onnx_int_of(node, "keepdims", 1) != 0;
    size_t n, layer;
    int64_t axis = nn_onnx_listed_axis(r, node, 0, &n);
    if (value && nn_onnx_rank(r, value) == 4 && lists_sides(r, node)) {
        if (!nn_onnx_add_layer(r, node, "global_average_pool", NULL, 1, NULL, &layer)) {
            return false;
        }
        if (!kept) {
            nn_onnx_mark_row(r, layer);
        }
        return true;
    }
    return value && n == 1 && nn_onnx_is_channels(r, value, axis) && kept && !r->sequences
               ? one(r, node, "channel_mean", NULL)
               : nn_onnx_lacks(r, "over other axes");
}

static bool read_concat(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    const struct nn_onnx_known *value = nn_onnx_layer_in(r, node, 0);
    size_t layer;
    if (value && !nn_onnx_is_channels(r, value, nn_onnx_int_of(node, "axis", -9))) {
        return nn_onnx_lacks(r, "along another axis than channels");
    }
    return nn_onnx_add_layer(r, node, "concatenation", NULL, node->n_inputs, NULL, &layer);
}

/* ---- channels of an image last, and back ---- */

static bool read_channels_last(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    static const int64_t ORDER[4] = {0, 2, 3, 1};
    const struct nn_onnx_known *value = nn_onnx_layer_in(r, node, 0);
    if (!value || r->sequences || nn_onnx_is_row(r, value->layer) ||
        !nn_onnx_ints_are(node, "perm", ORDER, 4)) {
        return false;
    }
    nn_onnx_mean(r, node, 0, NN_ONNX_CHANNELS_LAST, value->layer, NULL);
    return true;
}

static bool read_channels_back(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    static const int64_t ORDER[4] = {0, 3, 1, 2};
    const struct nn_onnx_known *value = nn_onnx_input(r, node, 0);
    if (!value || value->meaning != NN_ONNX_CHANNELS_LAST ||
        !nn_onnx_ints_are(node, "perm", ORDER, 4)) {
        return false;
    }
    nn_onnx_mean(r, node, 0, NN_ONNX_LAYER, value->layer, NULL);
    return true;
}

/* ---- the table ---- */

const struct nn_onnx_operator nn_onnx_operators[] = {
    {"Abs", nn_onnx_read_absolute},
    {"Add", nn_onnx_read_norm_shift},
    {"Add", nn_onnx_read_norm_epsilon},
    {"Add", nn_onnx_read_positions},
    {"Add", nn_onnx_read_attention},
    {"Add", nn_onnx_read_add},
    {"AveragePool", nn_onnx_read_average_pool},
    {"BatchNormalization", nn_onnx_read_batch_norm},
    {"Cast", nn_onnx_read_positions},
    {"Cast", nn_onnx_read_constant_cast},
    {"CastLike", nn_onnx_read_positions},
    {"Clip", nn_onnx_read_clip},
    {"Concat", nn_onnx_read_states_concat},
    {"Concat", nn_onnx_read_constant_concat},
    {"Concat", nn_onnx_read_sizes},
    {"Concat", read_concat},
    {"Constant", nn_onnx_read_constant},
    {"ConstantOfShape", nn_onnx_read_constant_of_shape},
    {"Conv", nn_onnx_read_conv},
    {"ConvTranspose", nn_onnx_read_conv_transpose},
    {"Cos", nn_onnx_read_positions},
    {"Div", nn_onnx_read_norm_ratio},
    {"Div", nn_onnx_read_div},
    {"Dropout", nn_onnx_read_dropout},
    {"Elu", nn_onnx_read_elu},
    {"Erf", nn_onnx_read_erf},
    {"Expand", nn_onnx_read_attention},
    {"Expand", nn_onnx_read_expand},
    {"Flatten", nn_onnx_read_states_flat},
    {"Flatten", read_flatten},
    {"GRU", nn_onnx_read_gru},
    {"Gather", nn_onnx_read_positions},
    {"Gather", nn_onnx_read_attention},
    {"Gather", nn_onnx_read_state},
    {"Gather", nn_onnx_read_last_step},
    {"Gather", nn_onnx_read_sizes},
    {"Gelu", nn_onnx_read_gelu},
    {"Gemm", nn_onnx_read_gemm},
    {"GlobalAveragePool", read_global_average_pool},
    {"GroupNormalization", nn_onnx_read_group_norm},
    {"HardSwish", nn_onnx_read_hard_swish},
    {"Identity", read_identity},
    {"InstanceNormalization", nn_onnx_read_norm_of_groups},
    {"InstanceNormalization", nn_onnx_read_instance_norm},
    {"LRN", nn_onnx_read_lrn},
    {"LSTM", nn_onnx_read_lstm},
    {"LayerNormalization", nn_onnx_read_layer_norm},
    {"LeakyRelu", nn_onnx_read_leaky_relu},
    {"MatMul", nn_onnx_read_attention},
    {"MatMul", nn_onnx_read_mat_mul},
    {"Max", nn_onnx_read_max},
    {"MaxPool", nn_onnx_read_max_pool},
    {"Min", nn_onnx_read_positions},
    {"Min", nn_onnx_read_min},
    {"Mul", nn_onnx_read_norm_scale},
    {"Mul", nn_onnx_read_positions},
    {"Mul", nn_onnx_read_attention},
    {"Mul", nn_onnx_read_mul},
    {"Neg", nn_onnx_read_neg},
    {"Pad", nn_onnx_read_pad},
    {"Pow", nn_onnx_read_norm_square},
    {"RMSNormalization", nn_onnx_read_layer_norm},
    {"Range", nn_onnx_read_positions},
    {"Reciprocal", nn_onnx_read_norm_factor},
    {"ReduceMean", nn_onnx_read_mean_step},
    {"ReduceMean", nn_onnx_read_norm_mean},
    {"ReduceMean", read_reduce_mean},
    {"Relu", nn_onnx_read_relu},
    {"Reshape", nn_onnx_read_attention},
    {"Reshape", nn_onnx_read_norm_groups},
    {"Reshape", nn_onnx_read_norm_ungroup},
    {"Reshape", nn_onnx_read_states_joined},
    {"Reshape", nn_onnx_read_constant_reshape},
    {"Reshape", read_reshape},
    {"Shape", nn_onnx_read_shape},
    {"Sigmoid", nn_onnx_read_sigmoid},
    {"Sin", nn_onnx_read_positions},
    {"Slice", nn_onnx_read_constant_slice},
    {"Slice", nn_onnx_read_slice},
    {"Softmax", nn_onnx_read_attention},
    {"Softmax", nn_onnx_read_softmax},
    {"Sqrt", nn_onnx_read_norm_root},
    {"Squeeze", nn_onnx_read_squeeze},
    {"Squeeze", read_squeeze},
    {"Sub", nn_onnx_read_norm_centred},
    {"Sub", nn_onnx_read_soft_threshold},
    {"Tanh", nn_onnx_read_tanh},
    {"Transpose", nn_onnx_read_attention},
    {"Transpose", nn_onnx_read_states_turned},
    {"Transpose", nn_onnx_read_steps_last},
    {"Transpose", nn_onnx_read_steps_back},
    {"Transpose", read_channels_last},
    {"Transpose", read_channels_back},
    {"Transpose", nn_onnx_read_constant_transpose},
    {"Trilu", nn_onnx_read_attention},
    {"Unsqueeze", nn_onnx_read_positions},
    {"Unsqueeze", nn_onnx_read_constant_unsqueeze},
    {"Unsqueeze", nn_onnx_read_sizes},
    {"Unsqueeze", read_unsqueeze},
    {0},
};
