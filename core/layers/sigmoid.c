/* SPDX-License-Identifier: MIT
 *
 * sigmoid: y = 1 / (1 + e^-x).
 */
#include "core/layers/activation_internal.h"

static const struct jx_field FIELDS[] = {JX_END};

const struct nn_layer_kind nn_kind_sigmoid = {
    .name = "sigmoid",
    .doc = "values between 0 and 1",
    .fields = FIELDS,
    .options_size = 0,
    .min_inputs = 1,
    .max_inputs = 1,
    .behind_flatten = true,
    .on_sequences = NN_SEQUENCES_BY_STEP,
    .plan = nn_same_shape_plan,
};

static struct nn_curve curve_of(const struct nn_pass *pass)
{
    (void)pass;
    return (struct nn_curve){NN_ACTIVATION_SIGMOID, 0};
}

static void forward(const struct nn_pass *pass, const struct nn_run *run, const struct nn_view *x,
                    struct nn_view y)
{
    nn_curve_forward(pass, run, curve_of(pass), x, y);
}

static void backward(const struct nn_pass *pass, const struct nn_run *run,
                     const struct nn_backward *args)
{
    nn_curve_backward(pass, run, curve_of(pass), args->y, args);
}

const struct nn_operator nn_op_sigmoid = {
    .name = "sigmoid",
    .pattern = {"sigmoid"},
    .plan = nn_curve_plan_output,
    .forward = forward,
    .backward = backward,
};
