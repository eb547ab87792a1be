/* SPDX-License-Identifier: MIT
 *
 * The only place that waits for answers of the database. statement_timeout ends what takes the
 * database too long; a database that is frozen, or whose host is gone, ends nothing, so each wait
 * has a deadline on this side as well. A connection whose answer is overdue is of no further use:
 * it is closed, and what became of the statement is not known.
 *
 * Connections are non-blocking, so that a long statement that the other side does not read cannot
 * hold its sender either.
 */
#include <errno.h>
#include <poll.h>

#include "server/base/clock.h"
#include "server/store/sql_internal.h"

/* False: the deadline has passed. */
static bool wait_socket(const PGconn *pg, short events, int64_t until_ms)
{
    struct pollfd fd = {.fd = PQsocket(pg), .events = events};
    if (fd.fd < 0) {
        return true; /* closed: the next result says so */
    }
    for (;;) {
        int64_t left = until_ms - sv_clock_monotonic_ms();
        int n = poll(&fd, 1, left > 0 ? (int)left : 0); /* what has come counts, however late */
        if (n > 0 || (n < 0 && errno != EINTR)) {
            return true;
        }
        if (left <= 0) {
            return false;
        }
    }
}

/* Sends what is left and reads until PQgetResult need not wait. False: the deadline has passed. */
static bool settle(PGconn *pg, int64_t until_ms)
{
    int unsent = 1;
    for (;;) {
        unsent = unsent > 0 ? PQflush(pg) : 0;
        if (unsent < 0 || (unsent == 0 && !PQisBusy(pg))) {
            return true; /* also when it broke: the next result says so */
        }
        if (!wait_socket(pg, (short)(unsent ? POLLIN | POLLOUT : POLLIN), until_ms)) {
            return false;
        }
        if (!PQconsumeInput(pg)) {
            return true;
        }
    }
}

/* All results of what was sent, of which the last is kept; false: the deadline has passed. */
static bool read_last(PGconn *pg, int64_t until_ms, PGresult **out_last)
{
    PGresult *last = NULL;
    bool settled;
    while ((settled = settle(pg, until_ms))) {
        PGresult *next = PQgetResult(pg);
        if (!next) {
            break;
        }
        PQclear(last);
        last = next;
    }
    *out_last = last;
    return settled;
}

static void overdue(struct store_conn *conn)
{
    if (conn->failure != SQL_OVERDUE) {
        log_event(store_log(conn->store), SV_LOG_WARN, "database_does_not_answer",
                  LOG_INT("ms", store_patience_ms(conn->store)));
    }
    conn->failure = SQL_OVERDUE;
}

void sql_wait_begin(struct store_conn *conn)
{
    conn->until_ms = sv_clock_monotonic_ms() + store_patience_ms(conn->store);
}

PGresult *sql_next(struct store_conn *conn)
{
    if (conn->failure == SQL_OVERDUE || !settle(conn->pg, conn->until_ms)) {
        overdue(conn);
        return NULL;
    }
    store_heard(conn->store);
    return PQgetResult(conn->pg);
}

PGresult *sql_last(struct store_conn *conn)
{
    PGresult *last = NULL;
    if (!read_last(conn->pg, conn->until_ms, &last)) {
        overdue(conn);
    } else {
        store_heard(conn->store);
    }
    return last;
}

int sql_copy_read(struct store_conn *conn, char **out_piece)
{
    for (;;) {
        int n = PQgetCopyData(conn->pg, out_piece, 1);
        if (n != 0) {
            return n;
        }
        if (!wait_socket(conn->pg, POLLIN, conn->until_ms)) {
            overdue(conn);
            return -2;
        }
        if (!PQconsumeInput(conn->pg)) {
            return -2;
        }
    }
}

/* The other side may have something to say meanwhile; libpq reads it while it sends. */
bool sql_copy_write(struct store_conn *conn, const char *piece, int n)
{
    if (PQputCopyData(conn->pg, piece, n) != 1) {
        return false;
    }
    int unsent;
    while ((unsent = PQflush(conn->pg)) > 0) {
        if (!wait_socket(conn->pg, POLLIN | POLLOUT, conn->until_ms)) {
            overdue(conn);
            return false;
        }
        if (!PQconsumeInput(conn->pg)) {
            return false;
        }
    }
    return unsent == 0;
}

PGresult *sql_command(struct store_conn *conn, const char *sql)
{
    sql_wait_begin(conn);
    return PQsendQuery(conn->pg, sql) ? sql_last(conn) : NULL;
}

enum sv_status sql_overdue_check(const struct store_conn *conn, struct sv_error *err)
{
    return conn->failure == SQL_OVERDUE
               ? sv_fail(err, SV_ERR_DATABASE, "the database does not answer")
               : SV_OK;
}

bool sql_command_plain(PGconn *pg, const char *sql, int64_t patience_ms)
{
    PGresult *last = NULL;
    bool answered =
        PQsendQuery(pg, sql) && read_last(pg, sv_clock_monotonic_ms() + patience_ms, &last);
    ExecStatusType code = PQresultStatus(last);
    PQclear(last);
    return answered && (code == PGRES_COMMAND_OK || code == PGRES_TUPLES_OK);
}
