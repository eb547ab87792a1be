/* SPDX-License-Identifier: MIT
 *
 * The life of a network: planned step by step, then one block of memory for all its numbers.
 */
#include "core/network/network.h"

#include <string.h>

#include "core/network/network_internal.h"
#include "core/network/prefix.h"

#define BATCH_MAX ((size_t)1 << 20)
#define ROWS_MAX  ((size_t)1 << 28)

static enum nn_status check_options(const struct nn_network_options *options, struct nn_error *err)
{
    if (options->max_batch == 0 || options->max_batch > BATCH_MAX) {
        return nn_fail(err, NN_ERR_LIMIT, "a batch must have from 1 to %zu samples, not %zu",
                       BATCH_MAX, options->max_batch);
    }
    NN_ASSERT(options->phase != NN_PHASE_STATISTICS);
    return NN_OK;
}

/* Steps of a batch of sequences; images have none. */
static enum nn_status plan_rows(struct nn_network *network, struct nn_error *err)
{
    struct nn_network_options *options = &network->options;
    if (!nn_description_takes_sequences(network->graph)) {
        options->max_rows = 0;
        return NN_OK;
    }
    if (options->max_rows == 0 &&
        !nn_size_mul(options->max_batch, network->bind.longest, &options->max_rows)) {
        return nn_fail(err, NN_ERR_LIMIT, "a batch of such sequences is too long");
    }
    if (options->max_rows == 0) {
        return nn_fail(err, NN_ERR_INVALID,
                       "the length of the sequences is not known; give that of the data set");
    }
    if (options->max_rows > ROWS_MAX) {
        return nn_fail(err, NN_ERR_LIMIT, "the sequences of a batch must have at most %zu steps",
                       ROWS_MAX);
    }
    return NN_OK;
}

/* A layer that is asked for by a name the network does not have. */
static enum nn_status check_names(const struct nn_description *graph, const char *const *names,
                                  size_t n, struct nn_error *err)
{
    for (size_t i = 0; i < n; i++) {
        size_t k = 0;
        while (k < graph->n_nodes && strcmp(graph->nodes[k].layer.name, names[i]) != 0) {
            k++;
        }
        if (k == graph->n_nodes) {
            return nn_fail(err, NN_ERR_INVALID, "the network has no layer called \"%.64s\"",
                           names[i]);
        }
    }
    return NN_OK;
}

static enum nn_status plan_sizes(struct nn_network *network, struct nn_error *err)
{
    const struct nn_description *graph = network->graph;
    struct nn_layer_plan *plans = nn_arena_alloc(network->arena, graph->n_nodes, sizeof *plans);
    struct nn_issues issues;
    if (!plans || !nn_issues_init(&issues)) {
        return NN_ERR_MEMORY;
    }
    nn_graph_plan(graph, &network->bind, &issues, plans);
    enum nn_status status = nn_issues_status(&issues, err);
    nn_issues_deinit(&issues);
    status = status == NN_OK ? plan_rows(network, err) : status;
    return status == NN_OK ? nn_plan_parameters(network, plans, err) : status;
}

static enum nn_status plan_all(struct nn_network *network, struct nn_error *err)
{
    const struct nn_network_options *options = &network->options;
    enum nn_status status = check_options(options, err);
    if (status == NN_OK) {
        status = check_names(network->graph, options->frozen, options->n_frozen, err);
    }
    if (status == NN_OK) {
        status = check_names(network->graph, options->kept, options->n_kept, err);
    }
    status = status == NN_OK ? plan_sizes(network, err) : status;
    status = status == NN_OK ? nn_plan_passes(network) : status;
    if (status == NN_OK) {
        nn_plan_prefix(network);
        nn_plan_places(network);
        status = nn_plan_memory(network, err);
    }
    return status;
}

/* A network without its block. */
static enum nn_status plan_network(const struct nn_description *description,
                                   const struct nn_network_bind *bind,
                                   const struct nn_network_options *options,
                                   struct nn_network **out, struct nn_error *err)
{
    struct nn_arena *arena = NULL;
    if (nn_arena_create(NULL, 0, &arena) != NN_OK) {
        return nn_fail(err, NN_ERR_MEMORY, "out of memory while planning the network");
    }
    struct nn_network *network = nn_arena_alloc(arena, 1, sizeof *network);
    struct nn_error why = {.text = "out of memory while planning the network"};
    enum nn_status status = NN_ERR_MEMORY;
    if (network) {
        bool plain = options->operators == NN_OPERATORS_PLAIN;
        *network = (struct nn_network){
            .arena = arena,
            .graph = description,
            .bind = *bind,
            .options = *options,
            .optimised = !plain,
            .exec = {.kernels = plain              ? nn_kernels_get(NN_ISA_PLAIN)
                                : options->kernels ? options->kernels
                                                   : nn_kernels_best(),
                     .pool = options->pool},
        };
        status = plan_all(network, &why);
    }
    if (status != NN_OK) {
        nn_arena_destroy(arena);
        return nn_fail_at(err, status, why.pointer, "%s", why.text);
    }
    *out = network;
    return NN_OK;
}

enum nn_status nn_network_plan_bytes(const struct nn_description *description,
                                     const struct nn_network_bind *bind,
                                     const struct nn_network_options *options, size_t *out_bytes,
                                     struct nn_error *err)
{
    struct nn_network *network = NULL;
    enum nn_status status = plan_network(description, bind, options, &network, err);
    if (status == NN_OK) {
        *out_bytes = network->bytes + NN_ALIGNMENT; /* with the allocator's bookkeeping */
        nn_arena_destroy(network->arena);
    }
    return status;
}

enum nn_status nn_network_plan_prefix(const struct nn_description *description,
                                      const struct nn_network_bind *bind,
                                      const struct nn_network_options *options, bool *out_has,
                                      struct nn_prefix *out, struct nn_error *err)
{
    struct nn_network *network = NULL;
    enum nn_status status = plan_network(description, bind, options, &network, err);
    if (status == NN_OK) {
        *out_has = nn_network_prefix(network, out);
        nn_arena_destroy(network->arena);
    }
    return status;
}

/* Values before any import or initialisation: batch norm does nothing. */
static void set_first_values(struct nn_network *network)
{
    for (size_t i = 0; i < network->n_parameters; i++) {
        const struct nn_parameter *parameter = &network->parameters[i];
        bool one = parameter->role == NN_ROLE_SCALE || parameter->role == NN_ROLE_RUNNING_VAR;
        for (size_t k = 0; one && k < parameter->count; k++) {
            parameter->value[k] = 1;
        }
    }
    nn_input_initialize(&network->placed[network->graph->input]);
}

enum nn_status nn_network_create(const struct nn_description *description,
                                 const struct nn_network_bind *bind,
                                 const struct nn_network_options *options, struct nn_network **out,
                                 struct nn_error *err)
{
    struct nn_network *network = NULL;
    enum nn_status status = plan_network(description, bind, options, &network, err);
    if (status != NN_OK) {
        return status;
    }
    network->block = nn_memory_alloc(options->memory, network->bytes, 1);
    if (!network->block) {
        status =
            nn_fail(err, NN_ERR_MEMORY, "the network needs %zu bytes, which is more than there are",
                    network->bytes);
        nn_arena_destroy(network->arena);
        return status;
    }
    nn_network_bind_memory(network);
    if (!options->weights_of) {
        set_first_values(network);
    }
    *out = network;
    return NN_OK;
}

void nn_network_destroy(struct nn_network *network)
{
    if (network) {
        nn_memory_free(network->options.memory, network->block);
        nn_arena_destroy(network->arena);
    }
}
