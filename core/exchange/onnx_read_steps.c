/* SPDX-License-Identifier: MIT
 *
 * Convolution over the steps of sequences: [T, N, C] as [N, C, T], a Conv of one axis, and back.
 */
#include <string.h>

#include "core/exchange/onnx_read_rows_internal.h"

static const int64_t FORTH[3] = {1, 2, 0}, BACK[3] = {2, 0, 1};

bool nn_onnx_read_steps_last(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    const struct nn_onnx_known *value = nn_onnx_layer_in(r, node, 0);
    if (!value || nn_onnx_rank(r, value) != 3 || !nn_onnx_ints_are(node, "perm", FORTH, 3)) {
        return false;
    }
    nn_onnx_mean(r, node, 0, NN_ONNX_STEPS_LAST, value->layer, NULL);
    return true;
}

bool nn_onnx_read_steps_back(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    const struct nn_onnx_known *value = nn_onnx_input(r, node, 0);
    if (!value || value->meaning != NN_ONNX_STEPS_LAST ||
        !nn_onnx_ints_are(node, "perm", BACK, 3)) {
        return false;
    }
    nn_onnx_mean(r, node, 0, NN_ONNX_LAYER, value->layer, NULL);
    return true;
}

/* The first of a list of one, or what stands in its place; -1: another list. */
static int64_t single(const struct nn_onnx_node *node, const char *name, int64_t fallback)
{
    const struct nn_onnx_attribute *a = nn_onnx_attribute(node, name, NN_ONNX_INTS);
    return !a ? fallback : a->n == 1 ? a->integers[0] : -1;
}

/* Where the window lies, when its output has the steps of its input; NULL: elsewhere. */
static const char *padding_of(const struct nn_onnx_node *node, int64_t all)
{
    const int64_t causal[2] = {all, 0}, same[2] = {all / 2, all - all / 2};
    const struct nn_onnx_attribute *way = nn_onnx_attribute(node, "auto_pad", NN_ONNX_STRING);
    bool told = nn_onnx_attribute(node, "pads", NN_ONNX_INTS) != NULL;
    if (way && strcmp(way->text, "NOTSET") != 0) {
        return NULL;
    }
    if (told ? nn_onnx_ints_are(node, "pads", causal, 2) : all == 0) {
        return "causal";
    }
    return nn_onnx_ints_are(node, "pads", same, 2) ? "same" : NULL;
}

static bool add(struct nn_onnx_reader *r, const struct nn_onnx_node *node, size_t before,
                json_t *options_take)
{
    const struct nn_file_tensor *weight = nn_onnx_tensor_in(r, node, 1);
    const struct nn_file_tensor *bias = nn_onnx_tensor_in(r, node, 2);
    size_t layer;
    (void)json_object_set_new(options_take, "bias", json_boolean(bias != NULL));
    if (!nn_onnx_add_layer_behind(r, node, "temporal_convolution", options_take, before, weight,
                                  &layer)) {
        return false;
    }
    nn_onnx_add_tensor(r, layer, "weight", weight);
    if (bias) {
        nn_onnx_add_tensor(r, layer, "bias", bias);
    }
    nn_onnx_mean(r, node, 0, NN_ONNX_STEPS_LAST, layer, NULL);
    return true;
}

bool nn_onnx_read_temporal_convolution(struct nn_onnx_reader *r, const struct nn_onnx_node *node,
                                       size_t before)
{
    const struct nn_file_tensor *weight = nn_onnx_tensor_in(r, node, 1);
    int64_t dilation = single(node, "dilations", 1);
    if (!weight || weight->rank != 3 || (node->n_inputs > 2 && !nn_onnx_tensor_in(r, node, 2))) {
        return nn_onnx_lacks(r, "over steps without constant weights");
    }
    if (single(node, "strides", 1) != 1 || nn_onnx_int_of(node, "group", 1) != 1 || dilation < 1 ||
        dilation > 65536 || weight->shape[2] < 1 || weight->shape[2] > 1024) {
        return nn_onnx_lacks(r, "over steps with strides, groups or long windows");
    }
    const char *padding = padding_of(node, dilation * (int64_t)(weight->shape[2] - 1));
    if (!padding) {
        return nn_onnx_lacks(r, "over steps, padded neither before nor around alone");
    }
    return add(r, node, before,
               json_pack("{s:I, s:I, s:I, s:s}", "filters", (json_int_t)weight->shape[0], "kernel",
                         (json_int_t)weight->shape[2], "dilation", (json_int_t)dilation, "padding",
                         padding));
}
