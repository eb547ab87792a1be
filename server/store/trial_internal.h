/* SPDX-License-Identifier: MIT
 *
 * What lists of trials and results tables share.
 */
#ifndef STORE_TRIAL_INTERNAL_H
#define STORE_TRIAL_INTERNAL_H

#include "server/store/list_internal.h"
#include "server/store/trials.h"

/* Alias r, and j from STORE_TRIAL_JOINS. */
#define STORE_TRIAL_COLUMNS                                                                        \
    "r.number, r.id, r.job_id, j.number, j.revision, j.dataset_id, j.kind, r.idx, r.parameters,"   \
    " r.seed::text, r.hash, r.duplicate_of, r.forked_from, r.forked_step, r.notes, r.labels,"      \
    " r.discarded, r.held, r.chosen, r.state, r.attempt, r.max_attempts,"                          \
    " r.fence, r.cancel_requested_at is not null, r.stop_requested_at is not null,"                \
    " r.pause_requested_at is not null, r.step, r.total_steps, r.epoch, r.phase,"                  \
    " r.checkpoint_step, j.headline_metric, r.headline_value, r.error_class, r.error_text,"        \
    " rfc3339(r.created_at), rfc3339(r.queued_at), rfc3339(r.started_at),"                         \
    " rfc3339(r.finished_at), rfc3339(r.progress_at), rfc3339(r.heartbeat_at), a.seconds"

#define STORE_TRIAL_JOINS                                                                          \
    " join job j on j.id = r.job_id left join lateral (select coalesce(sum(extract(epoch from"     \
    " coalesce(a.ended_at, clock_timestamp()) - a.claimed_at)), 0)::float8 as seconds"             \
    " from attempt a where a.trial_id = r.id) a on true"

/* out_row is a struct store_trial. */
void store_trial_read(struct sql_reader *reader, void *out_row);

/* Changed after revision $11 of the job $5. Each revision left one event: when fewer of them speak
 * of single trials than there were revisions, the rest spoke of the whole job or is trimmed, and
 * any trial may have changed. */
#define STORE_TRIAL_CHANGED                                                                        \
    "(r.id in (select e.trial_id from event e where e.job_id = ($5::text)::uuid and e.revision >"  \
    " ($11::text)::bigint and e.trial_id is not null) or (select count(*) from event e where"      \
    " e.job_id = ($5::text)::uuid and e.revision > ($11::text)::bigint and e.trial_id is not "     \
    "null)"                                                                                        \
    " < (select j.revision from job j where j.id = ($5::text)::uuid) - ($11::text)::bigint)"

/* What every list of trials has: its predicate and its orders, by enum store_trial_sort. */
#define STORE_TRIAL_WHERE                                                                          \
    "r.project_id = $1 and ($5::text is null or r.job_id = ($5::text)::uuid) and"                  \
    " ($6::text is null or r.state = $6) and ($7::text is null or exists (select 1"                \
    " from job j where j.id = r.job_id and j.dataset_id = ($7::text)::uuid)) and"                  \
    " ($8::text is null or r.error_class = $8) and ($9::boolean is null or r.discarded = $9)"      \
    " and ($10::text is null or r.labels @> array[$10]) and ($11::text is null or"                 \
    " " STORE_TRIAL_CHANGED ")"
extern const struct store_order store_trial_orders[];
SV_MUST_CHECK enum sv_status
store_trials_read(struct store *store, const struct store_resource *resource,
                  const struct store_scope *scope, const struct store_trial_filter *filter,
                  const struct store_page *page, struct store_memory *memory,
                  struct store_rows *out_rows, struct sv_error *err);

/* SV_ERR_NOT_FOUND unless the trial is one of the project. */
SV_MUST_CHECK enum sv_status store_trial_exists(struct store *store,
                                                const struct store_scope *scope,
                                                const char *trial_id, struct sv_error *err);

bool store_state_is_final(const char *state);

#endif
