/* SPDX-License-Identifier: MIT
 *
 * The two ways of row_norm.c: within single rows, and over the pixels of samples (sample_norm.c).
 */
#ifndef NN_KERNELS_ROW_NORM_INTERNAL_H
#define NN_KERNELS_ROW_NORM_INTERNAL_H

#include "core/kernels/row_norm.h"

size_t nn_sample_norm_workspace(size_t samples, size_t pixels, size_t channels, size_t lanes);
void nn_sample_norm_forward(const struct nn_exec *exec, const struct nn_row_norm *norm, nn_real *y,
                            size_t ldy, const nn_real *x, size_t ldx);
void nn_sample_norm_gradient(const struct nn_exec *exec, const struct nn_row_norm *norm,
                             const struct nn_row_norm_gradient *grad);

/* d_scale and d_shift += parts 0 .. n - 1 in order, each `bytes` behind the one before: sums
 * [channels], then products [channels]. */
void nn_row_norm_add_parts(const struct nn_row_norm_gradient *grad, const void *parts, size_t n,
                           size_t bytes, size_t channels);

#endif
