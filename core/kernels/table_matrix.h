/* SPDX-License-Identifier: MIT
 *
 * Arguments of the table's matrix products; part of table.h.
 */
#ifndef NN_KERNELS_TABLE_MATRIX_H
#define NN_KERNELS_TABLE_MATRIX_H

#include "core/kernels/exec.h"

/* y [m,n] = relu?(x b + bias), or y += x b (bias and relu empty then).
 * x (r, q) is x[r * x_row + q * x_step]; b (q, c) is b[q * ldb + c]. */
struct nn_tile_args {
    size_t m, n, k;
    nn_real *y;
    const nn_real *x, *b, *bias;
    size_t ldy, x_row, x_step, ldb;
    bool b_padded; /* each row of b may be read up to the next multiple of 16 columns */
    bool accumulate, relu;
};

/* y [m,n] = relu?(x [m,k] b^T + bias) with b [n,k]; x and b have rows of k numbers in a row. */
struct nn_dots_args {
    size_t m, n, k;
    nn_real *y;
    const nn_real *x, *b, *bias;
    size_t ldy, ldx, ldb;
    bool accumulate, relu;
};

#endif
