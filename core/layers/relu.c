/* SPDX-License-Identifier: MIT
 *
 * relu: y = max(x, 0), NaN stays NaN. Backward asks the output's sign, so it runs in place.
 */
#include "core/layers/kinds_internal.h"

static const struct jx_field FIELDS[] = {JX_END};

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

const struct nn_layer_kind nn_kind_relu = {
    .name = "relu",
    .doc = "negative values become 0",
    .fields = FIELDS,
    .options_size = 0,
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
    nn_relu_forward(run->exec, y.data, y.ld, x[0].data, x[0].ld, rows_of(pass, run),
                    pass->out.channels);
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
    nn_relu_gradient(run->exec, &grad);
}

const struct nn_operator nn_op_relu = {
    .name = "relu",
    .pattern = {"relu"},
    .plan = plan_pass,
    .forward = forward,
    .backward = backward,
};
