/* SPDX-License-Identifier: MIT
 *
 * Attempts at a trial: what they commit, how they are taken up again, what a failure costs.
 */
#include "tests/support/cmocka_all.h"

#include <libpq-fe.h>
#include <math.h>
#include <pthread.h>
#include <string.h>

#include "server/base/clock.h"
#include "server/store/extend.h"
#include "server/store/points.h"
#include "server/store/results.h"
#include "server/store/trials.h"
#include "server/store/workers.h"
#include "tests/support/attempts.h"

static void a_trial_completes_with_its_evaluation(void **state)
{
    struct store_world w;
    struct store_claimed_trial t;
    char ended[16];
    store_world_open(&w, *state, 1, 2);
    store_fixture_claim(&w.f, w.worker, &t);
    assert_string_equal(t.kind, "solver_comparison");
    assert_string_equal(t.resolved, STORE_FIXTURE_RESOLVED);
    assert_true(t.seed == UINT64_MAX);
    assert_int_equal(t.claim.fence, 1);
    assert_int_equal(strlen(t.prepared.sha256), 64);
    test_commit_steps(&w, &t.claim, "training_loss", 1, 100);
    struct store_ending bare = {.outcome = STORE_OUTCOME_COMPLETED};
    assert_status(&w.f, store_attempt_end(w.f.store, &t.claim, &bare, ended, &w.f.err),
                  SV_ERR_INTERNAL);
    assert_ok(&w.f, test_attempt_end(&w, &t.claim, STORE_OUTCOME_COMPLETED, NULL, ended));
    assert_string_equal(ended, "completed");
    struct store_trial trial = test_trial_get(&w, &t.claim);
    assert_string_equal(trial.state, "completed");
    assert_true(trial.headline_value == 0.75);
    struct store_job job;
    assert_ok(&w.f, store_job_get(w.f.store, &w.f.scope, w.job, &w.f.memory, &job, &w.f.err));
    assert_string_equal(job.state, "completed");
    assert_string_equal(job.best_trial_id, trial.id);
    assert_true(job.best_value == 0.75);
    /* the same end again: done already */
    assert_ok(&w.f, test_attempt_end(&w, &t.claim, STORE_OUTCOME_COMPLETED, NULL, ended));
    assert_string_equal(ended, "completed");
    assert_int_equal(test_sql_number(w.f.conninfo, "select count(*) from metric_chunk"), 1);
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
    test_commit_steps(&w, &t.claim, "training_loss", 1, 60);
    test_commit_steps(&w, &t.claim, "training_loss", 61, 80);
    test_commit_checkpoint(&w, &t.claim, 80);
    test_commit_steps(&w, &t.claim, "training_loss", 81, 95);
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
    assert_int_equal(test_trial_get(&w, &t.claim).epoch, 4); /* of 5, with 20 steps each */
    struct store_summary_list summaries;
    assert_ok(&w.f, store_summaries_list(w.f.store, &w.f.scope, t.claim.trial_id, &w.f.memory,
                                         &summaries, &w.f.err));
    assert_int_equal(summaries.n, 1);
    assert_int_equal(summaries.rows[0].last_step, 80);
    assert_true(summaries.rows[0].max == 10.0);
    test_commit_steps(&w, &t.claim, "training_loss", 81, 95);
    assert_series(&w, &t.claim, "training_loss", 1, 95);
    /* in the middle of a chunk */
    assert_ok(&w.f, store_fixture_resume(&w.f, &t.claim, 33, 33));
    assert_series(&w, &t.claim, "training_loss", 1, 33);
    assert_int_equal(test_trial_get(&w, &t.claim).epoch, 2);
    assert_ok(&w.f, store_fixture_resume(&w.f, &t.claim, 0, 0));
    assert_series(&w, &t.claim, "training_loss", 1, 0);
    assert_int_equal(test_trial_get(&w, &t.claim).epoch, 0);
    store_world_close(&w);
}

/* The most that an attempt may use: the cores of its worker, or fewer where its spec says so. */
static void an_attempt_says_how_many_threads_it_may_use(void **state)
{
    static const int limits[] = {0, 3, 20}, most[] = {8, 3, 8};
    struct store_world w;
    store_world_open(&w, *state, 3, 1);
    for (size_t i = 0; i < 3; i++) {
        struct store_claimed_trial t;
        struct store_attempt_list attempts;
        char sql[200];
        (void)snprintf(sql, sizeof sql,
                       "update trial set resolved = json_build_object('threads', %d)"
                       " where state = 'queued'",
                       limits[i]);
        test_sql(w.f.conninfo, sql);
        store_fixture_claim(&w.f, w.worker, &t);
        assert_ok(&w.f, store_attempts_list(w.f.store, &w.f.scope, t.claim.trial_id, &w.f.memory,
                                            &attempts, &w.f.err));
        assert_int_equal(attempts.rows[0].threads, most[i]);
    }
    store_world_close(&w);
}

static enum sv_status extend(struct store_world *w, const char *job_id, const char *trial_id,
                             const char *from, const char *digit, size_t *out_changed)
{
    const struct store_move move = {.from = from, .effect = STORE_CHANGED, .to = "queued"};
    const struct store_verb verb = {.name = "extend", .moves = &move, .n_moves = 1};
    struct store_extendable_list list = {0};
    assert_ok(&w->f, store_extendable_read(w->f.store, &w->f.scope, job_id, trial_id, &w->f.memory,
                                           &list, &w->f.err));
    assert_int_equal(list.n, 1);
    assert_string_equal(list.rows[0].parameters, "{\"training.solver\": \"adam\"}");
    struct store_extended row = {.from = &list.rows[0],
                                 .resolved = "{\"kind\": \"longer\"}",
                                 .parameters = list.rows[0].parameters,
                                 .total_steps = 2 * list.rows[0].total_steps};
    memset(row.hash, digit[0], 64);
    const struct store_extension extension = {.job_id = list.rows[0].job_id,
                                              .trial_id = trial_id,
                                              .verb = &verb,
                                              .rows = &row,
                                              .n = 1,
                                              .detail = "{\"epochs\": 7}"};
    return store_trials_extend(w->f.store, &w->f.scope, &extension, out_changed, &w->f.err);
}

/* What was made stays until the new end replaces it; checkpoints keep the hash that they are known
 * by; a validation that belonged to the old end goes when the next attempt begins. */
static void an_extended_trial_goes_on(void **state)
{
    struct store_world w;
    struct store_claimed_trial t, longer;
    char ended[16];
    size_t changed = 9;
    store_world_open(&w, *state, 1, 2);
    store_fixture_claim(&w.f, w.worker, &t);
    test_commit_steps(&w, &t.claim, "training_loss", 1, 100);
    test_commit_steps(&w, &t.claim, "validation_loss", 90, 100);
    test_commit_checkpoint(&w, &t.claim, 100);
    assert_ok(&w.f, extend(&w, NULL, t.claim.trial_id, "completed", "a", &changed));
    assert_int_equal(changed, 0); /* it runs */
    assert_ok(&w.f, test_attempt_end(&w, &t.claim, STORE_OUTCOME_COMPLETED, NULL, ended));
    assert_ok(&w.f, extend(&w, NULL, t.claim.trial_id, "stopped", "a", &changed));
    assert_int_equal(changed, 0); /* the caller's table does not name its state */
    assert_ok(&w.f, extend(&w, NULL, t.claim.trial_id, "completed", "a", &changed));
    assert_int_equal(changed, 1);
    struct store_trial trial = test_trial_get(&w, &t.claim);
    assert_string_equal(trial.state, "queued");
    assert_string_equal(trial.resolved, "{\"kind\": \"longer\"}");
    assert_int_equal(trial.total_steps, 200);
    assert_int_equal(trial.step, 100);
    assert_int_equal(trial.attempt, 0);
    assert_true(trial.headline_value == 0.75);
    assert_int_equal(store_fixture_violations(&w.f), 0);
    assert_int_equal(test_sql_number(w.f.conninfo, "select count(*) from event where kind ="
                                                   " 'trial_extend' and detail ->> 'epochs' = '7'"),
                     1);
    store_fixture_claim(&w.f, w.worker, &longer); /* resumes at 100 */
    assert_string_equal(longer.checkpoint_hash, t.checkpoint_hash);
    assert_ok(&w.f, store_fixture_resume(&w.f, &longer.claim, 100, 96));
    assert_series(&w, &longer.claim, "training_loss", 1, 100);
    assert_series(&w, &longer.claim, "validation_loss", 90, 96);
    struct store_evaluation_list evaluations;
    assert_ok(&w.f, store_evaluations_list(w.f.store, &w.f.scope, t.claim.trial_id, &w.f.memory,
                                           &evaluations, &w.f.err));
    assert_int_equal(evaluations.n, 1);
    test_commit_steps(&w, &longer.claim, "training_loss", 101, 200);
    assert_ok(&w.f, test_attempt_end(&w, &longer.claim, STORE_OUTCOME_COMPLETED, NULL, ended));
    assert_int_equal(test_sql_number(w.f.conninfo, "select sum(fence)::int from evaluation"), 2);
    assert_ok(&w.f, extend(&w, w.job, NULL, "completed", "b", &changed));
    assert_int_equal(changed, 1);
    store_fixture_claim(&w.f, w.worker, &longer);
    assert_string_equal(longer.checkpoint_hash, t.checkpoint_hash);
    assert_ok(&w.f, test_attempt_end(&w, &longer.claim, STORE_OUTCOME_FAILED, "timeout", ended));
    assert_string_equal(ended, "failed");
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
            test_commit_checkpoint(&w, &t.claim, rounds[i].checkpoint);
        }
        assert_ok(&w.f, test_attempt_end(&w, &t.claim, STORE_OUTCOME_FAILED, "crashed", ended));
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
        assert_ok(&w.f, test_attempt_end(&w, &t.claim, STORE_OUTCOME_FAILED, cases[i].error_class,
                                         ended));
        assert_string_equal(ended, cases[i].state);
        struct store_trial trial = test_trial_get(&w, &t.claim);
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
        assert_ok(&w.f, test_attempt_end(&w, &t.claim, STORE_OUTCOME_RELEASED, NULL, ended));
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
        struct store_checkpoint checkpoint = test_checkpoint_at(step);
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
    assert_string_equal(test_trial_get(&w, &t.claim).state, "running");
    test_sql(w.f.conninfo, "select pg_terminate_backend(l.pid) from pg_locks l where l.locktype ="
                           " 'advisory' and l.objid = (select min(number) from worker where"
                           " host = 'host')::oid");
    while (test_sql_number(w.f.conninfo, "select count(*) from pg_locks where locktype ="
                                         " 'advisory'") > 1) {
        sv_clock_sleep_ms(2);
    }
    assert_ok(&w.f, store_instance_open(w.f.store, &info, &next, &reaped, &w.f.err));
    assert_int_equal(reaped, 1);
    assert_string_equal(test_trial_get(&w, &t.claim).state, "queued");
    store_instance_close(dead);
    store_instance_close(alive);
    store_instance_close(next);
    store_world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_trial_completes_with_its_evaluation),
        cmocka_unit_test(b13_b14_a_resumed_attempt_tells_its_steps_again),
        cmocka_unit_test(an_extended_trial_goes_on),
        cmocka_unit_test(an_attempt_says_how_many_threads_it_may_use),
        cmocka_unit_test(points_are_never_doubled),
        cmocka_unit_test(progress_earns_attempts),
        cmocka_unit_test(only_crashes_are_tried_again),
        cmocka_unit_test(a_released_trial_loses_no_attempt),
        cmocka_unit_test(old_checkpoints_go),
        cmocka_unit_test(a_dead_instance_gives_its_trials_back),
    };
    return cmocka_run_group_tests(tests, test_postgres_setup, test_postgres_teardown);
}
