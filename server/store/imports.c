/* SPDX-License-Identifier: MIT
 *
 * Import tasks. A data set in state checking waits while worker_id is null; a claim sets it, raises
 * the fence and counts an attempt. Every end names dataset, fence and worker in its UPDATE.
 */
#include "server/store/imports.h"

#include <math.h>
#include <string.h>

#include "server/store/list_internal.h"
#include "server/store/touch_internal.h"

struct claim {
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
    sql_text(&params, import->claim.dataset_id);
    enum sv_status st =
        sql_run(conn,
                "select f.name, b.id, b.sha256, b.size from dataset_file f join blob b on b.id ="
                " f.blob_id where f.dataset_id = $1 order by f.n",
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

static void read_claim(struct sql_rows *rows, struct claim *claim)
{
    struct sql_reader r = {.rows = rows, .memory = claim->memory};
    struct store_claimed_import *import = &claim->import;
    sql_read_id(&r, import->claim.dataset_id);
    sql_read_id(&r, import->claim.project_id);
    import->claim.fence = sql_read_int(&r);
    memcpy(import->claim.worker_id, claim->worker_id, SV_ID_SIZE);
    import->kind = sql_read_text(&r);
    import->layout = sql_read_text(&r);
    import->options = sql_read_text(&r);
    import->attempt = sql_read_int(&r);
    import->max_attempts = sql_read_int(&r);
}

static enum sv_status claim_tx(struct store_conn *conn, void *ctx, struct sv_error *err)
{
    struct claim *claim = ctx;
    struct sql_params params = {0};
    struct sql_rows rows = {0};
    sql_text(&params, claim->worker_id);
    sql_int(&params, claim->lease_ms);
    enum sv_status st =
        sql_run(conn,
                "with c as materialized (select id from dataset where state = 'checking' and"
                " worker_id is null and not_before <= now() order by number"
                " for no key update skip locked limit 1)"
                " update dataset d set worker_id = $1, lease_until = clock_timestamp() +"
                " $2 * interval '1 ms', fence = d.fence + 1, attempt = d.attempt + 1, progress = 0"
                " from c where d.id = c.id returning d.id, d.project_id, d.fence, d.kind,"
                " d.layout, d.options, d.attempt, d.max_attempts",
                &params, &rows, err);
    if (st != SV_OK) {
        return st;
    }
    claim->found = rows.n > 0;
    if (claim->found) {
        read_claim(&rows, claim);
    }
    sql_rows_clear(&rows);
    if (!claim->found) {
        return SV_OK;
    }
    st = read_files(conn, claim, err);
    return st == SV_OK ? store_dataset_touch(conn, claim->import.claim.dataset_id,
                                             "dataset_importing", claim->worker_id, err)
                       : st;
}

enum sv_status store_import_claim(struct store *store, const char *worker_id, int lease_ms,
                                  struct store_memory *memory, bool *out_found,
                                  struct store_claimed_import *out_import, struct sv_error *err)
{
    struct claim claim = {.worker_id = worker_id, .lease_ms = lease_ms, .memory = memory};
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
    sql_text(params, claim->dataset_id);
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
    enum sv_status st =
        sql_run(conn,
                "with o as (select progress from dataset where id = $1)"
                " update dataset set lease_until = clock_timestamp() + $4 * interval '1 ms',"
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
    return moved ? store_dataset_touch(conn, beat->claim->dataset_id, "dataset_progress",
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

struct end {
    const struct store_import_claim *claim;
    const char *set;  /* assignments; parameters from $4 on */
    const char *kind; /* of the event */
    void (*add)(struct sql_params *params, const void *what);
    const void *what;
};

/* An end whose COMMIT got no answer may have happened: then this fence has no worker any more. */
static enum sv_status ended_before(struct store_conn *conn, const struct store_import_claim *claim,
                                   struct sv_error *err)
{
    struct sql_params params = {0};
    struct sql_rows rows = {0};
    sql_text(&params, claim->dataset_id);
    sql_int(&params, claim->fence);
    enum sv_status st =
        sql_run(conn, "select 1 from dataset where id = $1 and fence = $2 and worker_id is null",
                &params, &rows, err);
    if (st == SV_OK) {
        st = rows.n > 0 ? SV_OK : lease_lost(err);
        sql_rows_clear(&rows);
    }
    return st;
}

static enum sv_status end_tx(struct store_conn *conn, void *ctx, struct sv_error *err)
{
    const struct end *end = ctx;
    char sql[1000];
    struct sql_params params = {0};
    struct sql_rows rows = {0};
    (void)snprintf(sql, sizeof sql,
                   "update dataset set worker_id = null, lease_until = null, %s where id = $1 and"
                   " fence = $2 and worker_id = $3 and state = 'checking'",
                   end->set);
    claim_params(end->claim, &params);
    if (end->add) {
        end->add(&params, end->what);
    }
    enum sv_status st = sql_run(conn, sql, &params, &rows, err);
    if (st != SV_OK) {
        return st;
    }
    int affected = rows.affected;
    sql_rows_clear(&rows);
    if (affected == 0) {
        return conn->repeated ? ended_before(conn, end->claim, err) : lease_lost(err);
    }
    return store_dataset_touch(conn, end->claim->dataset_id, end->kind, end->claim->worker_id, err);
}

static void add_ready(struct sql_params *params, const void *what)
{
    const struct store_import_ready *ready = what;
    sql_text(params, ready->report);
    sql_text(params, ready->digest);
    sql_text(params, ready->prepared_blob_id);
    const int64_t numbers[] = {ready->height,      ready->width,       ready->channels,
                               ready->class_count, ready->train_count, ready->validation_count,
                               ready->test_count};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        sql_int(params, numbers[i]);
    }
}

enum sv_status store_import_ready(struct store *store, const struct store_import_claim *claim,
                                  const struct store_import_ready *result, struct sv_error *err)
{
    struct end end = {
        .claim = claim,
        .set = "state = 'ready', finished_at = clock_timestamp(), progress = 1, report = $4,"
               " digest = decode($5, 'hex'), prepared_blob_id = $6, height = $7, width = $8,"
               " channels = $9, class_count = $10, train_count = $11, validation_count = $12,"
               " test_count = $13",
        .kind = "dataset_ready",
        .add = add_ready,
        .what = result};
    return store_tx_run(store, "import_ready", end_tx, &end, err);
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
    struct end end = {.claim = claim,
                      .set = "state = 'refused', finished_at = clock_timestamp(), error_text = $4,"
                             " report = $5",
                      .kind = "dataset_refused",
                      .add = add_refusal,
                      .what = &refusal};
    return store_tx_run(store, "import_refused", end_tx, &end, err);
}

static void add_text(struct sql_params *params, const void *what)
{
    sql_text(params, what);
}

enum sv_status store_import_crashed(struct store *store, const struct store_import_claim *claim,
                                    const char *text, struct sv_error *err)
{
    struct end end = {
        .claim = claim,
        .set = "state = case when attempt < max_attempts then 'checking' else 'refused' end,"
               " finished_at = case when attempt < max_attempts then null else clock_timestamp()"
               " end, error_text = case when attempt < max_attempts then null else $4 end,"
               " not_before = now() + least(attempt, 6) * interval '2 s'",
        .kind = "dataset_import_crashed",
        .add = add_text,
        .what = text};
    return store_tx_run(store, "import_crashed", end_tx, &end, err);
}

enum sv_status store_import_released(struct store *store, const struct store_import_claim *claim,
                                     struct sv_error *err)
{
    struct end end = {.claim = claim,
                      .set = "attempt = greatest(attempt - 1, 0), progress = 0",
                      .kind = "dataset_import_released"};
    return store_tx_run(store, "import_released", end_tx, &end, err);
}
