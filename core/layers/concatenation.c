/* SPDX-License-Identifier: MIT
 *
 * concatenation: the channels of several images of one size, side by side. Where the planner lets
 * an input's producer write into its columns of the output, there is nothing to do for that input.
 */
#include "core/layers/kinds_internal.h"
#include "core/layers/shape_internal.h"

static const struct jx_field FIELDS[] = {JX_END};

static enum nn_status plan(const struct nn_layer *layer, const struct nn_layer_input *in,
                           size_t n_in, const struct nn_network_bind *bind,
                           struct nn_layer_plan *out, struct nn_layer_issue *issue)
{
    (void)layer;
    (void)bind;
    struct nn_shape sum = in[0].shape;
    for (size_t i = 1; i < n_in; i++) {
        if (in[i].shape.height != in[0].shape.height || in[i].shape.width != in[0].shape.width) {
            char first[64];
            char other[64];
            nn_shape_text(in[0].shape, first, sizeof first);
            nn_shape_text(in[i].shape, other, sizeof other);
            return nn_layer_refuse(
                issue, NULL, "give all inputs one height and width, by padding or stride",
                "its inputs 1 and %zu have different sizes, %s and %s", i + 1, first, other);
        }
        sum.channels += in[i].shape.channels;
    }
    *out = (struct nn_layer_plan){.out = sum};
    return NN_OK;
}

const struct nn_layer_kind nn_kind_concatenation = {
    .name = "concatenation",
    .doc = "the channels of all inputs side by side",
    .fields = FIELDS,
    .options_size = 0,
    .min_inputs = 2,
    .max_inputs = NN_LAYER_INPUTS_MAX,
    .on_sequences = NN_SEQUENCES_BY_STEP,
    .plan = plan,
};

static void forward(const struct nn_pass *pass, const struct nn_run *run, const struct nn_view *x,
                    struct nn_view y)
{
    size_t rows = nn_pass_rows(pass, run->batch);
    size_t first = 0;
    for (size_t i = 0; i < pass->n_in; i++) {
        struct nn_view columns = nn_view_columns(y, first);
        if (x[i].data != columns.data) {
            nn_copy(run->exec, columns.data, columns.ld, false, x[i].data, x[i].ld, rows,
                    pass->in[i].channels);
        }
        first += pass->in[i].channels;
    }
}

static void backward(const struct nn_pass *pass, const struct nn_run *run,
                     const struct nn_backward *args)
{
    size_t rows = nn_pass_rows(pass, run->batch);
    size_t first = 0;
    for (size_t i = 0; i < pass->n_in; i++) {
        struct nn_view columns = nn_view_columns(args->d_y, first);
        struct nn_view d_x = args->d_x[i].view;
        if (d_x.data && d_x.data != columns.data) {
            nn_copy(run->exec, d_x.data, d_x.ld, args->d_x[i].add, columns.data, columns.ld, rows,
                    pass->in[i].channels);
        }
        first += pass->in[i].channels;
    }
}

const struct nn_operator nn_op_concatenation = {
    .name = "concatenation",
    .pattern = {"concatenation"},
    .plan = nn_bare_pass_plan,
    .forward = forward,
    .backward = backward,
};
