/* SPDX-License-Identifier: MIT
 *
 * Passes that treat every number by itself, and reductions to one number.
 */
#ifndef NN_KERNELS_POINTWISE_H
#define NN_KERNELS_POINTWISE_H

#include "core/kernels/exec.h"

/* ---- on rows x columns ---- */

/* dst = src, or added to dst: columns of a concatenation, gradients of a fan-out. */
void nn_copy(const struct nn_exec *exec, nn_real *dst, size_t ldd, bool accumulate,
             const nn_real *src, size_t lds, size_t rows, size_t columns);

/* y = a + b, then max(y, 0) if relu; y may alias a or b. */
struct nn_addition {
    nn_real *y;
    const nn_real *a, *b;
    size_t ldy, lda, ldb;
    size_t rows, columns;
    bool relu;
};
void nn_add(const struct nn_exec *exec, const struct nn_addition *args);

/* y = max(x, 0), NaN stays NaN; y may alias x. */
void nn_relu_forward(const struct nn_exec *exec, nn_real *y, size_t ldy, const nn_real *x,
                     size_t ldx, size_t rows, size_t columns);

/* y = min(max(x, 0), ceiling), NaN stays NaN; y may alias x. */
void nn_clip_forward(const struct nn_exec *exec, nn_real *y, size_t ldy, const nn_real *x,
                     size_t ldx, size_t rows, size_t columns, nn_real ceiling);

/* d_x = d_y where y > 0, else 0; written or added to; d_x may alias d_y. */
struct nn_relu_gradient {
    nn_real *d_x;
    size_t ldd_x;
    bool accumulate;
    const nn_real *d_y, *y;
    size_t ldd_y, ldy;
    size_t rows, columns;
};
void nn_relu_gradient(const struct nn_exec *exec, const struct nn_relu_gradient *args);
/* The same where 0 < y < ceiling. */
void nn_clip_gradient(const struct nn_exec *exec, const struct nn_relu_gradient *args,
                      nn_real ceiling);

/* y = x / (1 - rate) where kept, else 0. The mask is a function of (seed, layer, epoch, sample,
 * element), so the gradient is the same call on d_y. y may alias x; accumulate: added to y. */
struct nn_dropout {
    double rate; /* [0, 1) */
    uint64_t seed, epoch;
    uint32_t layer;         /* number of the dropout layer in its network, below 64 */
    uint64_t first_sample;  /* of the epoch: the number of row 0's sample */
    size_t rows_per_sample; /* pixels of an image */
    size_t rows, columns;
    bool accumulate;
    /* Sequences packed time-major (steps > 0, rows and rows_per_sample not read): the k-th row of
     * step t is row starts[t] + k, step t of sample first_sample + samples[k]; k < active[t]. */
    size_t steps;
    const size_t *starts, *active, *samples;
};
void nn_dropout(const struct nn_exec *exec, const struct nn_dropout *dropout, nn_real *y,
                size_t ldy, const nn_real *x, size_t ldx);

/* y = x * factor[c] + offset[c], x uint8 pixels [rows, columns] dense: input normalisation. */
void nn_normalize_u8(const struct nn_exec *exec, nn_real *y, size_t ldy, const uint8_t *x,
                     size_t rows, size_t columns, const nn_real *factor, const nn_real *offset);

/* ---- on n numbers in a row ---- */

void nn_fill(const struct nn_exec *exec, nn_real *x, size_t n, nn_real value);
void nn_scale(const struct nn_exec *exec, nn_real *x, size_t n, nn_real factor);

/* y += share * (x - y): a moving average; where x is y, y stays as it is to the bit. */
void nn_average(const struct nn_exec *exec, nn_real *y, const nn_real *x, size_t n, nn_real share);

/* x = min(max(x, -limit), limit); NaN stays NaN. */
void nn_clamp(const struct nn_exec *exec, nn_real *x, size_t n, nn_real limit);

size_t nn_reduction_workspace(size_t n);

/* No NaN and no infinity among them. */
bool nn_all_finite(const struct nn_exec *exec, const nn_real *x, size_t n);

/* Sum of squares, in double. */
double nn_sum_squares(const struct nn_exec *exec, const nn_real *x, size_t n);

#endif
