/* SPDX-License-Identifier: MIT
 *
 * rms_norm: the channels of each pixel, step or row divided by their root mean square, then scaled;
 * neither a mean is taken off nor a shift added.
 */
#include "core/layers/row_norm_internal.h"

static const struct jx_field FIELDS[] = {
    NN_ROW_NORM_EPSILON("1e-6"),
    NN_FACTOR_FIELD(struct nn_row_norm_options, factors, weight_learning_rate_factor, "1",
                    "times the learning rate, for the scales"),
    NN_FACTOR_FIELD(struct nn_row_norm_options, factors, weight_l2_factor, "0",
                    "times the L2 factor, for the scales"),
    JX_END,
};

static enum nn_status plan(const struct nn_layer *layer, const struct nn_layer_input *in,
                           size_t n_in, const struct nn_network_bind *bind,
                           struct nn_layer_plan *out, struct nn_layer_issue *issue)
{
    (void)n_in;
    (void)bind;
    (void)issue;
    nn_row_norm_plan(layer, in, false, out);
    return NN_OK;
}

const struct nn_layer_kind nn_kind_rms_norm = {
    .name = "rms_norm",
    .doc = "the channels of each pixel or step divided by their root mean square",
    .fields = FIELDS,
    .options_size = sizeof(struct nn_row_norm_options),
    .min_inputs = 1,
    .max_inputs = 1,
    .behind_flatten = true,
    .on_sequences = NN_SEQUENCES_BY_STEP,
    .plan = plan,
};

const struct nn_operator nn_op_rms_norm = {
    .name = "rms_norm",
    .pattern = {"rms_norm"},
    .plan = nn_row_norm_pass_plan,
    .forward = nn_row_norm_pass_forward,
    .backward = nn_row_norm_pass_backward,
};
