/* SPDX-License-Identifier: MIT
 *
 * ModelProto and GraphProto: what there is is counted first, then read into one arena.
 */
#include "core/files/onnx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/files/dtype_internal.h"
#include "core/files/onnx_internal.h"
#include "core/json/json.h"

enum { MOST_NODES = 65536, MOST_VALUES = 4096 };

/* Field numbers of onnx.proto. */
enum { IR_VERSION = 1, PRODUCER = 2, PRODUCER_VERSION = 3, GRAPH = 7, OPSET = 8, METADATA = 14 };
enum { FUNCTIONS = 25 };
enum { NODE = 1, INITIALIZER = 5, INPUT = 11, OUTPUT = 12, SPARSE_INITIALIZER = 15 };

bool nn_onnx_is(const void *bytes, size_t n)
{
    const unsigned char *b = bytes;
    /* ir_version first, then a field of the model: of a safetensors file these are a length's */
    return n >= 4 && b[0] == 8 && b[1] > 0 && b[1] < 128 && b[2] != 0 && (b[2] & 7) != 1 &&
           (b[2] & 7) != 5 && b[2] >> 3 <= FUNCTIONS;
}

/* ---- helpers of all messages ---- */

enum nn_status nn_onnx_broken(const char *what, struct nn_error *err)
{
    return nn_fail(err, NN_ERR_INVALID, "the ONNX file is broken: %s is not whole", what);
}

enum nn_status nn_onnx_memory(struct nn_onnx *file, size_t n, size_t size, void **out,
                              struct nn_error *err)
{
    *out = nn_arena_alloc(file->arena, n, size);
    return *out ? NN_OK : nn_fail(err, NN_ERR_MEMORY, "no memory for the graph");
}

enum nn_status nn_onnx_text(struct nn_onnx *file, const struct nn_pb_field *field, const char *what,
                            const char **out, struct nn_error *err)
{
    size_t size = nn_pb_size(field->bytes);
    const char *text = (const char *)field->bytes.at;
    *out = "";
    if (field->wire != NN_PB_BYTES) {
        return nn_onnx_broken(what, err);
    }
    if (size == 0) {
        return NN_OK;
    }
    json_t *copy = nn_file_name_is_clean(text, size) ? json_stringn(text, size) : NULL;
    if (!copy) {
        return nn_fail(err, NN_ERR_INVALID,
                       "%s is no text, longer than %d bytes or holds control characters", what,
                       (int)NN_FILE_NAME_MAX);
    }
    *out = nn_arena_text(file->arena, json_string_value(copy));
    json_decref(copy);
    return *out ? NN_OK : nn_fail(err, NN_ERR_MEMORY, "no memory for the graph");
}

enum nn_status nn_onnx_fields(struct nn_pb message, uint32_t number, size_t *out,
                              struct nn_error *err)
{
    struct nn_pb_field f;
    enum nn_pb_step step;
    *out = 0;
    while ((step = nn_pb_next(&message, &f)) == NN_PB_FIELD) {
        *out += f.number == number;
    }
    return step == NN_PB_END ? NN_OK : nn_onnx_broken("a message", err);
}

enum nn_status nn_onnx_count(struct nn_pb message, uint32_t number, enum nn_pb_wire wire,
                             size_t *out, struct nn_error *err)
{
    struct nn_pb_field f;
    enum nn_pb_step step;
    size_t n;
    *out = 0;
    while ((step = nn_pb_next(&message, &f)) == NN_PB_FIELD) {
        if (f.number == number) {
            if (!nn_pb_count(&f, wire, &n)) {
                return nn_onnx_broken("a list of numbers", err);
            }
            *out += n; /* each takes a byte of the file */
        }
    }
    return step == NN_PB_END ? NN_OK : nn_onnx_broken("a message", err);
}

static unsigned char *put(uint64_t value, size_t each, unsigned char *out)
{
    memcpy(out, &value, each); /* little endian, as this machine */
    return out + each;
}

void nn_onnx_gather(struct nn_pb message, uint32_t number, enum nn_pb_wire wire, size_t each,
                    unsigned char *out)
{
    struct nn_pb_field f;
    uint64_t value;
    while (nn_pb_next(&message, &f) == NN_PB_FIELD) {
        if (f.number != number) {
            continue;
        }
        if (f.wire == wire) {
            out = put(f.value, each, out);
        } else if (wire != NN_PB_VARINT) {
            memcpy(out, f.bytes.at, nn_pb_size(f.bytes));
            out += nn_pb_size(f.bytes);
        } else {
            while (f.bytes.at < f.bytes.end && nn_pb_varint(&f.bytes, &value)) {
                out = put(value, each, out);
            }
        }
    }
}

/* ---- inputs and outputs of the graph ---- */

/* The bytes of a message's last field of a number; empty when there is none. */
static struct nn_pb member(struct nn_pb message, uint32_t number)
{
    struct nn_pb_field f;
    struct nn_pb found = {0};
    while (nn_pb_next(&message, &f) == NN_PB_FIELD) {
        if (f.number == number && f.wire == NN_PB_BYTES) {
            found = f.bytes;
        }
    }
    return found;
}

/* TensorShapeProto: dimensions, each a number, a name or nothing. */
static void read_shape(struct nn_pb shape, struct nn_onnx_value *out)
{
    struct nn_pb_field f, size;
    out->has_shape = shape.at != NULL;
    while (nn_pb_next(&shape, &f) == NN_PB_FIELD) {
        if (f.number != 1 || f.wire != NN_PB_BYTES) {
            continue;
        }
        if (out->rank == NN_FILE_MAX_RANK) {
            out->has_shape = false;
            return;
        }
        int64_t *dim = &out->dims[out->rank++];
        *dim = -1;
        while (nn_pb_next(&f.bytes, &size) == NN_PB_FIELD) {
            if (size.number == 1 && size.wire == NN_PB_VARINT && size.value <= INT64_MAX) {
                *dim = (int64_t)size.value;
            }
        }
    }
}

/* ValueInfoProto {name 1, type 2 {tensor_type 1 {elem_type 1, shape 2}}}. */
static enum nn_status read_value(struct nn_onnx *file, struct nn_pb message,
                                 struct nn_onnx_value *out, struct nn_error *err)
{
    struct nn_pb_field name = {.number = 1, .wire = NN_PB_BYTES, .bytes = member(message, 1)};
    *out = (struct nn_onnx_value){.name = ""};
    read_shape(member(member(member(message, 2), 1), 2), out);
    return nn_onnx_text(file, &name, "the name of an input or output", &out->name, err);
}

static int by_text(const void *a, const void *b)
{
    const char *const *x = a;
    const char *const *y = b;
    return strcmp(*x, *y);
}

/* The names of the initialisers, ordered: older files list them among the inputs. */
static enum nn_status order_names(struct nn_onnx *file, struct nn_error *err)
{
    void *memory;
    enum nn_status status =
        nn_onnx_memory(file, file->model.n_tensors + 1, sizeof *file->names, &memory, err);
    if (status != NN_OK) {
        return status;
    }
    file->names = memory;
    for (size_t i = 0; i < file->model.n_tensors; i++) {
        file->names[i] = file->model.tensors[i].name;
    }
    qsort(file->names, file->model.n_tensors, sizeof *file->names, by_text);
    return NN_OK;
}

static bool is_initializer(const struct nn_onnx *file, const char *name)
{
    return bsearch(&name, file->names, file->model.n_tensors, sizeof *file->names, by_text) != NULL;
}

static enum nn_status read_values(struct nn_onnx *file, struct nn_pb graph, uint32_t number,
                                  const struct nn_onnx_value **out, size_t *out_n,
                                  struct nn_error *err)
{
    struct nn_pb_field f;
    void *memory;
    size_t n, kept = 0;
    enum nn_status status = nn_onnx_fields(graph, number, &n, err);
    if (status == NN_OK && n > file->model.n_tensors + MOST_VALUES) {
        return nn_fail(err, NN_ERR_LIMIT, "the graph has %zu inputs or outputs", n);
    }
    status = status == NN_OK ? nn_onnx_memory(file, n + 1, sizeof **out, &memory, err) : status;
    if (status != NN_OK) {
        return status;
    }
    struct nn_onnx_value *values = memory;
    while (status == NN_OK && nn_pb_next(&graph, &f) == NN_PB_FIELD) {
        if (f.number == number && f.wire == NN_PB_BYTES) {
            status = read_value(file, f.bytes, &values[kept], err);
            kept += number == OUTPUT || !is_initializer(file, values[kept].name);
            if (kept > MOST_VALUES) {
                return nn_fail(err, NN_ERR_LIMIT, "the graph has too many inputs or outputs");
            }
        }
    }
    *out = values;
    *out_n = kept;
    return status;
}

/* ---- the graph ---- */

static enum nn_status read_tensors(struct nn_onnx *file, struct nn_pb graph, struct nn_error *err)
{
    struct nn_pb_field f;
    void *memory;
    size_t n;
    enum nn_status status = nn_onnx_fields(graph, INITIALIZER, &n, err);
    if (status == NN_OK && n > file->max_tensors) {
        return nn_fail(err, NN_ERR_LIMIT, "%zu tensors are more than %zu", n, file->max_tensors);
    }
    if (status == NN_OK) {
        status = nn_onnx_memory(file, n + 1, sizeof *file->model.tensors, &memory, err);
    }
    if (status != NN_OK) {
        return status;
    }
    struct nn_file_tensor *tensors = memory;
    file->model.tensors = tensors;
    while (status == NN_OK && nn_pb_next(&graph, &f) == NN_PB_FIELD) {
        if (f.number != INITIALIZER) {
            continue;
        }
        struct nn_file_tensor *tensor = &tensors[file->model.n_tensors++];
        status = f.wire == NN_PB_BYTES ? nn_onnx_read_tensor(file, f.bytes, tensor, err)
                                       : nn_onnx_broken("a tensor", err);
        if (status == NN_OK &&
            (tensor->name[0] == '\0' || strcmp(tensor->name, NN_FILE_METADATA) == 0)) {
            status = nn_fail(err, NN_ERR_INVALID, "a tensor may not be named \"%s\"", tensor->name);
        }
    }
    return status;
}

static enum nn_status read_nodes(struct nn_onnx *file, struct nn_pb graph, struct nn_error *err)
{
    struct nn_pb_field f;
    void *memory;
    size_t n;
    enum nn_status status = nn_onnx_fields(graph, NODE, &n, err);
    if (status == NN_OK && n > MOST_NODES) {
        return nn_fail(err, NN_ERR_LIMIT, "the graph has %zu nodes, more than %d", n,
                       (int)MOST_NODES);
    }
    if (status == NN_OK) {
        status = nn_onnx_memory(file, n + 1, sizeof *file->model.nodes, &memory, err);
    }
    if (status != NN_OK) {
        return status;
    }
    struct nn_onnx_node *nodes = memory;
    file->model.nodes = nodes;
    while (status == NN_OK && nn_pb_next(&graph, &f) == NN_PB_FIELD) {
        if (f.number == NODE) {
            status = f.wire == NN_PB_BYTES
                         ? nn_onnx_read_node(file, f.bytes, &nodes[file->model.n_nodes++], err)
                         : nn_onnx_broken("a node", err);
        }
    }
    return status;
}

static enum nn_status read_graph(struct nn_onnx *file, struct nn_pb graph, struct nn_error *err)
{
    struct nn_onnx_model *model = &file->model;
    size_t sparse;
    enum nn_status status = nn_onnx_fields(graph, SPARSE_INITIALIZER, &sparse, err);
    if (status == NN_OK && sparse > 0) {
        return nn_fail(err, NN_ERR_NOT_SUPPORTED, "sparse tensors are not read");
    }
    status = status == NN_OK ? read_tensors(file, graph, err) : status;
    status = status == NN_OK ? order_names(file, err) : status;
    status = status == NN_OK ? read_nodes(file, graph, err) : status;
    if (status == NN_OK) {
        status = read_values(file, graph, INPUT, &model->inputs, &model->n_inputs, err);
    }
    if (status == NN_OK) {
        status = read_values(file, graph, OUTPUT, &model->outputs, &model->n_outputs, err);
    }
    return status;
}

/* ---- the model ---- */

static void read_opset(struct nn_onnx *file, struct nn_pb message)
{
    struct nn_pb_field f;
    struct nn_pb domain = member(message, 1);
    bool own = nn_pb_size(domain) == 0 ||
               (nn_pb_size(domain) == 7 && memcmp(domain.at, "ai.onnx", 7) == 0);
    while (own && nn_pb_next(&message, &f) == NN_PB_FIELD) {
        if (f.number == 2 && f.wire == NN_PB_VARINT) {
            file->model.opset = (int64_t)f.value;
        }
    }
}

static enum nn_status read_metadata(struct nn_onnx *file, struct nn_pb message,
                                    struct nn_file_pair *out, struct nn_error *err)
{
    struct nn_pb_field key = {.number = 1, .wire = NN_PB_BYTES, .bytes = member(message, 1)};
    struct nn_pb_field value = {.number = 2, .wire = NN_PB_BYTES, .bytes = member(message, 2)};
    enum nn_status status = nn_onnx_text(file, &key, "a key of the metadata", &out->key, err);
    if (nn_pb_size(value.bytes) > NN_FILE_NAME_MAX) {
        value.bytes.end = value.bytes.at; /* long texts are of no use here */
    }
    struct nn_error unread = {0};
    if (status == NN_OK &&
        nn_onnx_text(file, &value, "metadata", &out->value, &unread) == NN_ERR_MEMORY) {
        status = nn_fail(err, NN_ERR_MEMORY, "no memory for the graph");
    }
    return status;
}

static enum nn_status read_producer(struct nn_onnx *file, struct nn_pb message,
                                    struct nn_error *err)
{
    struct nn_pb_field f = {.number = PRODUCER, .wire = NN_PB_BYTES};
    const char *name, *version;
    char whole[2 * NN_FILE_NAME_MAX + 2];
    f.bytes = member(message, PRODUCER);
    enum nn_status status = nn_onnx_text(file, &f, "the producer", &name, err);
    f.bytes = member(message, PRODUCER_VERSION);
    status = status == NN_OK ? nn_onnx_text(file, &f, "the producer", &version, err) : status;
    if (status != NN_OK) {
        return status;
    }
    (void)snprintf(whole, sizeof whole, "%s%s%s", name, name[0] && version[0] ? " " : "", version);
    file->model.producer = nn_arena_text(file->arena, whole);
    return file->model.producer ? NN_OK : nn_fail(err, NN_ERR_MEMORY, "no memory for the graph");
}

static enum nn_status read_fields(struct nn_onnx *file, struct nn_pb message,
                                  struct nn_file_pair *metadata, struct nn_pb *out_graph,
                                  struct nn_error *err)
{
    struct nn_pb_field f;
    enum nn_status status = NN_OK;
    while (status == NN_OK && nn_pb_next(&message, &f) == NN_PB_FIELD) {
        if (f.number == IR_VERSION && f.wire == NN_PB_VARINT) {
            file->model.ir_version = (int64_t)f.value;
        } else if (f.number == GRAPH && f.wire == NN_PB_BYTES) {
            *out_graph = f.bytes;
        } else if (f.number == OPSET && f.wire == NN_PB_BYTES) {
            read_opset(file, f.bytes);
        } else if (f.number == METADATA && f.wire == NN_PB_BYTES) {
            status = read_metadata(file, f.bytes, &metadata[file->model.n_metadata++], err);
        }
        file->model.has_functions = file->model.has_functions || f.number == FUNCTIONS;
    }
    return status;
}

static enum nn_status read_model(struct nn_onnx *file, struct nn_pb message, struct nn_error *err)
{
    struct nn_pb graph = {0};
    void *metadata;
    size_t n_graphs, n;
    enum nn_status status = nn_onnx_fields(message, GRAPH, &n_graphs, err);
    status = status == NN_OK ? nn_onnx_fields(message, METADATA, &n, err) : status;
    if (status == NN_OK && (n_graphs != 1 || n > MOST_VALUES)) {
        return nn_fail(err, NN_ERR_INVALID, "the ONNX file holds %zu graphs and %zu metadata",
                       n_graphs, n);
    }
    if (status == NN_OK) {
        status = nn_onnx_memory(file, n + 1, sizeof *file->model.metadata, &metadata, err);
    }
    if (status != NN_OK) {
        return status;
    }
    file->model.metadata = metadata;
    status = read_fields(file, message, metadata, &graph, err);
    status = status == NN_OK ? read_producer(file, message, err) : status;
    return status == NN_OK ? read_graph(file, graph, err) : status;
}

enum nn_status nn_onnx_open_bytes(const void *bytes, size_t n, size_t max_tensors,
                                  struct nn_onnx **out, struct nn_error *err)
{
    struct nn_onnx *file = calloc(1, sizeof *file);
    if (!file || nn_arena_create(NULL, 0, &file->arena) != NN_OK) {
        free(file);
        return nn_fail(err, NN_ERR_MEMORY, "no memory to read an ONNX file");
    }
    file->max_tensors = max_tensors;
    const unsigned char *first = bytes;
    enum nn_status status = read_model(file, (struct nn_pb){first, first + n}, err);
    if (status != NN_OK) {
        nn_onnx_close(file);
        return status;
    }
    *out = file;
    return NN_OK;
}

void nn_onnx_close(struct nn_onnx *file)
{
    if (file) {
        nn_arena_destroy(file->arena);
        free(file);
    }
}

const struct nn_onnx_model *nn_onnx_model(const struct nn_onnx *file)
{
    return &file->model;
}
