/* SPDX-License-Identifier: MIT
 *
 * Parameters of a network while it is written as ONNX.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/exchange/onnx_write_internal.h"

static int by_name(const void *a, const void *b)
{
    const struct nn_file_tensor *x = a;
    const struct nn_file_tensor *y = b;
    return strcmp(x->name, y->name);
}

static const struct nn_file_tensor *find(const struct nn_onnx_writer *w,
                                         const struct nn_onnx_layer *layer, const char *suffix)
{
    char name[NN_ONNX_NAME_SIZE];
    (void)snprintf(name, sizeof name, "%s.%s", layer->name, suffix);
    const struct nn_file_tensor key = {.name = name};
    return w->n_tensors == 0 ? NULL
                             : bsearch(&key, w->tensors, w->n_tensors, sizeof *w->tensors, by_name);
}

bool nn_onnx_has_parameter(const struct nn_onnx_writer *w, const struct nn_onnx_layer *layer,
                           const char *suffix)
{
    return find(w, layer, suffix) != NULL;
}

/* Single precision is taken as it stands; anything else is converted. */
static const float *floats_of(struct nn_onnx_writer *w, const struct nn_file_tensor *from)
{
    if (from->dtype == NN_FILE_F32) {
        return from->data;
    }
    nn_real *values = nn_arena_alloc(w->arena, from->count + 1, sizeof *values);
    float *out = nn_arena_alloc(w->arena, from->count + 1, sizeof *out);
    if (!values || !out) {
        return NULL;
    }
    nn_file_tensor_read(from, values);
    for (size_t i = 0; i < from->count; i++) {
        out[i] = (float)values[i];
    }
    return out;
}

const float *nn_onnx_values(struct nn_onnx_writer *w, const struct nn_onnx_layer *layer,
                            const char *suffix, size_t count)
{
    const struct nn_file_tensor *from = find(w, layer, suffix);
    const float *values = from && from->count == count ? floats_of(w, from) : NULL;
    w->failed = w->failed || !values;
    return values;
}

void nn_onnx_parameter(struct nn_onnx_writer *w, const struct nn_onnx_layer *layer,
                       const char *suffix, char out[NN_ONNX_NAME_SIZE])
{
    const struct nn_file_tensor *from = find(w, layer, suffix);
    (void)snprintf(out, NN_ONNX_NAME_SIZE, "%s.%s", layer->name, suffix);
    if (!from) {
        w->failed = true;
        return;
    }
    nn_onnx_floats(w, out, from->shape, from->rank, floats_of(w, from));
}
