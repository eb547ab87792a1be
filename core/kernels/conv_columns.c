/* SPDX-License-Identifier: MIT
 *
 * Data movement of the convolution: windows to rows (im2col), one tap to rows, image parts with a
 * border of zeros.
 */
#include "core/kernels/conv_internal.h"

#include <string.h>

/* n pixels of `channels` numbers from x (leading dimension ldx) to dst, dense. */
static void copy_pixels(nn_real *dst, const nn_real *x, size_t ldx, size_t channels, size_t n)
{
    if (ldx == channels) {
        memcpy(dst, x, n * channels * sizeof *dst);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        memcpy(dst + i * channels, x + i * ldx, channels * sizeof *dst);
    }
}

/* dst = n pixels of an image line from column `start - pad` on; zeros outside [0, width). line
 * NULL: a line outside the image. */
static void copy_bordered(nn_real *dst, const nn_real *line, size_t ldx,
                          const struct nn_conv2d *conv, size_t start, size_t n)
{
    size_t channels = conv->channels, pad = conv->pad_left;
    size_t before = start < pad ? nn_min(n, pad - start) : 0;
    size_t column = start + before - pad;
    size_t inside = column < conv->width ? nn_min(n - before, conv->width - column) : 0;
    if (!line) {
        before = n;
        inside = 0;
    }
    memset(dst, 0, before * channels * sizeof *dst);
    if (inside > 0) {
        copy_pixels(dst + before * channels, line + column * ldx, ldx, channels, inside);
    }
    memset(dst + (before + inside) * channels, 0, (n - before - inside) * channels * sizeof *dst);
}

/* A line of a window that begins at column `start - pad`. */
static void copy_window(nn_real *dst, const nn_real *line, size_t ldx, const struct nn_conv2d *conv,
                        size_t start)
{
    if (conv->dilation_w == 1) {
        copy_bordered(dst, line, ldx, conv, start, conv->kernel_w);
        return;
    }
    for (size_t v = 0; v < conv->kernel_w; v++) {
        copy_bordered(dst + v * conv->channels, line, ldx, conv, start + v * conv->dilation_w, 1);
    }
}

/* The image line that window line `start` (shifted by pad_top) lies on, or NULL. */
static const nn_real *line_of(const struct nn_conv2d *conv, const nn_real *x, size_t ldx,
                              size_t image, size_t start)
{
    if (start < conv->pad_top || start - conv->pad_top >= conv->height) {
        return NULL;
    }
    return x + (image * conv->height + start - conv->pad_top) * conv->width * ldx;
}

void nn_conv_columns(const struct nn_conv2d *conv, size_t line, size_t end, const nn_real *x,
                     size_t ldx, nn_real *columns)
{
    size_t run = conv->kernel_w * conv->channels, depth = conv->kernel_h * run;
    for (; line < end; line++) {
        size_t image = line / conv->out_height, i = line % conv->out_height;
        for (size_t u = 0; u < conv->kernel_h; u++) {
            size_t start = i * conv->stride_h + u * conv->dilation_h;
            const nn_real *src = line_of(conv, x, ldx, image, start);
            for (size_t j = 0; j < conv->out_width; j++) {
                copy_window(columns + j * depth + u * run, src, ldx, conv, j * conv->stride_w);
            }
        }
        columns += conv->out_width * depth;
    }
}

void nn_conv_tap_columns(const struct nn_conv2d *conv, size_t line, size_t end, size_t u, size_t v,
                         const nn_real *x, size_t ldx, nn_real *columns)
{
    for (; line < end; line++) {
        size_t image = line / conv->out_height, i = line % conv->out_height;
        const nn_real *src =
            line_of(conv, x, ldx, image, i * conv->stride_h + u * conv->dilation_h);
        for (size_t j = 0; j < conv->out_width; j++, columns += conv->channels) {
            size_t start = j * conv->stride_w + v * conv->dilation_w;
            copy_bordered(columns, src, ldx, conv, start, 1);
        }
    }
}

struct nn_conv_part nn_conv_part_at(const struct nn_conv2d *conv, size_t line, size_t end)
{
    struct nn_conv_part part = {line / conv->out_height, line % conv->out_height, end - line};
    part.lines = nn_min(part.lines, conv->out_height - part.top);
    return part;
}

/* Pixels of a line of the bordered copy. */
static size_t bordered_width(const struct nn_conv2d *conv)
{
    return (conv->out_width - 1) * conv->stride_w + nn_conv_span_w(conv);
}

static size_t bordered_height(const struct nn_conv2d *conv, size_t lines)
{
    return (lines - 1) * conv->stride_h + nn_conv_span_h(conv);
}

size_t nn_conv_scratch(const struct nn_conv2d *conv, const struct nn_conv_plan *plan)
{
    size_t pixels = 0;
    switch (plan->way) {
    case NN_CONV_POINTWISE:
        break;
    case NN_CONV_DIRECT:
    case NN_CONV_DEPTHWISE:
        if (plan->bordered) {
            size_t lines = nn_min(plan->chunk_lines, conv->out_height);
            pixels = bordered_height(conv, lines) * bordered_width(conv) * conv->channels;
        }
        break;
    case NN_CONV_COLUMNS:
        pixels = plan->chunk_lines * conv->out_width * plan->depth;
        break;
    }
    return nn_bytes(pixels, sizeof(nn_real));
}

static void fill_offsets(const struct nn_conv2d *conv, size_t width, size_t ldx, size_t *offsets)
{
    for (size_t u = 0; u < conv->kernel_h; u++) {
        for (size_t v = 0; v < conv->kernel_w; v++) {
            for (size_t c = 0; c < conv->channels; c++) {
                *offsets++ = (u * conv->dilation_h * width + v * conv->dilation_w) * ldx + c;
            }
        }
    }
}

struct nn_conv_window nn_conv_window_of(const struct nn_conv2d *conv,
                                        const struct nn_conv_plan *plan, struct nn_conv_part part,
                                        const nn_real *x, size_t ldx, nn_real *scratch)
{
    size_t start = part.top * conv->stride_h, width = conv->width;
    if (!plan->bordered) {
        return (struct nn_conv_window){x + (part.image * conv->height + start) * width * ldx, ldx,
                                       width * ldx};
    }
    width = bordered_width(conv);
    for (size_t h = 0; h < bordered_height(conv, part.lines); h++) {
        copy_bordered(scratch + h * width * conv->channels,
                      line_of(conv, x, ldx, part.image, start + h), ldx, conv, 0, width);
    }
    return (struct nn_conv_window){scratch, conv->channels, width * conv->channels};
}

void nn_conv_source_of(const struct nn_conv2d *conv, const struct nn_conv_plan *plan,
                       struct nn_conv_part part, const nn_real *x, size_t ldx, nn_real *scratch,
                       struct nn_conv_source *out_source)
{
    struct nn_conv_window window = nn_conv_window_of(conv, plan, part, x, ldx, scratch);
    out_source->x = window.x;
    out_source->x_row = conv->stride_h * window.line;
    out_source->x_column = conv->stride_w * window.ldx;
    fill_offsets(conv, window.line / window.ldx, window.ldx, out_source->offsets);
}
