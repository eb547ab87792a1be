/* SPDX-License-Identifier: MIT
 *
 * Searches in the store: open trials are not claimed, a search may go on when all before them have
 * ended, and each of them gets its point once.
 */
#include "tests/support/cmocka_all.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "server/jobs/verbs.h"
#include "server/store/housekeeping.h"
#include "server/store/searches.h"
#include "tests/support/attempts.h"

/* A job of two trials with points and two open ones. */
static void search_open(struct store_world *w, void **state)
{
    struct store_trial_new trials[4];
    struct store_created created = {0};
    store_world_open(w, *state, 0, 2);
    for (size_t i = 0; i < 4; i++) {
        trials[i] = (struct store_trial_new){.parameters = i < 2 ? "{\"a\":1}" : "{\"a\":null}",
                                             .seed = 1,
                                             .resolved = i < 2 ? "{\"kind\":\"x\"}" : NULL,
                                             .max_attempts = 1,
                                             .total_steps = 100};
        (void)snprintf(trials[i].hash, sizeof trials[i].hash, "%064zx", i + 1);
    }
    struct store_job_new job = {.name = "a search",
                                .dataset_id = w->dataset,
                                .kind = "solver_comparison",
                                .submitted = "{\"seed\": 1}",
                                .resolved = "{\"seeds\": [1]}",
                                .headline_metric = "validation_accuracy",
                                .headline_higher_is_better = true,
                                .trials = trials,
                                .n_trials = 4};
    (void)snprintf(job.hash, sizeof job.hash, "%064d", 7);
    assert_ok(&w->f, store_job_submit(w->f.store, &w->f.scope, &job, NULL, &created, &w->f.err));
    memcpy(w->job, created.id, sizeof w->job);
}

static size_t ready(struct store_world *w)
{
    struct store_search_list list = {0};
    assert_ok(&w->f, store_searches_ready(w->f.store, &w->f.memory, &list, &w->f.err));
    for (size_t i = 0; i < list.n; i++) {
        assert_string_equal(list.rows[i].job_id, w->job);
        assert_string_equal(list.rows[i].project_id, w->f.scope.project_id);
        assert_string_equal(list.rows[i].submitted, "{\"seed\": 1}");
        assert_string_equal(list.rows[i].resolved, "{\"seeds\": [1]}");
        assert_true(list.rows[i].higher_is_better);
    }
    return list.n;
}

static bool claim(struct store_world *w, struct store_claimed_trial *out_trial)
{
    struct store_environment environment = {"b", "c", "i", "l", "p", 1};
    bool found = false;
    assert_ok(&w->f, store_trial_claim(w->f.store, w->worker, 60000, &environment, &w->f.memory,
                                       &found, out_trial, &w->f.err));
    return found;
}

static void end_next(struct store_world *w)
{
    struct store_claimed_trial t;
    char now[16];
    assert_true(claim(w, &t));
    assert_ok(&w->f, test_attempt_end(w, &t.claim, STORE_OUTCOME_COMPLETED, NULL, now));
    assert_string_equal(now, "completed");
}

static size_t choose(struct store_world *w, const struct store_chosen *rows, size_t n)
{
    size_t written = 99;
    assert_ok(&w->f, store_search_choose(w->f.store, w->job, rows, n, &written, &w->f.err));
    return written;
}

static void apply(struct store_world *w, enum jobs_event event)
{
    struct jobs_verb verb;
    struct store_applied applied;
    jobs_verb_make(event, JOBS_ALL_STATES, &verb);
    assert_ok(&w->f,
              store_job_apply(w->f.store, &w->f.scope, w->job, &verb.store, &applied, &w->f.err));
}

static struct store_job job_of(struct store_world *w)
{
    struct store_job job = {0};
    assert_ok(&w->f, store_job_get(w->f.store, &w->f.scope, w->job, &w->f.memory, &job, &w->f.err));
    return job;
}

static const char HASH[] = "00000000000000000000000000000000000000000000000000000000000000ff";
static const struct store_chosen THIRD = {.index = 3,
                                          .parameters = "{\"a\":0.25}",
                                          .resolved = "{\"kind\":\"third\"}",
                                          .hash = HASH,
                                          .max_attempts = 3,
                                          .total_steps = 7};
static const struct store_chosen FOURTH_REFUSED = {
    .index = 4, .parameters = "{\"a\":9}", .hash = "", .refusal = "9 is too much"};

static void an_open_trial_waits_for_those_before_it(void **state)
{
    struct store_world w;
    struct store_claimed_trial t;
    struct store_counters counters;
    search_open(&w, state);
    test_sql(w.f.conninfo, "update trial set queued_at = queued_at - interval '1 hour'");
    assert_ok(&w.f, store_counters_read(w.f.store, &counters, &w.f.err));
    assert_true(counters.oldest_queued_s >= 3600);
    assert_int_equal(job_of(&w).trial_count, 4);
    assert_int_equal(ready(&w), 0);
    end_next(&w);
    assert_int_equal(ready(&w), 0);
    assert_true(claim(&w, &t));
    assert_int_equal(ready(&w), 0);
    char now[16];
    assert_ok(&w.f, test_attempt_end(&w, &t.claim, STORE_OUTCOME_FAILED, "diverged", now));
    assert_int_equal(ready(&w), 1);
    assert_false(claim(&w, &t)); /* of the two that are left none has a point */
    assert_string_equal(job_of(&w).state, "queued");
    assert_ok(&w.f, store_counters_read(w.f.store, &counters, &w.f.err));
    assert_true(!(counters.oldest_queued_s > 0)); /* so none of them waits for a worker */
    store_world_close(&w);
}

static void each_open_trial_gets_its_point_once(void **state)
{
    struct store_world w;
    struct store_claimed_trial t;
    struct store_search_trial_list list;
    search_open(&w, state);
    end_next(&w);
    end_next(&w);
    assert_int_equal(choose(&w, &THIRD, 1), 1);
    int64_t revision = job_of(&w).revision;
    struct store_chosen other = THIRD;
    other.parameters = "{\"a\":0.75}";
    assert_int_equal(choose(&w, &other, 1), 0);
    assert_int_equal(job_of(&w).revision, revision); /* nothing has happened */
    assert_int_equal(ready(&w), 0);
    assert_ok(&w.f, store_search_trials(w.f.store, w.job, &w.f.memory, &list, &w.f.err));
    assert_int_equal(list.n, 4);
    assert_string_equal(list.rows[2].parameters, "{\"a\":0.25}");
    assert_true(list.rows[2].chosen && !list.rows[3].chosen);
    assert_true(list.rows[0].value == 0.75 && isnan(list.rows[2].value));
    assert_true(claim(&w, &t));
    assert_int_equal(t.index, 3);
    assert_string_equal(t.resolved, "{\"kind\":\"third\"}");
    assert_string_equal(t.checkpoint_hash, HASH);
    assert_int_equal(t.max_attempts, 3);
    assert_int_equal(choose(&w, &THIRD, 1), 0); /* it runs */
    store_world_close(&w);
}

static void a_refused_point_fails_and_may_be_asked_for_again(void **state)
{
    struct store_world w;
    search_open(&w, state);
    end_next(&w);
    end_next(&w);
    const struct store_chosen rows[] = {THIRD, FOURTH_REFUSED};
    assert_int_equal(choose(&w, rows, 2), 2);
    end_next(&w);
    struct store_job job = job_of(&w);
    assert_string_equal(job.state, "completed");
    assert_int_equal(job.failed_count, 1);
    assert_int_equal(ready(&w), 0);
    struct store_search_trial_list list;
    assert_ok(&w.f, store_search_trials(w.f.store, w.job, &w.f.memory, &list, &w.f.err));
    assert_string_equal(list.rows[3].parameters, "{\"a\":9}");
    assert_string_equal(list.rows[3].state, "failed");
    assert_false(list.rows[3].chosen);
    apply(&w, JOBS_EVENT_RESTART);
    assert_int_equal(ready(&w), 1);
    store_world_close(&w);
}

static void a_job_that_is_paused_or_cancelled_does_not_go_on(void **state)
{
    struct store_world w;
    search_open(&w, state);
    end_next(&w);
    end_next(&w);
    assert_int_equal(ready(&w), 1);
    assert_ok(&w.f, store_job_hold(w.f.store, &w.f.scope, w.job, true, &w.f.err));
    assert_int_equal(ready(&w), 0);
    assert_int_equal(choose(&w, &THIRD, 1), 0);
    assert_ok(&w.f, store_job_hold(w.f.store, &w.f.scope, w.job, false, &w.f.err));
    assert_int_equal(ready(&w), 1);
    apply(&w, JOBS_EVENT_CANCEL);
    assert_int_equal(ready(&w), 0);
    assert_int_equal(choose(&w, &THIRD, 1), 0);
    assert_string_equal(job_of(&w).state, "completed"); /* with what there is */
    store_world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_open_trial_waits_for_those_before_it),
        cmocka_unit_test(each_open_trial_gets_its_point_once),
        cmocka_unit_test(a_refused_point_fails_and_may_be_asked_for_again),
        cmocka_unit_test(a_job_that_is_paused_or_cancelled_does_not_go_on),
    };
    return cmocka_run_group_tests(tests, test_postgres_setup, test_postgres_teardown);
}
