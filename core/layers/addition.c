/* SPDX-License-Identifier: MIT
 *
 * addition: the sum of several inputs of one shape, alone or with the ReLU behind it in one pass.
 * Every input's gradient is d_y; one of them may be d_y's own memory.
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
    for (size_t i = 1; i < n_in; i++) {
        if (!nn_shape_equal(in[i].shape, in[0].shape)) {
            char first[64];
            char other[64];
            nn_shape_text(in[0].shape, first, sizeof first);
            nn_shape_text(in[i].shape, other, sizeof other);
            return nn_layer_refuse(
                issue, NULL, "give all inputs one shape, for example by a 1x1 convolution",
                "its inputs 1 and %zu have different shapes, %s and %s", i + 1, first, other);
        }
        if (!nn_shape_equal(in[i].image, in[0].image)) {
            return nn_layer_refuse(issue, NULL, "put a fully_connected layer before one of them",
                                   "its inputs 1 and %zu are flattened images of different sizes",
                                   i + 1);
        }
    }
    *out = (struct nn_layer_plan){.out = in[0].shape,
                                  .image = in[0].image,
                                  .multiply_adds = nn_values(in[0].shape) * (double)(n_in - 1)};
    return NN_OK;
}

const struct nn_layer_kind nn_kind_addition = {
    .name = "addition",
    .doc = "the sum of all inputs",
    .fields = FIELDS,
    .options_size = 0,
    .min_inputs = 2,
    .max_inputs = NN_LAYER_INPUTS_MAX,
    .behind_flatten = true,
    .on_sequences = NN_SEQUENCES_BY_STEP,
    .plan = plan,
};

static void plan_pass(const struct nn_pass *pass, size_t lanes, struct nn_pass_plan *out)
{
    (void)lanes;
    bool relu = nn_relu_behind(pass, 1);
    out->in_place = true;
    out->gradient_in_place = true;
    out->needs_output = relu;
    out->overwrites_d_y = relu;
}

static void forward(const struct nn_pass *pass, const struct nn_run *run, const struct nn_view *x,
                    struct nn_view y)
{
    struct nn_view sum = x[0];
    for (size_t i = 1; i < pass->n_in; i++) {
        bool last = i + 1 == pass->n_in;
        struct nn_addition add = {.y = y.data, .a = sum.data, .b = x[i].data, .ldy = y.ld};
        add.lda = sum.ld;
        add.ldb = x[i].ld;
        add.rows = nn_pass_rows(pass, run->batch);
        add.columns = pass->out.channels;
        add.relu = nn_relu_behind(pass, 1) && last;
        nn_add(run->exec, &add);
        sum = y;
    }
}

static void backward(const struct nn_pass *pass, const struct nn_run *run,
                     const struct nn_backward *args)
{
    size_t rows = nn_pass_rows(pass, run->batch);
    if (nn_relu_behind(pass, 1)) {
        nn_relu_mask(run, args, rows, pass->out.channels);
    }
    for (size_t i = 0; i < pass->n_in; i++) {
        struct nn_view d_x = args->d_x[i].view;
        if (d_x.data && d_x.data != args->d_y.data) {
            nn_copy(run->exec, d_x.data, d_x.ld, args->d_x[i].add, args->d_y.data, args->d_y.ld,
                    rows, pass->out.channels);
        }
    }
}

const struct nn_operator nn_op_addition = {
    .name = "addition",
    .pattern = {"addition"},
    .plan = plan_pass,
    .forward = forward,
    .backward = backward,
};

const struct nn_operator nn_op_addition_relu = {
    .name = "addition+relu",
    .pattern = {"addition", "relu"},
    .fused = true,
    .plan = plan_pass,
    .forward = forward,
    .backward = backward,
};
