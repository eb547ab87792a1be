/* SPDX-License-Identifier: MIT
 *
 * References of pooling. One output number at a time; its window is listed pixel by pixel.
 */
#include "tests/ref/ref.h"

#include <math.h>

#define WINDOW_MAX 1024

struct pixels {
    size_t rows[WINDOW_MAX]; /* rows of the matrix x */
    size_t count;
    size_t padded; /* pixels counting those of the padding */
};

static bool within(long at, long low, long high)
{
    return at >= low && at < high;
}

/* The window of an adaptive average, from what PyTorch's documentation says of it. */
static void list_adaptive(const struct nn_pool2d *p, size_t n, size_t i, size_t j,
                          struct pixels *out_pixels)
{
    double high = (double)p->height / (double)p->out_height;
    double wide = (double)p->width / (double)p->out_width;
    for (size_t h = 0; h < p->height; h++) {
        for (size_t v = 0; v < p->width; v++) {
            bool inside = (double)h >= floor((double)i * high + 1e-9) &&
                          (double)h < ceil((double)(i + 1) * high - 1e-9) &&
                          (double)v >= floor((double)j * wide + 1e-9) &&
                          (double)v < ceil((double)(j + 1) * wide - 1e-9);
            if (inside) {
                out_pixels->rows[out_pixels->count++] = (n * p->height + h) * p->width + v;
            }
        }
    }
}

static void list_window(const struct nn_pool2d *p, size_t out_row, struct pixels *out_pixels)
{
    size_t j = out_row % p->out_width, i = out_row / p->out_width % p->out_height;
    size_t n = out_row / p->out_width / p->out_height;
    out_pixels->count = out_pixels->padded = 0;
    if (p->adaptive) {
        list_adaptive(p, n, i, j, out_pixels);
        return;
    }
    for (size_t t = 0; t < p->kernel_h * p->kernel_w; t++) {
        long h = (long)(i * p->stride_h + t / p->kernel_w) - (long)p->pad_top;
        long v = (long)(j * p->stride_w + t % p->kernel_w) - (long)p->pad_left;
        out_pixels->padded += within(h, -(long)p->pad_top, (long)(p->height + p->pad_bottom)) &&
                              within(v, -(long)p->pad_left, (long)(p->width + p->pad_right));
        if (within(h, 0, (long)p->height) && within(v, 0, (long)p->width)) {
            out_pixels->rows[out_pixels->count++] =
                (n * p->height + (size_t)h) * p->width + (size_t)v;
        }
    }
}

/* Row of the first maximum of a window; the last NaN if there is any. */
static size_t maximum_row(const struct pixels *w, const nn_real *x, size_t ldx, size_t c)
{
    size_t best = w->rows[0];
    for (size_t i = 1; i < w->count; i++) {
        nn_real value = x[w->rows[i] * ldx + c];
        if (value > x[best * ldx + c] || isnan(value)) {
            best = w->rows[i];
        }
    }
    return best;
}

static size_t out_rows(const struct nn_pool2d *p)
{
    return p->batch * p->out_height * p->out_width;
}

void ref_max_pool(double *y, const struct nn_pool2d *p, const nn_real *x, size_t ldx)
{
    struct pixels w;
    for (size_t r = 0; r < out_rows(p); r++) {
        list_window(p, r, &w);
        for (size_t c = 0; c < p->channels; c++) {
            y[r * p->channels + c] = (double)x[maximum_row(&w, x, ldx, c) * ldx + c];
        }
    }
}

void ref_max_pool_gradient(double *d_x, const struct nn_pool2d *p, const nn_real *x, size_t ldx,
                           const nn_real *d_y, size_t ldd_y)
{
    struct pixels w;
    for (size_t r = 0; r < out_rows(p); r++) {
        list_window(p, r, &w);
        for (size_t c = 0; c < p->channels; c++) {
            d_x[maximum_row(&w, x, ldx, c) * p->channels + c] += (double)d_y[r * ldd_y + c];
        }
    }
}

static double divisor(const struct nn_pool2d *p, const struct pixels *w)
{
    return (double)(p->count_padding ? w->padded : w->count);
}

void ref_average_pool(double *y, const struct nn_pool2d *p, const nn_real *x, size_t ldx)
{
    struct pixels w;
    for (size_t r = 0; r < out_rows(p); r++) {
        list_window(p, r, &w);
        for (size_t c = 0; c < p->channels; c++) {
            double sum = 0;
            for (size_t i = 0; i < w.count; i++) {
                sum += (double)x[w.rows[i] * ldx + c];
            }
            y[r * p->channels + c] = sum / divisor(p, &w);
        }
    }
}

void ref_average_pool_gradient(double *d_x, const struct nn_pool2d *p, const nn_real *d_y,
                               size_t ldd_y)
{
    struct pixels w;
    for (size_t r = 0; r < out_rows(p); r++) {
        list_window(p, r, &w);
        for (size_t i = 0; i < w.count; i++) {
            for (size_t c = 0; c < p->channels; c++) {
                d_x[w.rows[i] * p->channels + c] += (double)d_y[r * ldd_y + c] / divisor(p, &w);
            }
        }
    }
}
