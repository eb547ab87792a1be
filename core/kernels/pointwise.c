/* SPDX-License-Identifier: MIT
 *
 * Pointwise passes and reductions, cut into chunks of about 64 KiB.
 */
#include "core/kernels/pointwise.h"

#include "core/base/random.h"
#include "core/kernels/chunks_internal.h"
#include "core/kernels/map_internal.h"

#define CHUNK 16384 /* numbers */

/* ---- rows x columns ---- */

void nn_copy(const struct nn_exec *exec, nn_real *dst, size_t ldd, bool accumulate,
             const nn_real *src, size_t lds, size_t rows, size_t columns)
{
    struct nn_map_args args = {.rows = rows, .columns = columns, .a = src};
    args.y = dst;
    args.ldy = ldd;
    args.lda = lds;
    args.accumulate = accumulate;
    nn_map_rows(exec, exec->kernels->copy, args);
}

void nn_add(const struct nn_exec *exec, const struct nn_addition *s)
{
    struct nn_map_args args = {.rows = s->rows, .columns = s->columns, .y = s->y, .a = s->a};
    args.b = s->b;
    args.ldy = s->ldy;
    args.lda = s->lda;
    args.ldb = s->ldb;
    args.relu = s->relu;
    nn_map_rows(exec, exec->kernels->add, args);
}

void nn_relu_forward(const struct nn_exec *exec, nn_real *y, size_t ldy, const nn_real *x,
                     size_t ldx, size_t rows, size_t columns)
{
    struct nn_map_args args = {.rows = rows, .columns = columns, .a = x};
    args.y = y;
    args.ldy = ldy;
    args.lda = ldx;
    nn_map_rows(exec, exec->kernels->relu, args);
}

void nn_clip_forward(const struct nn_exec *exec, nn_real *y, size_t ldy, const nn_real *x,
                     size_t ldx, size_t rows, size_t columns, nn_real ceiling)
{
    struct nn_map_args args = {.rows = rows, .columns = columns, .a = x, .ceiling = ceiling};
    args.y = y;
    args.ldy = ldy;
    args.lda = ldx;
    nn_map_rows(exec, exec->kernels->clip, args);
}

static struct nn_map_args gradient_args(const struct nn_relu_gradient *g)
{
    struct nn_map_args args = {.rows = g->rows, .columns = g->columns, .y = g->d_x, .a = g->d_y};
    args.b = g->y;
    args.ldy = g->ldd_x;
    args.lda = g->ldd_y;
    args.ldb = g->ldy;
    args.accumulate = g->accumulate;
    return args;
}

void nn_relu_gradient(const struct nn_exec *exec, const struct nn_relu_gradient *g)
{
    nn_map_rows(exec, exec->kernels->relu_gradient, gradient_args(g));
}

void nn_clip_gradient(const struct nn_exec *exec, const struct nn_relu_gradient *g, nn_real ceiling)
{
    struct nn_map_args args = gradient_args(g);
    args.ceiling = ceiling;
    nn_map_rows(exec, exec->kernels->clip_gradient, args);
}

/* ---- dropout: a chunk is some rows of one sample ---- */

struct dropout_run {
    const struct nn_exec *exec;
    const struct nn_dropout *dropout;
    nn_real *y;
    const nn_real *x;
    size_t ldy, ldx, chunk_rows, chunks_per_sample;
};

/* Some rows of a sample, the first of them the sample's `within`-th and row `row` of the matrix. */
static void drop_rows(const struct dropout_run *p, uint64_t sample, size_t within, size_t row,
                      struct nn_dropout_args args)
{
    const struct nn_dropout *d = p->dropout;
    args.columns = d->columns;
    args.accumulate = d->accumulate;
    args.first = within * d->columns;
    args.y = p->y + row * p->ldy;
    args.x = p->x + row * p->ldx;
    args.ldy = p->ldy;
    args.ldx = p->ldx;
    args.key[0] = (uint32_t)d->seed;
    args.key[1] = (uint32_t)(d->seed >> 32);
    nn_random_counter(NN_RANDOM_DROPOUT + d->layer, d->epoch, d->first_sample + sample, 0,
                      args.counter);
    args.threshold = (uint32_t)(d->rate * 4294967296.0);
    args.factor = (nn_real)(1 / (1 - d->rate));
    p->exec->kernels->dropout(&args);
}

static void dropout_chunk(void *ctx, size_t chunk, size_t lane)
{
    (void)lane;
    const struct dropout_run *p = ctx;
    const struct nn_dropout *d = p->dropout;
    size_t sample = chunk / p->chunks_per_sample;
    size_t within = chunk % p->chunks_per_sample * p->chunk_rows;
    struct nn_dropout_args args = {.rows = nn_min(p->chunk_rows, d->rows_per_sample - within)};
    drop_rows(p, sample, within, sample * d->rows_per_sample + within, args);
}

/* A chunk is one sequence: the k-th row of every step that has one. */
static void dropout_sequence(void *ctx, size_t k, size_t lane)
{
    (void)lane;
    const struct dropout_run *p = ctx;
    const struct nn_dropout *d = p->dropout;
    struct nn_dropout_args args = {.starts = d->starts};
    while (args.rows < d->steps && d->active[args.rows] > k) {
        args.rows++;
    }
    drop_rows(p, d->samples[k], 0, k, args);
}

void nn_dropout(const struct nn_exec *exec, const struct nn_dropout *dropout, nn_real *y,
                size_t ldy, const nn_real *x, size_t ldx)
{
    struct dropout_run run = {.exec = exec, .dropout = dropout, .x = x};
    run.y = y;
    run.ldy = ldy;
    run.ldx = ldx;
    if (dropout->steps > 0) {
        nn_parallel_for(exec->pool, dropout->active[0], dropout_sequence, &run);
        return;
    }
    run.chunk_rows = nn_min(dropout->rows_per_sample, nn_rows_per_chunk(dropout->columns));
    run.chunks_per_sample = nn_div_up(dropout->rows_per_sample, nn_max(1, run.chunk_rows));
    size_t samples = dropout->rows / nn_max(1, dropout->rows_per_sample);
    nn_parallel_for(exec->pool, samples * run.chunks_per_sample, dropout_chunk, &run);
}

/* ---- bytes to numbers ---- */

struct normalize_run {
    const struct nn_exec *exec;
    struct nn_normalize_args all;
    size_t chunk_rows;
};

static void normalize_chunk(void *ctx, size_t chunk, size_t lane)
{
    (void)lane;
    const struct normalize_run *p = ctx;
    struct nn_normalize_args args = p->all;
    size_t row = chunk * p->chunk_rows;
    args.rows = nn_min(p->chunk_rows, args.rows - row);
    args.y += row * args.ldy;
    args.x += row * args.columns;
    p->exec->kernels->normalize_u8(&args);
}

void nn_normalize_u8(const struct nn_exec *exec, nn_real *y, size_t ldy, const uint8_t *x,
                     size_t rows, size_t columns, const nn_real *factor, const nn_real *offset)
{
    struct normalize_run run = {.exec = exec, .all = {.rows = rows, .columns = columns}};
    run.all.y = y;
    run.all.x = x;
    run.all.ldy = ldy;
    run.all.factor = factor;
    run.all.offset = offset;
    run.chunk_rows = nn_rows_per_chunk(columns);
    nn_parallel_for(exec->pool, nn_div_up(rows, run.chunk_rows), normalize_chunk, &run);
}

/* ---- n numbers in a row ---- */

typedef void (*vector_fn)(const struct nn_vector_args *args);

struct vector_run {
    vector_fn fn;
    struct nn_vector_args all;
    double *results; /* one a chunk, or NULL */
};

static void vector_chunk(void *ctx, size_t chunk, size_t lane)
{
    (void)lane;
    const struct vector_run *p = ctx;
    struct nn_vector_args args = p->all;
    size_t first = chunk * CHUNK;
    args.n = nn_min(CHUNK, args.n - first);
    args.y = args.y ? args.y + first : NULL;
    args.x = args.x ? args.x + first : NULL;
    args.result = p->results ? p->results + chunk : NULL;
    p->fn(&args);
}

static void change(const struct nn_exec *exec, vector_fn fn, nn_real *x, size_t n, nn_real value)
{
    struct vector_run run = {.fn = fn, .all = {.n = n, .value = value}};
    run.all.y = x;
    nn_parallel_for(exec->pool, nn_div_up(n, CHUNK), vector_chunk, &run);
}

void nn_fill(const struct nn_exec *exec, nn_real *x, size_t n, nn_real value)
{
    change(exec, exec->kernels->fill, x, n, value);
}

void nn_scale(const struct nn_exec *exec, nn_real *x, size_t n, nn_real factor)
{
    change(exec, exec->kernels->scale, x, n, factor);
}

void nn_average(const struct nn_exec *exec, nn_real *y, const nn_real *x, size_t n, nn_real share)
{
    struct vector_run run = {.fn = exec->kernels->average, .all = {.n = n, .value = share}};
    run.all.y = y;
    run.all.x = x;
    nn_parallel_for(exec->pool, nn_div_up(n, CHUNK), vector_chunk, &run);
}

void nn_clamp(const struct nn_exec *exec, nn_real *x, size_t n, nn_real limit)
{
    change(exec, exec->kernels->clamp, x, n, limit);
}

size_t nn_reduction_workspace(size_t n)
{
    return nn_bytes(nn_div_up(n, CHUNK), sizeof(double));
}

/* Results of the chunks, in the workspace. */
static const double *reduce(const struct nn_exec *exec, vector_fn fn, const nn_real *x, size_t n)
{
    struct vector_run run = {.fn = fn, .all = {.n = n, .x = x}};
    run.results = nn_workspace_piece(exec, 0, nn_reduction_workspace(n), 0);
    nn_parallel_for(exec->pool, nn_div_up(n, CHUNK), vector_chunk, &run);
    return run.results;
}

bool nn_all_finite(const struct nn_exec *exec, const nn_real *x, size_t n)
{
    const double *results = reduce(exec, exec->kernels->all_finite, x, n);
    bool finite = true;
    for (size_t i = 0; i < nn_div_up(n, CHUNK); i++) {
        finite = finite && results[i] == 1;
    }
    return finite;
}

double nn_sum_squares(const struct nn_exec *exec, const nn_real *x, size_t n)
{
    const double *results = reduce(exec, exec->kernels->sum_squares, x, n);
    double sum = 0;
    for (size_t i = 0; i < nn_div_up(n, CHUNK); i++) {
        sum += results[i];
    }
    return sum;
}
