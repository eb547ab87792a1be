/* SPDX-License-Identifier: MIT
 *
 * local_response_norm: each value divided by a power of the squares of its neighbours across
 * channels, as in the networks of 2012 to 2014; the formula stands in core/kernels/lrn.h.
 */
#include "core/layers/kinds_internal.h"
#include "core/layers/shape_internal.h"

struct options {
    size_t size;
    double alpha, beta, k;
};

static const struct jx_field FIELDS[] = {
    {.name = "size",
     .type = JX_SIZE,
     .offset = offsetof(struct options, size),
     .min = 1,
     .max = 65536,
     .fallback = "5",
     .doc = "channels whose squares count, itself in the middle"},
    {.name = "alpha",
     .type = JX_REAL,
     .offset = offsetof(struct options, alpha),
     .min = 0,
     .max = 1e6,
     .fallback = "0.0001",
     .doc = "times the mean of the squares"},
    {.name = "beta",
     .type = JX_REAL,
     .offset = offsetof(struct options, beta),
     .min = 0,
     .max = 16,
     .fallback = "0.75",
     .doc = "the power"},
    {.name = "k",
     .type = JX_REAL,
     .offset = offsetof(struct options, k),
     .min = 0,
     .max = 1e6,
     .above_min = true,
     .fallback = "1",
     .doc = "added to the squares"},
    JX_END,
};

const struct nn_layer_kind nn_kind_local_response_norm = {
    .name = "local_response_norm",
    .doc = "values divided by a power of their neighbours' squares across channels",
    .fields = FIELDS,
    .options_size = sizeof(struct options),
    .min_inputs = 1,
    .max_inputs = 1,
    .plan = nn_same_shape_plan,
};

static struct nn_lrn sizes(const struct nn_pass *pass, size_t batch)
{
    const struct options *options = pass->layers[0]->layer->options;
    return (struct nn_lrn){.rows = nn_pass_rows(pass, batch),
                           .channels = pass->out.channels,
                           .size = options->size,
                           .alpha = (nn_real)options->alpha,
                           .beta = (nn_real)options->beta,
                           .k = (nn_real)options->k};
}

static void plan_pass(const struct nn_pass *pass, size_t lanes, struct nn_pass_plan *out)
{
    size_t rows = nn_pass_rows(pass, pass->max_batch);
    out->workspace_bytes = nn_lrn_workspace(pass->out.channels, lanes);
    out->saved_bytes = pass->backward ? nn_bytes(rows * pass->out.channels) : 0;
    out->needs_input = true;
}

static void forward(const struct nn_pass *pass, const struct nn_run *run, const struct nn_view *x,
                    struct nn_view y)
{
    struct nn_lrn lrn = sizes(pass, run->batch);
    nn_lrn_forward(run->exec, &lrn, y.data, y.ld, pass->backward ? pass->saved : NULL, x[0].data,
                   x[0].ld);
}

static void backward(const struct nn_pass *pass, const struct nn_run *run,
                     const struct nn_backward *args)
{
    struct nn_lrn lrn = sizes(pass, run->batch);
    const struct nn_lrn_gradient gradient = {.d_x = args->d_x[0].view.data,
                                             .ldd_x = args->d_x[0].view.ld,
                                             .accumulate = args->d_x[0].add,
                                             .d_y = args->d_y.data,
                                             .ldd_y = args->d_y.ld,
                                             .x = args->x[0].data,
                                             .ldx = args->x[0].ld,
                                             .sums = pass->saved};
    nn_lrn_gradient(run->exec, &lrn, &gradient);
}

const struct nn_operator nn_op_local_response_norm = {
    .name = "local_response_norm",
    .pattern = {"local_response_norm"},
    .plan = plan_pass,
    .forward = forward,
    .backward = backward,
};
