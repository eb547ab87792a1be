/* SPDX-License-Identifier: MIT
 *
 * Reading layers and connections. Goes on after a mistake as far as it makes sense, so that all
 * issues are known at once.
 */
#include <stdio.h>
#include <string.h>

#include "core/network/description_internal.h"

enum { POINTER_SIZE = 160, MEND_SIZE = 1000 }; /* names of all kinds */

/* ---- layers ---- */

/* Where a layer's options report their mistakes. */
struct option_issues {
    struct nn_issues *issues;
    const struct nn_layer *layer;
    size_t skip; /* length of the layer's own pointer, with the slash behind it */
};

static void add_option_issue(void *ctx, const char *pointer, const char *text)
{
    const struct option_issues *to = ctx;
    char mend[MEND_SIZE];
    bool unknown = strncmp(text, "unknown field", 13) == 0;
    const char *field = strlen(pointer) > to->skip ? pointer + to->skip : NULL;
    nn_mend_field("its options are", to->layer->kind->fields, field, mend, sizeof mend);
    nn_issue(to->issues, to->layer->name, pointer, mend, "%s%s%s", unknown || !field ? "" : field,
             unknown || !field ? "" : " ", text);
}

static bool is_name(const char *text)
{
    static const char FIRST[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_";
    static const char REST[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789.-";
    size_t n = strlen(text);
    return n > 0 && n < NN_LAYER_NAME_MAX && strspn(text, FIRST) > 0 && strspn(text, REST) == n;
}

static const char *read_name(const json_t *json, const char *pointer, struct nn_issues *issues)
{
    char place[POINTER_SIZE];
    jx_pointer_key(pointer, "name", place, sizeof place);
    const char *name = json_string_value(json_object_get(json, "name"));
    if (!name) {
        nn_issue(issues, NULL, place, "give it a name of its own", "a layer has no name");
    } else if (!is_name(name)) {
        nn_issue(issues, NULL, place, "use letters, digits, '_', '.' and '-', at most 63 of them",
                 "\"%.64s\" is no name for a layer", name);
        name = NULL;
    }
    return name;
}

static void issue_unknown_kind(const char *name, const char *kind, const char *place,
                               struct nn_issues *issues)
{
    const char *names[64] = {NULL};
    char mend[MEND_SIZE] = "the kinds are";
    size_t used = strlen(mend);
    for (size_t i = 0; nn_layer_kinds[i]; i++) {
        names[i] = nn_layer_kinds[i]->name;
        if (used < sizeof mend) {
            used += (size_t)snprintf(mend + used, sizeof mend - used, "%s %s", i > 0 ? "," : "",
                                     names[i]);
        }
    }
    const char *ours = nn_layer_synonym(kind);
    ours = ours ? ours : jx_nearest(kind, names, sizeof names[0]);
    if (ours) {
        (void)snprintf(mend, sizeof mend, "did you mean \"%s\"?", ours);
    }
    nn_issue(issues, name, place, mend, "there is no kind of layer called \"%.64s\"", kind);
}

static const struct nn_layer_kind *read_kind(const json_t *json, const char *name,
                                             const char *pointer, struct nn_issues *issues)
{
    char place[POINTER_SIZE];
    jx_pointer_key(pointer, "kind", place, sizeof place);
    const char *text = json_string_value(json_object_get(json, "kind"));
    if (!text) {
        nn_issue(issues, name, place, "say what it is, for example \"convolution\"",
                 "a layer has no kind");
        return NULL;
    }
    const struct nn_layer_kind *kind = nn_layer_kind_find(text);
    if (!kind) {
        issue_unknown_kind(name, text, place, issues);
    }
    return kind;
}

/* False only when out of memory. */
static bool read_options(const json_t *json, const char *pointer, struct nn_issues *issues,
                         struct nn_arena *arena, struct nn_node *node)
{
    struct nn_layer *layer = &node->layer;
    json_t *rest = json_copy((json_t *)(uintptr_t)json);
    void *options = nn_arena_alloc(arena, 1, layer->kind->options_size + 1);
    if (!rest || !options) {
        json_decref(rest);
        return false;
    }
    (void)json_object_del(rest, "name");
    (void)json_object_del(rest, "kind");
    struct option_issues to = {issues, layer, strlen(pointer) + 1};
    size_t wrong =
        jx_decode_all(layer->kind->fields, rest, pointer, options, add_option_issue, &to);
    json_decref(rest);
    layer->options = options;
    node->options_wrong = wrong > 0;
    return true;
}

static bool read_layer(const json_t *json, size_t i, struct nn_issues *issues,
                       struct nn_description *graph)
{
    char pointer[POINTER_SIZE];
    jx_pointer_index("/layers", i, pointer, sizeof pointer);
    struct nn_node *node = &graph->nodes[i];
    if (!json_is_object(json)) {
        nn_issue(issues, NULL, pointer, "write {\"name\": ..., \"kind\": ...}",
                 "a layer must be an object");
        return true;
    }
    const char *name = read_name(json, pointer, issues);
    if (name) {
        node->layer.name = nn_arena_text(graph->arena, name);
        if (!node->layer.name) {
            return false;
        }
    }
    node->layer.kind = read_kind(json, name, pointer, issues);
    return !node->layer.kind || read_options(json, pointer, issues, graph->arena, node);
}

static void check_unique(struct nn_issues *issues, const struct nn_description *graph)
{
    for (size_t i = 0; i < graph->n_nodes; i++) {
        for (size_t j = 0; j < i; j++) {
            const char *name = graph->nodes[i].layer.name;
            if (name[0] && strcmp(name, graph->nodes[j].layer.name) == 0) {
                char pointer[POINTER_SIZE];
                (void)snprintf(pointer, sizeof pointer, "/layers/%zu/name", i);
                nn_issue(issues, name, pointer, "give each layer a name of its own",
                         "layers %zu and %zu have the same name", j + 1, i + 1);
                break;
            }
        }
    }
}

bool nn_graph_read_layers(const json_t *layers, struct nn_issues *issues,
                          struct nn_description *graph)
{
    graph->n_nodes = json_array_size(layers);
    graph->nodes = nn_arena_alloc(graph->arena, graph->n_nodes, sizeof *graph->nodes);
    if (!graph->nodes) {
        return false;
    }
    for (size_t i = 0; i < graph->n_nodes; i++) {
        graph->nodes[i].position = i;
        graph->nodes[i].layer.name = "";
        if (!nn_issues_full(issues) && !read_layer(json_array_get(layers, i), i, issues, graph)) {
            return false;
        }
    }
    check_unique(issues, graph);
    return true;
}

/* ---- connections ---- */

static size_t find_node(const struct nn_description *graph, const char *name)
{
    for (size_t i = 0; i < graph->n_nodes; i++) {
        if (strcmp(graph->nodes[i].layer.name, name) == 0) {
            return i;
        }
    }
    return SIZE_MAX;
}

/* Names of the layers, ended by NULL, for the nearest one. NULL when out of memory. */
static const char **names_of(const struct nn_description *graph)
{
    const char **names = nn_arena_alloc(graph->arena, graph->n_nodes + 1, sizeof *names);
    for (size_t i = 0; names && i < graph->n_nodes; i++) {
        names[i] = graph->nodes[i].layer.name;
    }
    return names;
}

struct edge {
    size_t from, to;
};

static size_t read_end(const json_t *json, const char *pointer, size_t which, const char **names,
                       const struct nn_description *graph, struct nn_issues *issues)
{
    char place[POINTER_SIZE];
    jx_pointer_index(pointer, which, place, sizeof place);
    const char *name = json_string_value(json_array_get(json, which));
    size_t node = name && name[0] ? find_node(graph, name) : SIZE_MAX;
    if (node == SIZE_MAX) {
        bool search = name && issues->errors < NN_ISSUES_WITH_NEAREST;
        const char *nearest = search ? jx_nearest(name, names, sizeof names[0]) : NULL;
        char mend[MEND_SIZE] = "name a layer of the list";
        if (nearest) {
            (void)snprintf(mend, sizeof mend, "did you mean \"%s\"?", nearest);
        }
        nn_issue(issues, NULL, place, mend, "a connection names \"%.64s\", which is no layer",
                 name ? name : "");
    }
    return node;
}

/* Appends an edge to edges[*n] unless it is wrong. */
static void read_connection(const json_t *json, size_t i, const char **names,
                            const struct nn_description *graph, struct nn_issues *issues,
                            struct edge *edges, size_t *n)
{
    char pointer[POINTER_SIZE];
    jx_pointer_index("/connections", i, pointer, sizeof pointer);
    if (!json_is_array(json) || json_array_size(json) != 2) {
        nn_issue(issues, NULL, pointer, "write [\"from\", \"to\"]",
                 "a connection must be a pair of names");
        return;
    }
    struct edge edge = {.from = read_end(json, pointer, 0, names, graph, issues),
                        .to = read_end(json, pointer, 1, names, graph, issues)};
    if (edge.from == SIZE_MAX || edge.to == SIZE_MAX) {
        return;
    }
    for (size_t k = 0; k < *n; k++) {
        if (edges[k].from == edge.from && edges[k].to == edge.to) {
            nn_issue(issues, graph->nodes[edge.to].layer.name, pointer, "connect them once",
                     "\"%s\" is connected to it twice", graph->nodes[edge.from].layer.name);
            return;
        }
    }
    edges[(*n)++] = edge;
}

/* Copies the edges into the nodes, in their order. */
static bool place_edges(const struct edge *edges, size_t n, struct nn_description *graph)
{
    for (size_t k = 0; k < n; k++) {
        graph->nodes[edges[k].to].n_inputs++;
        graph->nodes[edges[k].from].n_consumers++;
    }
    for (size_t i = 0; i < graph->n_nodes; i++) {
        struct nn_node *node = &graph->nodes[i];
        node->inputs = nn_arena_alloc(graph->arena, node->n_inputs, sizeof *node->inputs);
        if (!node->inputs) {
            return false;
        }
        node->n_inputs = 0;
    }
    for (size_t k = 0; k < n; k++) {
        struct nn_node *to = &graph->nodes[edges[k].to];
        to->inputs[to->n_inputs++] = edges[k].from;
    }
    return true;
}

bool nn_graph_read_connections(const json_t *connections, struct nn_issues *issues,
                               struct nn_description *graph)
{
    size_t most = connections ? json_array_size(connections) : graph->n_nodes;
    struct edge *edges = nn_arena_alloc(graph->arena, most, sizeof *edges);
    const char **names = names_of(graph);
    size_t n = 0;
    if (!edges || !names) {
        return false;
    }
    for (size_t i = 0; connections && i < most && !nn_issues_full(issues); i++) {
        read_connection(json_array_get(connections, i), i, names, graph, issues, edges, &n);
    }
    for (size_t i = 1; !connections && i < graph->n_nodes; i++) {
        edges[n++] = (struct edge){i - 1, i};
    }
    return place_edges(edges, n, graph);
}
