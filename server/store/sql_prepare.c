/* SPDX-License-Identifier: MIT
 *
 * Statements prepared once a connection, so that a poll or a commit costs no parsing and, once the
 * database trusts a general plan, no planning. Known by their text and the declared types of their
 * parameters. What a connection has no room for runs unprepared.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/store/sql_internal.h"

enum { NAME_SIZE = 16, STATEMENTS_MAX = 192 };

struct sql_statement {
    char *sql;
    int n;
    Oid *types;
};

struct sql_statements {
    size_t n;
    struct sql_statement rows[STATEMENTS_MAX];
};

static bool is_same(const struct sql_statement *row, const char *sql,
                    const struct sql_params *params)
{
    return row->n == params->n && strcmp(row->sql, sql) == 0 &&
           memcmp(row->types, params->types, (size_t)row->n * sizeof row->types[0]) == 0;
}

static size_t find(const struct sql_statements *all, const char *sql,
                   const struct sql_params *params)
{
    size_t i = 0;
    while (i < all->n && !is_same(&all->rows[i], sql, params)) {
        i++;
    }
    return i;
}

/* The place of a new row, which is not counted yet; NULL when there is no room or no memory. */
static struct sql_statement *reserve(struct store_conn *conn, const char *sql,
                                     const struct sql_params *params)
{
    if (!conn->statements) {
        conn->statements = calloc(1, sizeof *conn->statements);
    }
    if (!conn->statements || conn->statements->n == STATEMENTS_MAX) {
        return NULL;
    }
    struct sql_statement *row = &conn->statements->rows[conn->statements->n];
    size_t size = (size_t)params->n * sizeof row->types[0];
    *row = (struct sql_statement){.sql = strdup(sql), .n = params->n, .types = malloc(size)};
    if (!row->sql || !row->types) {
        free(row->sql);
        free(row->types);
        return NULL;
    }
    memcpy(row->types, params->types, size);
    return row;
}

static void name_make(size_t i, char name[NAME_SIZE])
{
    (void)snprintf(name, NAME_SIZE, "s%zu", i);
}

/* Where the statement is, prepared now if it was not; STATEMENTS_MAX: run it unprepared. */
static enum sv_status prepare(struct store_conn *conn, const char *sql,
                              const struct sql_params *params, size_t *out_at, struct sv_error *err)
{
    char name[NAME_SIZE];
    *out_at = conn->statements ? find(conn->statements, sql, params) : 0;
    if (conn->statements && *out_at < conn->statements->n) {
        return SV_OK;
    }
    struct sql_statement *row = reserve(conn, sql, params);
    if (!row) {
        *out_at = STATEMENTS_MAX;
        return SV_OK;
    }
    struct sql_statements *all = conn->statements;
    *out_at = all->n;
    name_make(all->n, name);
    PGresult *result =
        PQsendPrepare(conn->pg, name, sql, params->n, params->types) ? sql_last(conn) : NULL;
    enum sv_status st = sql_sort(conn, result, sql, err);
    PQclear(result);
    if (st == SV_OK) {
        all->n++;
    } else {
        free(row->sql);
        free(row->types);
    }
    return st;
}

enum sv_status sql_send(struct store_conn *conn, const char *sql, const struct sql_params *params,
                        struct sv_error *err)
{
    char name[NAME_SIZE];
    size_t at = STATEMENTS_MAX;
    enum sv_status st = sql_overdue_check(conn, err);
    sql_wait_begin(conn);
    if (st == SV_OK && params->n > 0) {
        st = prepare(conn, sql, params, &at, err);
    }
    if (st != SV_OK) {
        return st;
    }
    name_make(at, name);
    int sent = at < STATEMENTS_MAX
                   ? PQsendQueryPrepared(conn->pg, name, params->n, params->values, params->lengths,
                                         params->formats, 1)
                   : PQsendQueryParams(conn->pg, sql, params->n, params->types, params->values,
                                       params->lengths, params->formats, 1);
    if (!sent) {
        conn->failure = SQL_LOST;
        return sv_fail(err, SV_ERR_DATABASE, "the connection to the database was lost");
    }
    return SV_OK;
}

void sql_disconnect(struct store_conn *conn)
{
    struct sql_statements *all = conn->statements;
    for (size_t i = 0; all && i < all->n; i++) {
        free(all->rows[i].sql);
        free(all->rows[i].types);
    }
    free(all);
    conn->statements = NULL;
    PQfinish(conn->pg);
    conn->pg = NULL;
}
