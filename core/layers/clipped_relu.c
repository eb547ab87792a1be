/* SPDX-License-Identifier: MIT
 *
 * clipped_relu: y = min(max(x, 0), ceiling), NaN stays NaN; with a ceiling of 6 the ReLU6 of the
 * networks for small devices. Backward asks the output, so it runs in place.
 */
#include "core/layers/kinds_internal.h"

struct options {
    double ceiling;
};

static const struct jx_field FIELDS[] = {
    {.name = "ceiling",
     .type = JX_REAL,
     .offset = offsetof(struct options, ceiling),
     .min = 0,
     .max = 1e6,
     .above_min = true,
     .fallback = "6",
     .doc = "the largest value"},
    JX_END,
};

static nn_real ceiling_of(const struct nn_pass *pass)
{
    return (nn_real)((const struct options *)pass->layers[0]->layer->options)->ceiling;
}

static enum nn_status plan(const struct nn_layer *layer, const struct nn_layer_input *in,
                           size_t n_in, const struct nn_network_bind *bind,
                           struct nn_layer_plan *out, struct nn_layer_issue *issue)
{
    (void)layer;
    (void)n_in;
    (void)bind;
    (void)issue;
    *out = (struct nn_layer_plan){.out = in[0].shape, .image = in[0].image};
    return NN_OK;
}

const struct nn_layer_kind nn_kind_clipped_relu = {
    .name = "clipped_relu",
    .doc = "negative values become 0, large ones the ceiling",
    .fields = FIELDS,
    .options_size = sizeof(struct options),
    .min_inputs = 1,
    .max_inputs = 1,
    .behind_flatten = true,
    .on_sequences = NN_SEQUENCES_BY_STEP,
    .plan = plan,
};

static size_t rows_of(const struct nn_pass *pass, const struct nn_run *run)
{
    return run->batch * pass->out.height * pass->out.width;
}

static void plan_pass(const struct nn_pass *pass, size_t lanes, struct nn_pass_plan *out)
{
    (void)pass;
    (void)lanes;
    out->needs_output = true;
    out->in_place = true;
    out->gradient_in_place = true;
}

static void forward(const struct nn_pass *pass, const struct nn_run *run, const struct nn_view *x,
                    struct nn_view y)
{
    nn_clip_forward(run->exec, y.data, y.ld, x[0].data, x[0].ld, rows_of(pass, run),
                    pass->out.channels, ceiling_of(pass));
}

static void backward(const struct nn_pass *pass, const struct nn_run *run,
                     const struct nn_backward *args)
{
    struct nn_relu_gradient grad = {
        .d_x = args->d_x[0].view.data,
        .ldd_x = args->d_x[0].view.ld,
        .accumulate = args->d_x[0].add,
        .d_y = args->d_y.data,
        .ldd_y = args->d_y.ld,
        .y = args->y.data,
        .ldy = args->y.ld,
        .rows = rows_of(pass, run),
        .columns = pass->out.channels,
    };
    nn_clip_gradient(run->exec, &grad, ceiling_of(pass));
}

const struct nn_operator nn_op_clipped_relu = {
    .name = "clipped_relu",
    .pattern = {"clipped_relu"},
    .plan = plan_pass,
    .forward = forward,
    .backward = backward,
};
