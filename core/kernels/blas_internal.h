/* SPDX-License-Identifier: MIT
 *
 * The part of OpenBLAS that the room uses. gemm_blas.c alone sees cblas.h.
 */
#ifndef NN_KERNELS_BLAS_INTERNAL_H
#define NN_KERNELS_BLAS_INTERNAL_H

#include "core/kernels/matrix.h"

/* The product as nn_gemm says, on the caller's thread; m, n and k are at least 1. */
void nn_blas_gemm(const struct nn_gemm *gemm);

/* Threads of OpenBLAS's own would change bits and fight with the pool. */
void nn_blas_use_one_thread(void);

#endif
