/* SPDX-License-Identifier: MIT
 *
 * Norms in the primitive operators that PyTorch writes for older opsets, as layers. A layer is made
 * where the scales come, since their name tells its.
 */
#include <string.h>

#include "core/exchange/onnx_read_rows_internal.h"

/* The node's output as the step behind `from`. */
static bool step(struct nn_onnx_reader *r, const struct nn_onnx_node *node,
                 const struct nn_onnx_known *from, enum nn_onnx_meaning meaning,
                 const struct nn_onnx_norm *norm)
{
    const struct nn_onnx_known value = {.name = node->n_outputs > 0 ? node->outputs[0] : "",
                                        .meaning = meaning,
                                        .layer = from->layer,
                                        .norm = *norm};
    nn_onnx_know(r, &value);
    return true;
}

/* The i-th input where it is such a step. */
static const struct nn_onnx_known *step_in(const struct nn_onnx_reader *r,
                                           const struct nn_onnx_node *node, size_t i,
                                           enum nn_onnx_meaning meaning)
{
    const struct nn_onnx_known *value = nn_onnx_input(r, node, i);
    return value && value->meaning == meaning ? value : NULL;
}

/* Whether a step is one of what `source` is. */
static bool is_of(const struct nn_onnx_known *value, const struct nn_onnx_known *source)
{
    return value->layer == source->layer &&
           value->norm.channels_last == (source->meaning == NN_ONNX_CHANNELS_LAST);
}

/* The mean of the channels, or of the squares that a step before made of them. */
bool nn_onnx_read_norm_mean(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    const struct nn_onnx_known *square = step_in(r, node, 0, NN_ONNX_NORM_SQUARE);
    const struct nn_onnx_known *source = nn_onnx_norm_source(r, node, 0);
    size_t n;
    int64_t axis = nn_onnx_listed_axis(r, node, 0, &n);
    if (n != 1 || nn_onnx_int_of(node, "keepdims", 1) == 0) {
        return false;
    }
    if (square) {
        struct nn_onnx_known as_source = *square;
        as_source.meaning = square->norm.channels_last ? NN_ONNX_CHANNELS_LAST : NN_ONNX_LAYER;
        return nn_onnx_is_last_channels(r, &as_source, axis) &&
               step(r, node, square, NN_ONNX_NORM_VARIANCE, &square->norm);
    }
    if (!source || !nn_onnx_is_last_channels(r, source, axis)) {
        return false;
    }
    const struct nn_onnx_norm norm = {.kind = "layer_norm",
                                      .channels_last = source->meaning == NN_ONNX_CHANNELS_LAST};
    return step(r, node, source, NN_ONNX_NORM_MEAN, &norm);
}

bool nn_onnx_read_norm_centred(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    const struct nn_onnx_known *source = nn_onnx_norm_source(r, node, 0);
    const struct nn_onnx_known *mean = step_in(r, node, 1, NN_ONNX_NORM_MEAN);
    return source && mean && is_of(mean, source) &&
           step(r, node, mean, NN_ONNX_NORM_CENTRED, &mean->norm);
}

bool nn_onnx_read_norm_square(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    const struct nn_onnx_known *source = nn_onnx_norm_source(r, node, 0);
    const struct nn_onnx_known *centred = step_in(r, node, 0, NN_ONNX_NORM_CENTRED);
    double exponent = 0;
    if ((!source && !centred) || !nn_onnx_number(r, nn_onnx_tensor_in(r, node, 1), &exponent) ||
        exponent != 2) {
        return nn_onnx_lacks(r, "other than squares in a norm");
    }
    if (centred) {
        return step(r, node, centred, NN_ONNX_NORM_SQUARE, &centred->norm);
    }
    const struct nn_onnx_norm norm = {.kind = "rms_norm",
                                      .channels_last = source->meaning == NN_ONNX_CHANNELS_LAST};
    return step(r, node, source, NN_ONNX_NORM_SQUARE, &norm);
}

bool nn_onnx_read_norm_epsilon(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    for (size_t i = 0; i < 2; i++) {
        const struct nn_onnx_known *variance = step_in(r, node, i, NN_ONNX_NORM_VARIANCE);
        struct nn_onnx_norm norm;
        if (variance) {
            norm = variance->norm;
            return nn_onnx_number(r, nn_onnx_tensor_in(r, node, 1 - i), &norm.epsilon) &&
                   step(r, node, variance, NN_ONNX_NORM_ABOVE_ZERO, &norm);
        }
    }
    return false;
}

bool nn_onnx_read_norm_root(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    const struct nn_onnx_known *value = step_in(r, node, 0, NN_ONNX_NORM_ABOVE_ZERO);
    return value ? step(r, node, value, NN_ONNX_NORM_ROOT, &value->norm)
                 : nn_onnx_lacks(r, "other than in a norm");
}

bool nn_onnx_read_norm_factor(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    const struct nn_onnx_known *value = step_in(r, node, 0, NN_ONNX_NORM_ROOT);
    return value ? step(r, node, value, NN_ONNX_NORM_FACTOR, &value->norm)
                 : nn_onnx_lacks(r, "other than in a norm");
}

/* Whether the i-th input is what the norm's root divides. */
static bool is_numerator(const struct nn_onnx_reader *r, const struct nn_onnx_node *node, size_t i,
                         const struct nn_onnx_known *root)
{
    const struct nn_onnx_known *source = nn_onnx_norm_source(r, node, i);
    const struct nn_onnx_known *centred = step_in(r, node, i, NN_ONNX_NORM_CENTRED);
    return strcmp(root->norm.kind, "rms_norm") == 0
               ? source && is_of(root, source)
               : centred && centred->layer == root->layer &&
                     centred->norm.channels_last == root->norm.channels_last;
}

bool nn_onnx_read_norm_ratio(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    const struct nn_onnx_known *root = step_in(r, node, 1, NN_ONNX_NORM_ROOT);
    double number = 0;
    if (!root) {
        return false;
    }
    if (nn_onnx_number(r, nn_onnx_tensor_in(r, node, 0), &number) && number == 1) {
        return step(r, node, root, NN_ONNX_NORM_FACTOR, &root->norm);
    }
    return is_numerator(r, node, 0, root) && step(r, node, root, NN_ONNX_NORM_RATIO, &root->norm);
}

/* ---- groups ---- */

/* To [N, groups, the rest]; of a sequence every step is a sample. */
bool nn_onnx_read_norm_groups(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    const struct nn_onnx_known *source = nn_onnx_layer_in(r, node, 0);
    const float *shape = nn_onnx_numbers_in(r, node, 1, 3);
    bool steps = source && r->sequences && !nn_onnx_is_row(r, source->layer);
    if (!source || !shape || !(shape[1] >= 1 && shape[1] <= 65536) ||
        (steps ? shape[0] != -1 || !(shape[2] >= 1) : shape[0] != 0 || shape[2] != -1)) {
        return false;
    }
    const struct nn_onnx_norm norm = {.kind = "group_norm", .groups = (size_t)shape[1]};
    return step(r, node, source, NN_ONNX_NORM_GROUPS, &norm);
}

static bool are_all(const float *values, size_t n, float what)
{
    for (size_t i = 0; values && i < n; i++) {
        if (values[i] != what) {
            return false;
        }
    }
    return values != NULL;
}

bool nn_onnx_read_norm_of_groups(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    const struct nn_onnx_known *groups = step_in(r, node, 0, NN_ONNX_NORM_GROUPS);
    if (!groups) {
        return false;
    }
    struct nn_onnx_norm norm = groups->norm;
    norm.epsilon = nn_onnx_real_of(node, "epsilon", 1e-5);
    return are_all(nn_onnx_numbers_in(r, node, 1, norm.groups), norm.groups, 1) &&
           are_all(nn_onnx_numbers_in(r, node, 2, norm.groups), norm.groups, 0) &&
           step(r, node, groups, NN_ONNX_NORM_GROUPS_DONE, &norm);
}

/* Back to the shape that there was. */
bool nn_onnx_read_norm_ungroup(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    const struct nn_onnx_known *groups = step_in(r, node, 0, NN_ONNX_NORM_GROUPS_DONE);
    const struct nn_onnx_known *shape = nn_onnx_input(r, node, 1);
    if (!groups || !shape) {
        return false;
    }
    bool row = nn_onnx_is_row(r, groups->layer);
    size_t axes = row ? 2 : r->sequences ? 3 : 4;
    bool same = shape->meaning == NN_ONNX_SIZES ? shape->layer == groups->layer
                                                : nn_onnx_numbers_in(r, node, 1, axes) != NULL;
    return same && step(r, node, groups, NN_ONNX_NORM_RATIO, &groups->norm);
}

/* ---- scales and shifts ---- */

/* Numbers of the channels as they stand against the norm's input: [C], before the sides of an
 * image [C, 1, 1]. A single one is that of nn.GroupNorm without scales. */
static const float *channels_of(struct nn_onnx_reader *r, const struct nn_onnx_known *value,
                                const struct nn_file_tensor *tensor)
{
    bool sides = strcmp(value->norm.kind, "group_norm") == 0 && !r->sequences &&
                 !nn_onnx_is_row(r, value->layer);
    size_t behind = sides ? 2 : 0;
    return tensor && tensor->count > 1 && tensor->rank > behind &&
                   tensor->shape[tensor->rank - 1 - behind] == tensor->count
               ? nn_onnx_floats_of(r, tensor)
               : NULL;
}

static bool add_scales(struct nn_onnx_reader *r, const struct nn_onnx_node *node,
                       struct nn_onnx_known ratio, const struct nn_file_tensor *weight)
{
    const struct nn_onnx_norm *norm = &ratio.norm;
    const float *values = channels_of(r, &ratio, weight);
    size_t layer;
    if (!values) {
        return nn_onnx_lacks(r, "a norm without a scale for each channel");
    }
    json_t *options = json_pack("{s:f}", "epsilon", norm->epsilon);
    if (norm->groups > 0) {
        (void)json_object_set_new(options, "groups", json_integer((json_int_t)norm->groups));
    }
    if (!nn_onnx_add_layer_behind(r, node, norm->kind, options, ratio.layer, weight, &layer)) {
        return false;
    }
    nn_onnx_add_floats(r, layer, "weight", &weight->count, 1, values);
    if (strcmp(norm->kind, "rms_norm") == 0) {
        nn_onnx_mean_normed(r, node, norm->channels_last, layer);
        return true;
    }
    ratio.layer = layer;
    return step(r, node, &ratio, NN_ONNX_NORM_SCALED, norm);
}

/* Times the scales, or times 1 / root. */
bool nn_onnx_read_norm_scale(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    for (size_t i = 0; i < 2 && node->n_inputs == 2; i++) {
        const struct nn_onnx_known *ratio = step_in(r, node, i, NN_ONNX_NORM_RATIO);
        const struct nn_onnx_known *factor = step_in(r, node, i, NN_ONNX_NORM_FACTOR);
        if (ratio) {
            return add_scales(r, node, *ratio, nn_onnx_tensor_in(r, node, 1 - i));
        }
        if (factor && is_numerator(r, node, 1 - i, factor)) {
            return step(r, node, factor, NN_ONNX_NORM_RATIO, &factor->norm);
        }
    }
    return false;
}

bool nn_onnx_read_norm_shift(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    for (size_t i = 0; i < 2 && node->n_inputs == 2; i++) {
        const struct nn_onnx_known *scaled = step_in(r, node, i, NN_ONNX_NORM_SCALED);
        const struct nn_file_tensor *bias = nn_onnx_tensor_in(r, node, 1 - i);
        const float *values = scaled ? channels_of(r, scaled, bias) : NULL;
        if (values) {
            size_t layer = scaled->layer;
            bool channels_last = scaled->norm.channels_last;
            nn_onnx_add_floats(r, layer, "bias", &bias->count, 1, values);
            nn_onnx_mean_normed(r, node, channels_last, layer);
            return true;
        }
    }
    return false;
}
