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

const struct nn_activation_operator nn_op_sigmoid = {
    .op = {.name = "sigmoid",
           .pattern = {"sigmoid"},
           .plan = nn_activation_pass_plan,
           .forward = nn_activation_pass_forward,
           .backward = nn_activation_pass_backward},
    .function = NN_ACTIVATION_SIGMOID,
};
