/* SPDX-License-Identifier: MIT
 *
 * What the convolution uses of the matrix products besides matrix.h.
 */
#ifndef NN_KERNELS_GEMM_INTERNAL_H
#define NN_KERNELS_GEMM_INTERNAL_H

#include "core/kernels/matrix.h"

/* A product on the caller's thread, without workspace. */
void nn_gemm_serial(const struct nn_exec *exec, const struct nn_gemm *gemm);

/* Whether products with such an operand, not transposed, read panels. */
bool nn_gemm_reads_panels(const struct nn_exec *exec, size_t n);

#endif
