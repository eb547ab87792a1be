/* SPDX-License-Identifier: MIT
 *
 * The listener, events and revisions: in order, none lost, also when sessions end meanwhile.
 */
#include "tests/support/cmocka_all.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "server/store/events.h"
#include "tests/support/patience.h"
#include "tests/support/store_fixture.h"

static enum store_heard hear(struct store_listener *listener, struct store_change *change,
                             int timeout_ms)
{
    enum store_heard heard = STORE_HEARD_NOTHING;
    enum sv_status st = SV_ERR_DATABASE;
    int64_t until = test_patience();
    do {
        st = store_listener_wait(listener, timeout_ms, -1, &heard, change, NULL);
    } while (st != SV_OK && test_patience_lasts(until));
    assert_int_equal(st, SV_OK);
    return heard;
}

/* B09: the listening session is terminated; it listens again, says so, and hears the next. */
static void b09_a_listener_comes_back(void **state)
{
    struct store_world w;
    struct store_listener *listener = NULL;
    struct store_change change;
    store_world_open(&w, *state, 0, 2);
    assert_ok(&w.f, store_listener_open(w.f.store, &listener, &w.f.err));
    assert_int_equal(hear(listener, &change, TEST_PATIENCE_MS), STORE_HEARD_CONNECTED);
    store_fixture_job(&w.f, w.dataset, 1, 2, w.job);
    assert_int_equal(hear(listener, &change, TEST_PATIENCE_MS), STORE_HEARD_CHANGE);
    assert_string_equal(change.id, w.job);
    assert_string_equal(change.project_id, w.f.scope.project_id);
    assert_int_equal(change.subject, STORE_SUBJECT_JOB);
    int64_t revision = 0;
    assert_ok(&w.f, store_revision_get(w.f.store, &w.f.scope, STORE_SUBJECT_JOB, w.job, &revision,
                                       &w.f.err));
    assert_int_equal(change.revision, revision);
    assert_int_equal(hear(listener, &change, 10), STORE_HEARD_NOTHING);
    store_world_terminate(&w);
    assert_int_equal(hear(listener, &change, TEST_PATIENCE_MS), STORE_HEARD_CONNECTED);
    test_sql(w.f.conninfo, "notify assay_changes, 'nonsense'");
    assert_ok(&w.f, store_job_hold(w.f.store, &w.f.scope, w.job, true, &w.f.err));
    assert_int_equal(hear(listener, &change, TEST_PATIENCE_MS), STORE_HEARD_CHANGE);
    assert_int_equal(change.revision, revision + 1);
    int fds[2];
    enum store_heard heard = STORE_HEARD_CHANGE;
    assert_int_equal(pipe(fds), 0);
    assert_int_equal(write(fds[1], "x", 1), 1);
    assert_ok(&w.f, store_listener_wait(listener, 60000, fds[0], &heard, &change, &w.f.err));
    assert_int_equal(heard, STORE_HEARD_NOTHING);
    (void)close(fds[0]);
    (void)close(fds[1]);
    store_listener_close(listener);
    store_world_close(&w);
}

static void events_tell_the_story_in_order(void **state)
{
    struct store_world w;
    struct store_claimed_trial t;
    char ended[16];
    int64_t before = 0;
    store_world_open(&w, *state, 0, 2);
    assert_ok(&w.f, store_events_latest(w.f.store, &w.f.scope, &before, &w.f.err));
    store_fixture_job(&w.f, w.dataset, 1, 1, w.job);
    store_fixture_claim(&w.f, w.worker, &t);
    struct store_ending ending = {
        .outcome = STORE_OUTCOME_FAILED, .error_class = "diverged", .error_text = "at step 7"};
    assert_ok(&w.f, store_attempt_end(w.f.store, &t.claim, &ending, ended, &w.f.err));
    static const char *const kinds[] = {"job_submitted", "trial_started", "trial_resumed_at",
                                        "trial_failed"};
    struct store_event_list list;
    assert_ok(&w.f, store_events_read(w.f.store, &w.f.scope, w.job, before, 100, &w.f.memory, &list,
                                      &w.f.err));
    assert_int_equal(list.n, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_string_equal(list.rows[i].kind, kinds[i]);
        assert_string_equal(list.rows[i].job_id, w.job);
        assert_true(i == 0 || list.rows[i].id > list.rows[i - 1].id);
        assert_true(i == 0 || list.rows[i].revision > list.rows[i - 1].revision);
    }
    assert_string_equal(list.rows[0].actor, "tester");
    assert_string_equal(list.rows[3].trial_id, t.claim.trial_id);
    assert_false(list.gap);
    int64_t second = list.rows[1].id;
    test_sql(w.f.conninfo, "delete from event where id < (select max(id) from event)");
    assert_ok(&w.f, store_events_read(w.f.store, &w.f.scope, NULL, second, 100, &w.f.memory, &list,
                                      &w.f.err));
    assert_true(list.gap);
    store_world_close(&w);
}

static void revisions_fill_a_map(void **state)
{
    struct store_world w;
    struct store_page page = {.limit = 2};
    size_t n = 0;
    store_world_open(&w, *state, 1, 2);
    store_fixture_job(&w.f, w.dataset, 1, 1, w.job);
    do {
        struct store_change_list list;
        assert_ok(&w.f, store_revisions_read(w.f.store, NULL, &page, &w.f.memory, &list, &w.f.err));
        for (size_t i = 0; i < list.n; i++, n++) {
            assert_int_equal(list.rows[i].subject,
                             n < 2 ? STORE_SUBJECT_JOB : STORE_SUBJECT_DATASET);
        }
        page.cursor = list.next;
    } while (page.cursor);
    assert_int_equal(n, 3);
    struct store_change_list list;
    assert_ok(&w.f, store_revisions_read(w.f.store, "2999-01-01T00:00:00Z", &page, &w.f.memory,
                                         &list, &w.f.err));
    assert_int_equal(list.n, 0);
    store_world_close(&w);
}

struct toucher {
    struct store_world *w;
    int n;
};

static void *touch_in_thread(void *arg)
{
    struct toucher *toucher = arg;
    struct store_fixture *f = &toucher->w->f;
    for (int i = 0; i < 20; i++) {
        struct store_job_patch patch = {.notes = "n", .archived = -1};
        toucher->n += store_job_patch(f->store, &f->scope, toucher->w->job, &patch, NULL) == SV_OK;
    }
    return NULL;
}

/* Many at once: no revision is lost, and whoever reads event ids in order misses none. */
static void event_ids_rise_in_order_of_commit(void **state)
{
    enum { THREADS = 4 };
    struct store_world w;
    struct toucher touchers[THREADS];
    pthread_t threads[THREADS];
    int64_t first = 0;
    int64_t last = 0;
    int64_t seen = 0;
    store_world_open(&w, *state, 1, 2);
    assert_ok(&w.f, store_revision_get(w.f.store, &w.f.scope, STORE_SUBJECT_JOB, w.job, &first,
                                       &w.f.err));
    assert_ok(&w.f, store_events_latest(w.f.store, &w.f.scope, &last, &w.f.err));
    for (int i = 0; i < THREADS; i++) {
        touchers[i] = (struct toucher){.w = &w};
        assert_int_equal(pthread_create(&threads[i], NULL, touch_in_thread, &touchers[i]), 0);
    }
    while (seen < 20L * THREADS) {
        struct store_event_list list;
        assert_ok(&w.f, store_events_read(w.f.store, &w.f.scope, NULL, last, 500, &w.f.memory,
                                          &list, &w.f.err));
        seen += (int64_t)list.n;
        last = list.n > 0 ? list.rows[list.n - 1].id : last;
    }
    for (int i = 0; i < THREADS; i++) {
        (void)pthread_join(threads[i], NULL);
        assert_int_equal(touchers[i].n, 20);
    }
    int64_t revision = 0;
    assert_ok(&w.f, store_revision_get(w.f.store, &w.f.scope, STORE_SUBJECT_JOB, w.job, &revision,
                                       &w.f.err));
    assert_int_equal(revision, first + 20L * THREADS);
    assert_int_equal(seen, 20L * THREADS);
    store_world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(b09_a_listener_comes_back),
        cmocka_unit_test(events_tell_the_story_in_order),
        cmocka_unit_test(revisions_fill_a_map),
        cmocka_unit_test(event_ids_rise_in_order_of_commit),
    };
    return cmocka_run_group_tests(tests, test_postgres_setup, test_postgres_teardown);
}
