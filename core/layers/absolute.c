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

const struct nn_activation_operator nn_op_absolute = {
    .op = {.name = "absolute",
           .pattern = {"absolute"},
           .plan = nn_activation_pass_plan,
           .forward = nn_activation_pass_forward,
           .backward = nn_activation_pass_backward},
    .function = NN_ACTIVATION_ABSOLUTE,
    .told_by_input = true,
};
