/* SPDX-License-Identifier: MIT
 *
 * What an attempt writes while it runs: where it resumes, progress, points, checkpoints. Each
 * transaction locks the trial's row first, and does so by naming trial, fence, worker and state: no
 * row, no write.
 */
#include "server/store/attempt_internal.h"
#include "server/store/list_internal.h"
#include "server/store/touch_internal.h"

enum sv_status store_claim_lock(struct store_conn *conn, const struct store_claim *claim,
                                struct store_held *out_held, struct sv_error *err)
{
    struct sql_params params = {0};
    struct sql_rows rows = {0};
    sql_text(&params, claim->trial_id);
    sql_int(&params, claim->fence);
    sql_text(&params, claim->worker_id);
    enum sv_status st = sql_run(conn,
                                "select cancel_requested_at is not null, stop_requested_at is not"
                                " null, attempt, max_attempts from trial where id = $1 and"
                                " fence = $2 and worker_id = $3 and state = 'running'"
                                " for no key update",
                                &params, &rows, err);
    if (st != SV_OK) {
        return st;
    }
    if (rows.n > 0) {
        struct sql_reader r = {.rows = &rows};
        out_held->cancel_requested = sql_read_bool(&r);
        out_held->stop_requested = sql_read_bool(&r);
        out_held->attempt = sql_read_int(&r);
        out_held->max_attempts = sql_read_int(&r);
    } else {
        st = sv_fail(err, SV_ERR_WRONG_STATE, "the lease of the trial is lost");
    }
    sql_rows_clear(&rows);
    return st;
}

/* ---- resume ---- */

static void read_checkpoint(struct sql_reader *r, void *row)
{
    struct store_checkpoint *out = row;
    out->step = sql_read_int(r);
    out->epoch = sql_read_int(r);
    out->fence = sql_read_int(r);
    sql_read_id(r, out->node_id);
    sql_read_digest(r, out->sha256);
    out->size = sql_read_int(r);
    sql_read_id(r, out->blob_id);
    out->core_build = sql_read_text(r);
    out->core_type = sql_read_text(r);
    out->instruction_set = sql_read_text(r);
}

enum sv_status store_checkpoints_for_claim(struct store *store, const struct store_claim *claim,
                                           struct store_memory *memory,
                                           struct store_checkpoint_list *out_list,
                                           struct sv_error *err)
{
    static const struct store_shape SHAPE = {sizeof(struct store_checkpoint), read_checkpoint};
    struct sql_params params = {0};
    struct store_rows found;
    sql_text(&params, claim->trial_id);
    enum sv_status st = store_read_rows(store,
                                        "select step, epoch, fence, node_id, sha256, size, blob_id,"
                                        " core_build, core_type, instruction_set from checkpoint"
                                        " where trial_id = $1 order by step desc",
                                        &params, &SHAPE, memory, &found, err);
    if (st == SV_OK) {
        *out_list = (struct store_checkpoint_list){found.rows, found.n};
    }
    return st;
}

struct resuming {
    const struct store_claim *claim;
    const struct store_resumption *at;
};

/* The last step of a metric that stays: $2 the step, $3 that of the last validation. */
#define LAST_KEPT                                                                                  \
    "(case when starts_with(metric, 'validation_') then $3::bigint else $2::bigint end)"

/* $1 the trial. width_bucket counts the steps up to the last one. */
static const struct {
    const char *sql;
    bool of_points; /* takes $3 */
} CUTS[] = {
    {"delete from metric_chunk where trial_id = $1 and first_step > " LAST_KEPT, true},
    {"update metric_chunk c set (steps, vals, last_step, low, low_step, high, high_step) ="
     " (select k.steps, k.vals, k.steps[cardinality(k.steps)], e.low, e.low_step, e.high,"
     " e.high_step from (select c.steps[1:width_bucket(" LAST_KEPT ", c.steps)] as steps,"
     " c.vals[1:width_bucket(" LAST_KEPT ", c.steps)] as vals) k, points_extremes(k.steps, k.vals)"
     " e) where trial_id = $1 and last_step > " LAST_KEPT,
     true},
    {"delete from checkpoint where trial_id = $1 and step > $2", false},
    {"update trial set step = $2, epoch = coalesce(ceil($2::bigint * (resolved #>>"
     " '{training,epochs}')::numeric / nullif(total_steps, 0)), case when $2 = 0 then 0 else epoch"
     " end), checkpoint_step = (select coalesce(max(step), 0) from checkpoint"
     " where trial_id = $1), phase = '' where id = $1",
     false},
};

static enum sv_status resume_tx(struct store_conn *conn, void *ctx, struct sv_error *err)
{
    const struct resuming *resuming = ctx;
    const struct store_claim *claim = resuming->claim;
    struct store_held held;
    struct sql_params params = {0};
    enum sv_status st = store_claim_lock(conn, claim, &held, err);
    for (size_t i = 0; st == SV_OK && i < sizeof CUTS / sizeof CUTS[0]; i++) {
        sql_text(&params, claim->trial_id);
        sql_int(&params, resuming->at->step);
        if (CUTS[i].of_points) {
            sql_int(&params, resuming->at->validated_step);
        }
        st = sql_run(conn, CUTS[i].sql, &params, NULL, err);
    }
    if (st == SV_OK) {
        sql_text(&params, claim->trial_id);
        st = sql_run(conn, "select trial_summaries_rebuild($1)", &params, NULL, err);
    }
    if (st == SV_OK) {
        sql_text(&params, claim->trial_id);
        sql_int(&params, claim->fence);
        sql_int(&params, resuming->at->step);
        sql_bool(&params, resuming->at->bits_may_differ);
        st = sql_run(conn,
                     "update attempt set resumed_step = $3, bits_may_differ = $4 where trial_id ="
                     " $1 and fence = $2",
                     &params, NULL, err);
    }
    struct store_touch touch = {.job_id = claim->job_id,
                                .trial_id = claim->trial_id,
                                .kind = "trial_resumed_at",
                                .actor = claim->worker_id};
    return st == SV_OK ? store_job_touch(conn, &touch, err) : st;
}

enum sv_status store_attempt_resume(struct store *store, const struct store_claim *claim,
                                    const struct store_resumption *resumption, struct sv_error *err)
{
    struct resuming resuming = {.claim = claim, .at = resumption};
    return store_tx_run(store, "attempt_resume", resume_tx, &resuming, err);
}

/* ---- commit ---- */

static enum sv_status write_progress(struct store_conn *conn, const struct store_claim *claim,
                                     const struct store_progress *progress, struct sv_error *err)
{
    struct sql_params params = {0};
    sql_text(&params, claim->trial_id);
    sql_int(&params, progress->step);
    sql_int(&params, progress->total_steps);
    sql_int(&params, progress->epoch);
    sql_text(&params, progress->phase ? progress->phase : "");
    return sql_run(conn,
                   "update trial set step = $2, total_steps = coalesce(nullif($3::bigint, 0),"
                   " total_steps), epoch = $4, phase = $5, progress_at = clock_timestamp()"
                   " where id = $1",
                   &params, NULL, err);
}

static enum sv_status insert_checkpoint(struct store_conn *conn, const struct store_claim *claim,
                                        const struct store_checkpoint *checkpoint,
                                        struct sv_error *err)
{
    struct sql_params params = {0};
    sql_text(&params, claim->trial_id);
    sql_int(&params, checkpoint->step);
    sql_int(&params, claim->fence);
    sql_text(&params, claim->project_id);
    sql_int(&params, checkpoint->epoch);
    sql_text(&params, checkpoint->node_id);
    sql_text(&params, checkpoint->sha256);
    sql_int(&params, checkpoint->size);
    sql_text_or_null(&params, checkpoint->blob_id);
    sql_text(&params, checkpoint->core_build);
    sql_text(&params, checkpoint->core_type);
    sql_text(&params, checkpoint->instruction_set);
    return sql_run(conn,
                   "insert into checkpoint as c (trial_id, step, fence, project_id, epoch, node_id,"
                   " sha256, size, blob_id, core_build, core_type, instruction_set) values ($1, $2,"
                   " $3, $4, $5, $6, decode($7, 'hex'), $8, $9, $10, $11, $12) on conflict"
                   " (trial_id, step) do update set fence = excluded.fence, node_id ="
                   " excluded.node_id, sha256 = excluded.sha256, size = excluded.size, blob_id ="
                   " case when excluded.sha256 = c.sha256 then coalesce(excluded.blob_id,"
                   " c.blob_id) else excluded.blob_id end, core_build = excluded.core_build,"
                   " core_type = excluded.core_type, instruction_set = excluded.instruction_set",
                   &params, NULL, err);
}

/* $1 the trial, $2 the step. An attempt that gets further than any before it has its count begin
 * anew, itself the first of it. Older checkpoints go, but for the one before and the last copy. */
static const char *const ADVANCE[] = {
    "update trial set checkpoint_step = $2, attempt = case when $2 > reached_step then 1 else"
    " attempt end, reached_step = greatest(reached_step, $2) where id = $1",
    "delete from checkpoint where trial_id = $1 and step < (select min(s.step) from (select step"
    " from checkpoint where trial_id = $1 and step <= $2 order by step desc limit 2) s) and step"
    " is distinct from (select max(step) from checkpoint where trial_id = $1 and blob_id is not"
    " null)",
};

static enum sv_status write_checkpoint(struct store_conn *conn, const struct store_claim *claim,
                                       const struct store_checkpoint *checkpoint,
                                       struct sv_error *err)
{
    enum sv_status st = insert_checkpoint(conn, claim, checkpoint, err);
    for (size_t i = 0; st == SV_OK && i < sizeof ADVANCE / sizeof ADVANCE[0]; i++) {
        struct sql_params params = {0};
        sql_text(&params, claim->trial_id);
        sql_int(&params, checkpoint->step);
        st = sql_run(conn, ADVANCE[i], &params, NULL, err);
    }
    return st;
}

enum sv_status store_commit_write(struct store_conn *conn, const struct store_claim *claim,
                                  const struct store_commit *commit, size_t *out_skipped,
                                  struct sv_error *err)
{
    enum sv_status st = SV_OK;
    *out_skipped = 0;
    if (commit->progress) {
        st = write_progress(conn, claim, commit->progress, err);
    }
    if (st == SV_OK && commit->n_points > 0) {
        st = store_points_write(conn, claim, commit->points, commit->n_points, out_skipped, err);
    }
    if (st == SV_OK && commit->n_lines > 0) {
        st = store_log_write(conn, claim, commit->lines, commit->n_lines, err);
    }
    if (st == SV_OK && commit->checkpoint) {
        st = write_checkpoint(conn, claim, commit->checkpoint, err);
    }
    return st;
}

struct committing {
    const struct store_claim *claim;
    const struct store_commit *commit;
    size_t skipped;
};

static enum sv_status commit_tx(struct store_conn *conn, void *ctx, struct sv_error *err)
{
    struct committing *committing = ctx;
    const struct store_claim *claim = committing->claim;
    struct store_held held;
    enum sv_status st = store_claim_lock(conn, claim, &held, err);
    if (st == SV_OK) {
        st = store_commit_write(conn, claim, committing->commit, &committing->skipped, err);
    }
    struct store_touch touch = {.job_id = claim->job_id,
                                .trial_id = claim->trial_id,
                                .kind = committing->commit->checkpoint ? "checkpoint" : "points",
                                .actor = claim->worker_id};
    return st == SV_OK ? store_job_touch(conn, &touch, err) : st;
}

enum sv_status store_attempt_commit(struct store *store, const struct store_claim *claim,
                                    const struct store_commit *commit, size_t *out_skipped,
                                    struct sv_error *err)
{
    struct committing committing = {.claim = claim, .commit = commit};
    enum sv_status st = store_tx_run(store, "attempt_commit", commit_tx, &committing, err);
    if (st == SV_OK && out_skipped) {
        *out_skipped = committing.skipped;
    }
    return st;
}
