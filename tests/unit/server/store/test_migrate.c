/* SPDX-License-Identifier: MIT
 *
 * server/store/migrate.h: B38, checksums, newer schemas, and what the schema promises of itself.
 */
#include "tests/support/cmocka_all.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <libpq-fe.h>

#include "server/store/migrate.h"
#include "server/store/store.h"
#include "tests/support/postgres.h"

static struct store *open_store(const struct test_postgres *postgres, const char *database,
                                char conninfo[TEST_CONNINFO_SIZE])
{
    char admin[TEST_CONNINFO_SIZE];
    char sql[100];
    test_postgres_conninfo(postgres, "postgres", admin);
    (void)snprintf(sql, sizeof sql, "create database %s", database);
    test_sql(admin, sql);
    test_postgres_conninfo(postgres, database, conninfo);
    struct store_options options = {.conninfo = conninfo, .max_connections = 4};
    struct store *store = NULL;
    struct sv_error err = {0};
    assert_int_equal(store_open(&options, &store, &err), SV_OK);
    return store;
}

static void migrates_once(void **state)
{
    char conninfo[TEST_CONNINFO_SIZE];
    struct store *store = open_store(*state, "once", conninfo);
    struct store_migrated migrated = {0};
    struct sv_error err = {0};
    assert_int_equal(store_check(store, &err), SV_ERR_WRONG_STATE);
    assert_int_equal(store_migrate(store, &migrated, &err), SV_OK);
    assert_int_equal(migrated.version, store_schema_version());
    assert_int_equal(migrated.applied, migrated.version);
    assert_int_equal(store_check(store, &err), SV_OK);
    assert_int_equal(store_migrate(store, &migrated, &err), SV_OK);
    assert_int_equal(migrated.applied, 0);
    store_close(store);
}

/* What others hold: another migrator's lock, a backup's, a table that the next version changes. */
static void a_lock_of_others_is_waited_for_with_a_limit(void **state)
{
    static const char *const held[] = {
        "begin; select pg_advisory_xact_lock(1634956001, 0)",
        "begin; create table if not exists schema_migration (version integer primary key,"
        " name text not null, checksum bytea not null, applied_at timestamptz not null default"
        " now()); commit; begin; lock table schema_migration in share mode",
    };
    char conninfo[TEST_CONNINFO_SIZE];
    store_close(open_store(*state, "waits", conninfo));
    struct store_options options = {
        .conninfo = conninfo, .max_connections = 1, .lock_timeout_ms = 50};
    struct store *store = NULL;
    struct store_migrated migrated = {0};
    assert_int_equal(store_open(&options, &store, NULL), SV_OK);
    for (size_t i = 0; i < sizeof held / sizeof held[0]; i++) {
        struct sv_error err = {0};
        PGconn *other = PQconnectdb(conninfo);
        PQclear(PQexec(other, held[i]));
        assert_int_equal(PQtransactionStatus(other), PQTRANS_INTRANS);
        assert_int_equal(store_migrate(store, &migrated, &err), SV_ERR_OVERLOADED);
        assert_non_null(strstr(err.text, "wait until it is done"));
        PQfinish(other);
    }
    assert_int_equal(store_migrate(store, &migrated, NULL), SV_OK);
    assert_int_equal(migrated.version, store_schema_version());
    store_close(store);
}

static void a_newer_schema_is_refused_untouched(void **state)
{
    char conninfo[TEST_CONNINFO_SIZE];
    struct store *store = open_store(*state, "newer", conninfo);
    struct store_migrated migrated = {0};
    struct sv_error err = {0};
    assert_int_equal(store_migrate(store, &migrated, &err), SV_OK);
    test_sql(conninfo, "insert into schema_migration values (9999, '9999_later.sql', '\\x00')");
    assert_int_equal(store_migrate(store, &migrated, &err), SV_ERR_DRAINING);
    assert_int_equal(store_check(store, &err), SV_ERR_DRAINING);
    store_close(store);
}

static void another_content_is_refused(void **state)
{
    char conninfo[TEST_CONNINFO_SIZE];
    struct store *store = open_store(*state, "changed", conninfo);
    struct store_migrated migrated = {0};
    struct sv_error err = {0};
    assert_int_equal(store_migrate(store, &migrated, &err), SV_OK);
    test_sql(conninfo, "update schema_migration set checksum = '\\x00' where version = 2");
    assert_int_equal(store_migrate(store, &migrated, &err), SV_ERR_CONFLICT);
    assert_non_null(strstr(err.text, "migration 2"));
    store_close(store);
}

struct migrator {
    struct store *store;
    struct store_migrated migrated;
    enum sv_status status;
};

static void *migrate_in_thread(void *arg)
{
    struct migrator *migrator = arg;
    migrator->status = store_migrate(migrator->store, &migrator->migrated, NULL);
    return NULL;
}

/* B38: one daemon holds the migration lock and is killed midway; the others go on. */
static void b38_a_killed_migrator_leaves_no_lock(void **state)
{
    char conninfo[TEST_CONNINFO_SIZE];
    struct store *store = open_store(*state, "killed", conninfo);
    PGconn *first = PQconnectdb(conninfo);
    PGresult *result = PQexec(first, "begin; select pg_advisory_xact_lock(1634956001, 0);"
                                     " create table half_done (n integer)");
    assert_int_equal(PQresultStatus(result), PGRES_COMMAND_OK);
    PQclear(result);
    struct migrator migrators[2];
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) {
        migrators[i] = (struct migrator){.store = store};
        assert_int_equal(pthread_create(&threads[i], NULL, migrate_in_thread, &migrators[i]), 0);
    }
    while (test_sql_number(conninfo, "select count(*) from pg_locks where locktype = 'advisory'"
                                     " and not granted") < 2) {
        (void)usleep(5000);
    }
    assert_int_equal(shutdown(PQsocket(first), SHUT_RDWR), 0); /* as a kill does */
    int applied = 0;
    for (int i = 0; i < 2; i++) {
        (void)pthread_join(threads[i], NULL);
        assert_int_equal(migrators[i].status, SV_OK);
        applied += migrators[i].migrated.applied;
    }
    assert_int_equal(applied, store_schema_version());
    assert_int_equal(test_sql_number(conninfo, "select count(*) from pg_class where relname ="
                                               " 'half_done'"),
                     0);
    PQfinish(first);
    store_close(store);
}

/* Every table has a comment, every table but the list of migrations a project, every foreign key to
 * blob stands in blob_reference. */
static void the_schema_keeps_its_rules(void **state)
{
    char conninfo[TEST_CONNINFO_SIZE];
    struct store *store = open_store(*state, "rules", conninfo);
    struct store_migrated migrated = {0};
    assert_int_equal(store_migrate(store, &migrated, NULL), SV_OK);
    static const char *const none[] = {
        "select count(*) from pg_class c join pg_namespace n on n.oid = c.relnamespace where"
        " n.nspname in ('public', 'report') and c.relkind in ('r', 'v') and"
        " obj_description(c.oid, 'pg_class') is null",
        "select count(*) from pg_class c where c.relnamespace = 'public'::regnamespace and"
        " c.relkind = 'r' and c.relname not in ('schema_migration', 'project', 'worker',"
        " 'blob_chunk') and not exists (select 1 from pg_attribute a where a.attrelid = c.oid"
        " and a.attname = 'project_id' and a.attnotnull)",
        "select count(*) from pg_constraint k where k.contype = 'f' and k.confrelid ="
        " 'blob'::regclass and k.conrelid <> 'blob_chunk'::regclass and not exists (select 1 from"
        " pg_depend d join pg_rewrite r on r.oid = d.objid where r.ev_class ="
        " 'blob_reference'::regclass and d.refobjid = k.conrelid and d.refobjsubid = k.conkey[1])",
    };
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        assert_int_equal(test_sql_number(conninfo, none[i]), 0);
    }
    store_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(migrates_once),
        cmocka_unit_test(a_lock_of_others_is_waited_for_with_a_limit),
        cmocka_unit_test(a_newer_schema_is_refused_untouched),
        cmocka_unit_test(another_content_is_refused),
        cmocka_unit_test(b38_a_killed_migrator_leaves_no_lock),
        cmocka_unit_test(the_schema_keeps_its_rules),
    };
    return cmocka_run_group_tests(tests, test_postgres_setup, test_postgres_teardown);
}
