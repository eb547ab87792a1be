/* SPDX-License-Identifier: MIT
 *
 * Metrics: the one table of what can be measured, and the evaluation of classifications
 * (regression.h: of regressions). All sums
 * are sample-weighted, in double, in the order in which the samples are added, so no result depends
 * on how samples were grouped into batches. Pure: no files, threads or clocks.
 */
#ifndef NN_METRICS_METRICS_H
#define NN_METRICS_METRICS_H

#include <jansson.h>

#include "core/base/base.h"

enum nn_direction { NN_DIRECTION_NONE, NN_DIRECTION_HIGHER, NN_DIRECTION_LOWER };

/* What a metric is computed from. */
enum nn_metric_needs {
    NN_NEEDS_STEP,        /* a training step: a point per step */
    NN_NEEDS_VALIDATION,  /* a validation during training: a point per validation */
    NN_NEEDS_PREDICTIONS, /* the evaluation of a part by the finished network */
    NN_NEEDS_CLOCK,       /* time: not reproducible */
};

/* What kind of prediction it is of. */
enum nn_metric_task { NN_OF_ANY, NN_OF_CLASSIFICATION, NN_OF_REGRESSION };

struct nn_metric {
    const char *name;
    const char *unit; /* "" = a pure number, "target" = the unit of the target */
    enum nn_direction direction;
    enum nn_metric_needs needs;
    enum nn_metric_task task;
    const char *doc;
};

/* The table, and a row by name (NULL if unknown). */
const struct nn_metric *nn_metric_table(size_t *out_count);
const struct nn_metric *nn_metric_find(const char *name);
const char *nn_direction_name(enum nn_direction direction);
const char *nn_metric_task_name(enum nn_metric_task task); /* "any" | "classification" | ... */

/* true when value beats best in the direction given. A NaN or infinite value never wins; a best of
 * NaN (nothing yet) loses against every finite value. */
bool nn_metric_better(enum nn_direction direction, double value, double best);

/* A number that may be absent: 0/0 (the precision of a class that is never predicted, the recall
 * of a class that does not occur). Absent is null in JSON, never 0. */
struct nn_quotient {
    bool defined;
    double value;     /* k / n */
    double low, high; /* 95 % Wilson interval */
};

/* k successes of n. */
struct nn_quotient nn_quotient_make(uint64_t k, uint64_t n);

/* Counts, rows = true class, columns = predicted class: counts[t * classes + p]. Samples that were
 * given no class are in no cell. */
struct nn_confusion {
    size_t classes;
    uint64_t *counts;
};

struct nn_class_result {
    uint64_t support;   /* samples of the class, with those that were given none */
    uint64_t predicted; /* samples predicted as the class */
    struct nn_quotient precision;
    struct nn_quotient recall;
    struct nn_quotient f1; /* 2 tp / (support + predicted); no interval (low, high NaN) */
};

/* The evaluation of one part. All arrays are owned by it. */
struct nn_evaluation {
    uint64_t samples;
    double loss; /* mean over the samples; NaN for none */
    struct nn_quotient accuracy;
    struct nn_quotient balanced_accuracy; /* mean recall of the classes that occur; no interval */
    struct nn_confusion confusion;
    struct nn_class_result *per_class; /* [classes] */
    size_t never_predicted;            /* classes that occur and are never predicted */
    uint64_t unclassified; /* of the samples: given no class, as their scores were no numbers */
};

/* Adds samples up. */
struct nn_evaluator;
NN_MUST_CHECK enum nn_status nn_evaluator_create(size_t classes, struct nn_evaluator **out,
                                                 struct nn_error *err);
void nn_evaluator_destroy(struct nn_evaluator *evaluator);
void nn_evaluator_reset(struct nn_evaluator *evaluator);

/* n samples in order; truth and predicted are < classes, predicted may be NN_NO_CLASS, which is
 * wrong whatever the truth is; loss per sample. */
void nn_evaluator_add(struct nn_evaluator *evaluator, const uint32_t *truth,
                      const uint32_t *predicted, const double *loss, size_t n);

/* So far: cheap figures without allocation. NaN for no samples. */
double nn_evaluator_loss(const struct nn_evaluator *evaluator);
double nn_evaluator_accuracy(const struct nn_evaluator *evaluator);

/* The whole result of what was added. */
NN_MUST_CHECK enum nn_status nn_evaluator_finish(const struct nn_evaluator *evaluator,
                                                 struct nn_evaluation *out, struct nn_error *err);
void nn_evaluation_deinit(struct nn_evaluation *evaluation);

/* {"task": "classification", "samples", "loss", "accuracy", "accuracy_low", "accuracy_high",
 * "balanced_accuracy", "unclassified", "never_predicted": [class], "confusion_matrix": {"rows":
 * "true", "columns": "predicted", "classes": [..], "counts": [[..]]}, "per_class": [{"class",
 * "support", "predicted", "precision", "recall", "f1", "precision_low", ...}]}: a new reference,
 * NULL when out of memory. class_names[classes] is borrowed for the call. Absent values are null.
 */
json_t *nn_evaluation_encode(const struct nn_evaluation *evaluation,
                             const char *const *class_names);

/* Running summary of one metric: what lists show without reading points. */
struct nn_summary {
    double last, min, max; /* min and max over the finite values; NaN when there was none */
    uint64_t last_step, min_step, max_step;
    uint64_t count;
};
void nn_summary_add(struct nn_summary *summary, uint64_t step, double value);

#endif
