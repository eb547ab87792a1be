/* SPDX-License-Identifier: MIT
 *
 * Revisions, waits and answers over a source that the test drives: notifications, losses, races.
 */
#include "server/changes/changes.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "server/http/query.h"
#include "tests/support/cmocka_all.h"
#include "tests/support/http_client.h"

#define JOB     "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define OTHER   "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define TRIAL   "cccccccccccccccccccccccccccccccc"
#define PROJECT "00000000000000000000000000000000"
#define FOREIGN "11111111111111111111111111111111"

/* ----------------------------------------------------------------------------- the source */

#define QUEUE_MAX 65536
static struct {
    pthread_mutex_t mutex;
    struct changes_notice queue[QUEUE_MAX];
    size_t head, tail;
    int fd; /* readable when something has been pushed */
    bool away, connected;
    size_t opened;
} db = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static void db_kick(void)
{
    uint64_t one = 1;
    assert_int_equal(write(db.fd, &one, sizeof one), sizeof one);
}

static void db_push(const char *id, int64_t revision)
{
    (void)pthread_mutex_lock(&db.mutex);
    struct changes_notice *notice = &db.queue[db.tail++ % QUEUE_MAX];
    (void)snprintf(notice->id, sizeof notice->id, "%s", id);
    (void)snprintf(notice->project_id, sizeof notice->project_id, "%s", PROJECT);
    notice->revision = revision;
    (void)pthread_mutex_unlock(&db.mutex);
    db_kick();
}

static void db_set_away(bool away)
{
    (void)pthread_mutex_lock(&db.mutex);
    db.away = away;
    db.connected = db.connected && !away;
    db.head = db.tail; /* what was on the way is lost */
    (void)pthread_mutex_unlock(&db.mutex);
    db_kick();
}

static enum sv_status db_step(enum changes_heard *out_heard, struct changes_notice *out_notice,
                              bool *out_found, struct sv_error *err)
{
    enum sv_status status = SV_OK;
    (void)pthread_mutex_lock(&db.mutex);
    *out_found = true;
    if (db.away) {
        status = sv_fail(err, SV_ERR_DATABASE, "away");
    } else if (!db.connected) {
        db.connected = true;
        db.opened++;
        *out_heard = CHANGES_HEARD_CONNECTED;
    } else if (db.head < db.tail) {
        *out_notice = db.queue[db.head++ % QUEUE_MAX];
        *out_heard = CHANGES_HEARD_NOTICE;
    } else {
        *out_found = false;
        *out_heard = CHANGES_HEARD_NOTHING;
    }
    (void)pthread_mutex_unlock(&db.mutex);
    return status;
}

static enum sv_status db_wait(void *ctx, int timeout_ms, int wake_fd, enum changes_heard *out_heard,
                              struct changes_notice *out_notice, struct sv_error *err)
{
    bool found = false;
    uint64_t drop;
    (void)ctx;
    enum sv_status status = db_step(out_heard, out_notice, &found, err);
    if (found) {
        return status;
    }
    struct pollfd fds[] = {{.fd = db.fd, .events = POLLIN}, {.fd = wake_fd, .events = POLLIN}};
    (void)poll(fds, 2, timeout_ms);
    (void)!read(db.fd, &drop, sizeof drop);
    return db_step(out_heard, out_notice, &found, err);
}

/* ----------------------------------------------------------------------------- the server */

static struct changes *changes;
static atomic_int queries;   /* what would have gone to the database */
static atomic_llong current; /* revision "in the database" */

struct question {
    int64_t seen, wait, generation;
    const char *id;
};
static const struct http_param PARAMS[] = {
    {"seen", HTTP_PARAM_INT, offsetof(struct question, seen), -1, INT64_MAX, NULL},
    {"generation", HTTP_PARAM_INT, offsetof(struct question, generation), 0, INT64_MAX, NULL},
    {"id", HTTP_PARAM_ID, offsetof(struct question, id), 0, 0, NULL},
    HTTP_PARAM_ROW_WAIT(struct question, wait),
};

/* The next poll that waits: another request's write and its notification come in between. */
static atomic_bool write_before_wait;

/* A poll as the README of the room describes it. */
static enum sv_status get_job(void *state, const struct http_request *req,
                              struct http_response *resp, struct sv_error *err)
{
    struct question q = {.seen = -1, .id = JOB};
    char etag[HTTP_ETAG_SIZE];
    char text[64];
    int64_t revision = 0;
    (void)state;
    enum sv_status status = http_query_decode(req, PARAMS, 4, &q, err);
    if (status != SV_OK) {
        return status;
    }
    struct changes_mark mark = changes_mark(changes);
    bool known = changes_revision(changes, req->actor.project_id, q.id, &revision);
    if (known && changes_answer_get(changes, req, revision, resp)) {
        return SV_OK;
    }
    if (!known) {
        atomic_fetch_add(&queries, 1);
        revision = atomic_load(&current);
        changes_learn(changes, mark, req->actor.project_id, q.id, JOB, revision);
    }
    if (revision <= q.seen && q.wait && req->wake != HTTP_WAKE_DEADLINE) {
        if (atomic_exchange(&write_before_wait, false)) {
            atomic_store(&current, q.seen + 1);
            changes_wrote(changes);
        }
        return changes_wait(changes, mark, q.id, q.seen, req, resp, q.wait, err);
    }
    int n = snprintf(text, sizeof text, "{\"revision\":%lld}", (long long)revision);
    http_etag(req, revision, etag);
    changes_answer_put(changes, req, revision, etag, "application/json", text, (size_t)n);
    http_response_etag(resp, etag);
    return http_response_copy(resp, 200, "application/json", text, (size_t)n);
}

static enum sv_status get_list(void *state, const struct http_request *req,
                               struct http_response *resp, struct sv_error *err)
{
    struct question q = {.generation = -1};
    uint64_t generation = 0;
    (void)state;
    enum sv_status status = http_query_decode(req, PARAMS, 4, &q, err);
    if (status != SV_OK) {
        return status;
    }
    bool known = changes_generation(changes, &generation);
    if (known && (int64_t)generation == q.generation && q.wait && req->wake != HTTP_WAKE_DEADLINE) {
        return changes_wait_any(changes, generation, req, resp, q.wait, err);
    }
    return http_response_json_take(resp, 200,
                                   json_pack("{s:I}", "generation", (json_int_t)generation));
}

static enum sv_status fill(void *ctx, void *state, struct http_ticket ticket,
                           struct http_events *out, struct sv_error *err)
{
    long long *sent = ctx;
    char id[32];
    (void)state;
    (void)err;
    changes_watch(changes, ticket);
    long long now = atomic_load(&current);
    if (now == *sent) {
        return SV_OK;
    }
    *sent = now;
    (void)snprintf(id, sizeof id, "%lld", now);
    return http_events_send(out, id, NULL, "{}");
}

static enum sv_status get_events(void *state, const struct http_request *req,
                                 struct http_response *resp, struct sv_error *err)
{
    (void)state;
    return http_response_events_take(req, resp, fill, free, calloc(1, sizeof(long long)), err);
}

static const struct http_route ROUTES[] = {
    {.method = "GET", .pattern = "/job", .handler = get_job},
    {.method = "GET", .pattern = "/list", .handler = get_list},
    {.method = "GET", .pattern = "/events", .handler = get_events, .produces = "text/event-stream"},
};

static size_t map_entries;

static bool await_listening(bool wanted)
{
    for (int64_t until = test_patience();
         changes_is_listening(changes) != wanted && test_patience_lasts(until);) {
    }
    return changes_is_listening(changes) == wanted;
}

static int setup_with(void **state, size_t entries)
{
    static struct test_http t;
    const char *flags[] = {"--request-threads=2", NULL};
    struct changes_settings settings = {
        .source = {NULL, db_wait}, .answer_bytes = 100000, .max_entries = entries, .retry_ms = 10};
    struct sv_error err = {0};
    db.head = db.tail = db.opened = 0;
    db.away = db.connected = false;
    db.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    map_entries = entries;
    atomic_store(&queries, 0);
    atomic_store(&current, 5);
    assert_int_equal(changes_create(&settings, &changes, &err), SV_OK);
    test_http_start(&t, ROUTES, sizeof ROUTES / sizeof ROUTES[0], flags, NULL);
    assert_true(await_listening(true));
    *state = &t;
    return 0;
}

static int setup(void **state)
{
    return setup_with(state, 0);
}

static int setup_small(void **state)
{
    return setup_with(state, 8);
}

static int teardown(void **state)
{
    struct test_http *t = *state;
    http_server_stop(t->server, 500); /* the order that app keeps */
    changes_destroy(changes);
    test_http_stop(t, 0);
    (void)close(db.fd);
    return 0;
}

/* ------------------------------------------------------------------------------- the tests */

static bool await_revision(const char *id, int64_t wanted)
{
    int64_t revision = -1;
    int64_t until = test_patience();
    do {
        if (changes_revision(changes, PROJECT, id, &revision) && revision == wanted) {
            return true;
        }
    } while (test_patience_lasts(until));
    return false;
}

static void test_revisions(void **state)
{
    int64_t revision = -1;
    (void)state;
    assert_false(changes_revision(changes, PROJECT, JOB, &revision));
    changes_learn(changes, changes_mark(changes), PROJECT, TRIAL, JOB, 3);
    assert_true(changes_revision(changes, PROJECT, JOB, &revision));
    assert_int_equal(revision, 3);
    assert_false(changes_revision(changes, FOREIGN, JOB, &revision));
    assert_false(changes_revision(changes, FOREIGN, TRIAL, &revision));
    db_push(JOB, 4);
    assert_true(await_revision(TRIAL, 4));
    changes_learn(changes, changes_mark(changes), PROJECT, JOB, JOB, 2); /* an old snapshot */
    assert_true(await_revision(JOB, 4));
    db_push(OTHER, 9); /* not learnt, but told */
    assert_true(await_revision(OTHER, 9));
}

/* What was asked before a loss is not learnt after it. */
static void test_loss(void **state)
{
    int64_t revision = -1;
    uint64_t before = 0;
    uint64_t after = 0;
    (void)state;
    db_push(JOB, 4);
    assert_true(await_revision(JOB, 4));
    assert_true(changes_generation(changes, &before));
    struct changes_mark mark = changes_mark(changes);
    db_set_away(true);
    assert_true(await_listening(false));
    assert_false(changes_revision(changes, PROJECT, JOB, &revision));
    assert_false(changes_generation(changes, &after));
    changes_learn(changes, changes_mark(changes), PROJECT, JOB, JOB, 4);
    assert_false(changes_revision(changes, PROJECT, JOB, &revision));
    db_set_away(false);
    assert_true(await_listening(true));
    assert_false(changes_revision(changes, PROJECT, JOB, &revision));
    changes_learn(changes, mark, PROJECT, JOB, JOB, 4);
    assert_false(changes_revision(changes, PROJECT, JOB, &revision));
    assert_true(changes_generation(changes, &after));
    assert_true(after > before);
    changes_learn(changes, changes_mark(changes), PROJECT, JOB, JOB, 6);
    assert_true(await_revision(JOB, 6));
}

/* What was kept before a write is not given out after it, nor what was asked before it. */
static void test_a_write_is_seen_by_the_next_question(void **state)
{
    int64_t revision = -1;
    uint64_t before = 0;
    uint64_t after = 0;
    (void)state;
    changes_learn(changes, changes_mark(changes), PROJECT, JOB, JOB, 3);
    assert_true(changes_generation(changes, &before));
    struct changes_mark mark = changes_mark(changes);
    changes_wrote(changes);
    assert_false(changes_revision(changes, PROJECT, JOB, &revision));
    assert_true(changes_generation(changes, &after));
    assert_true(after != before);
    changes_learn(changes, mark, PROJECT, JOB, JOB, 3);
    assert_false(changes_revision(changes, PROJECT, JOB, &revision));
    changes_learn(changes, changes_mark(changes), PROJECT, JOB, JOB, 4);
    assert_true(changes_revision(changes, PROJECT, JOB, &revision));
    assert_int_equal(revision, 4);
    assert_true(changes_generation(changes, &before));
    assert_true(after != before); /* lists from before this revision are stale */
}

/* An evicted entry may have held a newer revision: an older query must not bring it back. */
static void test_eviction(void **state)
{
    int64_t revision = -1;
    (void)state;
    struct changes_mark mark = changes_mark(changes);
    db_push(JOB, 7);
    for (size_t i = 0; i < map_entries; i++) {
        char id[40];
        (void)snprintf(id, sizeof id, "%032zx", i);
        db_push(id, 1);
    }
    assert_true(await_revision("00000000000000000000000000000007", 1));
    assert_false(changes_revision(changes, PROJECT, JOB, &revision));
    changes_learn(changes, mark, PROJECT, JOB, JOB, 6);
    assert_false(changes_revision(changes, PROJECT, JOB, &revision));
    changes_learn(changes, changes_mark(changes), PROJECT, JOB, JOB, 7);
    assert_true(await_revision(JOB, 7));
    for (size_t i = 0; i < 1000; i++) { /* what is used stays */
        char id[40];
        (void)snprintf(id, sizeof id, "%032zx", i);
        changes_learn(changes, changes_mark(changes), PROJECT, id, id, 1);
        assert_true(changes_revision(changes, PROJECT, JOB, &revision));
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
    assert_int_equal(atomic_load(&queries), 1);
    atomic_store(&current, 6);
    db_push(JOB, 6);
    assert_true(await_revision(JOB, 6));
    assert_int_equal(ask_revision(t, "/job"), 6);
    db_set_away(true);
    assert_true(await_listening(false));
    assert_int_equal(ask_revision(t, "/job"), 6);
    assert_int_equal(atomic_load(&queries), 2); /* asked anew: nothing is certain */
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
    assert_int_equal(ask_revision(t, "/job?id=" TRIAL), 5); /* teaches the trial's job */
    int job = ask(t, "/job?seen=5&wait=50");
    int trial = ask(t, "/job?seen=5&wait=50&id=" TRIAL);
    int later = ask(t, "/job?seen=6&wait=50");
    await_parked(t, 3);
    db_push(OTHER, 1);
    assert_true(await_revision(OTHER, 1));
    await_parked(t, 3); /* not theirs */
    atomic_store(&current, 6);
    db_push(JOB, 6);
    expect_body(job, "\"revision\":6");
    expect_body(trial, "\"revision\":6");
    await_parked(t, 1);
    atomic_store(&current, 7);
    db_push(JOB, 7);
    expect_body(later, "\"revision\":7");
    expect_body(ask(t, "/job?seen=6&wait=50"), "\"revision\":7"); /* already above */
}

static void test_a_write_before_the_wait_wakes_it(void **state)
{
    struct test_http *t = *state;
    atomic_store(&current, 5);
    atomic_store(&write_before_wait, true);
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
    db_set_away(true);
    assert_true(await_listening(false));
    atomic_store(&current, 6);
    db_push(JOB, 6);
    db_set_away(false); /* drops it */
    expect_body(fd, "\"revision\":6");
    /* parked while it is down */
    db_set_away(true);
    assert_true(await_listening(false));
    fd = ask(t, "/job?seen=6&wait=50");
    await_parked(t, 1);
    atomic_store(&current, 7);
    db_set_away(false);
    expect_body(fd, "\"revision\":7");
}

static void test_lists_and_streams(void **state)
{
    const struct test_http *t = *state;
    uint64_t generation = 0;
    char path[128];
    char all[4096] = "";
    size_t used = 0;
    assert_true(changes_generation(changes, &generation));
    (void)snprintf(path, sizeof path, "/list?wait=50&generation=%llu",
                   (unsigned long long)generation);
    int list = ask(t, path);
    int events = ask(t, "/events");
    await_parked(t, 2);
    atomic_store(&current, 8);
    db_push(OTHER, 1);
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
    db_push(JOB, 5);
    assert_true(await_revision(JOB, 5));
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
        atomic_store(&current, 10 + i);
        db_push(JOB, 10 + i);
        if (i % 40 == 39) {
            db_set_away(true);
            sv_clock_sleep_ms(2);
            db_set_away(false);
        }
        sv_clock_sleep_ms(1);
    }
    atomic_store(&hammering, false);
    for (size_t i = 0; i < 4; i++) {
        (void)pthread_join(threads[i], NULL);
    }
    assert_true(await_listening(true));
    int fd = ask(t, "/job?seen=208&wait=5");
    expect_body(fd, "\"revision\":209");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_revisions, setup, teardown),
        cmocka_unit_test_setup_teardown(test_loss, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_write_is_seen_by_the_next_question, setup_small,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_eviction, setup_small, teardown),
        cmocka_unit_test_setup_teardown(test_polls_are_answered_from_the_map, setup, teardown),
        cmocka_unit_test_setup_teardown(test_waits, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_write_before_the_wait_wakes_it, setup, teardown),
        cmocka_unit_test_setup_teardown(test_B09_waits_survive_a_loss, setup, teardown),
        cmocka_unit_test_setup_teardown(test_lists_and_streams, setup, teardown),
        cmocka_unit_test_setup_teardown(test_answers_are_bounded, setup, teardown),
        cmocka_unit_test_setup_teardown(test_hammer, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
