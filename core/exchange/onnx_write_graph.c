/* SPDX-License-Identifier: MIT
 *
 * Layers in order, each by its row of the table, and how they take what others give.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/exchange/onnx_write_graph.h"
#include "core/network/network.h"

void nn_onnx_graph_deinit(struct nn_onnx_graph *graph)
{
    json_decref(graph->description);
    json_decref(graph->report);
    free(graph->needed);
    free(graph->terms);
}

const char *nn_onnx_layer_text(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

const json_t *nn_onnx_layer_at(const struct nn_onnx_graph *graph, size_t i)
{
    return json_array_get(graph->layers, i);
}

static size_t find_layer(const struct nn_onnx_graph *graph, const char *name)
{
    for (size_t i = 0; i < graph->n; i++) {
        if (strcmp(nn_onnx_layer_text(nn_onnx_layer_at(graph, i), "name"), name) == 0) {
            return i;
        }
    }
    return graph->n;
}

/* Marks what the layer takes; whether anything was new. */
static bool mark_inputs(struct nn_onnx_graph *graph, size_t i)
{
    size_t k;
    json_t *name;
    bool more = false;
    json_array_foreach(json_object_get(nn_onnx_layer_at(graph, i), "inputs"), k, name)
    {
        size_t at = find_layer(graph, json_string_value(name));
        more = more || !graph->needed[at];
        graph->needed[at] = true;
    }
    return more;
}

/* Everything that the output is made of, in whatever order the layers stand. */
static void mark_needed(struct nn_onnx_graph *graph)
{
    graph->needed[graph->output] = true;
    for (bool more = true; more;) {
        more = false;
        for (size_t i = graph->n; i-- > 0;) {
            more = (graph->needed[i] && mark_inputs(graph, i)) || more;
        }
    }
}

/* The input is the layer without inputs; the output the one that nothing takes and no loss is. */
static void find_ends(struct nn_onnx_graph *graph)
{
    size_t k;
    json_t *name;
    bool *taken = calloc(graph->n + 1, sizeof *taken);
    for (size_t i = 0; taken && i < graph->n; i++) {
        const json_t *inputs = json_object_get(nn_onnx_layer_at(graph, i), "inputs");
        graph->input = json_array_size(inputs) == 0 ? i : graph->input;
        json_array_foreach(inputs, k, name)
        {
            taken[find_layer(graph, json_string_value(name))] = true;
        }
    }
    for (size_t i = 0; taken && i < graph->n; i++) {
        if (!taken[i] &&
            strcmp(nn_onnx_layer_text(nn_onnx_layer_at(graph, i), "kind"), "auxiliary_loss") != 0) {
            graph->output = i;
        }
    }
    free(taken);
}

enum nn_status nn_onnx_graph_read(const struct nn_description *description,
                                  const struct nn_network_bind *bind, struct nn_onnx_graph *graph,
                                  struct nn_error *err)
{
    graph->description = nn_description_json(description);
    if (!graph->description) {
        return nn_fail(err, NN_ERR_MEMORY, "no memory to write a network");
    }
    enum nn_status status = nn_network_analyze(graph->description, bind, 1, &graph->report, err);
    if (status != NN_OK) {
        return status;
    }
    graph->layers = json_object_get(graph->report, "layers");
    graph->options = json_object_get(graph->description, "layers");
    graph->n = json_array_size(graph->layers);
    if (!json_is_true(json_object_get(graph->report, "valid")) || graph->n == 0 ||
        json_array_size(graph->options) != graph->n) {
        return nn_fail(err, NN_ERR_INVALID, "the network does not fit its data");
    }
    graph->needed = calloc(graph->n + 1, sizeof *graph->needed);
    graph->terms = calloc(graph->n + 1, sizeof *graph->terms);
    if (!graph->needed || !graph->terms) {
        return nn_fail(err, NN_ERR_MEMORY, "no memory to write a network");
    }
    find_ends(graph);
    mark_needed(graph);
    return NN_OK;
}

/* ---- layers ---- */

/* What the graph itself calls its ends; a layer of such a name gets another one. */
static bool is_end(const char *name)
{
    return strcmp(name, "input") == 0 || strcmp(name, "output") == 0 || strcmp(name, "scores") == 0;
}

/* Its name and sizes: [height, width, channels] of an image, [channels] of a row or a step. */
static struct nn_onnx_term term_of(const json_t *layer)
{
    struct nn_onnx_term term = {.height = 1, .width = 1};
    const json_t *sizes = json_object_get(layer, "activation");
    size_t n = json_array_size(sizes);
    (void)snprintf(term.name, sizeof term.name, "%s%s", nn_onnx_layer_text(layer, "name"),
                   is_end(nn_onnx_layer_text(layer, "name")) ? "/value" : "");
    if (n == 3) {
        term.height = (size_t)json_integer_value(json_array_get(sizes, 0));
        term.width = (size_t)json_integer_value(json_array_get(sizes, 1));
    }
    term.channels = (size_t)json_integer_value(json_array_get(sizes, n > 0 ? n - 1 : 0));
    term.rank = n == 3 ? NN_ONNX_IMAGE : NN_ONNX_ROWS;
    return term;
}

static const struct nn_onnx_kind *kind_find(const char *name)
{
    const struct nn_onnx_kind *kind = nn_onnx_kinds;
    while (kind->kind && strcmp(kind->kind, name) != 0) {
        kind++;
    }
    return kind->kind ? kind : NULL;
}

/* A softmax that ends the network reads a row of scores. */
static void scores_write(struct nn_onnx_writer *w, struct nn_onnx_term *in)
{
    const char *op = in->rank == NN_ONNX_IMAGE ? "Flatten" : "Identity";
    nn_onnx_simple(w, op, in->name, NULL, "scores");
    (void)strcpy(in->name, "scores");
    in->rank = in->rank == NN_ONNX_IMAGE ? NN_ONNX_ROWS : in->rank;
}

static bool layer_write(struct nn_onnx_writer *w, struct nn_onnx_graph *graph, size_t i)
{
    struct nn_onnx_term in[NN_ONNX_INPUTS_MAX];
    const json_t *from = nn_onnx_layer_at(graph, i), *inputs = json_object_get(from, "inputs");
    struct nn_onnx_layer layer = {.name = nn_onnx_layer_text(from, "name"),
                                  .kind = nn_onnx_layer_text(from, "kind"),
                                  .options = json_array_get(graph->options, i),
                                  .in = in,
                                  .n_in = json_array_size(inputs),
                                  .out = term_of(from)};
    const struct nn_onnx_kind *kind = kind_find(layer.kind);
    w->lack[0] = '\0';
    if (!kind || layer.n_in > NN_ONNX_INPUTS_MAX) {
        return false;
    }
    for (size_t k = 0; k < layer.n_in; k++) {
        in[k] = graph->terms[find_layer(graph, json_string_value(json_array_get(inputs, k)))];
    }
    if (i == graph->output && strcmp(layer.kind, "softmax") == 0) {
        scores_write(w, &in[0]);
    }
    bool fine = kind->write(w, &layer);
    graph->terms[i] = layer.out;
    return fine;
}

/* The first layer hands the graph's input on under its own name. */
static void input_take(struct nn_onnx_graph *graph)
{
    const json_t *layer = nn_onnx_layer_at(graph, graph->input);
    struct nn_onnx_term term = term_of(layer);
    if (strcmp(nn_onnx_layer_text(layer, "kind"), "sequence_input") == 0) {
        term.rank = NN_ONNX_SEQUENCE;
    }
    (void)strcpy(term.name, "input");
    graph->terms[graph->input] = term;
}

enum nn_status nn_onnx_layers_write(struct nn_onnx_writer *w, struct nn_onnx_graph *graph,
                                    struct nn_error *err)
{
    char lacking[400] = "";
    size_t n = 0;
    input_take(graph);
    for (size_t i = 0; i < graph->n; i++) {
        if (!graph->needed[i] || i == graph->input || layer_write(w, graph, i)) {
            continue;
        }
        size_t used = strlen(lacking);
        (void)snprintf(lacking + used, sizeof lacking - used, "%s\"%s\" (%s%s%s)", n++ ? ", " : "",
                       nn_onnx_layer_text(nn_onnx_layer_at(graph, i), "name"),
                       nn_onnx_layer_text(nn_onnx_layer_at(graph, i), "kind"),
                       w->lack[0] ? ": " : "", w->lack);
        graph->terms[i] = term_of(nn_onnx_layer_at(graph, i));
    }
    if (n > 0) {
        return nn_fail(err, NN_ERR_NOT_SUPPORTED, "%zu layer%s not be written as ONNX: %s", n,
                       n == 1 ? " can" : "s can", lacking);
    }
    const struct nn_onnx_term *last = &graph->terms[graph->output];
    nn_onnx_simple(w, last->rank == NN_ONNX_IMAGE ? "Flatten" : "Identity", last->name, NULL,
                   "output");
    if (w->failed || w->nodes.failed || w->heads.failed) {
        return nn_fail(err, NN_ERR_INVALID, "a parameter of the network is missing in its file");
    }
    return NN_OK;
}
