/* SPDX-License-Identifier: MIT
 *
 * Convolution and pooling of ONNX as layers.
 */
#include <string.h>

#include "core/exchange/onnx_read_rows_internal.h"

/* An attribute of n numbers as a list, in the order given; fallback where there is none. NULL:
 * another number of them, or a negative one. */
static json_t *numbers(const struct nn_onnx_node *node, const char *name, size_t n,
                       const size_t *order, int64_t fallback)
{
    const struct nn_onnx_attribute *a = nn_onnx_attribute(node, name, NN_ONNX_INTS);
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++) {
        int64_t value = !a ? fallback : a->n == n ? a->integers[order ? order[i] : i] : -1;
        if (value < 0 || json_array_append_new(list, json_integer((json_int_t)value)) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

static bool text_is(const struct nn_onnx_node *node, const char *name, const char *text)
{
    const struct nn_onnx_attribute *a = nn_onnx_attribute(node, name, NN_ONNX_STRING);
    return a && strcmp(a->text, text) == 0;
}

/* kernel: of the weight, or NULL for the attribute. */
static json_t *window(struct nn_onnx_reader *r, const struct nn_onnx_node *node, json_t *kernel)
{
    static const size_t PADS[4] = {0, 2, 1, 3}; /* top, left, bottom, right -> ours */
    json_t *options = json_object();
    json_t *strides = numbers(node, "strides", 2, NULL, 1);
    json_t *pads = numbers(node, "pads", 4, PADS, 0);
    kernel = kernel ? kernel : numbers(node, "kernel_shape", 2, NULL, -1);
    if (!options || !strides || !pads || !kernel) {
        json_decref(options);
        json_decref(strides);
        json_decref(pads);
        json_decref(kernel);
        (void)nn_onnx_lacks(r, "windows of two sides alone");
        return NULL;
    }
    bool same = text_is(node, "auto_pad", "SAME_UPPER");
    (void)json_object_set_new(options, "kernel", kernel);
    (void)json_object_set_new(options, "stride", strides);
    (void)json_object_set_new(options, same ? "same_padding" : "padding",
                              same ? json_true() : json_incref(pads));
    json_decref(pads);
    return options;
}

/* The weight's sides, dilation and groups as options; NULL: what it cannot be. */
static json_t *filter_options(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    const struct nn_file_tensor *weight = nn_onnx_tensor_in(r, node, 1);
    const struct nn_file_tensor *bias = nn_onnx_tensor_in(r, node, 2);
    if (text_is(node, "auto_pad", "SAME_LOWER")) {
        (void)nn_onnx_lacks(r, "the odd pixel of padding in front, by SAME_LOWER");
        return NULL;
    }
    if (!weight || weight->rank != 4 || (node->n_inputs > 2 && !bias)) {
        (void)nn_onnx_lacks(r, "other than two-dimensional with constant weights");
        return NULL;
    }
    json_t *options = window(
        r, node, json_pack("[I, I]", (json_int_t)weight->shape[2], (json_int_t)weight->shape[3]));
    json_t *dilation = numbers(node, "dilations", 2, NULL, 1);
    if (!options || !dilation) {
        json_decref(options);
        json_decref(dilation);
        (void)nn_onnx_lacks(r, "windows of two sides alone");
        return NULL;
    }
    (void)json_object_set_new(options, "dilation", dilation);
    (void)json_object_set_new(options, "groups",
                              json_integer((json_int_t)nn_onnx_int_of(node, "group", 1)));
    (void)json_object_set_new(options, "bias", json_boolean(bias != NULL));
    return options;
}

static bool add_filters(struct nn_onnx_reader *r, const struct nn_onnx_node *node, const char *kind,
                        json_t *options_take, size_t filters)
{
    const struct nn_file_tensor *weight = nn_onnx_tensor_in(r, node, 1);
    const struct nn_file_tensor *bias = nn_onnx_tensor_in(r, node, 2);
    size_t layer;
    (void)json_object_set_new(options_take, "filters", json_integer((json_int_t)filters));
    if (!nn_onnx_add_layer(r, node, kind, options_take, 1, weight, &layer)) {
        return false;
    }
    nn_onnx_add_tensor(r, layer, "weight", weight);
    if (bias) {
        nn_onnx_add_tensor(r, layer, "bias", bias);
    }
    return true;
}

bool nn_onnx_read_conv(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    const struct nn_onnx_known *value = nn_onnx_input(r, node, 0);
    if (value && value->meaning == NN_ONNX_STEPS_LAST) {
        return nn_onnx_read_temporal_convolution(r, node, value->layer);
    }
    json_t *options = filter_options(r, node);
    return options &&
           add_filters(r, node, "convolution", options, nn_onnx_tensor_in(r, node, 1)->shape[0]);
}

/* Its weight is [channels, filters / groups, KH, KW]. */
bool nn_onnx_read_conv_transpose(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    int64_t groups = nn_onnx_int_of(node, "group", 1);
    const struct nn_onnx_attribute *way = nn_onnx_attribute(node, "auto_pad", NN_ONNX_STRING);
    if (nn_onnx_attribute(node, "output_shape", NN_ONNX_INTS) || groups < 1 || groups > 1048576 ||
        (way && strcmp(way->text, "NOTSET") != 0 && strcmp(way->text, "VALID") != 0)) {
        return nn_onnx_lacks(r, "padding other than in numbers");
    }
    json_t *options = filter_options(r, node);
    json_t *more = options ? numbers(node, "output_padding", 2, NULL, 0) : NULL;
    if (options && !more) {
        (void)nn_onnx_lacks(r, "windows of two sides alone");
    }
    if (!more) {
        json_decref(options);
        return false;
    }
    (void)json_object_set_new(options, "output_padding", more);
    return add_filters(r, node, "transposed_convolution", options,
                       nn_onnx_tensor_in(r, node, 1)->shape[1] * (size_t)groups);
}

static bool pool(struct nn_onnx_reader *r, const struct nn_onnx_node *node, const char *kind)
{
    const struct nn_onnx_attribute *dilations = nn_onnx_attribute(node, "dilations", NN_ONNX_INTS);
    bool average = kind[0] == 'a';
    size_t layer;
    for (size_t i = 0; dilations && i < dilations->n; i++) {
        if (dilations->integers[i] != 1) {
            return nn_onnx_lacks(r, "dilated windows");
        }
    }
    if (node->n_outputs > 1 || text_is(node, "auto_pad", "SAME_LOWER")) {
        return nn_onnx_lacks(r, "indices, or the odd pixel of padding in front");
    }
    json_t *options = window(r, node, NULL);
    if (!options) {
        return false;
    }
    (void)json_object_set_new(options, "ceil_mode",
                              json_boolean(nn_onnx_int_of(node, "ceil_mode", 0) != 0));
    if (average) {
        bool counted = nn_onnx_int_of(node, "count_include_pad", 0) != 0;
        (void)json_object_set_new(options, "count_padding", json_boolean(counted));
    }
    return nn_onnx_add_layer(r, node, kind, options, 1, NULL, &layer);
}

bool nn_onnx_read_max_pool(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    return pool(r, node, "max_pool");
}

bool nn_onnx_read_average_pool(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    return pool(r, node, "average_pool");
}
