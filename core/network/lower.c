/* SPDX-License-Identifier: MIT
 *
 * Lowering: layers become passes. With optimised operators a chain of layers that an operator's
 * pattern names is run by it in one pass, if nothing else needs what is between them.
 */
#include <stdio.h>
#include <string.h>

#include "core/network/network_internal.h"

bool nn_name_listed(const char *name, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(names[i], name) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_kept(const struct nn_network *network, size_t node)
{
    return nn_name_listed(network->graph->nodes[node].layer.name, network->options.kept,
                          network->options.n_kept);
}

/* The node that alone consumes another's output, or NN_NONE. */
static size_t only_consumer(const struct nn_description *graph, size_t node)
{
    if (graph->nodes[node].n_consumers != 1) {
        return NN_NONE;
    }
    for (size_t i = 0; i < graph->n_nodes; i++) {
        for (size_t k = 0; k < graph->nodes[i].n_inputs; k++) {
            if (graph->nodes[i].inputs[k] == node) {
                return i;
            }
        }
    }
    return NN_NONE;
}

/* Whether the operator's pattern begins at `first`; fills the nodes of the chain. */
static bool matches(const struct nn_network *network, const struct nn_operator *op, size_t first,
                    size_t chain[NN_PATTERN_MAX])
{
    const struct nn_description *graph = network->graph;
    size_t node = first;
    for (size_t i = 0; op->pattern[i]; i++) {
        if (i > 0) {
            bool open = is_kept(network, node) || node == graph->output;
            node = open ? NN_NONE : only_consumer(graph, node);
        }
        if (node == NN_NONE || strcmp(graph->nodes[node].layer.kind->name, op->pattern[i]) != 0 ||
            (i > 0 && graph->nodes[node].n_inputs != 1)) {
            return false;
        }
        chain[i] = node;
    }
    return true;
}

static const struct nn_operator *choose(const struct nn_network *network, size_t node,
                                        size_t chain[NN_PATTERN_MAX])
{
    for (size_t i = 0; nn_operators[i]; i++) {
        bool allowed = network->optimised || !nn_operators[i]->fused;
        if (allowed && matches(network, nn_operators[i], node, chain)) {
            return nn_operators[i];
        }
    }
    NN_ASSERT(node == NN_NONE && "every kind of layer has an operator");
    return NULL;
}

static size_t pattern_length(const struct nn_operator *op)
{
    size_t n = 0;
    while (op->pattern[n]) {
        n++;
    }
    return n;
}

/* "bn1+relu1". False when out of memory. */
static bool make_label(struct nn_network *network, struct nn_pass_state *state, size_t n)
{
    size_t size = n * (NN_LAYER_NAME_MAX + 1);
    size_t used = 0;
    state->label = nn_arena_alloc(network->arena, size, 1);
    for (size_t i = 0; state->label && i < n; i++) {
        used += (size_t)snprintf(state->label + used, size - used, "%s%s", i > 0 ? "+" : "",
                                 state->pass.layers[i]->layer->name);
    }
    return state->label != NULL;
}

static void *array(struct nn_network *network, size_t count, size_t size)
{
    return nn_arena_alloc(network->arena, count, size);
}

static bool make_inputs(struct nn_network *network, struct nn_pass_state *state,
                        const struct nn_node *first)
{
    size_t n = first->n_inputs;
    struct nn_shape *shapes = array(network, n, sizeof *shapes);
    state->inputs = array(network, n, sizeof *state->inputs);
    state->input_gradient = array(network, n, sizeof *state->input_gradient);
    state->adds = array(network, n, sizeof *state->adds);
    state->x = array(network, n, sizeof *state->x);
    state->d_x = array(network, n, sizeof *state->d_x);
    if (!shapes || !state->inputs || !state->input_gradient || !state->adds || !state->x ||
        !state->d_x) {
        return false;
    }
    for (size_t k = 0; k < n; k++) {
        state->inputs[k] = network->tensor_of[first->inputs[k]];
        shapes[k] = network->tensors[state->inputs[k]].shape;
    }
    state->pass.n_in = n;
    state->pass.in = shapes;
    state->pass.input_gradient = state->input_gradient;
    return true;
}

static size_t add_tensor(struct nn_network *network, size_t node, size_t producer)
{
    size_t index = network->n_tensors++;
    network->tensors[index] = (struct nn_tensor){
        .node = node,
        .shape = network->placed[node].plan.out,
        .sequence = network->placed[node].plan.sequence,
        .producer = producer,
        .consumer = NN_NONE,
        .kept = is_kept(network, node),
        .value = {.in = NN_NONE},
        .gradient = {.in = NN_NONE},
    };
    network->tensor_of[node] = index;
    return index;
}

static bool add_pass(struct nn_network *network, size_t node)
{
    size_t chain[NN_PATTERN_MAX];
    const struct nn_operator *op = choose(network, node, chain);
    size_t n = pattern_length(op);
    size_t index = network->n_passes++;
    struct nn_pass_state *state = &network->passes[index];
    state->pass.op = op;
    state->pass.max_samples = network->options.max_batch;
    state->auxiliary = network->graph->nodes[node].auxiliary;
    for (size_t i = 0; i < n; i++) {
        state->pass.layers[i] = &network->placed[chain[i]];
    }
    if (!make_inputs(network, state, &network->graph->nodes[node]) ||
        !make_label(network, state, n)) {
        return false;
    }
    state->pass.sequence = network->tensors[state->inputs[0]].sequence;
    state->pass.max_batch =
        state->pass.sequence ? network->options.max_rows : network->options.max_batch;
    state->output = add_tensor(network, chain[n - 1], index);
    state->pass.out = network->tensors[state->output].shape;
    for (size_t k = 0; k < state->pass.n_in; k++) {
        struct nn_tensor *input = &network->tensors[state->inputs[k]];
        input->consumer = input->consumers == 0 ? index : input->consumer;
        input->consumers++;
    }
    return true;
}

/* The layer of a trailing softmax, auxiliary losses, and layers already inside of a pass get none;
 * nor does, where nothing is learned, what leads to auxiliary losses alone. */
static bool needs_pass(const struct nn_network *network, size_t node)
{
    const struct nn_description *graph = network->graph;
    bool last_softmax = graph->ends_in_softmax && graph->nodes[node].n_consumers == 0;
    if (graph->nodes[node].layer.kind == &nn_kind_auxiliary_loss ||
        (graph->nodes[node].auxiliary && network->options.phase == NN_PHASE_INFERENCE)) {
        return false;
    }
    bool inside = false;
    for (size_t p = 0; p < network->n_passes; p++) {
        for (size_t i = 0; i < NN_PATTERN_MAX; i++) {
            inside = inside || network->passes[p].pass.layers[i] == &network->placed[node];
        }
    }
    return node != graph->input && !last_softmax && !inside;
}

static bool pass_trains(const struct nn_pass *pass)
{
    for (size_t i = 0; i < NN_PATTERN_MAX && pass->layers[i]; i++) {
        const struct nn_placed *placed = pass->layers[i];
        for (size_t k = 0; k < placed->plan.n_parameters; k++) {
            if (placed->parameters[k].trainable) {
                return true;
            }
        }
    }
    return false;
}

/* Which gradients are computed: those with something that trains, or that was asked for, at or
 * before them. */
static void mark_gradients(struct nn_network *network)
{
    bool training = network->options.phase == NN_PHASE_TRAINING;
    network->tensors[network->input].wants_gradient = training && network->options.input_gradient;
    for (size_t p = 0; p < network->n_passes; p++) {
        struct nn_pass_state *state = &network->passes[p];
        struct nn_tensor *output = &network->tensors[state->output];
        bool backward = training && pass_trains(&state->pass);
        for (size_t k = 0; k < state->pass.n_in; k++) {
            state->input_gradient[k] = network->tensors[state->inputs[k]].wants_gradient;
            backward = backward || state->input_gradient[k];
        }
        state->pass.backward = backward;
        output->wants_gradient = backward || (training && output->kept);
    }
    network->tensors[network->output].wants_gradient |= training; /* the loss writes it */
}

/* The scores before auxiliary losses, whose gradients the loss writes too. */
static bool find_auxiliary(struct nn_network *network)
{
    const struct nn_description *graph = network->graph;
    network->auxiliary = array(network, graph->n_nodes, sizeof *network->auxiliary);
    for (size_t i = 0; network->auxiliary && i < graph->n_nodes; i++) {
        const struct nn_node *node = &graph->nodes[i];
        if (node->layer.kind == &nn_kind_auxiliary_loss &&
            network->options.phase == NN_PHASE_TRAINING) {
            size_t tensor = network->tensor_of[node->inputs[0]];
            network->tensors[tensor].auxiliary = true;
            network->tensors[tensor].wants_gradient = true;
            network->auxiliary[network->n_auxiliary++] = tensor;
        }
    }
    return network->auxiliary != NULL;
}

/* Does a pass after `first` read the tensor? */
static bool read_later(const struct nn_network *network, size_t first, size_t tensor)
{
    for (size_t q = first + 1; q < network->n_passes; q++) {
        const struct nn_pass_state *later = &network->passes[q];
        for (size_t m = 0; m < later->pass.n_in; m++) {
            if (later->inputs[m] == tensor) {
                return true;
            }
        }
    }
    return false;
}

/* Per input, whether a later pass has written its gradient before (backward runs in reverse). */
static void mark_additions(struct nn_network *network)
{
    for (size_t p = 0; p < network->n_passes; p++) {
        struct nn_pass_state *state = &network->passes[p];
        for (size_t k = 0; k < state->pass.n_in; k++) {
            state->adds[k] = state->adds[k] || read_later(network, p, state->inputs[k]);
        }
    }
}

enum nn_status nn_plan_passes(struct nn_network *network)
{
    const struct nn_description *graph = network->graph;
    size_t n = graph->n_nodes;
    network->tensors = array(network, n, sizeof *network->tensors);
    network->tensor_of = array(network, n, sizeof *network->tensor_of);
    network->passes = array(network, n, sizeof *network->passes);
    if (!network->tensors || !network->tensor_of || !network->passes) {
        return NN_ERR_MEMORY;
    }
    for (size_t i = 0; i < n; i++) {
        network->tensor_of[i] = NN_NONE;
    }
    network->input = add_tensor(network, graph->input, NN_NONE);
    for (size_t k = 0; k < graph->n_order; k++) {
        if (needs_pass(network, graph->order[k]) && !add_pass(network, graph->order[k])) {
            return NN_ERR_MEMORY;
        }
    }
    network->output = network->tensor_of[graph->output];
    mark_gradients(network);
    if (!find_auxiliary(network)) {
        return NN_ERR_MEMORY;
    }
    mark_additions(network);
    size_t lanes = nn_pool_lanes(network->options.pool);
    for (size_t p = 0; p < network->n_passes; p++) {
        struct nn_pass_state *state = &network->passes[p];
        state->pass.op->plan(&state->pass, lanes, &state->plan);
    }
    return NN_OK;
}
