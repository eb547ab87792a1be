/* SPDX-License-Identifier: MIT
 *
 * Tensors while a graph is read: parameters of its layers, and constants that are computed with.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/exchange/onnx_read_internal.h"

static struct nn_file_tensor *tensor_new(struct nn_onnx_reader *r, size_t layer, const char *suffix)
{
    char name[NN_ONNX_LAYER_NAME_MAX + 32];
    if (r->n_tensors == r->room_tensors) {
        size_t room = 2 * r->room_tensors + 64;
        struct nn_file_tensor *grown = realloc(r->tensors, room * sizeof *grown);
        if (!grown) {
            r->status = NN_ERR_MEMORY;
            return NULL;
        }
        r->tensors = grown;
        r->room_tensors = room;
    }
    (void)snprintf(name, sizeof name, "%s.%s", nn_onnx_layer_name(r, layer), suffix);
    const char *kept = nn_arena_text(r->arena, name);
    if (!kept) {
        r->status = NN_ERR_MEMORY;
        return NULL;
    }
    struct nn_file_tensor *tensor = &r->tensors[r->n_tensors++];
    *tensor = (struct nn_file_tensor){.name = kept};
    return tensor;
}

void nn_onnx_add_tensor(struct nn_onnx_reader *r, size_t layer, const char *suffix,
                        const struct nn_file_tensor *tensor)
{
    struct nn_file_tensor *to = tensor_new(r, layer, suffix);
    if (to) {
        const char *name = to->name;
        *to = *tensor;
        to->name = name;
    }
}

bool nn_onnx_tensor_of(const struct nn_onnx_reader *r, size_t layer, const char *suffix,
                       struct nn_file_tensor *out)
{
    char name[NN_ONNX_LAYER_NAME_MAX + 32];
    (void)snprintf(name, sizeof name, "%s.%s", nn_onnx_layer_name(r, layer), suffix);
    for (size_t i = 0; i < r->n_tensors; i++) {
        if (strcmp(r->tensors[i].name, name) == 0) {
            *out = r->tensors[i];
            return true;
        }
    }
    return false;
}

static void describe(struct nn_file_tensor *tensor, const size_t *shape, size_t rank,
                     const float *values)
{
    tensor->dtype = NN_FILE_F32;
    tensor->rank = rank;
    tensor->count = 1;
    for (size_t i = 0; i < rank; i++) {
        tensor->shape[i] = shape[i];
        tensor->count *= shape[i];
    }
    tensor->data = values;
    tensor->bytes = tensor->count * sizeof *values;
}

void nn_onnx_add_floats(struct nn_onnx_reader *r, size_t layer, const char *suffix,
                        const size_t *shape, size_t rank, const float *values)
{
    struct nn_file_tensor *to = values ? tensor_new(r, layer, suffix) : NULL;
    if (to) {
        describe(to, shape, rank, values);
    } else {
        r->status = NN_ERR_MEMORY;
    }
}

float *nn_onnx_floats_of(struct nn_onnx_reader *r, const struct nn_file_tensor *tensor)
{
    nn_real *values = nn_arena_alloc(r->arena, tensor->count + 1, sizeof *values);
    float *out = nn_arena_alloc(r->arena, tensor->count + 1, sizeof *out);
    if (!values || !out) {
        r->status = NN_ERR_MEMORY;
        return NULL;
    }
    nn_file_tensor_read(tensor, values);
    for (size_t i = 0; i < tensor->count; i++) {
        out[i] = (float)values[i];
    }
    return out;
}

bool nn_onnx_number(struct nn_onnx_reader *r, const struct nn_file_tensor *tensor, double *out)
{
    const float *values = tensor && tensor->count == 1 ? nn_onnx_floats_of(r, tensor) : NULL;
    if (!values || !isfinite(values[0])) {
        return false;
    }
    *out = (double)values[0];
    return true;
}

const struct nn_file_tensor *nn_onnx_made(struct nn_onnx_reader *r, const char *name,
                                          const size_t *shape, size_t rank, const float *values)
{
    struct nn_file_tensor *out = nn_arena_alloc(r->arena, 1, sizeof *out);
    if (!out || !values) {
        r->status = NN_ERR_MEMORY;
        return NULL;
    }
    out->name = name;
    describe(out, shape, rank, values);
    return out;
}

const struct nn_file_tensor *nn_onnx_turned(struct nn_onnx_reader *r,
                                            const struct nn_file_tensor *tensor)
{
    size_t rows = tensor->shape[0], columns = tensor->shape[1];
    const float *from = nn_onnx_floats_of(r, tensor);
    float *values = nn_arena_alloc(r->arena, tensor->count + 1, sizeof *values);
    for (size_t i = 0; from && values && i < tensor->count; i++) {
        values[i % columns * rows + i / columns] = from[i];
    }
    return from ? nn_onnx_made(r, tensor->name, (const size_t[]){columns, rows}, 2, values) : NULL;
}
