/* SPDX-License-Identifier: MIT
 *
 * Claims, heartbeats, commits, ends, the reaper: who may write what, and what is there afterwards.
 * Every test ends with the invariants of tests/chaos/invariants.sql.
 */
#include "tests/support/cmocka_all.h"

#include <libpq-fe.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "server/base/clock.h"
#include "server/store/points.h"
#include "server/store/results.h"
#include "server/store/trials.h"
#include "server/store/workers.h"
#include "tests/support/store_fixture.h"

static struct store_trial get_trial(struct store_world *w, const struct store_claim *claim)
{
    struct store_trial trial = {0};
    assert_ok(&w->f, store_trial_get(w->f.store, &w->f.scope, claim->trial_id, &w->f.memory, &trial,
                                     &w->f.err));
    return trial;
}

/* Points first..last of one metric, value = step / 8. */
static void commit_steps(struct store_world *w, const struct store_claim *claim, const char *metric,
                         int64_t first, int64_t last)
{
    struct store_point *points = calloc((size_t)(last - first + 1), sizeof *points);
    assert_non_null(points);
    for (int64_t step = first; step <= last; step++) {
        points[step - first] = (struct store_point){metric, step, (double)step / 8};
    }
    struct store_progress progress = {last, 100, 1, "training"};
    struct store_commit commit = {
        .progress = &progress, .points = points, .n_points = (size_t)(last - first + 1)};
    enum sv_status st = store_attempt_commit(w->f.store, claim, &commit, NULL, &w->f.err);
    free(points);
    assert_ok(&w->f, st);
}

static struct store_checkpoint checkpoint_at(int64_t step)
{
    struct store_checkpoint checkpoint = {.step = step,
                                          .epoch = 1,
                                          .size = 10,
                                          .core_build = "b",
                                          .core_type = "c",
                                          .instruction_set = "avx2"};
    (void)snprintf(checkpoint.sha256, sizeof checkpoint.sha256, "%064d", 1);
    (void)snprintf(checkpoint.node_id, sizeof checkpoint.node_id, "%032d", 2);
    return checkpoint;
}

static void commit_checkpoint(struct store_world *w, const struct store_claim *claim, int64_t step)
{
    struct store_checkpoint checkpoint = checkpoint_at(step);
    struct store_commit commit = {.checkpoint = &checkpoint};
    assert_ok(&w->f, store_attempt_commit(w->f.store, claim, &commit, NULL, &w->f.err));
}

static const struct store_metric_value ACCURACY = {"accuracy", 0.75, true, 0.3, 0.95, 4};
static const char *const CLASSES[] = {"cat", "dog"};
static const int64_t COUNTS[] = {2, 1, 0, 1};
static const int64_t SAMPLES[] = {10, 11, 12, 13};
static const int32_t TRUTHS[] = {0, 0, 0, 1};
static const int32_t PREDICTED[] = {0, 0, 1, 1};
static const float PROBABILITIES[] = {0.5f, 1e-44f, 0.25f, 1.0f};

static struct store_evaluation_new validation(void)
{
    return (struct store_evaluation_new){
        .part = "validation",
        .sample_count = 4,
        .document = "{\"accuracy\": 0.75, \"loss\": \"NaN\"}",
        .metrics = &ACCURACY,
        .n_metrics = 1,
        .classes = CLASSES,
        .n_classes = 2,
        .counts = COUNTS,
        .predictions = {SAMPLES, TRUTHS, PREDICTED, PROBABILITIES, 4}};
}

static enum sv_status end_with(struct store_world *w, const struct store_claim *claim,
                               enum store_outcome outcome, const char *error_class, char state[16])
{
    struct store_evaluation_new evaluation = validation();
    struct store_ending ending = {.outcome = outcome,
                                  .error_class = error_class,
                                  .error_text = error_class ? "it went wrong" : NULL,
                                  .evaluations = &evaluation,
                                  .n_evaluations = 1};
    return store_attempt_end(w->f.store, claim, &ending, state, &w->f.err);
}

static void a_trial_completes_with_its_evaluation(void **state)
{
    struct store_world w;
    struct store_claimed_trial t;
    char ended[16];
    store_world_open(&w, *state, 1, 2);
    store_fixture_claim(&w.f, w.worker, &t);
    assert_string_equal(t.kind, "solver_comparison");
    assert_string_equal(t.resolved, "{\"kind\": \"solver_comparison\"}");
    assert_true(t.seed == UINT64_MAX);
    assert_int_equal(t.claim.fence, 1);
    assert_int_equal(strlen(t.prepared.sha256), 64);
    commit_steps(&w, &t.claim, "training_loss", 1, 100);
    struct store_ending bare = {.outcome = STORE_OUTCOME_COMPLETED};
    assert_status(&w.f, store_attempt_end(w.f.store, &t.claim, &bare, ended, &w.f.err),
                  SV_ERR_INTERNAL);
    assert_ok(&w.f, end_with(&w, &t.claim, STORE_OUTCOME_COMPLETED, NULL, ended));
    assert_string_equal(ended, "completed");
    struct store_trial trial = get_trial(&w, &t.claim);
    assert_string_equal(trial.state, "completed");
    assert_true(trial.headline_value == 0.75);
    struct store_job job;
    assert_ok(&w.f, store_job_get(w.f.store, &w.f.scope, w.job, &w.f.memory, &job, &w.f.err));
    assert_string_equal(job.state, "completed");
    assert_string_equal(job.best_trial_id, trial.id);
    assert_true(job.best_value == 0.75);
    /* the same end again: done already */
    assert_ok(&w.f, end_with(&w, &t.claim, STORE_OUTCOME_COMPLETED, NULL, ended));
    assert_string_equal(ended, "completed");
    assert_int_equal(test_sql_number(w.f.conninfo, "select count(*) from metric_chunk"), 1);
    store_world_close(&w);
}

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
    commit_steps(&w, &first.claim, "training_loss", 1, 10);
    assert_ok(&w.f, store_reap(w.f.store, &reaped, &w.f.err));
    assert_int_equal(reaped, 0);
    test_sql(w.f.conninfo, "update trial set lease_until = now() - interval '1 s'");
    assert_ok(&w.f, store_reap(w.f.store, &reaped, &w.f.err));
    assert_int_equal(reaped, 1);
    struct store_trial trial = get_trial(&w, &first.claim);
    assert_string_equal(trial.state, "queued");
    for (int round = 0; round < 2; round++) { /* queued again; then claimed by another */
        struct store_point point = {"training_loss", 11, 1};
        struct store_commit commit = {.points = &point, .n_points = 1};
        struct store_control control = {.held = true};
        assert_status(&w.f, store_attempt_commit(w.f.store, &first.claim, &commit, NULL, &w.f.err),
                      SV_ERR_WRONG_STATE);
        assert_status(&w.f, store_attempt_resume(w.f.store, &first.claim, 0, false, &w.f.err),
                      SV_ERR_WRONG_STATE);
        assert_status(&w.f, end_with(&w, &first.claim, STORE_OUTCOME_COMPLETED, NULL, ended),
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
    struct store_trial trial = get_trial(&w, &t.claim);
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
    assert_string_equal(get_trial(&w, &t.claim).state, "completed");
    assert_ok(&w.f, end_with(&w, &t.claim, STORE_OUTCOME_COMPLETED, NULL, ended));
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
    commit_steps(&w, &t.claim, "training_loss", 1, 10);
    commit_checkpoint(&w, &t.claim, 10);
    assert_ok(&w.f,
              store_trial_apply(w.f.store, &w.f.scope, t.claim.trial_id, &CANCEL, NULL, &w.f.err));
    assert_ok(&w.f, end_with(&w, &t.claim, STORE_OUTCOME_COMPLETED, NULL, ended));
    assert_string_equal(ended, "cancelled");
    assert_int_equal(test_sql_number(w.f.conninfo, "select count(*) from metric_chunk"), 0);
    store_fixture_claim(&w.f, w.worker, &t);
    assert_ok(&w.f, end_with(&w, &t.claim, STORE_OUTCOME_COMPLETED, NULL, ended));
    assert_string_equal(ended, "completed");
    assert_status(
        &w.f, store_trial_apply(w.f.store, &w.f.scope, t.claim.trial_id, &CANCEL, NULL, &w.f.err),
        SV_ERR_WRONG_STATE);
    assert_string_equal(get_trial(&w, &t.claim).state, "completed");
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
        assert_ok(&w.f, end_with(&w, &t.claim, STORE_OUTCOME_COMPLETED, NULL, ended));
        (void)pthread_join(thread, NULL);
        bool cancelled = strcmp(ended, "cancelled") == 0;
        assert_int_equal(canceller.status, cancelled ? SV_OK : SV_ERR_WRONG_STATE);
        assert_string_equal(get_trial(&w, &t.claim).state, ended);
    }
    store_world_close(&w);
}

/* Steps and values of a series as one text. */
static void assert_series(struct store_world *w, const struct store_claim *claim,
                          const char *metric, int64_t first, int64_t last)
{
    struct store_series_list list;
    struct store_series_query query = {.metrics = &metric, .n_metrics = 1, .after_step = -1};
    assert_ok(&w->f, store_series_read(w->f.store, &w->f.scope, claim->trial_id, &query,
                                       &w->f.memory, &list, &w->f.err));
    assert_int_equal(list.n, last >= first);
    for (size_t i = 0; list.n > 0 && i < list.rows[0].n; i++) {
        assert_int_equal(list.rows[0].steps[i], first + (int64_t)i);
        assert_true(list.rows[0].values[i] == (double)(first + (int64_t)i) / 8);
    }
    if (list.n > 0) {
        assert_int_equal(list.rows[0].n, last - first + 1);
    }
}

/* B13, B14: steps 81 to 95 are told again after a resume at 80: accepted, and none stands twice. */
static void b13_b14_a_resumed_attempt_tells_its_steps_again(void **state)
{
    struct store_world w;
    struct store_claimed_trial t;
    size_t reaped;
    store_world_open(&w, *state, 1, 3);
    store_fixture_claim(&w.f, w.worker, &t);
    commit_steps(&w, &t.claim, "training_loss", 1, 60);
    commit_steps(&w, &t.claim, "training_loss", 61, 80);
    commit_checkpoint(&w, &t.claim, 80);
    commit_steps(&w, &t.claim, "training_loss", 81, 95);
    struct store_point odd = {"validation_loss", 90, NAN};
    struct store_commit commit = {.points = &odd, .n_points = 1};
    assert_ok(&w.f, store_attempt_commit(w.f.store, &t.claim, &commit, NULL, &w.f.err));
    test_sql(w.f.conninfo, "update trial set lease_until = now() - interval '1 s'");
    assert_ok(&w.f, store_reap(w.f.store, &reaped, &w.f.err));
    test_sql(w.f.conninfo, "update trial set not_before = now()");
    store_fixture_claim(&w.f, w.worker, &t); /* resumes at 80 */
    assert_int_equal(t.checkpoint_step, 80);
    assert_int_equal(t.attempt, 2);
    assert_series(&w, &t.claim, "training_loss", 1, 80);
    assert_series(&w, &t.claim, "validation_loss", 1, 0);
    struct store_summary_list summaries;
    assert_ok(&w.f, store_summaries_list(w.f.store, &w.f.scope, t.claim.trial_id, &w.f.memory,
                                         &summaries, &w.f.err));
    assert_int_equal(summaries.n, 1);
    assert_int_equal(summaries.rows[0].last_step, 80);
    assert_true(summaries.rows[0].max == 10.0);
    commit_steps(&w, &t.claim, "training_loss", 81, 95);
    assert_series(&w, &t.claim, "training_loss", 1, 95);
    /* in the middle of a chunk */
    assert_ok(&w.f, store_attempt_resume(w.f.store, &t.claim, 33, false, &w.f.err));
    assert_series(&w, &t.claim, "training_loss", 1, 33);
    assert_ok(&w.f, store_attempt_resume(w.f.store, &t.claim, 0, false, &w.f.err));
    assert_series(&w, &t.claim, "training_loss", 1, 0);
    store_world_close(&w);
}

/* A batch sent again, whole or in part, changes nothing. */
static void points_are_never_doubled(void **state)
{
    struct store_world w;
    struct store_claimed_trial t;
    size_t skipped = 0;
    store_world_open(&w, *state, 1, 2);
    store_fixture_claim(&w.f, w.worker, &t);
    struct store_point points[] = {{"a", 1, 0.125}, {"b", 1, 7}, {"a", 2, 0.25}, {"a", 3, 0.375}};
    struct store_commit commit = {.points = points, .n_points = 4};
    assert_ok(&w.f, store_attempt_commit(w.f.store, &t.claim, &commit, &skipped, &w.f.err));
    assert_int_equal(skipped, 0);
    assert_ok(&w.f, store_attempt_commit(w.f.store, &t.claim, &commit, &skipped, &w.f.err));
    assert_int_equal(skipped, 4);
    points[3].step = 4;
    points[3].value = 0.5;
    assert_ok(&w.f, store_attempt_commit(w.f.store, &t.claim, &commit, &skipped, &w.f.err));
    assert_int_equal(skipped, 3);
    struct store_point nameless = {"", 9, 0};
    commit = (struct store_commit){.points = &nameless, .n_points = 1};
    assert_status(&w.f, store_attempt_commit(w.f.store, &t.claim, &commit, NULL, &w.f.err),
                  SV_ERR_INVALID_FIELD);
    test_sql(w.f.conninfo, "update trial set step = 4");
    store_world_close(&w);
}

/* The count of attempts begins anew when one gets further than any before it; else it runs out. */
static void progress_earns_attempts(void **state)
{
    static const struct {
        int64_t checkpoint; /* 0: none in this attempt */
        int attempt;        /* at its claim */
        const char *state;  /* after its crash */
    } rounds[] = {{10, 1, "queued"}, {20, 2, "queued"}, {0, 2, "failed"}};
    struct store_world w;
    store_world_open(&w, *state, 1, 2);
    for (size_t i = 0; i < sizeof rounds / sizeof rounds[0]; i++) {
        struct store_claimed_trial t;
        char ended[16];
        test_sql(w.f.conninfo, "update trial set not_before = now()");
        store_fixture_claim(&w.f, w.worker, &t);
        assert_int_equal(t.attempt, rounds[i].attempt);
        if (rounds[i].checkpoint > 0) {
            commit_checkpoint(&w, &t.claim, rounds[i].checkpoint);
        }
        assert_ok(&w.f, end_with(&w, &t.claim, STORE_OUTCOME_FAILED, "crashed", ended));
        assert_string_equal(ended, rounds[i].state);
    }
    store_world_close(&w);
}

static void only_crashes_are_tried_again(void **state)
{
    static const struct {
        const char *error_class, *state;
    } cases[] = {{"invalid_input", "failed"}, {"diverged", "failed"}, {"out_of_memory", "failed"},
                 {"timeout", "failed"},       {"internal", "failed"}, {"crashed", "queued"},
                 {"worker_lost", "queued"}};
    enum { N = sizeof cases / sizeof cases[0] };
    struct store_world w;
    store_world_open(&w, *state, N, 2);
    for (size_t i = 0; i < N; i++) {
        struct store_claimed_trial t;
        char ended[16];
        store_fixture_claim(&w.f, w.worker, &t);
        assert_int_equal(t.index, i + 1);
        assert_ok(&w.f, end_with(&w, &t.claim, STORE_OUTCOME_FAILED, cases[i].error_class, ended));
        assert_string_equal(ended, cases[i].state);
        struct store_trial trial = get_trial(&w, &t.claim);
        if (strcmp(ended, "failed") == 0) {
            assert_string_equal(trial.error_class, cases[i].error_class);
            assert_string_equal(trial.error_text, "it went wrong");
        }
    }
    store_world_close(&w);
}

static void a_released_trial_loses_no_attempt(void **state)
{
    struct store_world w;
    struct store_claimed_trial t;
    char ended[16];
    store_world_open(&w, *state, 1, 1);
    for (int i = 0; i < 3; i++) {
        store_fixture_claim(&w.f, w.worker, &t);
        assert_int_equal(t.attempt, 1);
        assert_ok(&w.f, end_with(&w, &t.claim, STORE_OUTCOME_RELEASED, NULL, ended));
        assert_string_equal(ended, "queued");
    }
    store_world_close(&w);
}

/* Two checkpoints stay, and the last one that has a copy. */
static void old_checkpoints_go(void **state)
{
    struct store_world w;
    struct store_claimed_trial t;
    struct store_checkpoint_list list;
    char blob[SV_ID_SIZE];
    char sql[300];
    store_world_open(&w, *state, 1, 2);
    store_fixture_claim(&w.f, w.worker, &t);
    sv_id_make(blob);
    (void)snprintf(sql, sizeof sql,
                   "insert into blob (id, project_id, sha256, size) values ('%s', '%s',"
                   " sha256('c'), 0)",
                   blob, STORE_DEFAULT_PROJECT);
    test_sql(w.f.conninfo, sql);
    for (int64_t step = 10; step <= 50; step += 10) {
        struct store_checkpoint checkpoint = checkpoint_at(step);
        if (step == 20) {
            memcpy(checkpoint.blob_id, blob, sizeof blob);
        }
        struct store_commit commit = {.checkpoint = &checkpoint};
        assert_ok(&w.f, store_attempt_commit(w.f.store, &t.claim, &commit, NULL, &w.f.err));
    }
    assert_ok(&w.f, store_checkpoints_for_claim(w.f.store, &t.claim, &w.f.memory, &list, &w.f.err));
    assert_int_equal(list.n, 3);
    assert_int_equal(list.rows[0].step, 50);
    assert_int_equal(list.rows[1].step, 40);
    assert_int_equal(list.rows[2].step, 20);
    assert_string_equal(list.rows[2].blob_id, blob);
    store_world_close(&w);
}

/* A new instance on the same data directory: the dead one's trials come back at once, those of a
 * living one stay, and one whose connection was cut takes its lock again. */
static void a_dead_instance_gives_its_trials_back(void **state)
{
    struct store_world w;
    char node[SV_ID_SIZE];
    struct store_instance *dead = NULL;
    struct store_instance *alive = NULL;
    struct store_instance *next = NULL;
    struct store_claimed_trial t;
    size_t reaped = 0;
    store_world_open(&w, *state, 2, 2);
    sv_id_make(node);
    struct store_worker_info info = {node, "host", "build", "type", "avx2", "cpu", 1, 2};
    assert_ok(&w.f, store_instance_open(w.f.store, &info, &dead, &reaped, &w.f.err));
    assert_int_equal(reaped, 0);
    store_fixture_claim(&w.f, store_instance_id(dead), &t);
    test_sql(w.f.conninfo, "select pg_terminate_backend(pid) from pg_locks where locktype ="
                           " 'advisory'");
    assert_ok(&w.f, store_instance_renew(dead, "", &w.f.err));
    assert_ok(&w.f, store_instance_open(w.f.store, &info, &alive, &reaped, &w.f.err));
    assert_int_equal(reaped, 0); /* it has its lock again */
    assert_string_equal(get_trial(&w, &t.claim).state, "running");
    test_sql(w.f.conninfo, "select pg_terminate_backend(l.pid) from pg_locks l where l.locktype ="
                           " 'advisory' and l.objid = (select min(number) from worker where"
                           " host = 'host')::oid");
    while (test_sql_number(w.f.conninfo, "select count(*) from pg_locks where locktype ="
                                         " 'advisory'") > 1) {
        sv_clock_sleep_ms(2);
    }
    assert_ok(&w.f, store_instance_open(w.f.store, &info, &next, &reaped, &w.f.err));
    assert_int_equal(reaped, 1);
    assert_string_equal(get_trial(&w, &t.claim).state, "queued");
    store_instance_close(dead);
    store_instance_close(alive);
    store_instance_close(next);
    store_world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_trial_completes_with_its_evaluation),
        cmocka_unit_test(b12_one_claim_takes_one_trial),
        cmocka_unit_test(no_trial_is_claimed_twice),
        cmocka_unit_test(a_limit_holds_for_claims_at_once),
        cmocka_unit_test(the_queue_has_an_order_and_a_limit),
        cmocka_unit_test(b07_a_lost_lease_writes_nothing),
        cmocka_unit_test(b37_the_last_attempt_ends_as_worker_lost),
        cmocka_unit_test(b10_what_completed_meanwhile_stays),
        cmocka_unit_test(b11_cancel_or_complete),
        cmocka_unit_test(b11_as_a_race),
        cmocka_unit_test(b13_b14_a_resumed_attempt_tells_its_steps_again),
        cmocka_unit_test(points_are_never_doubled),
        cmocka_unit_test(progress_earns_attempts),
        cmocka_unit_test(only_crashes_are_tried_again),
        cmocka_unit_test(a_released_trial_loses_no_attempt),
        cmocka_unit_test(old_checkpoints_go),
        cmocka_unit_test(a_dead_instance_gives_its_trials_back),
    };
    return cmocka_run_group_tests(tests, test_postgres_setup, test_postgres_teardown);
}
