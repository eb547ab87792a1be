/* SPDX-License-Identifier: MIT
 *
 * The life of a description: parsed, written out in full, destroyed.
 */
#include <string.h>

#include "core/network/description_internal.h"

void nn_description_destroy(struct nn_description *description)
{
    if (!description) {
        return;
    }
    json_decref(description->name);
    json_decref(description->parameters);
    nn_arena_destroy(description->arena); /* the description itself is a piece of it */
}

enum nn_status nn_graph_build(const json_t *expanded, struct nn_issues *issues,
                              struct nn_description **out)
{
    struct nn_arena *arena = NULL;
    if (nn_arena_create(NULL, 0, &arena) != NN_OK) {
        return NN_ERR_MEMORY;
    }
    struct nn_description *graph = nn_arena_alloc(arena, 1, sizeof *graph);
    if (!graph) {
        nn_arena_destroy(arena);
        return NN_ERR_MEMORY;
    }
    *graph = (struct nn_description){.arena = arena, .input = SIZE_MAX, .output = SIZE_MAX};
    graph->name = json_incref(json_object_get(expanded, "name"));
    graph->parameters = json_deep_copy(json_object_get(expanded, "parameters"));
    bool fine =
        nn_graph_read_layers(json_object_get(expanded, "layers"), issues, graph) &&
        nn_graph_read_connections(json_object_get(expanded, "connections"), issues, graph) &&
        nn_graph_check(issues, graph);
    if (!fine) {
        nn_description_destroy(graph);
        return NN_ERR_MEMORY;
    }
    *out = graph;
    return NN_OK;
}

/* Sizes that do not depend on a data set can already be wrong. */
static enum nn_status check_sizes(const struct nn_description *graph, struct nn_issues *issues)
{
    struct nn_layer_plan *plans = nn_memory_alloc(NULL, graph->n_nodes, sizeof *plans);
    if (!plans) {
        return NN_ERR_MEMORY;
    }
    nn_graph_plan(graph, NULL, issues, plans);
    nn_memory_free(NULL, plans);
    return NN_OK;
}

enum nn_status nn_description_parse(const json_t *spec, struct nn_description **out,
                                    struct nn_error *err)
{
    struct nn_issues issues;
    struct nn_description *graph = NULL;
    if (!nn_issues_init(&issues)) {
        return nn_fail(err, NN_ERR_MEMORY, "out of memory while reading the network");
    }
    json_t *expanded = nn_spec_expand(spec, &issues);
    enum nn_status status = expanded ? nn_graph_build(expanded, &issues, &graph) : NN_OK;
    if (status == NN_OK && graph) {
        status = check_sizes(graph, &issues);
    }
    if (status != NN_OK) {
        issues.out_of_memory = true;
    }
    status = nn_issues_status(&issues, err);
    json_decref(expanded);
    nn_issues_deinit(&issues);
    if (status != NN_OK) {
        nn_description_destroy(graph);
        return status;
    }
    *out = graph;
    return NN_OK;
}

json_t *nn_node_json(const struct nn_node *node)
{
    json_t *json =
        json_pack("{s:s, s:s}", "name", node->layer.name, "kind", node->layer.kind->name);
    json_t *options = jx_encode(node->layer.kind->fields, node->layer.options);
    if (!json || !options || json_object_update(json, options) != 0) {
        json_decref(json);
        json = NULL;
    }
    json_decref(options);
    return json;
}

static bool append_connections(json_t *connections, const struct nn_description *graph,
                               const struct nn_node *node)
{
    for (size_t k = 0; k < node->n_inputs; k++) {
        json_t *pair =
            json_pack("[s, s]", graph->nodes[node->inputs[k]].layer.name, node->layer.name);
        if (json_array_append_new(connections, pair) != 0) {
            return false;
        }
    }
    return true;
}

bool nn_description_takes_sequences(const struct nn_description *description)
{
    const struct nn_layer_kind *kind = description->nodes[description->input].layer.kind;
    return strcmp(kind->name, "sequence_input") == 0;
}

bool nn_description_reads_input(const struct nn_description *description)
{
    bool reads = false;
    for (size_t i = 0; i < description->n_nodes; i++) {
        reads = reads || description->nodes[i].layer.kind->reads != NULL;
    }
    return reads;
}

enum nn_status nn_description_check_steps(const struct nn_description *description,
                                          const nn_real *steps, size_t n, size_t columns,
                                          struct nn_error *err)
{
    char text[200];
    for (size_t i = 0; i < description->n_nodes; i++) {
        const struct nn_layer *layer = &description->nodes[i].layer;
        for (size_t t = 0; layer->kind->reads && t < n; t++) {
            if (!layer->kind->reads(layer, steps + t * columns, text, sizeof text)) {
                return nn_fail(err, NN_ERR_INVALID, "step %zu: %s", t, text);
            }
        }
    }
    return NN_OK;
}

enum nn_task nn_description_task(const struct nn_description *description)
{
    return description->ends_in_softmax ? NN_TASK_CLASSIFICATION : NN_TASK_REGRESSION;
}

json_t *nn_description_json(const struct nn_description *description)
{
    json_t *json = json_object();
    json_t *layers = json_array();
    json_t *connections = json_array();
    bool fine = json && layers && connections;
    for (size_t i = 0; fine && i < description->n_nodes; i++) {
        const struct nn_node *node = &description->nodes[i];
        fine = json_array_append_new(layers, nn_node_json(node)) == 0 &&
               append_connections(connections, description, node);
    }
    fine = fine && (!description->name || json_object_set(json, "name", description->name) == 0) &&
           (!description->parameters ||
            json_object_set(json, "parameters", description->parameters) == 0) &&
           json_object_set(json, "layers", layers) == 0 &&
           json_object_set(json, "connections", connections) == 0;
    json_decref(layers);
    json_decref(connections);
    if (!fine) {
        json_decref(json);
        return NULL;
    }
    return json;
}
