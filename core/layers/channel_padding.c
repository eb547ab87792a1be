/* SPDX-License-Identifier: MIT
 *
 * channel_padding: channels of zeros before and behind those of the input, so that a shortcut can
 * be added to a branch with more channels.
 */
#include <string.h>

#include "core/layers/kinds_internal.h"
#include "core/layers/shape_internal.h"

struct options {
    size_t before, after;
};

static const struct jx_field FIELDS[] = {
    {.name = "before",
     .type = JX_SIZE,
     .offset = offsetof(struct options, before),
     .min = 0,
     .max = 65536,
     .fallback = "0",
     .doc = "channels of zeros before the first"},
    {.name = "after",
     .type = JX_SIZE,
     .offset = offsetof(struct options, after),
     .min = 0,
     .max = 65536,
     .fallback = "0",
     .doc = "channels of zeros behind the last"},
    JX_END,
};

static enum nn_status plan(const struct nn_layer *layer, const struct nn_layer_input *in,
                           size_t n_in, const struct nn_network_bind *bind,
                           struct nn_layer_plan *out, struct nn_layer_issue *issue)
{
    (void)n_in;
    (void)bind;
    (void)issue;
    const struct options *options = layer->options;
    struct nn_shape shape = in[0].shape;
    shape.channels += options->before + options->after;
    *out = (struct nn_layer_plan){.out = shape};
    return NN_OK;
}

const struct nn_layer_kind nn_kind_channel_padding = {
    .name = "channel_padding",
    .doc = "channels of zeros beside those of the input",
    .fields = FIELDS,
    .options_size = sizeof(struct options),
    .min_inputs = 1,
    .max_inputs = 1,
    .on_sequences = NN_SEQUENCES_BY_STEP,
    .plan = plan,
};

static size_t before_of(const struct nn_pass *pass)
{
    return ((const struct options *)pass->layers[0]->layer->options)->before;
}

static void forward(const struct nn_pass *pass, const struct nn_run *run, const struct nn_view *x,
                    struct nn_view y)
{
    size_t rows = nn_pass_rows(pass, run->batch), before = before_of(pass);
    size_t channels = pass->in[0].channels, after = pass->out.channels - before - channels;
    for (size_t r = 0; r < rows; r++) {
        nn_real *row = y.data + r * y.ld;
        memset(row, 0, before * sizeof *row);
        memset(row + before + channels, 0, after * sizeof *row);
    }
    nn_copy(run->exec, y.data + before, y.ld, false, x[0].data, x[0].ld, rows, channels);
}

static void backward(const struct nn_pass *pass, const struct nn_run *run,
                     const struct nn_backward *args)
{
    struct nn_view columns = nn_view_columns(args->d_y, before_of(pass));
    nn_copy(run->exec, args->d_x[0].view.data, args->d_x[0].view.ld, args->d_x[0].add, columns.data,
            columns.ld, nn_pass_rows(pass, run->batch), pass->in[0].channels);
}

const struct nn_operator nn_op_channel_padding = {
    .name = "channel_padding",
    .pattern = {"channel_padding"},
    .plan = nn_bare_pass_plan,
    .forward = forward,
    .backward = backward,
};
