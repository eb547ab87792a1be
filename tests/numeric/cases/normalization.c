/* SPDX-License-Identifier: MIT
 *
 * Cases of batch_norm.h, row_norm.h and lrn.h.
 */
#include "tests/numeric/cases/cases.h"
#include "tests/ref/ref.h"

#include <math.h>

/* rows, channels, gap */
static const size_t SHAPES[][3] = {{1, 1, 0},     {2, 20, 0},  {577, 20, 0},   {1151, 20, 4},
                                   {1030, 1, 0},  {100, 3, 0}, {35, 16, 0},    {37, 63, 0},
                                   {19, 64, 0},   {21, 65, 1}, {5, 130, 0},    {3000, 5, 0},
                                   {2049, 12, 0}, {17, 24, 7}, {100003, 2, 0}, {13, 8, 0}};

static size_t shape_count(void)
{
    return sizeof SHAPES / sizeof *SHAPES;
}

static void shift_values(struct numeric *t, struct field f, nn_real factor, nn_real offset)
{
    for (size_t r = 0; r < f.rows; r++) {
        for (size_t c = 0; c < f.columns; c++) {
            f.data[r * f.ld + c] = f.data[r * f.ld + c] * factor + offset;
        }
    }
    numeric_sealed(t, f);
}

/* Offset 1000: a mean that is large beside the spread costs no digits of the variance. */
static void check_moments(struct numeric *t, const size_t *s, nn_real offset)
{
    struct field x = numeric_field(t, s[0], s[1], s[2]);
    shift_values(t, x, 1, offset);
    struct field mean = numeric_field(t, 1, s[1], 0), var = numeric_field(t, 1, s[1], 0);
    size_t chunks = nn_moments_chunks(s[0]);
    double *moments = numeric_array(t, nn_moments_count(chunks, s[1]), sizeof *moments);
    double *expected_mean = numeric_doubles(t, mean), *expected_var = numeric_doubles(t, var);
    ref_moments(expected_mean, expected_var, x.data, x.ld, s[0], s[1]);
    nn_moments_take(&t->exec, moments, x.data, x.ld, s[0], s[1]);
    nn_moments_merge(moments, chunks, s[1], mean.data, var.data);
    numeric_compare(t, mean, expected_mean, s[0], "mean rows=%zu channels=%zu", s[0], s[1]);
    numeric_compare(t, var, expected_var, s[0], "variance rows=%zu channels=%zu offset=%g", s[0],
                    s[1], (double)offset);
}

static void moments(struct numeric *t)
{
    for (size_t i = 0; i < shape_count(); i++) {
        check_moments(t, SHAPES[i], 0);
        check_moments(t, SHAPES[i], 1000);
    }
}

static struct nn_batch_norm norm_of(struct numeric *t, size_t rows, size_t channels, bool relu)
{
    struct field mean = numeric_field(t, 1, channels, 0), var = numeric_field(t, 1, channels, 0);
    struct field scale = numeric_field(t, 1, channels, 0);
    struct field shift = numeric_field(t, 1, channels, 0);
    shift_values(t, var, (nn_real)0.4, (nn_real)0.6);
    return (struct nn_batch_norm){rows,          channels,   mean.data,  var.data,
                                  (nn_real)1e-5, scale.data, shift.data, relu};
}

static void apply(struct numeric *t)
{
    for (size_t i = 0; i < shape_count(); i++) {
        size_t rows = SHAPES[i][0], channels = SHAPES[i][1];
        struct nn_batch_norm norm = norm_of(t, rows, channels, i % 2 == 0);
        struct field x = numeric_field(t, rows, channels, SHAPES[i][2]);
        struct field y = numeric_field(t, rows, channels, i % 3 == 0 ? 0 : SHAPES[i][2]);
        double *expected = numeric_doubles(t, y);
        numeric_workspace(t, nn_batch_norm_workspace(rows, channels));
        ref_norm_apply(expected, &norm, x.data, x.ld);
        nn_batch_norm_apply(&t->exec, &norm, y.data, y.ld, x.data, x.ld);
        numeric_compare(t, y, expected, 0, "norm rows=%zu channels=%zu", rows, channels);
        nn_batch_norm_apply(&t->exec, &norm, x.data, x.ld, x.data, x.ld);
        numeric_compare(t, x, expected, 0, "norm in place rows=%zu channels=%zu", rows, channels);
    }
}

/* how: 1 relu, 2 frozen, 4 accumulate (else d_x is d_y) */
static void check_gradient(struct numeric *t, const size_t *s, unsigned how)
{
    size_t rows = s[0], channels = s[1];
    struct nn_batch_norm_gradient g = {.norm = norm_of(t, rows, channels, how & 1)};
    struct field x = numeric_field(t, rows, channels, s[2]);
    struct field d_y = numeric_field(t, rows, channels, s[2]);
    struct field other = numeric_field(t, rows, channels, s[2]);
    struct field d_scale = numeric_field(t, 1, channels, 0);
    struct field d_shift = numeric_field(t, 1, channels, 0);
    g.frozen = how >> 1 & 1;
    g.accumulate = how >> 2 & 1;
    struct field d_x = g.accumulate ? other : d_y;
    g.x = x.data;
    g.ldx = x.ld;
    g.d_y = d_y.data;
    g.ldd_y = d_y.ld;
    g.d_x = d_x.data;
    g.ldd_x = d_x.ld;
    g.d_scale = d_scale.data;
    g.d_shift = d_shift.data;
    g.factors = numeric_array(t, nn_batch_norm_factors_count(channels), sizeof(nn_real));
    double *expected = numeric_doubles(t, other);
    double *scale = numeric_doubles(t, d_scale), *shift = numeric_doubles(t, d_shift);
    for (size_t e = 0; !g.accumulate && e < rows * channels; e++) {
        expected[e] = 0;
    }
    ref_norm_gradient(expected, scale, shift, &g);
    numeric_workspace(t, nn_batch_norm_workspace(rows, channels));
    nn_batch_norm_gradient(&t->exec, &g);
    numeric_compare(t, d_scale, scale, rows, "d_scale rows=%zu channels=%zu how=%u", rows, channels,
                    how);
    numeric_compare(t, d_shift, shift, rows, "d_shift rows=%zu channels=%zu how=%u", rows, channels,
                    how);
    numeric_compare(t, d_x, expected, rows, "norm d_x rows=%zu channels=%zu how=%u", rows, channels,
                    how);
}

static void gradient(struct numeric *t)
{
    for (size_t i = 0; i < shape_count(); i++) {
        if (SHAPES[i][0] > 1) { /* one row: d_x is the rounding of 0 */
            check_gradient(t, SHAPES[i], (unsigned)(i % 8));
            check_gradient(t, SHAPES[i], (unsigned)((3 * i + 1) % 8));
        }
    }
}

/* rows, channels, size, gap */
static const size_t LRN[][4] = {{7, 64, 5, 0},    {3, 1, 5, 0},   {5, 3, 9, 2},
                                {300, 192, 5, 0}, {11, 17, 4, 3}, {0, 8, 5, 0}};

static void check_lrn(struct numeric *t, size_t i, nn_real beta, bool accumulate)
{
    const size_t *s = LRN[i];
    const struct nn_lrn lrn = {s[0], s[1], s[2], (nn_real)0.9, beta, (nn_real)1.5};
    struct field x = numeric_field(t, s[0], s[1], s[3]), d_y = numeric_field(t, s[0], s[1], s[3]);
    struct field y = numeric_field(t, s[0], s[1], s[3]), d_x = numeric_field(t, s[0], s[1], 1);
    nn_real *sums = numeric_array(t, s[0] * s[1], sizeof *sums);
    double *expected = numeric_doubles(t, y), *gradient = numeric_doubles(t, d_x);
    for (size_t k = 0; !accumulate && k < s[0] * s[1]; k++) {
        gradient[k] = 0;
    }
    numeric_workspace(t, nn_lrn_workspace(s[1], nn_pool_lanes(t->exec.pool)));
    ref_lrn(expected, &lrn, x.data, x.ld);
    ref_lrn_gradient(gradient, &lrn, d_y.data, d_y.ld, x.data, x.ld);
    nn_lrn_forward(&t->exec, &lrn, y.data, y.ld, NULL, x.data, x.ld);
    numeric_compare(t, y, expected, 0, "lrn shape %zu beta %g", i, (double)beta);
    nn_lrn_forward(&t->exec, &lrn, y.data, y.ld, sums, x.data, x.ld);
    const struct nn_lrn_gradient args = {d_x.data, d_y.data, x.data, sums,
                                         d_x.ld,   d_y.ld,   x.ld,   accumulate};
    nn_lrn_gradient(&t->exec, &lrn, &args);
    numeric_compare(t, d_x, gradient, 0, "lrn gradient shape %zu add %d", i, accumulate);
}

static void local_response(struct numeric *t)
{
    for (size_t i = 0; i < sizeof LRN / sizeof *LRN; i++) {
        check_lrn(t, i, (nn_real)0.75, false);
        check_lrn(t, i, (nn_real)0.75, true);
        check_lrn(t, i, (nn_real)1.25, true);
    }
}

/* samples, pixels, channels, groups, gap */
static const size_t WITHIN[][5] = {
    {1, 1, 1, 1, 0},   {7, 1, 64, 1, 0},    {1100, 1, 5, 1, 2},  {3, 1, 131, 1, 1},
    {30, 1, 24, 3, 0}, {513, 1, 200, 1, 0}, {2, 9, 6, 3, 0},     {3, 1100, 20, 5, 1},
    {5, 49, 64, 2, 0}, {2, 2500, 3, 1, 0},  {0, 1, 8, 1, 0},     {4, 6, 7, 7, 3},
    {2, 1, 9, 9, 0},   {6, 1, 1024, 1, 0},  {1, 3000, 40, 1, 0}, {9, 1, 37, 1, 5}};

/* A norm over samples whose values lie around `offset`. */
static struct nn_row_norm row_norm_of(struct numeric *t, const size_t *s, bool centred)
{
    struct field scale = numeric_field(t, 1, s[2], 0), shift = numeric_field(t, 1, s[2], 0);
    return (struct nn_row_norm){
        .samples = s[0],
        .pixels = s[1],
        .channels = s[2],
        .groups = s[3],
        .centred = centred,
        .epsilon = (nn_real)1e-3,
        .scale = scale.data,
        .shift = centred ? shift.data : NULL,
        .mean = numeric_array(t, s[0] * s[3] + 1, sizeof(nn_real)),
        .factor = numeric_array(t, s[0] * s[3] + 1, sizeof(nn_real)),
    };
}

/* how: 1 added to, 2 parameters frozen */
static void check_row_norm(struct numeric *t, size_t i, nn_real offset, bool centred, unsigned how)
{
    const size_t *s = WITHIN[i], rows = s[0] * s[1];
    struct nn_row_norm norm = row_norm_of(t, s, centred);
    struct field x = numeric_field(t, rows, s[2], s[4]), d_y = numeric_field(t, rows, s[2], 1);
    struct field y = numeric_field(t, rows, s[2], s[4]), d_x = numeric_field(t, rows, s[2], 2);
    struct field d_scale = numeric_field(t, 1, s[2], 0), d_shift = numeric_field(t, 1, s[2], 0);
    shift_values(t, x, 1, offset);
    double *expected = numeric_doubles(t, y), *gradient = numeric_doubles(t, d_x);
    double *scale = numeric_doubles(t, d_scale), *shift = numeric_doubles(t, d_shift);
    struct nn_row_norm_gradient g = {.x = x.data, .d_y = d_y.data, .d_x = d_x.data};
    g.ldx = x.ld;
    g.ldd_y = d_y.ld;
    g.ldd_x = d_x.ld;
    g.accumulate = how & 1;
    g.d_scale = how & 2 ? NULL : d_scale.data;
    g.d_shift = how & 2 || !centred ? NULL : d_shift.data;
    for (size_t e = 0; !g.accumulate && e < rows * s[2]; e++) {
        gradient[e] = 0;
    }
    numeric_workspace(t, nn_row_norm_workspace(s[0], s[1], s[2], nn_pool_lanes(t->exec.pool)));
    ref_row_norm(expected, &norm, x.data, x.ld);
    ref_row_norm_gradient(gradient, g.d_scale ? scale : NULL, g.d_shift ? shift : NULL, &norm, &g);
    nn_row_norm_forward(&t->exec, &norm, y.data, y.ld, x.data, x.ld);
    numeric_compare(t, y, expected, s[1] * s[2], "row norm shape %zu centred %d", i, centred);
    nn_row_norm_gradient(&t->exec, &norm, &g);
    numeric_compare(t, d_scale, scale, rows, "row norm d_scale shape %zu how %u", i, how);
    numeric_compare(t, d_shift, shift, rows, "row norm d_shift shape %zu how %u", i, how);
    numeric_compare(t, d_x, gradient, s[1] * s[2], "row norm d_x shape %zu centred %d how %u", i,
                    centred, how);
}

static void row_norm(struct numeric *t)
{
    for (size_t i = 0; i < sizeof WITHIN / sizeof *WITHIN; i++) {
        for (unsigned how = 0; how < 4; how++) {
            check_row_norm(t, i, 0, true, how);
            if (WITHIN[i][1] == 1 && WITHIN[i][2] > 1) { /* of one value nothing is left */
                check_row_norm(t, i, (nn_real)0.5, false, how);
            }
        }
    }
}

/* A large mean costs no digits beyond those it has taken from x already; in place. */
static void row_norm_far(struct numeric *t)
{
    static const size_t SHAPE[] = {40, 1, 100, 1};
    struct nn_row_norm norm = row_norm_of(t, SHAPE, true);
    struct field x = numeric_field(t, 40, 100, 0);
    shift_values(t, x, 1, 100);
    double *expected = numeric_doubles(t, x);
    ref_row_norm(expected, &norm, x.data, x.ld);
    nn_row_norm_forward(&t->exec, &norm, x.data, x.ld, x.data, x.ld);
    numeric_compare(t, x, expected, 100, "row norm far from 0, in place");
}

const struct numeric_case normalization_cases[] = {
    {"moments", "moments", moments},
    {"norm_apply", "norm_apply", apply},
    {"norm_gradient", "norm_sums norm_gradient", gradient},
    {"row_norm", "norm_rows norm_rows_gradient norm_rows_sums", row_norm},
    {"row_norm_far", "norm_rows", row_norm_far},
    {"local_response_norm", "lrn lrn_gradient", local_response},
    {NULL, NULL, NULL},
};
