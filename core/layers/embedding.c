/* SPDX-License-Identifier: MIT
 *
 * embedding: a learned row for each of a number of ids. The id of a step is a number of the data
 * set, in one column of the sequences: hence the input behind which it stands is not normalised.
 */
#include <math.h>
#include <stdio.h>

#include "core/layers/steps_internal.h"

struct options {
    size_t ids, outputs, column;
    struct nn_factor_options factors;
};

static const struct jx_field FIELDS[] = {
    {.name = "ids",
     .type = JX_SIZE,
     .offset = offsetof(struct options, ids),
     .min = 1,
     .max = 1048576,
     .required = true,
     .doc = "how many ids there are: 0, 1, ... below this number"},
    {.name = "outputs",
     .type = JX_SIZE,
     .offset = offsetof(struct options, outputs),
     .min = 1,
     .max = 65536,
     .required = true,
     .doc = "numbers of an id's row"},
    {.name = "column",
     .type = JX_SIZE,
     .offset = offsetof(struct options, column),
     .min = 0,
     .max = 65535,
     .fallback = "0",
     .doc = "which of the input's columns holds the id; the others are not read"},
    NN_FACTOR_FIELD(struct options, factors, weight_learning_rate_factor, "1",
                    "times the learning rate, for the rows"),
    NN_FACTOR_FIELD(struct options, factors, weight_l2_factor, "0",
                    "times the L2 factor, for the rows"),
    JX_END,
};

static enum nn_status plan(const struct nn_layer *layer, const struct nn_layer_input *in,
                           size_t n_in, const struct nn_network_bind *bind,
                           struct nn_layer_plan *out, struct nn_layer_issue *issue)
{
    (void)n_in;
    (void)bind;
    const struct options *options = layer->options;
    size_t count;
    if (!in[0].as_given) {
        return nn_layer_refuse(issue, NULL,
                               "put it right behind a sequence_input with normalisation \"none\", "
                               "and in a job give data.input_scaling \"none\"",
                               "the ids of an embedding must come as the data set holds them");
    }
    if (options->column >= in[0].shape.channels) {
        return nn_layer_refuse(issue, "column", "count the columns from 0",
                               "there is no column %zu among %zu", options->column,
                               in[0].shape.channels);
    }
    if (!nn_layer_count((const size_t[4]){options->ids, options->outputs, 1, 1}, &count)) {
        return nn_layer_refuse(issue, "ids", "use fewer",
                               "the rows of this layer are too many to count");
    }
    *out = (struct nn_layer_plan){
        .out = {1, 1, options->outputs}, .sequence = true, .n_parameters = 1};
    out->parameters[0] = (struct nn_parameter_plan){
        .suffix = "weight",
        .role = NN_ROLE_WEIGHT,
        .learnable = true,
        .ndim = 2,
        .shape = {options->ids, options->outputs},
        .extent = {options->ids, options->outputs, 1, 1},
        .order = {0, 1, 2, 3},
        .learning_rate_factor = options->factors.weight_learning_rate_factor,
        .l2_factor = options->factors.weight_l2_factor,
        .fan_in = 1, /* a row is not a sum of others: numbers of variance 1, as PyTorch's */
        .fan_out = 1,
    };
    return NN_OK;
}

static bool reads(const struct nn_layer *layer, const nn_real *step, char *text, size_t size)
{
    const struct options *options = layer->options;
    double id = (double)step[options->column];
    if (id >= 0 && id < (double)options->ids && id == floor(id)) {
        return true;
    }
    (void)snprintf(text, size, "column %zu holds %g, and \"%s\" has the ids from 0 to %zu",
                   options->column, id, layer->name, options->ids - 1);
    return false;
}

const struct nn_layer_kind nn_kind_embedding = {
    .name = "embedding",
    .doc = "a learned row for the id that a step holds",
    .fields = FIELDS,
    .options_size = sizeof(struct options),
    .min_inputs = 1,
    .max_inputs = 1,
    .on_sequences = NN_SEQUENCES_WHOLE,
    .plan = plan,
    .reads = reads,
};

static void plan_pass(const struct nn_pass *pass, size_t lanes, struct nn_pass_plan *out)
{
    (void)lanes;
    out->needs_input = nn_placed_trains(pass->layers[0]);
}

static void forward(const struct nn_pass *pass, const struct nn_run *run, const struct nn_view *x,
                    struct nn_view y)
{
    const struct options *options = pass->layers[0]->layer->options;
    nn_embed(run->exec, y.data, y.ld, x[0].data + options->column, x[0].ld, run->batch,
             nn_placed_value(pass->layers[0], NN_ROLE_WEIGHT), options->ids, pass->out.channels);
}

/* An id has no neighbours: its gradient is 0. */
static void backward(const struct nn_pass *pass, const struct nn_run *run,
                     const struct nn_backward *args)
{
    const struct options *options = pass->layers[0]->layer->options;
    nn_real *d_table = nn_placed_grad(pass->layers[0], NN_ROLE_WEIGHT);
    struct nn_view d_x = args->d_x[0].view;
    if (d_table) {
        nn_embed_gradient(run->exec, d_table, args->x[0].data + options->column, args->x[0].ld,
                          run->batch, options->ids, args->d_y.data, args->d_y.ld,
                          pass->out.channels);
    }
    for (size_t r = 0; d_x.data && !args->d_x[0].add && r < run->batch; r++) {
        for (size_t c = 0; c < pass->in[0].channels; c++) {
            d_x.data[r * d_x.ld + c] = 0;
        }
    }
}

const struct nn_operator nn_op_embedding = {
    .name = "embedding",
    .pattern = {"embedding"},
    .plan = plan_pass,
    .forward = forward,
    .backward = backward,
};
