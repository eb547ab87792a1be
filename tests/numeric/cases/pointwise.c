/* SPDX-License-Identifier: MIT
 *
 * Cases of pointwise.h. Their references are one line each and stand here.
 */
#include "tests/numeric/cases/cases.h"

#include <math.h>

#include "tests/ref/ref.h"

static const size_t SHAPES[][2] = {{1, 1},   {3, 20},  {7, 17},    {2, 16385}, {1, 33000},
                                   {65, 64}, {129, 5}, {1000, 40}, {0, 3},     {4, 1}};

static size_t shape_count(void)
{
    return sizeof SHAPES / sizeof *SHAPES;
}

static double value(struct field f, size_t e)
{
    return (double)f.data[e / f.columns * f.ld + e % f.columns];
}

static void copy(struct numeric *t)
{
    for (size_t i = 0; i < 2 * shape_count(); i++) {
        size_t rows = SHAPES[i / 2][0], columns = SHAPES[i / 2][1];
        bool accumulate = i % 2 == 1;
        struct field a = numeric_field(t, rows, columns, i % 3),
                     y = numeric_field(t, rows, columns, i % 5);
        double *expected = numeric_doubles(t, y);
        for (size_t e = 0; e < rows * columns; e++) {
            expected[e] = value(a, e) + (accumulate ? expected[e] : 0);
        }
        nn_copy(&t->exec, y.data, y.ld, accumulate, a.data, a.ld, rows, columns);
        numeric_compare(t, y, expected, 0, "copy rows=%zu columns=%zu", rows, columns);
    }
}

static void add(struct numeric *t)
{
    for (size_t i = 0; i < 2 * shape_count(); i++) {
        size_t rows = SHAPES[i / 2][0], columns = SHAPES[i / 2][1];
        bool relu = i % 2 == 1;
        struct field a = numeric_field(t, rows, columns, i % 3),
                     b = numeric_field(t, rows, columns, i % 5);
        double *expected = numeric_doubles(t, b);
        for (size_t e = 0; e < rows * columns; e++) {
            double sum = value(a, e) + value(b, e);
            expected[e] = relu && sum < 0 ? 0 : sum;
        }
        struct nn_addition args = {b.data, a.data, b.data, b.ld, a.ld, b.ld, rows, columns, relu};
        nn_add(&t->exec, &args);
        numeric_compare(t, b, expected, 0, "add rows=%zu columns=%zu relu=%d", rows, columns, relu);
    }
}

static void relu(struct numeric *t)
{
    for (size_t i = 0; i < shape_count(); i++) {
        size_t rows = SHAPES[i][0], columns = SHAPES[i][1];
        struct field x = numeric_field(t, rows, columns, i % 3),
                     y = numeric_field(t, rows, columns, i % 2);
        double *expected = numeric_doubles(t, y);
        for (size_t e = 0; e < rows * columns; e++) {
            expected[e] = fmax(value(x, e), 0);
        }
        nn_relu_forward(&t->exec, y.data, y.ld, x.data, x.ld, rows, columns);
        numeric_compare(t, y, expected, 0, "relu rows=%zu columns=%zu", rows, columns);
    }
}

static void relu_gradient(struct numeric *t)
{
    for (size_t i = 0; i < 2 * shape_count(); i++) {
        size_t rows = SHAPES[i / 2][0], columns = SHAPES[i / 2][1];
        bool accumulate = i % 2 == 1;
        struct field y = numeric_field(t, rows, columns, i % 3),
                     d_y = numeric_field(t, rows, columns, i % 5);
        struct field d_x = numeric_field(t, rows, columns, i % 2);
        double *expected = numeric_doubles(t, d_x);
        for (size_t e = 0; e < rows * columns; e++) {
            expected[e] = (value(y, e) > 0 ? value(d_y, e) : 0) + (accumulate ? expected[e] : 0);
        }
        struct nn_relu_gradient args = {d_x.data, d_x.ld, accumulate, d_y.data, y.data,
                                        d_y.ld,   y.ld,   rows,       columns};
        nn_relu_gradient(&t->exec, &args);
        numeric_compare(t, d_x, expected, 0, "relu gradient rows=%zu columns=%zu", rows, columns);
    }
}

static void clip(struct numeric *t)
{
    for (size_t i = 0; i < shape_count(); i++) {
        size_t rows = SHAPES[i][0], columns = SHAPES[i][1];
        struct field x = numeric_field(t, rows, columns, i % 3),
                     y = numeric_field(t, rows, columns, i % 2);
        double *expected = numeric_doubles(t, y);
        for (size_t e = 0; e < rows * columns; e++) {
            expected[e] = fmin(fmax(value(x, e), 0), 0.25);
        }
        nn_clip_forward(&t->exec, y.data, y.ld, x.data, x.ld, rows, columns, (nn_real)0.25);
        numeric_compare(t, y, expected, 0, "clip rows=%zu columns=%zu", rows, columns);
    }
}

static void clip_gradient(struct numeric *t)
{
    for (size_t i = 0; i < 2 * shape_count(); i++) {
        size_t rows = SHAPES[i / 2][0], columns = SHAPES[i / 2][1];
        bool accumulate = i % 2 == 1;
        struct field y = numeric_field(t, rows, columns, i % 3),
                     d_y = numeric_field(t, rows, columns, i % 5);
        struct field d_x = numeric_field(t, rows, columns, i % 2);
        double *expected = numeric_doubles(t, d_x);
        for (size_t e = 0; e < rows * columns; e++) {
            bool between = value(y, e) > 0 && value(y, e) < 0.25;
            expected[e] = (between ? value(d_y, e) : 0) + (accumulate ? expected[e] : 0);
        }
        struct nn_relu_gradient args = {d_x.data, d_x.ld, accumulate, d_y.data, y.data,
                                        d_y.ld,   y.ld,   rows,       columns};
        nn_clip_gradient(&t->exec, &args, (nn_real)0.25);
        numeric_compare(t, d_x, expected, 0, "clip gradient rows=%zu columns=%zu", rows, columns);
    }
}

static void dropout(struct numeric *t)
{
    static const size_t shapes[][3] = {{1, 1, 1},  {8, 1, 11520},  {6, 3, 10},  {32, 16, 7},
                                       {4, 2, 65}, {900, 900, 20}, {12, 4, 16}, {0, 1, 3}};
    static const double rates[] = {0, 0.5, 0.3, 0.9};
    for (size_t i = 0; i < 4 * 8; i++) {
        const size_t *s = shapes[i / 4];
        struct nn_dropout d = {.rate = rates[i % 4], .seed = 0x123456789ull + i, .epoch = 3};
        d.layer = (uint32_t)(i % 3);
        d.first_sample = 41 * i;
        d.rows = s[0];
        d.rows_per_sample = s[1];
        d.columns = s[2];
        d.accumulate = i % 2 == 1;
        struct field x = numeric_field(t, s[0], s[2], i % 3),
                     y = numeric_field(t, s[0], s[2], i % 2);
        double *expected = numeric_doubles(t, y);
        for (size_t e = 0; !d.accumulate && e < s[0] * s[2]; e++) {
            expected[e] = 0;
        }
        ref_dropout(expected, &d, x.data, x.ld);
        nn_dropout(&t->exec, &d, y.data, y.ld, x.data, x.ld);
        numeric_compare(t, y, expected, 0, "dropout rows=%zu columns=%zu rate=%g", s[0], s[2],
                        d.rate);
    }
}

/* A sequence's mask is that of an image with as many rows, whatever its batch mates. */
static void dropout_of_sequences(struct numeric *t)
{
    static const size_t active[] = {4, 3, 3, 1}, starts[] = {0, 4, 7, 10, 11};
    static const size_t samples[] = {2, 0, 3, 1}, lengths[] = {4, 3, 3, 1};
    for (size_t i = 0; i < 6; i++) {
        size_t columns = (size_t[]){1, 50, 129}[i / 2];
        struct nn_dropout d = {.rate = 0.4, .seed = 99 + i, .epoch = 7, .layer = 2};
        d.first_sample = 1000;
        d.columns = columns;
        d.accumulate = i % 2 == 1;
        d.steps = 4;
        d.active = active;
        d.starts = starts;
        d.samples = samples;
        struct field x = numeric_field(t, 11, columns, i % 3), y = numeric_field(t, 11, columns, 2);
        double *expected = numeric_doubles(t, y);
        for (size_t k = 0; k < 4; k++) {
            struct field alone = numeric_field(t, lengths[k], columns, 0);
            for (size_t e = 0; e < lengths[k] * columns; e++) {
                alone.data[e] = x.data[(starts[e / columns] + k) * x.ld + e % columns];
            }
            numeric_sealed(t, alone);
            struct nn_dropout one = {.rate = d.rate, .seed = d.seed, .epoch = 7, .layer = 2};
            one.first_sample = 1000 + samples[k];
            one.rows = one.rows_per_sample = lengths[k];
            one.columns = columns;
            double *dropped = numeric_array(t, lengths[k] * columns, sizeof *dropped);
            ref_dropout(dropped, &one, alone.data, alone.ld);
            for (size_t e = 0; e < lengths[k] * columns; e++) {
                double *to = &expected[(starts[e / columns] + k) * columns + e % columns];
                *to = dropped[e] + (d.accumulate ? *to : 0);
            }
        }
        nn_dropout(&t->exec, &d, y.data, y.ld, x.data, x.ld);
        numeric_compare(t, y, expected, 0, "dropout of sequences columns=%zu", columns);
    }
}

static void normalize(struct numeric *t)
{
    static const size_t shapes[][3] = {{784, 1, 0}, {30, 3, 0}, {17, 3, 2},
                                       {5, 40, 0},  {1, 1, 0},  {20000, 4, 0}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        size_t rows = shapes[i][0], columns = shapes[i][1];
        uint8_t *x = numeric_array(t, rows * columns, 1);
        struct field factor = numeric_field(t, 1, columns, 0);
        struct field offset = numeric_field(t, 1, columns, 0);
        struct field y = numeric_field(t, rows, columns, shapes[i][2]);
        double *expected = numeric_doubles(t, y);
        for (size_t e = 0; e < rows * columns; e++) {
            x[e] = (uint8_t)(e * 37 + e / 7);
            expected[e] =
                x[e] * (double)factor.data[e % columns] + (double)offset.data[e % columns];
        }
        nn_normalize_u8(&t->exec, y.data, y.ld, x, rows, columns, factor.data, offset.data);
        numeric_compare(t, y, expected, 0, "normalize rows=%zu columns=%zu", rows, columns);
    }
}

static const size_t COUNTS[] = {0, 1, 7, 16, 33, 16384, 16385, 50001};

/* kind: 0 fill, 1 scale, 2 clamp */
static void change(struct numeric *t, int kind)
{
    for (size_t i = 0; i < sizeof COUNTS / sizeof *COUNTS; i++) {
        size_t n = COUNTS[i];
        struct field x = numeric_field(t, 1, n, 0);
        double *expected = numeric_doubles(t, x);
        const nn_real by = (nn_real)0.37;
        for (size_t e = 0; e < n; e++) {
            double clamped = fmin(fmax(expected[e], -(double)by), (double)by);
            expected[e] = kind == 0 ? (double)by : kind == 1 ? expected[e] * (double)by : clamped;
        }
        if (kind == 0) {
            nn_fill(&t->exec, x.data, n, by);
        } else if (kind == 1) {
            nn_scale(&t->exec, x.data, n, by);
        } else {
            nn_clamp(&t->exec, x.data, n, by);
        }
        numeric_compare(t, x, expected, 0, "change %d n=%zu", kind, n);
    }
}

static void fill(struct numeric *t)
{
    change(t, 0);
}

static void scale(struct numeric *t)
{
    change(t, 1);
}

/* Also of a vector with itself: nothing moves. */
static void average(struct numeric *t)
{
    for (size_t i = 0; i < sizeof COUNTS / sizeof *COUNTS; i++) {
        size_t n = COUNTS[i];
        struct field y = numeric_field(t, 1, n, 0), x = numeric_field(t, 1, n, 0);
        double *expected = numeric_doubles(t, y);
        const nn_real share = (nn_real)0.37;
        for (size_t e = 0; e < n; e++) {
            expected[e] += (double)share * ((double)x.data[e] - expected[e]);
        }
        nn_average(&t->exec, y.data, x.data, n, share);
        numeric_compare(t, y, expected, 0, "average n=%zu", n);
        double *same = numeric_doubles(t, x);
        nn_average(&t->exec, x.data, x.data, n, share);
        for (size_t e = 0; e < n; e++) {
            t->mistakes += (double)x.data[e] != same[e];
        }
    }
}

static void clamp(struct numeric *t)
{
    change(t, 2);
}

/* One bad number at every place of a short vector and at some of a long one. */
static void all_finite(struct numeric *t)
{
    static const nn_real bad[] = {(nn_real)NAN, (nn_real)INFINITY, (nn_real)-INFINITY};
    for (size_t i = 0; i < sizeof COUNTS / sizeof *COUNTS; i++) {
        size_t n = COUNTS[i], step = n < 100 ? 1 : n / 7;
        struct field x = numeric_field(t, 1, n, 0);
        numeric_workspace(t, nn_reduction_workspace(n));
        double found = nn_all_finite(&t->exec, x.data, n), expected = 1;
        numeric_compare_doubles(t, &found, &expected, 1, 0, "finite n=%zu", n);
        for (size_t at = 0; at < n; at += step) {
            nn_real good = x.data[at];
            x.data[at] = bad[at % 3];
            t->mistakes += nn_all_finite(&t->exec, x.data, n);
            x.data[at] = good;
        }
    }
}

static void sum_squares(struct numeric *t)
{
    for (size_t i = 0; i < sizeof COUNTS / sizeof *COUNTS; i++) {
        struct field x = numeric_field(t, 1, COUNTS[i], 0);
        double expected = 0;
        for (size_t e = 0; e < COUNTS[i]; e++) {
            expected += (double)x.data[e] * (double)x.data[e];
        }
        numeric_workspace(t, nn_reduction_workspace(COUNTS[i]));
        double found = nn_sum_squares(&t->exec, x.data, COUNTS[i]);
        numeric_compare_doubles(t, &found, &expected, 1, 0, "sum of squares n=%zu", COUNTS[i]);
    }
}

const struct numeric_case pointwise_cases[] = {
    {"copy", "copy", copy},
    {"add", "add", add},
    {"relu", "relu", relu},
    {"relu_gradient", "relu_gradient", relu_gradient},
    {"clip", "clip", clip},
    {"clip_gradient", "clip_gradient", clip_gradient},
    {"dropout", "dropout", dropout},
    {"dropout_of_sequences", "dropout", dropout_of_sequences},
    {"normalize_u8", "normalize_u8", normalize},
    {"fill", "fill", fill},
    {"scale", "scale", scale},
    {"average", "average", average},
    {"clamp", "clamp", clamp},
    {"all_finite", "all_finite", all_finite},
    {"sum_squares", "sum_squares", sum_squares},
    {NULL, NULL, NULL},
};
