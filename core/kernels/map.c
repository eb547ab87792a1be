/* SPDX-License-Identifier: MIT
 *
 * How a pointwise row runs over a matrix: in chunks of about 64 KiB. Dense matrices are treated as
 * one long row.
 */
#include "core/kernels/map_internal.h"

#include "core/kernels/chunks_internal.h"

#define CHUNK 16384 /* numbers */

struct map_run {
    nn_map_fn fn;
    struct nn_map_args all;
    size_t chunk_rows, chunk_columns, chunks_across;
};

static void map_chunk(void *ctx, size_t chunk, size_t lane)
{
    (void)lane;
    const struct map_run *p = ctx;
    struct nn_map_args args = p->all;
    size_t row = chunk / p->chunks_across * p->chunk_rows;
    size_t column = chunk % p->chunks_across * p->chunk_columns;
    args.rows = nn_min(p->chunk_rows, args.rows - row);
    args.columns = nn_min(p->chunk_columns, args.columns - column);
    args.y += row * args.ldy + column;
    args.a += row * args.lda + column;
    if (args.b) {
        args.b += row * args.ldb + column;
    }
    p->fn(&args);
}

void nn_map_rows(const struct nn_exec *exec, nn_map_fn fn, struct nn_map_args args)
{
    if (args.rows == 0 || args.columns == 0) {
        return;
    }
    if (args.ldy == args.columns && args.lda == args.columns &&
        (!args.b || args.ldb == args.columns)) {
        args.columns *= args.rows;
        args.rows = 1;
    }
    struct map_run run = {.fn = fn, .all = args};
    run.chunk_columns = nn_min(args.columns, CHUNK);
    run.chunks_across = nn_div_up(args.columns, run.chunk_columns);
    run.chunk_rows = nn_max(1, CHUNK / run.chunk_columns);
    nn_parallel_for(exec->pool, nn_div_up(args.rows, run.chunk_rows) * run.chunks_across, map_chunk,
                    &run);
}
