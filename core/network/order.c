/* SPDX-License-Identifier: MIT
 *
 * The order in which the nodes of a graph run, and the cycles that leave them without one.
 */
#include "core/network/description_internal.h"

static bool is_ready(const struct nn_node *node, const bool *done)
{
    size_t ready = 0;
    for (size_t k = 0; k < node->n_inputs; k++) {
        ready += done[node->inputs[k]] ? 1 : 0;
    }
    return ready == node->n_inputs;
}

/* Rounds over the description, each taking the nodes whose inputs are all taken: a sequence written
 * in order is done in one. */
static bool sort_nodes(struct nn_description *graph)
{
    size_t *open = nn_arena_alloc(graph->arena, graph->n_nodes, sizeof *open);
    bool *done = nn_arena_alloc(graph->arena, graph->n_nodes, sizeof *done);
    graph->order = nn_arena_alloc(graph->arena, graph->n_nodes, sizeof *graph->order);
    if (!open || !done || !graph->order) {
        return false;
    }
    bool found = true;
    while (found) {
        found = false;
        for (size_t i = 0; i < graph->n_nodes; i++) {
            if (!done[i] && is_ready(&graph->nodes[i], done)) {
                done[i] = true;
                graph->order[graph->n_order++] = i;
                found = true;
            }
        }
    }
    return true;
}

/* The first input of a node that could not be ordered. */
static size_t open_input(const struct nn_node *node, const bool *done)
{
    size_t k = 0;
    while (done[node->inputs[k]]) {
        k++;
    }
    return node->inputs[k];
}

/* Takes the nodes of the cycle that node `at` lies on as ordered, and what then can be. */
static void finish_cycle(const struct nn_description *graph, size_t at, bool *done)
{
    size_t on[NN_NETWORK_LAYERS_MAX], n = 0;
    do {
        on[n++] = at;
        at = open_input(&graph->nodes[at], done);
    } while (at != on[0]);
    while (n > 0) {
        done[on[--n]] = true;
    }
    for (bool found = true; found;) {
        found = false;
        for (size_t i = 0; i < graph->n_nodes; i++) {
            if (!done[i] && is_ready(&graph->nodes[i], done)) {
                done[i] = true;
                found = true;
            }
        }
    }
}

/* An issue for each cycle. Of the nodes that could not be ordered, walking back along unordered
 * inputs from any of them ends in one. */
static void issue_cycles(struct nn_issues *issues, const struct nn_description *graph)
{
    bool done[NN_NETWORK_LAYERS_MAX] = {false};
    for (size_t i = 0; i < graph->n_order; i++) {
        done[graph->order[i]] = true;
    }
    for (size_t i = 0; i < graph->n_nodes;) {
        size_t at = i;
        if (done[i]) {
            i++; /* else it may lie before another cycle still */
            continue;
        }
        for (size_t steps = 0; steps < graph->n_nodes; steps++) {
            at = open_input(&graph->nodes[at], done);
        }
        char pointer[160];
        jx_pointer_index("/layers", graph->nodes[at].position, pointer, sizeof pointer);
        nn_issue(issues, graph->nodes[at].layer.name, pointer,
                 "remove one connection of the circle",
                 "this layer is on a cycle: its output leads back to its input");
        finish_cycle(graph, at, done);
    }
}

bool nn_graph_order(struct nn_issues *issues, struct nn_description *graph)
{
    if (!sort_nodes(graph)) {
        return false;
    }
    if (graph->n_order < graph->n_nodes) {
        issue_cycles(issues, graph);
    }
    return true;
}
