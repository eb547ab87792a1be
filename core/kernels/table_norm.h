/* SPDX-License-Identifier: MIT
 *
 * Arguments of the table's rows that normalise: columns over rows (batch_norm.h), and within rows
 * (row_norm.h); part of table.h.
 */
#ifndef NN_KERNELS_TABLE_NORM_H
#define NN_KERNELS_TABLE_NORM_H

#include "core/base/base.h"

/* Mean and sum of squared deviations of each column. */
struct nn_moments_args {
    size_t rows, columns, ldx;
    const nn_real *x;
    double *mean, *deviations;
};

/* y = relu?((x - mean) * factor + shift), a value a column for mean, factor, shift. */
struct nn_norm_args {
    size_t rows, columns, ldy, ldx;
    nn_real *y;
    const nn_real *x, *mean, *factor, *shift;
    bool relu;
};

/* With d_y' = d_y, 0 where relu and (x - mean) * factor + shift <= 0:
 * sums = sum of d_y', products = sum of d_y' * (x - mean), each written. */
struct nn_norm_sums_args {
    size_t rows, columns, ldx, ldd_y;
    const nn_real *x, *d_y, *mean, *factor, *shift;
    bool relu;
    double *sums, *products;
};

/* d_x = factor * d_y' + slope * (x - mean) + offset, written or added to. d_x may be d_y. */
struct nn_norm_gradient_args {
    size_t rows, columns, ldd_x, ldx, ldd_y;
    nn_real *d_x;
    const nn_real *x, *d_y, *mean, *factor, *shift, *slope, *offset;
    bool relu, accumulate;
};

/* ---- within rows: of groups * columns channels each; mean and factor have a value for each group
 * of each row, dense ---- */

/* mean (0 unless centred) and factor = 1 / sqrt(mean square of x - mean + epsilon), both written;
 * y = (x - mean) * factor * scale + shift (shift NULL: 0). y may be x. */
struct nn_norm_rows_args {
    size_t rows, groups, columns;
    nn_real *y, *mean, *factor;
    const nn_real *x, *scale, *shift;
    size_t ldy, ldx;
    nn_real epsilon;
    bool centred;
};

/* With xh = (x - mean) * factor and g = d_y * scale:
 * d_x = factor * (g - mean(g) if centred - xh * mean(g * xh)), written or added to; may be d_y. */
struct nn_norm_rows_gradient_args {
    size_t rows, groups, columns;
    nn_real *d_x;
    const nn_real *d_y, *x, *scale, *mean, *factor;
    size_t ldd_x, ldd_y, ldx;
    bool centred, accumulate;
};

/* Of each channel, written: sums of d_y, products of d_y * xh. */
struct nn_norm_rows_sums_args {
    size_t rows, groups, columns;
    const nn_real *d_y, *x, *mean, *factor;
    size_t ldd_y, ldx;
    double *sums, *products;
};

#endif
