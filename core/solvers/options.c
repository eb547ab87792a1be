/* SPDX-License-Identifier: MIT
 *
 * Names, defaults and field tables of solvers, clipping and schedules. The rates that follow from
 * them: schedule.c.
 */
#include "core/solvers/solvers.h"

/* Defaults that depend on the solver. */
struct solver_row {
    const char *name;
    double learning_rate;
    double squared_gradient_decay_factor;
    double l2;
};

static const struct solver_row SOLVERS[NN_SOLVER_COUNT] = {
    [NN_SOLVER_SGDM] = {"sgdm", 0.01, 0.0, 1e-4},
    [NN_SOLVER_RMSPROP] = {"rmsprop", 0.001, 0.9, 1e-4},
    [NN_SOLVER_ADAM] = {"adam", 0.001, 0.999, 1e-4},
    [NN_SOLVER_ADAMW] = {"adamw", 0.001, 0.999, 0.0},
};

const struct jx_choice nn_solver_choices[] = {
    {"sgdm", NN_SOLVER_SGDM, "stochastic gradient descent with momentum"},
    {"rmsprop", NN_SOLVER_RMSPROP, "rate divided by the root of the mean square"},
    {"adam", NN_SOLVER_ADAM, "means of gradient and square, bias corrected"},
    {"adamw", NN_SOLVER_ADAMW, "adam whose weight decay stays out of the means"},
    JX_END,
};

static const struct jx_choice CLIPPING_CHOICES[] = {
    {"none", NN_CLIPPING_NONE, "no limit"},
    {"l2norm", NN_CLIPPING_L2NORM, "each parameter's norm is limited"},
    {"global_l2norm", NN_CLIPPING_GLOBAL_L2NORM, "the norm over all parameters is limited"},
    {"absolute_value", NN_CLIPPING_ABSOLUTE_VALUE, "each element is limited"},
    JX_END,
};

const struct jx_field nn_clipping_fields[] = {
    {.name = "method",
     .type = JX_ENUM,
     .offset = offsetof(struct nn_clipping_options, method),
     .choices = CLIPPING_CHOICES,
     .fallback = "\"none\"",
     .doc = "what is limited"},
    {.name = "threshold",
     .type = JX_REAL,
     .offset = offsetof(struct nn_clipping_options, threshold),
     .min = 0,
     .max = 1e12,
     .above_min = true,
     .fallback = "1",
     .doc = "the limit"},
    JX_END,
};

static const struct jx_choice SCHEDULE_CHOICES[] = {
    {"none", NN_SCHEDULE_NONE, "the same rate throughout"},
    {"piecewise", NN_SCHEDULE_PIECEWISE, "times drop_factor every drop_period epochs"},
    {"cosine", NN_SCHEDULE_COSINE, "half a cosine down to minimum_learning_rate"},
    JX_END,
};

static const struct jx_choice WARMUP_UNITS[] = {
    {"steps", NN_WARMUP_STEPS, "length counts steps"},
    {"epochs", NN_WARMUP_EPOCHS, "length counts epochs"},
    JX_END,
};

#define WARMUP(member) offsetof(struct nn_warmup_options, member)
static const struct jx_field WARMUP_FIELDS[] = {
    {.name = "length",
     .type = JX_INT,
     .offset = WARMUP(length),
     .min = 0,
     .max = 1e9,
     .fallback = "0",
     .doc = "how long the rate grows; 0: it does not"},
    {.name = "unit",
     .type = JX_ENUM,
     .offset = WARMUP(unit),
     .choices = WARMUP_UNITS,
     .fallback = "\"steps\"",
     .doc = "what length counts"},
    {.name = "start_factor",
     .type = JX_REAL,
     .offset = WARMUP(start_factor),
     .min = 0,
     .max = 1,
     .above_min = true,
     .fallback = "0.1",
     .doc = "share of the scheduled rate that the first step has"},
    JX_END,
};

const struct jx_field nn_schedule_fields[] = {
    {.name = "kind",
     .type = JX_ENUM,
     .offset = offsetof(struct nn_schedule_options, kind),
     .choices = SCHEDULE_CHOICES,
     .fallback = "\"none\"",
     .doc = "the rule"},
    {.name = "drop_factor",
     .type = JX_REAL,
     .offset = offsetof(struct nn_schedule_options, drop_factor),
     .min = 0,
     .max = 1e12,
     .fallback = "0.1",
     .doc = "factor at each drop"},
    {.name = "drop_period",
     .type = JX_INT,
     .offset = offsetof(struct nn_schedule_options, drop_period),
     .min = 1,
     .max = 1e9,
     .fallback = "10",
     .doc = "epochs between drops",
     .unit = "epochs"},
    {.name = "minimum_learning_rate",
     .type = JX_REAL,
     .offset = offsetof(struct nn_schedule_options, minimum_learning_rate),
     .min = 0,
     .max = 1e12,
     .fallback = "0",
     .doc = "cosine: the rate at its end, and from then on"},
    {.name = "period",
     .type = JX_INT,
     .offset = offsetof(struct nn_schedule_options, period),
     .given = JX_GIVEN(struct nn_schedule_options, period_given),
     .min = 1,
     .max = 1e9,
     .nullable = true,
     .doc = "cosine: epochs until its end; default: all that the job asks for",
     .unit = "epochs"},
    {.name = "warmup",
     .type = JX_OBJECT,
     .offset = offsetof(struct nn_schedule_options, warmup),
     .fields = WARMUP_FIELDS,
     .doc = "linear growth of the rate at the beginning, with any schedule"},
    JX_END,
};

static bool is_sgdm(const struct nn_solver_options *options)
{
    return options->kind == NN_SOLVER_SGDM;
}

static bool has_squares(const struct nn_solver_options *options)
{
    return options->kind != NN_SOLVER_SGDM;
}

static bool has_means(const struct nn_solver_options *options)
{
    return options->kind == NN_SOLVER_ADAM || options->kind == NN_SOLVER_ADAMW;
}

static bool is_adamw(const struct nn_solver_options *options)
{
    return options->kind == NN_SOLVER_ADAMW;
}

static bool clips(const struct nn_solver_options *options)
{
    return options->clipping.method != NN_CLIPPING_NONE;
}

static bool is_piecewise(const struct nn_solver_options *options)
{
    return options->schedule.kind == NN_SCHEDULE_PIECEWISE;
}

static bool is_cosine(const struct nn_solver_options *options)
{
    return options->schedule.kind == NN_SCHEDULE_COSINE;
}

static bool warms_up(const struct nn_solver_options *options)
{
    return options->schedule.warmup.length > 0;
}

const struct nn_solver_condition nn_solver_conditions[NN_SOLVER_CONDITIONS] = {
    {"momentum", "the solver sgdm", is_sgdm},
    {"nesterov", "the solver sgdm", is_sgdm},
    {"gradient_decay_factor", "the solver adam or adamw", has_means},
    {"squared_gradient_decay_factor", "the solver rmsprop, adam or adamw", has_squares},
    {"epsilon", "the solver rmsprop, adam or adamw", has_squares},
    {"weight_decay", "the solver adamw", is_adamw},
    {"gradient_clipping.threshold", "a gradient_clipping.method", clips},
    {"schedule.drop_factor", "the schedule piecewise", is_piecewise},
    {"schedule.drop_period", "the schedule piecewise", is_piecewise},
    {"schedule.minimum_learning_rate", "the schedule cosine", is_cosine},
    {"schedule.period", "the schedule cosine", is_cosine},
    {"schedule.warmup.unit", "a schedule.warmup.length", warms_up},
    {"schedule.warmup.start_factor", "a schedule.warmup.length", warms_up},
};

const char *nn_solver_name(enum nn_solver_kind kind)
{
    return SOLVERS[kind].name;
}

struct nn_solver_options nn_solver_options_default(enum nn_solver_kind kind)
{
    struct nn_solver_options options = {
        .kind = (int)kind,
        .momentum = 0.9,
        .gradient_decay_factor = 0.9,
        .epsilon = 1e-8,
        .weight_decay = 0.01,
        .clipping = {.method = NN_CLIPPING_NONE, .threshold = 1.0},
        .schedule = {.kind = NN_SCHEDULE_NONE,
                     .drop_factor = 0.1,
                     .drop_period = 10,
                     .warmup = {.start_factor = 0.1}},
        .weight_learning_rate_factor = 1.0,
        .bias_learning_rate_factor = 1.0,
    };
    nn_solver_options_resolve(&options);
    return options;
}

void nn_solver_options_resolve(struct nn_solver_options *options)
{
    const struct solver_row *row = &SOLVERS[options->kind];
    if (!options->learning_rate_given) {
        options->learning_rate = row->learning_rate;
        options->learning_rate_given = true;
    }
    if (!options->squared_gradient_decay_factor_given) {
        options->squared_gradient_decay_factor = row->squared_gradient_decay_factor;
        options->squared_gradient_decay_factor_given = true;
    }
    if (!options->l2_given) {
        options->l2 = row->l2;
        options->l2_given = true;
    }
}
