/* SPDX-License-Identifier: MIT
 *
 * Matrix products: which implementation takes a shape, and how it is cut for the pool.
 *
 * Cutting: output tiles first; when those are few and the sum is long (the gradient of a weight),
 * the sum is cut into slices with an output of their own each, added in order afterwards.
 * Choice: own tiles for few columns, where OpenBLAS is weak and repacks; OpenBLAS for the rest and,
 * with the plain table, for everything.
 */
#include "core/kernels/gemm_internal.h"

#include <string.h>

#include "core/kernels/blas_internal.h"
#include "core/kernels/chunks_internal.h"
#include "core/kernels/table.h"

#define WANTED_CHUNKS 8
#define CHUNK_WORK    ((size_t)1 << 21) /* multiply-adds that are worth a chunk */
#define SMALL_TILE    ((size_t)64)
#define SLICE_DEPTH   1024
#define FEW_COLUMNS   48
#define DOT_COLUMNS   16

/* ---- choice ---- */

static bool has_own_tiles(const struct nn_exec *exec)
{
    return exec->kernels->isa != NN_ISA_PLAIN;
}

static bool takes_dots(const struct nn_exec *exec, bool transpose_a, bool transpose_b, size_t n)
{
    return has_own_tiles(exec) && !transpose_a && transpose_b && n <= DOT_COLUMNS;
}

static bool takes_tile(const struct nn_exec *exec, bool transpose_b, size_t m, size_t n, size_t k)
{
    return has_own_tiles(exec) && !transpose_b &&
           (n <= FEW_COLUMNS || m <= DOT_COLUMNS || k <= DOT_COLUMNS);
}

/* One product on the caller's thread. */
void nn_gemm_serial(const struct nn_exec *exec, const struct nn_gemm *g)
{
    if (g->m == 0 || g->n == 0) {
        return;
    }
    if (takes_dots(exec, g->transpose_a, g->transpose_b, g->n)) {
        struct nn_dots_args args = {.m = g->m, .n = g->n, .k = g->k, .y = g->c, .x = g->a};
        args.b = g->b;
        args.ldy = g->ldc;
        args.ldx = g->lda;
        args.ldb = g->ldb;
        args.accumulate = g->accumulate;
        exec->kernels->gemm_dots(&args);
    } else if (takes_tile(exec, g->transpose_b, g->m, g->n, g->k)) {
        struct nn_tile_args args = {.m = g->m, .n = g->n, .k = g->k, .y = g->c, .x = g->a};
        args.b = g->b;
        args.ldy = g->ldc;
        args.x_row = g->transpose_a ? 1 : g->lda;
        args.x_step = g->transpose_a ? g->lda : 1;
        args.ldb = g->ldb;
        args.accumulate = g->accumulate;
        exec->kernels->gemm_tile(&args);
    } else if (g->k > 0) {
        nn_blas_gemm(g);
    } else {
        for (size_t r = 0; r < g->m && !g->accumulate; r++) {
            memset(g->c + r * g->ldc, 0, g->n * sizeof *g->c);
        }
    }
}

/* ---- cutting ---- */

struct cut {
    size_t tile_m, tile_n, tiles_m, tiles_n;
    size_t slice_k, slices;
};

static struct cut cut_product(size_t m, size_t n, size_t k)
{
    struct cut cut = {.tile_m = m, .tile_n = n, .tiles_m = 1, .tiles_n = 1};
    size_t line = k > 0 ? k : 1;
    while (cut.tiles_m * cut.tiles_n < WANTED_CHUNKS &&
           cut.tile_m * cut.tile_n > 2 * CHUNK_WORK / line) {
        bool by_rows = cut.tile_m >= cut.tile_n;
        size_t *tile = by_rows ? &cut.tile_m : &cut.tile_n;
        if (*tile < 2 * SMALL_TILE) {
            break;
        }
        *tile = nn_round_up(*tile / 2, NN_LINE);
        cut.tiles_m = nn_div_up(m, cut.tile_m);
        cut.tiles_n = nn_div_up(n, cut.tile_n);
    }
    size_t tiles = cut.tiles_m * cut.tiles_n;
    size_t by_depth = nn_min(k / SLICE_DEPTH, m * n * line / CHUNK_WORK);
    size_t slices = tiles < WANTED_CHUNKS ? nn_min(WANTED_CHUNKS / tiles, by_depth) : 1;
    cut.slices = nn_max(1, slices);
    cut.slice_k = nn_div_up(k, cut.slices);
    return cut;
}

size_t nn_gemm_workspace(size_t m, size_t n, size_t k, size_t lanes)
{
    (void)lanes;
    size_t slices = cut_product(m, n, k).slices;
    return slices > 1 ? slices * nn_bytes(m * n, sizeof(nn_real)) : 0;
}

/* Slices times tiles are at most WANTED_CHUNKS, and where there are slices, of a sum that long, the
 * cutting ended with tiles whose sides are below 2 SMALL_TILE, or smaller ones. */
size_t nn_gemm_workspace_up_to(size_t m, size_t n, size_t k)
{
    size_t tile = 4 * SMALL_TILE * SMALL_TILE;
    size_t numbers = m < tile && n < tile ? nn_min(m * n, tile) : tile;
    return k < 2 * SLICE_DEPTH ? 0 : WANTED_CHUNKS * nn_bytes(numbers, sizeof(nn_real));
}

struct product {
    const struct nn_exec *exec;
    const struct nn_gemm *gemm;
    struct cut cut;
};

/* Chunk: slice-major, then tile rows, then tile columns. */
static void multiply_chunk(void *ctx, size_t chunk, size_t lane)
{
    (void)lane;
    const struct product *p = ctx;
    const struct nn_gemm *g = p->gemm;
    const struct cut *cut = &p->cut;
    size_t slice = chunk / (cut->tiles_m * cut->tiles_n);
    size_t row = chunk / cut->tiles_n % cut->tiles_m * cut->tile_m;
    size_t column = chunk % cut->tiles_n * cut->tile_n;
    size_t depth = nn_min(slice * cut->slice_k, g->k);
    struct nn_gemm part = *g;
    part.m = nn_min(cut->tile_m, g->m - row);
    part.n = nn_min(cut->tile_n, g->n - column);
    part.k = nn_min(cut->slice_k, g->k - depth);
    part.a += g->transpose_a ? depth * g->lda + row : row * g->lda + depth;
    part.b += g->transpose_b ? column * g->ldb + depth : depth * g->ldb + column;
    if (cut->slices > 1) {
        size_t bytes = nn_bytes(g->m * g->n, sizeof(nn_real));
        part.c = nn_workspace_piece(p->exec, 0, bytes, slice);
        part.ldc = g->n;
        part.accumulate = false;
    }
    part.c += row * part.ldc + column;
    nn_gemm_serial(p->exec, &part);
}

static void add_slices(const struct nn_exec *exec, const struct nn_gemm *g, size_t slices)
{
    size_t bytes = nn_bytes(g->m * g->n, sizeof(nn_real));
    for (size_t s = 0; s < slices; s++) {
        struct nn_map_args args = {.rows = g->m, .columns = g->n, .y = g->c, .ldy = g->ldc};
        args.a = nn_workspace_piece(exec, 0, bytes, s);
        args.lda = g->n;
        args.accumulate = g->accumulate || s > 0;
        exec->kernels->copy(&args);
    }
}

void nn_gemm(const struct nn_exec *exec, const struct nn_gemm *gemm)
{
    struct product product = {exec, gemm, cut_product(gemm->m, gemm->n, gemm->k)};
    size_t chunks = product.cut.tiles_m * product.cut.tiles_n * product.cut.slices;
    nn_parallel_for(exec->pool, chunks, multiply_chunk, &product);
    if (product.cut.slices > 1) {
        add_slices(exec, gemm, product.cut.slices);
    }
}

/* ---- the packed interface ---- */

size_t nn_gemm_pack_count(size_t k, size_t n)
{
    return n <= FEW_COLUMNS ? k * nn_round_up(n, NN_LINE) : 0;
}

bool nn_gemm_reads_panels(const struct nn_exec *exec, size_t n)
{
    return has_own_tiles(exec) && n <= FEW_COLUMNS;
}

static void pack_panels(nn_real *panels, const nn_real *b, size_t ldb, bool transpose_b, size_t k,
                        size_t n)
{
    size_t width = nn_round_up(n, NN_LINE);
    for (size_t q = 0; q < k; q++) {
        nn_real *panel = panels + q * width;
        for (size_t c = 0; c < n; c++) {
            panel[c] = transpose_b ? b[c * ldb + q] : b[q * ldb + c];
        }
        memset(panel + n, 0, (width - n) * sizeof *panel);
    }
}

void nn_gemm_pack(const struct nn_exec *exec, struct nn_packed *out_packed, nn_real *storage,
                  const nn_real *b, size_t ldb, bool transpose_b, size_t k, size_t n)
{
    *out_packed =
        (struct nn_packed){.k = k, .n = n, .b = b, .ldb = ldb, .transpose_b = transpose_b};
    if (nn_gemm_reads_panels(exec, n) && !takes_dots(exec, false, transpose_b, n)) {
        pack_panels(storage, b, ldb, transpose_b, k, n);
        out_packed->panels = storage;
    }
}

struct packed_product {
    const struct nn_exec *exec;
    nn_real *y;
    const nn_real *x;
    size_t ldy, ldx, rows;
    const struct nn_packed *packed;
    const struct nn_epilogue *epilogue;
    size_t tile_rows, tile_columns, tiles_across;
};

static void finish_rows(nn_real *y, size_t ldy, size_t rows, size_t n, const nn_real *bias,
                        bool relu)
{
    for (size_t r = 0; r < rows && (bias || relu); r++, y += ldy) {
#pragma omp simd
        for (size_t c = 0; c < n; c++) {
            nn_real value = bias ? y[c] + bias[c] : y[c];
            y[c] = relu && value < 0 ? 0 : value;
        }
    }
}

static void packed_panels(const struct packed_product *p, size_t row, size_t rows)
{
    const struct nn_packed *w = p->packed;
    struct nn_tile_args args = {.m = rows, .n = w->n, .k = w->k, .x_step = 1, .b_padded = true};
    args.y = p->y + row * p->ldy;
    args.x = p->x + row * p->ldx;
    args.b = w->panels;
    args.bias = p->epilogue->bias;
    args.ldy = p->ldy;
    args.x_row = p->ldx;
    args.ldb = nn_round_up(w->n, NN_LINE);
    args.accumulate = p->epilogue->accumulate;
    args.relu = p->epilogue->activation == NN_ACTIVATION_RELU;
    p->exec->kernels->gemm_tile(&args);
}

static void packed_chunk(void *ctx, size_t chunk, size_t lane)
{
    (void)lane;
    const struct packed_product *p = ctx;
    const struct nn_packed *w = p->packed;
    size_t row = chunk / p->tiles_across * p->tile_rows;
    size_t column = chunk % p->tiles_across * p->tile_columns;
    size_t rows = nn_min(p->tile_rows, p->rows - row);
    if (w->panels) {
        packed_panels(p, row, rows);
        return;
    }
    struct nn_gemm gemm = {.m = rows, .n = nn_min(p->tile_columns, w->n - column), .k = w->k};
    gemm.a = p->x + row * p->ldx;
    gemm.lda = p->ldx;
    gemm.b = w->b + (w->transpose_b ? column * w->ldb : column);
    gemm.ldb = w->ldb;
    gemm.transpose_b = w->transpose_b;
    gemm.c = p->y + row * p->ldy + column;
    gemm.ldc = p->ldy;
    gemm.accumulate = p->epilogue->accumulate;
    nn_gemm_serial(p->exec, &gemm);
    finish_rows(gemm.c, gemm.ldc, gemm.m, gemm.n,
                p->epilogue->bias ? p->epilogue->bias + column : NULL,
                p->epilogue->activation == NN_ACTIVATION_RELU);
}

/* Also called on one chunk's rows by the convolution, then without a pool. */
void nn_gemm_packed(const struct nn_exec *exec, nn_real *y, size_t ldy, const nn_real *x,
                    size_t ldx, size_t rows, const struct nn_packed *packed,
                    const struct nn_epilogue *epilogue)
{
    static const struct nn_epilogue none;
    struct packed_product p = {.exec = exec, .x = x, .ldy = ldy, .ldx = ldx, .rows = rows};
    p.y = y;
    p.packed = packed;
    p.epilogue = epilogue ? epilogue : &none;
    struct cut cut = cut_product(rows, packed->n, packed->k);
    p.tile_rows = cut.tile_m;
    p.tile_columns = cut.tile_n;
    p.tiles_across = cut.tiles_n;
    if (packed->n <= FEW_COLUMNS) { /* rows only, in small pieces: no packing to pay for again */
        size_t work = nn_max(1, packed->k * packed->n);
        p.tile_rows = nn_max(NN_LINE, nn_round_up(CHUNK_WORK / 4 / work, NN_LINE));
        p.tile_columns = nn_max(1, packed->n);
        p.tiles_across = 1;
    }
    size_t down = rows > 0 && packed->n > 0 ? nn_div_up(rows, p.tile_rows) : 0;
    nn_parallel_for(exec->pool, down * p.tiles_across, packed_chunk, &p);
}

/* ---- column sums ---- */

#define SUM_ROWS 1024

struct column_sums {
    const struct nn_exec *exec;
    const nn_real *x;
    size_t ldx, rows, columns;
};

static double *sums_of_chunk(const struct nn_exec *exec, size_t columns, size_t chunk)
{
    return nn_workspace_piece(exec, 0, nn_bytes(columns, sizeof(double)), chunk);
}

size_t nn_column_sums_workspace(size_t rows, size_t columns)
{
    return nn_div_up(rows, SUM_ROWS) * nn_bytes(columns, sizeof(double));
}

static void column_sums_chunk(void *ctx, size_t chunk, size_t lane)
{
    (void)lane;
    const struct column_sums *p = ctx;
    struct nn_column_sums_args args = {.columns = p->columns, .ldx = p->ldx};
    args.rows = nn_min(SUM_ROWS, p->rows - chunk * SUM_ROWS);
    args.x = p->x + chunk * SUM_ROWS * p->ldx;
    args.sums = sums_of_chunk(p->exec, p->columns, chunk);
    p->exec->kernels->column_sums(&args);
}

void nn_column_sums(const struct nn_exec *exec, nn_real *sums, const nn_real *x, size_t ldx,
                    size_t rows, size_t columns)
{
    struct column_sums p = {exec, x, ldx, rows, columns};
    size_t chunks = nn_div_up(rows, SUM_ROWS);
    nn_parallel_for(exec->pool, chunks, column_sums_chunk, &p);
    for (size_t c = 0; c < columns; c++) {
        double sum = (double)sums[c];
        for (size_t i = 0; i < chunks; i++) {
            sum += sums_of_chunk(exec, columns, i)[c];
        }
        sums[c] = (nn_real)sum;
    }
}
