/* SPDX-License-Identifier: MIT
 *
 * What the statements of an attempt share. All run inside a transaction of the caller.
 */
#ifndef STORE_ATTEMPT_INTERNAL_H
#define STORE_ATTEMPT_INTERNAL_H

#include "server/store/attempts.h"
#include "server/store/sql_internal.h"

/* The trial's row, locked while the claim holds it. */
struct store_held {
    bool cancel_requested, stop_requested;
    int64_t attempt, max_attempts;
};
/* SV_ERR_WRONG_STATE when the claim does not hold the trial. */
SV_MUST_CHECK enum sv_status store_claim_lock(struct store_conn *conn,
                                              const struct store_claim *claim,
                                              struct store_held *out_held, struct sv_error *err);

/* Points of a commit, after store_claim_lock. */
SV_MUST_CHECK enum sv_status store_points_write(struct store_conn *conn,
                                                const struct store_claim *claim,
                                                const struct store_point *points, size_t n,
                                                size_t *out_skipped, struct sv_error *err);
/* Log lines likewise. */
SV_MUST_CHECK enum sv_status store_log_write(struct store_conn *conn,
                                             const struct store_claim *claim,
                                             const struct store_log_line *lines, size_t n,
                                             struct sv_error *err);
/* Everything of a commit, without the touch. */
SV_MUST_CHECK enum sv_status store_commit_write(struct store_conn *conn,
                                                const struct store_claim *claim,
                                                const struct store_commit *commit,
                                                size_t *out_skipped, struct sv_error *err);
SV_MUST_CHECK enum sv_status store_evaluations_write(struct store_conn *conn,
                                                     const struct store_claim *claim,
                                                     const struct store_ending *ending,
                                                     struct sv_error *err);

/* How a running trial, whose row is locked, goes on. */
struct store_conclusion {
    const char *state;   /* queued, paused or final */
    const char *outcome; /* of the attempt */
    const char *error_class, *error_text;
    bool counts;  /* the attempt counts against max_attempts */
    bool backoff; /* queued: not at once */
    int delay_ms; /* queued: not before that, where there is no backoff */
    bool wipe;    /* nothing that was made stays */
};
/* Moves trial and attempt, and touches the job. */
SV_MUST_CHECK enum sv_status store_attempt_conclude(struct store_conn *conn,
                                                    const struct store_claim *claim,
                                                    const struct store_conclusion *conclusion,
                                                    struct sv_error *err);
/* The conclusion for a process or worker that is gone, or an outcome that may be tried again. */
struct store_conclusion store_conclude_failure(const struct store_held *held,
                                               const char *error_class, const char *error_text);

/* Gives running trials and imports of one worker that is gone back, whatever their lease. */
SV_MUST_CHECK enum sv_status store_reap_worker(struct store *store, const char *worker_id,
                                               size_t *out_reaped, struct sv_error *err);

/* Likewise of all workers, in a transaction of the caller: there is none on this database. */
SV_MUST_CHECK enum sv_status store_reap_everything(struct store_conn *conn, size_t *out_reaped,
                                                   struct sv_error *err);

/* step_profile.c */
SV_MUST_CHECK enum sv_status store_profile_write(struct store_conn *conn,
                                                 const struct store_claim *claim,
                                                 const struct store_profile *profile,
                                                 struct sv_error *err);

/* sequence_predictions.c */
SV_MUST_CHECK enum sv_status
store_sequence_predictions_write(struct store_conn *conn, const struct store_claim *claim,
                                 const char *part, const struct store_sequence_predictions *all,
                                 struct sv_error *err);

#endif
