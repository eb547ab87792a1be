/* SPDX-License-Identifier: MIT
 *
 * The values of a network as one vector: weights, biases, running statistics and the statistics of
 * the input, in description order, in memory order.
 */
#include <math.h>
#include <string.h>

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
