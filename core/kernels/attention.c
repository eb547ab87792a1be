/* SPDX-License-Identifier: MIT
 *
 * Attention, cut by sequences and heads. Within one of these, tiles of QUERIES by KEYS scores; the
 * rows of a tile are gathered into dense blocks, keys and values transposed where a product wants
 * them so.
 */
#include "core/kernels/attention.h"

#include <math.h>
#include <string.h>

#include "core/kernels/chunks_internal.h"
#include "core/kernels/table.h"

#define QUERIES ((size_t)64)
#define KEYS    ((size_t)64)

struct attention_run {
    const struct nn_exec *exec;
    const struct nn_attention *a;
    nn_real *d_qkv;
    const nn_real *d_o;
};

/* Blocks of a lane. Rows of q, o, d_o, d_q are queries, those of k, v, d_k, d_v keys, each `ld`
 * apart; those of k_t and v_t are columns of a head, KEYS apart; s and d_s are tiles. */
struct blocks {
    size_t ld;
    nn_real *q, *o, *d_o, *d_q, *k, *v, *d_k, *d_v, *k_t, *v_t, *s, *d_s, *max, *sum;
};

/* One head of one sequence. */
struct head {
    const struct attention_run *run;
    size_t sequence, steps, columns, number;
    nn_real scale;
    struct blocks b;
};

/* ---- memory ---- */

static size_t block_ld(size_t width, size_t heads)
{
    return nn_round_up(width / heads, NN_LINE);
}

static size_t lane_bytes(size_t width, size_t heads)
{
    size_t ld = block_ld(width, heads);
    size_t numbers = 4 * QUERIES * ld + 6 * KEYS * ld + 2 * QUERIES * KEYS + 2 * QUERIES;
    return nn_bytes(numbers, sizeof(nn_real));
}

size_t nn_attention_workspace(size_t width, size_t heads, size_t lanes)
{
    return lanes * lane_bytes(width, heads);
}

static struct blocks blocks_of(const struct attention_run *run, size_t lane)
{
    struct blocks b = {.ld = block_ld(run->a->width, run->a->heads)};
    nn_real *at = nn_workspace_piece(run->exec, 0, lane_bytes(run->a->width, run->a->heads), lane);
    nn_real **by_query[] = {&b.q, &b.o, &b.d_o, &b.d_q};
    nn_real **by_key[] = {&b.k, &b.v, &b.d_k, &b.d_v, &b.k_t, &b.v_t};
    for (size_t i = 0; i < sizeof by_query / sizeof *by_query; i++, at += QUERIES * b.ld) {
        *by_query[i] = at;
    }
    for (size_t i = 0; i < sizeof by_key / sizeof *by_key; i++, at += KEYS * b.ld) {
        *by_key[i] = at;
    }
    b.s = at;
    b.d_s = b.s + QUERIES * KEYS;
    b.max = b.d_s + QUERIES * KEYS;
    b.sum = b.max + QUERIES;
    return b;
}

/* ---- rows of a sequence ---- */

static size_t row_of(const struct head *h, size_t step)
{
    return h->run->a->starts[step] + h->sequence;
}

/* The head's columns of query (0), key (1) or value (2) of a step. */
static size_t qkv_at(const struct head *h, size_t step, size_t which)
{
    size_t width = h->run->a->width;
    return (row_of(h, step) * 3 + which) * width + h->number * h->columns;
}

static size_t o_at(const struct head *h, size_t step)
{
    return row_of(h, step) * h->run->a->width + h->number * h->columns;
}

static void gather_queries(const struct head *h, size_t first, size_t n)
{
    for (size_t r = 0; r < n; r++) {
        const nn_real *q = h->run->a->qkv + qkv_at(h, first + r, 0);
        for (size_t c = 0; c < h->columns; c++) {
            h->b.q[r * h->b.ld + c] = q[c] * h->scale;
        }
    }
}

static void gather_rows(const struct head *h, size_t first, size_t n, size_t which, nn_real *rows)
{
    for (size_t r = 0; r < n; r++) {
        nn_real *row = rows + r * h->b.ld;
        memcpy(row, h->run->a->qkv + qkv_at(h, first + r, which), h->columns * sizeof *row);
    }
}

static void transpose(const struct head *h, size_t n, const nn_real *rows, nn_real *out)
{
    for (size_t c = 0; c < h->columns; c++) {
        for (size_t r = 0; r < n; r++) {
            out[c * KEYS + r] = rows[r * h->b.ld + c];
        }
        memset(out + c * KEYS + n, 0, (KEYS - n) * sizeof *out);
    }
}

/* ---- products of a tile ---- */

/* tile [queries, keys] = x [queries, columns] t [columns, keys] */
static void multiply_scores(const struct head *h, nn_real *tile, const nn_real *x, const nn_real *t,
                            size_t queries, size_t keys)
{
    const struct nn_tile_args args = {.m = queries,
                                      .n = keys,
                                      .k = h->columns,
                                      .y = tile,
                                      .ldy = KEYS,
                                      .x = x,
                                      .x_row = h->b.ld,
                                      .x_step = 1,
                                      .b = t,
                                      .ldb = KEYS,
                                      .b_padded = true};
    h->run->exec->kernels->gemm_tile(&args);
}

/* y [queries, columns] = or += tile [queries, keys] b [keys, columns]; by_key: the tile transposed,
 * so that y has a row a key and b one a query. */
static void multiply_rows(const struct head *h, nn_real *y, bool add, const nn_real *tile,
                          bool by_key, const nn_real *b, size_t queries, size_t keys)
{
    const struct nn_tile_args args = {.m = by_key ? keys : queries,
                                      .n = h->columns,
                                      .k = by_key ? queries : keys,
                                      .y = y,
                                      .ldy = h->b.ld,
                                      .x = tile,
                                      .x_row = by_key ? 1 : KEYS,
                                      .x_step = by_key ? KEYS : 1,
                                      .b = b,
                                      .ldb = h->b.ld,
                                      .accumulate = add};
    h->run->exec->kernels->gemm_tile(&args);
}

static struct nn_attention_tile tile_of(const struct head *h, size_t query, size_t queries,
                                        size_t key, size_t keys)
{
    return (struct nn_attention_tile){.rows = queries,
                                      .columns = keys,
                                      .whole = !h->run->a->causal,
                                      .visible = (long)query + 1 - (long)key};
}

/* ---- forward ---- */

static void attend_tile(const struct head *h, size_t query, size_t queries, size_t key, size_t keys)
{
    const struct blocks *b = &h->b;
    gather_rows(h, key, keys, 1, b->k);
    transpose(h, keys, b->k, b->k_t);
    gather_rows(h, key, keys, 2, b->v);
    multiply_scores(h, b->s, b->q, b->k_t, queries, keys);
    const struct nn_attention_softmax_args args = {.tile = tile_of(h, query, queries, key, keys),
                                                   .s = b->s,
                                                   .o = b->o,
                                                   .max = b->max,
                                                   .sum = b->sum,
                                                   .lds = KEYS,
                                                   .ldo = b->ld,
                                                   .o_columns = h->columns,
                                                   .first = key == 0};
    h->run->exec->kernels->attention_softmax(&args);
    multiply_rows(h, b->o, true, b->s, false, b->v, queries, keys);
}

static void attend_queries(const struct head *h, size_t query, size_t queries)
{
    const struct nn_attention *a = h->run->a;
    size_t end = a->causal ? query + queries : h->steps;
    gather_queries(h, query, queries);
    for (size_t key = 0; key < end; key += KEYS) {
        attend_tile(h, query, queries, key, nn_min(KEYS, end - key));
    }
    for (size_t r = 0; r < queries; r++) {
        nn_real *o = a->o + o_at(h, query + r), factor = 1 / h->b.sum[r];
        for (size_t c = 0; c < h->columns; c++) {
            o[c] = h->b.o[r * h->b.ld + c] * factor;
        }
        a->log_sum[row_of(h, query + r) * a->heads + h->number] =
            h->b.max[r] + (nn_real)log((double)h->b.sum[r]);
    }
}

/* Chunk: a head of a sequence, the longest sequences first. */
static struct head head_of(const struct attention_run *run, size_t chunk, size_t lane)
{
    const struct nn_attention *a = run->a;
    struct head h = {.run = run, .sequence = chunk / a->heads, .number = chunk % a->heads};
    h.columns = a->width / a->heads;
    h.scale = (nn_real)(1 / sqrt((double)h.columns));
    h.b = blocks_of(run, lane);
    while (h.steps < a->steps && a->active[h.steps] > h.sequence) {
        h.steps++;
    }
    return h;
}

static void forward_chunk(void *ctx, size_t chunk, size_t lane)
{
    const struct head h = head_of(ctx, chunk, lane);
    for (size_t query = 0; query < h.steps; query += QUERIES) {
        attend_queries(&h, query, nn_min(QUERIES, h.steps - query));
    }
}

void nn_attention_forward(const struct nn_exec *exec, const struct nn_attention *args)
{
    struct attention_run run = {.exec = exec, .a = args};
    nn_parallel_for(exec->pool, args->active[0] * args->heads, forward_chunk, &run);
}

/* ---- gradient ---- */

/* d_o of some queries, and into sum the dot of each with its o. */
static void gather_gradients(const struct head *h, size_t first, size_t n)
{
    for (size_t r = 0; r < n; r++) {
        const nn_real *d_o = h->run->d_o + o_at(h, first + r);
        const nn_real *o = h->run->a->o + o_at(h, first + r);
        nn_real *row = h->b.d_o + r * h->b.ld;
        double dot = 0;
        for (size_t c = 0; c < h->columns; c++) {
            row[c] = d_o[c];
            dot += (double)d_o[c] * (double)o[c];
        }
        h->b.sum[r] = (nn_real)dot;
        h->b.max[r] = h->run->a->log_sum[row_of(h, first + r) * h->run->a->heads + h->number];
    }
}

/* Rows of a block, times a factor, to the head's columns of d_qkv. */
static void scatter(const struct head *h, size_t first, size_t n, size_t which, const nn_real *rows,
                    nn_real factor, bool add)
{
    for (size_t r = 0; r < n; r++) {
        nn_real *out = h->run->d_qkv + qkv_at(h, first + r, which);
        const nn_real *row = rows + r * h->b.ld;
        for (size_t c = 0; c < h->columns; c++) {
            out[c] = add ? out[c] + row[c] * factor : row[c] * factor;
        }
    }
}

/* What some queries give to some keys and values, and these to them. */
static void gradient_tile(const struct head *h, size_t query, size_t queries, size_t key,
                          size_t keys, bool add)
{
    const struct blocks *b = &h->b;
    gather_queries(h, query, queries);
    gather_gradients(h, query, queries);
    multiply_scores(h, b->s, b->q, b->k_t, queries, keys);
    multiply_scores(h, b->d_s, b->d_o, b->v_t, queries, keys);
    const struct nn_attention_gradient_args args = {.tile = tile_of(h, query, queries, key, keys),
                                                    .s = b->s,
                                                    .d_s = b->d_s,
                                                    .log_sum = b->max,
                                                    .dot = b->sum,
                                                    .lds = KEYS,
                                                    .ldd_s = KEYS};
    h->run->exec->kernels->attention_gradient(&args);
    multiply_rows(h, b->d_v, add, b->s, true, b->d_o, queries, keys);
    multiply_rows(h, b->d_k, add, b->d_s, true, b->q, queries, keys);
    multiply_rows(h, b->d_q, false, b->d_s, false, b->k, queries, keys);
    scatter(h, query, queries, 0, b->d_q, h->scale, key > 0); /* every query sees the first keys */
}

static void gradient_keys(const struct head *h, size_t key, size_t keys)
{
    const struct blocks *b = &h->b;
    size_t first = h->run->a->causal ? key / QUERIES * QUERIES : 0;
    gather_rows(h, key, keys, 1, b->k);
    transpose(h, keys, b->k, b->k_t);
    gather_rows(h, key, keys, 2, b->v);
    transpose(h, keys, b->v, b->v_t);
    for (size_t query = first; query < h->steps; query += QUERIES) {
        gradient_tile(h, query, nn_min(QUERIES, h->steps - query), key, keys, query > first);
    }
    scatter(h, key, keys, 1, b->d_k, 1, false);
    scatter(h, key, keys, 2, b->d_v, 1, false);
}

static void gradient_chunk(void *ctx, size_t chunk, size_t lane)
{
    const struct head h = head_of(ctx, chunk, lane);
    for (size_t key = 0; key < h.steps; key += KEYS) {
        gradient_keys(&h, key, nn_min(KEYS, h.steps - key));
    }
}

void nn_attention_gradient(const struct nn_exec *exec, const struct nn_attention *args,
                           nn_real *d_qkv, const nn_real *d_o)
{
    struct attention_run run = {.exec = exec, .a = args, .d_qkv = d_qkv, .d_o = d_o};
    nn_parallel_for(exec->pool, args->active[0] * args->heads, gradient_chunk, &run);
}
