/* SPDX-License-Identifier: MIT
 *
 * Arguments of the table's rows that normalise within a row; part of table.h. A row has groups *
 * columns channels; mean and factor have a value for each group of each row, dense.
 */
#ifndef NN_KERNELS_TABLE_NORM_H
#define NN_KERNELS_TABLE_NORM_H

#include "core/base/base.h"

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
