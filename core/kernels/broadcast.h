/* SPDX-License-Identifier: MIT
 *
 * A batch of images beside a second matrix that has, for each sample, a row a pixel or one row for
 * all, and a value a channel or one for all: products, soft thresholds, and means of channels.
 */
#ifndef NN_KERNELS_BROADCAST_H
#define NN_KERNELS_BROADCAST_H

#include "core/kernels/exec.h"

/* Of the first matrix: batch * pixels rows. Of the second: batch * (one_row ? 1 : pixels) rows and
 * one_column ? 1 : channels columns. */
struct nn_broadcast {
    size_t batch, pixels, channels;
    bool one_row, one_column;
};

struct nn_operands {
    nn_real *y;
    const nn_real *a, *b;
    size_t ldy, lda, ldb;
    bool accumulate; /* added to y; not read by nn_soft_threshold */
};

/* y = a * b, y and a like the first matrix, b like the second. y may alias a. */
void nn_multiply(const struct nn_exec *exec, const struct nn_broadcast *sizes,
                 const struct nn_operands *args);

/* y = the sums of a * b over what the second matrix shares, y like the second, a and b like the
 * first: the gradient by the second factor. */
void nn_multiply_sums(const struct nn_exec *exec, const struct nn_broadcast *sizes,
                      const struct nn_operands *args);

/* y = sign(a) * max(|a| - b, 0), y and a like the first matrix, b (the threshold) like the second.
 * ldb may be 0: all samples share its first row. y may alias a. NaN stays NaN. */
void nn_soft_threshold(const struct nn_exec *exec, const struct nn_broadcast *sizes,
                       const struct nn_operands *args);

/* y = a where b != 0, else 0, rows x columns: the gradient by x, a being d_y and b the output. y
 * may alias a. */
void nn_soft_threshold_gradient(const struct nn_exec *exec, const struct nn_operands *args,
                                size_t rows, size_t columns);

/* y = - the sums of sign(b) * a: the gradient by the threshold, a being d_y and b the output; y
 * like the second matrix, a and b like the first. */
void nn_soft_threshold_sums(const struct nn_exec *exec, const struct nn_broadcast *sizes,
                            const struct nn_operands *args);

/* y [rows, 1] = the mean of each row of a. */
void nn_channel_mean(const struct nn_exec *exec, const struct nn_operands *args, size_t rows,
                     size_t channels);
/* y [rows, channels] = a [rows, 1] / channels: its gradient. */
void nn_channel_mean_gradient(const struct nn_exec *exec, const struct nn_operands *args,
                              size_t rows, size_t channels);

#endif
