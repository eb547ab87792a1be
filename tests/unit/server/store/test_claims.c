/* SPDX-License-Identifier: MIT
 *
 * Claims of trials: one at a time, in order, within limits, and ended by whoever comes first.
 */
#include "tests/support/cmocka_all.h"

#include <libpq-fe.h>
#include <math.h>
#include <pthread.h>
#include <string.h>

#include "server/base/clock.h"
#include "server/store/trials.h"
#include "tests/support/attempts.h"

/* B12: whatever plan is chosen, one claim takes one row. */
static void b12_one_claim_takes_one_trial(void **state)
{
    static const char *const plans[] = {"enable_hashjoin = on",   "enable_hashjoin = off",
                                        "enable_mergejoin = off", "enable_nestloop = off",
                                        "enable_indexscan = off", "enable_material = off"};
    struct store_world w;
    store_world_open(&w, *state, 40, 2);
    for (size_t i = 0; i < sizeof plans / sizeof plans[0]; i++) {
        char sql[200];
        struct store_claimed_trial t;
        (void)snprintf(sql, sizeof sql, "alter database assay set %s", plans[i]);
        test_sql(w.f.conninfo, sql);
        struct store_options options = {.conninfo = w.f.conninfo, .max_connections = 1};
        struct store *shared = w.f.store;
        assert_ok(&w.f, store_open(&options, &w.f.store, &w.f.err)); /* sessions with that plan */
        store_fixture_claim(&w.f, w.worker, &t);
        store_close(w.f.store);
        w.f.store = shared;
        assert_int_equal(test_sql_number(w.f.conninfo, "select count(*) from trial where state ="
                                                       " 'running'"),
                         i + 1);
    }
    test_sql(w.f.conninfo, "alter database assay reset all");
    store_world_close(&w);
}

struct claimer {
    struct store_world *w;
    int claimed;
};

static void *claim_in_thread(void *arg)
{
    struct claimer *claimer = arg;
    struct store_memory memory = {0};
    struct store_environment environment = {"b", "c", "i", "l", "p", 1};
    bool found = true;
    while (found) {
        struct store_claimed_trial t;
        if (store_trial_claim(claimer->w->f.store, claimer->w->worker, 60000, &environment, &memory,
                              &found, &t, NULL) != SV_OK) {
            break;
        }
        claimer->claimed += found;
    }
    store_memory_clear(&memory);
    return NULL;
}

static void no_trial_is_claimed_twice(void **state)
{
    enum { THREADS = 4, TRIALS = 60 };
    struct store_world w;
    store_world_open(&w, *state, TRIALS, 2);
    struct claimer claimers[THREADS];
    pthread_t threads[THREADS];
    int claimed = 0;
    for (int i = 0; i < THREADS; i++) {
        claimers[i] = (struct claimer){.w = &w};
        assert_int_equal(pthread_create(&threads[i], NULL, claim_in_thread, &claimers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        (void)pthread_join(threads[i], NULL);
        claimed += claimers[i].claimed;
    }
    assert_int_equal(claimed, TRIALS);
    assert_int_equal(test_sql_number(w.f.conninfo, "select max(fence) from trial"), 1);
    store_world_close(&w);
}

/* Claims at one moment do not pass the limit: each counts what the others took. */
static void a_limit_holds_for_claims_at_once(void **state)
{
    enum { THREADS = 4, ROUNDS = 15, LIMIT = 3 };
    struct store_world w;
    store_world_open(&w, *state, 8, 2 * ROUNDS);
    test_sql(w.f.conninfo, "update project set max_running = 3");
    for (int round = 0; round < ROUNDS; round++) {
        struct claimer claimers[THREADS];
        pthread_t threads[THREADS];
        int claimed = 0;
        for (int i = 0; i < THREADS; i++) {
            claimers[i] = (struct claimer){.w = &w};
            assert_int_equal(pthread_create(&threads[i], NULL, claim_in_thread, &claimers[i]), 0);
        }
        for (int i = 0; i < THREADS; i++) {
            (void)pthread_join(threads[i], NULL);
            claimed += claimers[i].claimed;
        }
        assert_int_equal(claimed, LIMIT);
        assert_int_equal(test_sql_number(w.f.conninfo, "select count(*) from trial where state ="
                                                       " 'running'"),
                         LIMIT);
        size_t reaped = 0;
        test_sql(w.f.conninfo, "update trial set lease_until = now() - interval '1 s' where state ="
                               " 'running'");
        assert_ok(&w.f, store_reap(w.f.store, &reaped, &w.f.err));
        assert_int_equal(reaped, LIMIT);
        test_sql(w.f.conninfo, "update trial set not_before = now()");
    }
    store_world_close(&w);
}

static void the_queue_has_an_order_and_a_limit(void **state)
{
    struct store_world w;
    struct store_claimed_trial t;
    bool found = true;
    struct store_environment environment = {"b", "c", "i", "l", "p", 1};
    store_world_open(&w, *state, 3, 2);
    test_sql(w.f.conninfo, "update trial set priority = 5 where idx = 3;"
                           "update project set max_running = 2");
    store_fixture_claim(&w.f, w.worker, &t);
    assert_int_equal(t.index, 3);
    store_fixture_claim(&w.f, w.worker, &t);
    assert_int_equal(t.index, 1);
    assert_ok(&w.f, store_trial_claim(w.f.store, w.worker, 60000, &environment, &w.f.memory, &found,
                                      &t, &w.f.err));
    assert_false(found);
    test_sql(w.f.conninfo, "update project set max_running = null");
    store_fixture_claim(&w.f, w.worker, &t);
    assert_int_equal(t.index, 2);
    store_world_close(&w);
}

/* B07: the lease runs out; the trial is queued again, and the lost attempt can write nothing. */
static void b07_a_lost_lease_writes_nothing(void **state)
{
    struct store_world w;
    struct store_claimed_trial first;
    struct store_claimed_trial second;
    char ended[16];
    size_t reaped = 9;
    store_world_open(&w, *state, 1, 2);
    store_fixture_claim(&w.f, w.worker, &first);
    test_commit_steps(&w, &first.claim, "training_loss", 1, 10);
    assert_ok(&w.f, store_reap(w.f.store, &reaped, &w.f.err));
    assert_int_equal(reaped, 0);
    test_sql(w.f.conninfo, "update trial set lease_until = now() - interval '1 s'");
    assert_ok(&w.f, store_reap(w.f.store, &reaped, &w.f.err));
    assert_int_equal(reaped, 1);
    struct store_trial trial = test_trial_get(&w, &first.claim);
    assert_string_equal(trial.state, "queued");
    for (int round = 0; round < 2; round++) { /* queued again; then claimed by another */
        struct store_point point = {"training_loss", 11, 1};
        struct store_commit commit = {.points = &point, .n_points = 1};
        struct store_control control = {.held = true};
        assert_status(&w.f, store_attempt_commit(w.f.store, &first.claim, &commit, NULL, &w.f.err),
                      SV_ERR_WRONG_STATE);
        assert_status(&w.f, store_fixture_resume(&w.f, &first.claim, 0, 0), SV_ERR_WRONG_STATE);
        assert_status(&w.f,
                      test_attempt_end(&w, &first.claim, STORE_OUTCOME_COMPLETED, NULL, ended),
                      SV_ERR_WRONG_STATE);
        assert_ok(&w.f,
                  store_heartbeat(w.f.store, w.worker, 60000, &first.claim, 1, &control, &w.f.err));
        assert_false(control.held);
        if (round == 0) {
            test_sql(w.f.conninfo, "update trial set not_before = now()");
            store_fixture_claim(&w.f, w.worker, &second);
            assert_int_equal(second.claim.fence, 2);
            assert_int_equal(second.attempt, 2);
        }
    }
    store_world_close(&w);
}

/* B37: the last attempt dies; the trial fails, it does not hang. */
static void b37_the_last_attempt_ends_as_worker_lost(void **state)
{
    struct store_world w;
    struct store_claimed_trial t;
    size_t reaped = 0;
    store_world_open(&w, *state, 1, 1);
    store_fixture_claim(&w.f, w.worker, &t);
    test_sql(w.f.conninfo, "update trial set lease_until = now() - interval '1 s'");
    assert_ok(&w.f, store_reap(w.f.store, &reaped, &w.f.err));
    assert_int_equal(reaped, 1);
    struct store_trial trial = test_trial_get(&w, &t.claim);
    assert_string_equal(trial.state, "failed");
    assert_string_equal(trial.error_class, "worker_lost");
    struct store_attempt_list attempts;
    assert_ok(&w.f, store_attempts_list(w.f.store, &w.f.scope, trial.id, &w.f.memory, &attempts,
                                        &w.f.err));
    assert_int_equal(attempts.n, 1);
    assert_string_equal(attempts.rows[0].outcome, "lost");
    assert_string_not_equal(attempts.rows[0].ended_at, "");
    store_world_close(&w);
}

static void *reap_in_thread(void *arg)
{
    struct store_world *w = arg;
    size_t reaped = 9;
    if (store_reap(w->f.store, &reaped, NULL) != SV_OK) {
        return arg;
    }
    return reaped == 0 ? NULL : arg;
}

static void wait_for_blocked(const struct store_world *w, int n)
{
    while (test_sql_number(w->f.conninfo, "select count(*) from pg_stat_activity where datname ="
                                          " current_database() and wait_event_type = 'Lock'") < n) {
        sv_clock_sleep_ms(2);
    }
}

/* B10: the reaper has seen the expired lease when the trial completes; completed stays. */
static void b10_what_completed_meanwhile_stays(void **state)
{
    struct store_world w;
    struct store_claimed_trial t;
    char ended[16];
    store_world_open(&w, *state, 1, 2);
    store_fixture_claim(&w.f, w.worker, &t);
    test_sql(w.f.conninfo, "update trial set lease_until = now() - interval '1 s'");
    PGconn *barrier = PQconnectdb(w.f.conninfo); /* the reaper selects, then waits for this lock */
    PQclear(PQexec(barrier, "begin"));
    PQclear(PQexec(barrier, "select 1 from trial for update"));
    pthread_t thread;
    void *wrong = &w;
    assert_int_equal(pthread_create(&thread, NULL, reap_in_thread, &w), 0);
    wait_for_blocked(&w, 1);
    /* the completing transaction, as store_attempt_end makes it, on the connection with the lock */
    PQclear(PQexec(barrier,
                   "update attempt set ended_at = clock_timestamp(), outcome = 'completed';"
                   "update trial set state = 'completed', worker_id = null, lease_until ="
                   " null, finished_at = now();"
                   "insert into evaluation (trial_id, part, fence, project_id,"
                   " sample_count, document) select id, 'test', 1, project_id, 1, '{}'"
                   " from trial;"
                   "select job_touch(job_id, id, 'x', null, 'x', true) from trial"));
    PQclear(PQexec(barrier, "commit"));
    PQfinish(barrier);
    (void)pthread_join(thread, &wrong);
    assert_null(wrong);
    assert_string_equal(test_trial_get(&w, &t.claim).state, "completed");
    assert_ok(&w.f, test_attempt_end(&w, &t.claim, STORE_OUTCOME_COMPLETED, NULL, ended));
    store_world_close(&w);
}

static const struct store_move CANCEL_MOVES[] = {
    {"queued", STORE_CHANGED, "cancelled", STORE_OF_ALL},
    {"running", STORE_REQUESTED, "running", STORE_OF_ALL}};
static const struct store_verb CANCEL = {"cancel", STORE_WISH_CANCEL, CANCEL_MOVES, 2};

/* B11: a cancel before the end wins and nothing is kept; one after it is refused. */
static void b11_cancel_or_complete(void **state)
{
    struct store_world w;
    struct store_claimed_trial t;
    char ended[16];
    store_world_open(&w, *state, 2, 2);
    store_fixture_claim(&w.f, w.worker, &t);
    test_commit_steps(&w, &t.claim, "training_loss", 1, 10);
    test_commit_checkpoint(&w, &t.claim, 10);
    assert_ok(&w.f,
              store_trial_apply(w.f.store, &w.f.scope, t.claim.trial_id, &CANCEL, NULL, &w.f.err));
    assert_ok(&w.f, test_attempt_end(&w, &t.claim, STORE_OUTCOME_COMPLETED, NULL, ended));
    assert_string_equal(ended, "cancelled");
    assert_int_equal(test_sql_number(w.f.conninfo, "select count(*) from metric_chunk"), 0);
    store_fixture_claim(&w.f, w.worker, &t);
    assert_ok(&w.f, test_attempt_end(&w, &t.claim, STORE_OUTCOME_COMPLETED, NULL, ended));
    assert_string_equal(ended, "completed");
    assert_status(
        &w.f, store_trial_apply(w.f.store, &w.f.scope, t.claim.trial_id, &CANCEL, NULL, &w.f.err),
        SV_ERR_WRONG_STATE);
    assert_string_equal(test_trial_get(&w, &t.claim).state, "completed");
    store_world_close(&w);
}

struct canceller {
    struct store_world *w;
    const char *trial_id;
    enum sv_status status;
};

static void *cancel_in_thread(void *arg)
{
    struct canceller *c = arg;
    c->status = store_trial_apply(c->w->f.store, &c->w->f.scope, c->trial_id, &CANCEL, NULL, NULL);
    return NULL;
}

/* B11 as a race: both at once, many times; the two answers always tell the same story. */
static void b11_as_a_race(void **state)
{
    struct store_world w;
    store_world_open(&w, *state, 12, 2);
    for (int i = 0; i < 12; i++) {
        struct store_claimed_trial t;
        char ended[16];
        pthread_t thread;
        store_fixture_claim(&w.f, w.worker, &t);
        struct canceller canceller = {.w = &w, .trial_id = t.claim.trial_id};
        assert_int_equal(pthread_create(&thread, NULL, cancel_in_thread, &canceller), 0);
        assert_ok(&w.f, test_attempt_end(&w, &t.claim, STORE_OUTCOME_COMPLETED, NULL, ended));
        (void)pthread_join(thread, NULL);
        bool cancelled = strcmp(ended, "cancelled") == 0;
        assert_int_equal(canceller.status, cancelled ? SV_OK : SV_ERR_WRONG_STATE);
        assert_string_equal(test_trial_get(&w, &t.claim).state, ended);
    }
    store_world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(b12_one_claim_takes_one_trial),
        cmocka_unit_test(no_trial_is_claimed_twice),
        cmocka_unit_test(a_limit_holds_for_claims_at_once),
        cmocka_unit_test(the_queue_has_an_order_and_a_limit),
        cmocka_unit_test(b07_a_lost_lease_writes_nothing),
        cmocka_unit_test(b37_the_last_attempt_ends_as_worker_lost),
        cmocka_unit_test(b10_what_completed_meanwhile_stays),
        cmocka_unit_test(b11_cancel_or_complete),
        cmocka_unit_test(b11_as_a_race),
    };
    return cmocka_run_group_tests(tests, test_postgres_setup, test_postgres_teardown);
}
