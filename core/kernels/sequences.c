/* SPDX-License-Identifier: MIT
 *
 * Pools, positions and embeddings of packed sequences. None is worth a loop of its own in the
 * tables: they move each number once.
 */
#include "core/kernels/sequences.h"

#include <math.h>
#include <string.h>

#include "core/kernels/chunks_internal.h"
#include "core/kernels/table.h"

#define STRIP ((size_t)64) /* columns whose sums stay in the first cache */

/* ---- pools: a chunk is a sequence ---- */

struct pool_run {
    const struct nn_steps *s;
    enum nn_sequence_pool how;
    nn_real *out;
    const nn_real *in;
    size_t ld_out, ld_in, channels;
    bool accumulate;
};

static size_t length_of(const struct nn_steps *s, size_t sequence)
{
    size_t steps = 0;
    while (steps < s->steps && s->active[steps] > sequence) {
        steps++;
    }
    return steps;
}

static void pool_chunk(void *ctx, size_t sequence, size_t lane)
{
    (void)lane;
    const struct pool_run *p = ctx;
    size_t length = length_of(p->s, sequence);
    size_t first = p->how == NN_SEQUENCE_LAST ? length - 1 : 0;
    nn_real *y = p->out + p->s->samples[sequence] * p->ld_out;
    for (size_t c = 0; c < p->channels; c += STRIP) {
        double sums[STRIP] = {0};
        size_t n = nn_min(STRIP, p->channels - c);
        for (size_t t = first; t < length; t++) {
            const nn_real *x = p->in + (p->s->starts[t] + sequence) * p->ld_in + c;
            for (size_t i = 0; i < n; i++) {
                sums[i] += (double)x[i];
            }
        }
        for (size_t i = 0; i < n; i++) {
            y[c + i] = (nn_real)(sums[i] / (double)(length - first));
        }
    }
}

void nn_sequence_pool(const struct nn_exec *exec, const struct nn_steps *s,
                      enum nn_sequence_pool how, nn_real *y, size_t ldy, const nn_real *x,
                      size_t ldx, size_t channels)
{
    struct pool_run run = {.s = s, .how = how, .out = y, .in = x, .ld_out = ldy, .ld_in = ldx};
    run.channels = channels;
    nn_parallel_for(exec->pool, s->active[0], pool_chunk, &run);
}

static void pool_gradient_chunk(void *ctx, size_t sequence, size_t lane)
{
    (void)lane;
    const struct pool_run *p = ctx;
    size_t length = length_of(p->s, sequence);
    bool last = p->how == NN_SEQUENCE_LAST;
    const nn_real *d_y = p->in + p->s->samples[sequence] * p->ld_in;
    for (size_t t = 0; t < length; t++) {
        nn_real *d_x = p->out + (p->s->starts[t] + sequence) * p->ld_out;
        nn_real share = last ? (nn_real)(t + 1 == length) : 1 / (nn_real)length;
        for (size_t c = 0; c < p->channels; c++) {
            d_x[c] = p->accumulate ? d_x[c] + d_y[c] * share : d_y[c] * share;
        }
    }
}

void nn_sequence_pool_gradient(const struct nn_exec *exec, const struct nn_steps *s,
                               enum nn_sequence_pool how, nn_real *d_x, size_t ldd_x,
                               bool accumulate, const nn_real *d_y, size_t ldd_y, size_t channels)
{
    struct pool_run run = {.s = s, .how = how, .out = d_x, .in = d_y, .ld_out = ldd_x};
    run.ld_in = ldd_y;
    run.channels = channels;
    run.accumulate = accumulate;
    nn_parallel_for(exec->pool, s->active[0], pool_gradient_chunk, &run);
}

/* ---- positions: a chunk is a step, or a row of the table ---- */

struct positions_run {
    const struct nn_exec *exec;
    const struct nn_steps *s;
    nn_real *y, *d_table;
    const nn_real *x, *table;
    size_t ldy, ldx, length, channels;
};

size_t nn_positions_workspace(size_t channels, size_t lanes)
{
    return lanes * nn_bytes(channels, sizeof(double));
}

static void sinusoids(nn_real *out, size_t step, size_t channels)
{
    for (size_t c = 0; c < channels; c++) {
        double angle = (double)step * pow(10000, -(double)(c - c % 2) / (double)channels);
        out[c] = (nn_real)(c % 2 == 0 ? sin(angle) : cos(angle));
    }
}

static void add_chunk(void *ctx, size_t step, size_t lane)
{
    const struct positions_run *p = ctx;
    nn_real *row = nn_workspace_piece(p->exec, 0, nn_positions_workspace(p->channels, 1), lane);
    struct nn_map_args args = {.rows = p->s->active[step], .columns = p->channels};
    args.y = p->y + p->s->starts[step] * p->ldy;
    args.a = p->x + p->s->starts[step] * p->ldx;
    args.ldy = p->ldy;
    args.lda = p->ldx;
    args.b = row; /* ldb 0: one row for all */
    if (p->table) {
        args.b = p->table + nn_min(step, p->length - 1) * p->channels;
    } else {
        sinusoids(row, step, p->channels);
    }
    p->exec->kernels->add(&args);
}

void nn_positions_add(const struct nn_exec *exec, const struct nn_steps *s, nn_real *y, size_t ldy,
                      const nn_real *x, size_t ldx, const nn_real *table, size_t length,
                      size_t channels)
{
    struct positions_run run = {.exec = exec, .s = s, .y = y, .x = x, .table = table, .ldy = ldy};
    run.ldx = ldx;
    run.length = length;
    run.channels = channels;
    nn_parallel_for(exec->pool, s->steps, add_chunk, &run);
}

/* The last row of the table is that of all steps from there on. */
static void positions_gradient_chunk(void *ctx, size_t row, size_t lane)
{
    const struct positions_run *p = ctx;
    double *sums = nn_workspace_piece(p->exec, 0, nn_positions_workspace(p->channels, 1), lane);
    nn_real *out = p->d_table + row * p->channels;
    size_t end = row + 1 < p->length ? nn_min(row + 1, p->s->steps) : p->s->steps;
    for (size_t t = row; t < end; t++) {
        const struct nn_column_sums_args args = {.rows = p->s->active[t],
                                                 .columns = p->channels,
                                                 .x = p->x + p->s->starts[t] * p->ldx,
                                                 .ldx = p->ldx,
                                                 .sums = sums};
        p->exec->kernels->column_sums(&args);
        for (size_t c = 0; c < p->channels; c++) {
            out[c] += (nn_real)sums[c];
        }
    }
}

void nn_positions_gradient(const struct nn_exec *exec, const struct nn_steps *s, nn_real *d_table,
                           size_t length, const nn_real *d_y, size_t ldd_y, size_t channels)
{
    struct positions_run run = {.exec = exec, .s = s, .d_table = d_table, .x = d_y, .ldx = ldd_y};
    run.length = length;
    run.channels = channels;
    nn_parallel_for(exec->pool, nn_min(length, s->steps), positions_gradient_chunk, &run);
}

/* ---- embeddings ---- */

struct embed_run {
    nn_real *out;          /* y, or d_table */
    const nn_real *x, *in; /* ids; the table, or d_y */
    size_t ldx, ld, rows, ids, channels, chunk_rows;
};

/* ids when it is none of them. */
static size_t id_of(const struct embed_run *p, size_t row)
{
    nn_real x = p->x[row * p->ldx];
    bool exists = x >= 0 && x < (nn_real)p->ids;
    size_t id = exists ? (size_t)x : p->ids;
    return exists && (nn_real)id == x ? id : p->ids;
}

static void embed_chunk(void *ctx, size_t chunk, size_t lane)
{
    (void)lane;
    const struct embed_run *p = ctx;
    size_t first = chunk * p->chunk_rows;
    for (size_t r = first; r < nn_min(first + p->chunk_rows, p->rows); r++) {
        size_t id = id_of(p, r);
        nn_real *y = p->out + r * p->ld;
        if (id < p->ids) {
            memcpy(y, p->in + id * p->channels, p->channels * sizeof *y);
        }
        for (size_t c = 0; id == p->ids && c < p->channels; c++) {
            y[c] = (nn_real)NAN;
        }
    }
}

void nn_embed(const struct nn_exec *exec, nn_real *y, size_t ldy, const nn_real *x, size_t ldx,
              size_t rows, const nn_real *table, size_t ids, size_t channels)
{
    struct embed_run run = {.out = y, .ld = ldy, .x = x, .ldx = ldx, .in = table, .rows = rows};
    run.ids = ids;
    run.channels = channels;
    run.chunk_rows = nn_rows_per_chunk(channels);
    nn_parallel_for(exec->pool, nn_div_up(rows, run.chunk_rows), embed_chunk, &run);
}

/* A strip of columns: rows are added in their order, whoever adds them. */
static void embed_gradient_chunk(void *ctx, size_t chunk, size_t lane)
{
    (void)lane;
    const struct embed_run *p = ctx;
    size_t first = chunk * STRIP, n = nn_min(STRIP, p->channels - first);
    for (size_t r = 0; r < p->rows; r++) {
        size_t id = id_of(p, r);
        const nn_real *d_y = p->in + r * p->ld + first;
        nn_real *out = p->out + id * p->channels + first;
        for (size_t c = 0; id < p->ids && c < n; c++) {
            out[c] += d_y[c];
        }
    }
}

void nn_embed_gradient(const struct nn_exec *exec, nn_real *d_table, const nn_real *x, size_t ldx,
                       size_t rows, size_t ids, const nn_real *d_y, size_t ldd_y, size_t channels)
{
    struct embed_run run = {.out = d_table, .x = x, .ldx = ldx, .in = d_y, .ld = ldd_y};
    run.rows = rows;
    run.ids = ids;
    run.channels = channels;
    nn_parallel_for(exec->pool, nn_div_up(channels, STRIP), embed_gradient_chunk, &run);
}
