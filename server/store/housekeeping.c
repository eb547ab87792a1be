/* SPDX-License-Identifier: MIT
 *
 * Collection, trimming, joining of chunks, and figures.
 *
 * A blob goes in three steps: found without a reference it gets a date, found with one again the
 * date goes, and with a date old enough it is deleted. A row that begins to use a blob at that
 * moment holds its key, and then the deletion is what fails, by the foreign key.
 */
#include "server/store/housekeeping.h"

#include "server/store/sql_internal.h"

enum { COLLECT_MAX = 50, TRIM_MAX = 10000, JOIN_MAX = 32, JOIN_ROUNDS = 64 };

static const char MARK[] =
    "update blob b set unreferenced_since = case when b.unreferenced_since is null then now() end"
    " where (b.unreferenced_since is null) <> exists (select 1 from blob_reference r where"
    " r.blob_id = b.id)";

static enum sv_status affected_by(struct store *store, const char *sql, struct sql_params *params,
                                  size_t *out_n, struct sv_error *err)
{
    struct sql_rows rows = {0};
    enum sv_status st = store_query(store, sql, params, &rows, err);
    if (st == SV_OK) {
        *out_n += (size_t)rows.affected;
        sql_rows_clear(&rows);
    }
    return st;
}

/* One blob a statement: a violated foreign key spares only the blob that is used again. */
static enum sv_status collect_blobs(struct store *store, int grace_s, size_t *out_n,
                                    struct sv_error *err)
{
    struct sql_params params = {0};
    struct sql_rows rows = {0};
    enum sv_status st = store_query(store, MARK, NULL, NULL, err);
    if (st == SV_OK) {
        sql_int(&params, grace_s);
        sql_int(&params, COLLECT_MAX);
        st = store_query(store,
                         "select id from blob where unreferenced_since <= now() - $1 * interval"
                         " '1 s' order by unreferenced_since limit $2",
                         &params, &rows, err);
    }
    for (int i = 0; st == SV_OK && i < rows.n; i++) {
        struct sql_reader r = {.rows = &rows, .row = i};
        char id[SV_ID_SIZE];
        sql_read_id(&r, id);
        sql_text(&params, id);
        sql_int(&params, grace_s);
        st = affected_by(store,
                         "delete from blob where id = $1 and unreferenced_since <= now() - $2 *"
                         " interval '1 s'",
                         &params, out_n, err);
        st = st == SV_ERR_CONFLICT ? SV_OK : st;
    }
    sql_rows_clear(&rows);
    return st;
}

static enum sv_status trim_events(struct store *store, const struct store_housekeeping *limits,
                                  size_t *out_n, struct sv_error *err)
{
    struct sql_params params = {0};
    sql_int(&params, limits->event_age_s);
    sql_int(&params, limits->event_keep);
    sql_int(&params, TRIM_MAX);
    return affected_by(store,
                       "delete from event where id in (select e.id from event e where e.created_at"
                       " < now() - $1 * interval '1 s' or e.id <= (select max(id) from event) -"
                       " $2::bigint order by e.id limit $3)",
                       &params, out_n, err);
}

static enum sv_status trim_keys(struct store *store, int age_s, size_t *out_n, struct sv_error *err)
{
    struct sql_params params = {0};
    sql_int(&params, age_s);
    return affected_by(store,
                       "delete from idempotency_key where created_at < now() - $1 * interval '1 s'",
                       &params, out_n, err);
}

/* ---- chunks of points ---- */

struct joining {
    char trial_id[SV_ID_SIZE]; /* "": there is none */
    int64_t joined;
};

/* Joins some chunks of one ended trial. Its row is locked, so that a restart waits; another
 * process that keeps house takes another trial. */
static enum sv_status join_tx(struct store_conn *conn, void *ctx, struct sv_error *err)
{
    struct joining *joining = ctx;
    struct sql_params params = {0};
    struct sql_rows rows = {0};
    *joining = (struct joining){0};
    enum sv_status st = sql_run(conn,
                                "select id from trial where fragmented order by finished_at limit 1"
                                " for no key update skip locked",
                                NULL, &rows, err);
    if (st != SV_OK || rows.n == 0) {
        sql_rows_clear(&rows);
        return st;
    }
    struct sql_reader r = {.rows = &rows};
    sql_read_id(&r, joining->trial_id);
    sql_rows_clear(&rows);
    sql_text(&params, joining->trial_id);
    sql_int(&params, JOIN_MAX);
    st = sql_run(conn, "select trial_points_compact($1, $2)", &params, &rows, err);
    if (st == SV_OK) {
        r = (struct sql_reader){.rows = &rows};
        joining->joined = sql_read_int(&r);
        sql_rows_clear(&rows);
    }
    if (st == SV_OK && joining->joined < JOIN_MAX) {
        sql_text(&params, joining->trial_id);
        st = sql_run(conn, "update trial set fragmented = false where id = $1", &params, NULL, err);
    }
    return st;
}

/* In short transactions, since a long run has hundreds of thousands of points a metric. */
static enum sv_status join_chunks(struct store *store, size_t *out_n, struct sv_error *err)
{
    struct joining joining = {.trial_id = "?"};
    enum sv_status st = SV_OK;
    for (int i = 0; st == SV_OK && joining.trial_id[0] && i < JOIN_ROUNDS; i++) {
        st = store_tx_run(store, "chunks_join", join_tx, &joining, err);
        *out_n += st == SV_OK ? (size_t)joining.joined : 0;
    }
    return st;
}

/* Answers are looked at soon or never. */
static enum sv_status trim_predictions(struct store *store, int age_s, size_t *out_n,
                                       struct sv_error *err)
{
    struct sql_params params = {0};
    sql_int(&params, age_s);
    sql_int(&params, TRIM_MAX);
    return affected_by(store,
                       "delete from prediction where id in (select id from prediction where"
                       " created_at < now() - $1 * interval '1 s' and worker_id is null order by"
                       " created_at limit $2)",
                       &params, out_n, err);
}

enum sv_status store_housekeep(struct store *store, const struct store_housekeeping *limits,
                               struct store_housekept *out_done, struct sv_error *err)
{
    struct store_housekept done = {0};
    enum sv_status st = collect_blobs(store, limits->blob_grace_s, &done.blobs, err);
    if (st == SV_OK) {
        st = trim_events(store, limits, &done.events, err);
    }
    if (st == SV_OK) {
        st = trim_keys(store, limits->key_age_s, &done.keys, err);
    }
    if (st == SV_OK) {
        st = trim_predictions(store, limits->key_age_s, &done.predictions, err);
    }
    if (st == SV_OK) {
        st = join_chunks(store, &done.chunks, err);
    }
    if (st == SV_OK) {
        *out_done = done;
    }
    return st;
}

/* Counts come from the jobs' own, so no table of trials is scanned. */
static const char COUNTERS[] =
    "select coalesce(sum(queued_count), 0)::bigint, coalesce(sum(running_count), 0)::bigint,"
    " coalesce(sum(paused_count), 0)::bigint, coalesce(sum(completed_count), 0)::bigint,"
    " coalesce(sum(stopped_count), 0)::bigint, coalesce(sum(cancelled_count), 0)::bigint,"
    " coalesce(sum(failed_count), 0)::bigint, (select count(*) from attempt), (select count(*) from"
    " attempt where outcome in ('lost', 'crashed')), count(*), (select count(*) from dataset where"
    " state = 'ready'), (select count(*) from dataset where state = 'checking' and worker_id is"
    " null), (select count(*) from weights where state = 'ready'), (select count(*) from weights"
    " where state = 'checking' and worker_id is null), (select count(*) from dataset where"
    " worker_id is not null) + (select count(*) from weights where worker_id is not null),"
    " (select count(*) from worker where stopped_at is null and heartbeat_at > now() - interval '1 "
    "minute'), (select count(*) from worker where stopped_at is null and heartbeat_at > now() -"
    " interval '1 minute' and trouble <> ''),"
    " (select count(*) from blob), (select coalesce(sum(size), 0)::bigint from blob), (select"
    " count(*) from event), (select coalesce(extract(epoch from now() - min(queued_at)), 0)::float8"
    " from trial where state = 'queued' and not held and chosen),"
    " pg_database_size(current_database())::float8 from job";

enum sv_status store_counters_read(struct store *store, struct store_counters *out_counters,
                                   struct sv_error *err)
{
    struct sql_rows rows = {0};
    enum sv_status st = store_query(store, COUNTERS, NULL, &rows, err);
    if (st != SV_OK) {
        return st;
    }
    struct sql_reader r = {.rows = &rows};
    int64_t *const counts[] = {&out_counters->trials_queued,      &out_counters->trials_running,
                               &out_counters->trials_paused,      &out_counters->trials_completed,
                               &out_counters->trials_stopped,     &out_counters->trials_cancelled,
                               &out_counters->trials_failed,      &out_counters->attempts,
                               &out_counters->attempts_lost,      &out_counters->jobs,
                               &out_counters->datasets_ready,     &out_counters->datasets_waiting,
                               &out_counters->weights_ready,      &out_counters->weights_waiting,
                               &out_counters->imports_running,    &out_counters->workers,
                               &out_counters->workers_in_trouble, &out_counters->blobs,
                               &out_counters->blob_bytes,         &out_counters->events};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        *counts[i] = sql_read_int(&r);
    }
    out_counters->oldest_queued_s = sql_read_real(&r);
    out_counters->database_bytes = sql_read_real(&r);
    sql_rows_clear(&rows);
    return SV_OK;
}
