/* SPDX-License-Identifier: MIT
 *
 * positional_encoding: adds to each step a row that says which step it is: of sines and cosines
 * (Vaswani et al. 2017), or learned, one for each of `length` steps.
 */
#include "core/layers/steps_internal.h"

enum encoding { ENCODING_SINUSOIDAL, ENCODING_LEARNED };

struct options {
    int encoding;
    size_t length;
    struct nn_factor_options factors;
};

static const struct jx_choice ENCODINGS[] = {
    {"sinusoidal", ENCODING_SINUSOIDAL, "sines and cosines of the step's number"},
    {"learned", ENCODING_LEARNED, "a row for each step, learned"},
    JX_END,
};

static const struct jx_field FIELDS[] = {
    {.name = "encoding",
     .type = JX_ENUM,
     .offset = offsetof(struct options, encoding),
     .choices = ENCODINGS,
     .fallback = "\"sinusoidal\"",
     .doc = "what a step's row is made of"},
    {.name = "length",
     .type = JX_SIZE,
     .offset = offsetof(struct options, length),
     .min = 1,
     .max = 1048576,
     .fallback = "512",
     .doc = "learned: steps that have a row; no sequence may have more"},
    NN_FACTOR_FIELD(struct options, factors, weight_learning_rate_factor, "1",
                    "times the learning rate, for the learned rows"),
    NN_FACTOR_FIELD(struct options, factors, weight_l2_factor, "0",
                    "times the L2 factor, for the learned rows"),
    JX_END,
};

static enum nn_status plan(const struct nn_layer *layer, const struct nn_layer_input *in,
                           size_t n_in, const struct nn_network_bind *bind,
                           struct nn_layer_plan *out, struct nn_layer_issue *issue)
{
    (void)n_in;
    const struct options *options = layer->options;
    size_t channels = in[0].shape.channels, count;
    bool learned = options->encoding == ENCODING_LEARNED;
    if (learned && bind && bind->longest > options->length) {
        return nn_layer_refuse(issue, "length", "make it as large as the longest sequence",
                               "the longest sequence has %zu steps, but only %zu have a row",
                               bind->longest, options->length);
    }
    if (!nn_layer_count((const size_t[4]){options->length, channels, 1, 1}, &count)) {
        return nn_layer_refuse(issue, "length", "make it smaller",
                               "the rows of this layer are too many to count");
    }
    *out = (struct nn_layer_plan){
        .out = in[0].shape, .sequence = true, .n_parameters = learned ? 1 : 0};
    out->parameters[0] = (struct nn_parameter_plan){
        .suffix = "weight",
        .role = NN_ROLE_WEIGHT,
        .learnable = true,
        .ndim = 2,
        .shape = {options->length, channels},
        .extent = {options->length, channels, 1, 1},
        .order = {0, 1, 2, 3},
        .learning_rate_factor = options->factors.weight_learning_rate_factor,
        .l2_factor = options->factors.weight_l2_factor,
        .fan_in = (double)options->length,
        .fan_out = (double)channels,
    };
    return NN_OK;
}

const struct nn_layer_kind nn_kind_positional_encoding = {
    .name = "positional_encoding",
    .doc = "adds to each step of a sequence a row that says which step it is",
    .fields = FIELDS,
    .options_size = sizeof(struct options),
    .min_inputs = 1,
    .max_inputs = 1,
    .on_sequences = NN_SEQUENCES_WHOLE,
    .plan = plan,
};

static size_t length_of(const struct nn_pass *pass)
{
    return ((const struct options *)pass->layers[0]->layer->options)->length;
}

static void plan_pass(const struct nn_pass *pass, size_t lanes, struct nn_pass_plan *out)
{
    out->workspace_bytes = nn_positions_workspace(pass->out.channels, lanes);
    out->in_place = true;
    out->gradient_in_place = true;
}

static void forward(const struct nn_pass *pass, const struct nn_run *run, const struct nn_view *x,
                    struct nn_view y)
{
    const struct nn_steps steps = nn_steps_of(run);
    nn_positions_add(run->exec, &steps, y.data, y.ld, x[0].data, x[0].ld,
                     nn_placed_value(pass->layers[0], NN_ROLE_WEIGHT), length_of(pass),
                     pass->out.channels);
}

static void backward(const struct nn_pass *pass, const struct nn_run *run,
                     const struct nn_backward *args)
{
    const struct nn_steps steps = nn_steps_of(run);
    nn_real *d_table = nn_placed_grad(pass->layers[0], NN_ROLE_WEIGHT);
    struct nn_view d_x = args->d_x[0].view;
    if (d_table) {
        nn_positions_gradient(run->exec, &steps, d_table, length_of(pass), args->d_y.data,
                              args->d_y.ld, pass->out.channels);
    }
    if (d_x.data && d_x.data != args->d_y.data) {
        nn_copy(run->exec, d_x.data, d_x.ld, args->d_x[0].add, args->d_y.data, args->d_y.ld,
                run->batch, pass->out.channels);
    }
}

const struct nn_operator nn_op_positional_encoding = {
    .name = "positional_encoding",
    .pattern = {"positional_encoding"},
    .plan = plan_pass,
    .forward = forward,
    .backward = backward,
};
