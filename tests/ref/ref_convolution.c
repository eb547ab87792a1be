/* SPDX-License-Identifier: MIT
 *
 * References of the convolution: all three passes visit the same terms (one image pixel, one tap)
 * and differ in what they add up.
 */
#include "tests/ref/ref.h"

/* One term of the sum: indices of the elements that meet. */
struct term {
    size_t x, w, y; /* row of x, (u, v) of w, row of y */
};

typedef void (*term_fn)(void *ctx, struct term term);

/* The filters [first, end) that a channel meets; where in w of a tap the first of them stands. */
struct met {
    size_t first, end, at;
};

static struct met met_by(const struct nn_conv2d *conv, size_t t, size_t c)
{
    if (conv->depthwise) {
        return (struct met){c, c + 1, t * conv->channels + c};
    }
    size_t groups = conv->groups > 1 ? conv->groups : 1, channels = conv->channels / groups;
    size_t first = c / channels * (conv->filters / groups);
    size_t at = (t * channels + c % channels) * conv->filters + first;
    return (struct met){first, first + conv->filters / groups, at};
}

static void for_each_term(const struct nn_conv2d *c, term_fn fn, void *ctx)
{
    for (size_t p = 0; p < c->batch * c->out_height * c->out_width; p++) {
        size_t j = p % c->out_width, i = p / c->out_width % c->out_height;
        size_t n = p / c->out_width / c->out_height;
        for (size_t t = 0; t < c->kernel_h * c->kernel_w; t++) {
            long h = (long)(i * c->stride_h + t / c->kernel_w * c->dilation_h) - (long)c->pad_top;
            long v = (long)(j * c->stride_w + t % c->kernel_w * c->dilation_w) - (long)c->pad_left;
            if (h >= 0 && v >= 0 && h < (long)c->height && v < (long)c->width) {
                fn(ctx, (struct term){(n * c->height + (size_t)h) * c->width + (size_t)v, t, p});
            }
        }
    }
}

struct reference {
    const struct nn_conv2d *conv;
    double *out;
    const nn_real *x, *w, *d_y;
    size_t ldx, ldd_y;
};

static void forward_term(void *ctx, struct term term)
{
    struct reference *r = ctx;
    size_t channels = r->conv->channels, filters = r->conv->filters;
    for (size_t c = 0; c < channels; c++) {
        struct met met = met_by(r->conv, term.w, c);
        for (size_t o = met.first; o < met.end; o++, met.at++) {
            r->out[term.y * filters + o] +=
                (double)r->x[term.x * r->ldx + c] * (double)r->w[met.at];
        }
    }
}

static void weight_term(void *ctx, struct term term)
{
    struct reference *r = ctx;
    size_t channels = r->conv->channels;
    for (size_t c = 0; c < channels; c++) {
        struct met met = met_by(r->conv, term.w, c);
        for (size_t o = met.first; o < met.end; o++, met.at++) {
            r->out[met.at] +=
                (double)r->x[term.x * r->ldx + c] * (double)r->d_y[term.y * r->ldd_y + o];
        }
    }
}

static void input_term(void *ctx, struct term term)
{
    struct reference *r = ctx;
    size_t channels = r->conv->channels;
    for (size_t c = 0; c < channels; c++) {
        struct met met = met_by(r->conv, term.w, c);
        for (size_t o = met.first; o < met.end; o++, met.at++) {
            r->out[term.x * channels + c] +=
                (double)r->d_y[term.y * r->ldd_y + o] * (double)r->w[met.at];
        }
    }
}

void ref_conv_forward(double *y, const struct nn_conv2d *conv, const nn_real *x, size_t ldx,
                      const nn_real *w, const nn_real *bias, bool relu)
{
    struct reference r = {.conv = conv, .out = y, .x = x, .w = w, .ldx = ldx};
    size_t rows = conv->batch * conv->out_height * conv->out_width;
    for (size_t i = 0; i < rows * conv->filters; i++) {
        y[i] = 0;
    }
    for_each_term(conv, forward_term, &r);
    ref_epilogue(y, rows, conv->filters, bias, relu);
}

void ref_conv_weight(double *d_w, const struct nn_conv2d *conv, const nn_real *x, size_t ldx,
                     const nn_real *d_y, size_t ldd_y)
{
    struct reference r = {.conv = conv, .out = d_w, .x = x, .d_y = d_y, .ldx = ldx, .ldd_y = ldd_y};
    for_each_term(conv, weight_term, &r);
}

void ref_conv_input(double *d_x, const struct nn_conv2d *conv, const nn_real *d_y, size_t ldd_y,
                    const nn_real *w)
{
    struct reference r = {.conv = conv, .out = d_x, .w = w, .d_y = d_y, .ldd_y = ldd_y};
    for_each_term(conv, input_term, &r);
}

void ref_conv_transposed(double *y, const struct nn_conv2d *conv, const nn_real *bias,
                         const nn_real *x, size_t ldx, const nn_real *w)
{
    size_t rows = conv->batch * conv->height * conv->width;
    for (size_t i = 0; i < rows * conv->channels; i++) {
        y[i] = bias ? (double)bias[i % conv->channels] : 0;
    }
    ref_conv_input(y, conv, x, ldx, w);
}
