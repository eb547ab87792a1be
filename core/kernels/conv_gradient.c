/* SPDX-License-Identifier: MIT
 *
 * Gradients of the convolution.
 *
 * d_w: few weights: the chunks are dealt to a fixed number of slices, each with a copy of d_w,
 * added in order. Many weights: one piece of work a tap, each over all chunks in order. d_x: with
 * strides of 1 it is a convolution of d_y with mirrored weights; otherwise windows are multiplied
 * out and added back (col2im), image by image.
 */
#include "core/kernels/conv_internal.h"

#include <string.h>

#include "core/kernels/blas_internal.h"
#include "core/kernels/gemm_internal.h"
#include "core/kernels/table.h"

#define SLICES         16
#define SLICED_WEIGHTS ((size_t)1 << 16)

struct weight_run {
    const struct nn_exec *exec;
    const struct nn_conv2d *conv;
    const nn_real *x, *d_y;
    size_t ldx, ldd_y;
    const struct nn_rows_source *source;
    struct nn_conv_plan plan;
    nn_real *d_w;
    size_t slices, ldw;         /* of the copies */
    size_t copy_bytes, scratch; /* a copy of d_w; scratch of a lane behind all copies */
};

static void make_rows(const struct weight_run *p, size_t line, size_t end)
{
    if (p->source) {
        p->source->make(p->source->ctx, line * p->conv->out_width,
                        (end - line) * p->conv->out_width);
    }
}

/* ---- d_w in slices ---- */

static size_t slices_of(const struct nn_conv_plan *plan)
{
    return nn_min(plan->chunks, SLICES);
}

static size_t copy_width(const struct nn_conv2d *conv)
{
    return nn_round_up(conv->filters, NN_LINE);
}

static size_t copy_bytes(const struct nn_conv2d *conv, const struct nn_conv_plan *plan)
{
    return nn_bytes(plan->depth * copy_width(conv), sizeof(nn_real));
}

static bool is_sliced(const struct nn_conv2d *conv, const struct nn_conv_plan *plan)
{
    return plan->way == NN_CONV_DIRECT || plan->way == NN_CONV_DEPTHWISE ||
           (plan->way == NN_CONV_COLUMNS && plan->depth * conv->filters <= SLICED_WEIGHTS);
}

static void weight_direct(const struct weight_run *p, size_t line, size_t end, nn_real *d_w,
                          nn_real *scratch)
{
    const struct nn_conv2d *conv = p->conv;
    struct nn_conv_source source;
    while (line < end) {
        struct nn_conv_part part = nn_conv_part_at(conv, line, end);
        nn_conv_source_of(conv, &p->plan, part, p->x, p->ldx, scratch, &source);
        struct nn_conv_weight_args args = {.rows = part.lines, .width = conv->out_width};
        args.taps = p->plan.depth;
        args.filters = conv->filters;
        args.d_w = d_w;
        args.x = source.x;
        args.d_y = p->d_y + line * conv->out_width * p->ldd_y;
        args.ldd_y = p->ldd_y;
        args.x_row = source.x_row;
        args.x_column = source.x_column;
        args.ldw = p->ldw;
        args.offsets = source.offsets;
        p->exec->kernels->conv_weight(&args);
        line += part.lines;
    }
}

/* d_w [depth, filters] += columns^T [depth, rows] d_y [rows, filters] */
static void weight_product(const struct weight_run *p, size_t line, size_t end, nn_real *d_w,
                           nn_real *scratch)
{
    size_t width = p->conv->out_width;
    nn_conv_columns(p->conv, line, end, p->x, p->ldx, scratch);
    struct nn_gemm gemm = {.m = p->plan.depth, .n = p->conv->filters, .k = (end - line) * width};
    gemm.a = scratch;
    gemm.lda = p->plan.depth;
    gemm.transpose_a = true;
    gemm.b = p->d_y + line * width * p->ldd_y;
    gemm.ldb = p->ldd_y;
    gemm.c = d_w;
    gemm.ldc = p->ldw;
    gemm.accumulate = true;
    nn_gemm_serial(p->exec, &gemm);
}

static void weight_slice(void *ctx, size_t slice, size_t lane)
{
    const struct weight_run *p = ctx;
    nn_real *d_w = nn_workspace_piece(p->exec, 0, p->copy_bytes, slice);
    nn_real *scratch = nn_workspace_piece(p->exec, p->slices * p->copy_bytes, p->scratch, lane);
    size_t chunk = slice * p->plan.chunks / p->slices;
    size_t last = (slice + 1) * p->plan.chunks / p->slices;
    memset(d_w, 0, p->copy_bytes);
    for (; chunk < last; chunk++) {
        size_t line = chunk * p->plan.chunk_lines;
        size_t end = nn_min(line + p->plan.chunk_lines, p->plan.lines);
        make_rows(p, line, end);
        if (p->plan.way == NN_CONV_DEPTHWISE) {
            struct nn_conv_chunk part = {p->exec, p->conv, &p->plan, line,
                                         end,     p->x,    p->ldx,   scratch};
            const nn_real *d_y = p->d_y + line * p->conv->out_width * p->ldd_y;
            nn_conv_depthwise_weight(&part, d_w, p->ldw, d_y, p->ldd_y);
        } else if (p->plan.way == NN_CONV_DIRECT) {
            weight_direct(p, line, end, d_w, scratch);
        } else {
            weight_product(p, line, end, d_w, scratch);
        }
    }
}

static void add_copies(const struct weight_run *p)
{
    for (size_t t = 0; t < p->plan.depth; t++) {
        for (size_t o = 0; o < p->conv->filters; o++) {
            nn_real *d_w = p->d_w + t * p->conv->filters + o;
            double sum = (double)*d_w;
            for (size_t s = 0; s < p->slices; s++) {
                const nn_real *copy = nn_workspace_piece(p->exec, 0, p->copy_bytes, s);
                sum += (double)copy[t * p->ldw + o];
            }
            *d_w = (nn_real)sum;
        }
    }
}

/* ---- d_w by taps ---- */

static void weight_tap(void *ctx, size_t tap, size_t lane)
{
    const struct weight_run *p = ctx;
    const struct nn_conv2d *conv = p->conv;
    nn_real *scratch = nn_workspace_piece(p->exec, 0, p->scratch, lane);
    for (size_t line = 0; line < p->plan.lines; line += p->plan.chunk_lines) {
        size_t end = nn_min(line + p->plan.chunk_lines, p->plan.lines);
        nn_conv_tap_columns(conv, line, end, tap / conv->kernel_w, tap % conv->kernel_w, p->x,
                            p->ldx, scratch);
        struct nn_gemm gemm = {.m = conv->channels, .n = conv->filters};
        gemm.k = (end - line) * conv->out_width;
        gemm.a = scratch;
        gemm.lda = conv->channels;
        gemm.transpose_a = true;
        gemm.b = p->d_y + line * conv->out_width * p->ldd_y;
        gemm.ldb = p->ldd_y;
        gemm.c = p->d_w + tap * conv->channels * conv->filters;
        gemm.ldc = conv->filters;
        gemm.accumulate = true;
        nn_gemm_serial(p->exec, &gemm);
    }
}

static void make_chunk(void *ctx, size_t chunk, size_t lane)
{
    (void)lane;
    const struct weight_run *p = ctx;
    size_t line = chunk * p->plan.chunk_lines;
    make_rows(p, line, nn_min(line + p->plan.chunk_lines, p->plan.lines));
}

static void weight_pointwise(const struct weight_run *p)
{
    struct nn_gemm gemm = {.m = p->conv->channels, .n = p->conv->filters};
    gemm.k = p->plan.lines * p->conv->out_width;
    gemm.a = p->x;
    gemm.lda = p->ldx;
    gemm.transpose_a = true;
    gemm.b = p->d_y;
    gemm.ldb = p->ldd_y;
    gemm.c = p->d_w;
    gemm.ldc = p->conv->filters;
    gemm.accumulate = true;
    nn_gemm(p->exec, &gemm);
}

void nn_conv2d_weight_gradient(const struct nn_exec *exec, const struct nn_conv2d *conv,
                               nn_real *d_w, const nn_real *x, size_t ldx, const nn_real *d_y,
                               size_t ldd_y, const struct nn_rows_source *source)
{
    if (nn_conv_grouped(conv)) {
        nn_conv_groups_weight(exec, conv, d_w, x, ldx, d_y, ldd_y, source);
        return;
    }
    struct weight_run run = {.exec = exec, .conv = conv, .x = x, .d_y = d_y, .ldx = ldx};
    run.ldd_y = ldd_y;
    run.source = source;
    run.plan = nn_conv_plan_of(conv);
    run.d_w = d_w;
    run.ldw = copy_width(conv);
    run.scratch = nn_conv_scratch(conv, &run.plan);
    if (run.plan.chunks == 0) {
        return;
    }
    if (is_sliced(conv, &run.plan)) {
        run.slices = slices_of(&run.plan);
        run.copy_bytes = copy_bytes(conv, &run.plan);
        nn_parallel_for(exec->pool, run.slices, weight_slice, &run);
        add_copies(&run);
        return;
    }
    nn_parallel_for(exec->pool, run.plan.chunks, make_chunk, &run);
    if (run.plan.way == NN_CONV_POINTWISE) {
        weight_pointwise(&run);
    } else {
        nn_parallel_for(exec->pool, conv->kernel_h * conv->kernel_w, weight_tap, &run);
    }
}

/* ---- d_x ---- */

struct input_run {
    const struct nn_exec *exec;
    const struct nn_conv2d *conv;
    nn_real *d_x;
    const nn_real *d_y, *w;
    size_t ldd_x, ldd_y;
    bool accumulate;
    size_t block_lines, scratch;
};

/* Lines of one image that are multiplied out at a time. */
static size_t input_lines(const struct nn_conv2d *conv)
{
    size_t depth = conv->kernel_h * conv->kernel_w * conv->channels;
    size_t pixels = nn_min(512, nn_max(64, ((size_t)1 << 20) / depth));
    return nn_min(conv->out_height, nn_max(1, pixels / nn_max(1, conv->out_width)));
}

static size_t input_scratch(const struct nn_conv2d *conv)
{
    size_t depth = conv->kernel_h * conv->kernel_w * conv->channels;
    return nn_bytes(input_lines(conv) * conv->out_width * depth, sizeof(nn_real));
}

/* Adds the column row of one window to the image; d_x is the image's. */
static void add_window(const struct input_run *p, nn_real *d_x, const nn_real *column, size_t i,
                       size_t j)
{
    const struct nn_conv2d *c = p->conv;
    for (size_t u = 0; u < c->kernel_h; u++) {
        size_t h = i * c->stride_h + u * c->dilation_h;
        if (h < c->pad_top || h - c->pad_top >= c->height) {
            continue;
        }
        for (size_t v = 0; v < c->kernel_w; v++) {
            size_t q = j * c->stride_w + v * c->dilation_w;
            if (q < c->pad_left || q - c->pad_left >= c->width) {
                continue;
            }
            size_t pixel = (h - c->pad_top) * c->width + q - c->pad_left;
            struct nn_map_args args = {.rows = 1, .columns = c->channels, .accumulate = true};
            args.y = d_x + pixel * p->ldd_x;
            args.a = column + (u * c->kernel_w + v) * c->channels;
            p->exec->kernels->copy(&args);
        }
    }
}

static void input_image(void *ctx, size_t image, size_t lane)
{
    const struct input_run *p = ctx;
    const struct nn_conv2d *c = p->conv;
    size_t depth = c->kernel_h * c->kernel_w * c->channels;
    nn_real *columns = nn_workspace_piece(p->exec, 0, p->scratch, lane);
    nn_real *d_x = p->d_x + image * c->height * c->width * p->ldd_x;
    for (size_t r = 0; r < c->height * c->width && !p->accumulate; r++) {
        memset(d_x + r * p->ldd_x, 0, c->channels * sizeof *d_x);
    }
    for (size_t line = 0; line < c->out_height; line += p->block_lines) {
        size_t end = nn_min(line + p->block_lines, c->out_height);
        size_t row = (image * c->out_height + line) * c->out_width;
        struct nn_gemm gemm = {.n = depth, .k = c->filters, .transpose_b = true};
        gemm.m = (end - line) * c->out_width;
        gemm.a = p->d_y + row * p->ldd_y;
        gemm.lda = p->ldd_y;
        gemm.b = p->w;
        gemm.ldb = c->filters;
        gemm.c = columns;
        gemm.ldc = depth;
        nn_gemm_serial(p->exec, &gemm);
        for (size_t r = 0; r < gemm.m; r++) {
            add_window(p, d_x, columns + r * depth, line + r / c->out_width, r % c->out_width);
        }
    }
}

void nn_conv2d_input_gradient(const struct nn_exec *exec, const struct nn_conv2d *conv,
                              nn_real *d_x, size_t ldd_x, bool accumulate, const nn_real *d_y,
                              size_t ldd_y, const struct nn_conv2d_weights *weights)
{
    struct nn_conv2d mirrored;
    if (conv->depthwise) {
        nn_conv_depthwise_input(exec, conv, d_x, ldd_x, accumulate, d_y, ldd_y,
                                weights->packed.panels);
        return;
    }
    if (nn_conv_grouped(conv)) {
        nn_conv_groups_input(exec, conv, d_x, ldd_x, accumulate, d_y, ldd_y, weights);
        return;
    }
    if (nn_conv_mirrored(conv, &mirrored)) {
        struct nn_conv2d_output output = {.ldy = ldd_x, .accumulate = accumulate};
        output.y = d_x;
        nn_conv2d_forward(exec, &mirrored, &output, d_y, ldd_y, weights);
        return;
    }
    struct input_run run = {.exec = exec, .conv = conv, .d_y = d_y, .w = weights->w};
    run.d_x = d_x;
    run.ldd_x = ldd_x;
    run.ldd_y = ldd_y;
    run.accumulate = accumulate;
    run.block_lines = input_lines(conv);
    run.scratch = input_scratch(conv);
    nn_parallel_for(exec->pool, conv->batch, input_image, &run);
}

size_t nn_conv2d_workspace(const struct nn_conv2d *conv, size_t lanes)
{
    if (nn_conv_grouped(conv)) {
        return nn_conv_groups_workspace(conv, lanes);
    }
    struct nn_conv_plan plan = nn_conv_plan_of(conv);
    size_t scratch = nn_conv_scratch(conv, &plan), forward = lanes * scratch;
    size_t weight = forward, input = 0;
    struct nn_conv2d mirrored;
    if (plan.way == NN_CONV_POINTWISE) {
        size_t rows = plan.lines * conv->out_width;
        weight = nn_gemm_workspace(conv->channels, conv->filters, rows, lanes);
    } else if (plan.chunks > 0 && is_sliced(conv, &plan)) {
        weight += slices_of(&plan) * copy_bytes(conv, &plan);
    }
    if (conv->depthwise) {
        input = lanes * nn_conv_depthwise_input_scratch(conv);
    } else if (nn_conv_mirrored(conv, &mirrored)) {
        struct nn_conv_plan back = nn_conv_plan_of(&mirrored);
        input = lanes * nn_conv_scratch(&mirrored, &back);
    } else {
        input = lanes * input_scratch(conv);
    }
    return nn_max(forward, nn_max(weight, input));
}
