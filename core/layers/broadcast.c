/* SPDX-License-Identifier: MIT
 *
 * What the layers share whose second input may have one value for all pixels or channels.
 */
#include "core/layers/broadcast_internal.h"

static bool spans(struct nn_shape first, struct nn_shape second)
{
    bool pixels = second.height == first.height && second.width == first.width;
    bool one = second.height == 1 && second.width == 1;
    return (pixels || one) && (second.channels == first.channels || second.channels == 1);
}

/* Channels stand side by side in the order of the images they were flattened from. */
static bool ordered_alike(const struct nn_layer_input *first, const struct nn_layer_input *second)
{
    bool flat = !nn_shape_equal(first->shape, first->image) ||
                !nn_shape_equal(second->shape, second->image);
    return second->shape.channels == 1 || !flat || nn_shape_equal(first->image, second->image);
}

enum nn_status nn_broadcast_plan(const struct nn_layer *layer, const struct nn_layer_input *in,
                                 size_t n_in, const struct nn_network_bind *bind,
                                 struct nn_layer_plan *out, struct nn_layer_issue *issue)
{
    (void)layer;
    (void)bind;
    if (n_in == 2 && !spans(in[0].shape, in[1].shape)) {
        char first[64], second[64];
        nn_shape_text(in[0].shape, first, sizeof first);
        nn_shape_text(in[1].shape, second, sizeof second);
        return nn_layer_refuse(issue, NULL,
                               "give the second the shape of the first, or one pixel, one channel "
                               "or both",
                               "its second input of %s does not span the first of %s", second,
                               first);
    }
    if (n_in == 2 && !ordered_alike(&in[0], &in[1])) {
        return nn_layer_refuse(issue, NULL, "put a fully_connected layer before one of them",
                               "its inputs are flattened images of different sizes");
    }
    *out = (struct nn_layer_plan){
        .out = in[0].shape, .image = in[0].image, .multiply_adds = nn_values(in[0].shape)};
    return NN_OK;
}

struct nn_broadcast nn_broadcast_sizes(const struct nn_pass *pass, const struct nn_run *run,
                                       struct nn_shape second)
{
    struct nn_shape first = pass->in[0];
    return (struct nn_broadcast){.batch = run->batch,
                                 .pixels = first.height * first.width,
                                 .channels = first.channels,
                                 .one_row = second.height == 1 && second.width == 1,
                                 .one_column = second.channels == 1};
}
