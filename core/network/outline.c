/* SPDX-License-Identifier: MIT
 *
 * What can be said of a network's parameters without building it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/network/network_internal.h"

static bool has_weights(const struct nn_node *node)
{
    return strcmp(node->layer.kind->name, "convolution") == 0 ||
           strcmp(node->layer.kind->name, "fully_connected") == 0 ||
           strcmp(node->layer.kind->name, "lstm") == 0 ||
           strcmp(node->layer.kind->name, "gru") == 0;
}

const char *nn_description_head(const struct nn_description *description)
{
    const char *head = NULL;
    for (size_t i = 0; i < description->n_order; i++) {
        const struct nn_node *node = &description->nodes[description->order[i]];
        head = has_weights(node) && !node->auxiliary ? node->layer.name : head;
    }
    return head;
}

const char *nn_network_head(const struct nn_network *network)
{
    return nn_description_head(network->graph);
}

const char *nn_description_layer_name(const struct nn_description *description, size_t i)
{
    return i < description->n_nodes ? description->nodes[i].layer.name : NULL;
}

static size_t find_node(const struct nn_description *description, const char *name)
{
    size_t i = 0;
    while (i < description->n_nodes && strcmp(description->nodes[i].layer.name, name) != 0) {
        i++;
    }
    return i;
}

/* ---- maps ---- */

/* Sizes of every node, to be freed; NULL when they do not fit, or for sequences. */
static struct nn_layer_plan *plan_images(const struct nn_description *description,
                                         const struct nn_network_bind *bind)
{
    struct nn_layer_plan *plans = calloc(description->n_nodes, sizeof *plans);
    struct nn_issues issues = {0};
    bool fine = plans && !nn_description_takes_sequences(description) && nn_issues_init(&issues);
    if (fine) {
        nn_graph_plan(description, bind, &issues, plans);
        fine = issues.errors == 0 && !issues.out_of_memory;
    }
    nn_issues_deinit(&issues);
    if (!fine) {
        free(plans);
        return NULL;
    }
    return plans;
}

static bool is_large(const struct nn_layer_plan *plan)
{
    return plan->out.height * plan->out.width > 1;
}

/* A dropout does nothing in evaluation: what stands before it is the map. */
static bool is_dropout(const struct nn_node *node)
{
    return strcmp(node->layer.kind->name, "dropout") == 0;
}

const char *nn_description_features(const struct nn_description *description,
                                    const struct nn_network_bind *bind)
{
    struct nn_layer_plan *plans = plan_images(description, bind);
    size_t at = plans ? description->output : description->input;
    while (at != description->input &&
           (!is_large(&plans[at]) || is_dropout(&description->nodes[at]))) {
        at = description->nodes[at].inputs[0];
    }
    free(plans);
    return at == description->input ? NULL : description->nodes[at].layer.name;
}

bool nn_description_shows(const struct nn_description *description, const char *layer)
{
    size_t i = find_node(description, layer);
    return i < description->n_nodes &&
           (i == description->output ||
            (description->nodes[i].n_consumers > 0 && !description->nodes[i].auxiliary));
}

bool nn_description_is_map(const struct nn_description *description,
                           const struct nn_network_bind *bind, const char *layer)
{
    struct nn_layer_plan *plans = plan_images(description, bind);
    size_t i = find_node(description, layer);
    bool is_map =
        plans && i < description->n_nodes && i != description->input && is_large(&plans[i]);
    free(plans);
    return is_map;
}

/* ---- freezing ---- */

/* Marks a node and all that it is made of; nodes stand in an order that puts inputs first. */
static void mark_up_to(const struct nn_description *description, size_t last, bool *marked)
{
    marked[last] = true;
    for (size_t k = description->n_order; k-- > 0;) {
        size_t i = description->order[k];
        for (size_t m = 0; marked[i] && m < description->nodes[i].n_inputs; m++) {
            marked[description->nodes[i].inputs[m]] = true;
        }
    }
}

static enum nn_status mark_frozen(const struct nn_description *description, enum nn_freeze freeze,
                                  const char *layer, bool *marked, struct nn_error *err)
{
    const char *head = nn_description_head(description);
    size_t last = freeze == NN_FREEZE_UP_TO ? find_node(description, layer) : 0;
    if (last == description->n_nodes) {
        return nn_fail(err, NN_ERR_INVALID, "the network has no layer called \"%.64s\"", layer);
    }
    if (freeze == NN_FREEZE_UP_TO) {
        mark_up_to(description, last, marked);
    }
    for (size_t i = 0; freeze == NN_FREEZE_ALL_BUT_HEAD && i < description->n_nodes; i++) {
        marked[i] = !head || strcmp(description->nodes[i].layer.name, head) != 0;
    }
    if (freeze != NN_FREEZE_NONE && (!head || marked[find_node(description, head)])) {
        return nn_fail(err, NN_ERR_INVALID, "with all of the network frozen nothing would train");
    }
    return NN_OK;
}

enum nn_status nn_description_frozen(const struct nn_description *description,
                                     enum nn_freeze freeze, const char *layer,
                                     const char *const **out, size_t *out_n, struct nn_error *err)
{
    size_t n = description->n_nodes, used = 0;
    const char **names = calloc(n, sizeof(void *));
    bool *marked = calloc(n, sizeof *marked);
    enum nn_status status = NN_OK;
    if (!names || !marked) {
        status = nn_fail(err, NN_ERR_MEMORY, "no memory for the names of layers");
        goto cleanup;
    }
    status = mark_frozen(description, freeze, layer, marked, err);
    for (size_t k = 0; status == NN_OK && k < description->n_order; k++) {
        size_t i = description->order[k];
        if (marked[i]) {
            names[used++] = description->nodes[i].layer.name;
        }
    }
    if (status == NN_OK) {
        *out = names;
        *out_n = used;
        names = NULL;
    }
cleanup:
    free(names);
    free(marked);
    return status;
}

/* ---- parameters ---- */

static void outline_node(const struct nn_node *node, const struct nn_layer_plan *plan,
                         struct nn_parameter_shape *out)
{
    for (size_t k = 0; k < plan->n_parameters; k++) {
        const struct nn_parameter_plan *parameter = &plan->parameters[k];
        out[k] = (struct nn_parameter_shape){.layer = node->layer.name,
                                             .auxiliary = node->auxiliary,
                                             .role = parameter->role,
                                             .learnable = parameter->learnable,
                                             .ndim = parameter->ndim};
        (void)snprintf(out[k].name, sizeof out[k].name, "%s.%s", node->layer.name,
                       parameter->suffix);
        memcpy(out[k].shape, parameter->shape, sizeof parameter->shape);
    }
}

enum nn_status nn_description_parameters(const struct nn_description *description,
                                         const struct nn_network_bind *bind,
                                         struct nn_parameter_shape **out, size_t *out_n,
                                         struct nn_error *err)
{
    size_t n = description->n_nodes;
    struct nn_layer_plan *plans = calloc(n, sizeof *plans);
    struct nn_parameter_shape *shapes = calloc(n * NN_LAYER_PARAMETERS_MAX, sizeof *shapes);
    struct nn_issues issues = {0};
    enum nn_status status = NN_OK;
    if (!plans || !shapes || !nn_issues_init(&issues)) {
        status = nn_fail(err, NN_ERR_MEMORY, "no memory for the parameters of a network");
        goto cleanup;
    }
    nn_graph_plan(description, bind, &issues, plans);
    status = nn_issues_status(&issues, err);
    if (status == NN_OK) {
        size_t used = 0;
        for (size_t i = 0; i < n; i++) {
            outline_node(&description->nodes[i], &plans[i], shapes + used);
            used += plans[i].n_parameters;
        }
        *out = shapes;
        *out_n = used;
        shapes = NULL;
    }
cleanup:
    nn_issues_deinit(&issues);
    free(shapes);
    free(plans);
    return status;
}
