/* SPDX-License-Identifier: MIT
 *
 * Import tasks. An asset in state checking waits while worker_id is null; a claim sets it, raises
 * the fence and counts an attempt. Every end names asset, fence and worker in its UPDATE.
 */
#include "server/store/imports.h"

#include <math.h>
#include <string.h>

#include "server/store/asset_internal.h"

struct claim {
    enum store_import_queue queue;
    const char *worker_id;
    int lease_ms;
    struct store_memory *memory;
    bool found;
    struct store_claimed_import import;
};

static enum sv_status read_files(struct store_conn *conn, struct claim *claim, struct sv_error *err)
{
    struct store_claimed_import *import = &claim->import;
    struct sql_params params = {0};
    struct sql_rows rows = {0};
    sql_text(&params, import->claim.id);
    enum sv_status st =
        store_asset_run(conn, import->claim.asset,
                        "select f.name, b.id, b.sha256, b.size from {files} f join blob b on b.id ="
                        " f.blob_id where f.{owner} = $1 order by f.n",
                        &params, &rows, err);
    if (st != SV_OK) {
        return st;
    }
    import->files = store_memory_array(claim->memory, (size_t)rows.n, sizeof *import->files);
    import->n_files = 0;
    for (int i = 0; import->files && i < rows.n; i++) {
        struct sql_reader r = {.rows = &rows, .row = i, .memory = claim->memory};
        struct store_import_file *file = &import->files[i];
        file->name = sql_read_text(&r);
        sql_read_id(&r, file->blob.id);
        sql_read_digest(&r, file->blob.sha256);
        file->blob.size = sql_read_int(&r);
        import->n_files++;
    }
    sql_rows_clear(&rows);
    return store_memory_check(claim->memory, err);
}

static void read_claim(struct sql_rows *rows, enum store_asset asset, struct claim *claim)
{
    struct sql_reader r = {.rows = rows, .memory = claim->memory};
    struct store_claimed_import *import = &claim->import;
    import->claim.asset = asset;
    sql_read_id(&r, import->claim.id);
    sql_read_id(&r, import->claim.project_id);
    import->claim.fence = sql_read_int(&r);
    memcpy(import->claim.worker_id, claim->worker_id, SV_ID_SIZE);
    import->setup = sql_read_text(&r);
    import->attempt = sql_read_int(&r);
    import->max_attempts = sql_read_int(&r);
}

/* Takes the oldest of one kind that waits. */
static enum sv_status claim_asset(struct store_conn *conn, enum store_asset asset,
                                  struct claim *claim, struct sv_error *err)
{
    struct sql_params params = {0};
    struct sql_rows rows = {0};
    sql_text(&params, claim->worker_id);
    sql_int(&params, claim->lease_ms);
    enum sv_status st = store_asset_run(
        conn, asset,
        "with c as materialized (select id from {table} where state = 'checking' and worker_id is"
        " null and not_before <= now() order by number for no key update skip locked limit 1)"
        " update {table} d set worker_id = $1, lease_until = clock_timestamp() +"
        " $2 * interval '1 ms', fence = d.fence + 1, attempt = d.attempt + 1, progress = 0"
        " from c where d.id = c.id returning d.id, d.project_id, d.fence, {setup}, d.attempt,"
        " d.max_attempts",
        &params, &rows, err);
    if (st == SV_OK) {
        claim->found = rows.n > 0;
        if (claim->found) {
            read_claim(&rows, asset, claim);
        }
        sql_rows_clear(&rows);
    }
    return st;
}

/* Kinds of assets in which something waits, the one that waited longest first. */
static const char WAITING[] =
    "select w.kind::bigint from (select 0 as kind, updated_at from dataset where state = 'checking'"
    " and worker_id is null and not_before <= now() union all select 1, updated_at from weights"
    " where state = 'checking' and worker_id is null and not_before <= now()) w group by w.kind"
    " order by min(w.updated_at)";

static enum sv_status claim_any_asset(struct store_conn *conn, struct claim *claim,
                                      struct sv_error *err)
{
    struct sql_rows rows = {0};
    enum sv_status st = sql_run(conn, WAITING, NULL, &rows, err);
    if (st != SV_OK) {
        return st;
    }
    for (int i = 0; i < rows.n && st == SV_OK && !claim->found; i++) {
        struct sql_reader r = {.rows = &rows, .row = i};
        st = claim_asset(conn, (enum store_asset)sql_read_int(&r), claim, err);
    }
    sql_rows_clear(&rows);
    return st;
}

static enum sv_status claim_tx(struct store_conn *conn, void *ctx, struct sv_error *err)
{
    struct claim *claim = ctx;
    claim->found = false;
    enum sv_status st = claim->queue == STORE_QUEUE_PREDICTIONS
                            ? claim_asset(conn, STORE_PREDICTION, claim, err)
                            : claim_any_asset(conn, claim, err);
    if (st != SV_OK || !claim->found) {
        return st;
    }
    const struct store_import_claim *taken = &claim->import.claim;
    st = read_files(conn, claim, err);
    return st == SV_OK ? store_asset_touch(conn, taken->asset, taken->id, "importing",
                                           claim->worker_id, err)
                       : st;
}

enum sv_status store_import_claim(struct store *store, enum store_import_queue queue,
                                  const char *worker_id, int lease_ms, struct store_memory *memory,
                                  bool *out_found, struct store_claimed_import *out_import,
                                  struct sv_error *err)
{
    struct claim claim = {
        .queue = queue, .worker_id = worker_id, .lease_ms = lease_ms, .memory = memory};
    enum sv_status st = store_tx_run(store, "import_claim", claim_tx, &claim, err);
    if (st == SV_OK) {
        *out_found = claim.found;
        if (claim.found) {
            *out_import = claim.import;
        }
    }
    return st;
}

static enum sv_status lease_lost(struct sv_error *err)
{
    return sv_fail(err, SV_ERR_WRONG_STATE, "the lease of the import is lost");
}

static void claim_params(const struct store_import_claim *claim, struct sql_params *params)
{
    sql_text(params, claim->id);
    sql_int(params, claim->fence);
    sql_text(params, claim->worker_id);
}

struct beat {
    const struct store_import_claim *claim;
    int lease_ms;
    double progress;
};

/* The revision is raised only when the progress has moved by a hundredth. */
static enum sv_status beat_tx(struct store_conn *conn, void *ctx, struct sv_error *err)
{
    const struct beat *beat = ctx;
    struct sql_params params = {0};
    struct sql_rows rows = {0};
    claim_params(beat->claim, &params);
    sql_int(&params, beat->lease_ms);
    sql_real(&params, round(beat->progress * 100) / 100);
    enum sv_status st = store_asset_run(
        conn, beat->claim->asset,
        "with o as (select progress from {table} where id = $1)"
        " update {table} set lease_until = clock_timestamp() + $4 * interval '1 ms',"
        " progress = $5 from o where id = $1 and fence = $2 and worker_id = $3"
        " and state = 'checking' returning o.progress <> $5",
        &params, &rows, err);
    if (st != SV_OK) {
        return st;
    }
    struct sql_reader reader = {.rows = &rows};
    bool held = rows.n > 0;
    bool moved = held && sql_read_bool(&reader);
    sql_rows_clear(&rows);
    if (!held) {
        return lease_lost(err);
    }
    return moved ? store_asset_touch(conn, beat->claim->asset, beat->claim->id, "progress",
                                     beat->claim->worker_id, err)
                 : SV_OK;
}

enum sv_status store_import_heartbeat(struct store *store, const struct store_import_claim *claim,
                                      int lease_ms, double progress, struct sv_error *err)
{
    struct beat beat = {.claim = claim, .lease_ms = lease_ms, .progress = progress};
    return store_tx_run(store, "import_heartbeat", beat_tx, &beat, err);
}

/* ---- ends ---- */

/* An end whose COMMIT got no answer may have happened: then this fence has no worker any more. */
static enum sv_status ended_before(struct store_conn *conn, const struct store_import_claim *claim,
                                   struct sv_error *err)
{
    struct sql_params params = {0};
    struct sql_rows rows = {0};
    sql_text(&params, claim->id);
    sql_int(&params, claim->fence);
    enum sv_status st =
        store_asset_run(conn, claim->asset,
                        "select 1 from {table} where id = $1 and fence = $2 and worker_id is null",
                        &params, &rows, err);
    if (st == SV_OK) {
        st = rows.n > 0 ? SV_OK : lease_lost(err);
        sql_rows_clear(&rows);
    }
    return st;
}

static enum sv_status end_tx(struct store_conn *conn, void *ctx, struct sv_error *err)
{
    const struct store_import_end *end = ctx;
    char sql[1000];
    struct sql_params params = {0};
    struct sql_rows rows = {0};
    (void)snprintf(sql, sizeof sql,
                   "update {table} set worker_id = null, lease_until = null, %s where id = $1 and"
                   " fence = $2 and worker_id = $3 and state = 'checking'",
                   end->set);
    claim_params(end->claim, &params);
    if (end->add) {
        end->add(&params, end->row);
    }
    enum sv_status st = store_asset_run(conn, end->claim->asset, sql, &params, &rows, err);
    if (st != SV_OK) {
        return st;
    }
    int affected = rows.affected;
    sql_rows_clear(&rows);
    if (affected == 0) {
        return conn->repeated ? ended_before(conn, end->claim, err) : lease_lost(err);
    }
    return store_asset_touch(conn, end->claim->asset, end->claim->id, end->what,
                             end->claim->worker_id, err);
}

enum sv_status store_import_conclude(struct store *store, const struct store_import_end *end,
                                     struct sv_error *err)
{
    struct store_import_end copy = *end;
    return store_tx_run(store, "import_end", end_tx, &copy, err);
}

struct refusal {
    const char *text, *report;
};

static void add_refusal(struct sql_params *params, const void *what)
{
    const struct refusal *refusal = what;
    sql_text(params, refusal->text);
    sql_text(params, refusal->report);
}

enum sv_status store_import_refused(struct store *store, const struct store_import_claim *claim,
                                    const char *text, const char *report, struct sv_error *err)
{
    struct refusal refusal = {.text = text, .report = report};
    struct store_import_end end = {
        .claim = claim,
        .set = "state = 'refused', finished_at = clock_timestamp(), error_text = $4,"
               " report = $5",
        .what = "refused",
        .add = add_refusal,
        .row = &refusal};
    return store_import_conclude(store, &end, err);
}

static void add_text(struct sql_params *params, const void *what)
{
    sql_text(params, what);
}

enum sv_status store_import_crashed(struct store *store, const struct store_import_claim *claim,
                                    const char *text, struct sv_error *err)
{
    struct store_import_end end = {
        .claim = claim,
        .set = "state = case when attempt < max_attempts then 'checking' else 'refused' end,"
               " finished_at = case when attempt < max_attempts then null else clock_timestamp()"
               " end, error_text = case when attempt < max_attempts then null else $4 end,"
               " not_before = now() + least(attempt, 6) * interval '2 s'",
        .what = "import_crashed",
        .add = add_text,
        .row = text};
    return store_import_conclude(store, &end, err);
}

static void add_delay(struct sql_params *params, const void *what)
{
    const int *delay_ms = what;
    sql_int(params, *delay_ms);
}

enum sv_status store_import_released(struct store *store, const struct store_import_claim *claim,
                                     int delay_ms, struct sv_error *err)
{
    struct store_import_end end = {.claim = claim,
                                   .set = "attempt = greatest(attempt - 1, 0), progress = 0,"
                                          " not_before = now() + $4 * interval '1 ms'",
                                   .what = "import_released",
                                   .add = add_delay,
                                   .row = &delay_ms};
    return store_import_conclude(store, &end, err);
}
