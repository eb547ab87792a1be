/* SPDX-License-Identifier: MIT
 *
 * What is special about questions to networks; the queue is in imports.c and reap.c.
 */
#include "server/store/predictions.h"

#include "server/store/asset_internal.h"

/* ---- creating ---- */

struct create {
    const struct store_scope *scope;
    const struct store_posted_new *posted;
    const struct store_idempotency *idempotency;
    char id[SV_ID_SIZE];
    struct store_created created;
};

/* SV_ERR_TOO_MANY when as many wait as may; questions asked at the same moment may pass together.
 */
static enum sv_status check_queue(struct store_conn *conn, const char *project_id,
                                  struct sv_error *err)
{
    struct sql_params params = {0};
    struct sql_rows rows = {0};
    sql_text(&params, project_id);
    sql_int(&params, STORE_QUESTIONS_WAITING - 1);
    enum sv_status st = sql_run(conn,
                                "select 1 from prediction where project_id = $1"
                                " and state = 'checking' offset $2 limit 1",
                                &params, &rows, err);
    if (st != SV_OK) {
        return st;
    }
    bool full = rows.n > 0;
    sql_rows_clear(&rows);
    return full ? sv_fail(err, SV_ERR_TOO_MANY,
                          "%d questions of this project wait for an answer already",
                          STORE_QUESTIONS_WAITING)
                : SV_OK;
}

static enum sv_status insert_row(struct store_conn *conn, const struct create *create,
                                 struct sv_error *err)
{
    struct sql_params params = {0};
    struct sql_rows rows = {0};
    sql_text(&params, create->id);
    sql_text(&params, create->posted->trial_id);
    sql_text(&params, create->scope->project_id);
    sql_text(&params, create->posted->media_type);
    sql_text(&params, create->posted->blob_id);
    sql_text(&params, create->scope->actor);
    sql_text(&params, create->posted->explain);
    enum sv_status st = sql_run(
        conn,
        "insert into prediction (id, project_id, trial_id, media_type, input_blob_id, created_by,"
        " explain) select $1::uuid, t.project_id, t.id, $4::text, $5::uuid, $6::text, $7::json"
        " from trial t where t.id = $2 and t.project_id = $3",
        &params, &rows, err);
    if (st != SV_OK) {
        return st;
    }
    int affected = rows.affected;
    sql_rows_clear(&rows);
    return affected > 0 ? SV_OK : store_not_found("trial", err);
}

static enum sv_status create_tx(struct store_conn *conn, void *ctx, struct sv_error *err)
{
    struct create *create = ctx;
    bool done = false;
    struct store_creation creation = {.project_id = create->scope->project_id,
                                      .idempotency = create->idempotency,
                                      .resource = "prediction",
                                      .exists = "select 1 from prediction where id = $1",
                                      .new_id = create->id};
    enum sv_status st = store_create_begin(conn, &creation, &create->created, &done, err);
    if (st != SV_OK || done) {
        return st;
    }
    st = check_queue(conn, create->scope->project_id, err);
    if (st == SV_OK) {
        st = insert_row(conn, create, err);
    }
    return st == SV_OK ? store_asset_touch(conn, STORE_PREDICTION, create->id, "created",
                                           create->scope->actor, err)
                       : st;
}

enum sv_status store_prediction_create(struct store *store, const struct store_scope *scope,
                                       const struct store_posted_new *posted,
                                       const struct store_idempotency *idempotency,
                                       struct store_created *out_created, struct sv_error *err)
{
    struct create create = {.scope = scope, .posted = posted, .idempotency = idempotency};
    sv_id_make(create.id);
    enum sv_status st = store_id_check(posted->trial_id, "trial", err);
    if (st == SV_OK) {
        st = store_tx_run(store, "prediction_create", create_tx, &create, err);
    }
    if (st == SV_OK) {
        *out_created = create.created;
    }
    return st;
}

/* ---- reading ---- */

static void read_prediction(struct sql_reader *r, void *row)
{
    struct store_posted *out = row;
    out->number = sql_read_int(r);
    sql_read_id(r, out->id);
    sql_read_id(r, out->trial_id);
    out->media_type = sql_read_text(r);
    out->state = sql_read_text(r);
    out->explains = sql_read_bool(r);
    out->report = sql_read_text(r);
    out->error_text = sql_read_text(r);
    sql_read_id(r, out->output_blob_id);
    out->revision = sql_read_int(r);
    sql_read_time(r, out->created_at);
    sql_read_time(r, out->finished_at);
}

enum sv_status store_prediction_get(struct store *store, const struct store_scope *scope,
                                    const char *id, struct store_memory *memory,
                                    struct store_posted *out_prediction, struct sv_error *err)
{
    static const struct store_shape SHAPE = {sizeof(struct store_posted), read_prediction};
    struct sql_params params = {0};
    enum sv_status st = store_id_check(id, "prediction", err);
    if (st != SV_OK) {
        return st;
    }
    sql_text(&params, id);
    sql_text(&params, scope->project_id);
    return store_read_row(store,
                          "select number, id, trial_id, media_type, state, explain is not null,"
                          " report, error_text, output_blob_id, revision, rfc3339(created_at), "
                          "rfc3339(finished_at) from prediction"
                          " where id = $1 and project_id = $2",
                          &params, &SHAPE, "prediction", memory, out_prediction, err);
}

/* ---- the end of the work ---- */

struct answer {
    const char *report, *blob_id;
};

static void add_answer(struct sql_params *params, const void *what)
{
    const struct answer *answer = what;
    sql_text(params, answer->report);
    sql_text(params, answer->blob_id);
}

enum sv_status store_prediction_ready(struct store *store, const struct store_import_claim *claim,
                                      const char *report, const char *blob_id, struct sv_error *err)
{
    const struct answer answer = {.report = report, .blob_id = blob_id};
    struct store_import_end end = {
        .claim = claim,
        .set = "state = 'ready', finished_at = clock_timestamp(), progress = 1, report = $4,"
               " output_blob_id = $5",
        .what = "ready",
        .add = add_answer,
        .row = &answer};
    return store_import_conclude(store, &end, err);
}
