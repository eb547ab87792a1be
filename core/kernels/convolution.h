/* SPDX-License-Identifier: MIT
 *
 * Two-dimensional convolution (cross-correlation, as in every framework), any kernel, stride and
 * padding with zeros:
 *     y[n,i,j,o] = bias[o] + sum over u,v,c of x[n, i*sh + u*dh - pt, j*sw + v*dw - pl, c] *
 * w[u,v,c,o]
 *
 * x   [batch * height * width, channels]          w [kernel_h, kernel_w, channels, filters]
 * y   [batch * out_height * out_width, filters]   dense, filters fastest
 *
 * depthwise: each channel has one filter of its own, so filters = channels and
 *     y[n,i,j,c] = bias[c] + sum over u,v of x[n, i*sh + u*dh - pt, j*sw + v*dw - pl, c] * w[u,v,c]
 * with w [kernel_h, kernel_w, channels] and padding smaller than the window.
 *
 * groups: the channels and the filters fall into that many runs of equal length, and the filters of
 * a run see the channels of theirs alone; w [kernel_h, kernel_w, channels / groups, filters].
 */
#ifndef NN_KERNELS_CONVOLUTION_H
#define NN_KERNELS_CONVOLUTION_H

#include "core/kernels/exec.h"
#include "core/kernels/matrix.h"

struct nn_conv2d {
    size_t batch, height, width, channels;
    size_t filters, kernel_h, kernel_w;
    size_t stride_h, stride_w;
    size_t pad_top, pad_left; /* padding below and right follows from the output size */
    size_t out_height, out_width;
    size_t dilation_h, dilation_w; /* pixels from one tap to the next */
    bool depthwise;
    size_t groups; /* 0 and 1: one; divides channels and filters; not with depthwise */
};

/* (size + pad_before + pad_after - kernel) / stride + 1, 0 when the kernel does not fit; kernel:
 * pixels that a window spans. */
size_t nn_conv2d_out_size(size_t size, size_t kernel, size_t stride, size_t pad_before,
                          size_t pad_after);

/* Bytes enough for all three passes. */
size_t nn_conv2d_workspace(const struct nn_conv2d *conv, size_t lanes);

/* nn_real of storage of nn_conv2d_pack; the same for both directions. */
size_t nn_conv2d_pack_count(const struct nn_conv2d *conv);

/* Weights prepared for one direction; to be done again after each change of w. Borrows w and
 * storage. */
struct nn_conv2d_weights {
    struct nn_packed packed; /* as one matrix [kernel_h * kernel_w * channels, filters] */
    const nn_real *w;
    nn_real *storage; /* groups are packed there one after the other */
};
void nn_conv2d_pack_forward(const struct nn_exec *exec, const struct nn_conv2d *conv,
                            struct nn_conv2d_weights *out_weights, nn_real *storage,
                            const nn_real *w);
void nn_conv2d_pack_backward(const struct nn_exec *exec, const struct nn_conv2d *conv,
                             struct nn_conv2d_weights *out_weights, nn_real *storage,
                             const nn_real *w);

/* The rows of y are made chunk by chunk; a chunk is some lines of pixels. With moments != NULL
 * (in batch_norm.h: nn_moments_count(nn_conv2d_chunks(conv), filters) doubles) the mean and spread
 * of every channel are taken from each chunk while it is in the cache. */
size_t nn_conv2d_chunks(const struct nn_conv2d *conv);
struct nn_conv2d_output {
    nn_real *y;
    size_t ldy;
    const nn_real *bias; /* or NULL */
    enum nn_activation activation;
    double *moments; /* or NULL */
    bool accumulate; /* y added to; no bias, activation or moments then */
};
void nn_conv2d_forward(const struct nn_exec *exec, const struct nn_conv2d *conv,
                       const struct nn_conv2d_output *output, const nn_real *x, size_t ldx,
                       const struct nn_conv2d_weights *weights);

/* Makes rows [first, first + rows) of d_y just before they are read; called exactly once for every
 * row, possibly on several threads at a time. A fused pass of the layer behind. */
struct nn_rows_source {
    void (*make)(void *ctx, size_t first, size_t rows);
    void *ctx;
};

/* d_w added to. source: NULL when d_y is there already. */
void nn_conv2d_weight_gradient(const struct nn_exec *exec, const struct nn_conv2d *conv,
                               nn_real *d_w, const nn_real *x, size_t ldx, const nn_real *d_y,
                               size_t ldd_y, const struct nn_rows_source *source);

/* d_x written, or added to with accumulate. weights from nn_conv2d_pack_backward. */
void nn_conv2d_input_gradient(const struct nn_exec *exec, const struct nn_conv2d *conv,
                              nn_real *d_x, size_t ldd_x, bool accumulate, const nn_real *d_y,
                              size_t ldd_y, const struct nn_conv2d_weights *weights);

/* The transposed convolution: y, an image of conv's input, is the input gradient of x, an image of
 * conv's output, plus bias[c]:
 *     y[n,i*sh + u*dh - pt,j*sw + v*dw - pl,c] += x[n,i,j,o] * w[u,v,c,o]
 * weights from nn_conv2d_pack_backward. Its own gradients are conv's other passes: that of x is
 * nn_conv2d_forward of d_y, that of w nn_conv2d_weight_gradient with d_y as image and x as d_y. */
void nn_conv2d_transposed(const struct nn_exec *exec, const struct nn_conv2d *conv, nn_real *y,
                          size_t ldy, const nn_real *bias, const nn_real *x, size_t ldx,
                          const struct nn_conv2d_weights *weights);

#endif
