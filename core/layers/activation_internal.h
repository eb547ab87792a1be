/* SPDX-License-Identifier: MIT
 *
 * What layers share that apply one function to each value: a file has its option, its derivation
 * and a row that says which function it is.
 */
#ifndef NN_LAYERS_ACTIVATION_INTERNAL_H
#define NN_LAYERS_ACTIVATION_INTERNAL_H

#include "core/layers/kinds_internal.h"
#include "core/layers/shape_internal.h"

/* Of the kinds that have an option at all. */
struct nn_activation_options {
    double slope; /* what the kernel takes as its parameter: leaky_relu's slope, elu's alpha */
};

/* Plan: backward is told by the output, so the pass runs in place; or by the input. */
void nn_activation_pass_plan(const struct nn_pass *pass, size_t lanes, struct nn_pass_plan *out);
void nn_activation_pass_forward(const struct nn_pass *pass, const struct nn_run *run,
                                const struct nn_view *x, struct nn_view y);
void nn_activation_pass_backward(const struct nn_pass *pass, const struct nn_run *run,
                                 const struct nn_backward *args);

#endif
