/* SPDX-License-Identifier: MIT
 *
 * Where the frozen prefix ends, and how it is run and skipped.
 */
#include "core/network/prefix.h"

#include <string.h>

#include "core/network/network_internal.h"

/* ---- where it ends ---- */

/* Nothing of the pass trains, and it gives the same for a sample in every epoch. */
static bool is_fixed(const struct nn_pass *pass)
{
    for (size_t i = 0; i < NN_PATTERN_MAX && pass->layers[i]; i++) {
        const struct nn_placed *placed = pass->layers[i];
        if (strcmp(placed->layer->kind->name, "dropout") == 0) {
            return false;
        }
        if (placed->plan.n_parameters > 0 && !placed->frozen) {
            return false; /* values that train, or statistics that move */
        }
    }
    return true;
}

/* Later passes read nothing that was there before the output of pass `last`. */
static bool is_cut(const struct nn_network *network, size_t last)
{
    for (size_t p = last + 1; p < network->n_passes; p++) {
        const struct nn_pass_state *state = &network->passes[p];
        for (size_t k = 0; k < state->pass.n_in; k++) {
            size_t tensor = state->inputs[k];
            size_t producer = network->tensors[tensor].producer;
            if (tensor != network->passes[last].output &&
                (producer == NN_NONE || producer <= last)) {
                return false;
            }
        }
    }
    return true;
}

void nn_plan_prefix(struct nn_network *network)
{
    network->prefix_passes = 0;
    for (size_t p = 0; p + 1 < network->n_passes && is_fixed(&network->passes[p].pass); p++) {
        if (is_cut(network, p)) {
            network->prefix_passes = p + 1;
        }
    }
    if (nn_description_takes_sequences(network->graph)) {
        network->prefix_passes = 0;
    }
}

static const struct nn_tensor *last_tensor(const struct nn_network *network)
{
    NN_ASSERT(network->prefix_passes > 0);
    return &network->tensors[network->passes[network->prefix_passes - 1].output];
}

bool nn_network_prefix(const struct nn_network *network, struct nn_prefix *out)
{
    if (network->prefix_passes == 0) {
        return false;
    }
    const struct nn_tensor *last = last_tensor(network);
    *out = (struct nn_prefix){.layer = network->graph->nodes[last->node].layer.name,
                              .height = last->shape.height,
                              .width = last->shape.width,
                              .channels = last->shape.channels};
    return true;
}

bool nn_network_prefix_has(const struct nn_network *network, const struct nn_parameter *parameter)
{
    bool found = parameter->layer == network->placed[network->graph->input].layer->name;
    for (size_t p = 0; p < network->prefix_passes; p++) {
        const struct nn_pass *pass = &network->passes[p].pass;
        for (size_t i = 0; i < NN_PATTERN_MAX && pass->layers[i]; i++) {
            found = found || parameter->layer == pass->layers[i]->layer->name;
        }
    }
    return found && network->prefix_passes > 0;
}

static bool has_node(const struct nn_network *network, size_t node)
{
    bool found = node == network->graph->input;
    for (size_t p = 0; p < network->prefix_passes; p++) {
        for (size_t i = 0; i < NN_PATTERN_MAX; i++) {
            found = found || network->passes[p].pass.layers[i] == &network->placed[node];
        }
    }
    return found;
}

static json_t *node_text(const struct nn_network *network, const struct nn_node *node)
{
    json_t *inputs = json_array();
    bool fine = inputs != NULL;
    for (size_t k = 0; fine && k < node->n_inputs; k++) {
        const char *name = network->graph->nodes[node->inputs[k]].layer.name;
        fine = json_array_append_new(inputs, json_string(name)) == 0;
    }
    json_t *layer = fine ? nn_node_json(node) : NULL;
    if (!layer || json_object_set(layer, "inputs", inputs) != 0) {
        json_decref(layer);
        layer = NULL;
    }
    json_decref(inputs);
    return layer;
}

char *nn_network_prefix_text(const struct nn_network *network)
{
    json_t *layers = json_array();
    bool fine = layers != NULL;
    for (size_t i = 0; fine && i < network->graph->n_nodes; i++) {
        fine = !has_node(network, i) ||
               json_array_append_new(layers, node_text(network, &network->graph->nodes[i])) == 0;
    }
    char *text = fine ? jx_canonical(layers) : NULL;
    json_decref(layers);
    return text;
}

/* ---- running ---- */

void nn_network_prefix_forward(struct nn_network *network, size_t batch, nn_real *out)
{
    const struct nn_tensor *last = last_tensor(network);
    struct nn_view view = last->value.view;
    NN_ASSERT(network->first_pass == 0);
    nn_network_run_passes(network, batch, NN_PHASE_INFERENCE, network->prefix_passes);
    nn_copy(&network->exec, out, last->shape.channels, false, view.data, view.ld,
            batch * last->shape.height * last->shape.width, last->shape.channels);
}

/* The rows of one sample into their place. */
struct load_rows {
    const struct nn_tensor *last;
    const nn_real *const *rows;
};

static void load_sample(void *ctx, size_t sample, size_t lane)
{
    (void)lane;
    const struct load_rows *load = ctx;
    struct nn_shape shape = load->last->shape;
    struct nn_view view = load->last->value.view;
    size_t pixels = shape.height * shape.width;
    const nn_real *src = load->rows[sample];
    nn_real *dst = view.data + sample * pixels * view.ld;
    if (view.ld == shape.channels) {
        memcpy(dst, src, pixels * shape.channels * sizeof *dst);
        return;
    }
    for (size_t i = 0; i < pixels; i++) {
        memcpy(dst + i * view.ld, src + i * shape.channels, shape.channels * sizeof *dst);
    }
}

void nn_network_prefix_load(struct nn_network *network, const nn_real *const *rows, size_t batch)
{
    NN_ASSERT(batch > 0 && batch <= network->options.max_batch);
    double began = network->clock ? network->clock(network->clock_ctx) : 0;
    struct load_rows load = {last_tensor(network), rows};
    nn_parallel_for(network->exec.pool, batch, load_sample, &load);
    network->first_pass = network->prefix_passes;
    network->load_seconds += (network->clock ? network->clock(network->clock_ctx) : 0) - began;
    network->load_calls++;
}
