/* SPDX-License-Identifier: MIT
 *
 * Cases of matrix.h.
 */
#include "tests/numeric/cases/cases.h"
#include "tests/ref/ref.h"

/* The rows themselves, since the plain table leaves whole products to OpenBLAS.
 * how: 1 relu, 2 bias, 4 accumulate, 8 x transposed, 16 b padded */
static void check_tile(struct numeric *t, size_t m, size_t n, size_t k, unsigned how)
{
    bool transposed = how >> 3 & 1, padded = how >> 4 & 1;
    struct nn_tile_args args = {.m = m, .n = n, .k = k, .accumulate = how >> 2 & 1};
    struct field x = transposed ? numeric_field(t, k, m, how % 3) : numeric_field(t, m, k, how % 3);
    struct field b = numeric_field(t, k, padded ? (n + 15) / 16 * 16 : n, 0);
    struct field y = numeric_field(t, m, n, how % 2 * 3), bias = numeric_field(t, 1, n, 0);
    args.y = y.data;
    args.ldy = y.ld;
    args.x = x.data;
    args.x_row = transposed ? 1 : x.ld;
    args.x_step = transposed ? x.ld : 1;
    args.b = b.data;
    args.ldb = b.ld;
    args.b_padded = padded;
    args.relu = !args.accumulate && (how & 1);
    args.bias = !args.accumulate && (how & 2) ? bias.data : NULL;
    struct nn_gemm gemm = {.m = m, .n = n, .k = k, .a = x.data, .b = b.data, .lda = x.ld};
    gemm.ldb = b.ld;
    gemm.transpose_a = transposed;
    gemm.accumulate = args.accumulate;
    double *expected = numeric_doubles(t, y);
    ref_gemm(expected, &gemm);
    ref_epilogue(expected, m, n, args.bias, args.relu);
    t->exec.kernels->gemm_tile(&args);
    numeric_compare(t, y, expected, k, "tile m=%zu n=%zu k=%zu how=%u", m, n, k, how);
}

static const size_t TILES[][3] = {{1, 5, 1},     {4, 1, 3},   {4, 24, 9},   {5, 23, 17},
                                  {6, 16, 31},   {7, 20, 25}, {13, 48, 11}, {3, 8, 0},
                                  {9, 47, 70},   {2, 7, 600}, {33, 3, 5},   {11, 100, 4},
                                  {10, 40, 130}, {31, 8, 3},  {15, 16, 7},  {23, 20, 2}};

static void tile(struct numeric *t)
{
    for (size_t i = 0; i < sizeof TILES / sizeof *TILES; i++) {
        for (unsigned how = 0; how < 32; how++) {
            check_tile(t, TILES[i][0], TILES[i][1], TILES[i][2], how);
        }
    }
}

static void dots(struct numeric *t)
{
    for (size_t i = 0; i < 8 * sizeof TILES / sizeof *TILES; i++) {
        size_t m = TILES[i / 8][0], n = TILES[i / 8][1], k = TILES[i / 8][2];
        struct nn_dots_args args = {.m = m, .n = n, .k = k, .accumulate = i >> 2 & 1};
        struct field x = numeric_field(t, m, k, i % 3), b = numeric_field(t, n, k, i % 2);
        struct field y = numeric_field(t, m, n, i % 2 * 3), bias = numeric_field(t, 1, n, 0);
        args.y = y.data;
        args.x = x.data;
        args.b = b.data;
        args.ldy = y.ld;
        args.ldx = x.ld;
        args.ldb = b.ld;
        args.relu = !args.accumulate && (i & 1);
        args.bias = !args.accumulate && (i & 2) ? bias.data : NULL;
        struct nn_gemm gemm = {.m = m, .n = n, .k = k, .a = x.data, .b = b.data, .lda = x.ld};
        gemm.ldb = b.ld;
        gemm.transpose_b = true;
        gemm.accumulate = args.accumulate;
        double *expected = numeric_doubles(t, y);
        ref_gemm(expected, &gemm);
        ref_epilogue(expected, m, n, args.bias, args.relu);
        t->exec.kernels->gemm_dots(&args);
        numeric_compare(t, y, expected, k, "dots m=%zu n=%zu k=%zu how=%zu", m, n, k, i % 8);
    }
}

static void check_gemm(struct numeric *t, size_t m, size_t n, size_t k, unsigned how)
{
    bool ta = how & 1, tb = how >> 1 & 1, accumulate = how >> 2 & 1;
    size_t gap = how % 3;
    struct field a = ta ? numeric_field(t, k, m, gap) : numeric_field(t, m, k, gap);
    struct field b = tb ? numeric_field(t, n, k, gap) : numeric_field(t, k, n, 2 * gap);
    struct field c = numeric_field(t, m, n, gap);
    struct nn_gemm gemm = {m, n, k, a.data, b.data, a.ld, b.ld, ta, tb, c.data, c.ld, accumulate};
    double *expected = numeric_doubles(t, c);
    numeric_workspace(t, nn_gemm_workspace(m, n, k, nn_pool_lanes(t->exec.pool)));
    ref_gemm(expected, &gemm);
    nn_gemm(&t->exec, &gemm);
    numeric_compare(t, c, expected, k, "gemm m=%zu n=%zu k=%zu how=%u", m, n, k, how);
}

static void gemm(struct numeric *t)
{
    static const size_t shapes[][3] = {{1, 1, 1},   {1, 10, 7},   {3, 5, 2},     {4, 24, 9},
                                       {5, 23, 17}, {6, 16, 31},  {7, 20, 25},   {13, 49, 11},
                                       {2, 48, 64}, {17, 33, 40}, {5, 7, 0},     {1, 64, 13},
                                       {31, 8, 3},  {9, 300, 5},  {12, 47, 101}, {10, 131, 70}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        for (unsigned how = 0; how < 8; how++) {
            check_gemm(t, shapes[i][0], shapes[i][1], shapes[i][2], how);
        }
    }
}

/* A long sum is cut into slices. */
static void gemm_slices(struct numeric *t)
{
    check_gemm(t, 24, 17, 12289, 1);
    check_gemm(t, 9, 7, 100003, 5);
}

static void check_packed(struct numeric *t, size_t rows, size_t n, size_t k, unsigned how)
{
    bool tb = how & 1, relu = how >> 1 & 1, accumulate = how >> 2 & 1;
    struct field x = numeric_field(t, rows, k, how % 3);
    struct field b = tb ? numeric_field(t, n, k, 1) : numeric_field(t, k, n, 1);
    struct field bias = numeric_field(t, 1, n, 0), y = numeric_field(t, rows, n, how % 2);
    const nn_real *used_bias = accumulate || how == 2 ? NULL : bias.data;
    relu = relu && !accumulate;
    nn_real *storage = numeric_array(t, nn_gemm_pack_count(k, n), sizeof *storage);
    struct nn_packed packed;
    struct nn_epilogue epilogue = {used_bias, relu ? NN_ACTIVATION_RELU : NN_ACTIVATION_NONE,
                                   accumulate};
    struct nn_gemm gemm = {.m = rows, .n = n, .k = k, .a = x.data, .b = b.data};
    gemm.lda = x.ld;
    gemm.ldb = b.ld;
    gemm.transpose_b = tb;
    gemm.accumulate = accumulate;
    double *expected = numeric_doubles(t, y);
    ref_gemm(expected, &gemm);
    ref_epilogue(expected, rows, n, used_bias, relu);
    nn_gemm_pack(&t->exec, &packed, storage, b.data, b.ld, tb, k, n);
    nn_gemm_packed(&t->exec, y.data, y.ld, x.data, x.ld, rows, &packed, &epilogue);
    numeric_compare(t, y, expected, k, "packed rows=%zu n=%zu k=%zu how=%u", rows, n, k, how);
}

static void packed(struct numeric *t)
{
    static const size_t shapes[][3] = {{1, 1, 1},    {4, 10, 1000}, {7, 10, 33},  {29, 20, 25},
                                       {5, 48, 19},  {5, 47, 3},    {3, 49, 50},  {33, 3, 9},
                                       {13, 16, 37}, {10, 24, 70},  {70, 64, 12}, {8, 5, 129},
                                       {2, 9, 5},    {11, 40, 8},   {0, 4, 4},    {128, 10, 300}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        for (unsigned how = 0; how < 8; how++) {
            check_packed(t, shapes[i][0], shapes[i][1], shapes[i][2], how);
        }
    }
}

static void column_sums(struct numeric *t)
{
    static const size_t shapes[][3] = {{1, 1, 0},  {7, 10, 0},    {1025, 20, 0},  {33, 130, 3},
                                       {3, 65, 1}, {2050, 17, 2}, {100003, 1, 0}, {0, 5, 0}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        size_t rows = shapes[i][0], columns = shapes[i][1];
        struct field x = numeric_field(t, rows, columns, shapes[i][2]);
        for (size_t e = 0; e < rows * columns; e++) { /* a mean, so that the sum is not all noise */
            x.data[e / columns * x.ld + e % columns] += (nn_real)0.5;
        }
        numeric_sealed(t, x);
        struct field sums = numeric_field(t, 1, columns, 0);
        double *expected = numeric_doubles(t, sums);
        numeric_workspace(t, nn_column_sums_workspace(rows, columns));
        ref_column_sums(expected, x.data, x.ld, rows, columns);
        nn_column_sums(&t->exec, sums.data, x.data, x.ld, rows, columns);
        numeric_compare(t, sums, expected, rows, "column sums rows=%zu columns=%zu", rows, columns);
    }
}

const struct numeric_case matrix_cases[] = {
    {"tile", "gemm_tile", tile}, {"dots", "gemm_dots", dots},
    {"gemm", "", gemm},          {"gemm_slices", "copy", gemm_slices},
    {"packed", "", packed},      {"column_sums", "column_sums", column_sums},
    {NULL, NULL, NULL},
};
