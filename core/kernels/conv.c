/* SPDX-License-Identifier: MIT
 *
 * Convolution: the choice of the way, weights, the forward pass. The gradients are in
 * conv_gradient.c.
 */
#include "core/kernels/conv_internal.h"

#include <string.h>

#include "core/kernels/gemm_internal.h"
#include "core/kernels/norm_internal.h"
#include "core/kernels/table.h"

#define DIRECT_CHANNELS 4
#define DIRECT_WEIGHTS  8192              /* numbers; padded weights stay in the first cache */
#define PLAIN_PIXELS    1024              /* a chunk without columns */
#define COLUMNS_COUNT   ((size_t)1 << 20) /* numbers of a chunk's columns */
#define DEPTHWISE_COUNT ((size_t)1 << 16) /* numbers of a chunk's output */

size_t nn_conv2d_out_size(size_t size, size_t kernel, size_t stride, size_t pad_before,
                          size_t pad_after)
{
    size_t padded = size + pad_before + pad_after;
    return padded < kernel ? 0 : (padded - kernel) / stride + 1;
}

static bool is_bordered(const struct nn_conv2d *c)
{
    return c->pad_top > 0 || c->pad_left > 0 ||
           (c->out_height - 1) * c->stride_h + nn_conv_span_h(c) > c->height ||
           (c->out_width - 1) * c->stride_w + nn_conv_span_w(c) > c->width;
}

static enum nn_conv_way way_of(const struct nn_conv2d *c, size_t depth, bool bordered)
{
    if (c->depthwise) {
        return NN_CONV_DEPTHWISE;
    }
    if (c->kernel_h * c->kernel_w == 1 && c->stride_h == 1 && c->stride_w == 1 && !bordered &&
        c->out_height == c->height && c->out_width == c->width) {
        return NN_CONV_POINTWISE;
    }
    bool few = c->channels <= DIRECT_CHANNELS && depth <= NN_CONV_DIRECT_TAPS &&
               depth * nn_round_up(c->filters, NN_LINE) <= DIRECT_WEIGHTS;
    return few ? NN_CONV_DIRECT : NN_CONV_COLUMNS;
}

static size_t pixels_per_chunk(enum nn_conv_way way, size_t depth, size_t channels)
{
    if (way == NN_CONV_DEPTHWISE) {
        return nn_max(128, DEPTHWISE_COUNT / channels);
    }
    if (way != NN_CONV_COLUMNS) {
        return PLAIN_PIXELS;
    }
    return nn_min(512, nn_max(128, COLUMNS_COUNT / depth));
}

struct nn_conv_plan nn_conv_plan_of(const struct nn_conv2d *conv)
{
    size_t area = conv->kernel_h * conv->kernel_w;
    struct nn_conv_plan plan = {.depth = conv->depthwise ? area : area * conv->channels,
                                .lines = conv->batch * conv->out_height};
    if (plan.lines == 0 || conv->out_width == 0) {
        plan.lines = 0;
        return plan;
    }
    plan.bordered = is_bordered(conv);
    plan.way = way_of(conv, plan.depth, plan.bordered);
    size_t lines =
        nn_max(1, pixels_per_chunk(plan.way, plan.depth, conv->channels) / conv->out_width);
    if (lines > conv->out_height) {
        lines -= lines % conv->out_height;
    }
    plan.chunk_lines = nn_min(lines, plan.lines);
    plan.chunks = nn_div_up(plan.lines, plan.chunk_lines);
    return plan;
}

size_t nn_conv2d_chunks(const struct nn_conv2d *conv)
{
    const struct nn_conv2d group = nn_conv_group(conv);
    return nn_conv_plan_of(&group).chunks;
}

/* ---- weights ---- */

bool nn_conv_mirrored(const struct nn_conv2d *c, struct nn_conv2d *out_mirrored)
{
    if (c->stride_h != 1 || c->stride_w != 1 || c->pad_top >= nn_conv_span_h(c) ||
        c->pad_left >= nn_conv_span_w(c)) {
        return false;
    }
    *out_mirrored = (struct nn_conv2d){.batch = c->batch,
                                       .height = c->out_height,
                                       .width = c->out_width,
                                       .channels = c->filters,
                                       .filters = c->channels,
                                       .kernel_h = c->kernel_h,
                                       .kernel_w = c->kernel_w,
                                       .stride_h = 1,
                                       .stride_w = 1,
                                       .pad_top = nn_conv_span_h(c) - 1 - c->pad_top,
                                       .pad_left = nn_conv_span_w(c) - 1 - c->pad_left,
                                       .out_height = c->height,
                                       .out_width = c->width,
                                       .dilation_h = c->dilation_h,
                                       .dilation_w = c->dilation_w};
    return true;
}

size_t nn_conv2d_pack_count(const struct nn_conv2d *conv)
{
    size_t area = conv->kernel_h * conv->kernel_w;
    if (conv->depthwise) {
        return area * conv->channels;
    }
    if (nn_conv_grouped(conv)) {
        return nn_conv_groups_pack_count(conv);
    }
    return area * nn_max(conv->channels * nn_round_up(conv->filters, NN_LINE),
                         conv->filters * nn_round_up(conv->channels, NN_LINE));
}

/* panels [depth, padded filters] from w [depth, filters]. */
void nn_conv2d_pack_forward(const struct nn_exec *exec, const struct nn_conv2d *conv,
                            struct nn_conv2d_weights *out_weights, nn_real *storage,
                            const nn_real *w)
{
    struct nn_conv_plan plan = nn_conv_plan_of(conv);
    struct nn_packed *packed = &out_weights->packed;
    *out_weights = (struct nn_conv2d_weights){.w = w, .storage = storage};
    if (nn_conv_grouped(conv)) {
        return;
    }
    if (conv->depthwise) { /* read as it is */
        *packed = (struct nn_packed){.panels = w};
        return;
    }
    nn_gemm_pack(exec, packed, storage, w, conv->filters, false, plan.depth, conv->filters);
    if (plan.way == NN_CONV_DIRECT && !packed->panels) {
        size_t width = nn_round_up(conv->filters, NN_LINE);
        for (size_t t = 0; t < plan.depth; t++) {
            memcpy(storage + t * width, w + t * conv->filters, conv->filters * sizeof *w);
            memset(storage + t * width + conv->filters, 0, (width - conv->filters) * sizeof *w);
        }
        packed->panels = storage;
    }
}

/* mirrored[u,v,o,c] = w[kernel_h - 1 - u, kernel_w - 1 - v, c, o], rows padded to whole lines. */
static void mirror_weights(const struct nn_conv2d *conv, nn_real *mirrored, const nn_real *w)
{
    size_t area = conv->kernel_h * conv->kernel_w, width = nn_round_up(conv->channels, NN_LINE);
    for (size_t t = 0; t < area; t++) {
        const nn_real *src = w + (area - 1 - t) * conv->channels * conv->filters;
        for (size_t o = 0; o < conv->filters; o++, mirrored += width) {
            for (size_t c = 0; c < conv->channels; c++) {
                mirrored[c] = src[c * conv->filters + o];
            }
            memset(mirrored + conv->channels, 0, (width - conv->channels) * sizeof *mirrored);
        }
    }
}

void nn_conv2d_pack_backward(const struct nn_exec *exec, const struct nn_conv2d *conv,
                             struct nn_conv2d_weights *out_weights, nn_real *storage,
                             const nn_real *w)
{
    struct nn_conv2d mirrored;
    *out_weights = (struct nn_conv2d_weights){.w = w, .storage = storage};
    if (nn_conv_grouped(conv)) {
        return;
    }
    if (conv->depthwise) {
        size_t area = conv->kernel_h * conv->kernel_w;
        for (size_t t = 0; t < area; t++) {
            memcpy(storage + t * conv->channels, w + (area - 1 - t) * conv->channels,
                   conv->channels * sizeof *w);
        }
        out_weights->packed.panels = storage;
        return;
    }
    if (!nn_conv_mirrored(conv, &mirrored)) {
        return;
    }
    struct nn_conv_plan plan = nn_conv_plan_of(&mirrored);
    size_t width = nn_round_up(conv->channels, NN_LINE);
    mirror_weights(conv, storage, w);
    struct nn_packed *packed = &out_weights->packed;
    *packed =
        (struct nn_packed){.k = plan.depth, .n = mirrored.filters, .b = storage, .ldb = width};
    if (plan.way == NN_CONV_DIRECT || nn_gemm_reads_panels(exec, mirrored.filters)) {
        packed->panels = storage; /* the same layout */
    }
}

/* ---- forward ---- */

struct conv_run {
    const struct nn_exec *exec;
    const struct nn_conv2d *conv;
    const struct nn_conv2d_output *output;
    const nn_real *x;
    size_t ldx;
    const struct nn_conv2d_weights *weights;
    struct nn_conv_plan plan;
    size_t scratch;
};

static void run_direct(const struct conv_run *p, size_t line, size_t end, nn_real *scratch)
{
    const struct nn_conv2d *conv = p->conv;
    struct nn_conv_source source;
    while (line < end) {
        struct nn_conv_part part = nn_conv_part_at(conv, line, end);
        nn_conv_source_of(conv, &p->plan, part, p->x, p->ldx, scratch, &source);
        struct nn_conv_forward_args args = {.rows = part.lines, .width = conv->out_width};
        args.taps = p->plan.depth;
        args.filters = conv->filters;
        args.y = p->output->y + line * conv->out_width * p->output->ldy;
        args.x = source.x;
        args.w = p->weights->packed.panels;
        args.bias = p->output->bias;
        args.ldy = p->output->ldy;
        args.x_row = source.x_row;
        args.x_column = source.x_column;
        args.ldw = nn_round_up(conv->filters, NN_LINE);
        args.offsets = source.offsets;
        args.relu = p->output->activation == NN_ACTIVATION_RELU;
        args.accumulate = p->output->accumulate;
        p->exec->kernels->conv_forward(&args);
        line += part.lines;
    }
}

static void run_product(const struct conv_run *p, size_t line, size_t end, nn_real *scratch)
{
    const struct nn_conv2d *conv = p->conv;
    const struct nn_exec serial = {.kernels = p->exec->kernels};
    const struct nn_epilogue epilogue = {.bias = p->output->bias,
                                         .activation = p->output->activation,
                                         .accumulate = p->output->accumulate};
    size_t row = line * conv->out_width, rows = (end - line) * conv->out_width;
    const nn_real *x = p->x + row * p->ldx;
    size_t ldx = p->ldx;
    if (p->plan.way == NN_CONV_COLUMNS) {
        nn_conv_columns(conv, line, end, p->x, p->ldx, scratch);
        x = scratch;
        ldx = p->plan.depth;
    }
    nn_gemm_packed(&serial, p->output->y + row * p->output->ldy, p->output->ldy, x, ldx, rows,
                   &p->weights->packed, &epilogue);
}

void nn_conv_moments(const struct nn_exec *exec, const struct nn_conv2d *conv,
                     const struct nn_conv2d_output *output, size_t chunk, size_t line, size_t end)
{
    size_t filters = conv->filters, width = conv->out_width;
    double *moments = output->moments + chunk * (1 + 2 * filters);
    const nn_real *y = output->y + line * width * output->ldy;
    nn_moments_of_rows(exec, moments, y, output->ldy, (end - line) * width, filters);
}

static void run_chunk(void *ctx, size_t chunk, size_t lane)
{
    const struct conv_run *p = ctx;
    size_t line = chunk * p->plan.chunk_lines;
    size_t end = nn_min(line + p->plan.chunk_lines, p->plan.lines);
    nn_real *scratch = nn_workspace_piece(p->exec, 0, p->scratch, lane);
    if (p->plan.way == NN_CONV_DEPTHWISE) {
        struct nn_conv_chunk part = {p->exec, p->conv, &p->plan, line, end, p->x, p->ldx, scratch};
        nn_conv_depthwise_forward(&part, p->output, p->weights->packed.panels);
    } else if (p->plan.way == NN_CONV_DIRECT) {
        run_direct(p, line, end, scratch);
    } else {
        run_product(p, line, end, scratch);
    }
    if (p->output->moments) {
        nn_conv_moments(p->exec, p->conv, p->output, chunk, line, end);
    }
}

void nn_conv2d_forward(const struct nn_exec *exec, const struct nn_conv2d *conv,
                       const struct nn_conv2d_output *output, const nn_real *x, size_t ldx,
                       const struct nn_conv2d_weights *weights)
{
    if (nn_conv_grouped(conv)) {
        nn_conv_groups_forward(exec, conv, output, x, ldx, weights);
        return;
    }
    struct conv_run run = {.exec = exec, .conv = conv, .output = output, .x = x, .ldx = ldx};
    run.weights = weights;
    run.plan = nn_conv_plan_of(conv);
    run.scratch = nn_conv_scratch(conv, &run.plan);
    nn_parallel_for(exec->pool, run.plan.chunks, run_chunk, &run);
}
