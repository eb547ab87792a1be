/* SPDX-License-Identifier: MIT
 *
 * A trial as its worker sees it: claim, heartbeat, resume, commit, end. Every function that takes a
 * claim writes only while the trial is running under that fence; otherwise SV_ERR_WRONG_STATE:
 * the lease is lost, stop quietly. All may be repeated after a failure of any kind (log lines may
 * then stand twice; a claim whose answer was lost comes back when its lease runs out).
 *
 * Order of an attempt: store_trial_claim, store_checkpoints_for_claim, store_attempt_resume (once,
 * also from step 0), any number of store_attempt_commit and store_heartbeat, store_attempt_end.
 */
#ifndef STORE_ATTEMPTS_H
#define STORE_ATTEMPTS_H

#include "server/store/blobs.h"
#include "server/store/store.h"

/* The right to write for a trial. */
struct store_claim {
    char trial_id[SV_ID_SIZE], job_id[SV_ID_SIZE], project_id[SV_ID_SIZE], worker_id[SV_ID_SIZE];
    int64_t fence;
};

/* On what the attempt runs; recorded with it. */
struct store_environment {
    const char *core_build, *core_type, *instruction_set, *libraries, *cpu;
    int threads; /* of its worker; the attempt may use fewer where the spec of its trial says so */
};

struct store_claimed_trial {
    struct store_claim claim;
    int64_t trial_number, job_number, index, attempt, max_attempts;
    const char *kind;
    const char *resolved; /* JSON */
    uint64_t seed;
    char checkpoint_hash[65]; /* its checkpoints are of this spec: epochs may have been added */
    char dataset_id[SV_ID_SIZE];
    char dataset_digest[65];
    struct store_blob prepared; /* of the data set */
    struct store_blob weights;  /* the trial starts from them; id "": from the seed */
    struct store_blob initial;  /* the checkpoint whose weights it begins with; id "": none */
    int64_t checkpoint_step;    /* 0: starts fresh */
    bool stop_requested;        /* evaluate what the checkpoint holds, then end as stopped */
};

/* Takes the next trial of the queue: highest priority, then oldest; not those of paused jobs, nor
 * of a project at its limit. *out_found is false when there is none. */
SV_MUST_CHECK enum sv_status
store_trial_claim(struct store *store, const char *worker_id, int lease_ms,
                  const struct store_environment *environment, struct store_memory *memory,
                  bool *out_found, struct store_claimed_trial *out_trial, struct sv_error *err);

/* What a heartbeat brings back for one claim. */
struct store_control {
    bool held; /* false: the lease is lost, the rest is not set */
    bool cancel_requested, stop_requested, pause_requested;
};
/* Extends the leases of n claims of one worker; out_controls[n]. */
SV_MUST_CHECK enum sv_status store_heartbeat(struct store *store, const char *worker_id,
                                             int lease_ms, const struct store_claim *claims,
                                             size_t n, struct store_control *out_controls,
                                             struct sv_error *err);

/* A state to go on from. */
struct store_checkpoint {
    int64_t step, epoch, fence;
    char node_id[SV_ID_SIZE]; /* data directory that holds the file */
    char sha256[65];
    int64_t size;
    char blob_id[SV_ID_SIZE]; /* copy in the database, "" = none */
    const char *core_build, *core_type, *instruction_set;
};
struct store_checkpoint_list {
    struct store_checkpoint *rows; /* latest step first */
    size_t n;
};
SV_MUST_CHECK enum sv_status store_checkpoints_for_claim(struct store *store,
                                                         const struct store_claim *claim,
                                                         struct store_memory *memory,
                                                         struct store_checkpoint_list *out_list,
                                                         struct sv_error *err);

/* Where an attempt goes on. */
struct store_resumption {
    int64_t step;           /* after it; 0: from the start */
    int64_t validated_step; /* the last step with points of a validation, at most `step` */
    bool bits_may_differ;
};
/* Points beyond it and checkpoints are deleted, summaries are made from the points that stay. */
SV_MUST_CHECK enum sv_status store_attempt_resume(struct store *store,
                                                  const struct store_claim *claim,
                                                  const struct store_resumption *resumption,
                                                  struct sv_error *err);

struct store_point {
    const char *metric; /* 1 to 63 bytes */
    int64_t step;       /* rising per metric */
    double value;       /* any, NaN and infinities included */
};
struct store_progress {
    int64_t step, total_steps, epoch;
    const char *phase;
};
struct store_log_line {
    const char *level; /* debug, info, warn, error */
    const char *text;  /* cut at 4 KiB */
};

/* What goes into the database in one transaction, about once a second. Every member may be absent.
 * Points at or before a metric's last stored step are there already and skipped. */
struct store_commit {
    const struct store_progress *progress;
    const struct store_point *points;
    size_t n_points;
    const struct store_checkpoint *checkpoint; /* fence is set by the store */
    const struct store_log_line *lines;
    size_t n_lines;
};
/* *out_skipped (may be NULL): points that were there. A checkpoint needs every point up to its step
 * to be here or in an earlier commit. */
SV_MUST_CHECK enum sv_status store_attempt_commit(struct store *store,
                                                  const struct store_claim *claim,
                                                  const struct store_commit *commit,
                                                  size_t *out_skipped, struct sv_error *err);

struct store_metric_value {
    const char *metric; /* "accuracy" */
    double value;
    bool has_interval;
    double low, high; /* 95 % */
    int64_t n;        /* samples */
};

struct store_predictions {
    const int64_t *samples; /* index in the prepared set */
    const int32_t *truths, *predicted;
    const float *probabilities; /* of the predicted class */
    size_t n;                   /* 0: none are kept */
};

/* Of sequences, in order of the evaluation; rows of all of them stand one after the other. */
struct store_sequence_predictions {
    const int64_t *samples;       /* index in the prepared set */
    const int64_t *lengths;       /* steps */
    const int64_t *firsts, *rows; /* rows of `targets`: one a step, or one in all */
    const char *const *names;
    size_t n; /* sequences; 0: none are kept */
    const float *targets, *predicted;
};

struct store_evaluation_new {
    const char *part; /* train, validation, test */
    int64_t sample_count;
    const char *document; /* JSON */
    const struct store_metric_value *metrics;
    size_t n_metrics;
    const char *const *classes;
    size_t n_classes;
    const int64_t *counts; /* n_classes x n_classes, rows = true; NULL: no matrix */
    struct store_predictions predictions;
    struct store_sequence_predictions sequences;
};

struct store_artefact_new {
    const char *kind; /* "network", "explanations" */
    const char *media_type;
    const char *blob_id;
    const char *detail; /* JSON or NULL */
};

/* Where the time of the steps went: rows of self time, which add up to `seconds`. */
struct store_profile {
    int64_t steps;                                 /* that were measured, 1 or more */
    double seconds;                                /* of these steps */
    double validation_seconds, checkpoint_seconds; /* beside the steps */
    const char *const *layers;                     /* [n]; "" for what is no layer */
    const char *const *operators, *const *phases;  /* [n] */
    const double *row_seconds;                     /* [n] */
    size_t n;
};

enum store_outcome {
    STORE_OUTCOME_COMPLETED, /* needs an evaluation */
    STORE_OUTCOME_STOPPED,   /* needs an evaluation */
    STORE_OUTCOME_PAUSED,    /* its checkpoint is committed */
    STORE_OUTCOME_CANCELLED,
    STORE_OUTCOME_FAILED,   /* error_class says why; crashed and worker_lost are tried again */
    STORE_OUTCOME_RELEASED, /* given back, by no fault of the trial; does not count as an attempt */
};
struct store_ending {
    enum store_outcome outcome;
    const char *error_class, *error_text; /* for FAILED */
    int delay_ms;                         /* for RELEASED: it is not claimed earlier than that */
    struct store_commit last;
    const struct store_evaluation_new *evaluations;
    size_t n_evaluations;
    const struct store_artefact_new *artefacts;
    size_t n_artefacts;
    const struct store_profile *profile; /* NULL: no step was measured */
};
/* Ends the attempt and moves the trial, in one transaction with all that it leaves behind. A cancel
 * that was asked for before this statement wins over every outcome: the trial is cancelled and
 * nothing is kept; one that comes later meets a final state. out_state: where the trial is now
 * (queued: it is tried again, or stopped from a pause). */
SV_MUST_CHECK enum sv_status store_attempt_end(struct store *store, const struct store_claim *claim,
                                               const struct store_ending *ending,
                                               char out_state[16], struct sv_error *err);

/* Gives running trials and imports whose lease ran out back to the queue, or fails them as
 * worker_lost at their last attempt. Any worker may call it, about every lease / 4. */
SV_MUST_CHECK enum sv_status store_reap(struct store *store, size_t *out_reaped,
                                        struct sv_error *err);

#endif
