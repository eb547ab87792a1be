/* SPDX-License-Identifier: MIT
 *
 * Where the time of a step went. The passes are counted by the network's own clock, per operator
 * and direction; what is left of the step after all that is named is `other`.
 */
#include <stdlib.h>
#include <string.h>

#include "core/training/state_internal.h"

/* So many rows beside those of the network: loss, update, data_wait, other. */
enum { BESIDE = 4 };

void nn_profile_step(struct nn_training_state *state)
{
    struct nn_training_clock *clock = &state->clock;
    if (clock->warm || clock->steps < NN_PROFILE_WARM_UP) {
        return;
    }
    clock->warm = true;
    clock->steps = 0;
    clock->step_seconds = 0;
    clock->seconds[NN_TIME_LOADER] = clock->seconds[NN_TIME_LOSS] = 0;
    clock->seconds[NN_TIME_SOLVER] = 0;
    nn_network_profile_reset(state->network);
}

/* Takes layers; false when it is NULL: out of memory. */
static bool add_take(struct nn_training_profile *profile, char *layers, const char *operator_name,
                     const char *phase, double seconds)
{
    if (!layers) {
        return false;
    }
    profile->items[profile->count++] =
        (struct nn_profile_item){layers, operator_name, phase, seconds};
    return true;
}

static bool add_layers(const struct nn_network *network, struct nn_training_profile *profile)
{
    bool added = true;
    for (size_t i = 0; added && i < nn_network_profile_count(network); i++) {
        struct nn_profile_row row = nn_network_profile(network, i);
        if (row.forward_calls > 0) {
            added = add_take(profile, strdup(row.layers), row.operator_name, "forward",
                             row.forward_seconds);
        }
        if (added && row.backward_calls > 0) {
            added = add_take(profile, strdup(row.layers), row.operator_name, "backward",
                             row.backward_seconds);
        }
    }
    return added;
}

static bool add_beside(const struct nn_training_state *state, struct nn_training_profile *profile)
{
    const double *seconds = state->clock.seconds;
    enum nn_solver_kind solver = (enum nn_solver_kind)state->setup->options.solver.kind;
    bool added =
        add_take(profile, strdup(""), "loss", "loss", seconds[NN_TIME_LOSS]) &&
        add_take(profile, strdup(""), nn_solver_name(solver), "update", seconds[NN_TIME_SOLVER]) &&
        add_take(profile, strdup(""), "loader", "data_wait", seconds[NN_TIME_LOADER]);
    double rest = profile->seconds;
    for (size_t i = 0; i < profile->count; i++) {
        rest -= profile->items[i].seconds;
    }
    return added && add_take(profile, strdup(""), "other", "other", rest > 0 ? rest : 0);
}

enum nn_status nn_profile_fill(const struct nn_training_state *state,
                               struct nn_training_profile *out)
{
    const struct nn_training_clock *clock = &state->clock;
    struct nn_training_profile profile = {
        .steps = clock->steps,
        .seconds = clock->step_seconds,
        .validation_seconds = clock->seconds[NN_TIME_VALIDATION],
        .checkpoint_seconds = clock->seconds[NN_TIME_CHECKPOINT],
    };
    if (clock->steps == 0) {
        *out = profile;
        return NN_OK;
    }
    profile.items =
        calloc(2 * nn_network_profile_count(state->network) + BESIDE, sizeof *profile.items);
    if (!profile.items || !add_layers(state->network, &profile) || !add_beside(state, &profile)) {
        nn_profile_deinit(&profile);
        return NN_ERR_MEMORY;
    }
    *out = profile;
    return NN_OK;
}

void nn_profile_deinit(struct nn_training_profile *profile)
{
    for (size_t i = 0; i < profile->count; i++) {
        free(profile->items[i].layers);
    }
    free(profile->items);
    *profile = (struct nn_training_profile){0};
}
