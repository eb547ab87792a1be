/* SPDX-License-Identifier: MIT
 *
 * The rows that decode struct nn_scaling_options, for the field table of a struct that holds one
 * beside other things.
 */
#ifndef NN_DATA_SCALING_FIELDS_H
#define NN_DATA_SCALING_FIELDS_H

#include "core/data/scaling.h"

#define NN_SCALING_AT(base, member) ((base) + offsetof(struct nn_scaling_options, member))

/* base: offset of the struct nn_scaling_options in its owner. */
/* clang-format off */
#define NN_SCALING_FIELDS(base)                                                                    \
    {.name = "input_scaling", .type = JX_ENUM, .offset = NN_SCALING_AT(base, inputs),              \
     .fallback = "\"z_score\"", .choices = nn_scaling_rules,                                       \
     .doc = "how inputs are scaled"},                                                              \
    {.name = "target_scaling", .type = JX_ENUM, .offset = NN_SCALING_AT(base, targets),            \
     .fallback = "\"none\"", .choices = nn_scaling_rules,                                          \
     .doc = "how targets are scaled; metrics are in original units all the same"},                 \
    {.name = "keep_constant", .type = JX_BOOL, .offset = NN_SCALING_AT(base, keep_constant),       \
     .fallback = "false",                                                                          \
     .doc = "keep inputs that have one value in all that trains"},                                 \
    {.name = "rul_threshold", .type = JX_REAL, .offset = NN_SCALING_AT(base, target_max),          \
     .given = NN_SCALING_AT(base, target_max_given) + 1, .min = 0, .max = 1e9, .above_min = true,  \
     .nullable = true, .doc = "targets above it become it"}
/* clang-format on */

/* "none", "z_score", "range" */
extern const struct jx_choice nn_scaling_rules[];

#endif
