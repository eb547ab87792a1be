/* SPDX-License-Identifier: MIT
 *
 * What both directions of the LSTM share.
 */
#ifndef NN_KERNELS_LSTM_INTERNAL_H
#define NN_KERNELS_LSTM_INTERNAL_H

#include "core/kernels/lstm.h"
#include "core/kernels/panels_internal.h"

#define NN_LSTM_GATES ((size_t)4)
#define NN_LSTM_ROWS  96 /* rows of a product over all steps at a time */
#define NN_LSTM_STEP_WORK                                                                          \
    ((size_t)1 << 19) /* multiply-adds of a step that are worth waking threads */

/* The threads of a step; its bits do not depend on them. */
static inline struct nn_pool *nn_lstm_pool(const struct nn_exec *exec, const struct nn_lstm *l,
                                           size_t step)
{
    size_t work = l->active[step] * NN_LSTM_GATES * l->units * l->units;
    return work >= NN_LSTM_STEP_WORK ? exec->pool : NULL;
}

#endif
