/* SPDX-License-Identifier: MIT
 *
 * multiplication: the product of two inputs, of one shape or the second with one value for all
 * pixels (a weight a channel) or all channels of a sample.
 */
#include "core/layers/broadcast_internal.h"

static const struct jx_field FIELDS[] = {JX_END};

const struct nn_layer_kind nn_kind_multiplication = {
    .name = "multiplication",
    .doc = "the product of two inputs; the second may have one pixel or one channel for all",
    .fields = FIELDS,
    .options_size = 0,
    .min_inputs = 2,
    .max_inputs = 2,
    .behind_flatten = true,
    .on_sequences = NN_SEQUENCES_BY_STEP,
    .plan = nn_broadcast_plan,
};

static void plan_pass(const struct nn_pass *pass, size_t lanes, struct nn_pass_plan *out)
{
    (void)pass;
    (void)lanes;
    out->needs_input = true;
}

static void forward(const struct nn_pass *pass, const struct nn_run *run, const struct nn_view *x,
                    struct nn_view y)
{
    const struct nn_broadcast sizes = nn_broadcast_sizes(pass, run, pass->in[1]);
    const struct nn_operands args = {y.data, x[0].data, x[1].data, y.ld, x[0].ld, x[1].ld, false};
    nn_multiply(run->exec, &sizes, &args);
}

static void backward(const struct nn_pass *pass, const struct nn_run *run,
                     const struct nn_backward *args)
{
    const struct nn_broadcast sizes = nn_broadcast_sizes(pass, run, pass->in[1]);
    for (size_t k = 0; k < 2; k++) {
        const struct nn_gradient *to = &args->d_x[k];
        struct nn_view other = args->x[1 - k];
        const struct nn_operands o = {to->view.data, args->d_y.data, other.data, to->view.ld,
                                      args->d_y.ld,  other.ld,       to->add};
        if (to->view.data) {
            (k == 0 ? nn_multiply : nn_multiply_sums)(run->exec, &sizes, &o);
        }
    }
}

const struct nn_operator nn_op_multiplication = {
    .name = "multiplication",
    .pattern = {"multiplication"},
    .plan = plan_pass,
    .forward = forward,
    .backward = backward,
};
