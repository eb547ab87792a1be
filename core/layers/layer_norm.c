/* SPDX-License-Identifier: MIT
 *
 * layer_norm: the channels of each pixel, step or row to mean 0 and variance 1, then scaled and
 * shifted. Nothing is taken from the batch: training and inference are the same.
 */
#include "core/layers/row_norm_internal.h"

static const struct jx_field FIELDS[] = {
    NN_ROW_NORM_EPSILON("1e-5"),
    NN_FACTOR_FIELDS(struct nn_row_norm_options, factors, "scales", "shifts", "0"),
    JX_END,
};

static enum nn_status plan(const struct nn_layer *layer, const struct nn_layer_input *in,
                           size_t n_in, const struct nn_network_bind *bind,
                           struct nn_layer_plan *out, struct nn_layer_issue *issue)
{
    (void)n_in;
    (void)bind;
    (void)issue;
    nn_row_norm_plan(layer, in, true, out);
    return NN_OK;
}

const struct nn_layer_kind nn_kind_layer_norm = {
    .name = "layer_norm",
    .doc = "the channels of each pixel or step normalised",
    .fields = FIELDS,
    .options_size = sizeof(struct nn_row_norm_options),
    .min_inputs = 1,
    .max_inputs = 1,
    .behind_flatten = true,
    .on_sequences = NN_SEQUENCES_BY_STEP,
    .plan = plan,
};

const struct nn_operator nn_op_layer_norm = {
    .name = "layer_norm",
    .pattern = {"layer_norm"},
    .plan = nn_row_norm_pass_plan,
    .forward = nn_row_norm_pass_forward,
    .backward = nn_row_norm_pass_backward,
};
