/* SPDX-License-Identifier: MIT
 *
 * Cases of pooling.h.
 */
#include "tests/numeric/cases/cases.h"
#include "tests/ref/ref.h"

#include <math.h>

/* batch, height, width, channels, kernel_h, kernel_w, stride_h, stride_w, pads (top, left, bottom,
 * right), out_height, out_width (0: rounded down), count_padding */
static const size_t SHAPES[][15] = {
    {2, 8, 8, 20, 2, 2, 2, 2, 0, 0, 0, 0, 0, 0, 0},
    {1, 7, 9, 3, 3, 3, 2, 2, 1, 1, 1, 1, 0, 0, 1},
    {3, 5, 5, 1, 3, 2, 1, 3, 0, 0, 0, 0, 0, 0, 0},
    {2, 6, 7, 17, 3, 3, 2, 2, 0, 0, 0, 0, 3, 4, 0}, /* rounded up: windows hang over */
    {2, 6, 7, 33, 3, 3, 2, 2, 1, 1, 1, 1, 4, 4, 1},
    {2, 2, 2, 17, 3, 3, 2, 2, 0, 0, 0, 0, 1, 1, 0}, /* the only window hangs over */
    {1, 1, 1, 5, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0},
    {2, 13, 11, 8, 5, 4, 3, 2, 2, 1, 2, 2, 0, 0, 0},
    {0, 4, 4, 2, 2, 2, 2, 2, 0, 0, 0, 0, 0, 0, 0},
};

static struct nn_pool2d shape_at(size_t i)
{
    const size_t *s = SHAPES[i];
    struct nn_pool2d p = {s[0], s[1], s[2],  s[3],  s[4],  s[5],  s[6],       s[7],
                          s[8], s[9], s[10], s[11], s[12], s[13], s[14] == 1, false};
    if (p.out_height == 0) {
        p.out_height = nn_conv2d_out_size(p.height, p.kernel_h, p.stride_h, s[8], s[10]);
        p.out_width = nn_conv2d_out_size(p.width, p.kernel_w, p.stride_w, s[9], s[11]);
    }
    return p;
}

static size_t shape_count(void)
{
    return sizeof SHAPES / sizeof *SHAPES;
}

static void zero(double *x, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        x[i] = 0;
    }
}

static void check_maximum(struct numeric *t, size_t i, bool accumulate)
{
    struct nn_pool2d p = shape_at(i);
    size_t in = p.batch * p.height * p.width, out = p.batch * p.out_height * p.out_width;
    struct field x = numeric_field(t, in, p.channels, i % 2 * 3);
    struct field y = numeric_field(t, out, p.channels, i % 3);
    struct field d_y = numeric_field(t, out, p.channels, i % 2);
    struct field d_x = numeric_field(t, in, p.channels, i % 2);
    uint16_t *taps = numeric_array(t, out * p.channels, sizeof *taps);
    double *expected = numeric_doubles(t, y), *gradient = numeric_doubles(t, d_x);
    if (!accumulate) {
        zero(gradient, in * p.channels);
    }
    ref_max_pool(expected, &p, x.data, x.ld);
    ref_max_pool_gradient(gradient, &p, x.data, x.ld, d_y.data, d_y.ld);
    nn_max_pool_forward(&t->exec, &p, y.data, y.ld, accumulate ? taps : NULL, x.data, x.ld);
    numeric_compare(t, y, expected, 0, "max pool shape %zu taps %d", i, accumulate);
    nn_max_pool_forward(&t->exec, &p, y.data, y.ld, taps, x.data, x.ld);
    nn_max_pool_gradient(&t->exec, &p, d_x.data, d_x.ld, accumulate, d_y.data, d_y.ld, taps);
    numeric_compare(t, d_x, gradient, 0, "max pool gradient shape %zu add %d", i, accumulate);
}

static void maximum(struct numeric *t)
{
    for (size_t i = 0; i < shape_count(); i++) {
        check_maximum(t, i, false);
        check_maximum(t, i, true);
    }
}

/* batch, height, width, channels, out_height, out_width */
static const size_t ADAPTIVE[][6] = {
    {2, 14, 14, 20, 4, 4}, {1, 7, 5, 3, 7, 5}, {3, 5, 3, 17, 2, 4}, {2, 9, 8, 1, 1, 1}};

static struct nn_pool2d adaptive_at(size_t i)
{
    const size_t *s = ADAPTIVE[i];
    return (struct nn_pool2d){.batch = s[0],
                              .height = s[1],
                              .width = s[2],
                              .channels = s[3],
                              .out_height = s[4],
                              .out_width = s[5],
                              .adaptive = true};
}

static void check_average(struct numeric *t, struct nn_pool2d p, size_t i, bool accumulate)
{
    size_t in = p.batch * p.height * p.width, out = p.batch * p.out_height * p.out_width;
    struct field x = numeric_field(t, in, p.channels, i % 2 * 3);
    struct field y = numeric_field(t, out, p.channels, i % 3);
    struct field d_y = numeric_field(t, out, p.channels, i % 2);
    struct field d_x = numeric_field(t, in, p.channels, i % 2);
    double *expected = numeric_doubles(t, y), *gradient = numeric_doubles(t, d_x);
    if (!accumulate) {
        zero(gradient, in * p.channels);
    }
    ref_average_pool(expected, &p, x.data, x.ld);
    ref_average_pool_gradient(gradient, &p, d_y.data, d_y.ld);
    nn_average_pool_forward(&t->exec, &p, y.data, y.ld, x.data, x.ld);
    numeric_compare(t, y, expected, 0, "average pool shape %zu", i);
    nn_average_pool_gradient(&t->exec, &p, d_x.data, d_x.ld, accumulate, d_y.data, d_y.ld);
    numeric_compare(t, d_x, gradient, 0, "average pool gradient shape %zu add %d", i, accumulate);
}

static void average(struct numeric *t)
{
    for (size_t i = 0; i < shape_count(); i++) {
        check_average(t, shape_at(i), i, false);
        check_average(t, shape_at(i), i, true);
    }
}

static void adaptive_average(struct numeric *t)
{
    for (size_t i = 0; i < sizeof ADAPTIVE / sizeof *ADAPTIVE; i++) {
        check_average(t, adaptive_at(i), i, false);
        check_average(t, adaptive_at(i), i, true);
    }
}

static void global_average(struct numeric *t)
{
    struct nn_global_pool g = {3, 13, 19};
    struct nn_pool2d p = {.batch = 3, .height = 13, .width = 1, .channels = 19, .kernel_h = 13};
    p.kernel_w = p.stride_h = p.stride_w = p.out_height = p.out_width = 1;
    struct field x = numeric_field(t, 39, 19, 2), d_x = numeric_field(t, 39, 19, 1);
    struct field y = numeric_field(t, 3, 19, 1), d_y = numeric_field(t, 3, 19, 2);
    double *expected = numeric_doubles(t, y), *gradient = numeric_doubles(t, d_x);
    ref_average_pool(expected, &p, x.data, x.ld);
    ref_average_pool_gradient(gradient, &p, d_y.data, d_y.ld);
    nn_global_average_forward(&t->exec, &g, y.data, y.ld, x.data, x.ld);
    nn_global_average_gradient(&t->exec, &g, d_x.data, d_x.ld, true, d_y.data, d_y.ld);
    numeric_compare(t, y, expected, 0, "global average");
    numeric_compare(t, d_x, gradient, 0, "global average gradient");
}

const struct numeric_case pooling_cases[] = {
    {"max_pool", "max_pool max_pool_gradient", maximum},
    {"average_pool", "average_pool average_pool_gradient", average},
    {"adaptive_average", "average_pool average_pool_gradient", adaptive_average},
    {"global_average", "average_pool average_pool_gradient", global_average},
    {NULL, NULL, NULL},
};
