/* SPDX-License-Identifier: MIT
 *
 * What is known of a graph while it is read: values, layers with their names, tensors.
 */
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

bool nn_onnx_before(const struct nn_onnx_reader *r, size_t layer, size_t *out)
{
    size_t k;
    const json_t *pair;
    const char *name = nn_onnx_layer_name(r, layer);
    json_array_foreach(r->connections, k, pair)
    {
        if (strcmp(json_string_value(json_array_get(pair, 1)), name) == 0) {
            const char *from = json_string_value(json_array_get(pair, 0));
            *out = 0;
            while (*out < layer && strcmp(nn_onnx_layer_name(r, *out), from) != 0) {
                (*out)++;
            }
            return *out < layer;
        }
    }
    return false;
}

/* The layer itself, and what the node's first output is by it. */
static bool put_layer(struct nn_onnx_reader *r, const struct nn_onnx_node *node, const char *kind,
                      const char *name, json_t *layer_take, size_t *out_layer)
{
    *out_layer = json_array_size(r->layers);
    if (json_object_set_new(layer_take, "name", json_string(name)) != 0 ||
        json_object_set_new(layer_take, "kind", json_string(kind)) != 0 ||
        json_array_append_new(r->layers, json_incref(layer_take)) != 0) {
        json_decref(layer_take);
        return no_room(r);
    }
    json_decref(layer_take);
    nn_onnx_mean(r, node, 0, NN_ONNX_LAYER, *out_layer, NULL);
    return true;
}

bool nn_onnx_add_layer(struct nn_onnx_reader *r, const struct nn_onnx_node *node, const char *kind,
                       json_t *options_take, size_t n, const struct nn_file_tensor *weight,
                       size_t *out_layer)
{
    char name[NN_ONNX_LAYER_NAME_MAX + 1];
    json_t *layer = options_take ? options_take : json_object();
    struct nn_onnx_extent before = {.row = false};
    nn_onnx_choose_name(r, node, kind, weight, name);
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
        if (i == 0) {
            before = nn_onnx_extent_of(r, from->layer);
            before.row = before.row && !from->sides;
        }
    }
    if (!put_layer(r, node, kind, name, layer, out_layer)) {
        return false;
    }
    nn_onnx_extend(r, *out_layer, before);
    return true;
}

bool nn_onnx_add_layer_behind(struct nn_onnx_reader *r, const struct nn_onnx_node *node,
                              const char *kind, json_t *options_take, size_t before,
                              const struct nn_file_tensor *weight, size_t *out_layer)
{
    char name[NN_ONNX_LAYER_NAME_MAX + 1];
    json_t *layer = options_take ? options_take : json_object();
    nn_onnx_choose_name(r, node, kind, weight, name);
    if (!nn_onnx_connect(r, before, name)) {
        json_decref(layer);
        return false;
    }
    if (!put_layer(r, node, kind, name, layer, out_layer)) {
        return false;
    }
    nn_onnx_extend(r, *out_layer, nn_onnx_extent_of(r, before));
    return true;
}

bool nn_onnx_lacks(struct nn_onnx_reader *r, const char *why)
{
    r->why = why;
    return false;
}

/* ---- attributes ---- */

const float *nn_onnx_numbers_in(struct nn_onnx_reader *r, const struct nn_onnx_node *node, size_t i,
                                size_t n)
{
    const struct nn_file_tensor *tensor = nn_onnx_tensor_in(r, node, i);
    return tensor && tensor->count == n ? nn_onnx_floats_of(r, tensor) : NULL;
}

bool nn_onnx_ints_are(const struct nn_onnx_node *node, const char *name, const int64_t *values,
                      size_t n)
{
    const struct nn_onnx_attribute *a = nn_onnx_attribute(node, name, NN_ONNX_INTS);
    return a && a->n == n && memcmp(a->integers, values, n * sizeof *values) == 0;
}

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
