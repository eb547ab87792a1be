/* SPDX-License-Identifier: MIT
 *
 * How work is cut: by the problem's sizes only, never by threads.
 */
#ifndef NN_KERNELS_CHUNKS_INTERNAL_H
#define NN_KERNELS_CHUNKS_INTERNAL_H

#include "core/kernels/exec.h"

#define NN_LINE                                                                                    \
    16 /* panels, padded weights and folded rows come in multiples of so many numbers              \
        */

static inline size_t nn_div_up(size_t a, size_t b)
{
    return (a + b - 1) / b;
}

static inline size_t nn_round_up(size_t a, size_t b)
{
    return nn_div_up(a, b) * b;
}

static inline size_t nn_min(size_t a, size_t b)
{
    return a < b ? a : b;
}

static inline size_t nn_max(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* Rows a chunk when each row holds `columns` numbers of a pass bound by memory: about 64 KiB. */
static inline size_t nn_rows_per_chunk(size_t columns)
{
    return nn_max(1, 16384 / nn_max(1, columns));
}

/* Piece `lane` of the workspace, behind `skip` bytes; both piece and skip are multiples of 64. */
static inline void *nn_workspace_piece(const struct nn_exec *exec, size_t skip, size_t piece,
                                       size_t lane)
{
    NN_ASSERT(skip + piece * (lane + 1) <= exec->workspace_bytes);
    return (char *)exec->workspace + skip + piece * lane;
}

static inline size_t nn_bytes(size_t count, size_t size)
{
    return nn_round_up(count * size, 64);
}

#endif
