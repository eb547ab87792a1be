/* SPDX-License-Identifier: MIT
 *
 * Cases of broadcast.h. The references walk over every number once, in double.
 */
#include "tests/numeric/cases/cases.h"

#include <math.h>

/* batch, pixels, channels */
static const size_t SHAPES[][3] = {{1, 1, 1},  {3, 4, 5},    {2, 1024, 4}, {5, 1, 70},
                                   {7, 9, 64}, {2, 40, 130}, {0, 3, 2},    {1, 6000, 9}};

enum { N_SHAPES = sizeof SHAPES / sizeof *SHAPES, N_CASES = 4 * N_SHAPES };

/* The i-th shape with one of the four ways to share. */
static struct nn_broadcast sizes_of(size_t i)
{
    const size_t *s = SHAPES[i / 4];
    return (struct nn_broadcast){s[0], s[1], s[2], i % 2 == 1, i / 2 % 2 == 1};
}

static struct field whole(struct numeric *t, const struct nn_broadcast *s, size_t gap)
{
    return numeric_field(t, s->batch * s->pixels, s->channels, gap);
}

static struct field shared(struct numeric *t, const struct nn_broadcast *s, size_t gap)
{
    return numeric_field(t, s->batch * (s->one_row ? 1 : s->pixels),
                         s->one_column ? 1 : s->channels, gap);
}

/* Where row r, channel c of the first matrix meets the second. */
static size_t place(const struct nn_broadcast *s, size_t r, size_t c, size_t ld)
{
    return (s->one_row ? r / s->pixels : r) * ld + (s->one_column ? 0 : c);
}

static double thresholded(double x, double t)
{
    double above = fmax(fabs(x) - t, 0);
    return x == 0 ? 0 : copysign(above, x);
}

static struct nn_operands operands(struct field y, struct field a, struct field b, bool accumulate)
{
    return (struct nn_operands){y.data, a.data, b.data, y.ld, a.ld, b.ld, accumulate};
}

static void multiply(struct numeric *t)
{
    for (size_t i = 0; i < 2 * N_CASES; i++) {
        struct nn_broadcast s = sizes_of(i / 2);
        struct field a = whole(t, &s, i % 3), b = shared(t, &s, i % 5), y = whole(t, &s, 1);
        double *expected = numeric_doubles(t, y);
        for (size_t e = 0; e < a.rows * a.columns; e++) {
            size_t r = e / a.columns, c = e % a.columns;
            double product = (double)a.data[r * a.ld + c] * (double)b.data[place(&s, r, c, b.ld)];
            expected[e] = product + (i % 2 == 1 ? expected[e] : 0);
        }
        struct nn_operands args = operands(y, a, b, i % 2 == 1);
        nn_multiply(&t->exec, &s, &args);
        numeric_compare(t, y, expected, 0, "multiply %zu", i);
    }
}

/* Thresholds from -0.1 to 0.5, values some of which are 0. */
static void soft_threshold(struct numeric *t)
{
    for (size_t i = 0; i < N_CASES; i++) {
        struct nn_broadcast s = sizes_of(i);
        struct field a = whole(t, &s, i % 3), b = shared(t, &s, i % 5);
        for (size_t e = 0; e < b.rows * b.columns; e++) {
            nn_real *at = &b.data[e / b.columns * b.ld + e % b.columns];
            *at = *at * (nn_real)0.3 + (nn_real)0.2;
        }
        for (size_t r = 0; r < a.rows; r += 3) {
            a.data[r * a.ld] = 0;
        }
        numeric_sealed(t, a);
        numeric_sealed(t, b);
        struct field y = whole(t, &s, 1);
        double *expected = numeric_doubles(t, y);
        for (size_t e = 0; e < a.rows * a.columns; e++) {
            size_t r = e / a.columns, c = e % a.columns;
            expected[e] =
                thresholded((double)a.data[r * a.ld + c], (double)b.data[place(&s, r, c, b.ld)]);
        }
        struct nn_operands args = operands(y, a, b, false);
        nn_soft_threshold(&t->exec, &s, &args);
        numeric_compare(t, y, expected, 0, "soft threshold %zu", i);
        args = operands(a, a, b, false);
        nn_soft_threshold(&t->exec, &s, &args);
        numeric_compare(t, a, expected, 0, "soft threshold in place %zu", i);
    }
}

/* One threshold for everything, and numbers that are none. */
static void one_threshold(struct numeric *t)
{
    const struct nn_broadcast s = {3, 20, 7, true, true};
    struct field a = whole(t, &s, 2), b = numeric_field(t, 1, 1, 0), y = whole(t, &s, 0);
    b.data[0] = (nn_real)0.25;
    numeric_sealed(t, b);
    double *expected = numeric_doubles(t, a);
    for (size_t e = 0; e < a.rows * a.columns; e++) {
        expected[e] = thresholded(expected[e], 0.25);
    }
    struct nn_operands args = operands(y, a, b, false);
    args.ldb = 0;
    nn_soft_threshold(&t->exec, &s, &args);
    numeric_compare(t, y, expected, 0, "one threshold");
    a.data[5] = (nn_real)NAN;
    numeric_sealed(t, a);
    nn_soft_threshold(&t->exec, &s, &args);
    numeric_sealed(t, y);
    t->mistakes += !isnan(y.data[5]) || isnan(y.data[4]);
}

/* Outputs of thresholds: about half of them 0. */
static struct field outputs(struct numeric *t, const struct nn_broadcast *s, size_t gap)
{
    struct field y = whole(t, s, gap);
    for (size_t e = 0; e < y.rows * y.columns; e++) {
        nn_real *at = &y.data[e / y.columns * y.ld + e % y.columns];
        *at = e % 5 < 2 ? 0 : *at;
    }
    numeric_sealed(t, y);
    return y;
}

static void threshold_gradient(struct numeric *t)
{
    for (size_t i = 0; i < 2 * N_SHAPES; i++) {
        struct nn_broadcast s = sizes_of(2 * i);
        struct field d_y = whole(t, &s, i % 3), y = outputs(t, &s, i % 2), d_x = whole(t, &s, 1);
        double *expected = numeric_doubles(t, d_x), *from = numeric_doubles(t, d_y);
        double *out = numeric_doubles(t, y);
        for (size_t e = 0; e < y.rows * y.columns; e++) {
            expected[e] = (out[e] != 0 ? from[e] : 0) + (i % 2 == 1 ? expected[e] : 0);
        }
        struct nn_operands args = operands(d_x, d_y, y, i % 2 == 1);
        nn_soft_threshold_gradient(&t->exec, &args, y.rows, y.columns);
        numeric_compare(t, d_x, expected, 0, "soft threshold gradient %zu", i);
    }
}

/* what: the sums of products, or of the thresholds' gradients. */
static void sums(struct numeric *t, bool products)
{
    for (size_t i = 0; i < 2 * N_CASES; i++) {
        struct nn_broadcast s = sizes_of(i / 2);
        struct field a = whole(t, &s, i % 3);
        struct field b = products ? whole(t, &s, i % 2) : outputs(t, &s, i % 2);
        struct field y = shared(t, &s, 1);
        double *expected = numeric_doubles(t, y);
        for (size_t e = 0; i % 2 == 0 && e < y.rows * y.columns; e++) {
            expected[e] = 0;
        }
        for (size_t e = 0; e < a.rows * a.columns; e++) {
            size_t r = e / a.columns, c = e % a.columns;
            double p = (double)a.data[r * a.ld + c], q = (double)b.data[r * b.ld + c];
            double sign = (q > 0) - (q < 0);
            expected[place(&s, r, c, y.columns)] += products ? p * q : -p * sign;
        }
        struct nn_operands args = operands(y, a, b, i % 2 == 1);
        (products ? nn_multiply_sums : nn_soft_threshold_sums)(&t->exec, &s, &args);
        numeric_compare(t, y, expected, s.pixels * s.channels, "sums %d %zu", products, i);
    }
}

static void multiply_sums(struct numeric *t)
{
    sums(t, true);
}

static void threshold_sums(struct numeric *t)
{
    sums(t, false);
}

static void channel_mean(struct numeric *t)
{
    for (size_t i = 0; i < 2 * N_SHAPES; i++) {
        struct nn_broadcast s = sizes_of(2 * i);
        struct field a = whole(t, &s, i % 3), y = numeric_field(t, a.rows, 1, i % 2);
        struct field d_a = whole(t, &s, 1);
        double *expected = numeric_doubles(t, y), *spread = numeric_doubles(t, d_a);
        double *values = numeric_doubles(t, a), *d_y = numeric_doubles(t, y);
        bool add = i % 2 == 1;
        for (size_t r = 0; r < a.rows; r++) {
            expected[r] = 0;
        }
        for (size_t e = 0; e < a.rows * a.columns; e++) {
            expected[e / a.columns] += values[e] / (double)a.columns;
            spread[e] = d_y[e / a.columns] / (double)a.columns + (add ? spread[e] : 0);
        }
        struct nn_operands args = operands(d_a, y, a, add);
        nn_channel_mean_gradient(&t->exec, &args, a.rows, a.columns);
        numeric_compare(t, d_a, spread, 0, "channel mean gradient %zu", i);
        args = operands(y, a, a, false);
        nn_channel_mean(&t->exec, &args, a.rows, a.columns);
        numeric_compare(t, y, expected, a.columns, "channel mean %zu", i);
    }
}

const struct numeric_case broadcast_cases[] = {
    {"multiply", "multiply", multiply},
    {"multiply_sums", "multiply_sums", multiply_sums},
    {"soft_threshold", "soft_threshold", soft_threshold},
    {"one_threshold", "soft_threshold", one_threshold},
    {"soft_threshold_gradient", "soft_threshold_gradient", threshold_gradient},
    {"soft_threshold_sums", "soft_threshold_sums", threshold_sums},
    {"channel_mean", "channel_mean channel_mean_gradient", channel_mean},
    {NULL, NULL, NULL},
};
