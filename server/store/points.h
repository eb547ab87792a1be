/* SPDX-License-Identifier: MIT
 *
 * Metric points and summaries as they are read. Written by store_attempt_commit.
 */
#ifndef STORE_POINTS_H
#define STORE_POINTS_H

#include "server/store/store.h"

struct store_summary {
    const char *metric;
    int64_t n;
    double last;
    int64_t last_step;
    bool has_extremes; /* false: no finite value yet */
    double min, max;
    int64_t min_step, max_step;
};
struct store_summary_list {
    struct store_summary *rows; /* by name */
    size_t n;
};
SV_MUST_CHECK enum sv_status store_summaries_list(struct store *store,
                                                  const struct store_scope *scope,
                                                  const char *trial_id, struct store_memory *memory,
                                                  struct store_summary_list *out_list,
                                                  struct sv_error *err);

struct store_series {
    const char *metric;
    int64_t *steps;
    double *values;
    size_t n;      /* what is handed out */
    int64_t total; /* points between after_step and to_step that there are */
};
struct store_series_query {
    const char *const *metrics; /* names; NULL: all of the trial */
    size_t n_metrics;
    int64_t after_step; /* points beyond it; -1 for all */
    size_t max_points;  /* per metric, 4 or more; 0: no thinning */
    int64_t to_step;    /* points up to it; 0: to the last */
};
struct store_series_list {
    struct store_series *rows; /* by name; a metric without points is left out */
    size_t n;
    char job_id[SV_ID_SIZE];
    int64_t job_revision; /* of the same snapshot as the points */
};
/* With max_points, exactly that many come back when there are more: the first, the last, and
 * smallest and largest of equal runs between, so that the extremes of the whole are among them.
 * Values that are not finite never count as extreme. Memory is bounded by what is handed out. */
SV_MUST_CHECK enum sv_status
store_series_read(struct store *store, const struct store_scope *scope, const char *trial_id,
                  const struct store_series_query *query, struct store_memory *memory,
                  struct store_series_list *out_list, struct sv_error *err);

#endif
