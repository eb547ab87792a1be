/* SPDX-License-Identifier: MIT
 *
 * gru: gated recurrent units over sequences (Cho et al. 2014); the state begins at 0. With gates
 * r, z, n:
 *     u[t] = w_ih x[t] + b_ih,  v[t] = w_hh h[t-1] + b_hh
 *     r = sigmoid(u_r + v_r),  z = sigmoid(u_z + v_z),  n = tanh(u_n + r v_n)
 *     h[t] = (1 - z) n + z h[t-1]
 * The output is every h[t], or the last one of each sequence. Parameters are PyTorch's: names, gate
 * order, and two biases, since r stands before the second one's part of n.
 *
 * MATLAB's gruLayer has the same order (reset, update, candidate) in InputWeights and
 * RecurrentWeights. Ours is its ResetGateMode "recurrent-bias-after-multiplication", whose Bias is
 * [b_ih; b_hh]. Its default, "after-multiplication", has one bias: b_ih, with b_hh 0 and not
 * learned. "before-multiplication" (as in ONNX with linear_before_reset 0) is another cell, n =
 * tanh(u_n + w_hn (r h[t-1])), which we lack.
 */
#include "core/layers/kinds_internal.h"
#include "core/layers/recurrent_internal.h"

static const struct nn_recurrent_cell CELL = {NN_CELL_GRU, true, SIZE_MAX};

static enum nn_status plan(const struct nn_layer *layer, const struct nn_layer_input *in,
                           size_t n_in, const struct nn_network_bind *bind,
                           struct nn_layer_plan *out, struct nn_layer_issue *issue)
{
    (void)n_in;
    (void)bind;
    (void)issue;
    return nn_recurrent_plan(layer, in, &CELL, out);
}

const struct nn_layer_kind nn_kind_gru = {
    .name = "gru",
    .doc = "gated recurrent units over sequences",
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

const struct nn_operator nn_op_gru = {
    .name = "gru",
    .pattern = {"gru"},
    .plan = plan_pass,
    .forward = forward,
    .backward = backward,
};
