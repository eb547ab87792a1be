/* SPDX-License-Identifier: MIT
 *
 * Solvers: sgdm, rmsprop, adam and adamw over a list of parameters, with L2 regularisation,
 * gradient clipping, learning-rate factors and schedules. The rules and their defaults are in
 * README.md. A solver is confined to one thread; it may use a pool, on which its bits do not
 * depend.
 */
#ifndef NN_SOLVERS_SOLVERS_H
#define NN_SOLVERS_SOLVERS_H

#include "core/base/base.h"
#include "core/base/memory.h"
#include "core/json/json.h"
#include "core/kernels/exec.h"

enum nn_solver_kind {
    NN_SOLVER_SGDM,
    NN_SOLVER_RMSPROP,
    NN_SOLVER_ADAM,
    NN_SOLVER_ADAMW,
    NN_SOLVER_COUNT
};

enum nn_clipping_method {
    NN_CLIPPING_NONE,
    NN_CLIPPING_L2NORM,         /* each parameter whose norm is over the threshold is scaled down */
    NN_CLIPPING_GLOBAL_L2NORM,  /* all parameters are scaled by one factor */
    NN_CLIPPING_ABSOLUTE_VALUE, /* each element is cut to [-threshold, threshold] */
};

enum nn_schedule_kind { NN_SCHEDULE_NONE, NN_SCHEDULE_PIECEWISE, NN_SCHEDULE_COSINE };

enum nn_warmup_unit { NN_WARMUP_STEPS, NN_WARMUP_EPOCHS };

struct nn_clipping_options {
    int method;       /* enum nn_clipping_method */
    double threshold; /* > 0; unused with none */
};

/* The first steps, with any schedule: the rate grows linearly to what the schedule says. */
struct nn_warmup_options {
    int64_t length; /* 0: none */
    int unit;       /* enum nn_warmup_unit */
    double start_factor;
};

struct nn_schedule_options {
    int kind;                     /* enum nn_schedule_kind */
    double drop_factor;           /* piecewise: the rate is multiplied by it ... */
    int64_t drop_period;          /* ... each time this many epochs are over */
    double minimum_learning_rate; /* cosine: where it ends ... */
    int64_t period;               /* ... when this many epochs are over */
    bool period_given;
    struct nn_warmup_options warmup;
};

/* Some defaults depend on the kind; where the caller gave no value of his own (`..._given` false)
 * nn_solver_options_resolve fills it in. */
struct nn_solver_options {
    int kind; /* enum nn_solver_kind */
    double learning_rate;
    bool learning_rate_given;
    double momentum;                      /* sgdm */
    bool nesterov;                        /* sgdm */
    double gradient_decay_factor;         /* adam, adamw: b1 */
    double squared_gradient_decay_factor; /* all but sgdm: b2 */
    bool squared_gradient_decay_factor_given;
    double epsilon; /* all but sgdm */
    double l2;      /* times the parameter's l2_factor, added to its gradient */
    bool l2_given;
    double weight_decay; /* adamw: times the parameter's l2_factor and rate, off its value */
    struct nn_clipping_options clipping;
    struct nn_schedule_options schedule;
    double weight_learning_rate_factor; /* weights and batch-norm scales */
    double bias_learning_rate_factor;   /* biases and batch-norm shifts */
};

/* Parts of the field table; in the "training" object a solver's options stand flat beside those of
 * the loop (core/solvers/fields.h has their rows). */
extern const struct jx_field nn_clipping_fields[];
extern const struct jx_field nn_schedule_fields[];
extern const struct jx_choice nn_solver_choices[];

/* Defaults of a kind (experiments: B4), complete and valid. */
struct nn_solver_options nn_solver_options_default(enum nn_solver_kind kind);

/* Fills in what depends on the kind and was not given, and marks it as given. */
void nn_solver_options_resolve(struct nn_solver_options *options);

/* "sgdm", ...; never NULL. */
const char *nn_solver_name(enum nn_solver_kind kind);

/* What a range cannot say, of resolved options (a cosine needs its period): ERR_INVALID, pointer
 * relative to the object that holds the options. */
NN_MUST_CHECK enum nn_status nn_solver_options_check(const struct nn_solver_options *options,
                                                     struct nn_error *err);

/* Options that count only beside others. */
struct nn_solver_condition {
    const char *path;  /* below the object that holds the options: "schedule.drop_factor" */
    const char *needs; /* what must be chosen: "the schedule piecewise" */
    bool (*holds)(const struct nn_solver_options *options);
};
enum { NN_SOLVER_CONDITIONS = 13 };
extern const struct nn_solver_condition nn_solver_conditions[NN_SOLVER_CONDITIONS];

/* The learning rate of a step (counted from 0 over the whole run; steps_per_epoch > 0) before the
 * parameters' factors. A function of the step alone. */
double nn_solver_learning_rate(const struct nn_solver_options *options, uint64_t step,
                               uint64_t steps_per_epoch);

/* Numbers of state that a solver keeps for each value: 1 or 2. */
size_t nn_solver_slots_per_value(int kind);

/* One trainable array. value and grad are borrowed for the solver's life. */
struct nn_solver_parameter {
    nn_real *value;
    nn_real *grad;
    size_t count;                /* > 0 */
    double l2_factor;            /* 1 for weights, 0 for biases and batch norm */
    double learning_rate_factor; /* 0 freezes */
};

struct nn_solver;

/* Bytes that nn_solver_create would take from memory. */
size_t nn_solver_plan_bytes(int kind, const struct nn_solver_parameter *parameters, size_t n);

/* options must be resolved; parameters are copied, their arrays borrowed. Of exec only kernels and
 * pool are used, both borrowed. ERR_MEMORY. */
NN_MUST_CHECK enum nn_status nn_solver_create(const struct nn_solver_options *options,
                                              const struct nn_solver_parameter *parameters,
                                              size_t n, struct nn_memory *memory,
                                              const struct nn_exec *exec, struct nn_solver **out,
                                              struct nn_error *err);
void nn_solver_destroy(struct nn_solver *solver);

/**
 * One update from the gradients: adds L2, clips, moves the values. Gradients are left in an
 * unspecified state. Returns the norm over all gradients as they came in (before L2 and clipping),
 * summed in double in a fixed order. When that is not finite nothing has been changed: the caller
 * reports divergence and the values are still those of the step before.
 */
double nn_solver_step(struct nn_solver *solver, double learning_rate);

/* The state that a checkpoint must hold: one block of reals (moments, velocities) and the number
 * of updates done. The block is borrowed and may be overwritten to restore. */
nn_real *nn_solver_slots(struct nn_solver *solver, size_t *out_count);
uint64_t nn_solver_updates(const struct nn_solver *solver);
void nn_solver_set_updates(struct nn_solver *solver, uint64_t updates);

#endif
