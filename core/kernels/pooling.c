/* SPDX-License-Identifier: MIT
 *
 * Pooling: one chunk an image.
 */
#include "core/kernels/pooling.h"

#include <string.h>

#include "core/kernels/chunks_internal.h"
#include "core/kernels/table.h"

typedef void (*window_fn)(const struct nn_window_args *args);

struct pool_run {
    const struct nn_pool2d *pool;
    window_fn fn;
    bool gradient, accumulate;
    nn_real *y;
    const nn_real *x;
    size_t ldy, ldx;
    const uint16_t *taps;
    uint16_t *out_taps;
};

static struct nn_window_args window_args(const struct nn_pool2d *p)
{
    return (struct nn_window_args){.height = p->height,
                                   .width = p->width,
                                   .channels = p->channels,
                                   .out_height = p->out_height,
                                   .out_width = p->out_width,
                                   .kernel_h = p->kernel_h,
                                   .kernel_w = p->kernel_w,
                                   .stride_h = p->stride_h,
                                   .stride_w = p->stride_w,
                                   .pad_top = p->pad_top,
                                   .pad_left = p->pad_left,
                                   .pad_bottom = p->pad_bottom,
                                   .pad_right = p->pad_right,
                                   .count_padding = p->count_padding,
                                   .adaptive = p->adaptive};
}

static void clear_rows(nn_real *y, size_t ldy, size_t rows, size_t columns)
{
    for (size_t r = 0; r < rows; r++) {
        memset(y + r * ldy, 0, columns * sizeof *y);
    }
}

static void pool_image(void *ctx, size_t image, size_t lane)
{
    (void)lane;
    const struct pool_run *p = ctx;
    size_t in = p->pool->height * p->pool->width, out = p->pool->out_height * p->pool->out_width;
    struct nn_window_args args = window_args(p->pool);
    args.y = p->y + image * (p->gradient ? in : out) * p->ldy;
    args.x = p->x + image * (p->gradient ? out : in) * p->ldx;
    args.ldy = p->ldy;
    args.ldx = p->ldx;
    size_t taps = image * out * p->pool->channels;
    args.taps = p->taps ? p->taps + taps : NULL;
    args.out_taps = p->out_taps ? p->out_taps + taps : NULL;
    if (p->gradient && !p->accumulate) {
        clear_rows(args.y, p->ldy, in, p->pool->channels);
    }
    p->fn(&args);
}

void nn_max_pool_forward(const struct nn_exec *exec, const struct nn_pool2d *pool, nn_real *y,
                         size_t ldy, uint16_t *taps, const nn_real *x, size_t ldx)
{
    struct pool_run run = {.pool = pool, .fn = exec->kernels->max_pool, .x = x};
    run.y = y;
    run.ldy = ldy;
    run.ldx = ldx;
    run.out_taps = taps;
    nn_parallel_for(exec->pool, pool->batch, pool_image, &run);
}

void nn_max_pool_gradient(const struct nn_exec *exec, const struct nn_pool2d *pool, nn_real *d_x,
                          size_t ldd_x, bool accumulate, const nn_real *d_y, size_t ldd_y,
                          const uint16_t *taps)
{
    struct pool_run run = {.pool = pool, .gradient = true, .accumulate = accumulate};
    run.fn = exec->kernels->max_pool_gradient;
    run.y = d_x;
    run.x = d_y;
    run.ldy = ldd_x;
    run.ldx = ldd_y;
    run.taps = taps;
    nn_parallel_for(exec->pool, pool->batch, pool_image, &run);
}

void nn_average_pool_forward(const struct nn_exec *exec, const struct nn_pool2d *pool, nn_real *y,
                             size_t ldy, const nn_real *x, size_t ldx)
{
    struct pool_run run = {.pool = pool, .fn = exec->kernels->average_pool, .x = x};
    run.y = y;
    run.ldy = ldy;
    run.ldx = ldx;
    nn_parallel_for(exec->pool, pool->batch, pool_image, &run);
}

void nn_average_pool_gradient(const struct nn_exec *exec, const struct nn_pool2d *pool,
                              nn_real *d_x, size_t ldd_x, bool accumulate, const nn_real *d_y,
                              size_t ldd_y)
{
    struct pool_run run = {.pool = pool, .gradient = true, .accumulate = accumulate};
    run.fn = exec->kernels->average_pool_gradient;
    run.y = d_x;
    run.x = d_y;
    run.ldy = ldd_x;
    run.ldx = ldd_y;
    nn_parallel_for(exec->pool, pool->batch, pool_image, &run);
}

/* An image of one column of pixels under one window. */
static struct nn_pool2d whole_image(const struct nn_global_pool *pool)
{
    return (struct nn_pool2d){.batch = pool->batch,
                              .height = pool->pixels,
                              .width = 1,
                              .channels = pool->channels,
                              .kernel_h = pool->pixels,
                              .kernel_w = 1,
                              .stride_h = 1,
                              .stride_w = 1,
                              .out_height = 1,
                              .out_width = 1};
}

void nn_global_average_forward(const struct nn_exec *exec, const struct nn_global_pool *pool,
                               nn_real *y, size_t ldy, const nn_real *x, size_t ldx)
{
    struct nn_pool2d whole = whole_image(pool);
    nn_average_pool_forward(exec, &whole, y, ldy, x, ldx);
}

void nn_global_average_gradient(const struct nn_exec *exec, const struct nn_global_pool *pool,
                                nn_real *d_x, size_t ldd_x, bool accumulate, const nn_real *d_y,
                                size_t ldd_y)
{
    struct nn_pool2d whole = whole_image(pool);
    nn_average_pool_gradient(exec, &whole, d_x, ldd_x, accumulate, d_y, ldd_y);
}
