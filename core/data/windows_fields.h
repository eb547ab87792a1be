/* SPDX-License-Identifier: MIT
 *
 * The rows that decode struct nn_window_options, for the field table of a struct that holds one
 * beside other things.
 */
#ifndef NN_DATA_WINDOWS_FIELDS_H
#define NN_DATA_WINDOWS_FIELDS_H

#include "core/data/windows.h"
#include "core/json/json.h"

#define NN_WINDOWS_AT(base, member) ((base) + offsetof(struct nn_window_options, member))

/* base: offset of the struct nn_window_options in its owner. */
/* clang-format off */
#define NN_SEQUENCE_WINDOW_FIELDS(base)                                                            \
    {.name = "window", .type = JX_INT, .offset = NN_WINDOWS_AT(base, length),                      \
     .given = NN_WINDOWS_AT(base, length_given) + 1, .min = 1, .max = 1000000, .nullable = true,   \
     .unit = "steps",                                                                              \
     .doc = "sequences: they are cut into windows of so many steps, the last of which ends with "  \
            "the sequence; a shorter sequence is one window; default: they stay whole"},           \
    {.name = "window_stride", .type = JX_INT, .offset = NN_WINDOWS_AT(base, stride), .min = 1,     \
     .max = 1000000, .fallback = "1", .unit = "steps",                                             \
     .doc = "steps from one window of a sequence to the next"},                                    \
    {.name = "window_test", .type = JX_ENUM, .offset = NN_WINDOWS_AT(base, tested),                \
     .choices = nn_windows_tested_choices, .fallback = "\"last\"",                                 \
     .doc = "which windows of its sequences the test part has; the other parts have every one"}
/* clang-format on */

/* "last", "every" */
extern const struct jx_choice nn_windows_tested_choices[];

#endif
