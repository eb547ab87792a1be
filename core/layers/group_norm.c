/* SPDX-License-Identifier: MIT
 *
 * group_norm: groups of neighbouring channels of each sample to mean 0 and variance 1 over all its
 * pixels, then scaled and shifted. Of a sequence each step is a sample of its own: no step looks at
 * later ones. (PyTorch's takes all steps of a sequence together.)
 */
#include "core/layers/row_norm_internal.h"

static const struct jx_field FIELDS[] = {
    {.name = "groups",
     .type = JX_SIZE,
     .offset = offsetof(struct nn_row_norm_options, groups),
     .min = 1,
     .max = 65536,
     .required = true,
     .doc = "in how many groups the channels fall"},
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
    size_t groups = ((const struct nn_row_norm_options *)layer->options)->groups;
    if (in[0].shape.channels % groups != 0) {
        return nn_layer_refuse(issue, "groups", "take a number that divides the channels",
                               "%zu channels do not fall into %zu groups of equal size",
                               in[0].shape.channels, groups);
    }
    nn_row_norm_plan(layer, in, true, out);
    return NN_OK;
}

const struct nn_layer_kind nn_kind_group_norm = {
    .name = "group_norm",
    .doc = "groups of channels of each sample normalised over its pixels",
    .fields = FIELDS,
    .options_size = sizeof(struct nn_row_norm_options),
    .min_inputs = 1,
    .max_inputs = 1,
    .on_sequences = NN_SEQUENCES_BY_STEP,
    .plan = plan,
};

const struct nn_operator nn_op_group_norm = {
    .name = "group_norm",
    .pattern = {"group_norm"},
    .plan = nn_row_norm_pass_plan,
    .forward = nn_row_norm_pass_forward,
    .backward = nn_row_norm_pass_backward,
};
