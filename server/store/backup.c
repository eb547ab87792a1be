/* SPDX-License-Identifier: MIT
 *
 * A backup: one repeatable-read transaction that copies every table of the schema. It holds the
 * table of migrations against migrators, so that what it reads is one version of the schema; that
 * lock comes before the snapshot is taken. Nobody else waits for it.
 */
#include <string.h>

#include "server/store/backup_internal.h"
#include "server/store/migrate_internal.h"

/* Before anything takes the snapshot: SET and LOCK do not. */
static const char BEGIN[] =
    "set transaction isolation level repeatable read; set local statement_timeout = 0;"
    " set local idle_in_transaction_session_timeout = 0;"
    " lock table schema_migration in share mode";

static const char HEAD[] =
    "select max(version), encode(sha256(string_agg(checksum, ''::bytea order by version)), 'hex'),"
    " rfc3339(now()), current_setting('server_version_num') from schema_migration";

/* Tables by the longest chain of references below them, so that what is referred to comes first.
 * Generated columns make themselves. */
static const char TABLES[] =
    "with recursive ours as (select oid, relname from pg_class where relkind = 'r' and"
    " relnamespace = current_schema()::regnamespace and relname <> 'schema_migration'),"
    " chain (oid, depth) as (select oid, 0 from ours union select f.conrelid, c.depth + 1"
    " from chain c join pg_constraint f on f.confrelid = c.oid and f.contype = 'f'"
    " and f.conrelid <> f.confrelid where c.depth < 99)"
    " select o.relname::text, (select string_agg(a.attname::text, ',' order by a.attnum)"
    " from pg_attribute a where a.attrelid = o.oid and a.attnum > 0 and not a.attisdropped"
    " and a.attgenerated = '') from ours o order by (select max(depth) from chain where oid ="
    " o.oid), o.relname";

/* Numbers of rows that are gone are not given again. */
static const char SEQUENCES[] =
    "select c.relname::text, a.attname::text, pg_sequence_last_value(pg_get_serial_sequence("
    "quote_ident(c.relname), a.attname)::regclass) + 1 from pg_attribute a join pg_class c on"
    " c.oid = a.attrelid where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r'"
    " and a.attidentity <> '' and pg_sequence_last_value(pg_get_serial_sequence(quote_ident("
    "c.relname), a.attname)::regclass) is not null order by 1, 2";

struct backup {
    struct backup_file file;
    struct store_backup_summary summary;
};

static enum sv_status begin(struct store_conn *conn, struct sv_error *err)
{
    PGresult *result = sql_command(conn, BEGIN);
    enum sv_status st = sql_sort(conn, result, BEGIN, err);
    PQclear(result);
    return conn->failure == SQL_REPEAT
               ? sv_fail(err, st, "the schema of the database is being changed: try again later")
               : st;
}

static enum sv_status write_head(struct store_conn *conn, struct backup *backup,
                                 struct sv_error *err)
{
    struct sql_rows rows = {0};
    struct store_memory memory = {0};
    enum sv_status st = sql_run(conn, HEAD, NULL, &rows, err);
    if (st != SV_OK) {
        return st;
    }
    struct sql_reader r = {.rows = &rows, .memory = &memory};
    struct store_backup_summary *summary = &backup->summary;
    *summary = (struct store_backup_summary){.schema = (int)sql_read_int(&r)};
    const char *migrations = sql_read_text0(&r);
    (void)snprintf(summary->made, sizeof summary->made, "%s", sql_read_text0(&r));
    st = backup_put_line(&backup->file, err,
                         "assay-backup 1\nschema %d\nmigrations %s\nmade %s\n"
                         "postgres %s",
                         summary->schema, migrations, summary->made, sql_read_text0(&r));
    sql_rows_clear(&rows);
    store_memory_clear(&memory);
    return st;
}

static enum sv_status write_sequences(struct store_conn *conn, struct backup *backup,
                                      struct sv_error *err)
{
    struct sql_rows rows = {0};
    struct store_memory memory = {0};
    enum sv_status st = sql_run(conn, SEQUENCES, NULL, &rows, err);
    for (int i = 0; st == SV_OK && i < rows.n; i++) {
        struct sql_reader r = {.rows = &rows, .row = i, .memory = &memory};
        const char *table = sql_read_text0(&r);
        const char *column = sql_read_text0(&r);
        st = backup_put_line(&backup->file, err, "sequence %s %s %lld", table, column,
                             (long long)sql_read_int(&r));
    }
    sql_rows_clear(&rows);
    store_memory_clear(&memory);
    return st;
}

static enum sv_status take_piece(void *ctx, const char *piece, size_t n, struct sv_error *err)
{
    return backup_put_piece(ctx, piece, n, err);
}

static enum sv_status write_table(struct store_conn *conn, struct backup *backup, const char *name,
                                  const char *columns, struct sv_error *err)
{
    char sql[STORE_BACKUP_LINE];
    int64_t rows = 0;
    (void)snprintf(sql, sizeof sql, "copy %s (%s) to stdout (format binary)", name, columns);
    enum sv_status st = backup_put_line(&backup->file, err, "table %s %s", name, columns);
    st = st == SV_OK ? sql_copy_out(conn, sql, take_piece, &backup->file, &rows, err) : st;
    st = st == SV_OK ? backup_put_piece(&backup->file, NULL, 0, err) : st;
    st = st == SV_OK ? backup_put_line(&backup->file, err, "rows %lld", (long long)rows) : st;
    backup->summary.rows += rows;
    backup->summary.tables++;
    return st;
}

static enum sv_status write_tables(struct store_conn *conn, struct backup *backup,
                                   struct sv_error *err)
{
    struct sql_rows rows = {0};
    struct store_memory memory = {0};
    enum sv_status st = sql_run(conn, TABLES, NULL, &rows, err);
    for (int i = 0; st == SV_OK && i < rows.n; i++) {
        struct sql_reader r = {.rows = &rows, .row = i, .memory = &memory};
        const char *name = sql_read_text0(&r);
        st = write_table(conn, backup, name, sql_read_text0(&r), err);
    }
    sql_rows_clear(&rows);
    store_memory_clear(&memory);
    return st;
}

/* ctx: struct backup. */
static enum sv_status backup_tx(struct store_conn *conn, void *ctx, struct sv_error *err)
{
    struct backup *backup = ctx;
    enum sv_status st = backup_begin_again(&backup->file, err);
    st = st == SV_OK ? begin(conn, err) : st;
    st = st == SV_OK ? write_head(conn, backup, err) : st;
    st = st == SV_OK ? write_sequences(conn, backup, err) : st;
    return st == SV_OK ? write_tables(conn, backup, err) : st;
}

enum sv_status store_backup(struct store *store, const char *path,
                            const struct store_backup_watch *watch,
                            struct store_backup_summary *out_summary, struct sv_error *err)
{
    struct backup backup = {0};
    enum sv_status st = store_check(store, err);
    if (st == SV_ERR_WRONG_STATE) {
        return sv_fail(err, st,
                       "the database holds no history, or one of an older program: `assayd migrate`"
                       " brings that up to date");
    }
    st = st == SV_OK ? backup_create(path, &backup.file, err) : st;
    if (st != SV_OK) {
        return st;
    }
    backup.file.watch = watch;
    st = store_tx_run(store, "backup", backup_tx, &backup, err);
    st = st == SV_OK ? backup_finish(&backup.file, path, err) : st;
    backup_discard(&backup.file, path);
    if (st == SV_OK) {
        backup.summary.bytes = backup.file.bytes;
        *out_summary = backup.summary;
    }
    return st;
}
