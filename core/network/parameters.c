/* SPDX-License-Identifier: MIT
 *
 * Parameters: names, blocks, and the way to PyTorch's order and back.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/network/network_internal.h"

/* Numbers of a whole batch of one activation. */
#define BATCH_COUNT_MAX ((size_t)1 << 42)

static enum nn_status check_batch(const struct nn_network *network,
                                  const struct nn_layer_plan *plan, const char *layer,
                                  struct nn_error *err)
{
    const struct nn_network_options *options = &network->options;
    size_t batch = plan->sequence ? options->max_rows : options->max_batch;
    struct nn_shape shape = plan->out;
    size_t count;
    if (shape.channels == 0 || !nn_shape_count(shape, &count)) {
        return nn_fail(err, NN_ERR_INVALID,
                       "layer \"%s\": its size is not known; give the sizes of the data set",
                       layer);
    }
    if (!nn_size_mul(count, batch, &count) || count > BATCH_COUNT_MAX) {
        return nn_fail(err, NN_ERR_LIMIT, "layer \"%s\": a batch of its outputs is too large",
                       layer);
    }
    return NN_OK;
}

static bool add_parameter(struct nn_network *network, const struct nn_placed *placed,
                          const struct nn_parameter_plan *plan)
{
    size_t index = network->n_parameters++;
    struct nn_parameter *parameter = &network->parameters[index];
    size_t size = NN_LAYER_NAME_MAX + 32;
    char *name = nn_arena_alloc(network->arena, size, 1);
    if (!name) {
        return false;
    }
    (void)snprintf(name, size, "%s.%s", placed->layer->name, plan->suffix);
    *parameter = (struct nn_parameter){
        .name = name,
        .layer = placed->layer->name,
        .role = plan->role,
        .trainable = plan->learnable && !placed->frozen,
        .described = plan->described,
        .auxiliary = network->graph->nodes[placed - network->placed].auxiliary,
        .ndim = plan->ndim,
        .learning_rate_factor = plan->learning_rate_factor,
        .l2_factor = plan->l2_factor,
        .count = plan->extent[0] * plan->extent[1] * plan->extent[2] * plan->extent[3],
    };
    memcpy(parameter->shape, plan->shape, sizeof parameter->shape);
    memcpy(parameter->extent, plan->extent, sizeof parameter->extent);
    memcpy(parameter->order, plan->order, sizeof parameter->order);
    size_t *used = parameter->trainable ? &network->values_count : &network->states_count;
    network->value_offsets[index] = *used;
    *used += nn_padded_count(parameter->count);
    return true;
}

static enum nn_status place_node(struct nn_network *network, size_t i,
                                 const struct nn_layer_plan *plan, struct nn_error *err)
{
    const struct nn_node *node = &network->graph->nodes[i];
    struct nn_placed *placed = &network->placed[i];
    enum nn_status status = check_batch(network, plan, node->layer.name, err);
    if (status != NN_OK) {
        return status;
    }
    *placed = (struct nn_placed){
        .layer = &node->layer,
        .plan = *plan,
        .parameters = &network->parameters[network->n_parameters],
        .number = node->number,
        .frozen =
            nn_name_listed(node->layer.name, network->options.frozen, network->options.n_frozen),
    };
    for (size_t k = 0; k < plan->n_parameters; k++) {
        if (!add_parameter(network, placed, &plan->parameters[k])) {
            return NN_ERR_MEMORY;
        }
    }
    return NN_OK;
}

enum nn_status nn_plan_parameters(struct nn_network *network, const struct nn_layer_plan *plans,
                                  struct nn_error *err)
{
    size_t n = network->graph->n_nodes;
    size_t most = n * NN_LAYER_PARAMETERS_MAX;
    network->placed = nn_arena_alloc(network->arena, n, sizeof *network->placed);
    network->parameters = nn_arena_alloc(network->arena, most, sizeof *network->parameters);
    network->value_offsets = nn_arena_alloc(network->arena, most, sizeof *network->value_offsets);
    if (!network->placed || !network->parameters || !network->value_offsets) {
        return NN_ERR_MEMORY;
    }
    for (size_t i = 0; i < n; i++) {
        enum nn_status status = place_node(network, i, &plans[i], err);
        if (status != NN_OK) {
            return status;
        }
    }
    return NN_OK;
}

/* ---- access ---- */

size_t nn_network_parameter_count(const struct nn_network *network)
{
    return network->n_parameters;
}

const struct nn_parameter *nn_network_parameter(const struct nn_network *network, size_t i)
{
    return i < network->n_parameters ? &network->parameters[i] : NULL;
}

nn_real *nn_network_values(const struct nn_network *network, size_t *out_count)
{
    *out_count = network->values ? network->values_count : 0;
    return network->values;
}

nn_real *nn_network_grads(const struct nn_network *network, size_t *out_count)
{
    *out_count = network->grads ? network->values_count : 0;
    return network->grads;
}

void nn_network_zero_grads(struct nn_network *network)
{
    if (network->grads) {
        memset(network->grads, 0, network->values_count * sizeof(nn_real));
    }
}

/* ---- PyTorch's order ---- */

struct nn_walk nn_walk_begin(const struct nn_parameter *parameter)
{
    struct nn_walk walk = {0};
    size_t stride = 1;
    for (size_t i = 4; i-- > 0;) {
        walk.stride[parameter->order[i]] = stride;
        stride *= parameter->extent[parameter->order[i]];
    }
    return walk;
}

void nn_walk_next(struct nn_walk *walk, const struct nn_parameter *parameter)
{
    for (size_t axis = 4; axis-- > 0;) {
        walk->offset += walk->stride[axis];
        if (++walk->at[axis] < parameter->extent[axis]) {
            return;
        }
        walk->offset -= walk->stride[axis] * parameter->extent[axis];
        walk->at[axis] = 0;
    }
}

void nn_parameter_to_torch(const struct nn_parameter *parameter, nn_real *out)
{
    struct nn_walk walk = nn_walk_begin(parameter);
    for (size_t i = 0; i < parameter->count; i++) {
        out[i] = parameter->value[walk.offset];
        nn_walk_next(&walk, parameter);
    }
}

void nn_parameter_from_torch(const struct nn_parameter *parameter, const nn_real *in)
{
    struct nn_walk walk = nn_walk_begin(parameter);
    for (size_t i = 0; i < parameter->count; i++) {
        parameter->value[walk.offset] = in[i];
        nn_walk_next(&walk, parameter);
    }
}
