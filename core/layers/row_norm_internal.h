/* SPDX-License-Identifier: MIT
 *
 * What layer_norm, group_norm and rms_norm share: options, parameters, passes. A norm without a
 * shift is not centred; one with groups is over the pixels of a sample, others over single rows.
 */
#ifndef NN_LAYERS_ROW_NORM_INTERNAL_H
#define NN_LAYERS_ROW_NORM_INTERNAL_H

#include "core/layers/kinds_internal.h"
#include "core/layers/shape_internal.h"

struct nn_row_norm_options {
    size_t groups; /* 0: over all channels of each row */
    double epsilon;
    struct nn_factor_options factors;
};

/* clang-format off */
#define NN_ROW_NORM_EPSILON(normal)                                                                \
    {.name = "epsilon", .type = JX_REAL, .offset = offsetof(struct nn_row_norm_options, epsilon),  \
     .min = 0, .max = 1, .above_min = true, .fallback = normal,                                    \
     .doc = "added to the mean square"}
/* clang-format on */

/* The output is shaped like the input; parameters weight and, with `shift`, bias. */
void nn_row_norm_plan(const struct nn_layer *layer, const struct nn_layer_input *in, bool shift,
                      struct nn_layer_plan *out);

void nn_row_norm_pass_plan(const struct nn_pass *pass, size_t lanes, struct nn_pass_plan *out);
void nn_row_norm_pass_forward(const struct nn_pass *pass, const struct nn_run *run,
                              const struct nn_view *x, struct nn_view y);
void nn_row_norm_pass_backward(const struct nn_pass *pass, const struct nn_run *run,
                               const struct nn_backward *args);

#endif
