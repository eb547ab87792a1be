/* SPDX-License-Identifier: MIT
 *
 * Cases of convolution.h: every way (pointwise, direct, columns), all three passes.
 */
#include "tests/numeric/cases/cases.h"
#include "tests/ref/ref.h"

/* batch, height, width, channels, filters, kernel_h, kernel_w, stride_h, stride_w, pads before,
 * pads after, groups (0: one) */
static const size_t SHAPES[][14] = {
    {2, 28, 28, 1, 20, 5, 5, 1, 1, 0, 0, 0, 0}, /* the default network */
    {1, 5, 5, 1, 1, 5, 5, 1, 1, 0, 0, 0, 0},
    {2, 9, 9, 1, 1, 3, 3, 1, 1, 0, 0, 0, 0}, /* vectors reach over many pixels */
    {1, 6, 5, 2, 2, 3, 4, 1, 1, 0, 0, 0, 0},
    {3, 7, 9, 1, 3, 3, 3, 1, 1, 1, 1, 1, 1},
    {2, 11, 13, 3, 17, 3, 5, 2, 3, 1, 2, 1, 2},
    {2, 8, 8, 3, 33, 3, 3, 1, 1, 1, 1, 1, 1},
    {1, 40, 41, 2, 8, 3, 3, 1, 1, 0, 0, 0, 0}, /* several chunks an image */
    {2, 9, 7, 4, 24, 2, 2, 1, 2, 0, 0, 1, 0},
    {2, 6, 6, 5, 7, 3, 3, 1, 1, 1, 1, 1, 1},
    {2, 10, 11, 16, 13, 3, 3, 2, 2, 1, 1, 0, 1},
    {3, 5, 4, 19, 50, 3, 1, 1, 1, 1, 0, 1, 0},
    {2, 6, 7, 12, 31, 1, 1, 1, 1, 0, 0, 0, 0},
    {2, 6, 7, 12, 64, 1, 1, 1, 1, 0, 0, 0, 0},
    {2, 7, 7, 6, 9, 1, 1, 2, 2, 0, 0, 0, 0},
    {1, 4, 4, 3, 5, 2, 2, 1, 1, 3, 3, 0, 0},   /* padding over the kernel: nothing to mirror */
    {1, 7, 7, 96, 97, 3, 3, 1, 1, 1, 1, 1, 1}, /* many weights: a piece of work a tap */
    {0, 5, 5, 1, 2, 3, 3, 1, 1, 0, 0, 0, 0},
    {2, 9, 8, 12, 18, 3, 3, 1, 1, 1, 1, 1, 1, 3},  /* direct */
    {2, 9, 7, 20, 34, 3, 3, 2, 2, 1, 1, 1, 1, 2},  /* columns */
    {3, 6, 5, 24, 12, 1, 1, 1, 1, 0, 0, 0, 0, 4},  /* pointwise */
    {2, 7, 7, 6, 24, 3, 3, 1, 1, 1, 1, 1, 1, 6},   /* filters of a single channel */
    {2, 8, 8, 8, 8, 3, 3, 1, 1, 3, 3, 3, 3, 8},    /* padding over the window */
    {1, 40, 41, 8, 10, 3, 3, 1, 1, 1, 1, 1, 1, 2}, /* several chunks an image */
    {0, 5, 5, 4, 2, 3, 3, 1, 1, 0, 0, 0, 0, 2},
    /* from here on depthwise */
    {2, 9, 8, 32, 32, 3, 3, 1, 1, 1, 1, 1, 1},
    {2, 12, 11, 19, 19, 3, 3, 2, 2, 1, 1, 1, 1},
    {1, 12, 12, 24, 24, 3, 3, 2, 2, 0, 0, 1, 1},
    {3, 7, 9, 5, 5, 5, 5, 1, 1, 2, 2, 2, 2},
    {1, 40, 41, 96, 96, 3, 3, 1, 1, 1, 1, 1, 1}, /* several chunks an image */
    {2, 10, 13, 17, 17, 5, 3, 2, 3, 1, 2, 2, 0},
    {4, 3, 3, 70, 70, 1, 1, 1, 1, 0, 0, 0, 0},
    {2, 8, 9, 33, 33, 2, 7, 3, 1, 0, 3, 0, 3}, /* lines that no window reads */
};
#define SHAPE_COUNT     (sizeof SHAPES / sizeof *SHAPES)
#define FIRST_DEPTHWISE 25

/* Every shape, then every shape again with dilation, as far as the window then fits. */
static struct nn_conv2d shape_at(size_t i)
{
    const size_t *s = SHAPES[i % SHAPE_COUNT];
    struct nn_conv2d conv = {
        s[0], s[1], s[2],  s[3], s[4], s[5], s[6], s[7],
        s[8], s[9], s[10], 0,    0,    1,    1,    i % SHAPE_COUNT >= FIRST_DEPTHWISE,
        s[13]};
    if (i >= SHAPE_COUNT && s[1] + s[9] >= 2 * s[5] && s[2] + s[10] >= 3 * s[6]) {
        conv.dilation_h = 2;
        conv.dilation_w = i % 2 ? 3 : 1;
    }
    size_t span_h = (s[5] - 1) * conv.dilation_h + 1, span_w = (s[6] - 1) * conv.dilation_w + 1;
    conv.out_height = nn_conv2d_out_size(s[1], span_h, s[7], s[9], s[11]);
    conv.out_width = nn_conv2d_out_size(s[2], span_w, s[8], s[10], s[12]);
    return conv;
}

struct fields {
    struct nn_conv2d conv;
    struct field x, y, w;
    nn_real *storage;
};

static struct fields fields_of(struct numeric *t, size_t i)
{
    struct nn_conv2d c = shape_at(i);
    struct fields f = {.conv = c};
    f.x = numeric_field(t, c.batch * c.height * c.width, c.channels, i % 3 == 1 ? 3 : 0);
    f.y = numeric_field(t, c.batch * c.out_height * c.out_width, c.filters, i % 4 == 2 ? 5 : 0);
    size_t reads = c.depthwise ? 1 : c.channels / (c.groups > 1 ? c.groups : 1);
    size_t taps = c.kernel_h * c.kernel_w * reads;
    f.w = numeric_field(t, taps, c.filters, 0);
    f.storage = numeric_array(t, nn_conv2d_pack_count(&c), sizeof(nn_real));
    numeric_workspace(t, nn_conv2d_workspace(&c, nn_pool_lanes(t->exec.pool)));
    return f;
}

static size_t shape_count(void)
{
    return 2 * SHAPE_COUNT;
}

static void forward_with(struct numeric *t, size_t i, bool bias, bool relu)
{
    struct fields f = fields_of(t, i);
    struct field b = numeric_field(t, 1, f.conv.filters, 0);
    struct nn_conv2d_weights weights;
    struct nn_conv2d_output output = {.y = f.y.data, .ldy = f.y.ld, .bias = bias ? b.data : NULL};
    output.activation = relu ? NN_ACTIVATION_RELU : NN_ACTIVATION_NONE;
    double *expected = numeric_doubles(t, f.y);
    ref_conv_forward(expected, &f.conv, f.x.data, f.x.ld, f.w.data, output.bias, relu);
    nn_conv2d_pack_forward(&t->exec, &f.conv, &weights, f.storage, f.w.data);
    nn_conv2d_forward(&t->exec, &f.conv, &output, f.x.data, f.x.ld, &weights);
    numeric_compare(t, f.y, expected, 0, "convolution forward shape %zu bias %d relu %d", i, bias,
                    relu);
}

static void forward(struct numeric *t)
{
    for (size_t i = 0; i < shape_count(); i++) {
        forward_with(t, i, i % 2 == 0, i % 3 == 0);
        forward_with(t, i, i % 2 == 1, i % 3 == 1);
    }
}

/* The moments that the forward pass takes on the way are those of its output. */
static void moments_on_the_way(struct numeric *t)
{
    for (size_t i = 0; i < shape_count(); i++) {
        if (shape_at(i).batch == 0) {
            continue;
        }
        struct fields f = fields_of(t, i);
        struct nn_conv2d_weights weights;
        size_t chunks = nn_conv2d_chunks(&f.conv), n = f.conv.filters;
        struct nn_conv2d_output output = {.y = f.y.data, .ldy = f.y.ld};
        output.moments = numeric_array(t, nn_moments_count(chunks, n), sizeof(double));
        struct field mean = numeric_field(t, 1, n, 0), var = numeric_field(t, 1, n, 0);
        double *expected_mean = numeric_doubles(t, mean), *expected_var = numeric_doubles(t, var);
        double *expected = numeric_doubles(t, f.y);
        ref_conv_forward(expected, &f.conv, f.x.data, f.x.ld, f.w.data, NULL, false);
        nn_conv2d_pack_forward(&t->exec, &f.conv, &weights, f.storage, f.w.data);
        nn_conv2d_forward(&t->exec, &f.conv, &output, f.x.data, f.x.ld, &weights);
        nn_moments_merge(output.moments, chunks, n, mean.data, var.data);
        ref_moments(expected_mean, expected_var, f.y.data, f.y.ld, f.y.rows, n);
        numeric_compare(t, f.y, expected, 0, "convolution with moments shape %zu", i);
        numeric_compare(t, mean, expected_mean, 0, "mean of convolution shape %zu", i);
        numeric_compare(t, var, expected_var, 0, "variance of convolution shape %zu", i);
    }
}

struct source {
    struct field from, to;
    size_t *made; /* times each row was made */
};

static void make_rows(void *ctx, size_t first, size_t rows)
{
    struct source *s = ctx;
    for (size_t r = first; r < first + rows; r++) {
        s->made[r]++;
        for (size_t c = 0; c < s->to.columns; c++) {
            s->to.data[r * s->to.ld + c] = s->from.data[r * s->from.ld + c];
        }
    }
}

static void weight_gradient(struct numeric *t)
{
    for (size_t i = 0; i < shape_count(); i++) {
        struct fields f = fields_of(t, i);
        struct field late = numeric_field(t, f.y.rows, f.y.columns, f.y.ld - f.y.columns);
        struct source from = {.from = f.y, .to = late};
        from.made = numeric_array(t, f.y.rows, sizeof *from.made);
        struct nn_rows_source source = {make_rows, &from};
        double *expected = numeric_doubles(t, f.w), *d_y = numeric_doubles(t, f.y);
        bool fused = i % 2 == 1;
        ref_conv_weight(expected, &f.conv, f.x.data, f.x.ld, f.y.data, f.y.ld);
        nn_conv2d_weight_gradient(&t->exec, &f.conv, f.w.data, f.x.data, f.x.ld,
                                  fused ? late.data : f.y.data, f.y.ld, fused ? &source : NULL);
        numeric_compare(t, f.w, expected, 0, "convolution weight gradient shape %zu", i);
        for (size_t r = 0; fused && r < f.y.rows; r++) {
            t->mistakes += from.made[r] != 1;
        }
        if (fused) {
            numeric_compare(t, late, d_y, 0, "rows made for shape %zu", i);
        }
    }
}

static void input_gradient(struct numeric *t)
{
    for (size_t i = 0; i < shape_count(); i++) {
        for (int accumulate = 0; accumulate < 2; accumulate++) {
            struct fields f = fields_of(t, i);
            struct nn_conv2d_weights weights;
            double *expected = numeric_doubles(t, f.x);
            for (size_t e = 0; !accumulate && e < f.x.rows * f.x.columns; e++) {
                expected[e] = 0;
            }
            ref_conv_input(expected, &f.conv, f.y.data, f.y.ld, f.w.data);
            nn_conv2d_pack_backward(&t->exec, &f.conv, &weights, f.storage, f.w.data);
            nn_conv2d_input_gradient(&t->exec, &f.conv, f.x.data, f.x.ld, accumulate == 1, f.y.data,
                                     f.y.ld, &weights);
            numeric_compare(t, f.x, expected, 0, "convolution input gradient shape %zu add %d", i,
                            accumulate);
        }
    }
}

static void transposed(struct numeric *t)
{
    for (size_t i = 0; i < 2 * shape_count(); i++) {
        struct fields f = fields_of(t, i / 2);
        struct field b = numeric_field(t, 1, f.conv.channels, 0);
        const nn_real *bias = i % 2 ? b.data : NULL;
        struct nn_conv2d_weights weights;
        double *expected = numeric_doubles(t, f.x);
        ref_conv_transposed(expected, &f.conv, bias, f.y.data, f.y.ld, f.w.data);
        nn_conv2d_pack_backward(&t->exec, &f.conv, &weights, f.storage, f.w.data);
        nn_conv2d_transposed(&t->exec, &f.conv, f.x.data, f.x.ld, bias, f.y.data, f.y.ld, &weights);
        numeric_compare(t, f.x, expected, 0, "transposed convolution shape %zu bias %zu", i / 2,
                        i % 2);
    }
}

const struct numeric_case convolution_cases[] = {
    {"conv_forward", "conv_forward depthwise_forward", forward},
    {"conv_moments", "conv_forward moments", moments_on_the_way},
    {"conv_weight", "conv_weight depthwise_weight", weight_gradient},
    {"conv_input", "conv_forward copy", input_gradient},
    {"conv_transposed", "conv_forward copy", transposed},
    {NULL, NULL, NULL},
};
