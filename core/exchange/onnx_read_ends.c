/* SPDX-License-Identifier: MIT
 *
 * Where a graph begins and ends: its input as a layer, and what its first output needs.
 */
#include <stdlib.h>
#include <string.h>

#include "core/exchange/onnx_read_internal.h"

/* ---- the ends of the graph ---- */

static json_t *metadata_json(const struct nn_onnx_model *model, const char *key)
{
    for (size_t i = 0; i < model->n_metadata; i++) {
        if (strcmp(model->metadata[i].key, key) == 0) {
            return json_loads(model->metadata[i].value, JSON_DECODE_ANY, NULL);
        }
    }
    return NULL;
}

/* What our own files say of their input; others take what they are given. */
static void set_normalisation(const struct nn_onnx_model *model, json_t *input)
{
    const char *name = "none";
    for (size_t i = 0; i < model->n_metadata; i++) {
        if (strcmp(model->metadata[i].key, "assay.normalisation") == 0) {
            name = model->metadata[i].value;
        }
    }
    json_t *mean = metadata_json(model, "assay.mean"), *std = metadata_json(model, "assay.std");
    (void)json_object_set_new(input, "normalisation", json_string(name));
    if (strcmp(name, "zscore") == 0 && json_is_array(mean) && json_is_array(std)) {
        (void)json_object_set(input, "mean", mean);
        (void)json_object_set(input, "std", std);
    }
    json_decref(mean);
    json_decref(std);
}

static json_t *size_json(const struct nn_onnx_value *input, size_t axis)
{
    return json_integer(input->dims[axis] > 0 ? (json_int_t)input->dims[axis] : 0);
}

static size_t known_size(const struct nn_onnx_value *input, size_t axis)
{
    return input->dims[axis] > 0 ? (size_t)input->dims[axis] : 0;
}

static struct nn_onnx_extent extent_of(const struct nn_onnx_value *input)
{
    bool image = input->rank == 4;
    return (struct nn_onnx_extent){.row = input->rank == 2,
                                   .steps = input->rank == 3,
                                   .height = image ? known_size(input, 2) : 1,
                                   .width = image ? known_size(input, 3) : 1,
                                   .channels = known_size(input, input->rank == 3 ? 2 : 1)};
}

/* [N, C, H, W] images, [T, N, C] sequences, [N, C] rows, which are images of one pixel. */
enum nn_status nn_onnx_read_input(struct nn_onnx_reader *r, struct nn_error *err)
{
    const struct nn_onnx_model *model = r->model;
    const struct nn_onnx_value *input = model->n_inputs == 1 ? &model->inputs[0] : NULL;
    if (!input || !input->has_shape || input->rank < 2 || input->rank > 4) {
        return nn_fail(err, NN_ERR_NOT_SUPPORTED,
                       "the graph has %zu inputs; one is needed, of two to four axes",
                       model->n_inputs);
    }
    r->sequences = input->rank == 3;
    json_t *layer =
        r->sequences
            ? json_pack("{s:s, s:s, s:o}", "name", "input", "kind", "sequence_input", "features",
                        size_json(input, 2))
            : json_pack("{s:s, s:s, s:o, s:o, s:o}", "name", "input", "kind", "image_input",
                        "height", input->rank == 4 ? size_json(input, 2) : json_integer(1), "width",
                        input->rank == 4 ? size_json(input, 3) : json_integer(1), "channels",
                        size_json(input, 1));
    if (!layer || json_array_append_new(r->layers, json_incref(layer)) != 0) {
        json_decref(layer);
        return nn_fail(err, NN_ERR_MEMORY, "no memory for a graph");
    }
    set_normalisation(model, layer);
    json_decref(layer);
    nn_onnx_set_extent(r, 0, extent_of(input));
    nn_onnx_know(r, &(struct nn_onnx_known){.name = input->name, .meaning = NN_ONNX_LAYER});
    return NN_OK;
}

/* ---- what the output needs ---- */

static size_t layer_named(const struct nn_onnx_reader *r, const char *name)
{
    size_t i = 0;
    while (i < json_array_size(r->layers) && strcmp(nn_onnx_layer_name(r, i), name) != 0) {
        i++;
    }
    return i;
}

/* The k-th connection by numbers of layers. */
static void connection(const struct nn_onnx_reader *r, size_t k, size_t *from, size_t *to)
{
    const json_t *pair = json_array_get(r->connections, k);
    *from = layer_named(r, json_string_value(json_array_get(pair, 0)));
    *to = layer_named(r, json_string_value(json_array_get(pair, 1)));
}

/* The layer of a parameter, whose name is the longest that the parameter's begins with. */
static size_t owner_of(const struct nn_onnx_reader *r, const struct nn_file_tensor *tensor)
{
    size_t owner = 0, longest = 0;
    for (size_t i = 0; i < json_array_size(r->layers); i++) {
        const char *name = nn_onnx_layer_name(r, i);
        size_t length = strlen(name);
        if (length > longest && strncmp(tensor->name, name, length) == 0 &&
            tensor->name[length] == '.') {
            owner = i;
            longest = length;
        }
    }
    return owner;
}

static void remove_unneeded(struct nn_onnx_reader *r, bool *needed)
{
    size_t from, to;
    for (size_t k = json_array_size(r->connections); k-- > 0;) {
        connection(r, k, &from, &to); /* users stand behind what they use */
        needed[from] = needed[from] || needed[to];
    }
    for (size_t k = json_array_size(r->connections); k-- > 0;) {
        connection(r, k, &from, &to);
        if (!needed[to]) {
            (void)json_array_remove(r->connections, k);
        }
    }
    for (size_t t = r->n_tensors; t-- > 0;) {
        if (!needed[owner_of(r, &r->tensors[t])]) {
            r->tensors[t] = r->tensors[--r->n_tensors];
        }
    }
    for (size_t i = json_array_size(r->layers); i-- > 0;) {
        if (!needed[i]) {
            (void)json_array_remove(r->layers, i);
        }
    }
}

/* Images are classified: scores become probabilities, and the layer that gives them counts the
 * classes of whatever data the network is put to. */
static void end_in_classes(struct nn_onnx_reader *r, size_t output)
{
    const char *kind = json_string_value(json_object_get(nn_onnx_options(r, output), "kind"));
    size_t from, to, head = output;
    if (strcmp(kind, "softmax") != 0) {
        const char *name = nn_onnx_name_taken(r, "softmax") ? "probabilities" : "softmax";
        (void)nn_onnx_connect(r, output, name);
        (void)json_array_append_new(r->layers,
                                    json_pack("{s:s, s:s}", "name", name, "kind", "softmax"));
    }
    for (size_t k = json_array_size(r->connections); k-- > 0;) {
        json_t *layer = nn_onnx_options(r, head);
        kind = json_string_value(json_object_get(layer, "kind"));
        if (strcmp(kind, "fully_connected") == 0 || strcmp(kind, "convolution") == 0) {
            (void)json_object_del(layer, kind[0] == 'f' ? "outputs" : "filters");
            return;
        }
        if (strcmp(kind, "transposed_convolution") == 0) {
            return; /* it says itself how many filters it has */
        }
        connection(r, k, &from, &to);
        head = to == head ? from : head;
    }
}

enum nn_status nn_onnx_finish(struct nn_onnx_reader *r, struct nn_error *err)
{
    const struct nn_onnx_known *value =
        r->model->n_outputs > 0 ? nn_onnx_find_known(r, r->model->outputs[0].name) : NULL;
    bool *needed = calloc(json_array_size(r->layers) + 1, sizeof *needed);
    if (!needed) {
        return nn_fail(err, NN_ERR_MEMORY, "no memory for a graph");
    }
    if (!value || value->meaning != NN_ONNX_LAYER || value->layer == 0) {
        free(needed);
        return nn_fail(err, NN_ERR_NOT_SUPPORTED, "the graph's first output is no layer's");
    }
    const char *output = nn_onnx_layer_name(r, value->layer);
    needed[value->layer] = true;
    needed[0] = true;
    remove_unneeded(r, needed);
    free(needed);
    if (!r->sequences) {
        end_in_classes(r, layer_named(r, output));
    }
    return r->status == NN_OK ? NN_OK : nn_fail(err, NN_ERR_MEMORY, "no memory for a graph");
}
