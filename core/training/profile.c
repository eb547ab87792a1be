/* SPDX-License-Identifier: MIT
 *
 * Where the time of the loop went: self time on one level, so that the rows add up to the whole.
 * The network's share is split by its own clock, per operator and direction.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/training/state_internal.h"

struct profile {
    struct nn_training_profile_row *rows;
    size_t count;
};

/* Adds to the row of (kind, direction); rows are few, so a walk will do. */
static void row_add(struct profile *profile, const char *kind, const char *direction,
                    double seconds)
{
    size_t i = 0;
    while (i < profile->count && (strcmp(profile->rows[i].kind, kind) != 0 ||
                                  strcmp(profile->rows[i].direction, direction) != 0)) {
        i++;
    }
    struct nn_training_profile_row *row = &profile->rows[i];
    if (i == profile->count) {
        (void)snprintf(row->kind, sizeof row->kind, "%s", kind);
        row->direction = direction;
        profile->count++;
    }
    row->seconds += seconds;
}

/* Returns the seconds it could attribute. */
static double network_rows(const struct nn_network *network, struct profile *profile)
{
    double sum = 0;
    for (size_t i = 0; i < nn_network_profile_count(network); i++) {
        struct nn_profile_row row = nn_network_profile(network, i);
        row_add(profile, row.operator_name, "forward", row.forward_seconds);
        row_add(profile, row.operator_name, "backward", row.backward_seconds);
        sum += row.forward_seconds + row.backward_seconds;
    }
    return sum;
}

enum nn_status nn_profile_fill(const struct nn_training_state *state,
                               struct nn_training_result *result)
{
    static const char *const KINDS[NN_TIME_COUNT] = {
        [NN_TIME_LOADER] = "loader",         [NN_TIME_LOSS] = "loss",
        [NN_TIME_SOLVER] = "solver",         [NN_TIME_VALIDATION] = "validation",
        [NN_TIME_CHECKPOINT] = "checkpoint",
    };
    size_t capacity = 2 * nn_network_profile_count(state->network) + NN_TIME_COUNT + 1;
    struct profile profile = {.rows = calloc(capacity, sizeof *profile.rows)};
    if (!profile.rows) {
        return NN_ERR_MEMORY;
    }
    double rest = state->clock.loop - network_rows(state->network, &profile);
    for (int i = 0; i < NN_TIME_COUNT; i++) {
        if (KINDS[i]) {
            row_add(&profile, KINDS[i], "", state->clock.seconds[i]);
            rest -= state->clock.seconds[i];
        }
    }
    row_add(&profile, "other", "", rest > 0 ? rest : 0);
    result->profile = profile.rows;
    result->profile_count = profile.count;
    return NN_OK;
}
