/* SPDX-License-Identifier: MIT
 *
 * Symmetric positive definite systems of some hundred rows, in double: what a Gaussian process
 * needs. One thread, one order of sums, plain loops: equal bits everywhere.
 */
#ifndef NN_KERNELS_CHOLESKY_H
#define NN_KERNELS_CHOLESKY_H

#include "core/base/base.h"

/* a [n,n] row by row, of which the lower triangle is read: a = l l', and l takes its place; what is
 * above the diagonal stays. False when a is not positive definite, to rounding; then a is spoilt.
 */
NN_MUST_CHECK bool nn_cholesky(double *a, size_t n);
/* x [n]: l x = b, in place of b. */
void nn_cholesky_forward(const double *l, size_t n, double *x);
/* x [n]: l' x = b, in place of b. After the forward solution: a x = b. */
void nn_cholesky_backward(const double *l, size_t n, double *x);

#endif
