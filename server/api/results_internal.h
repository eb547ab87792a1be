/* SPDX-License-Identifier: MIT
 *
 * The results of a job: rows, columns, and groups of trials that differ in the seed alone.
 */
#ifndef API_RESULTS_INTERNAL_H
#define API_RESULTS_INTERNAL_H

#include "server/api/jobs_internal.h"
#include "server/store/results.h"

struct results_column {
    char name[128]; /* "validation_accuracy" */
    const char *part, *metric;
    bool custom; /* the job's own: a column even where no trial has a value */
};

struct results_group {
    const char *parameters; /* JSON */
    size_t count;           /* trials of the group, finished or not */
    const size_t *members;  /* rows */
};

struct results {
    struct store_memory memory;
    struct store_job job;
    json_t *resolved; /* of the job; names of columns point into it */
    struct store_result *rows;
    size_t n;
    struct results_column *columns;
    size_t n_columns;
    struct results_group *groups;
    size_t n_groups;
    struct store_failed_metric_list failed;
    size_t *members;  /* of all groups, one after the other */
    const char *next; /* of the store: where the next page of rows begins; NULL: nowhere */
};

/* What is asked for. */
struct results_ask {
    struct store_trial_filter filter;
    const struct store_page *page; /* of rows; NULL: all of them */
};

/* Rows of the job ask->filter.job_id, with the columns and groups of these rows. SV_ERR_NOT_FOUND.
 * The caller clears out_results. */
SV_MUST_CHECK enum sv_status results_read(struct api_ctx *ctx, const struct http_request *req,
                                          const struct results_ask *ask,
                                          struct results *out_results, struct sv_error *err);
void results_clear(struct results *results);

/* The cell of a row, or NULL. */
const struct store_result_metric *results_metric(const struct store_result *row,
                                                 const struct results_column *column);

/* Over the group's trials that have a finite value. */
struct results_mean {
    size_t n;
    double mean;      /* NaN for none */
    double deviation; /* of the sample (n - 1); NaN below 2 */
    double low, high; /* 95 % interval of the mean (Student's t); NaN below 2 */
};
struct results_mean results_mean_of(const struct results *results,
                                    const struct results_group *group,
                                    const struct results_column *column);
/* The same for plain numbers. */
struct results_mean results_mean_of_values(const double *values, size_t n);

#endif
