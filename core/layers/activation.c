/* SPDX-License-Identifier: MIT
 *
 * The passes of activations. The operator of such a pass is the first member of its own row, which
 * says the function.
 */
#include "core/layers/activation_internal.h"

static const struct nn_activation_operator *row_of(const struct nn_pass *pass)
{
    return (const struct nn_activation_operator *)pass->op;
}

static nn_real slope_of(const struct nn_pass *pass)
{
    const struct nn_layer *layer = pass->layers[0]->layer;
    const struct nn_activation_options *options = layer->options;
    return layer->kind->options_size > 0 ? (nn_real)options->slope : 0;
}

void nn_activation_pass_plan(const struct nn_pass *pass, size_t lanes, struct nn_pass_plan *out)
{
    (void)lanes;
    out->needs_input = row_of(pass)->told_by_input;
    out->needs_output = !row_of(pass)->told_by_input;
    out->in_place = !row_of(pass)->told_by_input;
    out->gradient_in_place = true;
}

void nn_activation_pass_forward(const struct nn_pass *pass, const struct nn_run *run,
                                const struct nn_view *x, struct nn_view y)
{
    const struct nn_activation_forward args = {.y = y.data,
                                               .x = x[0].data,
                                               .ldy = y.ld,
                                               .ldx = x[0].ld,
                                               .rows = nn_pass_rows(pass, run->batch),
                                               .columns = pass->out.channels,
                                               .slope = slope_of(pass)};
    nn_activation_forward(run->exec, row_of(pass)->function, &args);
}

void nn_activation_pass_backward(const struct nn_pass *pass, const struct nn_run *run,
                                 const struct nn_backward *args)
{
    const struct nn_view told = row_of(pass)->told_by_input ? args->x[0] : args->y;
    const struct nn_activation_gradient grad = {.d_x = args->d_x[0].view.data,
                                                .d_y = args->d_y.data,
                                                .told = told.data,
                                                .ldd_x = args->d_x[0].view.ld,
                                                .ldd_y = args->d_y.ld,
                                                .ld_told = told.ld,
                                                .rows = nn_pass_rows(pass, run->batch),
                                                .columns = pass->out.channels,
                                                .slope = slope_of(pass),
                                                .accumulate = args->d_x[0].add};
    nn_activation_gradient(run->exec, row_of(pass)->function, &grad);
}
