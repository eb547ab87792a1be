/* SPDX-License-Identifier: MIT
 *
 * Products and sums of ONNX as layers.
 */
#include <string.h>

#include "core/exchange/onnx_read_rows_internal.h"

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
    const struct nn_onnx_known *value = nn_onnx_layer_in(r, node, 0);
    if (!weight || weight->rank != 2 || !value ||
        (!r->sequences && !nn_onnx_is_row(r, value->layer))) {
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
