/* SPDX-License-Identifier: MIT
 *
 * Pixels added around an image, or cut from it:
 *     y[n,i,j,c] = x[n, s(i - top), s(j - left), c]
 * s(k) = k inside of the image. Outside, with a side of m pixels: replicate takes the nearest
 * pixel, max(0, min(k, m - 1)); reflect mirrors at the outermost one, -k before and 2 (m - 1) - k
 * behind, so it reaches m - 1 pixels far; constant gives `value` and no gradient. A negative top or
 * left cuts pixels; what is below and right follows from the output's size.
 */
#ifndef NN_KERNELS_FRAMING_H
#define NN_KERNELS_FRAMING_H

#include "core/kernels/exec.h"

enum nn_framing_mode { NN_FRAMING_CONSTANT, NN_FRAMING_REFLECT, NN_FRAMING_REPLICATE };

struct nn_framing {
    size_t batch, height, width, channels;
    size_t out_height, out_width;
    long top, left;
    enum nn_framing_mode mode;
    nn_real value;
};

void nn_framing_forward(const struct nn_exec *exec, const struct nn_framing *framing, nn_real *y,
                        size_t ldy, const nn_real *x, size_t ldx);

/* d_x written, or added to with accumulate. */
void nn_framing_gradient(const struct nn_exec *exec, const struct nn_framing *framing, nn_real *d_x,
                         size_t ldd_x, bool accumulate, const nn_real *d_y, size_t ldd_y);

#endif
