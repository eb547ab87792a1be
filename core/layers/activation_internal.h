/* SPDX-License-Identifier: MIT
 *
 * What the operators of activations share.
 */
#ifndef NN_LAYERS_ACTIVATION_INTERNAL_H
#define NN_LAYERS_ACTIVATION_INTERNAL_H

#include "core/layers/kinds_internal.h"
#include "core/layers/shape_internal.h"

struct nn_curve {
    enum nn_activation_function function;
    double slope;
};

/* Plans: backward is told by the output, so the pass runs in place; or by the input. */
void nn_curve_plan_output(const struct nn_pass *pass, size_t lanes, struct nn_pass_plan *out);
void nn_curve_plan_input(const struct nn_pass *pass, size_t lanes, struct nn_pass_plan *out);

void nn_curve_forward(const struct nn_pass *pass, const struct nn_run *run, struct nn_curve curve,
                      const struct nn_view *x, struct nn_view y);
/* told: the output or the input, as the plan says. */
void nn_curve_backward(const struct nn_pass *pass, const struct nn_run *run, struct nn_curve curve,
                       struct nn_view told, const struct nn_backward *args);

#endif
