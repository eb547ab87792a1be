/* SPDX-License-Identifier: MIT
 *
 * The reaper: trials and imports whose lease ran out, or whose worker is known to be gone. The
 * candidates come from a snapshot; each is then taken up in a transaction of its own that locks the
 * row by the fence that was seen and looks again, so whoever finished meanwhile stays finished.
 */
#include <string.h>

#include "server/store/asset_internal.h"
#include "server/store/attempt_internal.h"

enum { BATCH = 100, TRIAL = -1 };

struct candidate {
    int64_t kind; /* TRIAL or enum store_asset */
    char id[SV_ID_SIZE];
    int64_t fence;
    const char *gone_worker; /* NULL: because the lease ran out */
    bool reaped;             /* out */
};

static const char LOST[] = "the worker process was lost";

/* $1 id, $2 fence, $3 the worker that is gone or null. */
#define STILL_LOST                                                                                 \
    " and fence = $2 and (($3::text is null and lease_until < clock_timestamp()) or worker_id ="   \
    " ($3::text)::uuid)"

static void candidate_params(const struct candidate *candidate, struct sql_params *params)
{
    sql_text(params, candidate->id);
    sql_int(params, candidate->fence);
    sql_text(params, candidate->gone_worker);
}

static enum sv_status lock_trial(struct store_conn *conn, struct candidate *candidate,
                                 struct store_claim *out_claim, struct store_held *out_held,
                                 struct sv_error *err)
{
    struct sql_params params = {0};
    struct sql_rows rows = {0};
    candidate_params(candidate, &params);
    enum sv_status st =
        sql_run(conn,
                "select id, job_id, project_id, worker_id, fence, cancel_requested_at is not null,"
                " stop_requested_at is not null, attempt, max_attempts from trial where id = $1"
                " and state = 'running'" STILL_LOST " for no key update",
                &params, &rows, err);
    if (st != SV_OK) {
        return st;
    }
    candidate->reaped = rows.n > 0;
    if (rows.n > 0) {
        struct sql_reader r = {.rows = &rows};
        sql_read_id(&r, out_claim->trial_id);
        sql_read_id(&r, out_claim->job_id);
        sql_read_id(&r, out_claim->project_id);
        sql_read_id(&r, out_claim->worker_id);
        out_claim->fence = sql_read_int(&r);
        out_held->cancel_requested = sql_read_bool(&r);
        out_held->stop_requested = sql_read_bool(&r);
        out_held->attempt = sql_read_int(&r);
        out_held->max_attempts = sql_read_int(&r);
    }
    sql_rows_clear(&rows);
    return SV_OK;
}

static enum sv_status reap_trial(struct store_conn *conn, struct candidate *candidate,
                                 struct sv_error *err)
{
    struct store_claim claim = {0};
    struct store_held held = {0};
    enum sv_status st = lock_trial(conn, candidate, &claim, &held, err);
    if (st != SV_OK || !candidate->reaped) {
        return st;
    }
    struct store_conclusion conclusion = store_conclude_failure(&held, "worker_lost", LOST);
    if (held.cancel_requested) {
        conclusion = (struct store_conclusion){
            .state = "cancelled", .outcome = "lost", .counts = true, .wipe = true};
    }
    return store_attempt_conclude(conn, &claim, &conclusion, err);
}

static enum sv_status reap_import(struct store_conn *conn, struct candidate *candidate,
                                  struct sv_error *err)
{
    enum store_asset asset = (enum store_asset)candidate->kind;
    struct sql_params params = {0};
    struct sql_rows rows = {0};
    candidate_params(candidate, &params);
    sql_text(&params, LOST);
    enum sv_status st = store_asset_run(
        conn, asset,
        "update {table} set worker_id = null, lease_until = null, not_before = now() +"
        " least(attempt, 6) * interval '2 s', state = case when attempt < max_attempts"
        " then state else 'refused' end, finished_at = case when attempt >= max_attempts"
        " then clock_timestamp() end, error_text = case when attempt >= max_attempts then"
        " $4 end where id = $1 and state = 'checking'" STILL_LOST,
        &params, &rows, err);
    if (st != SV_OK) {
        return st;
    }
    candidate->reaped = rows.affected > 0;
    sql_rows_clear(&rows);
    return candidate->reaped
               ? store_asset_touch(conn, asset, candidate->id, "import_lost", "reaper", err)
               : SV_OK;
}

static enum sv_status reap_tx(struct store_conn *conn, void *ctx, struct sv_error *err)
{
    struct candidate *candidate = ctx;
    return candidate->kind == TRIAL ? reap_trial(conn, candidate, err)
                                    : reap_import(conn, candidate, err);
}

struct found {
    const char *gone_worker;
    struct candidate candidates[BATCH];
    size_t n;
};

/* ctx: struct found. */
static enum sv_status find_candidates(struct store_conn *conn, void *ctx, struct sv_error *err)
{
    struct found *found = ctx;
    struct sql_params params = {0};
    struct sql_rows rows = {0};
    sql_text(&params, found->gone_worker);
    sql_int(&params, BATCH);
    enum sv_status st = sql_run(
        conn,
        "select (-1)::bigint, id, fence from trial where state = 'running' and (($1::text is null "
        "and"
        " lease_until < clock_timestamp()) or worker_id = ($1::text)::uuid) union all"
        " select d.kind, d.id, d.fence from (select 0 as kind, id, fence, lease_until, worker_id "
        "from"
        " dataset where lease_until is not null union all select 1, id, fence, lease_until,"
        " worker_id from weights where lease_until is not null union all select 2, id, fence,"
        " lease_until, worker_id from prediction where lease_until is not null) d where (($1::text "
        "is null and"
        " d.lease_until < clock_timestamp()) or d.worker_id = ($1::text)::uuid) limit $2",
        &params, &rows, err);
    if (st != SV_OK) {
        return st;
    }
    for (int i = 0; i < rows.n; i++) {
        struct sql_reader r = {.rows = &rows, .row = i};
        struct candidate *candidate = &found->candidates[i];
        *candidate = (struct candidate){.gone_worker = found->gone_worker};
        candidate->kind = sql_read_int(&r);
        sql_read_id(&r, candidate->id);
        candidate->fence = sql_read_int(&r);
    }
    found->n = (size_t)rows.n;
    sql_rows_clear(&rows);
    return SV_OK;
}

static enum sv_status reap(struct store *store, const char *gone_worker, size_t *out_reaped,
                           struct sv_error *err)
{
    struct found found = {.gone_worker = gone_worker};
    size_t reaped = 0;
    enum sv_status st = store_run(store, "reap_find", find_candidates, &found, err);
    for (size_t i = 0; st == SV_OK && i < found.n; i++) {
        st = store_tx_run(store, "reap", reap_tx, &found.candidates[i], err);
        reaped += st == SV_OK && found.candidates[i].reaped;
    }
    if (st == SV_OK) {
        *out_reaped = reaped;
    }
    return st;
}

enum sv_status store_reap(struct store *store, size_t *out_reaped, struct sv_error *err)
{
    return reap(store, NULL, out_reaped, err);
}

enum sv_status store_reap_worker(struct store *store, const char *worker_id, size_t *out_reaped,
                                 struct sv_error *err)
{
    return reap(store, worker_id, out_reaped, err);
}

/* The claim has cost its attempt nothing that the subject answers for, so it does not count. */
static const char END_CLAIMS[] =
    "with t as (update trial set lease_until = least(lease_until, now() - interval '1 ms'),"
    " attempt = attempt - 1 where state = 'running'),"
    " d as (update dataset set lease_until = least(lease_until, now() - interval '1 ms'),"
    " attempt = attempt - 1 where worker_id is not null),"
    " w as (update weights set lease_until = least(lease_until, now() - interval '1 ms'),"
    " attempt = attempt - 1 where worker_id is not null),"
    " p as (update prediction set lease_until = least(lease_until, now() - interval '1 ms'),"
    " attempt = attempt - 1 where worker_id is not null)"
    " update worker set stopped_at = heartbeat_at where stopped_at is null";

enum sv_status store_reap_everything(struct store_conn *conn, size_t *out_reaped,
                                     struct sv_error *err)
{
    struct found found = {.n = 0};
    *out_reaped = 0;
    enum sv_status st = sql_run(conn, END_CLAIMS, NULL, NULL, err);
    do {
        st = st == SV_OK ? find_candidates(conn, &found, err) : st;
        for (size_t i = 0; st == SV_OK && i < found.n; i++) {
            st = reap_tx(conn, &found.candidates[i], err);
            *out_reaped += st == SV_OK;
        }
    } while (st == SV_OK && found.n > 0);
    return st;
}
