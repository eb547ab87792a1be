/* SPDX-License-Identifier: MIT
 *
 * What lists of trials and results tables share.
 */
#ifndef STORE_TRIAL_INTERNAL_H
#define STORE_TRIAL_INTERNAL_H

#include "server/store/list_internal.h"
#include "server/store/trials.h"

/* Behind number and key; alias r, j from STORE_TRIAL_JOINS. */
#define STORE_TRIAL_COLUMNS                                                                        \
    "r.id, r.job_id, j.number, j.revision, j.dataset_id, j.kind, r.idx, r.parameters,"             \
    " r.seed::text, r.hash, r.notes, r.discarded, r.held, r.state, r.attempt, r.max_attempts,"     \
    " r.fence, r.cancel_requested_at is not null, r.stop_requested_at is not null,"                \
    " r.pause_requested_at is not null, r.step, r.total_steps, r.epoch, r.phase,"                  \
    " r.checkpoint_step, j.headline_metric, r.headline_value, r.error_class, r.error_text,"        \
    " rfc3339(r.created_at), rfc3339(r.queued_at), rfc3339(r.started_at),"                         \
    " rfc3339(r.finished_at), rfc3339(r.progress_at), rfc3339(r.heartbeat_at), a.seconds"

#define STORE_TRIAL_JOINS                                                                          \
    " join job j on j.id = r.job_id left join lateral (select coalesce(sum(extract(epoch from"     \
    " coalesce(a.ended_at, clock_timestamp()) - a.claimed_at)), 0)::float8 as seconds"             \
    " from attempt a where a.trial_id = r.id) a on true"

void store_trial_read(struct sql_reader *reader, struct store_trial *out_trial);

/* A list of trials with further columns and joins; the rows begin {number, key, columns}. */
struct store_trial_query {
    const struct store_scope *scope;
    const struct store_trial_filter *filter;
    const struct store_page *page;
    const char *columns, *joins;
};
SV_MUST_CHECK enum sv_status store_trials_query(struct store *store,
                                                const struct store_trial_query *query,
                                                struct store_memory *memory, struct sql_rows *rows,
                                                size_t *out_n, const char **out_next,
                                                struct sv_error *err);

/* SV_ERR_NOT_FOUND unless the trial is one of the project. */
SV_MUST_CHECK enum sv_status store_trial_exists(struct store *store,
                                                const struct store_scope *scope,
                                                const char *trial_id, struct sv_error *err);

bool store_state_is_final(const char *state);

#endif
