/* SPDX-License-Identifier: MIT
 *
 * Local response normalisation, cut by rows.
 */
#include "core/kernels/lrn.h"

#include "core/kernels/chunks_internal.h"
#include "core/kernels/table.h"

struct lrn_run {
    const struct nn_exec *exec;
    struct nn_lrn_args all; /* sums NULL: kept by nobody, one row a lane */
    bool gradient;
};

size_t nn_lrn_workspace(size_t channels, size_t lanes)
{
    return nn_bytes(channels, sizeof(nn_real)) * lanes;
}

static void lrn_chunk(void *ctx, size_t chunk, size_t lane)
{
    const struct lrn_run *p = ctx;
    size_t n = p->all.columns, rows = nn_rows_per_chunk(n), first = chunk * rows;
    struct nn_lrn_args args = p->all;
    args.rows = nn_min(rows, args.rows - first);
    args.y += first * args.ldy;
    args.x += first * args.ldx;
    args.d_y = args.d_y ? args.d_y + first * args.ldd_y : NULL;
    args.sums = args.sums ? args.sums + first * n : NULL;
    args.known = args.known ? args.known + first * n : NULL;
    args.row = nn_workspace_piece(p->exec, 0, nn_bytes(n, sizeof(nn_real)), lane);
    (p->gradient ? p->exec->kernels->lrn_gradient : p->exec->kernels->lrn)(&args);
}

static struct nn_lrn_args args_of(const struct nn_lrn *lrn)
{
    return (struct nn_lrn_args){.rows = lrn->rows,
                                .columns = lrn->channels,
                                .size = lrn->size,
                                .alpha = lrn->alpha / (nn_real)lrn->size,
                                .beta = lrn->beta,
                                .k = lrn->k};
}

void nn_lrn_forward(const struct nn_exec *exec, const struct nn_lrn *lrn, nn_real *y, size_t ldy,
                    nn_real *sums, const nn_real *x, size_t ldx)
{
    struct lrn_run run = {.exec = exec, .all = args_of(lrn)};
    run.all.y = y;
    run.all.x = x;
    run.all.sums = sums;
    run.all.ldy = ldy;
    run.all.ldx = ldx;
    nn_parallel_for(exec->pool, nn_div_up(lrn->rows, nn_rows_per_chunk(lrn->channels)), lrn_chunk,
                    &run);
}

void nn_lrn_gradient(const struct nn_exec *exec, const struct nn_lrn *lrn,
                     const struct nn_lrn_gradient *g)
{
    struct lrn_run run = {.exec = exec, .all = args_of(lrn), .gradient = true};
    run.all.y = g->d_x;
    run.all.x = g->x;
    run.all.d_y = g->d_y;
    run.all.known = g->sums;
    run.all.ldy = g->ldd_x;
    run.all.ldx = g->ldx;
    run.all.ldd_y = g->ldd_y;
    run.all.accumulate = g->accumulate;
    nn_parallel_for(exec->pool, nn_div_up(lrn->rows, nn_rows_per_chunk(lrn->channels)), lrn_chunk,
                    &run);
}
