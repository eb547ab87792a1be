/* SPDX-License-Identifier: MIT
 *
 * elu: y = x above 0, alpha (e^x - 1) below.
 */
#include "core/layers/activation_internal.h"

struct options {
    double alpha;
};

static const struct jx_field FIELDS[] = {
    {.name = "alpha",
     .type = JX_REAL,
     .offset = offsetof(struct options, alpha),
     .min = 0,
     .max = 1e6,
     .above_min = true,
     .fallback = "1",
     .doc = "how far below 0 values go"},
    JX_END,
};

const struct nn_layer_kind nn_kind_elu = {
    .name = "elu",
    .doc = "negative values bend towards -alpha",
    .fields = FIELDS,
    .options_size = sizeof(struct options),
    .min_inputs = 1,
    .max_inputs = 1,
    .behind_flatten = true,
    .on_sequences = NN_SEQUENCES_BY_STEP,
    .plan = nn_same_shape_plan,
};

static struct nn_curve curve_of(const struct nn_pass *pass)
{
    const struct options *options = pass->layers[0]->layer->options;
    return (struct nn_curve){NN_ACTIVATION_ELU, options->alpha};
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

const struct nn_operator nn_op_elu = {
    .name = "elu",
    .pattern = {"elu"},
    .plan = nn_curve_plan_output,
    .forward = forward,
    .backward = backward,
};
