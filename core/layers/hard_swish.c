/* SPDX-License-Identifier: MIT
 *
 * hard_swish: y = x min(max(x + 3, 0), 6) / 6, silu without an exponential (Howard et al. 2019,
 * "Searching for MobileNetV3").
 */
#include "core/layers/activation_internal.h"

static const struct jx_field FIELDS[] = {JX_END};

const struct nn_layer_kind nn_kind_hard_swish = {
    .name = "hard_swish",
    .doc = "each value times a straight-line approximation of its sigmoid",
    .fields = FIELDS,
    .options_size = 0,
    .min_inputs = 1,
    .max_inputs = 1,
    .behind_flatten = true,
    .on_sequences = NN_SEQUENCES_BY_STEP,
    .plan = nn_same_shape_plan,
};

const struct nn_activation_operator nn_op_hard_swish = {
    .op = {.name = "hard_swish",
           .pattern = {"hard_swish"},
           .plan = nn_activation_pass_plan,
           .forward = nn_activation_pass_forward,
           .backward = nn_activation_pass_backward},
    .function = NN_ACTIVATION_HARD_SWISH,
    .told_by_input = true,
};
