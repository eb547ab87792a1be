/* SPDX-License-Identifier: MIT
 *
 * Revisions, waits and answers over a source that the test drives: notifications, losses, races.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/cmocka_all.h"
#include "tests/support/polls.h"

static bool await_revision(const char *id, int64_t wanted)
{
    int64_t revision = -1;
    int64_t until = test_patience();
    do {
        if (changes_revision(polls.changes, POLLS_PROJECT, id, &revision) && revision == wanted) {
            return true;
        }
    } while (test_patience_lasts(until));
    return false;
}

/* What a query of now finds: an object of the job at a revision. */
static void learn(const char *id, int64_t revision)
{
    changes_learn(polls.changes, changes_mark(polls.changes), POLLS_PROJECT, id, POLLS_JOB,
                  revision);
}

static void test_revisions(void **state)
{
    int64_t revision = -1;
    (void)state;
    assert_false(changes_revision(polls.changes, POLLS_PROJECT, POLLS_JOB, &revision));
    learn(POLLS_TRIAL, 3);
    assert_true(changes_revision(polls.changes, POLLS_PROJECT, POLLS_JOB, &revision));
    assert_int_equal(revision, 3);
    assert_false(changes_revision(polls.changes, POLLS_FOREIGN, POLLS_JOB, &revision));
    assert_false(changes_revision(polls.changes, POLLS_FOREIGN, POLLS_TRIAL, &revision));
    polls_push(POLLS_JOB, 4);
    assert_true(await_revision(POLLS_TRIAL, 4));
    learn(POLLS_JOB, 2); /* an old snapshot */
    assert_true(await_revision(POLLS_JOB, 4));
    polls_push(POLLS_OTHER, 9); /* not learnt, but told */
    assert_true(await_revision(POLLS_OTHER, 9));
}

/* What was asked before a loss is not learnt after it. */
static void test_loss(void **state)
{
    int64_t revision = -1;
    uint64_t before = 0;
    uint64_t after = 0;
    (void)state;
    polls_push(POLLS_JOB, 4);
    assert_true(await_revision(POLLS_JOB, 4));
    assert_true(changes_generation(polls.changes, &before));
    struct changes_mark mark = changes_mark(polls.changes);
    polls_set_away(true);
    assert_true(polls_await_listening(false));
    assert_false(changes_revision(polls.changes, POLLS_PROJECT, POLLS_JOB, &revision));
    assert_false(changes_generation(polls.changes, &after));
    learn(POLLS_JOB, 4);
    assert_false(changes_revision(polls.changes, POLLS_PROJECT, POLLS_JOB, &revision));
    polls_set_away(false);
    assert_true(polls_await_listening(true));
    assert_false(changes_revision(polls.changes, POLLS_PROJECT, POLLS_JOB, &revision));
    changes_learn(polls.changes, mark, POLLS_PROJECT, POLLS_JOB, POLLS_JOB, 4);
    assert_false(changes_revision(polls.changes, POLLS_PROJECT, POLLS_JOB, &revision));
    assert_true(changes_generation(polls.changes, &after));
    assert_true(after > before);
    learn(POLLS_JOB, 6);
    assert_true(await_revision(POLLS_JOB, 6));
}

/* What was kept before a write is not given out after it, nor what was asked before it. */
static void test_a_write_is_seen_by_the_next_question(void **state)
{
    int64_t revision = -1;
    uint64_t before = 0;
    uint64_t after = 0;
    (void)state;
    learn(POLLS_JOB, 3);
    assert_true(changes_generation(polls.changes, &before));
    struct changes_mark mark = changes_mark(polls.changes);
    changes_wrote(polls.changes);
    assert_false(changes_revision(polls.changes, POLLS_PROJECT, POLLS_JOB, &revision));
    assert_true(changes_generation(polls.changes, &after));
    assert_true(after != before);
    changes_learn(polls.changes, mark, POLLS_PROJECT, POLLS_JOB, POLLS_JOB, 3);
    assert_false(changes_revision(polls.changes, POLLS_PROJECT, POLLS_JOB, &revision));
    learn(POLLS_JOB, 4);
    assert_true(changes_revision(polls.changes, POLLS_PROJECT, POLLS_JOB, &revision));
    assert_int_equal(revision, 4);
    assert_true(changes_generation(polls.changes, &before));
    assert_true(after != before); /* lists from before this revision are stale */
}

/* An evicted entry may have held a newer revision: an older query must not bring it back. */
static void test_eviction(void **state)
{
    int64_t revision = -1;
    (void)state;
    struct changes_mark mark = changes_mark(polls.changes);
    polls_push(POLLS_JOB, 7);
    for (size_t i = 0; i < polls.map_entries; i++) {
        char id[40];
        (void)snprintf(id, sizeof id, "%032zx", i);
        polls_push(id, 1);
    }
    assert_true(await_revision("00000000000000000000000000000007", 1));
    assert_false(changes_revision(polls.changes, POLLS_PROJECT, POLLS_JOB, &revision));
    changes_learn(polls.changes, mark, POLLS_PROJECT, POLLS_JOB, POLLS_JOB, 6);
    assert_false(changes_revision(polls.changes, POLLS_PROJECT, POLLS_JOB, &revision));
    learn(POLLS_JOB, 7);
    assert_true(await_revision(POLLS_JOB, 7));
    for (size_t i = 0; i < 1000; i++) { /* what is used stays */
        char id[40];
        (void)snprintf(id, sizeof id, "%032zx", i);
        changes_learn(polls.changes, changes_mark(polls.changes), POLLS_PROJECT, id, id, 1);
        assert_true(changes_revision(polls.changes, POLLS_PROJECT, POLLS_JOB, &revision));
    }
}

static int64_t ask_revision(const struct test_http *t, const char *path)
{
    struct test_reply reply = test_ask(t, "GET", path, NULL, NULL);
    const char *at = reply.body ? strchr(reply.body, ':') : NULL;
    int64_t revision = at ? strtoll(at + 1, NULL, 10) : -1;
    assert_int_equal(reply.status, 200);
    test_reply_free(&reply);
    return revision;
}

/* Many polls of one revision are one query; each change is seen. */
static void test_polls_are_answered_from_the_map(void **state)
{
    const struct test_http *t = *state;
    for (int i = 0; i < 50; i++) {
        assert_int_equal(ask_revision(t, "/job"), 5);
    }
    assert_int_equal(atomic_load(&polls.queries), 1);
    atomic_store(&polls.current, 6);
    polls_push(POLLS_JOB, 6);
    assert_true(await_revision(POLLS_JOB, 6));
    assert_int_equal(ask_revision(t, "/job"), 6);
    polls_set_away(true);
    assert_true(polls_await_listening(false));
    assert_int_equal(ask_revision(t, "/job"), 6);
    assert_int_equal(atomic_load(&polls.queries), 2); /* asked anew: nothing is certain */
}

static int ask(const struct test_http *t, const char *path)
{
    char request[256];
    int fd = test_connect(t);
    (void)snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", path);
    test_send_text(fd, request);
    return fd;
}

static void await_parked(const struct test_http *t, size_t n)
{
    struct http_stats stats = {0};
    int64_t until = test_patience();
    do {
        http_server_stats(t->server, &stats);
        if (stats.parked == n) {
            return;
        }
    } while (test_patience_lasts(until));
    fail_msg("%zu parked instead of %zu", (size_t)stats.parked, n);
}

static void expect_body(int fd, const char *text)
{
    struct test_reply reply = test_receive(fd, TEST_PATIENCE_MS, false);
    if (reply.status != 200 || !strstr(reply.body, text)) {
        fail_msg("'%s' instead of '%s'", reply.text, text);
    }
    test_reply_free(&reply);
    (void)close(fd);
}

static void test_waits(void **state)
{
    const struct test_http *t = *state;
    assert_int_equal(ask_revision(t, "/job?id=" POLLS_TRIAL), 5); /* teaches the trial's job */
    int job = ask(t, "/job?seen=5&wait=50");
    int trial = ask(t, "/job?seen=5&wait=50&id=" POLLS_TRIAL);
    int later = ask(t, "/job?seen=6&wait=50");
    await_parked(t, 3);
    polls_push(POLLS_OTHER, 1);
    assert_true(await_revision(POLLS_OTHER, 1));
    await_parked(t, 3); /* not theirs */
    atomic_store(&polls.current, 6);
    polls_push(POLLS_JOB, 6);
    expect_body(job, "\"revision\":6");
    expect_body(trial, "\"revision\":6");
    await_parked(t, 1);
    atomic_store(&polls.current, 7);
    polls_push(POLLS_JOB, 7);
    expect_body(later, "\"revision\":7");
    expect_body(ask(t, "/job?seen=6&wait=50"), "\"revision\":7"); /* already above */
}

static void test_a_write_before_the_wait_wakes_it(void **state)
{
    struct test_http *t = *state;
    atomic_store(&polls.current, 5);
    atomic_store(&polls.write_before_wait, true);
    int fd = ask(t, "/job?seen=5&wait=50");
    expect_body(fd, "\"revision\":6");
}

/* A change that is notified while the connection is down is seen when it is back (B09). */
static void test_B09_waits_survive_a_loss(void **state)
{
    const struct test_http *t = *state;
    assert_int_equal(ask_revision(t, "/job"), 5);
    int fd = ask(t, "/job?seen=5&wait=50");
    await_parked(t, 1);
    polls_set_away(true);
    assert_true(polls_await_listening(false));
    atomic_store(&polls.current, 6);
    polls_push(POLLS_JOB, 6);
    polls_set_away(false); /* drops it */
    expect_body(fd, "\"revision\":6");
    /* parked while it is down */
    polls_set_away(true);
    assert_true(polls_await_listening(false));
    fd = ask(t, "/job?seen=6&wait=50");
    await_parked(t, 1);
    atomic_store(&polls.current, 7);
    polls_set_away(false);
    expect_body(fd, "\"revision\":7");
}

static void test_lists_and_streams(void **state)
{
    const struct test_http *t = *state;
    uint64_t generation = 0;
    char path[128];
    char all[4096] = "";
    size_t used = 0;
    assert_true(changes_generation(polls.changes, &generation));
    (void)snprintf(path, sizeof path, "/list?wait=50&generation=%llu",
                   (unsigned long long)generation);
    int list = ask(t, path);
    int events = ask(t, "/events");
    await_parked(t, 2);
    atomic_store(&polls.current, 8);
    polls_push(POLLS_OTHER, 1);
    expect_body(list, "\"generation\"");
    for (int i = 0; i < 100 && !strstr(all, "id: 8\n"); i++) {
        ssize_t n = read(events, all + used, sizeof all - 1 - used);
        assert_true(n > 0);
        used += (size_t)n;
        all[used] = '\0';
    }
    assert_non_null(strstr(all, "id: 5\n"));
    assert_non_null(strstr(all, "id: 8\n"));
    (void)close(events);
}

/* The memory of answers is bounded, and what is used is kept. */
static enum sv_status get_fill(const struct test_http *t, int n)
{
    char path[128];
    (void)snprintf(path, sizeof path, "/job?seen=%d", n);
    return ask_revision(t, path) == 5 ? SV_OK : SV_ERR_INTERNAL;
}

static void test_answers_are_bounded(void **state)
{
    const struct test_http *t = *state;
    polls_push(POLLS_JOB, 5);
    assert_true(await_revision(POLLS_JOB, 5));
    for (int i = 0; i < 2000; i++) { /* far more than fit */
        assert_int_equal(get_fill(t, i + 1000000), SV_OK);
    }
    assert_int_equal(ask_revision(t, "/job?seen=1"), 5);
    assert_int_equal(ask_revision(t, "/job?seen=1"), 5);
}

static atomic_bool hammering;

static void *hammer(void *arg)
{
    const struct test_http *t = arg;
    int fd = test_connect(t);
    while (atomic_load(&hammering)) {
        test_send_text(fd, "GET /job HTTP/1.1\r\nHost: localhost\r\n\r\n");
        struct test_reply reply = test_receive(fd, TEST_PATIENCE_MS, false);
        assert_int_equal(reply.status, 200);
        test_reply_free(&reply);
    }
    (void)close(fd);
    return NULL;
}

/* Polls, notifications and losses at once; in the end the newest revision is answered. */
static void test_hammer(void **state)
{
    struct test_http *t = *state;
    pthread_t threads[4];
    atomic_store(&hammering, true);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, hammer, t), 0);
    }
    for (int i = 0; i < 200; i++) {
        atomic_store(&polls.current, 10 + i);
        polls_push(POLLS_JOB, 10 + i);
        if (i % 40 == 39) {
            polls_set_away(true);
            sv_clock_sleep_ms(2);
            polls_set_away(false);
        }
        sv_clock_sleep_ms(1);
    }
    atomic_store(&hammering, false);
    for (size_t i = 0; i < 4; i++) {
        (void)pthread_join(threads[i], NULL);
    }
    assert_true(polls_await_listening(true));
    int fd = ask(t, "/job?seen=208&wait=5");
    expect_body(fd, "\"revision\":209");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_revisions, polls_setup, polls_teardown),
        cmocka_unit_test_setup_teardown(test_loss, polls_setup, polls_teardown),
        cmocka_unit_test_setup_teardown(test_a_write_is_seen_by_the_next_question,
                                        polls_setup_small, polls_teardown),
        cmocka_unit_test_setup_teardown(test_eviction, polls_setup_small, polls_teardown),
        cmocka_unit_test_setup_teardown(test_polls_are_answered_from_the_map, polls_setup,
                                        polls_teardown),
        cmocka_unit_test_setup_teardown(test_waits, polls_setup, polls_teardown),
        cmocka_unit_test_setup_teardown(test_a_write_before_the_wait_wakes_it, polls_setup,
                                        polls_teardown),
        cmocka_unit_test_setup_teardown(test_B09_waits_survive_a_loss, polls_setup, polls_teardown),
        cmocka_unit_test_setup_teardown(test_lists_and_streams, polls_setup, polls_teardown),
        cmocka_unit_test_setup_teardown(test_answers_are_bounded, polls_setup, polls_teardown),
        cmocka_unit_test_setup_teardown(test_hammer, polls_setup, polls_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
