/* SPDX-License-Identifier: MIT
 *
 * The profile of the steps of a run; comes with its result.
 */
#ifndef NN_TRAINING_PROFILE_H
#define NN_TRAINING_PROFILE_H

#include <stddef.h>
#include <stdint.h>

/* Where the time of a step went: self time on one level, so that the rows add up to the whole. */
struct nn_profile_item {
    char *layers;              /* "bn1+relu1"; "" for what is no layer */
    const char *operator_name; /* static; of the network, or "loader", "loss", a solver, "other" */
    const char *phase;         /* "forward", "backward", "loss", "update", "data_wait", "other" */
    double seconds;            /* of all steps together */
};

/* Every step of this run is measured but the first NN_PROFILE_WARM_UP, which pay for cold caches
 * and fresh memory; of a run that has no others, those are. */
enum { NN_PROFILE_WARM_UP = 2 };
struct nn_training_profile {
    uint64_t steps;                                /* 0: the run made none, there are no items */
    double seconds;                                /* of these steps */
    double validation_seconds, checkpoint_seconds; /* between the steps of this run */
    struct nn_profile_item *items; /* layers in order, both directions; then the others */
    size_t count;
};

#endif
