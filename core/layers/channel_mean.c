/* SPDX-License-Identifier: MIT
 *
 * channel_mean: the mean over the channels of each pixel, as one channel.
 */
#include "core/layers/kinds_internal.h"
#include "core/layers/shape_internal.h"

static const struct jx_field FIELDS[] = {JX_END};

static enum nn_status plan(const struct nn_layer *layer, const struct nn_layer_input *in,
                           size_t n_in, const struct nn_network_bind *bind,
                           struct nn_layer_plan *out, struct nn_layer_issue *issue)
{
    (void)layer;
    (void)n_in;
    (void)bind;
    (void)issue;
    struct nn_shape shape = {in[0].shape.height, in[0].shape.width, 1};
    *out = (struct nn_layer_plan){.out = shape, .multiply_adds = nn_values(in[0].shape)};
    return NN_OK;
}

const struct nn_layer_kind nn_kind_channel_mean = {
    .name = "channel_mean",
    .doc = "the mean over the channels of each pixel",
    .fields = FIELDS,
    .options_size = 0,
    .min_inputs = 1,
    .max_inputs = 1,
    .behind_flatten = true,
    .on_sequences = NN_SEQUENCES_BY_STEP,
    .plan = plan,
};

static void forward(const struct nn_pass *pass, const struct nn_run *run, const struct nn_view *x,
                    struct nn_view y)
{
    const struct nn_operands args = {.y = y.data, .a = x[0].data, .ldy = y.ld, .lda = x[0].ld};
    nn_channel_mean(run->exec, &args, nn_pass_rows(pass, run->batch), pass->in[0].channels);
}

static void backward(const struct nn_pass *pass, const struct nn_run *run,
                     const struct nn_backward *args)
{
    const struct nn_operands o = {.y = args->d_x[0].view.data,
                                  .a = args->d_y.data,
                                  .ldy = args->d_x[0].view.ld,
                                  .lda = args->d_y.ld,
                                  .accumulate = args->d_x[0].add};
    nn_channel_mean_gradient(run->exec, &o, nn_pass_rows(pass, run->batch), pass->in[0].channels);
}

const struct nn_operator nn_op_channel_mean = {
    .name = "channel_mean",
    .pattern = {"channel_mean"},
    .plan = nn_bare_pass_plan,
    .forward = forward,
    .backward = backward,
};
