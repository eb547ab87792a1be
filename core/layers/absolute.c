/* SPDX-License-Identifier: MIT
 *
 * absolute: y = |x|. Its derivative at 0 is taken as 0.
 */
#include "core/layers/activation_internal.h"

static const struct jx_field FIELDS[] = {JX_END};

const struct nn_layer_kind nn_kind_absolute = {
    .name = "absolute",
    .doc = "the size of each value",
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
    return (struct nn_curve){NN_ACTIVATION_ABSOLUTE, 0};
}

static void forward(const struct nn_pass *pass, const struct nn_run *run, const struct nn_view *x,
                    struct nn_view y)
{
    nn_curve_forward(pass, run, curve_of(pass), x, y);
}

static void backward(const struct nn_pass *pass, const struct nn_run *run,
                     const struct nn_backward *args)
{
    nn_curve_backward(pass, run, curve_of(pass), args->x[0], args);
}

const struct nn_operator nn_op_absolute = {
    .name = "absolute",
    .pattern = {"absolute"},
    .plan = nn_curve_plan_input,
    .forward = forward,
    .backward = backward,
};
