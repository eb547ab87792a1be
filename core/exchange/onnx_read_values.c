/* SPDX-License-Identifier: MIT
 *
 * What is known of a graph while it is read: values, layers with their names, tensors.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/exchange/onnx_read_internal.h"

/* ---- values ---- */

static bool no_room(struct nn_onnx_reader *r)
{
    r->status = NN_ERR_MEMORY;
    return false;
}

void nn_onnx_know(struct nn_onnx_reader *r, const struct nn_onnx_known *value)
{
    if (value->name[0] == '\0') {
        return;
    }
    if (r->n_known == r->room) {
        size_t room = 2 * r->room + 64;
        struct nn_onnx_known *grown = realloc(r->known, room * sizeof *grown);
        if (!grown) {
            (void)no_room(r);
            return;
        }
        r->known = grown;
        r->room = room;
    }
    r->known[r->n_known++] = *value;
}

const struct nn_onnx_known *nn_onnx_find_known(const struct nn_onnx_reader *r, const char *name)
{
    for (size_t i = r->n_known; name[0] != '\0' && i-- > 0;) {
        if (strcmp(r->known[i].name, name) == 0) {
            return &r->known[i];
        }
    }
    return NULL;
}

const struct nn_onnx_known *nn_onnx_input(const struct nn_onnx_reader *r,
                                          const struct nn_onnx_node *node, size_t i)
{
    return i < node->n_inputs ? nn_onnx_find_known(r, node->inputs[i]) : NULL;
}

const struct nn_onnx_known *nn_onnx_layer_in(const struct nn_onnx_reader *r,
                                             const struct nn_onnx_node *node, size_t i)
{
    const struct nn_onnx_known *value = nn_onnx_input(r, node, i);
    return value && value->meaning == NN_ONNX_LAYER ? value : NULL;
}

const struct nn_file_tensor *nn_onnx_tensor_in(const struct nn_onnx_reader *r,
                                               const struct nn_onnx_node *node, size_t i)
{
    const struct nn_onnx_known *value = nn_onnx_input(r, node, i);
    return value && value->meaning == NN_ONNX_CONSTANT ? value->tensor : NULL;
}

void nn_onnx_mean(struct nn_onnx_reader *r, const struct nn_onnx_node *node, size_t i,
                  enum nn_onnx_meaning meaning, size_t layer, const struct nn_file_tensor *tensor)
{
    const struct nn_onnx_known value = {.name = i < node->n_outputs ? node->outputs[i] : "",
                                        .meaning = meaning,
                                        .layer = layer,
                                        .tensor = tensor};
    nn_onnx_know(r, &value);
}

/* ---- names ---- */

enum { NAME_MAX_BYTES = 63 };

const char *nn_onnx_layer_name(const struct nn_onnx_reader *r, size_t layer)
{
    return json_string_value(json_object_get(json_array_get(r->layers, layer), "name"));
}

bool nn_onnx_name_taken(const struct nn_onnx_reader *r, const char *name)
{
    for (size_t i = 0; i < json_array_size(r->layers); i++) {
        if (strcmp(nn_onnx_layer_name(r, i), name) == 0) {
            return true;
        }
    }
    return false;
}

/* "features.0.weight" is of the layer "features.0"; false: the name tells nothing. */
static bool name_by_weight(const struct nn_file_tensor *weight, char out[NAME_MAX_BYTES + 1])
{
    static const char SUFFIX[] = ".weight";
    size_t length = weight ? strlen(weight->name) : 0, tail = sizeof SUFFIX - 1;
    if (length <= tail || length - tail > NAME_MAX_BYTES ||
        strcmp(weight->name + length - tail, SUFFIX) != 0) {
        return false;
    }
    (void)snprintf(out, NAME_MAX_BYTES + 1, "%.*s", (int)(length - tail), weight->name);
    return true;
}

/* PyTorch names nodes by the modules around them: "/layer1/layer1.0/conv1/Conv" is of
 * "layer1.0.conv1". A part that repeats the one before it takes its place. */
static bool name_by_path(const char *path, char out[NAME_MAX_BYTES + 1])
{
    size_t used = 0, before = 0; /* where the last part begins */
    const char *at = path[0] == '/' ? path + 1 : "";
    for (const char *end; (end = strchr(at, '/')) != NULL; at = end + 1) {
        size_t length = (size_t)(end - at), last = used - before;
        bool repeats =
            used > 0 && length > last && strncmp(at, out + before, last) == 0 && at[last] == '.';
        size_t start = repeats ? before : used + (used > 0);
        if (start + length > NAME_MAX_BYTES) {
            return false;
        }
        if (start > used) {
            out[used] = '.';
        }
        memcpy(out + start, at, length);
        before = start;
        used = start + length;
        out[used] = '\0';
    }
    return used > 0;
}

/* "Conv_12" and the like are numbers, not names. */
static bool name_by_node(const struct nn_onnx_node *node, char out[NAME_MAX_BYTES + 1])
{
    size_t length = strlen(node->op);
    bool counted = strncmp(node->name, node->op, length) == 0 &&
                   (node->name[length] == '_' || node->name[length] == '\0');
    if (node->name[0] == '\0' || counted || strlen(node->name) > NAME_MAX_BYTES ||
        strchr(node->name, '/') || strchr(node->name, ':')) {
        return false;
    }
    (void)strcpy(out, node->name);
    return true;
}

/* As descriptions want them. */
static bool is_fine(const char *name)
{
    static const char LETTERS[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    return strspn(name, LETTERS) > 0 &&
           name[strspn(
               name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-")] == '\0';
}

/* Numbered in the order of the graph where nothing tells; the match of weights reads such names. */
static void choose_name(const struct nn_onnx_reader *r, const struct nn_onnx_node *node,
                        const char *kind, const struct nn_file_tensor *weight,
                        char out[NAME_MAX_BYTES + 1])
{
    char base[NAME_MAX_BYTES + 1];
    size_t n = json_array_size(r->layers);
    bool told =
        name_by_weight(weight, out) || name_by_path(node->name, out) || name_by_node(node, out);
    if (!told || !is_fine(out)) {
        (void)snprintf(out, NAME_MAX_BYTES + 1, "node%04zu_%s", n, kind);
    }
    (void)strcpy(base, out);
    for (size_t i = 2; nn_onnx_name_taken(r, out); i++) {
        (void)snprintf(out, NAME_MAX_BYTES + 1, "%.52s_%zu", base, i);
    }
}

/* ---- layers ---- */

json_t *nn_onnx_options(const struct nn_onnx_reader *r, size_t layer)
{
    return json_array_get(r->layers, layer);
}

bool nn_onnx_connect(struct nn_onnx_reader *r, size_t from, const char *to)
{
    return json_array_append_new(r->connections,
                                 json_pack("[s, s]", nn_onnx_layer_name(r, from), to)) == 0 ||
           no_room(r);
}

bool nn_onnx_add_layer(struct nn_onnx_reader *r, const struct nn_onnx_node *node, const char *kind,
                       json_t *options_take, size_t n, const struct nn_file_tensor *weight,
                       size_t *out_layer)
{
    char name[NAME_MAX_BYTES + 1];
    json_t *layer = options_take ? options_take : json_object();
    choose_name(r, node, kind, weight, name);
    for (size_t i = 0; i < n; i++) {
        const struct nn_onnx_known *from = nn_onnx_layer_in(r, node, i);
        if (!from) {
            json_decref(layer);
            return nn_onnx_lacks(r, "an input that is no activation");
        }
        if (!nn_onnx_connect(r, from->layer, name)) {
            json_decref(layer);
            return false;
        }
    }
    *out_layer = json_array_size(r->layers);
    if (json_object_set_new(layer, "name", json_string(name)) != 0 ||
        json_object_set_new(layer, "kind", json_string(kind)) != 0 ||
        json_array_append_new(r->layers, json_incref(layer)) != 0) {
        json_decref(layer);
        return no_room(r);
    }
    json_decref(layer);
    nn_onnx_mean(r, node, 0, NN_ONNX_LAYER, *out_layer, NULL);
    return true;
}

bool nn_onnx_lacks(struct nn_onnx_reader *r, const char *why)
{
    r->why = why;
    return false;
}

/* ---- tensors ---- */

static struct nn_file_tensor *tensor_new(struct nn_onnx_reader *r, size_t layer, const char *suffix)
{
    char name[NAME_MAX_BYTES + 32];
    if (r->n_tensors == r->room_tensors) {
        size_t room = 2 * r->room_tensors + 64;
        struct nn_file_tensor *grown = realloc(r->tensors, room * sizeof *grown);
        if (!grown) {
            (void)no_room(r);
            return NULL;
        }
        r->tensors = grown;
        r->room_tensors = room;
    }
    (void)snprintf(name, sizeof name, "%s.%s", nn_onnx_layer_name(r, layer), suffix);
    const char *kept = nn_arena_text(r->arena, name);
    if (!kept) {
        (void)no_room(r);
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
        (void)no_room(r);
    }
}

float *nn_onnx_floats_of(struct nn_onnx_reader *r, const struct nn_file_tensor *tensor)
{
    nn_real *values = nn_arena_alloc(r->arena, tensor->count + 1, sizeof *values);
    float *out = nn_arena_alloc(r->arena, tensor->count + 1, sizeof *out);
    if (!values || !out) {
        (void)no_room(r);
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

const struct nn_file_tensor *nn_onnx_turned(struct nn_onnx_reader *r,
                                            const struct nn_file_tensor *tensor)
{
    size_t rows = tensor->shape[0], columns = tensor->shape[1];
    struct nn_file_tensor *out = nn_arena_alloc(r->arena, 1, sizeof *out);
    const float *from = nn_onnx_floats_of(r, tensor);
    float *values = nn_arena_alloc(r->arena, tensor->count + 1, sizeof *values);
    if (!out || !from || !values) {
        (void)no_room(r);
        return NULL;
    }
    for (size_t i = 0; i < tensor->count; i++) {
        values[i % columns * rows + i / columns] = from[i];
    }
    out->name = tensor->name;
    describe(out, (const size_t[]){columns, rows}, 2, values);
    return out;
}

/* ---- attributes ---- */

int64_t nn_onnx_int_of(const struct nn_onnx_node *node, const char *name, int64_t fallback)
{
    const struct nn_onnx_attribute *a = nn_onnx_attribute(node, name, NN_ONNX_INT);
    return a ? a->integer : fallback;
}

double nn_onnx_real_of(const struct nn_onnx_node *node, const char *name, double fallback)
{
    const struct nn_onnx_attribute *a = nn_onnx_attribute(node, name, NN_ONNX_FLOAT);
    return a ? a->real : fallback;
}

size_t nn_onnx_uses(const struct nn_onnx_reader *r, const char *value)
{
    size_t n = 0;
    for (size_t i = 0; i < r->model->n_nodes; i++) {
        for (size_t k = 0; k < r->model->nodes[i].n_inputs; k++) {
            n += strcmp(r->model->nodes[i].inputs[k], value) == 0;
        }
    }
    return n;
}
