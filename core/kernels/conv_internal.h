/* SPDX-License-Identifier: MIT
 *
 * How a convolution is done and cut; shared by its three passes. A "line" is one line of output
 * pixels of one image; lines are numbered through the whole batch.
 */
#ifndef NN_KERNELS_CONV_INTERNAL_H
#define NN_KERNELS_CONV_INTERNAL_H

#include "core/kernels/chunks_internal.h"
#include "core/kernels/convolution.h"

enum nn_conv_way {
    NN_CONV_POINTWISE, /* 1x1: x is the matrix already */
    NN_CONV_DIRECT,    /* few taps: own kernels read the image */
    NN_CONV_COLUMNS,   /* im2col of a chunk, then a matrix product */
    NN_CONV_DEPTHWISE, /* a filter a channel: own kernels read the image (conv_depthwise.c) */
};

#define NN_CONV_DIRECT_TAPS 512 /* most taps of the direct way */

struct nn_conv_plan {
    enum nn_conv_way way;
    size_t depth;       /* kernel_h * kernel_w * channels; depthwise: without the channels */
    size_t lines;       /* batch * out_height */
    size_t chunk_lines; /* lines a chunk; whole images where a chunk holds several */
    size_t chunks;
    bool bordered; /* some window hangs over the edge of the image */
};

/* Pixels that a window spans. */
static inline size_t nn_conv_span_h(const struct nn_conv2d *conv)
{
    return (conv->kernel_h - 1) * conv->dilation_h + 1;
}

static inline size_t nn_conv_span_w(const struct nn_conv2d *conv)
{
    return (conv->kernel_w - 1) * conv->dilation_w + 1;
}

struct nn_conv_plan nn_conv_plan_of(const struct nn_conv2d *conv);

/* Bytes of scratch of one chunk: columns, or an image part with its border. */
size_t nn_conv_scratch(const struct nn_conv2d *conv, const struct nn_conv_plan *plan);

/* Lines [line, line + lines) of one image (lines may reach to its end, not over it). */
struct nn_conv_part {
    size_t image, top, lines;
};
struct nn_conv_part nn_conv_part_at(const struct nn_conv2d *conv, size_t line, size_t end);

/* A part of the image as the kernels read it: the image itself or a bordered copy in scratch. */
struct nn_conv_window {
    const nn_real *x; /* of the first window */
    size_t ldx, line; /* from one pixel and from one image line to the next */
};
struct nn_conv_window nn_conv_window_of(const struct nn_conv2d *conv,
                                        const struct nn_conv_plan *plan, struct nn_conv_part part,
                                        const nn_real *x, size_t ldx, nn_real *scratch);

/* What the direct kernels read for a part: the image itself or a bordered copy in scratch. */
struct nn_conv_source {
    const nn_real *x;
    size_t x_row, x_column; /* from one output line and pixel to the next */
    size_t offsets[NN_CONV_DIRECT_TAPS];
};
void nn_conv_source_of(const struct nn_conv2d *conv, const struct nn_conv_plan *plan,
                       struct nn_conv_part part, const nn_real *x, size_t ldx, nn_real *scratch,
                       struct nn_conv_source *out_source);

/* columns [lines * out_width, depth] of lines [line, end): the windows, row by row. */
void nn_conv_columns(const struct nn_conv2d *conv, size_t line, size_t end, const nn_real *x,
                     size_t ldx, nn_real *columns);

/* columns [lines * out_width, channels]: the pixel under tap (u, v) of each window. */
void nn_conv_tap_columns(const struct nn_conv2d *conv, size_t line, size_t end, size_t u, size_t v,
                         const nn_real *x, size_t ldx, nn_real *columns);

/* Moments of a chunk of the output, lines [line, end). */
void nn_conv_moments(const struct nn_exec *exec, const struct nn_conv2d *conv,
                     const struct nn_conv2d_output *output, size_t chunk, size_t line, size_t end);

/* ---- groups (conv_groups.c): each is a convolution of its own on some columns of x and y ---- */

static inline bool nn_conv_grouped(const struct nn_conv2d *conv)
{
    return conv->groups > 1;
}

/* One of the groups; conv itself when there is but one. */
struct nn_conv2d nn_conv_group(const struct nn_conv2d *conv);
size_t nn_conv_groups_workspace(const struct nn_conv2d *conv, size_t lanes);
size_t nn_conv_groups_pack_count(const struct nn_conv2d *conv);
void nn_conv_groups_forward(const struct nn_exec *exec, const struct nn_conv2d *conv,
                            const struct nn_conv2d_output *output, const nn_real *x, size_t ldx,
                            const struct nn_conv2d_weights *weights);
void nn_conv_groups_weight(const struct nn_exec *exec, const struct nn_conv2d *conv, nn_real *d_w,
                           const nn_real *x, size_t ldx, const nn_real *d_y, size_t ldd_y,
                           const struct nn_rows_source *source);
void nn_conv_groups_input(const struct nn_exec *exec, const struct nn_conv2d *conv, nn_real *d_x,
                          size_t ldd_x, bool accumulate, const nn_real *d_y, size_t ldd_y,
                          const struct nn_conv2d_weights *weights);

/* Lines [line, end) of a depthwise convolution. */
struct nn_conv_chunk {
    const struct nn_exec *exec;
    const struct nn_conv2d *conv;
    const struct nn_conv_plan *plan;
    size_t line, end;
    const nn_real *x;
    size_t ldx;
    nn_real *scratch; /* nn_conv_scratch */
};
void nn_conv_depthwise_forward(const struct nn_conv_chunk *chunk,
                               const struct nn_conv2d_output *output, const nn_real *w);
/* d_w [taps, ldw] += those lines' part; d_y: of the first of them. */
void nn_conv_depthwise_weight(const struct nn_conv_chunk *chunk, nn_real *d_w, size_t ldw,
                              const nn_real *d_y, size_t ldd_y);
/* d_x of the whole batch; mirrored: the taps of w from the last to the first. */
void nn_conv_depthwise_input(const struct nn_exec *exec, const struct nn_conv2d *conv, nn_real *d_x,
                             size_t ldd_x, bool accumulate, const nn_real *d_y, size_t ldd_y,
                             const nn_real *mirrored);
size_t nn_conv_depthwise_input_scratch(const struct nn_conv2d *conv);

/* The convolution that makes d_x from d_y, for strides of 1; false when there is none. */
bool nn_conv_mirrored(const struct nn_conv2d *conv, struct nn_conv2d *out_mirrored);

#endif
