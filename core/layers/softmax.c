/* SPDX-License-Identifier: MIT
 *
 * softmax: y = exp(x) / sum of exp(x) over the channels. At the end of a network it is not run: the
 * loss takes the scores before it. Elsewhere it is a layer like any other.
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
    if (in[0].shape.channels == 1) {
        return nn_layer_refuse(issue, NULL, "give it at least two outputs, one for each class",
                               "softmax over a single output is always 1, so nothing can be "
                               "learned");
    }
    *out = (struct nn_layer_plan){
        .out = in[0].shape, .image = in[0].image, .multiply_adds = nn_values(in[0].shape)};
    return NN_OK;
}

const struct nn_layer_kind nn_kind_softmax = {
    .name = "softmax",
    .doc = "scores as probabilities",
    .fields = FIELDS,
    .options_size = 0,
    .min_inputs = 1,
    .max_inputs = 1,
    .behind_flatten = true,
    .on_sequences = NN_SEQUENCES_BY_STEP,
    .plan = plan,
};

static void plan_pass(const struct nn_pass *pass, size_t lanes, struct nn_pass_plan *out)
{
    (void)pass;
    (void)lanes;
    out->needs_output = true;
    out->in_place = true;
    out->gradient_in_place = true;
    out->overwrites_d_y = true; /* where its gradient is added */
}

static void forward(const struct nn_pass *pass, const struct nn_run *run, const struct nn_view *x,
                    struct nn_view y)
{
    nn_softmax_forward(run->exec, y.data, y.ld, x[0].data, x[0].ld, nn_pass_rows(pass, run->batch),
                       pass->out.channels);
}

static void backward(const struct nn_pass *pass, const struct nn_run *run,
                     const struct nn_backward *args)
{
    struct nn_view d_x = args->d_x[0].view, d_y = args->d_y;
    bool add = args->d_x[0].add;
    struct nn_view to = add ? d_y : d_x; /* the kernel writes; adding is a second pass */
    struct nn_softmax_gradient softmax = {.d_x = to.data, .d_y = d_y.data, .y = args->y.data};
    softmax.ldd_x = to.ld;
    softmax.ldd_y = d_y.ld;
    softmax.ldy = args->y.ld;
    softmax.rows = nn_pass_rows(pass, run->batch);
    softmax.columns = pass->out.channels;
    nn_softmax_gradient(run->exec, &softmax);
    if (add) {
        nn_copy(run->exec, d_x.data, d_x.ld, true, d_y.data, d_y.ld, softmax.rows, softmax.columns);
    }
}

const struct nn_operator nn_op_softmax = {
    .name = "softmax",
    .pattern = {"softmax"},
    .plan = plan_pass,
    .forward = forward,
    .backward = backward,
};
