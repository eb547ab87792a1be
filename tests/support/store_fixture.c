/* SPDX-License-Identifier: MIT
 *
 * Fixtures of the store's tests.
 */
#include "tests/support/store_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/store/migrate.h"
#include "tests/support/cmocka_all.h"

/* Refused statements are bugs: they show. */
static const struct sv_log LOG = {.fd = 2, .level = SV_LOG_ERROR};

static struct store *open_store(const char *conninfo)
{
    struct store_options options = {.conninfo = conninfo,
                                    .application_name = "test",
                                    .max_connections = 24,
                                    .curve_bytes = 1 << 20,
                                    .log = &LOG};
    struct store *store = NULL;
    struct sv_error err = {0};
    assert_int_equal(store_open(&options, &store, &err), SV_OK);
    return store;
}

/* Migrates the database of the server at its first use, and empties it at every other. */
static void ensure_empty_database(const struct test_postgres *postgres, const char *conninfo)
{
    static const char EMPTY[] =
        "set session_replication_role = replica;"
        "do $$ declare t regclass; begin for t in select oid from pg_class where relkind = 'r' and"
        " relnamespace = 'public'::regnamespace and relname not in ('schema_migration', 'project')"
        " loop execute format('delete from %s', t); end loop; end $$;"
        "delete from project where name <> 'default';"
        "update project set max_running = null;"
        "do $$ begin execute format('alter database %I reset all', current_database()); end $$";
    char admin[TEST_CONNINFO_SIZE];
    test_postgres_conninfo(postgres, "postgres", admin);
    if (test_sql_number(admin, "select count(*) from pg_database where datname = 'assay'") > 0) {
        test_sql(conninfo, EMPTY);
        return;
    }
    test_sql(admin, "create database assay");
    struct store *store = open_store(conninfo);
    struct store_migrated migrated;
    struct sv_error err = {0};
    enum sv_status st = store_migrate(store, &migrated, &err);
    store_close(store);
    if (st != SV_OK) {
        fail_msg("migration failed: %s", err.text);
    }
}

void store_fixture_open(struct store_fixture *fixture, struct test_postgres *postgres)
{
    *fixture = (struct store_fixture){.postgres = postgres};
    test_postgres_conninfo(postgres, "assay", fixture->conninfo);
    ensure_empty_database(postgres, fixture->conninfo);
    fixture->store = open_store(fixture->conninfo);
    (void)snprintf(fixture->scope.project_id, sizeof fixture->scope.project_id, "%s",
                   STORE_DEFAULT_PROJECT);
    (void)snprintf(fixture->scope.actor, sizeof fixture->scope.actor, "tester");
}

void store_fixture_close(struct store_fixture *fixture)
{
    store_memory_clear(&fixture->memory);
    store_close(fixture->store);
}

void store_fixture_expect(const struct store_fixture *fixture, enum sv_status got,
                          enum sv_status expected, const char *call, const char *file, int line)
{
    if (got != expected) {
        print_error("%s:%d: %s\n  gave %s (%s), not %s\n", file, line, call, sv_status_slug(got),
                    fixture->err.text, sv_status_slug(expected));
        fail();
    }
}

void store_fixture_worker(struct store_fixture *fixture, char out_worker_id[SV_ID_SIZE])
{
    char sql[400];
    char node[SV_ID_SIZE];
    sv_id_make(out_worker_id);
    sv_id_make(node);
    (void)snprintf(sql, sizeof sql,
                   "insert into worker (id, node_id, host, pid, build, core_type, instruction_set,"
                   " cpu, core_tokens) values ('%s', '%s', 'h', 1, 'b', 'c', 'avx2', 'x', 1)",
                   out_worker_id, node);
    test_sql(fixture->conninfo, sql);
}

void store_fixture_dataset(struct store_fixture *fixture, const char *name,
                           char out_dataset_id[SV_ID_SIZE])
{
    char sql[1200];
    char blob[SV_ID_SIZE];
    sv_id_make(out_dataset_id);
    sv_id_make(blob);
    (void)snprintf(
        sql, sizeof sql,
        "insert into blob (id, project_id, sha256, size) values ('%s', '%s', sha256('%s'), 0);"
        "insert into dataset (id, project_id, name, kind, layout, state, digest, prepared_blob_id,"
        " height, width, channels, class_count, train_count, validation_count, test_count,"
        " created_by, finished_at, report) values ('%s', '%s', '%s', 'images', 'idx', 'ready',"
        " sha256('x'), '%s', 28, 28, 1, 10, 60000, 0, 10000, 'tester', now(), '{\"classes\": []}')",
        blob, STORE_DEFAULT_PROJECT, blob, out_dataset_id, STORE_DEFAULT_PROJECT, name, blob);
    test_sql(fixture->conninfo, sql);
}

void store_fixture_job(struct store_fixture *fixture, const char *dataset_id, size_t n,
                       int max_attempts, char out_job_id[SV_ID_SIZE])
{
    struct store_trial_new *trials = calloc(n, sizeof *trials);
    assert_non_null(trials);
    for (size_t i = 0; i < n; i++) {
        trials[i] = (struct store_trial_new){.parameters = "{\"training.solver\": \"adam\"}",
                                             .seed = UINT64_MAX - i,
                                             .resolved = STORE_FIXTURE_RESOLVED,
                                             .max_attempts = max_attempts,
                                             .total_steps = 100};
        (void)snprintf(trials[i].hash, sizeof trials[i].hash, "%064zx", i + 1);
    }
    struct store_job_new job = {.name = "a job",
                                .experiment = "an experiment",
                                .dataset_id = dataset_id,
                                .kind = "solver_comparison",
                                .submitted = "{\"kind\":   \"solver_comparison\"}",
                                .resolved = "{\"kind\": \"solver_comparison\", \"seeds\": [1]}",
                                .headline_metric = "validation_accuracy",
                                .headline_higher_is_better = true,
                                .notes = "",
                                .trials = trials,
                                .n_trials = n};
    (void)snprintf(job.hash, sizeof job.hash, "%064d", 7);
    struct store_created created = {0};
    enum sv_status st =
        store_job_submit(fixture->store, &fixture->scope, &job, NULL, &created, &fixture->err);
    free(trials);
    assert_ok(fixture, st);
    memcpy(out_job_id, created.id, SV_ID_SIZE);
}

void store_fixture_claim(struct store_fixture *fixture, const char *worker_id,
                         struct store_claimed_trial *out_trial)
{
    struct store_environment environment = {.core_build = "build-1",
                                            .core_type = "Haswell",
                                            .instruction_set = "avx2",
                                            .libraries = "openblas 0.3.21",
                                            .cpu = "cpu",
                                            .threads = 8};
    bool found = false;
    assert_ok(fixture, store_trial_claim(fixture->store, worker_id, 60000, &environment,
                                         &fixture->memory, &found, out_trial, &fixture->err));
    assert_true(found);
    int64_t step = out_trial->checkpoint_step;
    assert_ok(fixture, store_fixture_resume(fixture, &out_trial->claim, step, step));
}

enum sv_status store_fixture_resume(struct store_fixture *fixture, const struct store_claim *claim,
                                    int64_t step, int64_t validated_step)
{
    const struct store_resumption at = {.step = step, .validated_step = validated_step};
    return store_attempt_resume(fixture->store, claim, &at, &fixture->err);
}

static char *read_file(const char *path)
{
    FILE *file = fopen(path, "r");
    char *text = calloc(1, 65536);
    assert_non_null(file);
    assert_non_null(text);
    size_t n = fread(text, 1, 65535, file);
    assert_true(n > 0 && n < 65535);
    (void)fclose(file);
    return text;
}

static void count_violation(void *ctx, const char *rule)
{
    print_error("broken rule: %s\n", rule);
    ++*(int *)ctx;
}

int store_fixture_violations(const struct store_fixture *fixture)
{
    int violations = 0;
    char *script = read_file("tests/chaos/invariants.sql");
    int rules = test_sql_script(fixture->conninfo, script, count_violation, &violations);
    free(script);
    assert_true(rules > 20);
    return violations;
}

void store_world_open(struct store_world *world, struct test_postgres *postgres, size_t n_trials,
                      int max_attempts)
{
    *world = (struct store_world){0};
    store_fixture_open(&world->f, postgres);
    store_fixture_worker(&world->f, world->worker);
    store_fixture_dataset(&world->f, "fashion", world->dataset);
    if (n_trials > 0) {
        store_fixture_job(&world->f, world->dataset, n_trials, max_attempts, world->job);
    }
}

void store_world_close(struct store_world *world)
{
    assert_int_equal(store_fixture_violations(&world->f), 0);
    store_fixture_close(&world->f);
}

void store_world_terminate(const struct store_world *world)
{
    test_sql(world->f.conninfo,
             "select pg_terminate_backend(pid) from pg_stat_activity where datname"
             " = current_database() and pid <> pg_backend_pid()");
}

void store_claimed_open(struct store_claimed *world, struct test_postgres *postgres)
{
    store_fixture_open(&world->f, postgres);
    store_fixture_worker(&world->f, world->worker);
    store_fixture_dataset(&world->f, "fashion", world->dataset);
    store_fixture_job(&world->f, world->dataset, 2, 2, world->job);
    store_fixture_claim(&world->f, world->worker, &world->t);
}

void store_claimed_close(struct store_claimed *world)
{
    assert_int_equal(store_fixture_violations(&world->f), 0);
    store_fixture_close(&world->f);
}

void store_claimed_commit(struct store_claimed *world, const struct store_point *points, size_t n)
{
    struct store_progress progress = {points[n - 1].step, points[n - 1].step, 1, "training"};
    struct store_commit commit = {.progress = &progress, .points = points, .n_points = n};
    assert_ok(&world->f,
              store_attempt_commit(world->f.store, &world->t.claim, &commit, NULL, &world->f.err));
}
