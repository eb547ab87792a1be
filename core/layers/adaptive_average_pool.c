/* SPDX-License-Identifier: MIT
 *
 * adaptive_average_pool: means over windows that share out the image, so that the output has a
 * given size whatever the input's.
 */
#include "core/layers/kinds_internal.h"
#include "core/layers/shape_internal.h"

struct options {
    struct jx_ints size;
};

static const struct jx_field FIELDS[] = {
    {.name = "size",
     .type = JX_INTS,
     .offset = offsetof(struct options, size),
     .min = 1,
     .max = 1024,
     .min_items = 1,
     .max_items = 2,
     .scalar_too = true,
     .required = true,
     .doc = "size of the output, one number or [height, width]"},
    JX_END,
};

static enum nn_status plan(const struct nn_layer *layer, const struct nn_layer_input *in,
                           size_t n_in, const struct nn_network_bind *bind,
                           struct nn_layer_plan *out, struct nn_layer_issue *issue)
{
    (void)n_in;
    (void)bind;
    (void)issue;
    const struct jx_ints *size = &((const struct options *)layer->options)->size;
    *out = (struct nn_layer_plan){
        .out = {(size_t)size->value[0], (size_t)size->value[size->count - 1], in[0].shape.channels},
        .multiply_adds = nn_values(in[0].shape),
    };
    return NN_OK;
}

const struct nn_layer_kind nn_kind_adaptive_average_pool = {
    .name = "adaptive_average_pool",
    .doc = "means over windows that share out the image, for an output of a given size",
    .fields = FIELDS,
    .options_size = sizeof(struct options),
    .min_inputs = 1,
    .max_inputs = 1,
    .plan = plan,
};

static struct nn_pool2d sizes(const struct nn_pass *pass, const struct nn_run *run)
{
    return (struct nn_pool2d){.batch = run->batch,
                              .height = pass->in[0].height,
                              .width = pass->in[0].width,
                              .channels = pass->in[0].channels,
                              .out_height = pass->out.height,
                              .out_width = pass->out.width,
                              .adaptive = true};
}

static void forward(const struct nn_pass *pass, const struct nn_run *run, const struct nn_view *x,
                    struct nn_view y)
{
    struct nn_pool2d pool = sizes(pass, run);
    nn_average_pool_forward(run->exec, &pool, y.data, y.ld, x[0].data, x[0].ld);
}

static void backward(const struct nn_pass *pass, const struct nn_run *run,
                     const struct nn_backward *args)
{
    struct nn_pool2d pool = sizes(pass, run);
    nn_average_pool_gradient(run->exec, &pool, args->d_x[0].view.data, args->d_x[0].view.ld,
                             args->d_x[0].add, args->d_y.data, args->d_y.ld);
}

const struct nn_operator nn_op_adaptive_average_pool = {
    .name = "adaptive_average_pool",
    .pattern = {"adaptive_average_pool"},
    .plan = nn_bare_pass_plan,
    .forward = forward,
    .backward = backward,
};
