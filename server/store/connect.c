/* SPDX-License-Identifier: MIT
 *
 * Connecting: the connection string, the settings of a session, and why it failed.
 */
#include <string.h>

#include "server/store/sql_internal.h"

enum { SESSION_PATIENCE_MS = 5000 };

/* libpq takes anything else for the name of a database. What it finds wrong is not repeated: it may
 * be the password. */
enum sv_status store_address_check(const char *conninfo, struct sv_error *err)
{
    bool is_string = strchr(conninfo, '=') || strncmp(conninfo, "postgres://", 11) == 0 ||
                     strncmp(conninfo, "postgresql://", 13) == 0;
    PQconninfoOption *options = is_string ? PQconninfoParse(conninfo, NULL) : NULL;
    bool sound = options || !is_string;
    PQconninfoFree(options);
    return sound ? SV_OK
                 : sv_fail_parameter(err, SV_ERR_INVALID_PARAMETER, "database",
                                     "the connection string of the database is malformed: it is"
                                     " key=value pairs or postgresql://user:password@host/name");
}

static void ignore_notice(void *ctx, const PGresult *result)
{
    (void)ctx;
    (void)result;
}

/* What stands before dbname yields to the connection string, what stands after it does not. */
static PGconn *connect_once(const struct store_address *address)
{
    const char *const keys[] = {"connect_timeout",  "keepalives_idle",  "keepalives_interval",
                                "keepalives_count", "tcp_user_timeout", "fallback_application_name",
                                "dbname",           "client_encoding",  NULL};
    const char *const values[] = {
        address->connect_timeout, "10",   "5", "3", "10000", address->application_name,
        address->conninfo,        "UTF8", NULL};
    return PQconnectdbParams(keys, values, 1);
}

/* Why a connection failed, for the log: what libpq says, without the names and the parts of
 * addresses in it, which may hold a mistyped password. It gives no SQLSTATE for these. */
static const char *why_away(const PGconn *pg)
{
    static const struct {
        const char *part, *reason;
    } rows[] = {
        {"password authentication failed", "the password is wrong, or the user is not known"},
        {"no password supplied", "a password is needed"},
        {"no pg_hba.conf entry", "the server does not let this user in from here"},
        {"authentication failed", "the server does not let this user in"},
        {"does not exist", "there is no such database or user"},
        {"could not translate host name", "the host is not known"},
        {"refused", "nothing listens there"},
        {"No such file", "nothing listens there"},
        {"timeout expired", "it does not answer"},
        {"starting up", "it is starting"},
        {"shutting down", "it is stopping"},
        {"too many", "it takes no more connections"},
        {"connection slots", "it takes no more connections"},
        {"permission denied", "this user may not use that database"},
    };
    const char *message = PQerrorMessage(pg);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (strstr(message, rows[i].part)) {
            return rows[i].reason;
        }
    }
    return "it cannot be reached";
}

enum sv_status store_address_connect(const struct store_address *address, PGconn **out_pg,
                                     const char **out_why, struct sv_error *err)
{
    PGconn *pg = connect_once(address);
    *out_why = why_away(pg);
    if (PQstatus(pg) == CONNECTION_OK) {
        (void)PQsetNoticeReceiver(pg, ignore_notice, NULL);
        if (PQsetnonblocking(pg, 1) == 0 &&
            sql_command_plain(pg, address->session, SESSION_PATIENCE_MS)) {
            *out_pg = pg;
            return SV_OK;
        }
    }
    PQfinish(pg);
    return sv_fail(err, SV_ERR_DATABASE, "the database cannot be reached");
}
