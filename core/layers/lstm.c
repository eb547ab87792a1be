/* SPDX-License-Identifier: MIT
 *
 * lstm: long short-term memory over sequences; the state begins at 0. With gates i, f, g, o:
 *     z[t] = w_ih x[t] + b + w_hh h[t-1]
 *     c[t] = sigmoid(z_f) c[t-1] + sigmoid(z_i) tanh(z_g),  h[t] = sigmoid(z_o) tanh(c[t])
 * The output is every h[t], or the last one of each sequence. Parameters have PyTorch's names and
 * gate order, but one bias, bias_ih_l0: where PyTorch keeps two that are only ever added, this is
 * their sum. core/exchange adds bias_hh_l0 to it when a file has one; written is bias_ih_l0 alone,
 * beside which PyTorch's bias_hh_l0 has to be 0.
 */
#include "core/layers/kinds_internal.h"
#include "core/layers/recurrent_internal.h"

static const struct nn_recurrent_cell CELL = {NN_CELL_LSTM, false,
                                              1 /* forget: at first nothing is forgotten */};

static enum nn_status plan(const struct nn_layer *layer, const struct nn_layer_input *in,
                           size_t n_in, const struct nn_network_bind *bind,
                           struct nn_layer_plan *out, struct nn_layer_issue *issue)
{
    (void)n_in;
    (void)bind;
    (void)issue;
    return nn_recurrent_plan(layer, in, &CELL, out);
}

const struct nn_layer_kind nn_kind_lstm = {
    .name = "lstm",
    .doc = "long short-term memory over sequences",
    .fields = nn_recurrent_fields,
    .options_size = sizeof(struct nn_recurrent_options),
    .min_inputs = 1,
    .max_inputs = 1,
    .on_sequences = NN_SEQUENCES_WHOLE,
    .plan = plan,
};

static void plan_pass(const struct nn_pass *pass, size_t lanes, struct nn_pass_plan *out)
{
    (void)lanes;
    nn_recurrent_plan_pass(pass, CELL.kind, out);
}

static void forward(const struct nn_pass *pass, const struct nn_run *run, const struct nn_view *x,
                    struct nn_view y)
{
    nn_recurrent_forward(pass, CELL.kind, run, x[0], y);
}

static void backward(const struct nn_pass *pass, const struct nn_run *run,
                     const struct nn_backward *args)
{
    nn_recurrent_backward(pass, CELL.kind, run, args);
}

const struct nn_operator nn_op_lstm = {
    .name = "lstm",
    .pattern = {"lstm"},
    .plan = plan_pass,
    .forward = forward,
    .backward = backward,
};
