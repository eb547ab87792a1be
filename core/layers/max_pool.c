/* SPDX-License-Identifier: MIT
 *
 * max_pool: the largest value of each window. Where it stood is remembered for the gradient, which
 * goes there alone (the first of equal ones).
 */
#include "core/layers/kinds_internal.h"
#include "core/layers/pool_internal.h"

static const struct jx_field FIELDS[] = {NN_POOL_FIELDS, JX_END};

const struct nn_layer_kind nn_kind_max_pool = {
    .name = "max_pool",
    .doc = "the largest value of each window",
    .fields = FIELDS,
    .options_size = sizeof(struct nn_pool_options),
    .min_inputs = 1,
    .max_inputs = 1,
    .plan = nn_pool_plan,
};

static size_t taps_bytes(const struct nn_pass *pass)
{
    size_t count = pass->max_batch * pass->out.height * pass->out.width * pass->out.channels;
    return nn_bytes((count * sizeof(uint16_t) + sizeof(nn_real) - 1) / sizeof(nn_real));
}

static void plan_pass(const struct nn_pass *pass, size_t lanes, struct nn_pass_plan *out)
{
    (void)lanes;
    out->saved_bytes = pass->backward ? taps_bytes(pass) : 0;
}

static void forward(const struct nn_pass *pass, const struct nn_run *run, const struct nn_view *x,
                    struct nn_view y)
{
    struct nn_pool2d pool = nn_pool_sizes(pass, run->batch);
    nn_max_pool_forward(run->exec, &pool, y.data, y.ld, pass->backward ? pass->saved : NULL,
                        x[0].data, x[0].ld);
}

static void backward(const struct nn_pass *pass, const struct nn_run *run,
                     const struct nn_backward *args)
{
    struct nn_pool2d pool = nn_pool_sizes(pass, run->batch);
    nn_max_pool_gradient(run->exec, &pool, args->d_x[0].view.data, args->d_x[0].view.ld,
                         args->d_x[0].add, args->d_y.data, args->d_y.ld, pass->saved);
}

const struct nn_operator nn_op_max_pool = {
    .name = "max_pool",
    .pattern = {"max_pool"},
    .plan = plan_pass,
    .forward = forward,
    .backward = backward,
};
