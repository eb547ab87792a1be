/* SPDX-License-Identifier: MIT
 *
 * Normalisation over the pixels of each sample and groups of its channels. The columns of a sample
 * are those of a batch norm over its pixels whose statistics are joined by groups: the rows of the
 * table are batch norm's. Cut by samples.
 */
#include "core/kernels/row_norm_internal.h"

#include <math.h>

#include "core/kernels/chunks_internal.h"
#include "core/kernels/norm_internal.h"
#include "core/kernels/table.h"

struct sample_run {
    const struct nn_exec *exec;
    const struct nn_row_norm *norm;
    nn_real *y;
    const nn_real *x;
    size_t ldy, ldx;
    const struct nn_row_norm_gradient *grad;
};

/* Of a lane: moments, or sums of a chunk of pixels; and a value a channel of each of these. */
struct scratch {
    double *moments;
    nn_real *mean, *factor, *shift, *slope, *offset;
};

enum { VECTORS = 5 };

static size_t moments_bytes(size_t pixels, size_t channels)
{
    return nn_bytes(nn_moments_count(nn_moments_chunks(pixels), channels), sizeof(double));
}

static size_t lane_bytes(size_t pixels, size_t channels)
{
    return moments_bytes(pixels, channels) + VECTORS * nn_bytes(channels, sizeof(nn_real));
}

static size_t part_bytes(size_t channels)
{
    return nn_bytes(2 * channels, sizeof(double));
}

size_t nn_sample_norm_workspace(size_t samples, size_t pixels, size_t channels, size_t lanes)
{
    return samples * part_bytes(channels) + lanes * lane_bytes(pixels, channels);
}

static struct scratch scratch_of(const struct sample_run *p, size_t lane)
{
    size_t channels = p->norm->channels, pixels = p->norm->pixels;
    char *at = nn_workspace_piece(p->exec, p->norm->samples * part_bytes(channels),
                                  lane_bytes(pixels, channels), lane);
    struct scratch scratch = {.moments = (void *)at};
    nn_real **vectors[VECTORS] = {&scratch.mean, &scratch.factor, &scratch.shift, &scratch.slope,
                                  &scratch.offset};
    at += moments_bytes(pixels, channels);
    for (size_t i = 0; i < VECTORS; i++) {
        *vectors[i] = (void *)(at + i * nn_bytes(channels, sizeof(nn_real)));
    }
    return scratch;
}

/* Mean and factor of a group, joined from the moments of its channels in each chunk of pixels. */
static void join_group(const struct nn_row_norm *norm, const double *moments, size_t group,
                       nn_real *mean, nn_real *factor)
{
    size_t width = norm->channels / norm->groups, chunks = nn_moments_chunks(norm->pixels);
    double total = (double)norm->pixels * (double)width, sum = 0, squares = 0;
    for (size_t i = 0; i < chunks; i++) {
        const double *m = moments + i * (1 + 2 * norm->channels);
        for (size_t c = 0; c < width; c++) {
            sum += m[0] * m[1 + group * width + c];
        }
    }
    for (size_t i = 0; i < chunks; i++) {
        const double *m = moments + i * (1 + 2 * norm->channels);
        for (size_t c = 0; c < width; c++) {
            double step = m[1 + group * width + c] - sum / total;
            squares += m[1 + norm->channels + group * width + c] + m[0] * step * step;
        }
    }
    *mean = (nn_real)(sum / total);
    *factor = (nn_real)(1 / sqrt(squares / total + (double)norm->epsilon));
}

/* A value a channel of mean and of factor * scale. */
static void spread_groups(const struct nn_row_norm *norm, size_t sample, const struct scratch *s)
{
    size_t width = norm->channels / norm->groups;
    for (size_t c = 0; c < norm->channels; c++) {
        size_t k = sample * norm->groups + c / width;
        s->mean[c] = norm->mean[k];
        s->factor[c] = norm->factor[k] * norm->scale[c];
        s->shift[c] = norm->shift ? norm->shift[c] : 0;
    }
}

static void forward_sample(void *ctx, size_t sample, size_t lane)
{
    const struct sample_run *p = ctx;
    const struct nn_row_norm *norm = p->norm;
    const struct scratch scratch = scratch_of(p, lane);
    const nn_real *x = p->x + sample * norm->pixels * p->ldx;
    for (size_t first = 0; first < norm->pixels; first += NN_MOMENTS_ROWS) {
        nn_moments_of_rows(p->exec,
                           scratch.moments + first / NN_MOMENTS_ROWS * (1 + 2 * norm->channels),
                           x + first * p->ldx, p->ldx,
                           nn_min(NN_MOMENTS_ROWS, norm->pixels - first), norm->channels);
    }
    for (size_t g = 0; g < norm->groups; g++) {
        size_t k = sample * norm->groups + g;
        join_group(norm, scratch.moments, g, &norm->mean[k], &norm->factor[k]);
    }
    spread_groups(norm, sample, &scratch);
    const struct nn_norm_args args = {.rows = norm->pixels,
                                      .columns = norm->channels,
                                      .y = p->y + sample * norm->pixels * p->ldy,
                                      .ldy = p->ldy,
                                      .x = x,
                                      .ldx = p->ldx,
                                      .mean = scratch.mean,
                                      .factor = scratch.factor,
                                      .shift = scratch.shift};
    p->exec->kernels->norm_apply(&args);
}

void nn_sample_norm_forward(const struct nn_exec *exec, const struct nn_row_norm *norm, nn_real *y,
                            size_t ldy, const nn_real *x, size_t ldx)
{
    struct sample_run run = {.exec = exec, .norm = norm, .y = y, .x = x, .ldy = ldy, .ldx = ldx};
    nn_parallel_for(exec->pool, norm->samples, forward_sample, &run);
}

/* sums = sum of d_y, products = sum of d_y * (x - mean) over the pixels, in pieces that float
 * totals bear. */
static void sum_pixels(const struct sample_run *p, size_t sample, const struct scratch *s,
                       double *sums)
{
    size_t channels = p->norm->channels, pixels = p->norm->pixels;
    const struct nn_row_norm_gradient *g = p->grad;
    struct nn_norm_sums_args args = {.columns = channels, .ldx = g->ldx, .ldd_y = g->ldd_y};
    args.mean = s->mean;
    args.factor = s->factor;
    args.shift = s->shift;
    args.sums = s->moments;
    args.products = s->moments + channels;
    for (size_t i = 0; i < 2 * channels; i++) {
        sums[i] = 0;
    }
    for (size_t first = 0; first < pixels; first += NN_MOMENTS_ROWS) {
        size_t row = sample * pixels + first;
        args.rows = nn_min(NN_MOMENTS_ROWS, pixels - first);
        args.x = g->x + row * g->ldx;
        args.d_y = g->d_y + row * g->ldd_y;
        p->exec->kernels->norm_sums(&args);
        for (size_t i = 0; i < 2 * channels; i++) {
            sums[i] += s->moments[i];
        }
    }
}

/* With r the factor of the group and n its values: slope = - r^2 mean(g xh), offset = - r mean(g).
 * Products become those with xh. */
static void gradient_factors(const struct nn_row_norm *norm, size_t sample, const struct scratch *s,
                             double *sums)
{
    size_t width = norm->channels / norm->groups;
    double *products = sums + norm->channels, n = (double)norm->pixels * (double)width;
    for (size_t first = 0; first < norm->channels; first += width) {
        double r = (double)norm->factor[sample * norm->groups + first / width];
        double sum = 0, product = 0;
        for (size_t c = first; c < first + width; c++) {
            products[c] *= r;
            sum += (double)norm->scale[c] * sums[c];
            product += (double)norm->scale[c] * products[c];
        }
        for (size_t c = first; c < first + width; c++) {
            s->slope[c] = (nn_real)(-r * r * product / n);
            s->offset[c] = (nn_real)(-r * sum / n);
        }
    }
}

static void gradient_sample(void *ctx, size_t sample, size_t lane)
{
    const struct sample_run *p = ctx;
    const struct nn_row_norm *norm = p->norm;
    const struct nn_row_norm_gradient *g = p->grad;
    const struct scratch scratch = scratch_of(p, lane);
    double *sums = nn_workspace_piece(p->exec, 0, part_bytes(norm->channels), sample);
    size_t row = sample * norm->pixels;
    spread_groups(norm, sample, &scratch);
    sum_pixels(p, sample, &scratch, sums);
    gradient_factors(norm, sample, &scratch, sums);
    if (!g->d_x) {
        return;
    }
    const struct nn_norm_gradient_args args = {.rows = norm->pixels,
                                               .columns = norm->channels,
                                               .d_x = g->d_x + row * g->ldd_x,
                                               .ldd_x = g->ldd_x,
                                               .x = g->x + row * g->ldx,
                                               .ldx = g->ldx,
                                               .d_y = g->d_y + row * g->ldd_y,
                                               .ldd_y = g->ldd_y,
                                               .mean = scratch.mean,
                                               .factor = scratch.factor,
                                               .shift = scratch.shift,
                                               .slope = scratch.slope,
                                               .offset = scratch.offset,
                                               .accumulate = g->accumulate};
    p->exec->kernels->norm_gradient(&args);
}

void nn_sample_norm_gradient(const struct nn_exec *exec, const struct nn_row_norm *norm,
                             const struct nn_row_norm_gradient *grad)
{
    struct sample_run run = {.exec = exec, .norm = norm, .grad = grad};
    nn_parallel_for(exec->pool, norm->samples, gradient_sample, &run);
    nn_row_norm_add_parts(grad, exec->workspace, norm->samples, part_bytes(norm->channels),
                          norm->channels);
}
