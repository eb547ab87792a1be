/* SPDX-License-Identifier: MIT
 *
 * Broadcasts, cut by samples and, where no sum runs over a sample, by its rows.
 */
#include "core/kernels/broadcast.h"

#include "core/kernels/chunks_internal.h"
#include "core/kernels/map_internal.h"

typedef void (*broadcast_fn)(const struct nn_broadcast_args *args);

struct broadcast_run {
    broadcast_fn fn;
    struct nn_broadcast_args all; /* rows: of a sample */
    size_t batch, chunk_rows, chunks;
    bool sums; /* y is like the second matrix, b like the first */
};

static void broadcast_chunk(void *ctx, size_t chunk, size_t lane)
{
    (void)lane;
    const struct broadcast_run *p = ctx;
    struct nn_broadcast_args args = p->all;
    size_t sample = chunk / p->chunks, within = chunk % p->chunks * p->chunk_rows;
    size_t row = sample * args.rows + within, shared = args.one_row ? sample : row;
    args.rows = nn_min(p->chunk_rows, args.rows - within);
    args.a += row * args.lda;
    args.y += p->sums ? shared * args.ldy : row * args.ldy;
    args.b += p->sums ? row * args.ldb : shared * args.ldb;
    if (args.one_row && !p->sums) {
        args.ldb = 0;
    }
    p->fn(&args);
}

static void run_broadcast(const struct nn_exec *exec, const struct nn_broadcast *sizes,
                          const struct nn_operands *o, broadcast_fn fn, bool sums)
{
    struct broadcast_run run = {.fn = fn, .batch = sizes->batch, .sums = sums};
    run.all = (struct nn_broadcast_args){
        sizes->pixels,  sizes->channels,   o->y,         o->a, o->b, o->ldy, o->lda, o->ldb,
        sizes->one_row, sizes->one_column, o->accumulate};
    if (!sizes->one_row || sizes->pixels == 1) { /* samples do not matter: one long image */
        run.all.one_row = false;
        run.all.rows *= run.batch;
        run.batch = 1;
    }
    if (run.all.rows == 0 || run.batch == 0) {
        return;
    }
    run.chunk_rows = nn_rows_per_chunk(sizes->channels);
    if (sums && run.all.one_row) {
        run.chunk_rows = run.all.rows;
    }
    run.chunks = nn_div_up(run.all.rows, run.chunk_rows);
    nn_parallel_for(exec->pool, run.batch * run.chunks, broadcast_chunk, &run);
}

void nn_multiply(const struct nn_exec *exec, const struct nn_broadcast *sizes,
                 const struct nn_operands *args)
{
    run_broadcast(exec, sizes, args, exec->kernels->multiply, false);
}

void nn_multiply_sums(const struct nn_exec *exec, const struct nn_broadcast *sizes,
                      const struct nn_operands *args)
{
    run_broadcast(exec, sizes, args, exec->kernels->multiply_sums, true);
}

void nn_soft_threshold(const struct nn_exec *exec, const struct nn_broadcast *sizes,
                       const struct nn_operands *args)
{
    run_broadcast(exec, sizes, args, exec->kernels->soft_threshold, false);
}

void nn_soft_threshold_sums(const struct nn_exec *exec, const struct nn_broadcast *sizes,
                            const struct nn_operands *args)
{
    run_broadcast(exec, sizes, args, exec->kernels->soft_threshold_sums, true);
}

static struct nn_map_args map_of(const struct nn_operands *o, size_t rows, size_t columns)
{
    struct nn_map_args args = {.rows = rows, .columns = columns, .y = o->y, .a = o->a, .b = o->b};
    args.ldy = o->ldy;
    args.lda = o->lda;
    args.ldb = o->ldb;
    args.accumulate = o->accumulate;
    return args;
}

void nn_soft_threshold_gradient(const struct nn_exec *exec, const struct nn_operands *args,
                                size_t rows, size_t columns)
{
    nn_map_rows(exec, exec->kernels->soft_threshold_gradient, map_of(args, rows, columns));
}

/* ---- means: a row is never cut ---- */

struct mean_run {
    nn_map_fn fn;
    struct nn_map_args all;
    size_t chunk_rows;
};

static void mean_chunk(void *ctx, size_t chunk, size_t lane)
{
    (void)lane;
    const struct mean_run *p = ctx;
    struct nn_map_args args = p->all;
    size_t row = chunk * p->chunk_rows;
    args.rows = nn_min(p->chunk_rows, args.rows - row);
    args.y += row * args.ldy;
    args.a += row * args.lda;
    p->fn(&args);
}

static void run_mean(const struct nn_exec *exec, nn_map_fn fn, struct nn_map_args args)
{
    struct mean_run run = {.fn = fn, .all = args, .chunk_rows = nn_rows_per_chunk(args.columns)};
    nn_parallel_for(exec->pool, nn_div_up(args.rows, run.chunk_rows), mean_chunk, &run);
}

void nn_channel_mean(const struct nn_exec *exec, const struct nn_operands *args, size_t rows,
                     size_t channels)
{
    run_mean(exec, exec->kernels->channel_mean, map_of(args, rows, channels));
}

void nn_channel_mean_gradient(const struct nn_exec *exec, const struct nn_operands *args,
                              size_t rows, size_t channels)
{
    run_mean(exec, exec->kernels->channel_mean_gradient, map_of(args, rows, channels));
}
