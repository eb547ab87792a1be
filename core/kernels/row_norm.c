/* SPDX-License-Identifier: MIT
 *
 * Normalisation within rows, cut by rows. Samples of more than a pixel are sample_norm.c's.
 */
#include "core/kernels/row_norm_internal.h"

#include "core/kernels/chunks_internal.h"
#include "core/kernels/table.h"

#define SUM_ROWS ((size_t)512) /* few enough for totals in float */

struct norm_run {
    const struct nn_exec *exec;
    const struct nn_row_norm *norm;
    nn_real *y;
    const nn_real *x;
    size_t ldy, ldx, chunk_rows;
    const struct nn_row_norm_gradient *grad;
};

static size_t part_bytes(size_t channels)
{
    return nn_bytes(2 * channels, sizeof(double));
}

size_t nn_row_norm_workspace(size_t samples, size_t pixels, size_t channels, size_t lanes)
{
    return pixels > 1 ? nn_sample_norm_workspace(samples, pixels, channels, lanes)
                      : nn_div_up(samples, SUM_ROWS) * part_bytes(channels);
}

static void forward_chunk(void *ctx, size_t chunk, size_t lane)
{
    (void)lane;
    const struct norm_run *p = ctx;
    const struct nn_row_norm *norm = p->norm;
    size_t first = chunk * p->chunk_rows;
    struct nn_norm_rows_args args = {.groups = norm->groups, .epsilon = norm->epsilon};
    args.rows = nn_min(p->chunk_rows, norm->samples - first);
    args.columns = norm->channels / norm->groups;
    args.y = p->y + first * p->ldy;
    args.x = p->x + first * p->ldx;
    args.ldy = p->ldy;
    args.ldx = p->ldx;
    args.scale = norm->scale;
    args.shift = norm->shift;
    args.mean = norm->mean + first * norm->groups;
    args.factor = norm->factor + first * norm->groups;
    args.centred = norm->centred;
    p->exec->kernels->norm_rows(&args);
}

void nn_row_norm_forward(const struct nn_exec *exec, const struct nn_row_norm *norm, nn_real *y,
                         size_t ldy, const nn_real *x, size_t ldx)
{
    if (norm->pixels > 1) {
        nn_sample_norm_forward(exec, norm, y, ldy, x, ldx);
        return;
    }
    struct norm_run run = {.exec = exec, .norm = norm, .y = y, .x = x, .ldy = ldy, .ldx = ldx};
    run.chunk_rows = nn_rows_per_chunk(norm->channels);
    nn_parallel_for(exec->pool, nn_div_up(norm->samples, run.chunk_rows), forward_chunk, &run);
}

static void gradient_chunk(void *ctx, size_t chunk, size_t lane)
{
    (void)lane;
    const struct norm_run *p = ctx;
    const struct nn_row_norm *norm = p->norm;
    const struct nn_row_norm_gradient *g = p->grad;
    size_t first = chunk * p->chunk_rows;
    struct nn_norm_rows_gradient_args args = {.groups = norm->groups, .scale = norm->scale};
    args.rows = nn_min(p->chunk_rows, norm->samples - first);
    args.columns = norm->channels / norm->groups;
    args.d_x = g->d_x + first * g->ldd_x;
    args.d_y = g->d_y + first * g->ldd_y;
    args.x = g->x + first * g->ldx;
    args.ldd_x = g->ldd_x;
    args.ldd_y = g->ldd_y;
    args.ldx = g->ldx;
    args.mean = norm->mean + first * norm->groups;
    args.factor = norm->factor + first * norm->groups;
    args.centred = norm->centred;
    args.accumulate = g->accumulate;
    p->exec->kernels->norm_rows_gradient(&args);
}

static void sums_chunk(void *ctx, size_t chunk, size_t lane)
{
    (void)lane;
    const struct norm_run *p = ctx;
    const struct nn_row_norm *norm = p->norm;
    const struct nn_row_norm_gradient *g = p->grad;
    size_t first = chunk * SUM_ROWS;
    struct nn_norm_rows_sums_args args = {.groups = norm->groups, .ldd_y = g->ldd_y, .ldx = g->ldx};
    args.rows = nn_min(SUM_ROWS, norm->samples - first);
    args.columns = norm->channels / norm->groups;
    args.d_y = g->d_y + first * g->ldd_y;
    args.x = g->x + first * g->ldx;
    args.mean = norm->mean + first * norm->groups;
    args.factor = norm->factor + first * norm->groups;
    args.sums = nn_workspace_piece(p->exec, 0, part_bytes(norm->channels), chunk);
    args.products = args.sums + norm->channels;
    p->exec->kernels->norm_rows_sums(&args);
}

void nn_row_norm_add_parts(const struct nn_row_norm_gradient *grad, const void *parts, size_t n,
                           size_t bytes, size_t channels)
{
    for (size_t c = 0; c < channels; c++) {
        double sum = 0, product = 0;
        for (size_t i = 0; i < n; i++) {
            const double *part = (const void *)((const char *)parts + i * bytes);
            sum += part[c];
            product += part[channels + c];
        }
        if (grad->d_shift) {
            grad->d_shift[c] = (nn_real)((double)grad->d_shift[c] + sum);
        }
        if (grad->d_scale) {
            grad->d_scale[c] = (nn_real)((double)grad->d_scale[c] + product);
        }
    }
}

void nn_row_norm_gradient(const struct nn_exec *exec, const struct nn_row_norm *norm,
                          const struct nn_row_norm_gradient *grad)
{
    if (norm->pixels > 1) {
        nn_sample_norm_gradient(exec, norm, grad);
        return;
    }
    struct norm_run run = {.exec = exec, .norm = norm, .grad = grad};
    if (grad->d_scale || grad->d_shift) { /* first: d_x may take the place of d_y */
        size_t chunks = nn_div_up(norm->samples, SUM_ROWS);
        nn_parallel_for(exec->pool, chunks, sums_chunk, &run);
        nn_row_norm_add_parts(grad, exec->workspace, chunks, part_bytes(norm->channels),
                              norm->channels);
    }
    if (grad->d_x) {
        run.chunk_rows = nn_rows_per_chunk(norm->channels);
        nn_parallel_for(exec->pool, nn_div_up(norm->samples, run.chunk_rows), gradient_chunk, &run);
    }
}
