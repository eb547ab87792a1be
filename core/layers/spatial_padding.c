/* SPDX-License-Identifier: MIT
 *
 * spatial_padding: pixels around the image: of one value, mirrored at its edges, or its outermost
 * ones again (torch.nn.ConstantPad2d, ReflectionPad2d, ReplicationPad2d).
 */
#include "core/layers/framing_internal.h"
#include "core/layers/kinds_internal.h"

static const struct jx_choice MODES[] = {
    {"constant", NN_FRAMING_CONSTANT, "of one value"},
    {"reflect", NN_FRAMING_REFLECT, "the image mirrored at its outermost pixels"},
    {"replicate", NN_FRAMING_REPLICATE, "the outermost pixels again"},
    JX_END,
};

static const struct jx_field FIELDS[] = {
    NN_SIDES_FIELD("size", struct nn_framing_options, size, "pixels added"),
    {.name = "mode",
     .type = JX_ENUM,
     .offset = offsetof(struct nn_framing_options, mode),
     .choices = MODES,
     .fallback = "\"constant\"",
     .doc = "what the pixels are"},
    {.name = "value",
     .type = JX_REAL,
     .offset = offsetof(struct nn_framing_options, value),
     .min = -1e30,
     .max = 1e30,
     .fallback = "0",
     .doc = "of constant pixels"},
    JX_END,
};

static enum nn_status plan(const struct nn_layer *layer, const struct nn_layer_input *in,
                           size_t n_in, const struct nn_network_bind *bind,
                           struct nn_layer_plan *out, struct nn_layer_issue *issue)
{
    (void)n_in;
    (void)bind;
    const struct nn_framing_options *options = layer->options;
    struct nn_shape shape = in[0].shape;
    struct nn_sides s;
    enum nn_status status = nn_sides_plan(&options->size, "size", &s, issue);
    if (status != NN_OK) {
        return status;
    }
    if (options->mode == NN_FRAMING_REFLECT &&
        (nn_larger(s.top, s.bottom) >= shape.height || nn_larger(s.left, s.right) >= shape.width)) {
        return nn_layer_refuse(issue, "size", "add fewer pixels, or choose another mode",
                               "a %zux%zu image cannot be mirrored that far", shape.height,
                               shape.width);
    }
    shape.height += s.top + s.bottom;
    shape.width += s.left + s.right;
    *out = (struct nn_layer_plan){.out = shape};
    return NN_OK;
}

const struct nn_layer_kind nn_kind_spatial_padding = {
    .name = "spatial_padding",
    .doc = "pixels added around the image",
    .fields = FIELDS,
    .options_size = sizeof(struct nn_framing_options),
    .min_inputs = 1,
    .max_inputs = 1,
    .plan = plan,
};

const struct nn_operator nn_op_spatial_padding = {
    .name = "spatial_padding",
    .pattern = {"spatial_padding"},
    .plan = nn_bare_pass_plan,
    .forward = nn_framing_pass_forward,
    .backward = nn_framing_pass_backward,
};
