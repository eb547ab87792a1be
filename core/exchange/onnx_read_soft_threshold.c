/* SPDX-License-Identifier: MIT
 *
 * x - min(max(x, -t), t), the soft threshold of onnx_functions.c, as a layer. A step knows x as its
 * layer, and t as the layer `number` or as the tensor that it is.
 */
#include "core/exchange/onnx_read_rows_internal.h"

static bool step(struct nn_onnx_reader *r, const struct nn_onnx_node *node,
                 struct nn_onnx_known value, enum nn_onnx_meaning meaning)
{
    value.name = node->n_outputs > 0 ? node->outputs[0] : "";
    value.meaning = meaning;
    nn_onnx_know(r, &value);
    return true;
}

/* -t, of a layer or of one number. */
bool nn_onnx_read_neg(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    const struct nn_onnx_known *t = nn_onnx_input(r, node, 0);
    bool number = t && t->meaning == NN_ONNX_CONSTANT && t->tensor->count == 1;
    if (!number && (!t || t->meaning != NN_ONNX_LAYER)) {
        return nn_onnx_lacks(r, "other than in a soft threshold");
    }
    struct nn_onnx_known minus = *t;
    minus.number = t->layer;
    return step(r, node, minus, NN_ONNX_SOFT_MINUS);
}

/* Whether t and x have as many axes, so that channels meet channels. */
static bool axes_meet(const struct nn_onnx_reader *r, const struct nn_onnx_known *x,
                      const struct nn_onnx_known *t)
{
    return t->tensor || nn_onnx_rank(r, x) == nn_onnx_rank(r, t);
}

bool nn_onnx_read_max(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    for (size_t i = 0; i < 2 && node->n_inputs == 2; i++) {
        const struct nn_onnx_known *x = nn_onnx_layer_in(r, node, i);
        const struct nn_onnx_known *minus = nn_onnx_input(r, node, 1 - i);
        if (x && minus && minus->meaning == NN_ONNX_SOFT_MINUS && axes_meet(r, x, minus)) {
            struct nn_onnx_known above = *x;
            above.number = minus->number;
            above.tensor = minus->tensor;
            return step(r, node, above, NN_ONNX_SOFT_ABOVE);
        }
    }
    return nn_onnx_lacks(r, "other than in a soft threshold");
}

/* Whether a value is the t of a step. */
static bool is_threshold(const struct nn_onnx_known *value, const struct nn_onnx_known *step_of)
{
    return step_of->tensor ? value->meaning == NN_ONNX_CONSTANT && value->tensor == step_of->tensor
                           : value->meaning == NN_ONNX_LAYER && value->layer == step_of->number;
}

bool nn_onnx_read_min(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    for (size_t i = 0; i < 2 && node->n_inputs == 2; i++) {
        const struct nn_onnx_known *above = nn_onnx_input(r, node, i);
        const struct nn_onnx_known *t = nn_onnx_input(r, node, 1 - i);
        if (above && t && above->meaning == NN_ONNX_SOFT_ABOVE && is_threshold(t, above) &&
            axes_meet(r, above, t)) {
            return step(r, node, *above, NN_ONNX_SOFT_WITHIN);
        }
    }
    return nn_onnx_lacks(r, "other than in a soft threshold");
}

/* Whether x and the step are of one layer; of a number, whether the layer may have it. */
static bool fits(struct nn_onnx_reader *r, const struct nn_onnx_known *x,
                 const struct nn_onnx_known *within, double *out_threshold)
{
    return x && within && within->meaning == NN_ONNX_SOFT_WITHIN && within->layer == x->layer &&
           within->sides == x->sides &&
           (!within->tensor ||
            (nn_onnx_number(r, within->tensor, out_threshold) && *out_threshold >= 0));
}

bool nn_onnx_read_soft_threshold(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    const struct nn_onnx_known *within = nn_onnx_input(r, node, 1);
    double threshold = 0;
    size_t layer;
    if (!fits(r, nn_onnx_layer_in(r, node, 0), within, &threshold)) {
        return nn_onnx_lacks(r, "other than in a norm or a soft threshold");
    }
    bool given = !within->tensor;
    size_t t = within->number;
    json_t *options = given ? NULL : json_pack("{s:f}", "threshold", threshold);
    return nn_onnx_add_layer(r, node, "soft_threshold", options, 1, NULL, &layer) &&
           (!given || nn_onnx_connect(r, t, nn_onnx_layer_name(r, layer)));
}
