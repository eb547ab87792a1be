/* SPDX-License-Identifier: MIT
 *
 * What the convolution uses of batch normalisation besides batch_norm.h.
 */
#ifndef NN_KERNELS_NORM_INTERNAL_H
#define NN_KERNELS_NORM_INTERNAL_H

#include "core/kernels/batch_norm.h"

/* Rows of a chunk of nn_moments_take. */
#define NN_MOMENTS_ROWS ((size_t)1024)

/* moments of one chunk: {rows, mean [channels], squared deviations [channels]}. */
void nn_moments_of_rows(const struct nn_exec *exec, double *moments, const nn_real *x, size_t ldx,
                        size_t rows, size_t channels);

#endif
