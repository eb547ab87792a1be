/* SPDX-License-Identifier: MIT
 *
 * auxiliary_loss: ends a branch beside the output with scores of its own, whose loss counts with a
 * weight while training. Has no operator: the network hands the scores before it to the loss, and
 * runs nothing that leads to it alone where nothing is learned.
 */
#include "core/layers/kinds_internal.h"
#include "core/layers/shape_internal.h"

struct options {
    double weight;
};

static const struct jx_field FIELDS[] = {
    {.name = "weight",
     .type = JX_REAL,
     .offset = offsetof(struct options, weight),
     .min = 0,
     .max = 1e3,
     .above_min = true,
     .fallback = "0.3",
     .doc = "times its loss, added to that of the output"},
    JX_END,
};

static enum nn_status plan(const struct nn_layer *layer, const struct nn_layer_input *in,
                           size_t n_in, const struct nn_network_bind *bind,
                           struct nn_layer_plan *out, struct nn_layer_issue *issue)
{
    (void)layer;
    (void)n_in;
    struct nn_shape shape = in[0].shape;
    if (bind && (bind->responses > 0 || bind->features > 0)) {
        return nn_layer_refuse(issue, NULL, "remove it, and what leads to it alone",
                               "auxiliary losses are for images with classes");
    }
    if (shape.height != 1 || shape.width != 1) {
        return nn_layer_refuse(issue, NULL, "put a fully_connected layer before it",
                               "it takes one score for each class, not an image of %zux%zu",
                               shape.height, shape.width);
    }
    if (bind && bind->classes > 0 && shape.channels != bind->classes) {
        return nn_layer_refuse(issue, NULL, "leave out the number of scores of the layer before it",
                               "it is given %zu scores, but the data set has %zu classes",
                               shape.channels, bind->classes);
    }
    *out = (struct nn_layer_plan){.out = shape};
    return NN_OK;
}

const struct nn_layer_kind nn_kind_auxiliary_loss = {
    .name = "auxiliary_loss",
    .doc = "scores of a branch, with a loss of their own while training",
    .fields = FIELDS,
    .options_size = sizeof(struct options),
    .min_inputs = 1,
    .max_inputs = 1,
    .plan = plan,
};

double nn_auxiliary_weight(const struct nn_layer *layer)
{
    NN_ASSERT(layer->kind == &nn_kind_auxiliary_loss);
    return ((const struct options *)layer->options)->weight;
}
