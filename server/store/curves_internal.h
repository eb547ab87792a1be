/* SPDX-License-Identifier: MIT
 *
 * The points of running trials that are being watched, kept between reads, so that the next poll
 * reads from the database what is new and not the whole curve again.
 *
 * An attempt only appends points. So what is kept is a beginning of what is stored as long as the
 * trial's fence is the same; that kept and new points together are as many as the summary counts is
 * checked at every read, and what does not agree is read anew.
 */
#ifndef STORE_CURVES_INTERNAL_H
#define STORE_CURVES_INTERNAL_H

#include <pthread.h>

#include "server/store/thin_internal.h"

enum { STORE_METRICS_MAX = 256 }; /* of a trial */

/* One call of store_series_read. */
struct store_reading {
    const char *trial_id;
    const struct store_scope *scope;
    const struct store_series_query *query;
    struct store_memory *memory;
    struct store_series_list list;
};
SV_MUST_CHECK enum sv_status store_reading_begin(struct store_reading *reading,
                                                 struct sv_error *err);
bool store_series_wants(const struct store_series_query *query, int64_t step);
/* Adds the wanted names as text[]; null: all. */
void store_reading_names(const struct store_reading *reading, struct sql_params *params);

/* ---- what is kept (curves.c) ---- */

struct store_curve {
    char *metric;
    int64_t *steps;
    double *values;
    size_t n, capacity;
};

/* Of one trial. Its mutex is held by the one reader that brings it up to date. */
struct store_curve_set {
    pthread_mutex_t mutex;
    char trial_id[SV_ID_SIZE];
    int64_t fence; /* of the attempt whose points these are */
    struct store_curve *curves;
    size_t n;
    /* the rest belongs to struct store_curves and its mutex */
    size_t readers;
    size_t bytes;
    uint64_t used; /* when, by a counter */
    struct store_curve_set *next;
};

/* NULL when max_bytes is 0 or memory is short: nothing is kept then. */
struct store_curves *store_curves_create(size_t max_bytes);
void store_curves_destroy(struct store_curves *curves);
/* Points that one curve may have to be kept. */
size_t store_curves_points_max(const struct store_curves *curves);
struct store_curves *store_curves_of(struct store *store); /* pool.c; may be NULL */

/* The trial's set, locked, made if there is none; NULL when memory is short. */
struct store_curve_set *store_curves_lock(struct store_curves *curves, const char *trial_id);
/* Gives it back; drops what was used longest ago when there is too much. */
void store_curves_unlock(struct store_curves *curves, struct store_curve_set *set);
/* Forgets all points. */
void store_curve_set_clear(struct store_curve_set *set);
/* The curve, made if there is none; valid until the next call. NULL when memory is short. */
struct store_curve *store_curve_get(struct store_curve_set *set, const char *metric);
SV_MUST_CHECK bool store_curve_append(struct store_curve *curve, int64_t step, double value);

/* ---- reading through it (points_tail.c) ---- */

/* *out_done false: the trial does not run, or its curves are too long to be kept; reading->list is
 * then not filled. SV_ERR_NOT_FOUND is left to the caller. */
SV_MUST_CHECK enum sv_status store_curves_read(struct store *store, struct store_reading *reading,
                                               bool *out_done, struct sv_error *err);

#endif
