/* SPDX-License-Identifier: MIT
 *
 * ONNX test cases: the protobuf wire format (varints, fixed 32 and 64, lengths) and the few
 * messages of onnx.proto that they are made of; field numbers as there.
 */
#include "tests/support/onnx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct message {
    const unsigned char *at, *end;
};

struct field {
    unsigned number, wire;
    uint64_t value;      /* varint or fixed */
    struct message text; /* of a length */
};

static uint64_t varint(struct message *m)
{
    uint64_t value = 0;
    for (unsigned shift = 0; m->at < m->end && shift < 64; shift += 7) {
        unsigned char byte = *m->at++;
        value |= (uint64_t)(byte & 127) << shift;
        if (byte < 128) {
            break;
        }
    }
    return value;
}

static uint64_t fixed(struct message *m, size_t n)
{
    uint64_t value = 0;
    for (size_t i = 0; i < n && m->at < m->end; i++) {
        value |= (uint64_t)*m->at++ << (8 * i);
    }
    return value;
}

static bool next(struct message *m, struct field *out)
{
    if (m->at >= m->end) {
        return false;
    }
    uint64_t tag = varint(m);
    *out = (struct field){.number = (unsigned)(tag >> 3), .wire = (unsigned)(tag & 7)};
    if (out->wire == 0) {
        out->value = varint(m);
    } else if (out->wire == 1 || out->wire == 5) {
        out->value = fixed(m, out->wire == 1 ? 8 : 4);
    } else {
        size_t size = (size_t)varint(m), left = (size_t)(m->end - m->at);
        size = size < left ? size : left;
        out->text = (struct message){m->at, m->at + size};
        m->at += size;
    }
    return true;
}

static void text_copy(struct message text, char *out, size_t size)
{
    (void)snprintf(out, size, "%.*s", (int)(text.end - text.at), (const char *)text.at);
}

static double float_of(uint64_t bits)
{
    uint32_t low = (uint32_t)bits;
    float value;
    memcpy(&value, &low, sizeof value);
    return (double)value;
}

/* A repeated integer, packed or not: calls for each. */
static void integers_add(const struct field *f, int64_t *out, size_t most, size_t *n)
{
    struct message packed = f->text;
    if (f->wire == 0 && *n < most) {
        out[(*n)++] = (int64_t)f->value;
    }
    while (f->wire == 2 && packed.at < packed.end && *n < most) {
        out[(*n)++] = (int64_t)varint(&packed);
    }
}

/* ---- tensors ---- */

/* raw_data or packed float_data: both are little-endian floats in a row. */
static void floats_take(struct message bytes, struct onnx_tensor *out)
{
    size_t size = (size_t)(bytes.end - bytes.at);
    free(out->values);
    out->values = malloc(size + sizeof(float));
    if (out->values) {
        memcpy(out->values, bytes.at, size);
    }
}

static struct onnx_tensor tensor_read(struct message m)
{
    struct onnx_tensor tensor = {.count = 1};
    struct message data = {0};
    int64_t dims[ONNX_RANK_MAX];
    struct field f;
    while (next(&m, &f)) {
        if (f.number == 1) {
            integers_add(&f, dims, ONNX_RANK_MAX, &tensor.rank);
        } else if (f.number == 2) {
            tensor.type = (int)f.value;
        } else if (f.number == 8) {
            text_copy(f.text, tensor.name, sizeof tensor.name);
        } else if ((f.number == 9 || f.number == 4) && f.wire == 2) { /* raw or packed */
            data = f.text;
        }
    }
    for (size_t i = 0; i < tensor.rank; i++) {
        tensor.dims[i] = (size_t)dims[i];
        tensor.count *= tensor.dims[i];
    }
    if (tensor.type == 1 && (size_t)(data.end - data.at) == tensor.count * sizeof(float)) {
        floats_take(data, &tensor);
    }
    while (tensor.type == 7 && data.at < data.end && tensor.n_integers < ONNX_RANK_MAX) {
        tensor.integers[tensor.n_integers++] = (int64_t)fixed(&data, sizeof(int64_t));
    }
    return tensor;
}

/* A whole file; *out_bytes to be freed. */
static bool file_read(const char *directory, const char *name, unsigned char **out_bytes,
                      struct message *out)
{
    char path[1024];
    (void)snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0) {
        return false;
    }
    size_t size = (size_t)ftell(file);
    *out_bytes = malloc(size + 1);
    rewind(file);
    bool fine = *out_bytes && fread(*out_bytes, 1, size, file) == size;
    (void)fclose(file);
    *out = (struct message){*out_bytes, *out_bytes + size};
    return fine;
}

static struct onnx_tensor tensor_file(const char *directory, const char *kind, size_t i)
{
    char name[64];
    unsigned char *bytes = NULL;
    struct message m;
    struct onnx_tensor tensor = {0};
    (void)snprintf(name, sizeof name, "test_data_set_0/%s_%zu.pb", kind, i);
    if (file_read(directory, name, &bytes, &m)) {
        tensor = tensor_read(m);
    }
    free(bytes);
    return tensor;
}

/* ---- the node ---- */

static struct onnx_attribute attribute_read(struct message m)
{
    struct onnx_attribute a = {.n_integers = 0};
    struct field f;
    while (next(&m, &f)) {
        if (f.number == 1) {
            text_copy(f.text, a.name, sizeof a.name);
        } else if (f.number == 2) {
            a.real = float_of(f.value);
        } else if (f.number == 3) {
            a.integer = (int64_t)f.value;
        } else if (f.number == 4) {
            text_copy(f.text, a.text, sizeof a.text);
        } else if (f.number == 8) {
            integers_add(&f, a.integers, ONNX_RANK_MAX, &a.n_integers);
        }
    }
    return a;
}

static void node_read(struct message m, struct onnx_case *out)
{
    struct field f;
    while (next(&m, &f)) {
        if (f.number == 1 && out->n_inputs < ONNX_INPUTS_MAX) {
            text_copy(f.text, out->inputs[out->n_inputs++].name, sizeof out->inputs->name);
        } else if (f.number == 2) {
            out->n_outputs++;
        } else if (f.number == 4) {
            text_copy(f.text, out->op, sizeof out->op);
        } else if (f.number == 5 && out->n_attributes < ONNX_ATTRIBUTES_MAX) {
            out->attributes[out->n_attributes++] = attribute_read(f.text);
        }
    }
}

/* Gives the inputs that are initialisers their values. */
static void initializer_take(struct message m, struct onnx_case *out)
{
    struct onnx_tensor tensor = tensor_read(m);
    for (size_t i = 0; i < out->n_inputs; i++) {
        if (strcmp(out->inputs[i].name, tensor.name) == 0 && !out->inputs[i].values) {
            out->inputs[i] = tensor;
            return;
        }
    }
    free(tensor.values);
}

static void graph_read(struct message m, struct onnx_case *out)
{
    struct field f;
    for (struct message at = m; next(&at, &f);) {
        if (f.number == 1) {
            out->n_nodes++;
            if (out->n_nodes == 1) {
                node_read(f.text, out);
            }
        }
    }
    for (struct message at = m; next(&at, &f);) {
        if (f.number == 5) {
            initializer_take(f.text, out);
        }
    }
}

bool onnx_case_read(const char *directory, struct onnx_case *out)
{
    unsigned char *bytes = NULL;
    struct message m;
    struct field f;
    *out = (struct onnx_case){.n_nodes = 0};
    if (!file_read(directory, "model.onnx", &bytes, &m)) {
        return false;
    }
    while (next(&m, &f)) {
        if (f.number == 7) {
            graph_read(f.text, out);
        }
    }
    free(bytes);
    size_t file = 0;
    for (size_t i = 0; i < out->n_inputs; i++) {
        if (!out->inputs[i].values && out->inputs[i].name[0] != '\0') {
            out->inputs[i] = tensor_file(directory, "input", file++);
        }
    }
    out->output = tensor_file(directory, "output", 0);
    return out->n_nodes > 0;
}

void onnx_case_free(struct onnx_case *c)
{
    for (size_t i = 0; i < ONNX_INPUTS_MAX; i++) {
        free(c->inputs[i].values);
    }
    free(c->output.values);
}

const struct onnx_attribute *onnx_attribute(const struct onnx_case *c, const char *name)
{
    for (size_t i = 0; i < c->n_attributes; i++) {
        if (strcmp(c->attributes[i].name, name) == 0) {
            return &c->attributes[i];
        }
    }
    return NULL;
}

int64_t onnx_integer(const struct onnx_case *c, const char *name, int64_t fallback)
{
    const struct onnx_attribute *a = onnx_attribute(c, name);
    return a ? a->integer : fallback;
}
