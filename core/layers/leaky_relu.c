/* SPDX-License-Identifier: MIT
 *
 * leaky_relu: y = x above 0, slope x below.
 */
#include "core/layers/activation_internal.h"

static const struct jx_field FIELDS[] = {
    {.name = "slope",
     .type = JX_REAL,
     .offset = offsetof(struct nn_activation_options, slope),
     .min = 0,
     .max = 1e6,
     .fallback = "0.01",
     .doc = "what negative values are multiplied with"},
    JX_END,
};

const struct nn_layer_kind nn_kind_leaky_relu = {
    .name = "leaky_relu",
    .doc = "negative values become small",
    .fields = FIELDS,
    .options_size = sizeof(struct nn_activation_options),
    .min_inputs = 1,
    .max_inputs = 1,
    .behind_flatten = true,
    .on_sequences = NN_SEQUENCES_BY_STEP,
    .plan = nn_same_shape_plan,
};

const struct nn_activation_operator nn_op_leaky_relu = {
    .op = {.name = "leaky_relu",
           .pattern = {"leaky_relu"},
           .plan = nn_activation_pass_plan,
           .forward = nn_activation_pass_forward,
           .backward = nn_activation_pass_backward},
    .function = NN_ACTIVATION_LEAKY_RELU,
};
