/* SPDX-License-Identifier: MIT
 *
 * The pool and transactions when the database goes away, answers get lost, locks are not free.
 */
#include "tests/support/cmocka_all.h"

#include <libpq-fe.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/base/clock.h"
#include "server/store/points.h"
#include "server/store/projects.h"
#include "server/store/results.h"
#include "server/store/sql_internal.h"
#include "server/store/trials.h"
#include "tests/support/patience.h"
#include "tests/support/proxy.h"
#include "tests/support/store_fixture.h"

static struct store *open_store(const char *conninfo, size_t max, int lock_timeout_ms)
{
    struct store_options options = {
        .conninfo = conninfo, .max_connections = max, .lock_timeout_ms = lock_timeout_ms};
    struct store *store = NULL;
    assert_int_equal(store_open(&options, &store, NULL), SV_OK);
    return store;
}

/* Idle connections die unseen; the next calls do not notice. */
static void terminated_sessions_are_replaced(void **state)
{
    struct store_world w;
    struct store_job job;
    store_world_open(&w, *state, 1, 2);
    for (int i = 0; i < 3; i++) {
        assert_ok(&w.f, store_check(w.f.store, &w.f.err));
        store_world_terminate(&w);
        assert_ok(&w.f, store_job_get(w.f.store, &w.f.scope, w.job, &w.f.memory, &job, &w.f.err));
    }
    store_world_terminate(&w);
    store_fixture_job(&w.f, w.dataset, 1, 1, w.job);
    struct store_pool_counters counters;
    store_pool_counters(w.f.store, &counters);
    assert_true(counters.retries >= 4);
    assert_int_equal(counters.busy, 0);
    store_world_close(&w);
}

/* Away: every call says so without waiting for it. Back: the pool heals itself. */
static void a_database_that_is_away_fails_at_once(void **state)
{
    struct store_world w;
    struct store_job job;
    store_world_open(&w, *state, 1, 2);
    test_postgres_stop(w.f.postgres, SIGINT);
    int64_t begin_ms = sv_clock_monotonic_ms();
    for (int i = 0; i < 50; i++) {
        assert_status(&w.f,
                      store_job_get(w.f.store, &w.f.scope, w.job, &w.f.memory, &job, &w.f.err),
                      SV_ERR_DATABASE);
        assert_null(strstr(w.f.err.text, "/tmp"));
    }
    assert_true(sv_clock_monotonic_ms() - begin_ms < TEST_PATIENCE_MS);
    test_postgres_start(w.f.postgres);
    enum sv_status st = SV_ERR_DATABASE;
    for (int64_t until = test_patience(); st != SV_OK && test_patience_lasts(until);) {
        st = store_check(w.f.store, &w.f.err);
    }
    assert_ok(&w.f, st);
    store_world_close(&w);
}

static enum sv_status write_and_refuse(struct store_conn *conn, void *ctx, struct sv_error *err)
{
    struct sql_params params = {0};
    sql_text(&params, ctx);
    enum sv_status st =
        sql_run(conn, "update job set notes = 'half' where id = $1", &params, NULL, err);
    return st == SV_OK ? sv_fail(err, SV_ERR_WRONG_STATE, "no") : st;
}

/* The database has no objection, the callback has: nothing of it stays. */
static void a_refused_transaction_leaves_nothing(void **state)
{
    struct store_world w;
    store_world_open(&w, *state, 1, 2);
    assert_status(&w.f, store_tx_run(w.f.store, "refuse", write_and_refuse, w.job, &w.f.err),
                  SV_ERR_WRONG_STATE);
    assert_int_equal(test_sql_number(w.f.conninfo, "select count(*) from job where notes = 'half'"),
                     0);
    assert_ok(&w.f, store_check(w.f.store, &w.f.err));
    store_world_close(&w);
}

static void a_lock_that_is_not_free_is_tried_again(void **state)
{
    struct store_world w;
    store_world_open(&w, *state, 1, 2);
    struct store *store = open_store(w.f.conninfo, 2, 30);
    PGconn *holder = PQconnectdb(w.f.conninfo);
    PQclear(PQexec(holder, "begin; select 1 from job for update"));
    struct store_job_patch patch = {.name = "x", .archived = -1};
    assert_status(&w.f, store_job_patch(store, &w.f.scope, w.job, &patch, &w.f.err),
                  SV_ERR_OVERLOADED);
    struct store_pool_counters counters;
    store_pool_counters(store, &counters);
    assert_int_equal(counters.retries, 4);
    PQclear(PQexec(holder, "commit"));
    PQfinish(holder);
    assert_ok(&w.f, store_job_patch(store, &w.f.scope, w.job, &patch, &w.f.err));
    store_close(store);
    store_world_close(&w);
}

/* What the log says of a database that cannot be used, without a word of the connection string. */
static void the_log_says_why(void **state)
{
    struct test_postgres *postgres = *state;
    char conninfo[TEST_CONNINFO_SIZE + 32];
    char line[512] = "";
    char path[] = "/tmp/assay-log-XXXXXX";
    struct sv_log log = {.fd = mkstemp(path), .level = SV_LOG_DEBUG, .process = "test"};
    struct store *store = NULL;
    struct sv_error err = {0};
    test_postgres_conninfo(postgres, "nowhere", conninfo);
    struct store_options options = {.conninfo = conninfo, .max_connections = 1, .log = &log};
    assert_int_equal(store_open(&options, &store, &err), SV_OK);
    assert_int_equal(store_check(store, &err), SV_ERR_DATABASE);
    store_close(store);
    assert_true(pread(log.fd, line, sizeof line - 1, 0) > 0);
    assert_non_null(strstr(line, "reason=\"there is no such database or user\""));
    assert_null(strstr(line, "nowhere"));
    (void)close(log.fd);
    (void)unlink(path);
}

static void a_malformed_connection_string_is_refused(void **state)
{
    (void)state;
    static const char *const odd[] = {"host=/tmp geheim", "postgresql://[geheim", "geheim=1",
                                      "password='geheim"};
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) {
        struct store *store = NULL;
        struct sv_error err = {0};
        struct store_options options = {.conninfo = odd[i], .max_connections = 1};
        assert_int_equal(store_open(&options, &store, &err), SV_ERR_INVALID_PARAMETER);
        assert_non_null(strstr(err.text, "malformed"));
        assert_null(strstr(err.text, "geheim"));
    }
}

/* ---- a database that says nothing ---- */

enum { FROZEN_STATEMENT_MS = 400, FROZEN_SLOWEST_MS = 5000, LONG_BYTES = 8 << 20 };

static pid_t stopped_session; /* the last one, until the test lets it go on */

static void stop_session(const struct store_world *w)
{
    stopped_session = (pid_t)test_sql_number(w->f.conninfo, "select pid from pg_stat_activity where"
                                                            " application_name = 'frozen' order by"
                                                            " backend_start desc limit 1");
    assert_int_equal(kill(stopped_session, SIGSTOP), 0);
}

static enum sv_status check_frozen(struct store *store, const struct store_world *w)
{
    (void)w;
    return store_check(store, NULL);
}

static enum sv_status send_long(struct store_conn *conn, void *ctx, struct sv_error *err)
{
    struct sql_params params = {0};
    sql_bytes(&params, ctx, LONG_BYTES);
    return sql_run(conn, "select length($1)", &params, NULL, err);
}

/* More than any socket holds: already the sending is held up. */
static enum sv_status send_long_frozen(struct store *store, const struct store_world *w)
{
    (void)w;
    void *bytes = calloc(1, LONG_BYTES);
    assert_non_null(bytes);
    enum sv_status st = store_run(store, "long", send_long, bytes, NULL);
    free(bytes);
    return st;
}

static enum sv_status read_series_frozen(struct store *store, const struct store_world *w)
{
    struct store_series_query query = {.after_step = -1};
    struct store_memory memory = {0};
    struct store_series_list list;
    enum sv_status st = store_series_read(store, &w->f.scope, w->job, &query, &memory, &list, NULL);
    store_memory_clear(&memory);
    return st;
}

static enum sv_status stop_before_commit(struct store_conn *conn, void *ctx, struct sv_error *err)
{
    enum sv_status st = sql_run(conn, "select 1", NULL, NULL, err);
    stop_session(ctx);
    return st;
}

static enum sv_status commit_frozen(struct store *store, const struct store_world *w)
{
    union {
        const struct store_world *given;
        void *wanted;
    } as = {w};
    assert_int_equal(kill(stopped_session, SIGCONT), 0);
    return store_tx_run(store, "frozen", stop_before_commit, as.wanted, NULL);
}

/* Each way of waiting ends by a deadline of ours, is not repeated, and leaves a pool that works. */
static void a_session_that_says_nothing_is_given_up(void **state)
{
    static enum sv_status (*const ways[])(struct store *, const struct store_world *) = {
        check_frozen, send_long_frozen, read_series_frozen, commit_frozen};
    struct store_world w;
    store_world_open(&w, *state, 1, 2);
    struct store_options options = {.conninfo = w.f.conninfo,
                                    .application_name = "frozen",
                                    .max_connections = 1,
                                    .statement_timeout_ms = FROZEN_STATEMENT_MS};
    struct store *store = NULL;
    assert_int_equal(store_open(&options, &store, NULL), SV_OK);
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        assert_int_equal(store_check(store, NULL), SV_OK);
        stop_session(&w);
        int64_t begun_ms = sv_clock_monotonic_ms();
        assert_int_equal(ways[i](store, &w), SV_ERR_DATABASE);
        int64_t took_ms = sv_clock_monotonic_ms() - begun_ms;
        assert_in_range(took_ms, FROZEN_STATEMENT_MS, FROZEN_SLOWEST_MS);
        assert_int_equal(kill(stopped_session, SIGCONT), 0);
        assert_false(store_is_silent(store));
    }
    assert_int_equal(store_check(store, NULL), SV_OK);
    struct store_pool_counters counters;
    store_pool_counters(store, &counters);
    assert_int_equal(counters.retries, 0);
    assert_int_equal(counters.busy, 0);
    store_close(store);
    store_world_close(&w);
}

struct holder {
    struct store_scope scope;
    struct store *store;
    const char *job;
    enum sv_status status;
};

static void *patch_in_thread(void *arg)
{
    struct holder *h = arg;
    struct store_job_patch patch = {.name = "y", .archived = -1};
    h->status = store_job_patch(h->store, &h->scope, h->job, &patch, NULL);
    return NULL;
}

static void a_full_pool_says_so(void **state)
{
    struct store_world w;
    pthread_t thread;
    store_world_open(&w, *state, 1, 2);
    struct store *store = open_store(w.f.conninfo, 1, 20000);
    PGconn *lock = PQconnectdb(w.f.conninfo);
    PQclear(PQexec(lock, "begin; select 1 from job for update"));
    struct holder holder = {.scope = w.f.scope, .store = store, .job = w.job};
    assert_int_equal(pthread_create(&thread, NULL, patch_in_thread, &holder), 0);
    struct store_pool_counters counters = {0};
    while (counters.busy == 0) {
        sv_clock_sleep_ms(2);
        store_pool_counters(store, &counters);
    }
    assert_status(&w.f, store_check(store, &w.f.err), SV_ERR_OVERLOADED);
    PQfinish(lock);
    (void)pthread_join(thread, NULL);
    assert_int_equal(holder.status, SV_OK);
    store_close(store);
    store_world_close(&w);
}

/* ---- answers that get lost ---- */

/* The COMMIT of each write is done, its answer lost: the call succeeds, and the write stands once.
 * Then the COMMIT itself is lost: the call succeeds as well. */
static void lost_commits_are_told_apart(void **state)
{
    struct store_world w;
    char conninfo[TEST_CONNINFO_SIZE];
    char ended[16];
    store_world_open(&w, *state, 0, 2);
    struct test_proxy *proxy = test_proxy_start(w.f.postgres, "assay", conninfo);
    struct store *direct = w.f.store;
    w.f.store = open_store(conninfo, 4, 0);
    for (int before = 0; before < 2; before++) {
        struct store_claimed_trial t;
        char job[SV_ID_SIZE];
        test_proxy_lose(proxy, "commit", 1, before);
        store_fixture_job(&w.f, w.dataset, 1, 2, job);
        store_fixture_claim(&w.f, w.worker, &t);
        struct store_point point = {"loss", 1, 1.5};
        struct store_progress progress = {1, 1, 1, ""};
        struct store_commit commit = {.points = &point, .n_points = 1, .progress = &progress};
        test_proxy_lose(proxy, "commit", 1, before);
        assert_ok(&w.f, store_attempt_commit(w.f.store, &t.claim, &commit, NULL, &w.f.err));
        struct store_evaluation_new evaluation = {.part = "test", .document = "{}"};
        struct store_ending ending = {
            .outcome = STORE_OUTCOME_COMPLETED, .evaluations = &evaluation, .n_evaluations = 1};
        test_proxy_lose(proxy, "commit", 1, before);
        assert_ok(&w.f, store_attempt_end(w.f.store, &t.claim, &ending, ended, &w.f.err));
        assert_string_equal(ended, "completed");
    }
    assert_int_equal(test_proxy_lost(proxy), 6);
    assert_int_equal(test_sql_number(w.f.conninfo, "select count(*) from job"), 2);
    assert_int_equal(test_sql_number(w.f.conninfo, "select count(*) from metric_chunk"), 2);
    assert_int_equal(test_sql_number(w.f.conninfo, "select count(*) from evaluation"), 2);
    /* lost twice in a row: unknown, and said so */
    struct store_trial_new trial = {"{}", 1, "{}", "", 1, 0};
    (void)snprintf(trial.hash, sizeof trial.hash, "%064d", 0);
    struct store_job_new new_job = {.name = "",
                                    .dataset_id = w.dataset,
                                    .kind = "k",
                                    .submitted = "{}",
                                    .resolved = "{}",
                                    .headline_metric = "m",
                                    .trials = &trial,
                                    .n_trials = 1};
    (void)snprintf(new_job.hash, sizeof new_job.hash, "%064d", 0);
    struct store_idempotency key = {.key = "k", .digest = {1}};
    struct store_created created;
    test_proxy_lose(proxy, "commit", 2, true);
    assert_status(&w.f, store_job_submit(w.f.store, &w.f.scope, &new_job, &key, &created, &w.f.err),
                  SV_ERR_DATABASE);
    enum sv_status st = SV_ERR_IN_PROGRESS; /* as long as the lost session still ends */
    while (st == SV_ERR_IN_PROGRESS) {
        st = store_job_submit(w.f.store, &w.f.scope, &new_job, &key, &created, &w.f.err);
    }
    assert_ok(&w.f, st);
    assert_int_equal(test_sql_number(w.f.conninfo, "select count(*) from job"), 3);
    store_close(w.f.store);
    w.f.store = direct;
    test_proxy_stop(proxy);
    store_world_close(&w);
}

/* A migration by another process changes the type of a column that a prepared statement reads. */
static void prepared_statements_outlive_a_change_of_the_schema(void **state)
{
    struct store_world w;
    struct store_claimed_trial t;
    struct store_checkpoint_list list;
    store_world_open(&w, *state, 1, 2);
    store_fixture_claim(&w.f, w.worker, &t);
    assert_ok(&w.f, store_checkpoints_for_claim(w.f.store, &t.claim, &w.f.memory, &list, &w.f.err));
    test_sql(w.f.conninfo, "alter table checkpoint alter column epoch type bigint");
    enum sv_status st =
        store_checkpoints_for_claim(w.f.store, &t.claim, &w.f.memory, &list, &w.f.err);
    test_sql(w.f.conninfo, "alter table checkpoint alter column epoch type integer");
    assert_ok(&w.f, st);
    assert_ok(&w.f, store_checkpoints_for_claim(w.f.store, &t.claim, &w.f.memory, &list, &w.f.err));
    store_world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(terminated_sessions_are_replaced),
        cmocka_unit_test(a_database_that_is_away_fails_at_once),
        cmocka_unit_test(a_refused_transaction_leaves_nothing),
        cmocka_unit_test(a_lock_that_is_not_free_is_tried_again),
        cmocka_unit_test(the_log_says_why),
        cmocka_unit_test(a_malformed_connection_string_is_refused),
        cmocka_unit_test(a_session_that_says_nothing_is_given_up),
        cmocka_unit_test(a_full_pool_says_so),
        cmocka_unit_test(lost_commits_are_told_apart),
        cmocka_unit_test(prepared_statements_outlive_a_change_of_the_schema),
    };
    return cmocka_run_group_tests(tests, test_postgres_setup, test_postgres_teardown);
}
