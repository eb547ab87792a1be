/* SPDX-License-Identifier: MIT
 *
 * The values of a network as one vector: weights, biases, running statistics and the statistics of
 * the input, in description order, in memory order.
 */
#include <math.h>
#include <string.h>

#include "core/base/random.h"
#include "core/training/state_internal.h"

size_t nn_values_count(const struct nn_network *network)
{
    size_t total = 0;
    for (size_t i = 0; i < nn_network_parameter_count(network); i++) {
        total += nn_network_parameter(network, i)->count;
    }
    return total;
}

void nn_values_get(const struct nn_network *network, nn_real *out)
{
    for (size_t i = 0; i < nn_network_parameter_count(network); i++) {
        const struct nn_parameter *parameter = nn_network_parameter(network, i);
        memcpy(out, parameter->value, parameter->count * sizeof *out);
        out += parameter->count;
    }
}

void nn_values_set(struct nn_network *network, const nn_real *values)
{
    for (size_t i = 0; i < nn_network_parameter_count(network); i++) {
        const struct nn_parameter *parameter = nn_network_parameter(network, i);
        memcpy(parameter->value, values, parameter->count * sizeof *values);
        values += parameter->count;
    }
}

bool nn_values_finite(const struct nn_training_state *state)
{
    for (size_t i = 0; i < nn_network_parameter_count(state->network); i++) {
        const struct nn_parameter *parameter = nn_network_parameter(state->network, i);
        for (size_t k = 0; k < parameter->count; k++) {
            if (!isfinite(parameter->value[k])) {
                return false;
            }
        }
    }
    return true;
}

/* Deviation of a new head's weights, as in torchvision's SqueezeNet and MobileNet. Larger ones (of
 * Glorot's rule, say) meet features of a trained network, which are large: the first steps then
 * throw the scores so far that a ReLU behind the head goes silent for good. */
#define NEW_HEAD_DEVIATION 0.01

enum nn_status nn_values_new_head(const struct nn_training_state *state, struct nn_error *err)
{
    const struct nn_network *network = state->network;
    const char *head = nn_network_head(network);
    for (size_t i = 0; head && i < nn_network_parameter_count(network); i++) {
        const struct nn_parameter *parameter = nn_network_parameter(network, i);
        if (parameter->role != NN_ROLE_WEIGHT || strcmp(parameter->layer, head) != 0) {
            continue;
        }
        struct nn_random random;
        nn_real *values = nn_memory_alloc(state->setup->memory, parameter->count, sizeof *values);
        if (!values) {
            return nn_fail(err, NN_ERR_MEMORY, "no memory for a new head");
        }
        nn_random_init(&random, state->setup->seed, NN_RANDOM_INITIALIZE, 0, i);
        for (size_t k = 0; k < parameter->count; k++) {
            values[k] = (nn_real)(NEW_HEAD_DEVIATION * nn_random_normal(&random));
        }
        nn_parameter_from_torch(parameter, values);
        nn_memory_free(state->setup->memory, values);
    }
    return NN_OK;
}
