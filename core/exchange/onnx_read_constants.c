/* SPDX-License-Identifier: MIT
 *
 * Operators of ONNX on constants and on sizes, as PyTorch leaves them in its graphs: first states,
 * pixels of padding, turned weights.
 */
#include <string.h>

#include "core/exchange/onnx_read_rows_internal.h"

/* More numbers than these are made of nothing but sizes. */
enum { MADE_MAX = 4096 };

static bool is_constant(struct nn_onnx_reader *r, const struct nn_onnx_node *node,
                        const struct nn_file_tensor *tensor)
{
    if (tensor) {
        nn_onnx_mean(r, node, 0, NN_ONNX_CONSTANT, 0, tensor);
    }
    return tensor != NULL;
}

bool nn_onnx_read_constant(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    const struct nn_onnx_attribute *a = nn_onnx_attribute(node, "value", NN_ONNX_TENSOR);
    return a ? is_constant(r, node, a->tensor) : nn_onnx_lacks(r, "other than a tensor");
}

/* ---- sizes ---- */

bool nn_onnx_read_shape(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    const struct nn_onnx_known *value = nn_onnx_layer_in(r, node, 0);
    nn_onnx_know(r, &(struct nn_onnx_known){.name = node->n_outputs > 0 ? node->outputs[0] : "",
                                            .meaning = NN_ONNX_SIZES,
                                            .layer = value ? value->layer : 0,
                                            .number = value ? NN_ONNX_WHOLE_SIZES : 0});
    return true;
}

/* Made of sizes, and so of no layer. */
bool nn_onnx_read_sizes(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    for (size_t i = 0; i < node->n_inputs; i++) {
        const struct nn_onnx_known *value = nn_onnx_input(r, node, i);
        if (value && (value->meaning == NN_ONNX_SIZES || value->meaning == NN_ONNX_STEP_COUNT)) {
            nn_onnx_mean(r, node, 0, NN_ONNX_SIZES, 0, NULL);
            return true;
        }
    }
    return nn_onnx_lacks(r, "other than of sizes");
}

/* One number over and over: whoever asks for it looks at the number. */
bool nn_onnx_read_expand(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    return is_constant(r, node, nn_onnx_tensor_in(r, node, 0)) ||
           nn_onnx_lacks(r, "other than of a constant");
}

/* ---- constants ---- */

bool nn_onnx_read_constant_of_shape(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    const struct nn_onnx_attribute *a = nn_onnx_attribute(node, "value", NN_ONNX_TENSOR);
    const float *size = nn_onnx_numbers_in(r, node, 0, 1);
    double number = 0;
    if (!size || !(size[0] >= 0 && size[0] <= MADE_MAX) ||
        (a && !nn_onnx_number(r, a->tensor, &number))) {
        return nn_onnx_lacks(r, "other than a short list");
    }
    size_t n = (size_t)size[0];
    float *values = nn_arena_alloc(r->arena, n + 1, sizeof *values);
    for (size_t i = 0; values && i < n; i++) {
        values[i] = (float)number;
    }
    return is_constant(r, node, nn_onnx_made(r, "", &n, 1, values));
}

/* The same numbers in another shape. */
static bool is_reshaped(struct nn_onnx_reader *r, const struct nn_onnx_node *node,
                        const struct nn_file_tensor *from, const size_t *shape, size_t rank)
{
    struct nn_file_tensor *out = nn_arena_alloc(r->arena, 1, sizeof *out);
    if (!out) {
        r->status = NN_ERR_MEMORY;
        return false;
    }
    *out = *from;
    out->rank = rank;
    memcpy(out->shape, shape, rank * sizeof *shape);
    return is_constant(r, node, out);
}

/* Lists one behind the other. */
bool nn_onnx_read_constant_concat(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    size_t n = 0;
    if (!nn_onnx_tensor_in(r, node, 0)) {
        return false;
    }
    float *values = nn_arena_alloc(r->arena, MADE_MAX, sizeof *values);
    for (size_t i = 0; i < node->n_inputs; i++) {
        const struct nn_file_tensor *part = nn_onnx_tensor_in(r, node, i);
        const float *from = part && part->rank == 1 && part->count <= MADE_MAX - n
                                ? nn_onnx_floats_of(r, part)
                                : NULL;
        if (!from || !values) {
            return false;
        }
        memcpy(values + n, from, part->count * sizeof *from);
        n += part->count;
    }
    return n > 0 && is_constant(r, node, nn_onnx_made(r, "", &n, 1, values));
}

/* To a list, or to a table with as many rows as it takes. */
bool nn_onnx_read_constant_reshape(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    const struct nn_file_tensor *from = nn_onnx_tensor_in(r, node, 0);
    const struct nn_file_tensor *sizes = nn_onnx_tensor_in(r, node, 1);
    const float *shape =
        sizes && (sizes->count == 1 || sizes->count == 2) ? nn_onnx_floats_of(r, sizes) : NULL;
    if (!from || !shape || shape[0] != -1 || from->count > MADE_MAX) {
        return false;
    }
    float columns = sizes->count == 2 ? shape[1] : (float)from->count;
    if (!(columns >= 1 && columns <= MADE_MAX) || from->count == 0 ||
        from->count % (size_t)columns != 0) {
        return false;
    }
    const size_t whole[2] = {from->count / (size_t)columns, (size_t)columns};
    return is_reshaped(r, node, from, sizes->count == 2 ? whole : whole + 1, sizes->count);
}

/* Rows of a table from the last to the first. */
bool nn_onnx_read_constant_slice(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    const struct nn_file_tensor *from = nn_onnx_tensor_in(r, node, 0);
    const float *start = nn_onnx_numbers_in(r, node, 1, 1),
                *end = nn_onnx_numbers_in(r, node, 2, 1);
    const float *axis = nn_onnx_numbers_in(r, node, 3, 1), *by = nn_onnx_numbers_in(r, node, 4, 1);
    if (!from || from->rank != 2 || !start || !end || !axis || !by || start[0] != -1 ||
        end[0] > -2147483648.0F || axis[0] != 0 || by[0] != -1 || from->count > MADE_MAX) {
        return false;
    }
    size_t rows = from->shape[0], columns = from->shape[1];
    const float *values = nn_onnx_floats_of(r, from);
    float *out = nn_arena_alloc(r->arena, from->count + 1, sizeof *out);
    for (size_t i = 0; values && out && i < from->count; i++) {
        out[i] = values[(rows - 1 - i / columns) * columns + i % columns];
    }
    return values && is_constant(r, node, nn_onnx_made(r, from->name, from->shape, 2, out));
}

/* Types do not matter: numbers are read as what is needed. */
bool nn_onnx_read_constant_cast(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    return is_constant(r, node, nn_onnx_tensor_in(r, node, 0)) || nn_onnx_read_sizes(r, node);
}

bool nn_onnx_read_constant_transpose(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    const struct nn_file_tensor *tensor = nn_onnx_tensor_in(r, node, 0);
    if (!tensor || tensor->rank != 2) {
        return nn_onnx_lacks(r, "other than of a constant matrix, or of channels and states");
    }
    const struct nn_onnx_attribute *order = nn_onnx_attribute(node, "perm", NN_ONNX_INTS);
    bool turns = !order || (order->n == 2 && order->integers[0] == 1);
    return is_constant(r, node, turns ? nn_onnx_turned(r, tensor) : tensor);
}

/* Axes of one number behind, in front or between. */
bool nn_onnx_read_constant_unsqueeze(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    const struct nn_file_tensor *from = nn_onnx_tensor_in(r, node, 0);
    const struct nn_file_tensor *list = nn_onnx_tensor_in(r, node, 1);
    const float *axes = from && list && list->count <= NN_FILE_MAX_RANK - from->rank
                            ? nn_onnx_floats_of(r, list)
                            : NULL;
    size_t shape[NN_FILE_MAX_RANK] = {0}, next = 0;
    if (!axes) {
        return false;
    }
    size_t rank = from->rank + list->count;
    for (size_t i = 0; i < list->count; i++) {
        float axis = axes[i] < 0 ? axes[i] + (float)rank : axes[i];
        if (!(axis >= 0 && axis < (float)rank) || shape[(size_t)axis] == 1) {
            return false;
        }
        shape[(size_t)axis] = 1;
    }
    for (size_t i = 0; i < rank; i++) {
        shape[i] = shape[i] == 1 ? 1 : from->shape[next++];
    }
    return is_reshaped(r, node, from, shape, rank);
}
