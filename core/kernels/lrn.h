/* SPDX-License-Identifier: MIT
 *
 * Local response normalisation across channels (Krizhevsky et al. 2012, with PyTorch's and Caffe's
 * division of alpha by the size). With W(c) the channels from c - size / 2 to c + (size - 1) / 2:
 *     y[c] = x[c] * s[c]^-beta,   s[c] = k + alpha / size * sum over j in W(c) of x[j]^2
 */
#ifndef NN_KERNELS_LRN_H
#define NN_KERNELS_LRN_H

#include "core/kernels/exec.h"

struct nn_lrn {
    size_t rows, channels, size;
    nn_real alpha, beta, k; /* k > 0 */
};

/* Bytes of workspace of both. */
size_t nn_lrn_workspace(size_t channels, size_t lanes);

/* sums [rows, channels], dense: s, for the gradient; NULL when there will be none. */
void nn_lrn_forward(const struct nn_exec *exec, const struct nn_lrn *lrn, nn_real *y, size_t ldy,
                    nn_real *sums, const nn_real *x, size_t ldx);

/* d_x[j] = d_y[j] s[j]^-beta
 *          - 2 alpha beta / size * x[j] * sum over c with j in W(c) of d_y[c] x[c] s[c]^(-beta -
 * 1), written or added to. d_x aliases nothing. */
struct nn_lrn_gradient {
    nn_real *d_x;
    const nn_real *d_y, *x, *sums;
    size_t ldd_x, ldd_y, ldx;
    bool accumulate;
};
void nn_lrn_gradient(const struct nn_exec *exec, const struct nn_lrn *lrn,
                     const struct nn_lrn_gradient *args);

#endif
