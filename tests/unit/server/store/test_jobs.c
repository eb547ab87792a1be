/* SPDX-License-Identifier: MIT
 *
 * Jobs and trials as people see them: submission, idempotency, lists, verbs, holding.
 */
#include "tests/support/cmocka_all.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "server/store/experiments.h"
#include "server/store/jobs.h"
#include "server/store/trials.h"
#include "tests/support/store_fixture.h"

static struct store_job get_job(struct store_world *w)
{
    struct store_job job = {0};
    assert_ok(&w->f, store_job_get(w->f.store, &w->f.scope, w->job, &w->f.memory, &job, &w->f.err));
    return job;
}

static struct store_trial_list list_trials(struct store_world *w, enum store_trial_sort sort)
{
    struct store_trial_list list = {0};
    struct store_trial_filter filter = {.job_id = w->job, .discarded = -1, .sort = sort};
    struct store_page page = {.limit = 100};
    assert_ok(&w->f, store_trials_list(w->f.store, &w->f.scope, &filter, &page, &w->f.memory, &list,
                                       &w->f.err));
    return list;
}

static void a_job_comes_back_as_submitted(void **state)
{
    struct store_world w;
    store_world_open(&w, *state, 3, 2);
    struct store_job job = get_job(&w);
    assert_string_equal(job.submitted, "{\"kind\":   \"solver_comparison\"}");
    assert_string_equal(job.state, "queued");
    assert_string_equal(job.experiment_name, "an experiment");
    assert_string_equal(job.dataset_id, w.dataset);
    assert_int_equal(job.trial_count, 3);
    assert_int_equal(job.queued_count, 3);
    assert_int_equal(job.steps_total, 300);
    assert_true(isnan(job.best_value));
    assert_string_equal(job.best_trial_id, "");
    assert_string_equal(job.started_at, "");
    assert_int_equal(strlen(job.created_at), 24);
    struct store_trial_list list = list_trials(&w, STORE_TRIALS_BY_INDEX);
    assert_int_equal(list.n, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(list.rows[i].index, i + 1);
        assert_true(list.rows[i].seed == UINT64_MAX - i);
        assert_string_equal(list.rows[i].parameters, "{\"training.solver\": \"adam\"}");
    }
    struct store_trial trial;
    assert_ok(&w.f, store_trial_get(w.f.store, &w.f.scope, list.rows[1].id, &w.f.memory, &trial,
                                    &w.f.err));
    assert_string_equal(trial.resolved, STORE_FIXTURE_RESOLVED);
    struct store_scope other = w.f.scope;
    sv_id_make(other.project_id);
    assert_status(
        &w.f, store_trial_get(w.f.store, &other, list.rows[1].id, &w.f.memory, &trial, &w.f.err),
        SV_ERR_NOT_FOUND);
    assert_status(&w.f, store_job_get(w.f.store, &other, w.job, &w.f.memory, &job, &w.f.err),
                  SV_ERR_NOT_FOUND);
    store_world_close(&w);
}

static struct store_job_new small_job(const char *dataset_id)
{
    static const struct store_trial_new TRIAL = {
        .parameters = "{}",
        .resolved = "{}",
        .hash = "00000000000000000000000000000000000000000000000000000000000000aa",
        .max_attempts = 1};
    static const char *const labels[] = {"a", "ü{}\",", ""};
    return (struct store_job_new){
        .name = "small",
        .dataset_id = dataset_id,
        .kind = "solver_comparison",
        .submitted = "{}",
        .resolved = "{}",
        .hash = "00000000000000000000000000000000000000000000000000000000000000bb",
        .headline_metric = "validation_loss",
        .notes = "",
        .labels = labels,
        .n_labels = 3,
        .trials = &TRIAL,
        .n_trials = 1};
}

static void idempotency_keys(void **state)
{
    struct store_world w;
    store_world_open(&w, *state, 0, 2);
    struct store_job_new job = small_job(w.dataset);
    struct store_idempotency key = {.key = "k1", .digest = {1}};
    struct store_created first;
    struct store_created again;
    assert_ok(&w.f, store_job_submit(w.f.store, &w.f.scope, &job, &key, &first, &w.f.err));
    assert_false(first.replayed);
    assert_ok(&w.f, store_job_submit(w.f.store, &w.f.scope, &job, &key, &again, &w.f.err));
    assert_true(again.replayed);
    assert_string_equal(first.id, again.id);
    key.digest[31] = 9;
    assert_status(&w.f, store_job_submit(w.f.store, &w.f.scope, &job, &key, &again, &w.f.err),
                  SV_ERR_KEY_REUSED);
    assert_int_equal(test_sql_number(w.f.conninfo, "select count(*) from job"), 1);
    memcpy(w.job, first.id, sizeof w.job);
    struct store_job back = get_job(&w);
    assert_int_equal(back.n_labels, 3);
    assert_string_equal(back.labels[1], "ü{}\",");
    assert_string_equal(back.labels[2], "");
    store_world_close(&w);
}

struct submitter {
    struct store_world *w;
    enum sv_status status;
    struct store_created created;
};

static void *submit_in_thread(void *arg)
{
    struct submitter *submitter = arg;
    struct store_job_new job = small_job(submitter->w->dataset);
    struct store_idempotency key = {.key = "one", .digest = {7}};
    submitter->status = store_job_submit(submitter->w->f.store, &submitter->w->f.scope, &job, &key,
                                         &submitter->created, NULL);
    return NULL;
}

/* B15 with a key: of many at once one makes the job, the others are told or get the same. */
static void b15_one_key_makes_one_job(void **state)
{
    enum { N = 12 };
    struct store_world w;
    store_world_open(&w, *state, 0, 2);
    struct submitter submitters[N];
    pthread_t threads[N];
    for (int i = 0; i < N; i++) {
        submitters[i] = (struct submitter){.w = &w};
        assert_int_equal(pthread_create(&threads[i], NULL, submit_in_thread, &submitters[i]), 0);
    }
    int made = 0;
    for (int i = 0; i < N; i++) {
        (void)pthread_join(threads[i], NULL);
        assert_true(submitters[i].status == SV_OK || submitters[i].status == SV_ERR_IN_PROGRESS);
        made += submitters[i].status == SV_OK && !submitters[i].created.replayed;
    }
    assert_int_equal(made, 1);
    assert_int_equal(test_sql_number(w.f.conninfo, "select count(*) from job"), 1);
    store_world_close(&w);
}

static void a_job_needs_a_ready_data_set(void **state)
{
    struct store_world w;
    store_world_open(&w, *state, 0, 2);
    char missing[SV_ID_SIZE];
    sv_id_make(missing);
    struct store_created created;
    struct store_job_new job = small_job(missing);
    assert_status(&w.f, store_job_submit(w.f.store, &w.f.scope, &job, NULL, &created, &w.f.err),
                  SV_ERR_NOT_FOUND);
    assert_string_equal(w.f.err.pointer, "/dataset");
    job.dataset_id = "nonsense";
    assert_status(&w.f, store_job_submit(w.f.store, &w.f.scope, &job, NULL, &created, &w.f.err),
                  SV_ERR_NOT_FOUND);
    store_world_close(&w);
}

/* ---- verbs ---- */

static const struct store_move CANCEL_MOVES[] = {
    {"queued", STORE_CHANGED, "cancelled", STORE_OF_ALL},
    {"paused", STORE_CHANGED, "cancelled", STORE_OF_ALL},
    {"running", STORE_REQUESTED, "running", STORE_OF_ALL},
    {"cancelled", STORE_UNCHANGED, "cancelled", STORE_OF_ALL}};
static const struct store_verb CANCEL = {"cancel", STORE_WISH_CANCEL, CANCEL_MOVES, 4};
static const struct store_move RESTART_MOVES[] = {
    {"cancelled", STORE_CHANGED, "queued", STORE_OF_ALL},
    {"failed", STORE_CHANGED, "queued", STORE_OF_ALL},
    {"stopped", STORE_CHANGED, "queued", STORE_OF_ALL}};
static const struct store_verb RESTART = {"restart", STORE_WISH_NONE, RESTART_MOVES, 3};
static const struct store_move PAUSE_MOVES[] = {
    {"running", STORE_REQUESTED, "running", STORE_OF_ALL}};
static const struct store_verb PAUSE = {"pause", STORE_WISH_PAUSE, PAUSE_MOVES, 1};
static const struct store_move RESUME_MOVES[] = {
    {"paused", STORE_CHANGED, "queued", STORE_OF_ALL},
    {"running", STORE_REQUESTED, "running", STORE_OF_ALL}};
static const struct store_verb RESUME = {"resume", STORE_WISH_RESUME, RESUME_MOVES, 2};
static const struct store_move STOP_MOVES[] = {
    {"paused", STORE_CHANGED, "queued", STORE_OF_ALL},
    {"running", STORE_REQUESTED, "running", STORE_OF_ALL}};
static const struct store_verb STOP = {"stop", STORE_WISH_STOP, STOP_MOVES, 2};

static struct store_trial get_trial(struct store_world *w, const char *id)
{
    struct store_trial trial = {0};
    assert_ok(&w->f, store_trial_get(w->f.store, &w->f.scope, id, &w->f.memory, &trial, &w->f.err));
    return trial;
}

static enum store_effect apply(struct store_world *w, const char *id, const struct store_verb *verb)
{
    enum store_effect effect;
    assert_ok(&w->f, store_trial_apply(w->f.store, &w->f.scope, id, verb, &effect, &w->f.err));
    return effect;
}

static void a_queued_trial_is_cancelled_at_once(void **state)
{
    struct store_world w;
    store_world_open(&w, *state, 2, 2);
    struct store_trial_list list = list_trials(&w, STORE_TRIALS_BY_INDEX);
    const char *id = list.rows[0].id;
    int64_t revision = get_job(&w).revision;
    assert_int_equal(apply(&w, id, &CANCEL), STORE_CHANGED);
    struct store_trial trial = get_trial(&w, id);
    assert_string_equal(trial.state, "cancelled");
    assert_string_not_equal(trial.finished_at, "");
    assert_true(get_job(&w).revision > revision);
    revision = get_job(&w).revision;
    assert_int_equal(apply(&w, id, &CANCEL), STORE_UNCHANGED);
    assert_int_equal(get_job(&w).revision, revision);
    assert_status(&w.f, store_trial_apply(w.f.store, &w.f.scope, id, &PAUSE, NULL, &w.f.err),
                  SV_ERR_WRONG_STATE);
    assert_string_equal(w.f.err.text, "the trial is cancelled: pause is not possible");
    assert_int_equal(apply(&w, id, &RESTART), STORE_CHANGED);
    assert_string_equal(get_trial(&w, id).state, "queued");
    assert_status(&w.f, store_trial_apply(w.f.store, &w.f.scope, w.job, &PAUSE, NULL, &w.f.err),
                  SV_ERR_NOT_FOUND);
    store_world_close(&w);
}

static void a_running_trial_is_asked(void **state)
{
    struct store_world w;
    store_world_open(&w, *state, 1, 2);
    struct store_claimed_trial claimed;
    store_fixture_claim(&w.f, w.worker, &claimed);
    const char *id = claimed.claim.trial_id;
    assert_string_equal(get_job(&w).state, "running");
    assert_int_equal(apply(&w, id, &PAUSE), STORE_REQUESTED);
    assert_int_equal(apply(&w, id, &STOP), STORE_REQUESTED);
    struct store_control control;
    assert_ok(&w.f,
              store_heartbeat(w.f.store, w.worker, 60000, &claimed.claim, 1, &control, &w.f.err));
    assert_true(control.held && control.pause_requested && control.stop_requested);
    assert_false(control.cancel_requested);
    assert_int_equal(apply(&w, id, &RESUME), STORE_REQUESTED);
    assert_ok(&w.f,
              store_heartbeat(w.f.store, w.worker, 60000, &claimed.claim, 1, &control, &w.f.err));
    assert_false(control.pause_requested);
    store_world_close(&w);
}

/* A paused trial that is stopped goes back to the queue, and its claim knows why. */
static void a_paused_trial_can_be_stopped(void **state)
{
    struct store_world w;
    store_world_open(&w, *state, 1, 2);
    struct store_claimed_trial claimed;
    char ended[16];
    store_fixture_claim(&w.f, w.worker, &claimed);
    assert_int_equal(apply(&w, claimed.claim.trial_id, &PAUSE), STORE_REQUESTED);
    struct store_ending ending = {.outcome = STORE_OUTCOME_PAUSED};
    assert_ok(&w.f, store_attempt_end(w.f.store, &claimed.claim, &ending, ended, &w.f.err));
    assert_string_equal(ended, "paused");
    assert_string_equal(get_job(&w).state, "paused");
    assert_int_equal(get_trial(&w, claimed.claim.trial_id).attempt, 0);
    assert_int_equal(apply(&w, claimed.claim.trial_id, &STOP), STORE_CHANGED);
    store_fixture_claim(&w.f, w.worker, &claimed);
    assert_true(claimed.stop_requested);
    store_world_close(&w);
}

static void verbs_of_a_job_count_what_they_meet(void **state)
{
    struct store_world w;
    store_world_open(&w, *state, 5, 2);
    struct store_claimed_trial claimed;
    struct store_applied applied;
    store_fixture_claim(&w.f, w.worker, &claimed);
    assert_ok(&w.f, store_job_apply(w.f.store, &w.f.scope, w.job, &CANCEL, &applied, &w.f.err));
    assert_int_equal(applied.changed, 4);
    assert_int_equal(applied.requested, 1);
    assert_string_equal(get_job(&w).state, "running");
    assert_ok(&w.f, store_job_apply(w.f.store, &w.f.scope, w.job, &RESTART, &applied, &w.f.err));
    assert_int_equal(applied.changed, 4);
    assert_int_equal(applied.refused, 1);
    store_world_close(&w);
}

/* A held job starts nothing, whatever happens to its trials meanwhile. */
static void a_held_job_starts_nothing(void **state)
{
    struct store_world w;
    store_world_open(&w, *state, 2, 2);
    struct store_claimed_trial claimed;
    bool found = true;
    struct store_environment environment = {"b", "c", "i", "l", "p", 1};
    assert_ok(&w.f, store_job_hold(w.f.store, &w.f.scope, w.job, true, &w.f.err));
    assert_string_equal(get_job(&w).state, "paused");
    struct store_trial_list list = list_trials(&w, STORE_TRIALS_BY_INDEX);
    (void)apply(&w, list.rows[0].id, &CANCEL);
    (void)apply(&w, list.rows[0].id, &RESTART);
    assert_ok(&w.f, store_trial_claim(w.f.store, w.worker, 60000, &environment, &w.f.memory, &found,
                                      &claimed, &w.f.err));
    assert_false(found);
    assert_ok(&w.f, store_job_hold(w.f.store, &w.f.scope, w.job, false, &w.f.err));
    store_fixture_claim(&w.f, w.worker, &claimed);
    store_world_close(&w);
}

/* Only what it stops passes a held queue: one trial to its evaluation, not to another start. */
static void a_trial_of_a_held_job_can_be_stopped(void **state)
{
    struct store_world w;
    store_world_open(&w, *state, 2, 2);
    struct store_claimed_trial claimed;
    char ended[16];
    bool found = true;
    struct store_environment environment = {"b", "c", "i", "l", "p", 1};
    store_fixture_claim(&w.f, w.worker, &claimed);
    char id[SV_ID_SIZE];
    memcpy(id, claimed.claim.trial_id, sizeof id);
    struct store_ending ending = {.outcome = STORE_OUTCOME_PAUSED};
    assert_ok(&w.f, store_attempt_end(w.f.store, &claimed.claim, &ending, ended, &w.f.err));
    assert_ok(&w.f, store_job_hold(w.f.store, &w.f.scope, w.job, true, &w.f.err));
    assert_int_equal(apply(&w, id, &STOP), STORE_CHANGED);
    assert_ok(&w.f, store_job_hold(w.f.store, &w.f.scope, w.job, true, &w.f.err)); /* once more */
    store_fixture_claim(&w.f, w.worker, &claimed);
    assert_string_equal(claimed.claim.trial_id, id);
    assert_true(claimed.stop_requested);
    assert_true(get_job(&w).paused);
    ending = (struct store_ending){
        .outcome = STORE_OUTCOME_FAILED, .error_class = "internal", .error_text = "a test"};
    assert_ok(&w.f, store_attempt_end(w.f.store, &claimed.claim, &ending, ended, &w.f.err));
    assert_string_equal(ended, "failed");
    assert_int_equal(apply(&w, id, &RESTART), STORE_CHANGED);
    assert_ok(&w.f, store_trial_claim(w.f.store, w.worker, 60000, &environment, &w.f.memory, &found,
                                      &claimed, &w.f.err));
    assert_false(found);
    store_world_close(&w);
}

static void patches(void **state)
{
    struct store_world w;
    store_world_open(&w, *state, 1, 2);
    static const char *const labels[] = {"x"};
    int64_t revision = get_job(&w).revision;
    struct store_job_patch patch = {.name = "new name", .archived = -1, .if_revision = revision};
    assert_ok(&w.f, store_job_patch(w.f.store, &w.f.scope, w.job, &patch, &w.f.err));
    assert_status(&w.f, store_job_patch(w.f.store, &w.f.scope, w.job, &patch, &w.f.err),
                  SV_ERR_PRECONDITION);
    patch = (struct store_job_patch){.labels = labels, .n_labels = 1, .archived = 1};
    assert_ok(&w.f, store_job_patch(w.f.store, &w.f.scope, w.job, &patch, &w.f.err));
    struct store_job job = get_job(&w);
    assert_string_equal(job.name, "new name");
    assert_true(job.archived);
    assert_string_equal(job.labels[0], "x");
    assert_int_equal(job.revision, revision + 2);
    struct store_trial_list list = list_trials(&w, STORE_TRIALS_BY_INDEX);
    struct store_trial_patch odd = {
        .notes = "odd", .labels = labels, .n_labels = 1, .discarded = 1};
    assert_ok(&w.f, store_trial_patch(w.f.store, &w.f.scope, list.rows[0].id, &odd, &w.f.err));
    struct store_trial trial = get_trial(&w, list.rows[0].id);
    assert_true(trial.discarded);
    assert_string_equal(trial.notes, "odd");
    assert_int_equal(trial.n_labels, 1);
    assert_string_equal(trial.labels[0], "x");
    struct store_trial_filter filter = {.label = "x", .discarded = -1};
    struct store_page page = {.limit = 10};
    assert_ok(&w.f, store_trials_list(w.f.store, &w.f.scope, &filter, &page, &w.f.memory, &list,
                                      &w.f.err));
    assert_int_equal(list.n, 1);
    assert_string_equal(list.rows[0].id, trial.id);
    filter.label = "y";
    assert_ok(&w.f, store_trials_list(w.f.store, &w.f.scope, &filter, &page, &w.f.memory, &list,
                                      &w.f.err));
    assert_int_equal(list.n, 0);
    store_world_close(&w);
}

/* Every order, in pages of 2, meets every row once; filters that are nonsense are refused. */
static void lists_page_through_everything(void **state)
{
    struct store_world w;
    store_world_open(&w, *state, 5, 2);
    test_sql(w.f.conninfo,
             "update trial set headline_value = case idx when 1 then 0.5 when 2 then 0.25 when 4"
             " then 0.5 end, started_at = case when idx > 2 then now() - idx * interval '1 s' end");
    static const char *const expected[] = {
        [STORE_TRIALS_BY_INDEX] = "12345", [STORE_TRIALS_NEWEST] = "54321",
        [STORE_TRIALS_BEST] = "14235",     [STORE_TRIALS_WORST] = "21435",
        [STORE_TRIALS_BY_STATE] = "12345", [STORE_TRIALS_STARTED] = "54312",
        [STORE_TRIALS_FINISHED] = "12345",
    };
    for (int sort = STORE_TRIALS_BY_INDEX; sort <= STORE_TRIALS_FINISHED; sort++) {
        struct store_trial_filter filter = {
            .job_id = w.job, .discarded = 0, .sort = (enum store_trial_sort)sort};
        struct store_page page = {.limit = 2};
        char seen[16] = "";
        do {
            struct store_trial_list list;
            assert_ok(&w.f, store_trials_list(w.f.store, &w.f.scope, &filter, &page, &w.f.memory,
                                              &list, &w.f.err));
            for (size_t i = 0; i < list.n; i++) {
                seen[strlen(seen)] = (char)('0' + list.rows[i].index);
            }
            page.cursor = list.next;
        } while (page.cursor && strlen(seen) < 10);
        assert_string_equal(seen, expected[sort]);
    }
    struct store_job_list jobs;
    struct store_page page = {.limit = 1};
    store_fixture_job(&w.f, w.dataset, 1, 1, w.job);
    for (int sort = STORE_JOBS_NEWEST; sort <= STORE_JOBS_BY_NAME; sort++) {
        struct store_job_filter filter = {.search = "A JO", .sort = (enum store_job_sort)sort};
        page.cursor = NULL;
        size_t seen = 0;
        do {
            assert_ok(&w.f, store_jobs_list(w.f.store, &w.f.scope, &filter, &page, &w.f.memory,
                                            &jobs, &w.f.err));
            seen += jobs.n;
            page.cursor = jobs.next;
        } while (page.cursor && seen < 10);
        assert_int_equal(seen, 2);
    }
    assert_true(isnan(get_job(&w).best_value));
    struct store_job_filter bad = {.created_after = "yesterday-ish"};
    page.cursor = NULL;
    assert_status(&w.f,
                  store_jobs_list(w.f.store, &w.f.scope, &bad, &page, &w.f.memory, &jobs, &w.f.err),
                  SV_ERR_INVALID_PARAMETER);
    bad = (struct store_job_filter){.experiment_id = "17"};
    assert_status(&w.f,
                  store_jobs_list(w.f.store, &w.f.scope, &bad, &page, &w.f.memory, &jobs, &w.f.err),
                  SV_ERR_INVALID_PARAMETER);
    store_fixture_close(&w.f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_comes_back_as_submitted),
        cmocka_unit_test(idempotency_keys),
        cmocka_unit_test(b15_one_key_makes_one_job),
        cmocka_unit_test(a_job_needs_a_ready_data_set),
        cmocka_unit_test(a_queued_trial_is_cancelled_at_once),
        cmocka_unit_test(a_running_trial_is_asked),
        cmocka_unit_test(a_paused_trial_can_be_stopped),
        cmocka_unit_test(a_trial_of_a_held_job_can_be_stopped),
        cmocka_unit_test(verbs_of_a_job_count_what_they_meet),
        cmocka_unit_test(a_held_job_starts_nothing),
        cmocka_unit_test(patches),
        cmocka_unit_test(lists_page_through_everything),
    };
    return cmocka_run_group_tests(tests, test_postgres_setup, test_postgres_teardown);
}
