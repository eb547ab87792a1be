/* SPDX-License-Identifier: MIT
 *
 * Arguments of the table's rows that know images: convolution, windows, neighbouring channels. Part
 * of table.h.
 */
#ifndef NN_KERNELS_TABLE_IMAGES_H
#define NN_KERNELS_TABLE_IMAGES_H

#include "core/base/base.h"

/* Output pixels [rows, width] of a convolution whose windows all lie inside x:
 *     y[i * width + j, o] = relu?(bias[o] + sum_t x[i * x_row + j * x_column + offsets[t]] *
 * w[t,o]) w [taps, ldw] with ldw a multiple of 16 and zeros behind the filters. */
struct nn_conv_forward_args {
    size_t rows, width, taps, filters;
    nn_real *y;
    const nn_real *x, *w, *bias;
    size_t ldy, x_row, x_column, ldw;
    const size_t *offsets;
    bool relu, accumulate; /* accumulate: added to y, bias and relu empty */
};

/* d_w[t,o] += sum_(i,j) x[i * x_row + j * x_column + offsets[t]] * d_y[i * width + j, o]
 * d_w [taps, ldw]; columns behind the filters are left alone. */
struct nn_conv_weight_args {
    size_t rows, width, taps, filters;
    nn_real *d_w;
    const nn_real *x, *d_y;
    size_t ldd_y, x_row, x_column, ldw;
    const size_t *offsets;
};

/* Output pixels [rows, width] of a depthwise convolution whose windows all lie inside x:
 * x(i,j,u,v) = x + i * x_row + j * x_column + u * x_line + v * ldx, w and d_w [taps, ldw].
 * forward: y[i * width + j, c] = relu?(bias[c] + sum_(u,v) x(i,j,u,v)[c] * w[u * kernel_w + v, c]),
 * or added to y (bias and relu empty). weight: d_w[u * kernel_w + v, c] += sum_(i,j) of
 * x(i,j,u,v)[c] * d_y[i * width + j, c]. */
struct nn_depthwise_args {
    size_t rows, width, kernel_h, kernel_w, channels;
    nn_real *y, *d_w;
    const nn_real *x, *w, *bias, *d_y;
    size_t ldy, ldw, ldd_y, x_row, x_column, x_line, ldx;
    bool relu, accumulate;
};

/* All windows of one image. Forward: y [out] from x [in]. Gradient: y is d_x [in], added to; x is
 * d_y [out]. taps: of the maximum; NULL when not wanted (forward only). */
struct nn_window_args {
    size_t height, width, channels, out_height, out_width;
    size_t kernel_h, kernel_w, stride_h, stride_w, pad_top, pad_left, pad_bottom, pad_right;
    bool count_padding, adaptive;
    nn_real *y;
    const nn_real *x;
    size_t ldy, ldx;
    const uint16_t *taps;
    uint16_t *out_taps;
};

/* Local response normalisation of rows (lrn.h), alpha divided by the size already.
 * lrn: y from x, and sums [rows, columns] if not NULL, else `row` is their place.
 * lrn_gradient: y is d_x, written or added to; from d_y, x and the known sums. row: [columns]. */
struct nn_lrn_args {
    size_t rows, columns, size;
    nn_real alpha, beta, k;
    nn_real *y, *sums, *row;
    const nn_real *x, *d_y, *known;
    size_t ldy, ldx, ldd_y;
    bool accumulate;
};

#endif
