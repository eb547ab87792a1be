/* SPDX-License-Identifier: MIT
 *
 * global_average_pool: the mean of each channel over the image.
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
    *out = (struct nn_layer_plan){
        .out = {1, 1, in[0].shape.channels},
        .multiply_adds = nn_values(in[0].shape),
    };
    return NN_OK;
}

const struct nn_layer_kind nn_kind_global_average_pool = {
    .name = "global_average_pool",
    .doc = "the mean of each channel over the image",
    .fields = FIELDS,
    .options_size = 0,
    .min_inputs = 1,
    .max_inputs = 1,
    .plan = plan,
};

static struct nn_global_pool sizes(const struct nn_pass *pass, const struct nn_run *run)
{
    return (struct nn_global_pool){.batch = run->batch,
                                   .pixels = pass->in[0].height * pass->in[0].width,
                                   .channels = pass->in[0].channels};
}

static void forward(const struct nn_pass *pass, const struct nn_run *run, const struct nn_view *x,
                    struct nn_view y)
{
    struct nn_global_pool pool = sizes(pass, run);
    nn_global_average_forward(run->exec, &pool, y.data, y.ld, x[0].data, x[0].ld);
}

static void backward(const struct nn_pass *pass, const struct nn_run *run,
                     const struct nn_backward *args)
{
    struct nn_global_pool pool = sizes(pass, run);
    nn_global_average_gradient(run->exec, &pool, args->d_x[0].view.data, args->d_x[0].view.ld,
                               args->d_x[0].add, args->d_y.data, args->d_y.ld);
}

const struct nn_operator nn_op_global_average_pool = {
    .name = "global_average_pool",
    .pattern = {"global_average_pool"},
    .plan = nn_bare_pass_plan,
    .forward = forward,
    .backward = backward,
};
