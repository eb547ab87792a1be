/* SPDX-License-Identifier: MIT
 *
 * One statement, and the table that sorts what can go wrong with it. A lost connection is known by
 * PQstatus, never by an SQLSTATE: libpq gives none then.
 */
#include <stdlib.h>
#include <string.h>

#include "server/store/sql_internal.h"

struct error_row {
    const char *sqlstate; /* or its class, two characters */
    enum sql_failure failure;
    enum sv_status status;
    const char *text;
};

/* First match wins; the empty one matches all. */
static const struct error_row ERRORS[] = {
    {"40001", SQL_REPEAT, SV_ERR_OVERLOADED, "too many changes at once; try again"},
    {"40P01", SQL_REPEAT, SV_ERR_OVERLOADED, "too many changes at once; try again"},
    {"55P03", SQL_REPEAT, SV_ERR_OVERLOADED, "a lock was not free in time; try again"},
    {"57014", SQL_BROKEN, SV_ERR_OVERLOADED, "the query took too long"},
    {"23505", SQL_BROKEN, SV_ERR_CONFLICT, "it exists already"},
    {"23503", SQL_BROKEN, SV_ERR_CONFLICT, "it is in use, or what it refers to is gone"},
    {"23", SQL_BROKEN, SV_ERR_INTERNAL, "a rule of the schema was violated"},
    {"22021", SQL_BROKEN, SV_ERR_INVALID_FIELD, "a text is not valid UTF-8 or holds a NUL"},
    {"22P05", SQL_BROKEN, SV_ERR_INVALID_FIELD, "a text holds a character that cannot be stored"},
    {"22", SQL_BROKEN, SV_ERR_INVALID_FIELD, "a value cannot be stored"},
    /* a prepared statement that a change of the schema has overtaken: a new session helps */
    {"0A000", SQL_LOST, SV_ERR_DATABASE, "the schema of the database has changed"},
    {"26000", SQL_LOST, SV_ERR_DATABASE, "the session of the database was reset"},
    {"08", SQL_LOST, SV_ERR_DATABASE, "the connection to the database was lost"},
    {"57P", SQL_LOST, SV_ERR_DATABASE, "the database is starting or stopping"},
    {"25006", SQL_LOST, SV_ERR_DATABASE, "the database is read-only"},
    {"53100", SQL_BROKEN, SV_ERR_DATABASE, "the disk of the database is full"},
    {"53", SQL_BROKEN, SV_ERR_DATABASE, "the database is out of connections, disk or memory"},
    {"58", SQL_BROKEN, SV_ERR_DATABASE, "the database cannot read or write its files"},
    {"", SQL_BROKEN, SV_ERR_INTERNAL, "the database refused a statement"},
};

static const struct error_row *error_row(const char *sqlstate)
{
    const struct error_row *row = ERRORS;
    while (strncmp(row->sqlstate, sqlstate, strlen(row->sqlstate)) != 0) {
        row++;
    }
    return row;
}

static void copy_field(char *out, size_t size, const PGresult *result, int field)
{
    const char *text = result ? PQresultErrorField(result, field) : NULL;
    size_t n = text ? strnlen(text, size - 1) : 0;
    memcpy(out, text ? text : "", n);
    out[n] = '\0';
}

/* A statement of ours that the database refuses is a bug, or a broken machine: the log gets it. The
 * primary message holds no values of rows. */
static void log_refusal(const struct store_conn *conn, const PGresult *result, const char *sql)
{
    char message[200];
    char begin[60];
    copy_field(message, sizeof message, result, PG_DIAG_MESSAGE_PRIMARY);
    size_t n = strcspn(sql, "\n");
    n = n < sizeof begin ? n : sizeof begin - 1;
    memcpy(begin, sql, n);
    begin[n] = '\0';
    log_event(store_log(conn->store), SV_LOG_ERROR, "sql_refused",
              LOG_TEXT("sqlstate", conn->sqlstate), LOG_TEXT("constraint", conn->constraint),
              LOG_TEXT("message", message), LOG_TEXT("statement", begin));
}

enum sv_status sql_sort(struct store_conn *conn, const PGresult *result, const char *sql,
                        struct sv_error *err)
{
    enum sv_status st = sql_overdue_check(conn, err);
    if (st != SV_OK) {
        return st;
    }
    conn->failure = SQL_FINE;
    conn->sqlstate[0] = '\0';
    conn->constraint[0] = '\0';
    ExecStatusType code = PQresultStatus(result);
    if (code == PGRES_COMMAND_OK || code == PGRES_TUPLES_OK) {
        return SV_OK;
    }
    copy_field(conn->sqlstate, sizeof conn->sqlstate, result, PG_DIAG_SQLSTATE);
    copy_field(conn->constraint, sizeof conn->constraint, result, PG_DIAG_CONSTRAINT_NAME);
    if (PQstatus(conn->pg) != CONNECTION_OK) {
        conn->failure = SQL_LOST;
        return sv_fail(err, SV_ERR_DATABASE, "the connection to the database was lost");
    }
    const struct error_row *row = error_row(conn->sqlstate);
    conn->failure = row->failure;
    if (row->status == SV_ERR_INTERNAL) {
        log_refusal(conn, result, sql);
    }
    return sv_fail(err, row->status, "%s", row->text);
}

static enum sv_status send_checked(struct store_conn *conn, const char *sql,
                                   const struct sql_params *params, struct sv_error *err)
{
    enum sv_status st = store_memory_check(&params->memory, err);
    if (st != SV_OK) {
        conn->failure = SQL_BROKEN;
        return st;
    }
    return sql_send(conn, sql, params, err);
}

enum sv_status sql_run(struct store_conn *conn, const char *sql, struct sql_params *params,
                       struct sql_rows *rows, struct sv_error *err)
{
    struct sql_params none = {0};
    struct sql_params *p = params ? params : &none;
    enum sv_status st = send_checked(conn, sql, p, err);
    if (st == SV_OK) {
        PGresult *result = sql_last(conn); /* a lost connection gives one that says so */
        st = sql_sort(conn, result, sql, err);
        if (st == SV_OK && rows) {
            *rows = (struct sql_rows){.result = result,
                                      .n = PQntuples(result),
                                      .affected = (int)strtol(PQcmdTuples(result), NULL, 10)};
        } else {
            PQclear(result);
        }
    }
    sql_params_clear(p);
    return st;
}
