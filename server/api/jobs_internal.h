/* SPDX-License-Identifier: MIT
 *
 * Between the files about jobs and trials: how both are written, and verbs.
 */
#ifndef API_JOBS_INTERNAL_H
#define API_JOBS_INTERNAL_H

#include "server/api/show_internal.h"
#include "server/jobs/jobs.h"
#include "server/jobs/verbs.h"
#include "server/store/jobs.h"
#include "server/store/trials.h"

/* The job, with its ETag, as the answer to a change; applied (may be NULL) says what a verb did. */
SV_MUST_CHECK enum sv_status api_job_answer(struct api_ctx *ctx, const struct http_request *req,
                                            struct http_response *resp, const char *id,
                                            const struct store_applied *applied,
                                            struct sv_error *err);
/* Whole, with its ETag: for api_show and its kin. */
SV_MUST_CHECK enum sv_status api_job_read(struct api_ctx *ctx, const struct http_request *req,
                                          const char *id, struct api_seen *out_seen,
                                          struct sv_error *err);
/* An array of strings; NULL when out of memory. */
json_t *api_labels_encode(const char *const *labels, size_t n);
/* Labels as the store takes them: an array of count pointers into `labels`, freed by free(). NULL
 * when out of memory. */
const char **api_labels(const json_t *labels, size_t *out_count);

/* [{part, metric, text}] of the trial's metrics that gave no value. NULL when out of memory. */
struct store_failed_metric_list;
json_t *api_warnings_encode(const struct store_failed_metric_list *failed, const char *trial_id);

/* The members of a trial as JSON that a query may pick. */
#define API_TRIAL_FIELDS                                                                           \
    "id", "number", "job", "dataset", "index", "parameters", "seed", "state", "explanation",       \
        "requested", "held", "discarded", "notes", "labels", "step", "total_steps", "epoch",       \
        "phase", "checkpoint_step", "attempt", "max_attempts", "headline_metric",                  \
        "headline_value", "error", "seconds", "hash", "duplicated_from", "forked_from",            \
        "created_at", "queued_at", "started_at", "finished_at", "progress_at"

/* A trial as JSON without documents. */
json_t *api_trial_encode(const struct store_trial *trial);

/* The trial, as the answer to a verb; effect says what it did. */
SV_MUST_CHECK enum sv_status api_trial_answer(struct api_ctx *ctx, const struct http_request *req,
                                              struct http_response *resp, const char *id,
                                              const char *effect, struct sv_error *err);

/* A job that is to be made. */
struct api_submission {
    json_t *spec;                  /* borrowed */
    const char *job_id, *trial_id; /* duplicated from; NULL */
    const struct store_fork *fork; /* NULL: it begins as any job does */
};
/* Answers as POST /v1/jobs does: 201, or 200 for dry_run. */
SV_MUST_CHECK enum sv_status api_submit(struct api_ctx *ctx, const struct http_request *req,
                                        struct http_response *resp,
                                        const struct api_submission *submission,
                                        struct sv_error *err);
/* Makes it, one of many of a request, and answers nothing. */
SV_MUST_CHECK enum sv_status api_submit_quietly(struct api_ctx *ctx, const struct http_request *req,
                                                const struct api_submission *submission,
                                                struct store_created *out_created,
                                                struct sv_error *err);
/* The same job again, for bulk. */
SV_MUST_CHECK enum sv_status api_duplicate(struct api_ctx *ctx, const struct http_request *req,
                                           const char *job_id, struct store_created *out_created,
                                           struct sv_error *err);

/* What can be asked of a job or a trial. */
struct api_verb {
    const char *name; /* first member: the last part of the path */
    enum jobs_event event;
    bool is_archive, archived; /* a flag of the job, no event */
    bool creates;              /* another job, no event either */
};
/* Ended by a row without a name. */
extern const struct api_verb api_verbs[];
const struct api_verb *api_verb_find(const char *name);
/* The body of a verb. */
struct api_wish {
    unsigned states; /* restart: of the trials that it touches; else JOBS_ALL_STATES */
    int64_t epochs;  /* extend: in all */
};
/* Members of it, as bodies for many jobs have them too. */
extern const struct jx_field api_restart_state; /* an item of "states" */
enum { API_EPOCHS_MAX = 1000000 };              /* as in training */
/* {"states": ["failed"]} of a restart, {"epochs": 20} of an extension; other verbs' bodies name
 * nothing. body may be NULL. */
SV_MUST_CHECK enum sv_status api_verb_decode(const json_t *body, const struct api_verb *verb,
                                             struct api_wish *out_wish, struct sv_error *err);
/* Does it to a job; SV_ERR_WRONG_STATE when not one trial could take it. */
SV_MUST_CHECK enum sv_status api_verb_apply(struct api_ctx *ctx, const struct store_scope *scope,
                                            const char *job_id, const struct api_verb *verb,
                                            const struct api_wish *wish,
                                            struct store_applied *out_applied,
                                            struct sv_error *err);
/* More epochs for the trials of a job, or for one (the other id is NULL). SV_ERR_WRONG_STATE,
 * SV_ERR_INVALID_FIELD when none takes them. */
SV_MUST_CHECK enum sv_status api_extend(struct api_ctx *ctx, const struct store_scope *scope,
                                        const char *job_id, const char *trial_id, int64_t epochs,
                                        struct store_applied *out_applied, struct sv_error *err);

#endif
