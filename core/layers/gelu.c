/* SPDX-License-Identifier: MIT
 *
 * gelu: y = x Phi(x), Phi the standard normal distribution itself, not its approximation by tanh.
 */
#include "core/layers/activation_internal.h"

static const struct jx_field FIELDS[] = {JX_END};

const struct nn_layer_kind nn_kind_gelu = {
    .name = "gelu",
    .doc = "each value times the normal distribution below it",
    .fields = FIELDS,
    .options_size = 0,
    .min_inputs = 1,
    .max_inputs = 1,
    .behind_flatten = true,
    .on_sequences = NN_SEQUENCES_BY_STEP,
    .plan = nn_same_shape_plan,
};

const struct nn_activation_operator nn_op_gelu = {
    .op = {.name = "gelu",
           .pattern = {"gelu"},
           .plan = nn_activation_pass_plan,
           .forward = nn_activation_pass_forward,
           .backward = nn_activation_pass_backward},
    .function = NN_ACTIVATION_GELU,
    .told_by_input = true,
};
