/* SPDX-License-Identifier: MIT
 *
 * cropping: pixels cut from the edges of the image.
 */
#include "core/layers/framing_internal.h"
#include "core/layers/kinds_internal.h"

static const struct jx_field FIELDS[] = {
    NN_SIDES_FIELD("size", struct nn_framing_options, size, "pixels cut off"),
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
    if (s.top + s.bottom >= shape.height || s.left + s.right >= shape.width) {
        return nn_layer_refuse(issue, "size", "cut fewer pixels off",
                               "nothing is left of the %zux%zu image", shape.height, shape.width);
    }
    shape.height -= s.top + s.bottom;
    shape.width -= s.left + s.right;
    *out = (struct nn_layer_plan){.out = shape};
    return NN_OK;
}

const struct nn_layer_kind nn_kind_cropping = {
    .name = "cropping",
    .doc = "pixels cut from the edges of the image",
    .fields = FIELDS,
    .options_size = sizeof(struct nn_framing_options),
    .min_inputs = 1,
    .max_inputs = 1,
    .plan = plan,
};

const struct nn_operator nn_op_cropping = {
    .name = "cropping",
    .pattern = {"cropping"},
    .plan = nn_bare_pass_plan,
    .forward = nn_framing_pass_forward,
    .backward = nn_framing_pass_backward,
};
