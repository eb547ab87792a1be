/* SPDX-License-Identifier: MIT
 *
 * COPY between a table and a function of the caller. When the function fails the connection is
 * closed, by which the server gives the transaction up, and the function's reason stands.
 */
#include <stdlib.h>

#include "server/store/sql_internal.h"

/* The statement's own result; SV_OK when it is now copying. */
static enum sv_status begin(struct store_conn *conn, const char *sql, ExecStatusType wanted,
                            struct sv_error *err)
{
    sql_wait_begin(conn);
    PGresult *result = PQsendQuery(conn->pg, sql) ? sql_next(conn) : NULL;
    bool copies = PQresultStatus(result) == wanted;
    enum sv_status st = copies ? SV_OK : sql_sort(conn, result, sql, err);
    PQclear(result);
    if (!copies) {
        PQclear(sql_last(conn));
    }
    return st != SV_OK || copies ? st : sv_fail(err, SV_ERR_INTERNAL, "it was no COPY");
}

/* What the statement says at its end. */
static enum sv_status end(struct store_conn *conn, const char *sql, int64_t *out_rows,
                          struct sv_error *err)
{
    sql_wait_begin(conn);
    PGresult *result = sql_last(conn);
    enum sv_status st = sql_sort(conn, result, sql, err);
    if (st == SV_OK) {
        *out_rows = strtoll(PQcmdTuples(result), NULL, 10);
    }
    PQclear(result);
    return st;
}

static enum sv_status abandon(struct store_conn *conn, enum sv_status st)
{
    sql_disconnect(conn);
    conn->failure = SQL_BROKEN;
    return st;
}

enum sv_status sql_copy_out(struct store_conn *conn, const char *sql, sql_copy_sink sink, void *ctx,
                            int64_t *out_rows, struct sv_error *err)
{
    char *piece = NULL;
    int n;
    enum sv_status st = begin(conn, sql, PGRES_COPY_OUT, err);
    if (st != SV_OK) {
        return st;
    }
    while (sql_wait_begin(conn), (n = sql_copy_read(conn, &piece)) > 0) {
        st = sink(ctx, piece, (size_t)n, err);
        PQfreemem(piece);
        if (st != SV_OK) {
            return abandon(conn, st);
        }
    }
    return end(conn, sql, out_rows, err);
}

enum sv_status sql_copy_in(struct store_conn *conn, const char *sql, sql_copy_source source,
                           void *ctx, int64_t *out_rows, struct sv_error *err)
{
    const char *piece = NULL;
    size_t n = 0;
    bool sent = true;
    enum sv_status st = begin(conn, sql, PGRES_COPY_IN, err);
    if (st != SV_OK) {
        return st;
    }
    while (sent && (st = source(ctx, &piece, &n, err)) == SV_OK && n > 0) {
        sql_wait_begin(conn);
        sent = sql_copy_write(conn, piece, (int)n);
    }
    if (st != SV_OK) {
        return abandon(conn, st);
    }
    if (sent) {
        sent = PQputCopyEnd(conn->pg, NULL) == 1;
    }
    return end(conn, sql, out_rows, err);
}
