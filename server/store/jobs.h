/* SPDX-License-Identifier: MIT
 *
 * Jobs: submitted with all their trials in one transaction, listed, edited, paused, archived. A
 * job's state and counts are derived from its trials in every transaction that moves one.
 */
#ifndef STORE_JOBS_H
#define STORE_JOBS_H

#include "server/store/blobs.h"
#include "server/store/store.h"
#include "server/store/verbs.h"

struct store_trial_new {
    const char *parameters; /* JSON: the swept values */
    uint64_t seed;
    const char
        *resolved;    /* JSON: all that the trial's process needs; NULL: a search chooses later */
    char hash[65];    /* of the canonical resolved text */
    int max_attempts; /* >= 1 */
    int64_t total_steps; /* planned; 0: not known yet */
};

/* The checkpoint that a job's trials begin with, whatever becomes of the trial that wrote it. */
struct store_fork {
    char trial_id[SV_ID_SIZE];
    int64_t step;
    struct store_blob blob;
};

/* What a network of a job starts from; the weights cannot be deleted while the job is there. */
struct store_job_weights {
    const char *network;    /* 1 to 200 characters, unique in the job */
    const char *weights_id; /* must be ready: SV_ERR_WRONG_STATE; SV_ERR_NOT_FOUND */
};

struct store_job_new {
    const char *name;       /* "" allowed */
    const char *experiment; /* a name; NULL or "": none */
    const char *dataset_id; /* must be ready: SV_ERR_WRONG_STATE; SV_ERR_NOT_FOUND */
    const char *kind;
    const char *submitted, *resolved; /* JSON */
    const char *warnings;             /* JSON: a list; NULL: none */
    char hash[65];                    /* of the canonical resolved text */
    const char *headline_metric;      /* "<part>_<metric>" of the evaluation */
    bool headline_higher_is_better;
    const char *notes; /* "" allowed */
    const char *const *labels;
    size_t n_labels;
    int priority;                         /* higher is earlier */
    const char *duplicate_of;             /* id or NULL */
    const char *duplicate_of_trial;       /* id or NULL: a trial of that job which its own repeat */
    const struct store_fork *fork;        /* NULL: none */
    const struct store_trial_new *trials; /* index = position + 1 */
    size_t n_trials;                      /* >= 1 */
    const struct store_job_weights *weights;
    size_t n_weights;
};

/* idempotency may be NULL. */
SV_MUST_CHECK enum sv_status store_job_submit(struct store *store, const struct store_scope *scope,
                                              const struct store_job_new *job,
                                              const struct store_idempotency *idempotency,
                                              struct store_created *out_created,
                                              struct sv_error *err);

struct store_job {
    char id[SV_ID_SIZE];
    int64_t number;
    char experiment_id[SV_ID_SIZE]; /* "" = none */
    const char *experiment_name;    /* NULL = none */
    char dataset_id[SV_ID_SIZE];
    const char *dataset_name;
    const char *name, *kind, *notes;
    const char *state;      /* queued, running, paused, completed, stopped, cancelled, failed */
    const char *parameters; /* JSON: what is swept over, and its values; NULL: nothing */
    const char *submitted, *resolved, *warnings; /* JSON; NULL in lists */
    const char *headline_metric;
    bool headline_higher_is_better;
    const char *const *labels;
    size_t n_labels;
    int64_t priority;
    bool paused, archived;
    char duplicate_of[SV_ID_SIZE]; /* "" = none */
    int64_t trial_count, queued_count, running_count, paused_count, completed_count, stopped_count;
    int64_t cancelled_count, failed_count;
    int64_t steps_done, steps_total; /* over all trials; total 0 while not known */
    char best_trial_id[SV_ID_SIZE];  /* by the headline metric, discarded left out; "" = none */
    double best_value;               /* NaN = none */
    int64_t revision;
    const char *created_by;
    char created_at[STORE_TIME_SIZE], updated_at[STORE_TIME_SIZE];
    char started_at[STORE_TIME_SIZE], finished_at[STORE_TIME_SIZE]; /* "" = not yet */
};
struct store_job_list {
    struct store_job *rows; /* without documents */
    size_t n;
    const char *next;
};

SV_MUST_CHECK enum sv_status store_job_get(struct store *store, const struct store_scope *scope,
                                           const char *id, struct store_memory *memory,
                                           struct store_job *out_job, struct sv_error *err);

/* The best trial of those whose parameters have one set of values, by the headline metric,
 * discarded left out. */
struct store_job_best {
    const char *parameters; /* JSON: {parameter: value} */
    char trial_id[SV_ID_SIZE];
    double value;
};
struct store_job_best_list {
    struct store_job_best *rows; /* by the values, rising */
    size_t n;
};
/* For each set of values that the n parameters take in trials of the job. */
SV_MUST_CHECK enum sv_status store_job_bests(struct store *store, const struct store_scope *scope,
                                             const char *id, const char *const *parameters,
                                             size_t n, struct store_memory *memory,
                                             struct store_job_best_list *out_list,
                                             struct sv_error *err);

enum store_job_sort {
    STORE_JOBS_NEWEST,
    STORE_JOBS_OLDEST,
    STORE_JOBS_CHANGED, /* last change first */
    STORE_JOBS_BY_NAME,
};
struct store_job_filter {
    const char *state; /* NULL: any, as all here */
    const char *kind;
    const char *experiment_id;
    const char *dataset_id;
    const char *label;
    const char *search;                         /* part of the name, any case */
    int archived;                               /* 0: no, 1: yes, -1: either */
    const char *created_after, *created_before; /* RFC 3339 */
    int64_t number;                             /* 0: any */
    enum store_job_sort sort;
};
/* SV_ERR_INVALID_PARAMETER names a filter that is no time or id. */
SV_MUST_CHECK enum sv_status store_jobs_list(struct store *store, const struct store_scope *scope,
                                             const struct store_job_filter *filter,
                                             const struct store_page *page,
                                             struct store_memory *memory,
                                             struct store_job_list *out_list, struct sv_error *err);

/* Members that are NULL (labels: NULL, archived: -1) are left as they are. */
struct store_job_patch {
    const char *name, *notes;
    const char *const *labels;
    size_t n_labels;
    int archived;
    int64_t if_revision; /* SV_ERR_PRECONDITION when it is another; 0: any */
};
SV_MUST_CHECK enum sv_status store_job_patch(struct store *store, const struct store_scope *scope,
                                             const char *id, const struct store_job_patch *patch,
                                             struct sv_error *err);

/* Holds or lets go the job's trials in the queue; running ones go on. Repeating is harmless. */
SV_MUST_CHECK enum sv_status store_job_hold(struct store *store, const struct store_scope *scope,
                                            const char *id, bool paused, struct sv_error *err);

/* Applies a verb to every trial of the job, in one transaction; those it refuses are counted. */
SV_MUST_CHECK enum sv_status store_job_apply(struct store *store, const struct store_scope *scope,
                                             const char *id, const struct store_verb *verb,
                                             struct store_applied *out_applied,
                                             struct sv_error *err);

#endif
