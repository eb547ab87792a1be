/* SPDX-License-Identifier: MIT
 *
 * relu: y = max(x, 0), NaN stays NaN; clipped_relu: y = min(max(x, 0), ceiling), with a ceiling of
 * 6 the ReLU6 of the networks for small devices. Backward asks the output, so both run in place.
 */
#include "core/layers/kinds_internal.h"
#include "core/layers/shape_internal.h"

struct clipped_options {
    double ceiling;
};

static const struct jx_field FIELDS[] = {JX_END};

static const struct jx_field CLIPPED_FIELDS[] = {
    {.name = "ceiling",
     .type = JX_REAL,
     .offset = offsetof(struct clipped_options, ceiling),
     .min = 0,
     .max = 1e6,
     .above_min = true,
     .fallback = "6",
     .doc = "the largest value"},
    JX_END,
};

const struct nn_layer_kind nn_kind_relu = {
    .name = "relu",
    .doc = "negative values become 0",
    .fields = FIELDS,
    .options_size = 0,
    .min_inputs = 1,
    .max_inputs = 1,
    .behind_flatten = true,
    .on_sequences = NN_SEQUENCES_BY_STEP,
    .plan = nn_same_shape_plan,
};

const struct nn_layer_kind nn_kind_clipped_relu = {
    .name = "clipped_relu",
    .doc = "negative values become 0, large ones the ceiling",
    .fields = CLIPPED_FIELDS,
    .options_size = sizeof(struct clipped_options),
    .min_inputs = 1,
    .max_inputs = 1,
    .behind_flatten = true,
    .on_sequences = NN_SEQUENCES_BY_STEP,
    .plan = nn_same_shape_plan,
};

static void plan_pass(const struct nn_pass *pass, size_t lanes, struct nn_pass_plan *out)
{
    (void)pass;
    (void)lanes;
    out->needs_output = true;
    out->in_place = true;
    out->gradient_in_place = true;
}

static nn_real ceiling_of(const struct nn_pass *pass)
{
    return (nn_real)((const struct clipped_options *)pass->layers[0]->layer->options)->ceiling;
}

static struct nn_relu_gradient gradient_of(const struct nn_pass *pass, const struct nn_run *run,
                                           const struct nn_backward *args)
{
    return (struct nn_relu_gradient){
        .d_x = args->d_x[0].view.data,
        .ldd_x = args->d_x[0].view.ld,
        .accumulate = args->d_x[0].add,
        .d_y = args->d_y.data,
        .ldd_y = args->d_y.ld,
        .y = args->y.data,
        .ldy = args->y.ld,
        .rows = nn_pass_rows(pass, run->batch),
        .columns = pass->out.channels,
    };
}

static void forward(const struct nn_pass *pass, const struct nn_run *run, const struct nn_view *x,
                    struct nn_view y)
{
    nn_relu_forward(run->exec, y.data, y.ld, x[0].data, x[0].ld, nn_pass_rows(pass, run->batch),
                    pass->out.channels);
}

static void backward(const struct nn_pass *pass, const struct nn_run *run,
                     const struct nn_backward *args)
{
    struct nn_relu_gradient grad = gradient_of(pass, run, args);
    nn_relu_gradient(run->exec, &grad);
}

static void forward_clipped(const struct nn_pass *pass, const struct nn_run *run,
                            const struct nn_view *x, struct nn_view y)
{
    nn_clip_forward(run->exec, y.data, y.ld, x[0].data, x[0].ld, nn_pass_rows(pass, run->batch),
                    pass->out.channels, ceiling_of(pass));
}

static void backward_clipped(const struct nn_pass *pass, const struct nn_run *run,
                             const struct nn_backward *args)
{
    struct nn_relu_gradient grad = gradient_of(pass, run, args);
    nn_clip_gradient(run->exec, &grad, ceiling_of(pass));
}

const struct nn_operator nn_op_relu = {
    .name = "relu",
    .pattern = {"relu"},
    .plan = plan_pass,
    .forward = forward,
    .backward = backward,
};

const struct nn_operator nn_op_clipped_relu = {
    .name = "clipped_relu",
    .pattern = {"clipped_relu"},
    .plan = plan_pass,
    .forward = forward_clipped,
    .backward = backward_clipped,
};
