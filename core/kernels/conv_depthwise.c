/* SPDX-License-Identifier: MIT
 *
 * Depthwise convolution: every channel by itself, so there is no product to make, only windows to
 * read. Parts of the image with a border of zeros are copied, so that the kernels know no edges.
 *
 * d_x is the convolution of d_y with the mirrored weights; with strides d_y is spread first, zeros
 * between its pixels. That multiplies some zeros, but the pass is bound by reading.
 */
#include <string.h>

#include "core/kernels/conv_internal.h"
#include "core/kernels/table.h"

/* What both kernels read of a part; the rest is left empty. */
static struct nn_depthwise_args args_of(const struct nn_conv_chunk *chunk, struct nn_conv_part part)
{
    const struct nn_conv2d *conv = chunk->conv;
    struct nn_conv_window window =
        nn_conv_window_of(conv, chunk->plan, part, chunk->x, chunk->ldx, chunk->scratch);
    struct nn_depthwise_args args = {.rows = part.lines, .width = conv->out_width};
    args.kernel_h = conv->kernel_h;
    args.kernel_w = conv->kernel_w;
    args.channels = conv->channels;
    args.x = window.x;
    args.x_row = conv->stride_h * window.line;
    args.x_column = conv->stride_w * window.ldx;
    args.x_line = conv->dilation_h * window.line;
    args.ldx = conv->dilation_w * window.ldx;
    return args;
}

void nn_conv_depthwise_forward(const struct nn_conv_chunk *chunk,
                               const struct nn_conv2d_output *output, const nn_real *w)
{
    for (size_t line = chunk->line; line < chunk->end;) {
        struct nn_conv_part part = nn_conv_part_at(chunk->conv, line, chunk->end);
        struct nn_depthwise_args args = args_of(chunk, part);
        args.y = output->y + line * chunk->conv->out_width * output->ldy;
        args.w = w;
        args.bias = output->bias;
        args.ldy = output->ldy;
        args.ldw = chunk->conv->channels;
        args.relu = output->activation == NN_ACTIVATION_RELU;
        chunk->exec->kernels->depthwise_forward(&args);
        line += part.lines;
    }
}

void nn_conv_depthwise_weight(const struct nn_conv_chunk *chunk, nn_real *d_w, size_t ldw,
                              const nn_real *d_y, size_t ldd_y)
{
    for (size_t line = chunk->line; line < chunk->end;) {
        struct nn_conv_part part = nn_conv_part_at(chunk->conv, line, chunk->end);
        struct nn_depthwise_args args = args_of(chunk, part);
        args.d_w = d_w;
        args.d_y = d_y;
        args.ldw = ldw;
        args.ldd_y = ldd_y;
        chunk->exec->kernels->depthwise_weight(&args);
        d_y += part.lines * chunk->conv->out_width * ldd_y;
        line += part.lines;
    }
}

/* ---- d_x ---- */

/* The convolution that makes d_x from d_y spread out: its output is d_x. */
static struct nn_conv2d backward_of(const struct nn_conv2d *conv)
{
    return (struct nn_conv2d){.batch = conv->batch,
                              .height = (conv->out_height - 1) * conv->stride_h + 1,
                              .width = (conv->out_width - 1) * conv->stride_w + 1,
                              .channels = conv->channels,
                              .filters = conv->channels,
                              .kernel_h = conv->kernel_h,
                              .kernel_w = conv->kernel_w,
                              .stride_h = 1,
                              .stride_w = 1,
                              .pad_top = nn_conv_span_h(conv) - 1 - conv->pad_top,
                              .pad_left = nn_conv_span_w(conv) - 1 - conv->pad_left,
                              .out_height = conv->height,
                              .out_width = conv->width,
                              .dilation_h = conv->dilation_h,
                              .dilation_w = conv->dilation_w,
                              .depthwise = true};
}

struct input_run {
    const struct nn_exec *exec;
    const struct nn_conv2d *conv;
    struct nn_conv2d back;
    struct nn_conv_plan plan;
    nn_real *d_x;
    const nn_real *d_y, *w;
    size_t ldd_x, ldd_y, scratch;
    bool accumulate;
};

/* One line of d_y among zeros: dst [width, channels]; source NULL: a line of zeros. */
static void spread_line(const struct input_run *p, nn_real *dst, size_t width,
                        const nn_real *source)
{
    size_t channels = p->conv->channels;
    memset(dst, 0, width * channels * sizeof *dst);
    for (size_t j = 0; source && j < p->conv->out_width; j++) {
        size_t at = p->back.pad_left + j * p->conv->stride_w;
        if (at < width) {
            memcpy(dst + at * channels, source + j * p->ldd_y, channels * sizeof *dst);
        }
    }
}

/* The lines of spread d_y that a part of d_x reads. */
static void spread_part(const struct input_run *p, struct nn_conv_part part, nn_real *scratch)
{
    size_t width = p->back.out_width + nn_conv_span_w(&p->back) - 1;
    for (size_t h = 0; h < part.lines + nn_conv_span_h(&p->back) - 1; h++) {
        size_t at = part.top + h, i = 0;
        bool there = at >= p->back.pad_top && (at - p->back.pad_top) % p->conv->stride_h == 0;
        if (there) {
            i = (at - p->back.pad_top) / p->conv->stride_h;
            there = i < p->conv->out_height;
        }
        size_t row = (part.image * p->conv->out_height + i) * p->conv->out_width;
        spread_line(p, scratch + h * width * p->conv->channels, width,
                    there ? p->d_y + row * p->ldd_y : NULL);
    }
}

static void input_chunk(void *ctx, size_t chunk, size_t lane)
{
    const struct input_run *p = ctx;
    size_t line = chunk * p->plan.chunk_lines;
    size_t end = nn_min(line + p->plan.chunk_lines, p->plan.lines);
    nn_real *scratch = nn_workspace_piece(p->exec, 0, p->scratch, lane);
    while (line < end) {
        struct nn_conv_part part = nn_conv_part_at(&p->back, line, end);
        struct nn_depthwise_args args = {.rows = part.lines, .width = p->back.out_width};
        spread_part(p, part, scratch);
        args.kernel_h = p->back.kernel_h;
        args.kernel_w = p->back.kernel_w;
        args.channels = p->back.channels;
        args.y = p->d_x + line * p->back.out_width * p->ldd_x;
        args.x = scratch;
        args.w = p->w;
        args.ldw = p->back.channels;
        args.ldy = p->ldd_x;
        args.x_column = p->back.channels;
        args.x_row = (p->back.out_width + nn_conv_span_w(&p->back) - 1) * p->back.channels;
        args.ldx = p->back.dilation_w * args.x_column;
        args.x_line = p->back.dilation_h * args.x_row;
        args.accumulate = p->accumulate;
        p->exec->kernels->depthwise_forward(&args);
        line += part.lines;
    }
}

size_t nn_conv_depthwise_input_scratch(const struct nn_conv2d *conv)
{
    struct nn_conv2d back = backward_of(conv);
    struct nn_conv_plan plan = nn_conv_plan_of(&back);
    size_t lines = nn_min(plan.chunk_lines, back.out_height) + nn_conv_span_h(&back) - 1;
    size_t width = back.out_width + nn_conv_span_w(&back) - 1;
    return plan.chunks > 0 ? nn_bytes(lines * width * back.channels, sizeof(nn_real)) : 0;
}

void nn_conv_depthwise_input(const struct nn_exec *exec, const struct nn_conv2d *conv, nn_real *d_x,
                             size_t ldd_x, bool accumulate, const nn_real *d_y, size_t ldd_y,
                             const nn_real *mirrored)
{
    struct input_run run = {.exec = exec, .conv = conv, .d_y = d_y, .w = mirrored};
    run.back = backward_of(conv);
    run.plan = nn_conv_plan_of(&run.back);
    run.d_x = d_x;
    run.ldd_x = ldd_x;
    run.ldd_y = ldd_y;
    run.accumulate = accumulate;
    run.scratch = nn_conv_depthwise_input_scratch(conv);
    nn_parallel_for(exec->pool, run.plan.chunks, input_chunk, &run);
}
