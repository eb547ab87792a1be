/* SPDX-License-Identifier: MIT
 *
 * Attention as onnx_steps.c writes it, as a layer. A step knows as `layer` the product that gives
 * queries, keys and values, and as `number` how many heads there are; the layer is made where the
 * last product comes, since its weight tells the name.
 */
#include <math.h>
#include <string.h>

#include "core/exchange/onnx_read_rows_internal.h"

/* ---- what hides later steps ---- */

static bool are_two_ones(struct nn_onnx_reader *r, const struct nn_onnx_node *node,
                         struct nn_onnx_known *value, size_t other)
{
    const float *ones = nn_onnx_numbers_in(r, node, other, 2);
    (void)value;
    return ones && ones[0] == 1 && ones[1] == 1;
}

static bool is_hidden(struct nn_onnx_reader *r, const struct nn_onnx_node *node,
                      struct nn_onnx_known *value, size_t other)
{
    const float *number = nn_onnx_numbers_in(r, node, other, 1);
    (void)value;
    return number && isinf(number[0]) && number[0] < 0;
}

static bool is_above(struct nn_onnx_reader *r, const struct nn_onnx_node *node,
                     struct nn_onnx_known *value, size_t other)
{
    (void)value;
    return nn_onnx_number_is(r, node, other, 1) && nn_onnx_int_of(node, "upper", 1) != 0;
}

/* ---- queries, keys and values ---- */

static bool has_shape(struct nn_onnx_reader *r, const struct nn_onnx_node *node,
                      const double *wanted, size_t n)
{
    const float *shape = nn_onnx_numbers_in(r, node, 1, n);
    for (size_t i = 0; shape && i < n; i++) {
        if ((double)shape[i] != wanted[i]) {
            return false;
        }
    }
    return shape && nn_onnx_int_of(node, "allowzero", 0) == 0;
}

static size_t outputs_of(const struct nn_onnx_reader *r, size_t layer)
{
    const json_t *options = nn_onnx_options(r, layer);
    const char *kind = json_string_value(json_object_get(options, "kind"));
    bool product = strcmp(kind, "fully_connected") == 0;
    return product ? (size_t)json_integer_value(json_object_get(options, "outputs")) : 0;
}

/* To [T, N, 3, heads, d]. */
static bool is_split(struct nn_onnx_reader *r, const struct nn_onnx_node *node,
                     struct nn_onnx_known *value, size_t other)
{
    const float *shape = nn_onnx_numbers_in(r, node, other, 5);
    size_t outputs = outputs_of(r, value->layer);
    if (!shape || !nn_onnx_is_steps(r, value) || outputs == 0 ||
        !(shape[3] >= 1 && shape[3] <= 1024)) {
        return false;
    }
    value->number = (size_t)shape[3];
    double width = (double)outputs / 3 / (double)value->number;
    const double wanted[5] = {0, 0, 3, (double)value->number, width};
    return has_shape(r, node, wanted, 5);
}

static bool is_by_head(struct nn_onnx_reader *r, const struct nn_onnx_node *node,
                       struct nn_onnx_known *value, size_t other)
{
    static const int64_t ORDER[5] = {2, 1, 3, 0, 4};
    (void)r;
    (void)value;
    (void)other;
    return nn_onnx_ints_are(node, "perm", ORDER, 5);
}

static bool is_part(struct nn_onnx_reader *r, const struct nn_onnx_node *node, size_t i,
                    double wanted)
{
    double index = -1;
    return nn_onnx_index_is(r, node, i, &index) && index == wanted &&
           nn_onnx_int_of(node, "axis", 0) == 0;
}

static bool are_queries(struct nn_onnx_reader *r, const struct nn_onnx_node *node,
                        struct nn_onnx_known *value, size_t other)
{
    (void)value;
    return is_part(r, node, other, 0);
}

static bool are_keys(struct nn_onnx_reader *r, const struct nn_onnx_node *node,
                     struct nn_onnx_known *value, size_t other)
{
    (void)value;
    return is_part(r, node, other, 1);
}

static bool are_values(struct nn_onnx_reader *r, const struct nn_onnx_node *node,
                       struct nn_onnx_known *value, size_t other)
{
    (void)value;
    return is_part(r, node, other, 2);
}

/* ---- what the heads say ---- */

static bool turns_last(struct nn_onnx_reader *r, const struct nn_onnx_node *node,
                       struct nn_onnx_known *value, size_t other)
{
    static const int64_t ORDER[4] = {0, 1, 3, 2};
    (void)r;
    (void)value;
    (void)other;
    return nn_onnx_ints_are(node, "perm", ORDER, 4);
}

/* Times 1 / sqrt(d). */
static bool is_scale(struct nn_onnx_reader *r, const struct nn_onnx_node *node,
                     struct nn_onnx_known *value, size_t other)
{
    double width = (double)outputs_of(r, value->layer) / 3 / (double)value->number;
    return nn_onnx_number_is(r, node, other, 1 / sqrt(width));
}

/* Whether the other input is of the same queries, keys and values. */
static bool with(const struct nn_onnx_reader *r, const struct nn_onnx_node *node,
                 const struct nn_onnx_known *value, size_t other, enum nn_onnx_meaning meaning)
{
    const struct nn_onnx_known *beside = nn_onnx_input(r, node, other);
    return beside && beside->meaning == meaning && beside->layer == value->layer &&
           beside->number == value->number;
}

static bool with_keys(struct nn_onnx_reader *r, const struct nn_onnx_node *node,
                      struct nn_onnx_known *value, size_t other)
{
    value->causal = false;
    return with(r, node, value, other, NN_ONNX_TURNED_KEYS);
}

static bool with_mask(struct nn_onnx_reader *r, const struct nn_onnx_node *node,
                      struct nn_onnx_known *value, size_t other)
{
    const struct nn_onnx_known *mask = nn_onnx_input(r, node, other);
    value->causal = true;
    return mask && mask->meaning == NN_ONNX_LATER_HIDDEN;
}

static bool is_over_keys(struct nn_onnx_reader *r, const struct nn_onnx_node *node,
                         struct nn_onnx_known *value, size_t other)
{
    int64_t axis = nn_onnx_int_of(node, "axis", r->model->opset < 13 ? 1 : -1);
    (void)value;
    (void)other;
    return axis == -1 || axis == 3;
}

static bool with_values(struct nn_onnx_reader *r, const struct nn_onnx_node *node,
                        struct nn_onnx_known *value, size_t other)
{
    return with(r, node, value, other, NN_ONNX_VALUES);
}

static bool is_by_step(struct nn_onnx_reader *r, const struct nn_onnx_node *node,
                       struct nn_onnx_known *value, size_t other)
{
    static const int64_t ORDER[4] = {2, 0, 1, 3};
    (void)r;
    (void)value;
    (void)other;
    return nn_onnx_ints_are(node, "perm", ORDER, 4);
}

/* To [T, N, all heads]. */
static bool is_joined(struct nn_onnx_reader *r, const struct nn_onnx_node *node,
                      struct nn_onnx_known *value, size_t other)
{
    static const double WHOLE[3] = {0, 0, -1};
    (void)value;
    (void)other;
    return has_shape(r, node, WHOLE, 3);
}

/* ---- the layer ---- */

/* "a.out_proj.weight" is of the layer "a"; NULL: it tells nothing. */
static const struct nn_file_tensor *named(struct nn_onnx_reader *r,
                                          const struct nn_file_tensor *weight)
{
    static const char SUFFIX[] = ".out_proj.weight", KEPT[] = ".weight";
    size_t length = strlen(weight->name), tail = sizeof SUFFIX - 1;
    struct nn_file_tensor *out = nn_arena_alloc(r->arena, 1, sizeof *out);
    char *name = nn_arena_alloc(r->arena, length + 1, 1);
    if (!out || !name || length <= tail || strcmp(weight->name + length - tail, SUFFIX) != 0) {
        return NULL;
    }
    memcpy(name, weight->name, length - tail);
    memcpy(name + length - tail, KEPT, sizeof KEPT);
    *out = *weight;
    out->name = name;
    return out;
}

/* The layer itself, behind what the product of queries, keys and values stands behind. */
static bool add_layer(struct nn_onnx_reader *r, const struct nn_onnx_node *node,
                      struct nn_onnx_known *value, const struct nn_file_tensor *weight, bool bias)
{
    json_t *options = json_pack("{s:I, s:b, s:b}", "heads", (json_int_t)value->number, "causal",
                                value->causal ? 1 : 0, "bias", bias ? 1 : 0);
    size_t product = value->layer, before;
    struct nn_file_tensor from;
    if (!nn_onnx_before(r, product, &before) || !nn_onnx_tensor_of(r, product, "weight", &from) ||
        from.shape[1] != weight->shape[0]) {
        json_decref(options);
        return false;
    }
    if (!nn_onnx_add_layer_behind(r, node, "attention", options, before, named(r, weight),
                                  &value->layer)) {
        return false;
    }
    nn_onnx_add_tensor(r, value->layer, "in_proj_weight", &from);
    nn_onnx_add_tensor(r, value->layer, "out_proj.weight", weight);
    if (bias && nn_onnx_tensor_of(r, product, "bias", &from)) {
        nn_onnx_add_tensor(r, value->layer, "in_proj_bias", &from);
    }
    return true;
}

/* The last product; a layer with biases waits for its second one. */
static bool is_out(struct nn_onnx_reader *r, const struct nn_onnx_node *node,
                   struct nn_onnx_known *value, size_t other)
{
    const struct nn_file_tensor *weight = nn_onnx_tensor_in(r, node, other);
    bool bias = json_is_true(json_object_get(nn_onnx_options(r, value->layer), "bias"));
    size_t width = outputs_of(r, value->layer) / 3;
    if (!weight || weight->rank != 2 || weight->shape[0] != width || weight->shape[1] != width) {
        return false;
    }
    value->meaning = bias ? NN_ONNX_ATTENDED : NN_ONNX_LAYER;
    weight = nn_onnx_turned(r, weight);
    return weight && add_layer(r, node, value, weight, bias);
}

static bool is_out_bias(struct nn_onnx_reader *r, const struct nn_onnx_node *node,
                        struct nn_onnx_known *value, size_t other)
{
    const struct nn_file_tensor *bias = nn_onnx_tensor_in(r, node, other);
    size_t width = nn_onnx_extent_of(r, value->layer).channels;
    if (!bias || bias->rank != 1 || (width > 0 && bias->count != width)) {
        return false;
    }
    nn_onnx_add_tensor(r, value->layer, "out_proj.bias", bias);
    return true;
}

/* ---- the steps ---- */

bool nn_onnx_read_attention(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    static const struct nn_onnx_step STEPS[] = {
        {"Mul", NN_ONNX_STEP_COUNT, NN_ONNX_STEPS_TWICE, NN_ONNX_EITHER, are_two_ones},
        {"Expand", NN_ONNX_STEPS_TWICE, NN_ONNX_ALL_HIDDEN, 1, is_hidden},
        {"Trilu", NN_ONNX_ALL_HIDDEN, NN_ONNX_LATER_HIDDEN, 0, is_above},
        {"Reshape", NN_ONNX_LAYER, NN_ONNX_HEADS_SPLIT, 0, is_split},
        {"Transpose", NN_ONNX_HEADS_SPLIT, NN_ONNX_BY_HEAD, 0, is_by_head},
        {"Gather", NN_ONNX_BY_HEAD, NN_ONNX_QUERIES, 0, are_queries},
        {"Gather", NN_ONNX_BY_HEAD, NN_ONNX_KEYS, 0, are_keys},
        {"Gather", NN_ONNX_BY_HEAD, NN_ONNX_VALUES, 0, are_values},
        {"Transpose", NN_ONNX_KEYS, NN_ONNX_TURNED_KEYS, 0, turns_last},
        {"Mul", NN_ONNX_QUERIES, NN_ONNX_SCALED_QUERIES, NN_ONNX_EITHER, is_scale},
        {"MatMul", NN_ONNX_SCALED_QUERIES, NN_ONNX_SCORES, 0, with_keys},
        {"Add", NN_ONNX_SCORES, NN_ONNX_SCORES, NN_ONNX_EITHER, with_mask},
        {"Softmax", NN_ONNX_SCORES, NN_ONNX_SHARES, 0, is_over_keys},
        {"MatMul", NN_ONNX_SHARES, NN_ONNX_HEADS_SAY, 0, with_values},
        {"Transpose", NN_ONNX_HEADS_SAY, NN_ONNX_HEADS_BY_STEP, 0, is_by_step},
        {"Reshape", NN_ONNX_HEADS_BY_STEP, NN_ONNX_HEADS_JOINED, 0, is_joined},
        {"MatMul", NN_ONNX_HEADS_JOINED, NN_ONNX_ATTENDED, 0, is_out},
        {"Add", NN_ONNX_ATTENDED, NN_ONNX_LAYER, NN_ONNX_EITHER, is_out_bias},
        {0},
    };
    return nn_onnx_read_by_steps(r, node, STEPS);
}
