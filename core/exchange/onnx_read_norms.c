/* SPDX-License-Identifier: MIT
 *
 * Operators of ONNX that normalise, as layers.
 */
#include <string.h>

#include "core/exchange/onnx_read_rows_internal.h"

/* ---- operators ---- */

/* As in training, which opsets before 14 tell by outputs for the statistics. */
static bool takes_batch(const struct nn_onnx_model *model, const struct nn_onnx_node *node)
{
    bool more = false;
    for (size_t i = 1; i < node->n_outputs; i++) {
        more = more || node->outputs[i][0] != '\0';
    }
    return nn_onnx_int_of(node, "training_mode", 0) != 0 || (more && model->opset < 14);
}

bool nn_onnx_read_batch_norm(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    static const char *const PARAMETERS[] = {"weight", "bias", "running_mean", "running_var"};
    const struct nn_file_tensor *tensors[4];
    const struct nn_onnx_known *value = nn_onnx_layer_in(r, node, 0);
    size_t layer;
    if (value && !nn_onnx_is_channels(r, value, 1)) {
        return nn_onnx_lacks(r, "of the samples of sequences");
    }
    if (takes_batch(r->model, node)) {
        return nn_onnx_lacks(r, "by statistics of the batch, as in training");
    }
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

const struct nn_onnx_known *nn_onnx_norm_source(const struct nn_onnx_reader *r,
                                                const struct nn_onnx_node *node, size_t i)
{
    const struct nn_onnx_known *value = nn_onnx_input(r, node, i);
    return value && (value->meaning == NN_ONNX_LAYER || value->meaning == NN_ONNX_CHANNELS_LAST)
               ? value
               : NULL;
}

/* An axis 1 of rows is left to channel_mean. */
bool nn_onnx_is_last_channels(const struct nn_onnx_reader *r, const struct nn_onnx_known *value,
                              int64_t axis)
{
    if (value->meaning == NN_ONNX_CHANNELS_LAST) {
        return axis == -1 || axis == 3;
    }
    size_t rank = nn_onnx_rank(r, value);
    return rank != 4 && (axis == -1 || (axis == 2 && rank == 3));
}

void nn_onnx_mean_normed(struct nn_onnx_reader *r, const struct nn_onnx_node *node,
                         bool channels_last, size_t layer)
{
    nn_onnx_mean(r, node, 0, channels_last ? NN_ONNX_CHANNELS_LAST : NN_ONNX_LAYER, layer, NULL);
}

bool nn_onnx_read_layer_norm(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    const struct nn_onnx_known *value = nn_onnx_norm_source(r, node, 0);
    const struct nn_file_tensor *weight = nn_onnx_tensor_in(r, node, 1);
    const struct nn_file_tensor *bias = nn_onnx_tensor_in(r, node, 2);
    bool centred = strcmp(node->op, "LayerNormalization") == 0;
    size_t layer;
    int64_t axis = nn_onnx_int_of(node, "axis", -1);
    if (!value || !nn_onnx_is_channels(r, value, axis) ||
        nn_onnx_axis(r, value, axis) + 1 != (int64_t)nn_onnx_rank(r, value) || !weight ||
        weight->rank != 1 || (centred && (!bias || bias->rank != 1))) {
        return nn_onnx_lacks(r, "other than of channels with constant scales and shifts");
    }
    bool channels_last = value->meaning == NN_ONNX_CHANNELS_LAST;
    json_t *options = json_pack("{s:f}", "epsilon", nn_onnx_real_of(node, "epsilon", 1e-5));
    if (!nn_onnx_add_layer_behind(r, node, centred ? "layer_norm" : "rms_norm", options,
                                  value->layer, weight, &layer)) {
        return false;
    }
    nn_onnx_add_tensor(r, layer, "weight", weight);
    if (centred) {
        nn_onnx_add_tensor(r, layer, "bias", bias);
    }
    nn_onnx_mean_normed(r, node, channels_last, layer);
    return true;
}

static bool add_group_norm(struct nn_onnx_reader *r, const struct nn_onnx_node *node, size_t groups)
{
    const struct nn_file_tensor *weight = nn_onnx_tensor_in(r, node, 1);
    const struct nn_file_tensor *bias = nn_onnx_tensor_in(r, node, 2);
    const struct nn_onnx_known *value = nn_onnx_layer_in(r, node, 0);
    size_t layer;
    if (!value || r->sequences || nn_onnx_is_row(r, value->layer) || !weight || !bias ||
        weight->rank != 1 || bias->rank != 1 || groups == 0) {
        return nn_onnx_lacks(r, "other than of images with constant scales and shifts");
    }
    json_t *options = json_pack("{s:I, s:f}", "groups", (json_int_t)groups, "epsilon",
                                nn_onnx_real_of(node, "epsilon", 1e-5));
    if (!nn_onnx_add_layer(r, node, "group_norm", options, 1, weight, &layer)) {
        return false;
    }
    nn_onnx_add_tensor(r, layer, "weight", weight);
    nn_onnx_add_tensor(r, layer, "bias", bias);
    return true;
}

/* Up to opset 20 it has a scale a group, not a channel. */
bool nn_onnx_read_group_norm(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    int64_t groups = nn_onnx_int_of(node, "num_groups", 0);
    if (r->model->opset < 21 || groups < 0) {
        return nn_onnx_lacks(r, "before opset 21");
    }
    return add_group_norm(r, node, (size_t)groups);
}

/* A group a channel. */
bool nn_onnx_read_instance_norm(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    const struct nn_file_tensor *weight = nn_onnx_tensor_in(r, node, 1);
    return add_group_norm(r, node, weight ? weight->count : 0);
}
