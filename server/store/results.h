/* SPDX-License-Identifier: MIT
 *
 * What finished trials say: evaluations, confusion matrices, predictions, results tables,
 * artefacts, log lines. Written by store_attempt_end and store_attempt_commit.
 */
#ifndef STORE_RESULTS_H
#define STORE_RESULTS_H

#include "server/store/attempts.h"
#include "server/store/trials.h"

struct store_evaluation {
    const char *part;
    int64_t sample_count;
    const char *document; /* JSON */
    char created_at[STORE_TIME_SIZE];
};
struct store_evaluation_list {
    struct store_evaluation *rows; /* train, validation, test; those there are */
    size_t n;
};
SV_MUST_CHECK enum sv_status
store_evaluations_list(struct store *store, const struct store_scope *scope, const char *trial_id,
                       struct store_memory *memory, struct store_evaluation_list *out_list,
                       struct sv_error *err);

/* "classification" or "regression", of an evaluated part. SV_ERR_NOT_FOUND: no such trial, or the
 * part has not been evaluated. */
SV_MUST_CHECK enum sv_status store_evaluation_task(struct store *store,
                                                   const struct store_scope *scope,
                                                   const char *trial_id, const char *part,
                                                   struct store_memory *memory,
                                                   const char **out_task, struct sv_error *err);

struct store_confusion {
    const char *const *classes;
    size_t n_classes;
    const int64_t *counts; /* n_classes x n_classes, rows = true, columns = predicted */
    int64_t samples;       /* of the part, with those that were given no class */
};
/* SV_ERR_NOT_FOUND: no such trial, or the part has no matrix. */
SV_MUST_CHECK enum sv_status
store_confusion_get(struct store *store, const struct store_scope *scope, const char *trial_id,
                    const char *part, struct store_memory *memory,
                    struct store_confusion *out_confusion, struct sv_error *err);

/* SV_ERR_NOT_FOUND: no such trial, or no step of it was measured. */
SV_MUST_CHECK enum sv_status store_profile_get(struct store *store, const struct store_scope *scope,
                                               const char *trial_id, struct store_memory *memory,
                                               struct store_profile *out_profile,
                                               struct sv_error *err);

struct store_prediction {
    int64_t sample; /* index in the prepared set */
    int32_t truth, predicted;
    float probability;
};
struct store_prediction_list {
    struct store_prediction *rows; /* in order of evaluation */
    size_t n;
    const char *next;
};
struct store_prediction_filter {
    const char *part;
    int truth, predicted; /* class index; -1: any */
    int wrong;            /* 1: only wrong ones, 0: only right ones, -1: either */
};
SV_MUST_CHECK enum sv_status
store_predictions_list(struct store *store, const struct store_scope *scope, const char *trial_id,
                       const struct store_prediction_filter *filter, const struct store_page *page,
                       struct store_memory *memory, struct store_prediction_list *out_list,
                       struct sv_error *err);

/* What an item was for in a trial: "train", "validation" or "test"; NULL where it cannot be told,
 * because nothing was evaluated. SV_ERR_NOT_FOUND: no such trial. */
SV_MUST_CHECK enum sv_status store_sample_part(struct store *store, const struct store_scope *scope,
                                               const char *trial_id, int64_t sample,
                                               struct store_memory *memory, const char **out_part,
                                               struct sv_error *err);

struct store_sequence_prediction {
    int64_t sample; /* index in the prepared set */
    const char *name;
    int64_t length;           /* steps */
    double target, predicted; /* at the last step */
    double rmse;              /* over its steps */
    int64_t worst_step;       /* from 1; of the largest absolute error, as these: */
    double worst_target, worst_predicted;
    const double *targets, *predictions; /* [n]; n is 0 without */
    size_t n;
};
struct store_sequence_prediction_list {
    struct store_sequence_prediction *rows; /* in order of evaluation */
    size_t n;
    const char *next;
};
struct store_sequence_filter {
    const char *part;
    int64_t sample;   /* -1: every one */
    bool steps;       /* with arrays, as one sample always has; not of worst_first */
    bool worst_first; /* by the largest absolute error, NaN first, instead of by place */
};
SV_MUST_CHECK enum sv_status
store_sequence_predictions_list(struct store *store, const struct store_scope *scope,
                                const char *trial_id, const struct store_sequence_filter *filter,
                                const struct store_page *page, struct store_memory *memory,
                                struct store_sequence_prediction_list *out_list,
                                struct sv_error *err);

/* The errors of all steps of a part of a regression. */
struct store_error_spread {
    int64_t sequences, steps;
    int64_t not_finite; /* steps with an error that is NaN or infinite: in no bin */
    double low, high;   /* least and greatest error; NaN without one */
    int64_t *bins;      /* [n_bins] steps by error, in equal bins from low to high */
    size_t n_bins;
    int64_t *samples, *at;       /* [n_points] sequence and step, from 1, of points taken evenly */
    double *targets, *predicted; /* [n_points] */
    size_t n_points;
};
/* points, n_bins: the most points and exactly so many bins, at least 1 each. Zeros when the part
 * has no sequences. SV_ERR_NOT_FOUND: no such trial. */
SV_MUST_CHECK enum sv_status
store_error_spread_get(struct store *store, const struct store_scope *scope, const char *trial_id,
                       const char *part, int64_t points, int64_t n_bins,
                       struct store_memory *memory, struct store_error_spread *out_spread,
                       struct sv_error *err);

/* One row of a job's results table. */
struct store_result_metric {
    const char *part, *metric;
    double value, low, high; /* low and high NaN without an interval */
    int64_t n;
};
struct store_result {
    struct store_trial trial;            /* without resolved */
    struct store_result_metric *metrics; /* train, validation, test, then by name */
    size_t n_metrics;
    double last_training_loss; /* of the summary, while it runs too; NaN: none */
};
struct store_result_list {
    struct store_result *rows;
    size_t n;
    const char *next;
};
/* filter->job_id must be set. */
SV_MUST_CHECK enum sv_status
store_results_list(struct store *store, const struct store_scope *scope,
                   const struct store_trial_filter *filter, const struct store_page *page,
                   struct store_memory *memory, struct store_result_list *out_list,
                   struct sv_error *err);

/* A metric of the job's own that gave no value on a part of a trial. */
struct store_failed_metric {
    char trial_id[SV_ID_SIZE];
    const char *part, *metric, *text;
};
struct store_failed_metric_list {
    struct store_failed_metric *rows; /* by trial, part and place in the job */
    size_t n;
};
/* Of one trial, or, with trial_id NULL, of all trials of a job. Nothing for what does not exist. */
SV_MUST_CHECK enum sv_status
store_failed_metrics_list(struct store *store, const struct store_scope *scope, const char *job_id,
                          const char *trial_id, struct store_memory *memory,
                          struct store_failed_metric_list *out_list, struct sv_error *err);

struct store_artefact {
    char id[SV_ID_SIZE];
    const char *kind, *media_type, *detail; /* detail: JSON or NULL */
    struct store_blob blob;
    char created_at[STORE_TIME_SIZE];
};
struct store_artefact_list {
    struct store_artefact *rows; /* by kind */
    size_t n;
};
SV_MUST_CHECK enum sv_status store_artefacts_list(struct store *store,
                                                  const struct store_scope *scope,
                                                  const char *trial_id, struct store_memory *memory,
                                                  struct store_artefact_list *out_list,
                                                  struct sv_error *err);

struct store_logged_line {
    int64_t n, fence;
    const char *level, *text;
    char created_at[STORE_TIME_SIZE];
};
struct store_log_list {
    struct store_logged_line *rows; /* oldest first */
    size_t n;
    const char *next;
};
SV_MUST_CHECK enum sv_status store_log_read(struct store *store, const struct store_scope *scope,
                                            const char *trial_id, const struct store_page *page,
                                            struct store_memory *memory,
                                            struct store_log_list *out_list, struct sv_error *err);

#endif
