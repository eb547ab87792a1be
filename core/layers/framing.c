/* SPDX-License-Identifier: MIT
 *
 * Passes of spatial_padding and cropping.
 */
#include "core/layers/framing_internal.h"
#include "core/layers/kinds_internal.h"

static struct nn_framing framing_of(const struct nn_pass *pass, size_t batch)
{
    const struct nn_layer *layer = pass->layers[0]->layer;
    const struct nn_framing_options *options = layer->options;
    long sign = layer->kind == &nn_kind_cropping ? -1 : 1;
    struct nn_layer_issue issue;
    struct nn_sides s = {0};
    enum nn_status status = nn_sides_plan(&options->size, "size", &s, &issue);
    NN_ASSERT(status == NN_OK); /* it was when the network was built */
    return (struct nn_framing){.batch = batch,
                               .height = pass->in[0].height,
                               .width = pass->in[0].width,
                               .channels = pass->in[0].channels,
                               .out_height = pass->out.height,
                               .out_width = pass->out.width,
                               .top = sign * (long)s.top,
                               .left = sign * (long)s.left,
                               .mode = (enum nn_framing_mode)options->mode,
                               .value = (nn_real)options->value};
}

void nn_framing_pass_forward(const struct nn_pass *pass, const struct nn_run *run,
                             const struct nn_view *x, struct nn_view y)
{
    struct nn_framing framing = framing_of(pass, run->batch);
    nn_framing_forward(run->exec, &framing, y.data, y.ld, x[0].data, x[0].ld);
}

void nn_framing_pass_backward(const struct nn_pass *pass, const struct nn_run *run,
                              const struct nn_backward *args)
{
    struct nn_framing framing = framing_of(pass, run->batch);
    nn_framing_gradient(run->exec, &framing, args->d_x[0].view.data, args->d_x[0].view.ld,
                        args->d_x[0].add, args->d_y.data, args->d_y.ld);
}
