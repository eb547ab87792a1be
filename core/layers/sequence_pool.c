/* SPDX-License-Identifier: MIT
 *
 * sequence_pool: one row for each sequence, its last step or the mean of its steps.
 */
#include "core/layers/steps_internal.h"

struct options {
    int method;
};

static const struct jx_choice METHODS[] = {
    {"last", NN_SEQUENCE_LAST, "the last step"},
    {"mean", NN_SEQUENCE_MEAN, "the mean of all steps"},
    JX_END,
};

static const struct jx_field FIELDS[] = {
    {.name = "method",
     .type = JX_ENUM,
     .offset = offsetof(struct options, method),
     .choices = METHODS,
     .fallback = "\"last\"",
     .doc = "what stands for the sequence"},
    JX_END,
};

static enum nn_status plan(const struct nn_layer *layer, const struct nn_layer_input *in,
                           size_t n_in, const struct nn_network_bind *bind,
                           struct nn_layer_plan *out, struct nn_layer_issue *issue)
{
    (void)layer;
    (void)n_in;
    (void)bind;
    (void)issue;
    *out = (struct nn_layer_plan){.out = in[0].shape};
    return NN_OK;
}

const struct nn_layer_kind nn_kind_sequence_pool = {
    .name = "sequence_pool",
    .doc = "one row for each sequence: its last step, or the mean of its steps",
    .fields = FIELDS,
    .options_size = sizeof(struct options),
    .min_inputs = 1,
    .max_inputs = 1,
    .on_sequences = NN_SEQUENCES_WHOLE,
    .plan = plan,
};

static enum nn_sequence_pool method_of(const struct nn_pass *pass)
{
    const struct options *options = pass->layers[0]->layer->options;
    return (enum nn_sequence_pool)options->method;
}

static void forward(const struct nn_pass *pass, const struct nn_run *run, const struct nn_view *x,
                    struct nn_view y)
{
    const struct nn_steps steps = nn_steps_of(run);
    nn_sequence_pool(run->exec, &steps, method_of(pass), y.data, y.ld, x[0].data, x[0].ld,
                     pass->out.channels);
}

static void backward(const struct nn_pass *pass, const struct nn_run *run,
                     const struct nn_backward *args)
{
    const struct nn_steps steps = nn_steps_of(run);
    const struct nn_gradient *d_x = &args->d_x[0];
    nn_sequence_pool_gradient(run->exec, &steps, method_of(pass), d_x->view.data, d_x->view.ld,
                              d_x->add, args->d_y.data, args->d_y.ld, pass->out.channels);
}

const struct nn_operator nn_op_sequence_pool = {
    .name = "sequence_pool",
    .pattern = {"sequence_pool"},
    .plan = nn_bare_pass_plan,
    .forward = forward,
    .backward = backward,
};
