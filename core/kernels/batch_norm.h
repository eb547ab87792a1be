/* SPDX-License-Identifier: MIT
 *
 * Batch normalisation over the rows of a matrix, with the ReLU behind it if wanted:
 *     y = relu?((x - mean) * inv_std * scale + shift),  inv_std = 1 / sqrt(var + epsilon)
 *
 * Statistics are taken in two passes over chunks that fit a cache (mean, then squared deviations)
 * and merged in chunk order in double (Chan, Golub, LeVeque 1983), so large means cost no digits.
 */
#ifndef NN_KERNELS_BATCH_NORM_H
#define NN_KERNELS_BATCH_NORM_H

#include "core/kernels/exec.h"

/* doubles for the moments of `chunks` chunks: per chunk the row count, the means, the sums of
 * squared deviations. */
size_t nn_moments_count(size_t chunks, size_t channels);
size_t nn_moments_chunks(size_t rows); /* of nn_moments_take */
void nn_moments_take(const struct nn_exec *exec, double *moments, const nn_real *x, size_t ldx,
                     size_t rows, size_t channels);

/* mean and biased variance (divided by the number of rows, which must be 1 or more); moments is
 * used up. */
void nn_moments_merge(double *moments, size_t chunks, size_t channels, nn_real *mean, nn_real *var);

struct nn_batch_norm {
    size_t rows, channels;
    const nn_real *mean, *var; /* of the batch, or stored */
    nn_real epsilon;
    const nn_real *scale, *shift;
    bool relu;
};

/* y may alias x when their leading dimensions are equal. Workspace: nn_batch_norm_workspace. */
size_t nn_batch_norm_workspace(size_t rows, size_t channels);
void nn_batch_norm_apply(const struct nn_exec *exec, const struct nn_batch_norm *norm, nn_real *y,
                         size_t ldy, const nn_real *x, size_t ldx);

/* Gradients. x is the input of the forward pass; with relu, the sign of y is computed again from
 * it. d_shift += sum d_y',  d_scale += sum d_y' * xhat       (d_y' = d_y where y > 0, if relu) d_x
 * = scale * inv_std * (d_y' - mean(d_y') - xhat * mean(d_y' * xhat)) frozen: the statistics are
 * constants, d_x = scale * inv_std * d_y'. The sums come first, for all rows; then d_x, in any
 * pieces: nn_batch_norm_gradient for all rows or nn_batch_norm_gradient_rows as the `make` of a
 * struct nn_rows_source (ctx: this struct). */
struct nn_batch_norm_gradient {
    struct nn_batch_norm norm;
    bool frozen;
    const nn_real *x, *d_y;
    size_t ldx, ldd_y;
    nn_real *d_x; /* may be d_y with the same leading dimension; NULL: no input gradient */
    size_t ldd_x;
    bool accumulate;            /* d_x added to */
    nn_real *d_scale, *d_shift; /* added to; NULL when not wanted */
    nn_real *factors;           /* nn_batch_norm_factors_count(channels), kept from sums to d_x */
    const struct nn_kernels *kernels; /* set by the sums */
};
size_t nn_batch_norm_factors_count(size_t channels);
void nn_batch_norm_gradient_sums(const struct nn_exec *exec, struct nn_batch_norm_gradient *grad);
void nn_batch_norm_gradient(const struct nn_exec *exec, struct nn_batch_norm_gradient *grad);
void nn_batch_norm_gradient_rows(void *grad, size_t first, size_t rows);

#endif
