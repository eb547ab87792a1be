/* SPDX-License-Identifier: MIT
 *
 * Migrations. The advisory lock belongs to the transaction of one migration: when its migrator is
 * killed the lock goes with the session, and behind a transaction pooler too. Whoever waited finds
 * the version raised and goes on from there.
 */
#include "server/store/migrate.h"

#include <stdlib.h>
#include <string.h>

#include "server/base/clock.h"
#include "server/base/embedded.h"
#include "server/store/migrate_internal.h"

enum { SCRIPT_PATIENCE_MS = 3600 * 1000 };

/* It locks tables that others use, and waits for them with the session's short lock_timeout and
 * again, because whoever comes later waits behind it. Its work itself may take long. */
static const char LIMITS[] = "set local statement_timeout = 0";
static const char BUSY[] =
    "another program changes the schema of the database, restores it or backs"
    " it up: wait until it is done";
static const char LOCK[] = "select pg_advisory_xact_lock(1634956001, 0)";
static const char TABLE[] =
    "create table if not exists schema_migration ("
    " version integer primary key, name text not null, checksum bytea not null,"
    " applied_at timestamptz not null default now());"
    " comment on table schema_migration is 'Migrations applied, with the SHA-256 of their text.';"
    " lock table schema_migration in share row exclusive mode"; /* a backup holds it */

/* Number of a migration file's name, 0 for any other file. */
static int file_version(const char *name)
{
    size_t n = strlen(name);
    bool is_sql = n > 9 && strcmp(name + n - 4, ".sql") == 0;
    return is_sql && strspn(name, "0123456789") == 4 && name[4] == '_' ? (int)strtol(name, NULL, 10)
                                                                       : 0;
}

static const struct sv_embedded_file *find_file(int version)
{
    for (const struct sv_embedded_file *file = sv_embedded_table; file->name; file++) {
        if (file_version(file->name) == version) {
            return file;
        }
    }
    return NULL;
}

int store_schema_version(void)
{
    int version = 0;
    while (find_file(version + 1)) {
        version++;
    }
    return version;
}

static enum sv_status exec_script(struct store_conn *conn, const char *script, struct sv_error *err)
{
    sql_wait_begin(conn);
    conn->until_ms = sv_clock_monotonic_ms() + SCRIPT_PATIENCE_MS;
    PGresult *result = PQsendQuery(conn->pg, script) ? sql_last(conn) : NULL;
    enum sv_status st = sql_sort(conn, result, script, err);
    PQclear(result);
    return st;
}

/* Of what a lock stood in the way, once the patience for it has run out. */
static enum sv_status explain_lock(const struct store_conn *conn, enum sv_status st,
                                   const char *text, struct sv_error *err)
{
    return strcmp(conn->sqlstate, "55P03") == 0 ? sv_fail(err, st, "%s", text) : st;
}

static enum sv_status newest_version(struct store_conn *conn, int *out_version,
                                     struct sv_error *err)
{
    struct sql_rows rows = {0};
    enum sv_status st =
        sql_run(conn, "select coalesce(max(version), 0) from schema_migration", NULL, &rows, err);
    if (st == SV_OK) {
        struct sql_reader reader = {.rows = &rows};
        *out_version = (int)sql_read_int(&reader);
        sql_rows_clear(&rows);
    }
    return st;
}

/* What is applied must be what we carry. */
static enum sv_status check_applied(struct store_conn *conn, int version, struct sv_error *err)
{
    for (int i = 1; i <= version; i++) {
        const struct sv_embedded_file *file = find_file(i);
        struct sql_params params = {0};
        struct sql_rows rows = {0};
        sql_int(&params, i);
        sql_bytes(&params, file->data, file->size);
        enum sv_status st = sql_run(
            conn, "select 1 from schema_migration where version = $1 and checksum = sha256($2)",
            &params, &rows, err);
        int n = rows.n;
        sql_rows_clear(&rows);
        if (st != SV_OK) {
            return st;
        }
        if (n != 1) {
            return sv_fail(err, SV_ERR_CONFLICT,
                           "migration %d was applied with another content than this program's", i);
        }
    }
    return SV_OK;
}

static enum sv_status apply(struct store_conn *conn, int version, struct sv_error *err)
{
    const struct sv_embedded_file *file = find_file(version);
    enum sv_status st = exec_script(conn, file->data, err);
    if (st != SV_OK) {
        return st;
    }
    struct sql_params params = {0};
    sql_int(&params, version);
    sql_text(&params, file->name);
    sql_bytes(&params, file->data, file->size);
    return sql_run(
        conn, "insert into schema_migration (version, name, checksum) values ($1, $2, sha256($3))",
        &params, NULL, err);
}

enum sv_status store_migrate_lock(struct store_conn *conn, struct sv_error *err)
{
    enum sv_status st = exec_script(conn, LIMITS, err);
    st = st == SV_OK ? exec_script(conn, LOCK, err) : st;
    return explain_lock(conn, st, BUSY, err);
}

/* Makes the table of migrations where it is missing, and reads it. */
static enum sv_status open_table(struct store_conn *conn, int *out_version, struct sv_error *err)
{
    enum sv_status st = explain_lock(conn, exec_script(conn, TABLE, err), BUSY, err);
    return st == SV_OK ? newest_version(conn, out_version, err) : st;
}

enum sv_status store_migrate_to(struct store_conn *conn, int version, struct sv_error *err)
{
    int now = 0;
    enum sv_status st = open_table(conn, &now, err);
    while (st == SV_OK && now < version) {
        st = explain_lock(conn, apply(conn, ++now, err),
                          "a table that the schema's next version changes stays locked: end long"
                          " queries and transactions of others on the database",
                          err);
    }
    return st;
}

/* ctx: struct store_migrated. One migration, or none when the schema is up to date. */
static enum sv_status migrate_step(struct store_conn *conn, void *ctx, struct sv_error *err)
{
    struct store_migrated *migrated = ctx;
    int version = 0;
    enum sv_status st = store_migrate_lock(conn, err);
    st = st == SV_OK ? open_table(conn, &version, err) : st;
    if (st != SV_OK) {
        return st;
    }
    if (version > store_schema_version()) {
        return sv_fail(err, SV_ERR_DRAINING,
                       "the database has schema %d, this program knows %d: use a newer program",
                       version, store_schema_version());
    }
    st = check_applied(conn, version, err);
    migrated->applied = st == SV_OK && version < store_schema_version();
    migrated->version = version + migrated->applied;
    return migrated->applied ? store_migrate_to(conn, migrated->version, err) : st;
}

enum sv_status store_migrate(struct store *store, struct store_migrated *out_migrated,
                             struct sv_error *err)
{
    int applied = 0;
    struct store_migrated step;
    do {
        enum sv_status st = store_tx_run(store, "migrate", migrate_step, &step, err);
        if (st != SV_OK) {
            return st;
        }
        applied += step.applied;
    } while (step.applied > 0);
    *out_migrated = (struct store_migrated){.version = step.version, .applied = applied};
    return SV_OK;
}

/* ctx: int, the version; 0 without a schema. */
static enum sv_status read_version(struct store_conn *conn, void *ctx, struct sv_error *err)
{
    struct sql_rows rows = {0};
    enum sv_status st =
        sql_run(conn, "select to_regclass('schema_migration') is not null", NULL, &rows, err);
    if (st != SV_OK) {
        return st;
    }
    struct sql_reader reader = {.rows = &rows};
    bool exists = sql_read_bool(&reader);
    sql_rows_clear(&rows);
    *(int *)ctx = 0;
    return exists ? newest_version(conn, ctx, err) : SV_OK;
}

enum sv_status store_check(struct store *store, struct sv_error *err)
{
    int version = 0;
    enum sv_status st = store_run(store, "check", read_version, &version, err);
    if (st != SV_OK) {
        return st;
    }
    if (version > store_schema_version()) {
        return sv_fail(err, SV_ERR_DRAINING, "the database has a newer schema than this program");
    }
    if (version < store_schema_version()) {
        return sv_fail(err, SV_ERR_WRONG_STATE, "the database misses migrations");
    }
    return SV_OK;
}
