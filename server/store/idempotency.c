/* SPDX-License-Identifier: MIT
 *
 * Idempotency keys. An advisory lock of the transaction stands for "in progress": a second request
 * with the key does not wait for the first, it is told so. The key's row is written in the same
 * transaction as what the request makes.
 */
#include <string.h>

#include "server/store/list_internal.h"

static enum sv_status key_lock(struct store_conn *conn, const char *project_id, const char *key,
                               struct sv_error *err)
{
    struct sql_params params = {0};
    struct sql_rows rows = {0};
    sql_text(&params, project_id);
    sql_text(&params, key);
    enum sv_status st = sql_run(
        conn, "select pg_try_advisory_xact_lock(hashtextextended($1 || ' ' || $2, 1634956001))",
        &params, &rows, err);
    if (st != SV_OK) {
        return st;
    }
    struct sql_reader reader = {.rows = &rows};
    bool locked = sql_read_bool(&reader);
    sql_rows_clear(&rows);
    if (!locked && conn->repeated) { /* our own lost session may not be gone yet: once more */
        conn->failure = SQL_REPEAT;
    }
    return locked ? SV_OK
                  : sv_fail(err, SV_ERR_IN_PROGRESS,
                            "a request with this Idempotency-Key is still being worked on");
}

/* *out_found: the key is known, with the same request. */
static enum sv_status key_find(struct store_conn *conn, const char *project_id,
                               const struct store_idempotency *idempotency, bool *out_found,
                               char out_id[SV_ID_SIZE], struct sv_error *err)
{
    struct sql_params params = {0};
    struct sql_rows rows = {0};
    sql_text(&params, project_id);
    sql_text(&params, idempotency->key);
    sql_bytes(&params, idempotency->digest, sizeof idempotency->digest);
    enum sv_status st = sql_run(conn,
                                "select request_digest = $3, resource_id from idempotency_key"
                                " where project_id = $1 and key = $2",
                                &params, &rows, err);
    if (st != SV_OK) {
        return st;
    }
    *out_found = rows.n > 0;
    if (rows.n > 0) {
        struct sql_reader reader = {.rows = &rows};
        if (!sql_read_bool(&reader)) {
            st = sv_fail_parameter(err, SV_ERR_KEY_REUSED, "Idempotency-Key",
                                   "this Idempotency-Key was used with another request");
        }
        sql_read_id(&reader, out_id);
    }
    sql_rows_clear(&rows);
    return st;
}

static enum sv_status key_note(struct store_conn *conn, const struct store_creation *creation,
                               struct sv_error *err)
{
    const struct store_idempotency *idempotency = creation->idempotency;
    struct sql_params params = {0};
    sql_text(&params, creation->project_id);
    sql_text(&params, idempotency->key);
    sql_bytes(&params, idempotency->digest, sizeof idempotency->digest);
    sql_text(&params, creation->resource);
    sql_text(&params, creation->new_id);
    return sql_run(conn,
                   "insert into idempotency_key (project_id, key, request_digest, resource,"
                   " resource_id) values ($1, $2, $3, $4, $5)",
                   &params, NULL, err);
}

enum sv_status store_key_forget(struct store_conn *conn, const char *project_id, const char *key,
                                const char *resource_id, struct sv_error *err)
{
    struct sql_params params = {0};
    sql_text(&params, project_id);
    sql_text(&params, key);
    sql_text(&params, resource_id);
    return sql_run(conn,
                   "delete from idempotency_key where project_id = $1 and key = $2 and"
                   " resource_id = $3",
                   &params, NULL, err);
}

static enum sv_status look(struct store_conn *conn, const struct store_creation *creation,
                           bool *out_found, struct sv_error *err)
{
    struct sql_params params = {0};
    struct sql_rows rows = {0};
    sql_text(&params, creation->new_id);
    enum sv_status st = sql_run(conn, creation->exists, &params, &rows, err);
    if (st == SV_OK) {
        *out_found = rows.n > 0;
        sql_rows_clear(&rows);
    }
    return st;
}

enum sv_status store_create_begin(struct store_conn *conn, const struct store_creation *creation,
                                  struct store_created *out_created, bool *out_done,
                                  struct sv_error *err)
{
    const struct store_idempotency *idempotency = creation->idempotency;
    bool done = false;
    struct store_created created = {0};
    memcpy(created.id, creation->new_id, SV_ID_SIZE);
    enum sv_status st = SV_OK;
    if (conn->repeated) {
        st = look(conn, creation, &done, err);
    }
    if (st == SV_OK && !done && idempotency) {
        st = key_lock(conn, creation->project_id, idempotency->key, err);
        if (st == SV_OK) {
            st = key_find(conn, creation->project_id, idempotency, &done, created.id, err);
        }
        created.replayed = done;
        if (st == SV_OK && !done) {
            st = key_note(conn, creation, err);
        }
    }
    if (st == SV_OK) {
        *out_created = created;
        *out_done = done;
    }
    return st;
}
