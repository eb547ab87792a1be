/* SPDX-License-Identifier: MIT
 *
 * Transactions: the only place that begins, commits, rolls back and repeats.
 *
 * A COMMIT whose answer never came leaves open whether it happened. The transaction then runs once
 * more with conn->repeated set. That is sound because every write of this room can be repeated: ids
 * are made beforehand, attempts write under a fence, uploads at an offset.
 */
#include <string.h>

#include "server/base/clock.h"
#include "server/store/sql_internal.h"

enum { RUNS_MAX = 5, LOSSES_MAX = 1, JITTER_MS = 20 };

struct run {
    const char *name;
    store_tx_fn fn;
    void *ctx;
    bool transaction;
    bool commit_unknown; /* a COMMIT of an earlier run got no answer */
};

static enum sv_status exec_plain(struct store_conn *conn, const char *sql, struct sv_error *err)
{
    PGresult *result = sql_command(conn, sql);
    enum sv_status st = sql_sort(conn, result, sql, err);
    PQclear(result);
    return st;
}

/* COMMIT of a transaction that failed before says ROLLBACK and no error: look at the tag. */
static enum sv_status commit(struct store_conn *conn, struct run *run, struct sv_error *err)
{
    PGresult *result = sql_command(conn, "commit");
    enum sv_status st = sql_sort(conn, result, "commit", err);
    if (st == SV_OK && strcmp(PQcmdStatus(result), "COMMIT") != 0) {
        conn->failure = SQL_BROKEN;
        st = sv_fail(err, SV_ERR_INTERNAL, "a transaction was rolled back");
    }
    if (st != SV_OK && conn->failure == SQL_LOST) {
        run->commit_unknown = true;
    }
    PQclear(result);
    return st;
}

static enum sv_status run_transaction(struct store_conn *conn, struct run *run,
                                      struct sv_error *err)
{
    enum sv_status st = exec_plain(conn, "begin", err);
    if (st != SV_OK) {
        return st;
    }
    st = run->fn(conn, run->ctx, err);
    if (st == SV_OK) {
        return commit(conn, run, err);
    }
    enum sql_failure failure = conn->failure;
    bool answers = failure != SQL_LOST && failure != SQL_OVERDUE;
    if (answers && exec_plain(conn, "rollback", NULL) != SV_OK) {
        failure = conn->failure == SQL_LOST && failure == SQL_FINE ? SQL_FINE : failure;
    }
    conn->failure = failure;
    return st;
}

/* One run on a connection of its own; *out_failure says whether another may help. */
static enum sv_status run_once(struct store *store, struct run *run, enum sql_failure *out_failure,
                               struct sv_error *err)
{
    struct store_conn *conn = NULL;
    *out_failure = SQL_BROKEN;
    enum sv_status st = store_pool_take(store, &conn, err);
    if (st != SV_OK) {
        return st;
    }
    conn->repeated = run->commit_unknown;
    st = run->transaction ? run_transaction(conn, run, err) : run->fn(conn, run->ctx, err);
    *out_failure = st == SV_OK ? SQL_FINE : conn->failure;
    if (*out_failure == SQL_LOST || *out_failure == SQL_OVERDUE) {
        store_pool_suspect(store);
    }
    store_pool_give(conn);
    return st;
}

static enum sv_status run_all(struct store *store, struct run *run, struct sv_error *err)
{
    int losses = 0;
    for (int runs = 1;; runs++) {
        struct sv_error why = {0};
        enum sql_failure failure;
        enum sv_status st = run_once(store, run, &failure, &why);
        bool again = (failure == SQL_REPEAT && runs < RUNS_MAX) ||
                     (failure == SQL_LOST && losses++ < LOSSES_MAX);
        if (st == SV_OK || !again) {
            if (st != SV_OK && err) {
                *err = why;
            }
            return st;
        }
        store_count_retry(store);
        log_event(store_log(store), SV_LOG_DEBUG, "transaction_repeated",
                  LOG_TEXT("name", run->name), LOG_INT("run", runs),
                  LOG_INT("lost", failure == SQL_LOST));
        if (failure == SQL_REPEAT) {
            char id[SV_ID_SIZE];
            sv_id_make(id);
            sv_clock_sleep_ms(1 + (id[SV_ID_SIZE - 2] % JITTER_MS) * runs);
        }
    }
}

enum sv_status store_tx_run(struct store *store, const char *name, store_tx_fn fn, void *ctx,
                            struct sv_error *err)
{
    struct run run = {.name = name, .fn = fn, .ctx = ctx, .transaction = true};
    return run_all(store, &run, err);
}

enum sv_status store_run(struct store *store, const char *name, store_tx_fn fn, void *ctx,
                         struct sv_error *err)
{
    struct run run = {.name = name, .fn = fn, .ctx = ctx, .transaction = false};
    return run_all(store, &run, err);
}

struct query {
    const char *sql;
    struct sql_params *params;
    struct sql_rows *rows;
};

/* The parameters must outlive a run that is repeated: the statement gets a copy that owns none. */
static enum sv_status query_run(struct store_conn *conn, void *ctx, struct sv_error *err)
{
    struct query *query = ctx;
    struct sql_params params = *query->params;
    params.memory.blocks = NULL;
    return sql_run(conn, query->sql, &params, query->rows, err);
}

enum sv_status store_query(struct store *store, const char *sql, struct sql_params *params,
                           struct sql_rows *rows, struct sv_error *err)
{
    struct sql_params none = {0};
    struct query query = {.sql = sql, .params = params ? params : &none, .rows = rows};
    enum sv_status st = store_run(store, "query", query_run, &query, err);
    sql_params_clear(query.params);
    return st;
}
