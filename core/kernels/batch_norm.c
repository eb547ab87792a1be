/* SPDX-License-Identifier: MIT
 *
 * Batch normalisation: statistics, application, gradients. Matrices with few dense channels are
 * folded: `fold` rows are read as one row of fold * channels columns, a multiple of the vector
 * length, with the values of a channel repeated as often.
 */
#include "core/kernels/norm_internal.h"

#include <math.h>
#include <string.h>

#include "core/kernels/chunks_internal.h"
#include "core/kernels/table.h"

#define FOLD_BELOW 64                     /* channels */
#define FOLDED_MAX (FOLD_BELOW * NN_LINE) /* columns of a folded row */

static size_t fold_of(size_t channels)
{
    size_t fold = 1;
    while (channels < FOLD_BELOW && channels * fold % NN_LINE != 0) {
        fold *= 2;
    }
    return fold;
}

static size_t folded_width(size_t channels)
{
    return channels * fold_of(channels);
}

/* ---- moments ---- */

size_t nn_moments_count(size_t chunks, size_t channels)
{
    return chunks * (1 + 2 * channels);
}

size_t nn_moments_chunks(size_t rows)
{
    return nn_div_up(rows, NN_MOMENTS_ROWS);
}

struct moments {
    double rows;
    double *mean, *deviations; /* sums of squared deviations */
};

/* a = a joined with b's column range: Chan, Golub, LeVeque 1983, formula 1.5. */
static void join_moments(struct moments a, const double *mean, const double *deviations,
                         double rows, size_t channels)
{
    double total = a.rows + rows;
    for (size_t c = 0; c < channels; c++) {
        double step = mean[c] - a.mean[c];
        a.mean[c] += step * (rows / total);
        a.deviations[c] += deviations[c] + step * step * (a.rows * rows / total);
    }
}

static void moments_row(const struct nn_exec *exec, const nn_real *x, size_t ldx, size_t rows,
                        size_t columns, double *mean, double *deviations)
{
    struct nn_moments_args args = {.rows = rows, .columns = columns, .x = x, .ldx = ldx};
    args.mean = mean;
    args.deviations = deviations;
    exec->kernels->moments(&args);
}

void nn_moments_of_rows(const struct nn_exec *exec, double *moments, const nn_real *x, size_t ldx,
                        size_t rows, size_t channels)
{
    struct moments all = {0, NULL, NULL};
    size_t fold = ldx == channels ? fold_of(channels) : 1;
    size_t folded = rows / fold, rest = rows % fold;
    double mean[FOLDED_MAX], deviations[FOLDED_MAX];
    moments[0] = (double)rows;
    all.mean = moments + 1;
    all.deviations = all.mean + channels;
    if (fold == 1 || folded == 0) {
        moments_row(exec, x, ldx, rows, channels, all.mean, all.deviations);
        return;
    }
    moments_row(exec, x, ldx * fold, folded, channels * fold, mean, deviations);
    memcpy(all.mean, mean, channels * sizeof *mean);
    memcpy(all.deviations, deviations, channels * sizeof *deviations);
    all.rows = (double)folded;
    for (size_t f = 1; f < fold; f++) {
        join_moments(all, mean + f * channels, deviations + f * channels, (double)folded, channels);
        all.rows += (double)folded;
    }
    if (rest > 0) {
        moments_row(exec, x + folded * fold * ldx, ldx, rest, channels, mean, deviations);
        join_moments(all, mean, deviations, (double)rest, channels);
    }
}

struct moments_run {
    const struct nn_exec *exec;
    double *moments;
    const nn_real *x;
    size_t ldx, rows, channels;
};

static void moments_chunk(void *ctx, size_t chunk, size_t lane)
{
    (void)lane;
    const struct moments_run *p = ctx;
    size_t first = chunk * NN_MOMENTS_ROWS;
    nn_moments_of_rows(p->exec, p->moments + chunk * (1 + 2 * p->channels), p->x + first * p->ldx,
                       p->ldx, nn_min(NN_MOMENTS_ROWS, p->rows - first), p->channels);
}

void nn_moments_take(const struct nn_exec *exec, double *moments, const nn_real *x, size_t ldx,
                     size_t rows, size_t channels)
{
    struct moments_run run = {.exec = exec, .x = x, .ldx = ldx, .rows = rows};
    run.channels = channels;
    run.moments = moments;
    nn_parallel_for(exec->pool, nn_moments_chunks(rows), moments_chunk, &run);
}

void nn_moments_merge(double *moments, size_t chunks, size_t channels, nn_real *mean, nn_real *var)
{
    struct moments all = {moments[0], NULL, NULL};
    all.mean = moments + 1;
    all.deviations = all.mean + channels;
    for (size_t i = 1; i < chunks; i++) {
        const double *chunk = moments + i * (1 + 2 * channels);
        join_moments(all, chunk + 1, chunk + 1 + channels, chunk[0], channels);
        all.rows += chunk[0];
    }
    for (size_t c = 0; c < channels; c++) {
        mean[c] = (nn_real)all.mean[c];
        var[c] = (nn_real)(all.deviations[c] / all.rows);
    }
}

/* ---- factors ---- */

/* Folded arrays, one behind the other. */
struct factors {
    nn_real *mean, *factor, *shift, *slope, *offset;
};

#define APPLY_ARRAYS    3
#define GRADIENT_ARRAYS 5

static struct factors factors_at(nn_real *storage, size_t channels)
{
    size_t width = nn_round_up(folded_width(channels), NN_LINE);
    return (struct factors){storage, storage + width, storage + 2 * width, storage + 3 * width,
                            storage + 4 * width};
}

static double inverse_std(const struct nn_batch_norm *norm, size_t c)
{
    return 1 / sqrt((double)norm->var[c] + (double)norm->epsilon);
}

static void fill_factors(const struct nn_batch_norm *norm, struct factors f)
{
    for (size_t i = 0; i < folded_width(norm->channels); i++) {
        size_t c = i % norm->channels;
        f.mean[i] = norm->mean[c];
        f.factor[i] = (nn_real)(inverse_std(norm, c) * (double)norm->scale[c]);
        f.shift[i] = norm->shift[c];
    }
}

size_t nn_batch_norm_factors_count(size_t channels)
{
    return GRADIENT_ARRAYS * nn_round_up(folded_width(channels), NN_LINE);
}

/* Rows a chunk; whole folded rows. */
static size_t chunk_rows(size_t channels)
{
    return nn_round_up(nn_rows_per_chunk(channels), NN_LINE);
}

static double *chunk_sums(const struct nn_exec *exec, size_t channels, size_t chunk)
{
    return nn_workspace_piece(exec, 0, nn_bytes(2 * channels, sizeof(double)), chunk);
}

size_t nn_batch_norm_workspace(size_t rows, size_t channels)
{
    size_t width = nn_round_up(folded_width(channels), NN_LINE);
    size_t chunks = nn_div_up(rows, chunk_rows(channels));
    return nn_max(APPLY_ARRAYS * nn_bytes(width, sizeof(nn_real)),
                  chunks * nn_bytes(2 * channels, sizeof(double)));
}

/* ---- apply ---- */

struct apply_run {
    const struct nn_exec *exec;
    const struct nn_batch_norm *norm;
    struct factors factors;
    nn_real *y;
    const nn_real *x;
    size_t ldy, ldx;
};

static void apply_rows(const struct apply_run *p, size_t first, size_t rows, size_t fold)
{
    struct nn_norm_args args = {.rows = rows, .columns = p->norm->channels * fold};
    args.y = p->y + first * p->ldy;
    args.x = p->x + first * p->ldx;
    args.ldy = p->ldy * fold;
    args.ldx = p->ldx * fold;
    args.mean = p->factors.mean;
    args.factor = p->factors.factor;
    args.shift = p->factors.shift;
    args.relu = p->norm->relu;
    p->exec->kernels->norm_apply(&args);
}

static void apply_chunk(void *ctx, size_t chunk, size_t lane)
{
    (void)lane;
    const struct apply_run *p = ctx;
    size_t channels = p->norm->channels, first = chunk * chunk_rows(channels);
    size_t rows = nn_min(chunk_rows(channels), p->norm->rows - first);
    bool dense = p->ldx == channels && p->ldy == channels;
    size_t fold = dense ? fold_of(channels) : 1;
    apply_rows(p, first, rows / fold, fold);
    apply_rows(p, first + rows / fold * fold, rows % fold, 1);
}

void nn_batch_norm_apply(const struct nn_exec *exec, const struct nn_batch_norm *norm, nn_real *y,
                         size_t ldy, const nn_real *x, size_t ldx)
{
    size_t width = nn_round_up(folded_width(norm->channels), NN_LINE);
    nn_real *storage =
        nn_workspace_piece(exec, 0, APPLY_ARRAYS * nn_bytes(width, sizeof(nn_real)), 0);
    struct apply_run run = {.exec = exec, .norm = norm, .x = x, .ldy = ldy, .ldx = ldx};
    run.y = y;
    run.factors = (struct factors){storage, storage + width, storage + 2 * width, NULL, NULL};
    fill_factors(norm, run.factors);
    nn_parallel_for(exec->pool, nn_div_up(norm->rows, chunk_rows(norm->channels)), apply_chunk,
                    &run);
}

/* ---- gradient: sums ---- */

struct sums_run {
    const struct nn_exec *exec;
    const struct nn_batch_norm_gradient *grad;
};

static void sum_rows(const struct sums_run *p, size_t first, size_t rows, size_t fold, double *sums,
                     double *products)
{
    const struct nn_batch_norm_gradient *g = p->grad;
    struct factors f = factors_at(g->factors, g->norm.channels);
    struct nn_norm_sums_args args = {.rows = rows, .columns = g->norm.channels * fold};
    args.x = g->x + first * g->ldx;
    args.d_y = g->d_y + first * g->ldd_y;
    args.mean = f.mean;
    args.factor = f.factor;
    args.shift = f.shift;
    args.ldx = g->ldx * fold;
    args.ldd_y = g->ldd_y * fold;
    args.relu = g->norm.relu;
    args.sums = sums;
    args.products = products;
    p->exec->kernels->norm_sums(&args);
}

static void sums_chunk(void *ctx, size_t chunk, size_t lane)
{
    (void)lane;
    const struct sums_run *p = ctx;
    const struct nn_batch_norm_gradient *g = p->grad;
    size_t channels = g->norm.channels, first = chunk * chunk_rows(channels);
    size_t rows = nn_min(chunk_rows(channels), g->norm.rows - first);
    size_t fold = g->ldx == channels && g->ldd_y == channels ? fold_of(channels) : 1;
    double *out = chunk_sums(p->exec, channels, chunk);
    double sums[FOLDED_MAX], products[FOLDED_MAX];
    size_t rest = rows % fold;
    if (fold == 1) {
        sum_rows(p, first, rows, 1, out, out + channels);
        return;
    }
    memset(out, 0, 2 * channels * sizeof *out);
    sum_rows(p, first, rows / fold, fold, sums, products);
    for (size_t i = 0; i < channels * fold; i++) {
        out[i % channels] += sums[i];
        out[channels + i % channels] += products[i];
    }
    sum_rows(p, first + rows - rest, rest, 1, sums, products);
    for (size_t c = 0; c < channels; c++) {
        out[c] += sums[c];
        out[channels + c] += products[c];
    }
}

/* d_shift, d_scale, and for d_x:
 *     slope = -factor * inv_std^2 * products / rows,   offset = -factor * sums / rows */
static void finish_channel(const struct nn_batch_norm_gradient *g, size_t c, double sum,
                           double product)
{
    double inv_std = inverse_std(&g->norm, c), rows = (double)g->norm.rows;
    if (g->d_shift) {
        g->d_shift[c] += (nn_real)sum;
    }
    if (g->d_scale) {
        g->d_scale[c] += (nn_real)(product * inv_std);
    }
    struct factors f = factors_at(g->factors, g->norm.channels);
    double factor = inv_std * (double)g->norm.scale[c];
    double slope = g->frozen ? 0 : -factor * inv_std * inv_std * product / rows;
    double offset = g->frozen ? 0 : -factor * sum / rows;
    for (size_t i = c; i < folded_width(g->norm.channels); i += g->norm.channels) {
        f.slope[i] = (nn_real)slope;
        f.offset[i] = (nn_real)offset;
    }
}

void nn_batch_norm_gradient_sums(const struct nn_exec *exec, struct nn_batch_norm_gradient *grad)
{
    size_t channels = grad->norm.channels;
    bool needed = !grad->frozen || grad->d_scale || grad->d_shift;
    size_t chunks = needed ? nn_div_up(grad->norm.rows, chunk_rows(channels)) : 0;
    struct sums_run run = {exec, grad};
    grad->kernels = exec->kernels;
    fill_factors(&grad->norm, factors_at(grad->factors, channels));
    nn_parallel_for(exec->pool, chunks, sums_chunk, &run);
    for (size_t c = 0; c < channels && grad->norm.rows > 0; c++) {
        double sum = 0, product = 0;
        for (size_t i = 0; i < chunks; i++) {
            const double *part = chunk_sums(exec, channels, i);
            sum += part[c];
            product += part[channels + c];
        }
        finish_channel(grad, c, sum, product);
    }
}

/* ---- gradient: d_x ---- */

static void gradient_rows(const struct nn_batch_norm_gradient *g, size_t first, size_t rows,
                          size_t fold)
{
    struct factors f = factors_at(g->factors, g->norm.channels);
    struct nn_norm_gradient_args args = {.rows = rows, .columns = g->norm.channels * fold};
    args.d_x = g->d_x + first * g->ldd_x;
    args.x = g->x + first * g->ldx;
    args.d_y = g->d_y + first * g->ldd_y;
    args.mean = f.mean;
    args.factor = f.factor;
    args.shift = f.shift;
    args.slope = f.slope;
    args.offset = f.offset;
    args.ldd_x = g->ldd_x * fold;
    args.ldx = g->ldx * fold;
    args.ldd_y = g->ldd_y * fold;
    args.relu = g->norm.relu;
    args.accumulate = g->accumulate;
    g->kernels->norm_gradient(&args);
}

void nn_batch_norm_gradient_rows(void *grad, size_t first, size_t rows)
{
    const struct nn_batch_norm_gradient *g = grad;
    size_t channels = g->norm.channels;
    bool dense = g->ldx == channels && g->ldd_y == channels && g->ldd_x == channels;
    size_t fold = dense ? fold_of(channels) : 1, rest = rows % fold;
    gradient_rows(g, first, rows / fold, fold);
    gradient_rows(g, first + rows - rest, rest, 1);
}

static void gradient_chunk(void *ctx, size_t chunk, size_t lane)
{
    (void)lane;
    const struct nn_batch_norm_gradient *g = ctx;
    size_t first = chunk * chunk_rows(g->norm.channels);
    nn_batch_norm_gradient_rows(ctx, first,
                                nn_min(chunk_rows(g->norm.channels), g->norm.rows - first));
}

void nn_batch_norm_gradient(const struct nn_exec *exec, struct nn_batch_norm_gradient *grad)
{
    nn_batch_norm_gradient_sums(exec, grad);
    if (grad->d_x) {
        nn_parallel_for(exec->pool, nn_div_up(grad->norm.rows, chunk_rows(grad->norm.channels)),
                        gradient_chunk, grad);
    }
}
