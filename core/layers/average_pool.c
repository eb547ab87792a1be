/* SPDX-License-Identifier: MIT
 *
 * average_pool: the mean of each window; padding counts as zeros if count_padding is set.
 */
#include "core/layers/kinds_internal.h"
#include "core/layers/pool_internal.h"

static const struct jx_field FIELDS[] = {
    NN_POOL_FIELDS,
    {.name = "count_padding",
     .type = JX_BOOL,
     .offset = offsetof(struct nn_pool_options, count_padding),
     .fallback = "true",
     .doc = "padded pixels count as zeros"},
    JX_END,
};

const struct nn_layer_kind nn_kind_average_pool = {
    .name = "average_pool",
    .doc = "the mean of each window",
    .fields = FIELDS,
    .options_size = sizeof(struct nn_pool_options),
    .min_inputs = 1,
    .max_inputs = 1,
    .plan = nn_pool_plan,
};

static void forward(const struct nn_pass *pass, const struct nn_run *run, const struct nn_view *x,
                    struct nn_view y)
{
    struct nn_pool2d pool = nn_pool_sizes(pass, run->batch);
    nn_average_pool_forward(run->exec, &pool, y.data, y.ld, x[0].data, x[0].ld);
}

static void backward(const struct nn_pass *pass, const struct nn_run *run,
                     const struct nn_backward *args)
{
    struct nn_pool2d pool = nn_pool_sizes(pass, run->batch);
    nn_average_pool_gradient(run->exec, &pool, args->d_x[0].view.data, args->d_x[0].view.ld,
                             args->d_x[0].add, args->d_y.data, args->d_y.ld);
}

const struct nn_operator nn_op_average_pool = {
    .name = "average_pool",
    .pattern = {"average_pool"},
    .plan = nn_bare_pass_plan,
    .forward = forward,
    .backward = backward,
};
