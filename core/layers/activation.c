/* SPDX-License-Identifier: MIT
 *
 * What the operators of activations share.
 */
#include "core/layers/activation_internal.h"

void nn_curve_plan_output(const struct nn_pass *pass, size_t lanes, struct nn_pass_plan *out)
{
    (void)pass;
    (void)lanes;
    out->needs_output = true;
    out->in_place = true;
    out->gradient_in_place = true;
}

void nn_curve_plan_input(const struct nn_pass *pass, size_t lanes, struct nn_pass_plan *out)
{
    (void)pass;
    (void)lanes;
    out->needs_input = true;
    out->gradient_in_place = true;
}

void nn_curve_forward(const struct nn_pass *pass, const struct nn_run *run, struct nn_curve curve,
                      const struct nn_view *x, struct nn_view y)
{
    const struct nn_activation_forward args = {.y = y.data,
                                               .x = x[0].data,
                                               .ldy = y.ld,
                                               .ldx = x[0].ld,
                                               .rows = nn_pass_rows(pass, run->batch),
                                               .columns = pass->out.channels,
                                               .slope = (nn_real)curve.slope};
    nn_activation_forward(run->exec, curve.function, &args);
}

void nn_curve_backward(const struct nn_pass *pass, const struct nn_run *run, struct nn_curve curve,
                       struct nn_view told, const struct nn_backward *args)
{
    const struct nn_activation_gradient grad = {.d_x = args->d_x[0].view.data,
                                                .d_y = args->d_y.data,
                                                .told = told.data,
                                                .ldd_x = args->d_x[0].view.ld,
                                                .ldd_y = args->d_y.ld,
                                                .ld_told = told.ld,
                                                .rows = nn_pass_rows(pass, run->batch),
                                                .columns = pass->out.channels,
                                                .slope = (nn_real)curve.slope,
                                                .accumulate = args->d_x[0].add};
    nn_activation_gradient(run->exec, curve.function, &grad);
}
