/* SPDX-License-Identifier: MIT
 *
 * The packed steps of a run, as the kernels take them.
 */
#ifndef NN_LAYERS_STEPS_INTERNAL_H
#define NN_LAYERS_STEPS_INTERNAL_H

#include "core/layers/kinds_internal.h"
#include "core/layers/shape_internal.h"

static inline struct nn_steps nn_steps_of(const struct nn_run *run)
{
    const struct nn_rows *rows = run->rows;
    return (struct nn_steps){rows->steps, rows->active, rows->starts, rows->samples};
}

#endif
