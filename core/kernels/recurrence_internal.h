/* SPDX-License-Identifier: MIT
 *
 * What forward and backward of recurrent layers share: which columns of the gates are made by which
 * gates of the weights.
 */
#ifndef NN_KERNELS_RECURRENCE_INTERNAL_H
#define NN_KERNELS_RECURRENCE_INTERNAL_H

#include "core/kernels/panels_internal.h"
#include "core/kernels/recurrence.h"

#define NN_CELL_BLOCKS_MAX 3
#define NN_RECURRENCE_ROWS 96 /* rows of a product over all steps at a time */
#define NN_RECURRENCE_STEP_WORK                                                                    \
    ((size_t)1 << 19) /* multiply-adds of a step that are worth waking threads */

/* `count` gates of the weights from `gate` on, and the columns of the gates from `column` on that
 * hold their sums (backward: the gradients of these), all in units. */
struct nn_gate_block {
    size_t gate, column, count;
    bool input, recurrent; /* which weights have a part in the sums */
};

/* Gates of the recurrent weights stand in columns one behind the other, from recurrent_column on:
 * what goes back to the state before is one product. */
struct nn_cell {
    size_t gates, recurrent_column;
    size_t n_blocks;
    struct nn_gate_block blocks[NN_CELL_BLOCKS_MAX];
};

static const struct nn_cell NN_CELLS[] = {
    [NN_CELL_LSTM] = {4, 0, 1, {{0, 0, 4, true, true}}},
    [NN_CELL_GRU] = {3,
                     1,
                     3,
                     {{0, 1, 2, true, true}, {2, 0, 1, true, false}, {2, 3, 1, false, true}}},
};

/* The threads of a step; its bits do not depend on them. */
static inline struct nn_pool *nn_recurrence_pool(const struct nn_exec *exec,
                                                 const struct nn_recurrence *l, size_t step)
{
    size_t work = l->active[step] * NN_CELLS[l->cell].gates * l->units * l->units;
    return work >= NN_RECURRENCE_STEP_WORK ? exec->pool : NULL;
}

#endif
