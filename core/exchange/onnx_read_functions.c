/* SPDX-License-Identifier: MIT
 *
 * Functions of each value, softmax and products of layers, of ONNX as layers.
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

bool nn_onnx_read_relu(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    return one(r, node, "relu", NULL);
}

bool nn_onnx_read_tanh(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    return one(r, node, "tanh", NULL);
}

bool nn_onnx_read_sigmoid(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    return one(r, node, "sigmoid", NULL);
}

bool nn_onnx_read_hard_swish(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    return one(r, node, "hard_swish", NULL);
}

bool nn_onnx_read_absolute(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    return one(r, node, "absolute", NULL);
}

bool nn_onnx_read_leaky_relu(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    return one(r, node, "leaky_relu",
               json_pack("{s:f}", "slope", nn_onnx_real_of(node, "alpha", 0.01)));
}

bool nn_onnx_read_elu(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    return one(r, node, "elu", json_pack("{s:f}", "alpha", nn_onnx_real_of(node, "alpha", 1)));
}

/* Bounds are attributes up to opset 10, then inputs. */
bool nn_onnx_read_clip(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
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

bool nn_onnx_read_dropout(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    double rate = nn_onnx_real_of(node, "ratio", 0.5);
    (void)nn_onnx_number(r, nn_onnx_tensor_in(r, node, 1), &rate);
    return one(r, node, "dropout", json_pack("{s:f}", "rate", rate));
}

/* Before opset 13 all axes from the one that is told are one. */
bool nn_onnx_read_softmax(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    const struct nn_onnx_known *value = nn_onnx_layer_in(r, node, 0);
    bool flattens = r->model->opset < 13;
    int64_t axis = nn_onnx_int_of(node, "axis", flattens ? 1 : -1);
    if (value && !nn_onnx_is_channels(r, value, axis)) {
        return nn_onnx_lacks(r, "over another axis than channels");
    }
    if (value && flattens && nn_onnx_rank(r, value) == 4 &&
        !nn_onnx_is_one_pixel(r, value->layer)) {
        return nn_onnx_lacks(r, "over channels and pixels at once, as before opset 13");
    }
    return one(r, node, "softmax", NULL);
}

bool nn_onnx_read_gelu(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    const struct nn_onnx_attribute *a = nn_onnx_attribute(node, "approximate", NN_ONNX_STRING);
    return a && strcmp(a->text, "none") != 0 ? nn_onnx_lacks(r, "approximated")
                                             : one(r, node, "gelu", NULL);
}

bool nn_onnx_read_lrn(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    const struct nn_onnx_known *value = nn_onnx_layer_in(r, node, 0);
    if (value && !nn_onnx_is_channels(r, value, 1)) {
        return nn_onnx_lacks(r, "of the samples of sequences");
    }
    return one(
        r, node, "local_response_norm",
        json_pack("{s:I, s:f, s:f, s:f}", "size", (json_int_t)nn_onnx_int_of(node, "size", 1),
                  "alpha", nn_onnx_real_of(node, "alpha", 1e-4), "beta",
                  nn_onnx_real_of(node, "beta", 0.75), "k", nn_onnx_real_of(node, "bias", 1)));
}

/* ---- x * (1 + erf(x / sqrt 2)) / 2, as PyTorch writes gelu before opset 20 ---- */

bool nn_onnx_read_div(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
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

bool nn_onnx_read_erf(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    const struct nn_onnx_known *value = nn_onnx_input(r, node, 0);
    if (!value || value->meaning != NN_ONNX_GELU_SCALED) {
        return nn_onnx_lacks(r, "other than in gelu");
    }
    nn_onnx_mean(r, node, 0, NN_ONNX_GELU_ERF, value->layer, NULL);
    return true;
}

/* ---- products of two layers ---- */

/* Whether one has a value for all pixels or channels of the other, and the other none for its. */
static bool is_narrower(struct nn_onnx_extent one, struct nn_onnx_extent other)
{
    bool pixel = one.height == 1 && one.width == 1,
         other_pixel = other.height == 1 && other.width == 1;
    bool channel = one.channels == 1, other_channel = other.channels == 1;
    return (pixel > other_pixel || channel > other_channel) && pixel >= other_pixel &&
           channel >= other_channel;
}

/* The layer has the narrower input behind; ONNX takes them in either order. */
static bool add_product(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    const struct nn_onnx_known *first = nn_onnx_layer_in(r, node, 0);
    const struct nn_onnx_known *second = nn_onnx_layer_in(r, node, 1);
    struct nn_onnx_node turned = *node;
    size_t layer;
    if (!first || !second) {
        return nn_onnx_lacks(r, "an input that is no activation");
    }
    const char *const inputs[2] = {node->inputs[1], node->inputs[0]};
    if (!r->sequences && nn_onnx_rank(r, first) != nn_onnx_rank(r, second)) {
        return nn_onnx_lacks(r, "of a row and an image, whose axes do not meet");
    }
    if (is_narrower(nn_onnx_extent_of(r, first->layer), nn_onnx_extent_of(r, second->layer))) {
        turned.inputs = inputs;
    }
    return nn_onnx_add_layer(r, &turned, "multiplication", NULL, 2, NULL, &layer);
}

bool nn_onnx_read_mul(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
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
            return nn_onnx_add_layer_behind(r, node, "gelu", NULL, value->layer, NULL, &layer);
        }
    }
    return add_product(r, node);
}
