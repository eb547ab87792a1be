/* SPDX-License-Identifier: MIT
 *
 * elu: y = x above 0, alpha (e^x - 1) below.
 */
#include "core/layers/activation_internal.h"

static const struct jx_field FIELDS[] = {
    {.name = "alpha",
     .type = JX_REAL,
     .offset = offsetof(struct nn_activation_options, slope),
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
    .options_size = sizeof(struct nn_activation_options),
    .min_inputs = 1,
    .max_inputs = 1,
    .behind_flatten = true,
    .on_sequences = NN_SEQUENCES_BY_STEP,
    .plan = nn_same_shape_plan,
};

const struct nn_activation_operator nn_op_elu = {
    .op = {.name = "elu",
           .pattern = {"elu"},
           .plan = nn_activation_pass_plan,
           .forward = nn_activation_pass_forward,
           .backward = nn_activation_pass_backward},
    .function = NN_ACTIVATION_ELU,
};
