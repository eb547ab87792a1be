/* SPDX-License-Identifier: MIT
 *
 * flatten: an image as one row of height * width * channels features. In memory that is the same
 * numbers in the same order (channels fastest), so it costs nothing when the planner makes the
 * output an alias. PyTorch flattens channels first: the layer behind keeps its weights in our order
 * and says so by its stored axis order (fully_connected.c).
 */
#include "core/layers/kinds_internal.h"
#include "core/layers/shape_internal.h"

static const struct jx_field FIELDS[] = {JX_END};

static enum nn_status plan(const struct nn_layer *layer, const struct nn_layer_input *in,
                           size_t n_in, const struct nn_network_bind *bind,
                           struct nn_layer_plan *out, struct nn_layer_issue *issue)
{
    (void)layer;
    (void)n_in;
    (void)bind;
    size_t features;
    if (!nn_shape_count(in[0].shape, &features)) {
        return nn_layer_refuse(issue, NULL, "pool or stride before it",
                               "the flattened image has too many features to count");
    }
    *out = (struct nn_layer_plan){.out = {1, 1, features}, .image = in[0].image};
    return NN_OK;
}

const struct nn_layer_kind nn_kind_flatten = {
    .name = "flatten",
    .doc = "the image as one row of features",
    .fields = FIELDS,
    .options_size = 0,
    .min_inputs = 1,
    .max_inputs = 1,
    .behind_flatten = true,
    .plan = plan,
};

static void plan_pass(const struct nn_pass *pass, size_t lanes, struct nn_pass_plan *out)
{
    (void)pass;
    (void)lanes;
    out->alias = true;
}

/* Image `batch` rows of features against batch * height * width rows of channels. */
static void copy(const struct nn_pass *pass, const struct nn_run *run, struct nn_view flat,
                 struct nn_view image, bool to_flat, bool add)
{
    size_t pixels = pass->in[0].height * pass->in[0].width;
    size_t channels = pass->in[0].channels;
    if (flat.ld == pass->out.channels) { /* dense: as an image of the same rows */
        nn_real *dst = to_flat ? flat.data : image.data;
        const nn_real *src = to_flat ? image.data : flat.data;
        nn_copy(run->exec, dst, to_flat ? channels : image.ld, add, src,
                to_flat ? image.ld : channels, run->batch * pixels, channels);
        return;
    }
    for (size_t i = 0; i < run->batch; i++) {
        nn_real *row = flat.data + i * flat.ld;
        nn_real *rows = image.data + i * pixels * image.ld;
        nn_copy(run->exec, to_flat ? row : rows, to_flat ? channels : image.ld, add,
                to_flat ? rows : row, to_flat ? image.ld : channels, pixels, channels);
    }
}

static void forward(const struct nn_pass *pass, const struct nn_run *run, const struct nn_view *x,
                    struct nn_view y)
{
    if (x[0].data != y.data) {
        copy(pass, run, y, x[0], true, false);
    }
}

static void backward(const struct nn_pass *pass, const struct nn_run *run,
                     const struct nn_backward *args)
{
    if (args->d_x[0].view.data != args->d_y.data) {
        copy(pass, run, args->d_y, args->d_x[0].view, false, args->d_x[0].add);
    }
}

const struct nn_operator nn_op_flatten = {
    .name = "flatten",
    .pattern = {"flatten"},
    .plan = plan_pass,
    .forward = forward,
    .backward = backward,
};
