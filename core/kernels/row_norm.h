/* SPDX-License-Identifier: MIT
 *
 * Normalisation within a sample, over groups of neighbouring channels: layer normalisation (Ba,
 * Kiros, Hinton 2016), group normalisation (Wu, He 2018) and root mean square normalisation (Zhang,
 * Sennrich 2019). Over the values of a group, which are its channels in all pixels of a sample:
 *     xh = (x - mean) * factor,  factor = 1 / sqrt(mean of (x - mean)^2 + epsilon)
 *     y = xh * scale[c] + shift[c]
 * with mean 0 where the norm is not centred. Two passes: a mean far from 0 costs no digits.
 */
#ifndef NN_KERNELS_ROW_NORM_H
#define NN_KERNELS_ROW_NORM_H

#include "core/kernels/exec.h"

struct nn_row_norm {
    size_t samples, pixels, channels, groups; /* samples * pixels rows; groups divide channels */
    bool centred;                             /* only with pixels 1 may it be false */
    nn_real epsilon;
    const nn_real *scale, *shift; /* [channels]; shift NULL: 0 */
    nn_real *mean, *factor;       /* [samples, groups]: forward writes, the gradient reads */
};

/* Bytes of workspace of both. */
size_t nn_row_norm_workspace(size_t samples, size_t pixels, size_t channels, size_t lanes);

/* y may alias x. */
void nn_row_norm_forward(const struct nn_exec *exec, const struct nn_row_norm *norm, nn_real *y,
                         size_t ldy, const nn_real *x, size_t ldx);

/* d_shift += sum d_y,  d_scale += sum d_y * xh;  with g = d_y * scale
 * d_x = factor * (g - mean(g) - xh * mean(g * xh)), the first mean only where centred. */
struct nn_row_norm_gradient {
    const nn_real *x, *d_y;
    nn_real *d_x; /* may be d_y with the same leading dimension; NULL: not wanted */
    size_t ldx, ldd_y, ldd_x;
    bool accumulate;            /* d_x added to */
    nn_real *d_scale, *d_shift; /* NULL: not wanted */
};
void nn_row_norm_gradient(const struct nn_exec *exec, const struct nn_row_norm *norm,
                          const struct nn_row_norm_gradient *grad);

#endif
