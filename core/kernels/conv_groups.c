/* SPDX-License-Identifier: MIT
 *
 * Convolution in groups: group after group, each a convolution of its own on its columns of x and
 * y. Its weights, a run of columns of w, are gathered first, so that products read them densely.
 */
#include "core/kernels/conv_internal.h"

#include <string.h>

struct nn_conv2d nn_conv_group(const struct nn_conv2d *conv)
{
    struct nn_conv2d group = *conv;
    if (nn_conv_grouped(conv)) {
        group.channels /= conv->groups;
        group.filters /= conv->groups;
        group.groups = 1;
    }
    return group;
}

/* Rows of the weights: each has a number for every filter. */
static size_t depth_of(const struct nn_conv2d *group)
{
    return group->kernel_h * group->kernel_w * group->channels;
}

/* Numbers of a group's gathered weights, in whole lines. */
static size_t gathered_count(const struct nn_conv2d *group)
{
    return nn_round_up(depth_of(group) * group->filters, NN_LINE);
}

size_t nn_conv_groups_pack_count(const struct nn_conv2d *conv)
{
    const struct nn_conv2d group = nn_conv_group(conv);
    return gathered_count(&group) + nn_conv2d_pack_count(&group);
}

/* dense = the columns of group g. */
static void gather(nn_real *dense, const struct nn_conv2d *conv, const struct nn_conv2d *group,
                   const nn_real *w, size_t g)
{
    for (size_t t = 0; t < depth_of(group); t++) {
        memcpy(dense + t * group->filters, w + t * conv->filters + g * group->filters,
               group->filters * sizeof *dense);
    }
}

/* Moments of all filters, in the chunks of one group. */
struct moments_run {
    const struct nn_exec *exec;
    const struct nn_conv2d *conv;
    const struct nn_conv2d_output *output;
    struct nn_conv_plan plan;
};

static void moments_chunk(void *ctx, size_t chunk, size_t lane)
{
    (void)lane;
    const struct moments_run *p = ctx;
    size_t line = chunk * p->plan.chunk_lines;
    nn_conv_moments(p->exec, p->conv, p->output, chunk, line,
                    nn_min(line + p->plan.chunk_lines, p->plan.lines));
}

void nn_conv_groups_forward(const struct nn_exec *exec, const struct nn_conv2d *conv,
                            const struct nn_conv2d_output *output, const nn_real *x, size_t ldx,
                            const struct nn_conv2d_weights *weights)
{
    const struct nn_conv2d group = nn_conv_group(conv);
    nn_real *dense = weights->storage, *storage = dense + gathered_count(&group);
    for (size_t g = 0; g < conv->groups; g++) {
        struct nn_conv2d_output part = *output;
        struct nn_conv2d_weights packed;
        part.y += g * group.filters;
        part.bias = output->bias ? output->bias + g * group.filters : NULL;
        part.moments = NULL;
        gather(dense, conv, &group, weights->w, g);
        nn_conv2d_pack_forward(exec, &group, &packed, storage, dense);
        nn_conv2d_forward(exec, &group, &part, x + g * group.channels, ldx, &packed);
    }
    if (output->moments) {
        struct moments_run run = {exec, conv, output, nn_conv_plan_of(&group)};
        nn_parallel_for(exec->pool, run.plan.chunks, moments_chunk, &run);
    }
}

void nn_conv_groups_input(const struct nn_exec *exec, const struct nn_conv2d *conv, nn_real *d_x,
                          size_t ldd_x, bool accumulate, const nn_real *d_y, size_t ldd_y,
                          const struct nn_conv2d_weights *weights)
{
    const struct nn_conv2d group = nn_conv_group(conv);
    nn_real *dense = weights->storage, *storage = dense + gathered_count(&group);
    for (size_t g = 0; g < conv->groups; g++) {
        struct nn_conv2d_weights packed;
        gather(dense, conv, &group, weights->w, g);
        nn_conv2d_pack_backward(exec, &group, &packed, storage, dense);
        nn_conv2d_input_gradient(exec, &group, d_x + g * group.channels, ldd_x, accumulate,
                                 d_y + g * group.filters, ldd_y, &packed);
    }
}

/* The rows that a source makes have all filters, so they are made before the first group. */
struct make_run {
    const struct nn_rows_source *source;
    struct nn_conv_plan plan;
    size_t width;
};

static void make_chunk(void *ctx, size_t chunk, size_t lane)
{
    (void)lane;
    const struct make_run *p = ctx;
    size_t line = chunk * p->plan.chunk_lines;
    size_t end = nn_min(line + p->plan.chunk_lines, p->plan.lines);
    p->source->make(p->source->ctx, line * p->width, (end - line) * p->width);
}

/* d_w's columns of group g += dense. */
static void scatter(nn_real *d_w, const struct nn_conv2d *conv, const struct nn_conv2d *group,
                    const nn_real *dense, size_t g)
{
    for (size_t t = 0; t < depth_of(group); t++) {
        nn_real *row = d_w + t * conv->filters + g * group->filters;
        for (size_t o = 0; o < group->filters; o++) {
            row[o] += dense[t * group->filters + o];
        }
    }
}

void nn_conv_groups_weight(const struct nn_exec *exec, const struct nn_conv2d *conv, nn_real *d_w,
                           const nn_real *x, size_t ldx, const nn_real *d_y, size_t ldd_y,
                           const struct nn_rows_source *source)
{
    const struct nn_conv2d group = nn_conv_group(conv);
    size_t count = gathered_count(&group), bytes = count * sizeof(nn_real);
    nn_real *dense = exec->workspace;
    struct nn_exec inner = *exec;
    inner.workspace = (char *)exec->workspace + nn_round_up(bytes, 64);
    inner.workspace_bytes -= nn_round_up(bytes, 64);
    if (source) {
        struct make_run run = {source, nn_conv_plan_of(&group), conv->out_width};
        nn_parallel_for(exec->pool, run.plan.chunks, make_chunk, &run);
    }
    for (size_t g = 0; g < conv->groups; g++) {
        memset(dense, 0, bytes);
        nn_conv2d_weight_gradient(&inner, &group, dense, x + g * group.channels, ldx,
                                  d_y + g * group.filters, ldd_y, NULL);
        scatter(d_w, conv, &group, dense, g);
    }
}

size_t nn_conv_groups_workspace(const struct nn_conv2d *conv, size_t lanes)
{
    const struct nn_conv2d group = nn_conv_group(conv);
    return nn_bytes(gathered_count(&group), sizeof(nn_real)) + nn_conv2d_workspace(&group, lanes);
}
