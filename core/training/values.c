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

/* Exact sums over integers, so the order of samples does not matter. A constant channel gets the
 * deviation 1: it becomes 0, not NaN. */
static void channel_statistics(const struct nn_training_state *state, size_t channel, nn_real *mean,
                               nn_real *deviation)
{
    const struct nn_training_setup *setup = state->setup;
    const struct nn_split_side *train = &setup->parts[NN_PART_TRAIN];
    const struct nn_prepared_info *info = nn_prepared_info(setup->prepared);
    uint64_t sum = 0;
    uint64_t squares = 0;
    for (size_t i = 0; i < train->count; i++) {
        const uint8_t *pixels = nn_prepared_pixels(setup->prepared, train->items[i]);
        for (size_t k = channel; k < state->sample_bytes; k += info->channels) {
            sum += pixels[k];
            squares += (uint64_t)pixels[k] * pixels[k];
        }
    }
    double n = (double)train->count * (double)info->height * (double)info->width;
    double average = (double)sum / n;
    double variance = (double)squares / n - average * average;
    *mean = (nn_real)average;
    *deviation = variance > 0.0 ? (nn_real)sqrt(variance) : 1;
}

void nn_values_input_statistics(const struct nn_training_state *state)
{
    const struct nn_parameter *mean = NULL;
    const struct nn_parameter *deviation = NULL;
    for (size_t i = 0; i < nn_network_parameter_count(state->network); i++) {
        const struct nn_parameter *parameter = nn_network_parameter(state->network, i);
        mean = parameter->role == NN_ROLE_INPUT_MEAN ? parameter : mean;
        deviation = parameter->role == NN_ROLE_INPUT_STD ? parameter : deviation;
    }
    bool wanted = mean && deviation && !mean->described;
    for (size_t c = 0; wanted && c < mean->count; c++) {
        channel_statistics(state, c, &mean->value[c], &deviation->value[c]);
    }
}
