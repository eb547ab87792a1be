/* SPDX-License-Identifier: MIT
 *
 * Normalisation within rows as its formulas say: part of table_plain.c.
 */
#ifndef NN_KERNELS_ROW_NORM_PLAIN_H
#define NN_KERNELS_ROW_NORM_PLAIN_H

#include <math.h>

#include "core/kernels/table_norm.h"

/* The mean, or 0, and 1 / sqrt of the mean square around it. */
static void row_statistics(const struct nn_norm_rows_args *s, const nn_real *x, nn_real *mean,
                           nn_real *factor)
{
    double n = (double)s->columns, sum = 0, squares = 0;
    for (size_t c = 0; s->centred && c < s->columns; c++) {
        sum += (double)x[c];
    }
    *mean = (nn_real)(sum / n);
    for (size_t c = 0; c < s->columns; c++) {
        double d = (double)x[c] - (double)*mean;
        squares += d * d;
    }
    *factor = (nn_real)(1 / sqrt(squares / n + (double)s->epsilon));
}

static void row_norm_rows(const struct nn_norm_rows_args *s)
{
    for (size_t k = 0; k < s->rows * s->groups; k++) {
        size_t r = k / s->groups, first = k % s->groups * s->columns;
        const nn_real *x = s->x + r * s->ldx + first;
        nn_real *y = s->y + r * s->ldy + first;
        row_statistics(s, x, &s->mean[k], &s->factor[k]);
        for (size_t c = 0; c < s->columns; c++) {
            nn_real shift = s->shift ? s->shift[first + c] : 0;
            y[c] = (x[c] - s->mean[k]) * s->factor[k] * s->scale[first + c] + shift;
        }
    }
}

static void row_norm_rows_gradient(const struct nn_norm_rows_gradient_args *s)
{
    for (size_t k = 0; k < s->rows * s->groups; k++) {
        size_t r = k / s->groups, first = k % s->groups * s->columns;
        const nn_real *x = s->x + r * s->ldx + first, *d_y = s->d_y + r * s->ldd_y + first;
        const nn_real *scale = s->scale + first;
        nn_real *d_x = s->d_x + r * s->ldd_x + first, mean = s->mean[k], factor = s->factor[k];
        double sum = 0, product = 0, n = (double)s->columns;
        for (size_t c = 0; c < s->columns; c++) {
            double g = (double)(d_y[c] * scale[c]);
            sum += s->centred ? g : 0;
            product += g * (double)((x[c] - mean) * factor);
        }
        nn_real g_mean = (nn_real)(sum / n), slope = (nn_real)(product / n);
        for (size_t c = 0; c < s->columns; c++) {
            nn_real d = d_y[c] * scale[c] - g_mean - (x[c] - mean) * factor * slope;
            d_x[c] = s->accumulate ? d_x[c] + factor * d : factor * d;
        }
    }
}

static void row_norm_rows_sums(const struct nn_norm_rows_sums_args *s)
{
    for (size_t c = 0; c < s->groups * s->columns; c++) {
        double sum = 0, product = 0;
        for (size_t r = 0; r < s->rows; r++) {
            size_t k = r * s->groups + c / s->columns;
            double d = (double)s->d_y[r * s->ldd_y + c];
            sum += d;
            product += d * (double)((s->x[r * s->ldx + c] - s->mean[k]) * s->factor[k]);
        }
        s->sums[c] = sum;
        s->products[c] = product;
    }
}

#endif
