/* SPDX-License-Identifier: MIT
 *
 * An operand op(b) [k,n] that is multiplied again and again, packed for rows gemm_tile: strips of
 * at most three vectors of 16 columns, each strip k rows one behind the other, zeros behind column
 * n. Unlike OpenBLAS's, a row of such a product does not depend on the number of rows.
 */
#ifndef NN_KERNELS_PANELS_INTERNAL_H
#define NN_KERNELS_PANELS_INTERNAL_H

#include "core/kernels/chunks_internal.h"
#include "core/kernels/table.h"

#define NN_STRIP_LINES 3

struct nn_panels {
    size_t k, n;
    const nn_real *data;
};

struct nn_panel {
    const nn_real *data; /* [k, width] */
    size_t column, columns, width;
};

static inline size_t nn_panels_count(size_t k, size_t n)
{
    return k * nn_round_up(n, NN_LINE);
}

/* Strips are as even as they come. */
static inline size_t nn_panels_strips(size_t n)
{
    return nn_div_up(nn_div_up(n, NN_LINE), NN_STRIP_LINES);
}

static inline struct nn_panel nn_panel_at(const struct nn_panels *panels, size_t strip)
{
    size_t lines = nn_div_up(panels->n, NN_LINE), strips = nn_panels_strips(panels->n);
    size_t first = strip * lines / strips, end = (strip + 1) * lines / strips;
    struct nn_panel panel = {.data = panels->data + first * NN_LINE * panels->k};
    panel.column = first * NN_LINE;
    panel.width = (end - first) * NN_LINE;
    panel.columns = nn_min(panel.width, panels->n - panel.column);
    return panel;
}

/* storage: nn_panels_count numbers, 64-byte aligned. */
struct nn_panels nn_panels_pack(nn_real *storage, const nn_real *b, size_t ldb, bool transpose_b,
                                size_t k, size_t n);

/* y [m, columns of the panel] = x [m, k] panel, with the other fields of args as they are given. */
void nn_panel_multiply(const struct nn_exec *exec, const struct nn_panel *panel,
                       struct nn_tile_args args);

#endif
