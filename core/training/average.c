/* SPDX-License-Identifier: MIT
 *
 * The moving average of all values of a network, running statistics included: what is evaluated and
 * kept when ema_decay is set. After update t (from 1)
 *     average += (1 - min(decay, (1 + t) / (10 + t))) * (value - average)
 * from the first values on, as TensorFlow's ExponentialMovingAverage with num_updates: a long
 * average does not hang on to where it began. What does not move (frozen layers, the input's
 * statistics) stays to the bit.
 */
#include <math.h>
#include <string.h>

#include "core/kernels/pointwise.h"
#include "core/training/state_internal.h"

void nn_average_update(struct nn_training_state *state)
{
    if (!state->average) {
        return;
    }
    double t = (double)nn_solver_updates(state->solver);
    double decay = fmin(state->setup->options.ema_decay, (1 + t) / (10 + t));
    nn_real *average = state->average;
    for (size_t i = 0; i < nn_network_parameter_count(state->network); i++) {
        const struct nn_parameter *parameter = nn_network_parameter(state->network, i);
        nn_average(&state->exec, average, parameter->value, parameter->count, (nn_real)(1 - decay));
        average += parameter->count;
    }
}

void nn_average_swap(struct nn_training_state *state)
{
    nn_real *average = state->average;
    for (size_t i = 0; average && i < nn_network_parameter_count(state->network); i++) {
        const struct nn_parameter *parameter = nn_network_parameter(state->network, i);
        for (size_t k = 0; k < parameter->count; k++) {
            nn_real value = parameter->value[k];
            parameter->value[k] = average[k];
            average[k] = value;
        }
        average += parameter->count;
    }
}

void nn_average_get(const struct nn_training_state *state, nn_real *out)
{
    if (state->average) {
        memcpy(out, state->average, state->value_count * sizeof *out);
    } else {
        nn_values_get(state->network, out);
    }
}
