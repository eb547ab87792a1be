/* SPDX-License-Identifier: MIT
 *
 * Claims and heartbeats. The claim cuts its one row out in a materialised CTE: a sub-select with
 * LIMIT in the WHERE of an UPDATE may be run again for every row by some plans, and then claims
 * more than one. FOR NO KEY UPDATE lets inserts that refer to the trial go on.
 */
#include <string.h>

#include "server/store/attempt_internal.h"
#include "server/store/touch_internal.h"

struct claiming {
    const char *worker_id;
    int lease_ms;
    const struct store_environment *environment;
    struct store_memory *memory;
    bool found;
    struct store_claimed_trial trial;
};

static const char CLAIM[] =
    "with c as materialized (select t.id from trial t join project p on p.id = t.project_id"
    " where t.state = 'queued' and not t.held and t.chosen and t.not_before <= now() and"
    " (p.max_running is null"
    " or (select count(*) from trial o where o.project_id = t.project_id and o.state = 'running')"
    " < p.max_running) order by t.priority desc, t.number for no key update of t skip locked"
    " limit 1)"
    " update trial t set state = 'running', attempt = t.attempt + 1, fence = t.fence + 1,"
    " worker_id = $1, lease_until = clock_timestamp() + $2 * interval '1 ms', heartbeat_at ="
    " clock_timestamp(), progress_at = clock_timestamp(), started_at = coalesce(t.started_at,"
    " clock_timestamp()) from c where t.id = c.id returning t.id, t.job_id, t.project_id, t.fence,"
    " t.number, t.idx, t.attempt, t.max_attempts, t.resolved, t.seed::text,"
    " coalesce(t.checkpoint_hash, t.hash),"
    " t.checkpoint_step, t.stop_requested_at is not null";

/* Claims under a limit wait for one another, so that CLAIM, with a snapshot of its own, counts
 * every trial that runs. Projects without a limit are not locked. */
static const char LOCK_LIMITED[] =
    "select 1 from project where max_running is not null order by id for no key update";

static void read_trial(struct sql_rows *rows, struct claiming *claiming)
{
    struct sql_reader r = {.rows = rows, .memory = claiming->memory};
    struct store_claimed_trial *trial = &claiming->trial;
    sql_read_id(&r, trial->claim.trial_id);
    sql_read_id(&r, trial->claim.job_id);
    sql_read_id(&r, trial->claim.project_id);
    trial->claim.fence = sql_read_int(&r);
    memcpy(trial->claim.worker_id, claiming->worker_id, SV_ID_SIZE);
    trial->trial_number = sql_read_int(&r);
    trial->index = sql_read_int(&r);
    trial->attempt = sql_read_int(&r);
    trial->max_attempts = sql_read_int(&r);
    trial->resolved = sql_read_text(&r);
    trial->seed = sql_read_seed(&r);
    sql_read_digest(&r, trial->checkpoint_hash);
    trial->checkpoint_step = sql_read_int(&r);
    trial->stop_requested = sql_read_bool(&r);
}

static enum sv_status insert_attempt(struct store_conn *conn, const struct claiming *claiming,
                                     struct sv_error *err)
{
    const struct store_claimed_trial *trial = &claiming->trial;
    const struct store_environment *environment = claiming->environment;
    struct sql_params params = {0};
    sql_text(&params, trial->claim.trial_id);
    sql_int(&params, trial->claim.fence);
    sql_int(&params, trial->attempt);
    sql_text(&params, trial->claim.project_id);
    sql_text(&params, claiming->worker_id);
    sql_text(&params, environment->core_build);
    sql_text(&params, environment->core_type);
    sql_text(&params, environment->instruction_set);
    sql_text(&params, environment->libraries);
    sql_text(&params, environment->cpu);
    sql_int(&params, environment->threads);
    sql_text(&params, trial->resolved);
    return sql_run(conn,
                   "insert into attempt (trial_id, fence, n, project_id, worker_id, core_build,"
                   " core_type, instruction_set, libraries, cpu, threads, claimed_at) values ($1,"
                   " $2, $3, $4, $5, $6, $7, $8, $9, $10, least($11::int, coalesce(nullif("
                   "($12::json ->> 'threads')::int, 0), $11::int)), clock_timestamp())",
                   &params, NULL, err);
}

static enum sv_status read_job(struct store_conn *conn, struct claiming *claiming,
                               struct sv_error *err)
{
    struct store_claimed_trial *trial = &claiming->trial;
    struct sql_params params = {0};
    struct sql_rows rows = {0};
    sql_text(&params, trial->claim.job_id);
    enum sv_status st =
        sql_run(conn,
                "select j.number, j.kind, d.id, d.digest, b.id, b.sha256, b.size from job j"
                " join dataset d on d.id = j.dataset_id join blob b on b.id = d.prepared_blob_id"
                " where j.id = $1",
                &params, &rows, err);
    if (st != SV_OK) {
        return st;
    }
    if (rows.n > 0) {
        struct sql_reader r = {.rows = &rows, .memory = claiming->memory};
        trial->job_number = sql_read_int(&r);
        trial->kind = sql_read_text(&r);
        sql_read_id(&r, trial->dataset_id);
        sql_read_digest(&r, trial->dataset_digest);
        sql_read_id(&r, trial->prepared.id);
        sql_read_digest(&r, trial->prepared.sha256);
        trial->prepared.size = sql_read_int(&r);
        st = store_memory_check(claiming->memory, err);
    } else {
        st = sv_fail(err, SV_ERR_INTERNAL, "a trial without a job or data set");
    }
    sql_rows_clear(&rows);
    return st;
}

/* The content whose digest stands in the trial's spec, among the weights of its job. */
static enum sv_status read_weights(struct store_conn *conn, struct claiming *claiming,
                                   struct sv_error *err)
{
    struct store_claimed_trial *trial = &claiming->trial;
    struct sql_params params = {0};
    struct sql_rows rows = {0};
    sql_text(&params, trial->claim.trial_id);
    enum sv_status st = sql_run(
        conn,
        "select t.resolved ->> 'weights' is not null, b.id, b.sha256, b.size from trial t left join"
        " (job_weights j join weights w on w.id = j.weights_id join blob b on b.id ="
        " w.content_blob_id) on j.job_id = t.job_id and encode(w.digest, 'hex') = t.resolved ->>"
        " 'weights' where t.id = $1 limit 1",
        &params, &rows, err);
    if (st != SV_OK) {
        return st;
    }
    struct sql_reader r = {.rows = &rows};
    bool wanted = rows.n > 0 && sql_read_bool(&r);
    if (wanted) {
        sql_read_id(&r, trial->weights.id);
        sql_read_digest(&r, trial->weights.sha256);
        trial->weights.size = sql_read_int(&r);
    }
    sql_rows_clear(&rows);
    return wanted && !trial->weights.id[0]
               ? sv_fail(err, SV_ERR_INTERNAL, "a trial without its weights")
               : SV_OK;
}

static enum sv_status read_initial(struct store_conn *conn, struct claiming *claiming,
                                   struct sv_error *err)
{
    struct store_claimed_trial *trial = &claiming->trial;
    struct sql_params params = {0};
    struct sql_rows rows = {0};
    sql_text(&params, trial->claim.trial_id);
    enum sv_status st = sql_run(conn,
                                "select b.id, b.sha256, b.size from trial t join blob b on b.id ="
                                " t.start_blob_id where t.id = $1",
                                &params, &rows, err);
    if (st == SV_OK && rows.n > 0) {
        struct sql_reader r = {.rows = &rows};
        sql_read_id(&r, trial->initial.id);
        sql_read_digest(&r, trial->initial.sha256);
        trial->initial.size = sql_read_int(&r);
    }
    sql_rows_clear(&rows);
    return st;
}

static enum sv_status claim_tx(struct store_conn *conn, void *ctx, struct sv_error *err)
{
    struct claiming *claiming = ctx;
    struct sql_params params = {0};
    struct sql_rows rows = {0};
    enum sv_status st = sql_run(conn, LOCK_LIMITED, NULL, NULL, err);
    if (st != SV_OK) {
        return st;
    }
    sql_text(&params, claiming->worker_id);
    sql_int(&params, claiming->lease_ms);
    st = sql_run(conn, CLAIM, &params, &rows, err);
    if (st != SV_OK) {
        return st;
    }
    claiming->found = rows.n > 0;
    if (claiming->found) {
        read_trial(&rows, claiming);
    }
    sql_rows_clear(&rows);
    if (!claiming->found) {
        return SV_OK;
    }
    st = insert_attempt(conn, claiming, err);
    if (st == SV_OK) {
        st = read_job(conn, claiming, err);
    }
    if (st == SV_OK) {
        st = read_weights(conn, claiming, err);
    }
    if (st == SV_OK) {
        st = read_initial(conn, claiming, err);
    }
    struct store_touch touch = {.job_id = claiming->trial.claim.job_id,
                                .trial_id = claiming->trial.claim.trial_id,
                                .kind = "trial_started",
                                .actor = claiming->worker_id,
                                .recount = true};
    return st == SV_OK ? store_job_touch(conn, &touch, err) : st;
}

enum sv_status store_trial_claim(struct store *store, const char *worker_id, int lease_ms,
                                 const struct store_environment *environment,
                                 struct store_memory *memory, bool *out_found,
                                 struct store_claimed_trial *out_trial, struct sv_error *err)
{
    struct claiming claiming = {
        .worker_id = worker_id, .lease_ms = lease_ms, .environment = environment, .memory = memory};
    enum sv_status st = store_tx_run(store, "trial_claim", claim_tx, &claiming, err);
    if (st == SV_OK) {
        *out_found = claiming.found;
        if (claiming.found) {
            *out_trial = claiming.trial;
        }
    }
    return st;
}

/* ---- heartbeat ---- */

static void read_controls(const struct sql_rows *rows, const struct store_claim *claims, size_t n,
                          struct store_control *out_controls)
{
    memset(out_controls, 0, n * sizeof *out_controls);
    for (int i = 0; i < rows->n; i++) {
        struct sql_reader r = {.rows = rows, .row = i};
        char id[SV_ID_SIZE];
        sql_read_id(&r, id);
        struct store_control control = {.held = true};
        control.cancel_requested = sql_read_bool(&r);
        control.stop_requested = sql_read_bool(&r);
        control.pause_requested = sql_read_bool(&r);
        for (size_t j = 0; j < n; j++) {
            if (strcmp(claims[j].trial_id, id) == 0) {
                out_controls[j] = control;
            }
        }
    }
}

enum sv_status store_heartbeat(struct store *store, const char *worker_id, int lease_ms,
                               const struct store_claim *claims, size_t n,
                               struct store_control *out_controls, struct sv_error *err)
{
    struct sql_params params = {0};
    struct sql_rows rows = {0};
    const char **ids = store_memory_array(&params.memory, n, sizeof *ids);
    int64_t *fences = store_memory_array(&params.memory, n, sizeof *fences);
    for (size_t i = 0; ids && fences && i < n; i++) {
        ids[i] = claims[i].trial_id;
        fences[i] = claims[i].fence;
    }
    sql_text(&params, worker_id);
    sql_int(&params, lease_ms);
    sql_text_array(&params, ids, ids ? n : 0);
    sql_int_array(&params, fences, fences ? n : 0);
    enum sv_status st =
        store_query(store,
                    "update trial t set lease_until = clock_timestamp() + $2 * interval '1 ms',"
                    " heartbeat_at = clock_timestamp() from unnest($3::text[], $4::bigint[]) as x"
                    " (id, fence) where t.id = x.id::uuid and t.fence = x.fence and t.state ="
                    " 'running' and t.worker_id = $1 returning t.id, t.cancel_requested_at is not"
                    " null, t.stop_requested_at is not null, t.pause_requested_at is not null",
                    &params, &rows, err);
    if (st == SV_OK) {
        read_controls(&rows, claims, n, out_controls);
        sql_rows_clear(&rows);
    }
    return st;
}
