/* SPDX-License-Identifier: MIT
 *
 * NodeProto and AttributeProto.
 */
#include <string.h>

#include "core/files/onnx_internal.h"

enum { MOST_PARTS = 1 << 18 }; /* names and attributes of a whole graph */

enum { INPUT = 1, OUTPUT = 2, NODE_NAME = 3, OP_TYPE = 4, ATTRIBUTE = 5, DOMAIN = 7 };
enum { NAME = 1, F = 2, I = 3, S = 4, T = 5, FLOATS = 7, INTS = 8, STRINGS = 9, TYPE = 20 };

/* Room for the n texts of one field number. */
static enum nn_status read_texts(struct nn_onnx *file, struct nn_pb message, uint32_t number,
                                 const char *const **out, size_t *out_n, struct nn_error *err)
{
    struct nn_pb_field f;
    void *memory;
    size_t n, i = 0;
    enum nn_status status = nn_onnx_fields(message, number, &n, err);
    if (status == NN_OK && n > MOST_PARTS - file->n_parts) {
        return nn_fail(err, NN_ERR_LIMIT, "the graph is too large");
    }
    status = status == NN_OK ? nn_onnx_memory(file, n + 1, sizeof(char *), &memory, err) : status;
    if (status != NN_OK) {
        return status;
    }
    file->n_parts += n;
    const char **texts = memory;
    while (status == NN_OK && nn_pb_next(&message, &f) == NN_PB_FIELD) {
        if (f.number == number) {
            status = nn_onnx_text(file, &f, "a name in the graph", &texts[i++], err);
        }
    }
    *out = texts;
    *out_n = n;
    return status;
}

/* ---- attributes ---- */

static double real_of(uint64_t bits)
{
    uint32_t low = (uint32_t)bits;
    float value;
    memcpy(&value, &low, sizeof value);
    return (double)value;
}

static enum nn_status read_numbers(struct nn_onnx *file, struct nn_pb message, bool reals,
                                   struct nn_onnx_attribute *out, struct nn_error *err)
{
    uint32_t number = reals ? FLOATS : INTS;
    enum nn_pb_wire wire = reals ? NN_PB_FIXED32 : NN_PB_VARINT;
    size_t each = reals ? sizeof(float) : sizeof(int64_t);
    void *memory;
    enum nn_status status = nn_onnx_count(message, number, wire, &out->n, err);
    if (status == NN_OK) {
        status = nn_onnx_memory(file, out->n + 1, each, &memory, err);
    }
    if (status != NN_OK) {
        return status;
    }
    nn_onnx_gather(message, number, wire, each, memory);
    out->reals = reals ? memory : NULL;
    out->integers = reals ? NULL : memory;
    return NN_OK;
}

static enum nn_status read_tensor(struct nn_onnx *file, struct nn_pb bytes,
                                  struct nn_onnx_attribute *out, struct nn_error *err)
{
    void *memory;
    enum nn_status status = nn_onnx_memory(file, 1, sizeof *out->tensor, &memory, err);
    if (status == NN_OK) {
        out->tensor = memory;
        status = nn_onnx_read_tensor(file, bytes, memory, err);
    }
    return status;
}

/* One field of an attribute; lists are read afterwards. */
static enum nn_status take_field(struct nn_onnx *file, const struct nn_pb_field *f,
                                 struct nn_onnx_attribute *out, struct nn_error *err)
{
    if (f->number == NAME) {
        return nn_onnx_text(file, f, "an attribute's name", &out->name, err);
    }
    if (f->number == S && f->wire == NN_PB_BYTES) {
        /* bytes of any kind: read as a text where it is one */
        struct nn_error unread = {0};
        return nn_onnx_text(file, f, "a text", &out->text, &unread) == NN_ERR_MEMORY
                   ? nn_fail(err, NN_ERR_MEMORY, "no memory for the graph")
                   : NN_OK;
    }
    if (f->number == T && f->wire == NN_PB_BYTES) {
        return read_tensor(file, f->bytes, out, err);
    }
    if (f->number == F && f->wire == NN_PB_FIXED32) {
        out->real = real_of(f->value);
    } else if (f->number == I && f->wire == NN_PB_VARINT) {
        out->integer = (int64_t)f->value;
    }
    return NN_OK;
}

/* Files of the oldest versions leave the type out. */
static enum nn_status read_lists(struct nn_onnx *file, struct nn_pb message, uint64_t type,
                                 struct nn_onnx_attribute *out, struct nn_error *err)
{
    switch (type) {
    case NN_ONNX_FLOATS:
    case NN_ONNX_INTS:
        return read_numbers(file, message, type == NN_ONNX_FLOATS, out, err);
    case NN_ONNX_STRINGS:
        return read_texts(file, message, STRINGS, &out->texts, &out->n, err);
    default:
        return NN_OK;
    }
}

static enum nn_onnx_type type_of(uint64_t type, const struct nn_onnx_attribute *attribute)
{
    bool read = (type >= NN_ONNX_FLOAT && type <= NN_ONNX_TENSOR) ||
                (type >= NN_ONNX_FLOATS && type <= NN_ONNX_STRINGS);
    if (!read || (type == NN_ONNX_TENSOR && !attribute->tensor) ||
        (type == NN_ONNX_STRING && !attribute->text)) {
        return NN_ONNX_OTHER;
    }
    return (enum nn_onnx_type)type;
}

static enum nn_status read_attribute(struct nn_onnx *file, struct nn_pb message,
                                     struct nn_onnx_attribute *out, struct nn_error *err)
{
    struct nn_pb_field f;
    enum nn_pb_step step;
    enum nn_status status = NN_OK;
    uint64_t type = 0;
    *out = (struct nn_onnx_attribute){.name = ""};
    for (struct nn_pb at = message; status == NN_OK && (step = nn_pb_next(&at, &f)) != NN_PB_END;) {
        if (step == NN_PB_BROKEN) {
            return nn_onnx_broken("an attribute", err);
        }
        if (f.number == TYPE && f.wire == NN_PB_VARINT) {
            type = f.value;
        } else {
            status = take_field(file, &f, out, err);
        }
    }
    status = status == NN_OK ? read_lists(file, message, type, out, err) : status;
    out->type = type_of(type, out);
    return status;
}

static enum nn_status read_attributes(struct nn_onnx *file, struct nn_pb message,
                                      struct nn_onnx_node *out, struct nn_error *err)
{
    struct nn_pb_field f;
    void *memory;
    size_t n, i = 0;
    enum nn_status status = nn_onnx_fields(message, ATTRIBUTE, &n, err);
    if (status == NN_OK && n > MOST_PARTS - file->n_parts) {
        return nn_fail(err, NN_ERR_LIMIT, "the graph is too large");
    }
    if (status == NN_OK) {
        status = nn_onnx_memory(file, n + 1, sizeof *out->attributes, &memory, err);
    }
    if (status != NN_OK) {
        return status;
    }
    file->n_parts += n;
    struct nn_onnx_attribute *attributes = memory;
    out->attributes = attributes;
    out->n_attributes = n;
    while (status == NN_OK && nn_pb_next(&message, &f) == NN_PB_FIELD) {
        if (f.number == ATTRIBUTE) {
            status = f.wire == NN_PB_BYTES ? read_attribute(file, f.bytes, &attributes[i++], err)
                                           : nn_onnx_broken("a node", err);
        }
    }
    return status;
}

/* ---- nodes ---- */

static enum nn_status read_names(struct nn_onnx *file, struct nn_pb message,
                                 struct nn_onnx_node *out, struct nn_error *err)
{
    struct nn_pb_field f;
    enum nn_status status = NN_OK;
    while (status == NN_OK && nn_pb_next(&message, &f) == NN_PB_FIELD) {
        if (f.number == NODE_NAME) {
            status = nn_onnx_text(file, &f, "a node's name", &out->name, err);
        } else if (f.number == OP_TYPE) {
            status = nn_onnx_text(file, &f, "an operator's name", &out->op, err);
        } else if (f.number == DOMAIN) {
            status = nn_onnx_text(file, &f, "an operator's domain", &out->domain, err);
        }
    }
    if (strcmp(out->domain, "ai.onnx") == 0) {
        out->domain = "";
    }
    return status;
}

enum nn_status nn_onnx_read_node(struct nn_onnx *file, struct nn_pb message,
                                 struct nn_onnx_node *out, struct nn_error *err)
{
    *out = (struct nn_onnx_node){.name = "", .op = "", .domain = ""};
    enum nn_status status = read_texts(file, message, INPUT, &out->inputs, &out->n_inputs, err);
    if (status == NN_OK) {
        status = read_texts(file, message, OUTPUT, &out->outputs, &out->n_outputs, err);
    }
    status = status == NN_OK ? read_names(file, message, out, err) : status;
    return status == NN_OK ? read_attributes(file, message, out, err) : status;
}

const struct nn_onnx_attribute *nn_onnx_attribute(const struct nn_onnx_node *node, const char *name,
                                                  enum nn_onnx_type type)
{
    for (size_t i = 0; i < node->n_attributes; i++) {
        if (node->attributes[i].type == type && strcmp(node->attributes[i].name, name) == 0) {
            return &node->attributes[i];
        }
    }
    return NULL;
}
