/* SPDX-License-Identifier: MIT
 *
 * Messages of protocol buffers as they are written: fields, nodes, tensors.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/exchange/onnx_write_internal.h"

/* ---- bytes ---- */

void nn_bytes_put(struct nn_bytes *to, const void *data, size_t n)
{
    if (to->failed || n == 0) {
        return;
    }
    if (n > to->room - to->size) {
        size_t room = 2 * (to->size + n);
        unsigned char *grown = realloc(to->data, room);
        if (!grown) {
            to->failed = true;
            return;
        }
        to->data = grown;
        to->room = room;
    }
    memcpy(to->data + to->size, data, n);
    to->size += n;
}

void nn_bytes_deinit(struct nn_bytes *bytes)
{
    free(bytes->data);
    *bytes = (struct nn_bytes){0};
}

static void varint(struct nn_bytes *to, uint64_t value)
{
    do {
        unsigned char byte = (unsigned char)((value & 127) | (value > 127 ? 128 : 0));
        nn_bytes_put(to, &byte, 1);
        value >>= 7;
    } while (value > 0);
}

void nn_bytes_int(struct nn_bytes *to, unsigned field, uint64_t value)
{
    varint(to, (uint64_t)field << 3);
    varint(to, value);
}

void nn_bytes_head(struct nn_bytes *to, unsigned field, size_t n)
{
    varint(to, (uint64_t)field << 3 | 2);
    varint(to, n);
}

void nn_bytes_text(struct nn_bytes *to, unsigned field, const void *text, size_t n)
{
    nn_bytes_head(to, field, n);
    nn_bytes_put(to, text, n);
}

void nn_bytes_real(struct nn_bytes *to, unsigned field, float value)
{
    varint(to, (uint64_t)field << 3 | 5);
    nn_bytes_put(to, &value, sizeof value); /* little endian, as this machine */
}

static void text(struct nn_bytes *to, unsigned field, const char *value)
{
    nn_bytes_text(to, field, value, strlen(value));
}

/* ---- nodes; field numbers of NodeProto and AttributeProto ---- */

void nn_onnx_begin(struct nn_onnx_writer *w, const char *op, const char *name)
{
    w->node.size = 0;
    text(&w->node, 4, op);
    text(&w->node, 3, name);
}

void nn_onnx_in(struct nn_onnx_writer *w, const char *value)
{
    text(&w->node, 1, value);
}

void nn_onnx_out(struct nn_onnx_writer *w, const char *value)
{
    text(&w->node, 2, value);
}

static void attribute_end(struct nn_onnx_writer *w, const char *name, enum nn_onnx_type type)
{
    text(&w->attribute, 1, name);
    nn_bytes_int(&w->attribute, 20, (uint64_t)type);
    nn_bytes_text(&w->node, 5, w->attribute.data, w->attribute.size);
    w->node.failed = w->node.failed || w->attribute.failed;
    w->attribute.size = 0;
}

void nn_onnx_int(struct nn_onnx_writer *w, const char *name, int64_t value)
{
    nn_bytes_int(&w->attribute, 3, (uint64_t)value);
    attribute_end(w, name, NN_ONNX_INT);
}

void nn_onnx_ints(struct nn_onnx_writer *w, const char *name, const int64_t *values, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        nn_bytes_int(&w->attribute, 8, (uint64_t)values[i]);
    }
    attribute_end(w, name, NN_ONNX_INTS);
}

void nn_onnx_real(struct nn_onnx_writer *w, const char *name, double value)
{
    nn_bytes_real(&w->attribute, 2, (float)value);
    attribute_end(w, name, NN_ONNX_FLOAT);
}

void nn_onnx_string(struct nn_onnx_writer *w, const char *name, const char *value)
{
    text(&w->attribute, 4, value);
    attribute_end(w, name, NN_ONNX_STRING);
}

void nn_onnx_end(struct nn_onnx_writer *w)
{
    nn_bytes_text(&w->nodes, 1, w->node.data, w->node.size); /* GraphProto.node */
    w->nodes.failed = w->nodes.failed || w->node.failed;
}

void nn_onnx_simple(struct nn_onnx_writer *w, const char *op, const char *first, const char *second,
                    const char *out)
{
    nn_onnx_begin(w, op, out);
    nn_onnx_in(w, first);
    if (second) {
        nn_onnx_in(w, second);
    }
    nn_onnx_out(w, out);
    nn_onnx_end(w);
}

void nn_onnx_inner(const struct nn_onnx_layer *layer, const char *what, char out[NN_ONNX_NAME_SIZE])
{
    (void)snprintf(out, NN_ONNX_NAME_SIZE, "%s/%s", layer->name, what);
}

void nn_onnx_step(struct nn_onnx_writer *w, const struct nn_onnx_layer *layer, const char *op,
                  const char *first, const char *second, const char *what,
                  char out[NN_ONNX_NAME_SIZE])
{
    char name[NN_ONNX_NAME_SIZE];
    nn_onnx_inner(layer, what, name);
    nn_onnx_simple(w, op, first, second, name);
    (void)strcpy(out, name);
}

void nn_onnx_transpose(struct nn_onnx_writer *w, const char *from, const int64_t *order, size_t n,
                       const char *out)
{
    nn_onnx_begin(w, "Transpose", out);
    nn_onnx_in(w, from);
    nn_onnx_out(w, out);
    nn_onnx_ints(w, "perm", order, n);
    nn_onnx_end(w);
}

/* ---- tensors; field numbers of TensorProto and GraphProto ---- */

static void piece(struct nn_onnx_writer *w, const void *data, size_t size)
{
    if (w->n_pieces == w->room_pieces) {
        size_t room = 2 * w->room_pieces + 64;
        struct nn_onnx_piece *grown = realloc(w->pieces, room * sizeof *grown);
        if (!grown) {
            w->failed = true;
            return;
        }
        w->pieces = grown;
        w->room_pieces = room;
    }
    w->pieces[w->n_pieces++] = (struct nn_onnx_piece){data, size};
}

/* raw_data comes last, so that all before it is one head. */
static void tensor(struct nn_onnx_writer *w, const char *name, int type, const size_t *shape,
                   size_t rank, const void *data, size_t bytes)
{
    struct nn_bytes head = {0};
    for (size_t i = 0; i < rank; i++) {
        nn_bytes_int(&head, 1, shape[i]);
    }
    nn_bytes_int(&head, 2, (uint64_t)type);
    text(&head, 8, name);
    nn_bytes_head(&head, 9, bytes);
    size_t before = w->heads.size;
    nn_bytes_head(&w->heads, 5, head.size + bytes);
    nn_bytes_put(&w->heads, head.data, head.size);
    w->heads.failed = w->heads.failed || head.failed;
    piece(w, NULL, w->heads.size - before);
    piece(w, data, bytes);
    nn_bytes_deinit(&head);
}

void nn_onnx_floats(struct nn_onnx_writer *w, const char *name, const size_t *shape, size_t rank,
                    const float *values)
{
    size_t bytes = sizeof *values;
    for (size_t i = 0; i < rank; i++) {
        bytes *= shape[i]; /* of parameters that are in memory */
    }
    if (!values) {
        w->failed = true;
        return;
    }
    tensor(w, name, 1, shape, rank, values, bytes);
}

void nn_onnx_scalar(struct nn_onnx_writer *w, const char *name, float value)
{
    float *kept = nn_arena_alloc(w->arena, 1, sizeof *kept);
    if (kept) {
        *kept = value;
    }
    nn_onnx_floats(w, name, NULL, 0, kept);
}

void nn_onnx_index(struct nn_onnx_writer *w, const char *name, int64_t value)
{
    int64_t *kept = nn_arena_alloc(w->arena, 1, sizeof *kept);
    if (!kept) {
        w->failed = true;
        return;
    }
    *kept = value;
    tensor(w, name, 7, NULL, 0, kept, sizeof *kept);
}

void nn_onnx_axes(struct nn_onnx_writer *w, const char *name, const int64_t *values, size_t n)
{
    int64_t *kept = nn_arena_alloc(w->arena, n, sizeof *kept);
    if (!kept) {
        w->failed = true;
        return;
    }
    memcpy(kept, values, n * sizeof *kept);
    tensor(w, name, 7, &n, 1, kept, n * sizeof *kept);
}
