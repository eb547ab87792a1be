/* SPDX-License-Identifier: MIT
 *
 * The plain table: the loops as their formulas say, no instruction set beyond the build's. Always
 * there, the only one in MODE=f64, and what the vector tables are compared with.
 */
#include "core/kernels/table.h"

#include <math.h>
#include <string.h>

/* clang-format off */
#include "core/kernels/lstm_plain.h"
#include "core/kernels/gru_plain.h"
#include "core/kernels/broadcast_simd.h"
#include "core/kernels/lrn_simd.h"
#include "core/kernels/pointwise_simd.h"
#include "core/kernels/pooling_simd.h"
#include "core/kernels/softmax_simd.h"
#include "core/kernels/activation_plain.h"
#include "core/kernels/attention_plain.h"
#include "core/kernels/row_norm_plain.h"
#include "core/kernels/update_simd.h"
/* clang-format on */

static void finish_row(nn_real *y, const nn_real *bias, bool relu, size_t n)
{
    for (size_t c = 0; c < n; c++) {
        nn_real value = bias ? y[c] + bias[c] : y[c];
        y[c] = relu && value < 0 ? 0 : value;
    }
}

static void add_multiple(nn_real *y, const nn_real *b, nn_real x, size_t n)
{
#pragma omp simd
    for (size_t c = 0; c < n; c++) {
        y[c] += x * b[c];
    }
}

static void row_gemm_tile(const struct nn_tile_args *s)
{
    for (size_t r = 0; r < s->m; r++) {
        nn_real *y = s->y + r * s->ldy;
        if (!s->accumulate) {
            memset(y, 0, s->n * sizeof *y);
        }
        for (size_t q = 0; q < s->k; q++) {
            add_multiple(y, s->b + q * s->ldb, s->x[r * s->x_row + q * s->x_step], s->n);
        }
        finish_row(y, s->bias, s->relu, s->n);
    }
}

static void row_gemm_dots(const struct nn_dots_args *s)
{
    for (size_t r = 0; r < s->m; r++) {
        nn_real *y = s->y + r * s->ldy;
        const nn_real *x = s->x + r * s->ldx;
        for (size_t c = 0; c < s->n; c++) {
            const nn_real *b = s->b + c * s->ldb;
            nn_real dot = 0;
#pragma omp simd reduction(+ : dot)
            for (size_t q = 0; q < s->k; q++) {
                dot += x[q] * b[q];
            }
            y[c] = s->accumulate ? y[c] + dot : dot;
        }
        finish_row(y, s->bias, s->relu, s->n);
    }
}

static void row_conv_forward(const struct nn_conv_forward_args *s)
{
    for (size_t p = 0; p < s->rows * s->width; p++) {
        const nn_real *x = s->x + p / s->width * s->x_row + p % s->width * s->x_column;
        nn_real *y = s->y + p * s->ldy;
        if (!s->accumulate) {
            memset(y, 0, s->filters * sizeof *y);
        }
        for (size_t t = 0; t < s->taps; t++) {
            add_multiple(y, s->w + t * s->ldw, x[s->offsets[t]], s->filters);
        }
        finish_row(y, s->bias, s->relu, s->filters);
    }
}

static void row_conv_weight(const struct nn_conv_weight_args *s)
{
    for (size_t p = 0; p < s->rows * s->width; p++) {
        const nn_real *x = s->x + p / s->width * s->x_row + p % s->width * s->x_column;
        for (size_t t = 0; t < s->taps; t++) {
            add_multiple(s->d_w + t * s->ldw, s->d_y + p * s->ldd_y, x[s->offsets[t]], s->filters);
        }
    }
}

static const nn_real *depthwise_pixel(const struct nn_depthwise_args *s, size_t p, size_t tap)
{
    return s->x + p / s->width * s->x_row + p % s->width * s->x_column +
           tap / s->kernel_w * s->x_line + tap % s->kernel_w * s->ldx;
}

static void row_depthwise_forward(const struct nn_depthwise_args *s)
{
    for (size_t p = 0; p < s->rows * s->width; p++) {
        nn_real *y = s->y + p * s->ldy;
        if (!s->accumulate) {
            memset(y, 0, s->channels * sizeof *y);
        }
        for (size_t t = 0; t < s->kernel_h * s->kernel_w; t++) {
            const nn_real *x = depthwise_pixel(s, p, t), *w = s->w + t * s->ldw;
#pragma omp simd
            for (size_t c = 0; c < s->channels; c++) {
                y[c] += x[c] * w[c];
            }
        }
        finish_row(y, s->bias, s->relu, s->channels);
    }
}

static void row_depthwise_weight(const struct nn_depthwise_args *s)
{
    for (size_t p = 0; p < s->rows * s->width; p++) {
        const nn_real *d_y = s->d_y + p * s->ldd_y;
        for (size_t t = 0; t < s->kernel_h * s->kernel_w; t++) {
            const nn_real *x = depthwise_pixel(s, p, t);
            nn_real *d_w = s->d_w + t * s->ldw;
#pragma omp simd
            for (size_t c = 0; c < s->channels; c++) {
                d_w[c] += x[c] * d_y[c];
            }
        }
    }
}

/* The mean first, then deviations from it; what the mean's rounding left is taken out of both. */
static void row_moments(const struct nn_moments_args *s)
{
    for (size_t c = 0; c < s->columns; c++) {
        double sum = 0, rest = 0, squares = 0;
        for (size_t r = 0; r < s->rows; r++) {
            sum += (double)s->x[r * s->ldx + c];
        }
        double mean = sum / (double)s->rows;
        for (size_t r = 0; r < s->rows; r++) {
            double d = (double)s->x[r * s->ldx + c] - mean;
            rest += d;
            squares += d * d;
        }
        s->mean[c] = mean + rest / (double)s->rows;
        s->deviations[c] = squares - rest * rest / (double)s->rows;
    }
}

static void row_norm_apply(const struct nn_norm_args *s)
{
    for (size_t r = 0; r < s->rows; r++) {
        const nn_real *x = s->x + r * s->ldx;
        nn_real *y = s->y + r * s->ldy;
#pragma omp simd
        for (size_t c = 0; c < s->columns; c++) {
            nn_real value = (x[c] - s->mean[c]) * s->factor[c] + s->shift[c];
            y[c] = s->relu && value < 0 ? 0 : value;
        }
    }
}

static void row_norm_sums(const struct nn_norm_sums_args *s)
{
    for (size_t c = 0; c < s->columns; c++) {
        double sum = 0, product = 0;
        for (size_t r = 0; r < s->rows; r++) {
            nn_real centred = s->x[r * s->ldx + c] - s->mean[c];
            bool cut = s->relu && !(centred * s->factor[c] + s->shift[c] > 0);
            nn_real d = cut ? 0 : s->d_y[r * s->ldd_y + c];
            sum += (double)d;
            product += (double)d * (double)centred;
        }
        s->sums[c] = sum;
        s->products[c] = product;
    }
}

static void row_norm_gradient(const struct nn_norm_gradient_args *s)
{
    for (size_t r = 0; r < s->rows; r++) {
        const nn_real *x = s->x + r * s->ldx, *d_y = s->d_y + r * s->ldd_y;
        nn_real *d_x = s->d_x + r * s->ldd_x;
        for (size_t c = 0; c < s->columns; c++) {
            nn_real centred = x[c] - s->mean[c];
            bool cut = s->relu && !(centred * s->factor[c] + s->shift[c] > 0);
            nn_real d = s->factor[c] * (cut ? 0 : d_y[c]) + s->slope[c] * centred + s->offset[c];
            d_x[c] = s->accumulate ? d_x[c] + d : d;
        }
    }
}

const struct nn_kernels nn_kernels_plain = {.isa = NN_ISA_PLAIN,
#define ROW(name, tag) .name = row_##name,
                                            NN_KERNEL_ROWS(ROW)
#undef ROW
};
