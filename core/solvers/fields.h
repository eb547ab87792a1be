/* SPDX-License-Identifier: MIT
 *
 * The rows that decode struct nn_solver_options, for the field table of a struct that holds one:
 * in JSON a solver's options stand flat beside those of the training loop.
 */
#ifndef NN_SOLVERS_FIELDS_H
#define NN_SOLVERS_FIELDS_H

#include "core/json/json.h"
#include "core/solvers/solvers.h"

#define NN_SOLVER_AT(base, member) ((base) + offsetof(struct nn_solver_options, member))

/* base: offset of the struct nn_solver_options in its owner. */
/* clang-format off */
#define NN_SOLVER_FIELDS(base)                                                                     \
    {.name = "solver", .type = JX_ENUM, .offset = NN_SOLVER_AT(base, kind),                        \
     .choices = nn_solver_choices, .fallback = "\"sgdm\"",                                         \
     .doc = "the rule that turns gradients into moves"},                                           \
    {.name = "learning_rate", .type = JX_REAL, .offset = NN_SOLVER_AT(base, learning_rate),        \
     .given = NN_SOLVER_AT(base, learning_rate_given) + 1, .min = 0, .max = 1e12,                  \
     .above_min = true, .nullable = true,                                                          \
     .doc = "initial learning rate; default 0.01 for sgdm, 0.001 for the others"},           \
    {.name = "momentum", .type = JX_REAL, .offset = NN_SOLVER_AT(base, momentum), .min = 0,        \
     .max = 1, .fallback = "0.9", .doc = "sgdm: share of the last move that is repeated"},         \
    {.name = "nesterov", .type = JX_BOOL, .offset = NN_SOLVER_AT(base, nesterov),                  \
     .fallback = "false", .doc = "sgdm: Nesterov's momentum, which looks one move ahead"},         \
    {.name = "gradient_decay_factor", .type = JX_REAL,                                             \
     .offset = NN_SOLVER_AT(base, gradient_decay_factor), .min = 0, .max = 1,                      \
     .below_max = true, .fallback = "0.9",                                                         \
     .doc = "adam and adamw: decay of the mean of the gradients"},                                 \
    {.name = "squared_gradient_decay_factor", .type = JX_REAL,                                     \
     .offset = NN_SOLVER_AT(base, squared_gradient_decay_factor),                                  \
     .given = NN_SOLVER_AT(base, squared_gradient_decay_factor_given) + 1, .min = 0, .max = 1,     \
     .below_max = true, .nullable = true,                                                          \
     .doc = "decay of the mean of the squares; default 0.9 for rmsprop, 0.999 for adam and "      \
            "adamw"},                                                                              \
    {.name = "epsilon", .type = JX_REAL, .offset = NN_SOLVER_AT(base, epsilon), .min = 0,          \
     .max = 1, .above_min = true, .fallback = "1e-8",                                              \
     .doc = "all but sgdm: added to the root of the mean square"},                                 \
    {.name = "l2", .type = JX_REAL, .offset = NN_SOLVER_AT(base, l2),                              \
     .given = NN_SOLVER_AT(base, l2_given) + 1, .min = 0, .max = 1e6, .nullable = true,            \
     .doc = "L2 regularisation of weights, added to the gradient; biases and batch norm have "     \
            "none; default 0.0001, for adamw 0"},                                                  \
    {.name = "weight_decay", .type = JX_REAL, .offset = NN_SOLVER_AT(base, weight_decay),          \
     .min = 0, .max = 1e6, .fallback = "0.01",                                                     \
     .doc = "adamw: times the learning rate, the share that weights shrink by at each step"},      \
    {.name = "gradient_clipping", .type = JX_OBJECT, .offset = NN_SOLVER_AT(base, clipping),       \
     .fields = nn_clipping_fields, .doc = "limit on the gradient, after L2"},                      \
    {.name = "schedule", .type = JX_OBJECT, .offset = NN_SOLVER_AT(base, schedule),                \
     .fields = nn_schedule_fields, .doc = "how the learning rate changes over the steps"},        \
    {.name = "weight_learning_rate_factor", .type = JX_REAL,                                       \
     .offset = NN_SOLVER_AT(base, weight_learning_rate_factor), .min = 0, .max = 1e6,              \
     .fallback = "1", .doc = "times the learning rate, for weights and batch-norm scales"},        \
    {.name = "bias_learning_rate_factor", .type = JX_REAL,                                         \
     .offset = NN_SOLVER_AT(base, bias_learning_rate_factor), .min = 0, .max = 1e6,                \
     .fallback = "1", .doc = "times the learning rate, for biases and batch-norm shifts"}
/* clang-format on */

#endif
