/* SPDX-License-Identifier: MIT
 *
 * Trials as people see them: lists, one trial, what is asked of it, annotations, attempts. Workers
 * use attempts.h.
 *
 * What STORE_CHANGED does beside the state: to cancelled, or a restart (a final state to queued):
 * points, summaries, evaluations, artefacts and checkpoints go; paused to queued: they stay.
 */
#ifndef STORE_TRIALS_H
#define STORE_TRIALS_H

#include "server/store/store.h"
#include "server/store/verbs.h"

struct store_trial {
    char id[SV_ID_SIZE];
    int64_t number;
    char job_id[SV_ID_SIZE];
    int64_t job_number, job_revision;
    char dataset_id[SV_ID_SIZE];
    const char *kind;       /* of the job */
    int64_t index;          /* from 1 */
    const char *parameters; /* JSON */
    uint64_t seed;
    const char *resolved; /* JSON; NULL in lists */
    char hash[65];
    char duplicate_of[SV_ID_SIZE]; /* a trial; "" = none */
    char forked_from[SV_ID_SIZE];  /* a trial, whose checkpoint of forked_step it began with */
    int64_t forked_step;
    const char *notes;
    const char *const *labels;
    size_t n_labels;
    bool discarded, held;
    bool chosen;       /* false: a search has not given it a point that can be tried */
    const char *state; /* queued, running, paused, completed, stopped, cancelled, failed */
    int64_t attempt, max_attempts, fence;
    bool cancel_requested, stop_requested, pause_requested;
    int64_t step, total_steps, epoch; /* total 0: not known yet */
    const char *phase;                /* "", "training", "validating", "evaluating" */
    int64_t checkpoint_step;          /* 0: none */
    const char *headline_metric;
    double headline_value;                /* NaN: none or not a number */
    const char *error_class, *error_text; /* NULL unless failed */
    char created_at[STORE_TIME_SIZE], queued_at[STORE_TIME_SIZE];
    char started_at[STORE_TIME_SIZE], finished_at[STORE_TIME_SIZE]; /* "" = not yet */
    char progress_at[STORE_TIME_SIZE], heartbeat_at[STORE_TIME_SIZE];
    double seconds; /* of all attempts' windows so far */
};
struct store_trial_list {
    struct store_trial *rows; /* without resolved */
    size_t n;
    const char *next;
};

SV_MUST_CHECK enum sv_status store_trial_get(struct store *store, const struct store_scope *scope,
                                             const char *id, struct store_memory *memory,
                                             struct store_trial *out_trial, struct sv_error *err);

enum store_trial_sort {
    STORE_TRIALS_BY_INDEX, /* in order of submission, within a job that of the sweep */
    STORE_TRIALS_NEWEST,
    STORE_TRIALS_BEST,     /* by the headline value, best first; without one last */
    STORE_TRIALS_WORST,    /* the other way round; without one last too */
    STORE_TRIALS_BY_STATE, /* by name, then index */
    STORE_TRIALS_STARTED,
    STORE_TRIALS_FINISHED,
};
struct store_trial_filter {
    const char *job_id; /* NULL: any, as all here; BEST and WORST need a job */
    const char *state;
    const char *dataset_id;
    const char *error_class;
    const char *label;
    int discarded;         /* 0: no, 1: yes, -1: either */
    int64_t changed_since; /* revision of the job after which it changed, or may have; 0: any */
    enum store_trial_sort sort;
};
SV_MUST_CHECK enum sv_status store_trials_list(struct store *store, const struct store_scope *scope,
                                               const struct store_trial_filter *filter,
                                               const struct store_page *page,
                                               struct store_memory *memory,
                                               struct store_trial_list *out_list,
                                               struct sv_error *err);

/* Applies a verb. STORE_REFUSED comes back as SV_ERR_WRONG_STATE, with a text that names the state.
 * *out_effect (may be NULL) says what happened otherwise. */
SV_MUST_CHECK enum sv_status store_trial_apply(struct store *store, const struct store_scope *scope,
                                               const char *id, const struct store_verb *verb,
                                               enum store_effect *out_effect, struct sv_error *err);

/* Members that are NULL (discarded: -1) are left as they are. */
struct store_trial_patch {
    const char *notes;
    const char *const *labels;
    size_t n_labels;
    int discarded;
};
SV_MUST_CHECK enum sv_status store_trial_patch(struct store *store, const struct store_scope *scope,
                                               const char *id,
                                               const struct store_trial_patch *patch,
                                               struct sv_error *err);

/* The last checkpoint of a trial that every worker can read. SV_ERR_NOT_FOUND: no such trial;
 * SV_ERR_WRONG_STATE: it has none (yet, or any more). */
struct store_fork;
SV_MUST_CHECK enum sv_status store_fork_find(struct store *store, const struct store_scope *scope,
                                             const char *trial_id, struct store_fork *out_fork,
                                             struct sv_error *err);
/* What a trial, or the first of a job, by its id, began with. *out_is_fork: it was forked. */
SV_MUST_CHECK enum sv_status store_fork_get(struct store *store, const struct store_scope *scope,
                                            const char *id, bool *out_is_fork,
                                            struct store_fork *out_fork, struct sv_error *err);

struct store_attempt {
    int64_t fence, n;
    char worker_id[SV_ID_SIZE];
    const char *host, *core_build, *core_type, *instruction_set, *libraries, *cpu;
    int64_t threads;                                             /* the most that it may use */
    char claimed_at[STORE_TIME_SIZE], ended_at[STORE_TIME_SIZE]; /* "" = still runs */
    int64_t resumed_step; /* 0: from the start; -1: never got that far */
    bool bits_may_differ;
    const char *outcome, *error_class, *error_text; /* NULL */
};
struct store_attempt_list {
    struct store_attempt *rows; /* oldest first */
    size_t n;
};
SV_MUST_CHECK enum sv_status store_attempts_list(struct store *store,
                                                 const struct store_scope *scope,
                                                 const char *trial_id, struct store_memory *memory,
                                                 struct store_attempt_list *out_list,
                                                 struct sv_error *err);

#endif
