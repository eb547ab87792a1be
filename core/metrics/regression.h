/* SPDX-License-Identifier: MIT
 *
 * Evaluation of a regression over sequences: one response a step, in the target's own unit. A
 * single value a sample is a sequence of one step. Sums are in double, in the order in which steps
 * are added, so that no result depends on how sequences were grouped into batches or on threads.
 * Nothing here allocates or can fail.
 *
 * With y the prediction, t the target, d = y - t, n sequences i of S_i steps, N = sum of S_i:
 *     loss                     mean over i of  1 / (2 S_i) * sum over steps of (d / target_scale)^2
 *     rmse                     sqrt(sum d^2 / N)                            every step weighs alike
 *     mae                      sum |d| / N
 *     r2                       1 - sum d^2 / sum (t - mean t)^2
 *     mean_max_absolute_error  mean over i of  max over steps of |d|    every sequence weighs alike
 *     last_step_rmse           sqrt(mean over i of d^2 at the last step)
 *     phm08_score              sum over i, last step: exp(-d / a_early) - 1 for d < 0 (too early),
 *                              exp(d / a_late) - 1 for d >= 0
 * loss is that of training (half mean squared error per sequence). The score is equation 11 of
 * Saxena et al., "Damage Propagation Modeling for Aircraft Engine Run-to-Failure Simulation" (PHM
 * 2008), whose print swaps the two constants; by its own text late predictions cost more: 13 early,
 * 10 late.
 *
 * 95 % intervals: only loss and mean_max_absolute_error have one, Student's t for the mean of n
 * sequences, from two on. It takes sequences as independent and their mean as nearly normal; the
 * steps within one are not independent, so figures over steps have none, and the score, whose
 * summands grow exponentially, has none either.
 */
#ifndef NN_METRICS_REGRESSION_H
#define NN_METRICS_REGRESSION_H

#include <jansson.h>

#include "core/json/json.h"
#include "core/metrics/metrics.h"

struct nn_regression_options {
    double a_early;      /* > 0; of the score; 13 */
    double a_late;       /* > 0; of the score; 10 */
    double target_scale; /* > 0; what targets were divided by for training; 1 */
};

/* Table of the score's constants, {"a_early", "a_late"}, for job documents. The scale of targets is
 * not a choice and not in it. */
extern const struct jx_field nn_phm08_fields[];
/* 13, 10, 1. */
struct nn_regression_options nn_regression_defaults(void);

enum nn_regression_metric {
    NN_REGRESSION_LOSS,
    NN_REGRESSION_RMSE,
    NN_REGRESSION_MAE,
    NN_REGRESSION_R2,
    NN_REGRESSION_MEAN_MAX_ABSOLUTE_ERROR,
    NN_REGRESSION_LAST_STEP_RMSE,
    NN_REGRESSION_PHM08_SCORE,
    NN_REGRESSION_COUNT
};
/* Its name in nn_metric_table. */
const char *nn_regression_name(enum nn_regression_metric metric);

/* A mean under way: Welford's update, so that a large mean does not swallow the variance. */
struct nn_running_mean {
    double mean, squares; /* squares: sum of (x - mean)^2 */
    uint64_t n;
};

/* Adds up; a value in the caller's storage, to be made by nn_regression_init. */
struct nn_regression_sums {
    struct nn_regression_options options;
    struct nn_running_mean target; /* over steps */
    struct nn_running_mean loss, largest;
    double squared, absolute; /* over steps */
    double last_squared, score;
    uint64_t non_finite, non_finite_sequence, non_finite_step;
};

void nn_regression_init(struct nn_regression_sums *sums,
                        const struct nn_regression_options *options);

/* n sequences in order, packed one after the other: sequence i has lengths[i] >= 1 steps. */
void nn_regression_add(struct nn_regression_sums *sums, const double *predictions,
                       const double *targets, const uint32_t *lengths, size_t n);

/* One figure with the number of things it is of (steps or sequences). */
struct nn_figure {
    bool defined;       /* false: null in JSON, never 0 */
    double value;       /* not finite when an error was not: stored as such, and never wins */
    double low, high;   /* 95 %; NaN: none */
    uint64_t n;         /* steps for rmse, mae, r2; sequences for the rest */
    const char *reason; /* static: why it is not defined; NULL */
};

struct nn_regression_evaluation {
    struct nn_regression_options options;
    uint64_t sequences, steps;
    uint64_t non_finite;                           /* steps whose error is not finite */
    uint64_t non_finite_sequence, non_finite_step; /* the first of them, from 0, in order added */
    struct nn_figure figure[NN_REGRESSION_COUNT];
};

/* The result of what was added; more may be added after it. */
void nn_regression_finish(const struct nn_regression_sums *sums,
                          struct nn_regression_evaluation *out);

/* So far, for curves: NaN for no steps. */
double nn_regression_rmse(const struct nn_regression_sums *sums);
double nn_regression_loss(const struct nn_regression_sums *sums);

/* {"task": "regression", "samples" (sequences), "steps", every figure by name, "<name>_low" and
 *  "<name>_high" of those with an interval, "counts": {name: n}, "undefined": {name: reason},
 *  "phm08": {"a_early", "a_late"}, "non_finite": {"count", "sequence", "step"} | null,
 *  "confusion_matrix": null, "per_class": null}: a new reference, NULL when out of memory. */
json_t *nn_regression_encode(const struct nn_regression_evaluation *evaluation);

/* Two-sided 95 % quantile of Student's t with nu >= 1 degrees of freedom, to 1e-9. */
double nn_student_t95(uint64_t nu);

#endif
