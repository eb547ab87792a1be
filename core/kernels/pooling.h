/* SPDX-License-Identifier: MIT
 *
 * Pooling over windows of an image. Windows may hang over the edges by padding or by a rounded-up
 * output size; what hangs over is ignored by the maximum.
 */
#ifndef NN_KERNELS_POOLING_H
#define NN_KERNELS_POOLING_H

#include "core/kernels/exec.h"

struct nn_pool2d {
    size_t batch, height, width, channels;
    size_t kernel_h,
        kernel_w; /* each window holds at least one pixel; kernel_h * kernel_w < 65536 */
    size_t stride_h, stride_w;
    size_t pad_top, pad_left;
    size_t pad_bottom, pad_right; /* counted by the average with count_padding */
    size_t out_height, out_width;
    bool count_padding; /* average: divide by the window cut at the padded edge, not at the image */
    bool adaptive;      /* average: window i begins at floor(i * size / out) and ends before
                           ceil((i + 1) * size / out); kernel, stride and padding mean nothing */
};

/* taps [out rows, channels] remembers where each maximum stands (u * kernel_w + v, the first of
 * equal ones; a NaN wins); NULL when there will be no gradient. */
void nn_max_pool_forward(const struct nn_exec *exec, const struct nn_pool2d *pool, nn_real *y,
                         size_t ldy, uint16_t *taps, const nn_real *x, size_t ldx);
void nn_max_pool_gradient(const struct nn_exec *exec, const struct nn_pool2d *pool, nn_real *d_x,
                          size_t ldd_x, bool accumulate, const nn_real *d_y, size_t ldd_y,
                          const uint16_t *taps);

void nn_average_pool_forward(const struct nn_exec *exec, const struct nn_pool2d *pool, nn_real *y,
                             size_t ldy, const nn_real *x, size_t ldx);
void nn_average_pool_gradient(const struct nn_exec *exec, const struct nn_pool2d *pool,
                              nn_real *d_x, size_t ldd_x, bool accumulate, const nn_real *d_y,
                              size_t ldd_y);

/* y [batch, channels] = mean over the pixels of each image. */
struct nn_global_pool {
    size_t batch, pixels, channels;
};
void nn_global_average_forward(const struct nn_exec *exec, const struct nn_global_pool *pool,
                               nn_real *y, size_t ldy, const nn_real *x, size_t ldx);
void nn_global_average_gradient(const struct nn_exec *exec, const struct nn_global_pool *pool,
                                nn_real *d_x, size_t ldd_x, bool accumulate, const nn_real *d_y,
                                size_t ldd_y);

#endif
