/* SPDX-License-Identifier: MIT
 *
 * A scaling as it is kept: between what makes and applies it (scaling.c) and its document
 * (scaling_document.c).
 */
#ifndef NN_DATA_SCALING_INTERNAL_H
#define NN_DATA_SCALING_INTERNAL_H

#include "core/base/memory.h"
#include "core/data/scaling.h"

struct nn_scaling {
    struct nn_arena *arena;
    size_t width; /* columns of a row that is scaled */
    size_t n_inputs, n_targets, n_dropped;
    struct nn_scaling_column *inputs, *targets;
    size_t *dropped;
    const char **input_names, **target_names, **dropped_names;
    double target_max;
};

/* Room for so many columns of each kind. NN_ERR_MEMORY. */
NN_MUST_CHECK enum nn_status nn_scaling_allocate(size_t inputs, size_t targets, size_t dropped,
                                                 struct nn_scaling **out_scaling,
                                                 struct nn_error *err);

enum nn_status nn_scaling_no_memory(struct nn_error *err);

#endif
