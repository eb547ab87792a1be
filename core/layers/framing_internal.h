/* SPDX-License-Identifier: MIT
 *
 * What spatial_padding and cropping share: an image with pixels around it, or without its edges.
 */
#ifndef NN_LAYERS_FRAMING_INTERNAL_H
#define NN_LAYERS_FRAMING_INTERNAL_H

#include "core/layers/shape_internal.h"

/* Options of both; cropping has but the size. */
struct nn_framing_options {
    struct jx_ints size; /* nn_sides_plan */
    int mode;            /* enum nn_framing_mode */
    double value;
};

void nn_framing_pass_forward(const struct nn_pass *pass, const struct nn_run *run,
                             const struct nn_view *x, struct nn_view y);
void nn_framing_pass_backward(const struct nn_pass *pass, const struct nn_run *run,
                              const struct nn_backward *args);

#endif
