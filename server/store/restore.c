/* SPDX-License-Identifier: MIT
 *
 * A restore: the schema is made by our own migrations up to the backup's version, filled, brought
 * up to date, and what was under way is ended, all in one transaction under the lock of migrations.
 * Whoever is killed before its commit leaves the database as empty as it was.
 */
#include <string.h>

#include "server/store/attempt_internal.h"
#include "server/store/backup_internal.h"
#include "server/store/migrate_internal.h"

static const char EMPTY[] =
    "select not exists (select 1 from pg_class where relnamespace = current_schema()::regnamespace)"
    " and not exists (select 1 from pg_proc where pronamespace = current_schema()::regnamespace)"
    " and not exists (select 1 from pg_namespace where nspname = 'report')";

/* What migrations put into tables comes with the backup. */
static const char CLEAR[] =
    "do $$ begin execute (select 'truncate ' || string_agg(quote_ident(relname), ', ') from"
    " pg_class where relkind = 'r' and relnamespace = current_schema()::regnamespace and relname"
    " <> 'schema_migration'); end $$";

static const char SAME_MIGRATIONS[] =
    "select encode(sha256(string_agg(checksum, ''::bytea order by version)), 'hex') = $1 from"
    " schema_migration";

static const char HAS_TABLE[] =
    "select exists (select 1 from pg_class where relkind = 'r' and relname = $1 and relnamespace ="
    " current_schema()::regnamespace and relname <> 'schema_migration')";

static const char SET_SEQUENCE[] =
    "select setval(pg_get_serial_sequence(quote_ident($1), $2), $3, false) is not null";

struct restore {
    struct backup_file file;
    struct store_conn *conn;
    struct store_backup_summary summary;
};

/* One row of one boolean. */
static enum sv_status ask(struct store_conn *conn, const char *sql, struct sql_params *params,
                          bool *out_yes, struct sv_error *err)
{
    struct sql_rows rows = {0};
    enum sv_status st = sql_run(conn, sql, params, &rows, err);
    if (st == SV_OK) {
        struct sql_reader r = {.rows = &rows};
        *out_yes = rows.n == 1 && sql_read_bool(&r);
        sql_rows_clear(&rows);
    }
    return st;
}

static enum sv_status check_empty(struct store_conn *conn, struct sv_error *err)
{
    bool empty = false;
    enum sv_status st = ask(conn, EMPTY, NULL, &empty, err);
    return st != SV_OK || empty
               ? st
               : sv_fail(err, SV_ERR_CONFLICT,
                         "the database is not empty: restore into a new data directory, or a new"
                         " database");
}

static enum sv_status make_schema(void *ctx, const struct store_backup_summary *summary,
                                  const char *migrations, struct sv_error *err)
{
    struct restore *restore = ctx;
    struct sql_params params = {0};
    bool same = false;
    enum sv_status st = store_migrate_to(restore->conn, summary->schema, err);
    sql_text(&params, migrations);
    st = st == SV_OK ? ask(restore->conn, SAME_MIGRATIONS, &params, &same, err) : st;
    if (st == SV_OK && !same) {
        st = sv_fail(err, SV_ERR_CONFLICT,
                     "the backup was made by a program with other migrations than this one's");
    }
    return st == SV_OK ? sql_run(restore->conn, CLEAR, NULL, NULL, err) : st;
}

static enum sv_status set_sequence(void *ctx, const char *table, const char *column, int64_t next,
                                   struct sv_error *err)
{
    struct restore *restore = ctx;
    struct sql_params params = {0};
    sql_text(&params, table);
    sql_text(&params, column);
    sql_int(&params, next);
    return sql_run(restore->conn, SET_SEQUENCE, &params, NULL, err);
}

static enum sv_status give_piece(void *ctx, const char **out_piece, size_t *out_n,
                                 struct sv_error *err)
{
    struct backup_file *file = ctx;
    *out_piece = file->piece;
    return backup_get_piece(file, out_n, err);
}

static enum sv_status fill_table(void *ctx, struct backup_file *file, const char *name,
                                 const char *columns, int64_t *out_rows, struct sv_error *err)
{
    struct restore *restore = ctx;
    struct sql_params params = {0};
    char sql[STORE_BACKUP_LINE];
    bool known = false;
    sql_text(&params, name);
    enum sv_status st = ask(restore->conn, HAS_TABLE, &params, &known, err);
    if (st != SV_OK || !known) {
        return st ? st : sv_fail(err, SV_ERR_INVALID_FIELD, "the backup has a table of no schema");
    }
    (void)snprintf(sql, sizeof sql, "copy %s (%s) from stdin (format binary)", name, columns);
    return sql_copy_in(restore->conn, sql, give_piece, file, out_rows, err);
}

/* ctx: struct restore. */
static enum sv_status restore_tx(struct store_conn *conn, void *ctx, struct sv_error *err)
{
    struct restore *restore = ctx;
    const struct backup_reader reader = {
        .head = make_schema, .sequence = set_sequence, .table = fill_table, .ctx = restore};
    restore->conn = conn;
    enum sv_status st = store_migrate_lock(conn, err);
    st = st == SV_OK ? check_empty(conn, err) : st;
    if (st == SV_ERR_CONFLICT && conn->repeated) {
        return SV_OK; /* the first run's commit was not lost, only its answer */
    }
    st = st == SV_OK ? backup_read(&restore->file, &reader, &restore->summary, err) : st;
    st = st == SV_OK ? store_migrate_to(conn, store_schema_version(), err) : st;
    return st == SV_OK ? store_reap_everything(conn, &restore->summary.lost, err) : st;
}

enum sv_status store_restore(struct store *store, const char *path,
                             const struct store_backup_watch *watch,
                             struct store_backup_summary *out_summary, struct sv_error *err)
{
    struct restore restore = {0};
    enum sv_status st = backup_open(path, &restore.file, err);
    if (st != SV_OK) {
        return st;
    }
    restore.file.watch = watch;
    st = store_tx_run(store, "restore", restore_tx, &restore, err);
    if (st == SV_OK) {
        *out_summary = restore.summary;
    }
    backup_close(&restore.file);
    return st;
}
