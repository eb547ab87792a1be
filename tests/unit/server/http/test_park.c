/* SPDX-License-Identifier: MIT
 *
 * Long polls and event streams: woken, late, drained, gone, too many; no wake is lost and no thread
 * is held.
 */
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/cmocka_all.h"
#include "tests/support/http_client.h"

/* What the handlers wait for: a number, and the tickets of those who wait. */
#define TICKETS_MAX 4096
static struct {
    pthread_mutex_t mutex;
    int value;
    struct http_ticket tickets[TICKETS_MAX];
    size_t count;
} source = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static void source_add(struct http_ticket ticket)
{
    (void)pthread_mutex_lock(&source.mutex);
    assert_true(source.count < TICKETS_MAX);
    source.tickets[source.count++] = ticket;
    (void)pthread_mutex_unlock(&source.mutex);
}

static int source_value(void)
{
    (void)pthread_mutex_lock(&source.mutex);
    int value = source.value;
    (void)pthread_mutex_unlock(&source.mutex);
    return value;
}

static void source_set(int value)
{
    static struct http_ticket tickets[TICKETS_MAX];
    (void)pthread_mutex_lock(&source.mutex);
    size_t count = source.count;
    memcpy(tickets, source.tickets, count * sizeof *tickets);
    source.count = 0;
    source.value = value;
    (void)pthread_mutex_unlock(&source.mutex);
    for (size_t i = 0; i < count; i++) {
        http_wake(tickets[i]);
        http_wake(tickets[i]); /* the second is stale or harmless */
    }
}

struct question {
    int64_t above;
    int64_t wait;
};
static const struct http_param PARAMS[] = {
    {"above", HTTP_PARAM_INT, offsetof(struct question, above), -1, 1000000, NULL},
    HTTP_PARAM_ROW_WAIT(struct question, wait),
};

static const char *const WAKES[] = {"first", "changed", "deadline", "drain"};

/* Waits until the value is above. */
static enum sv_status get_value(void *state, const struct http_request *req,
                                struct http_response *resp, struct sv_error *err)
{
    struct question q = {-1, 0};
    struct http_ticket ticket;
    (void)state;
    enum sv_status status = http_query_decode(req, PARAMS, 2, &q, err);
    if (status != SV_OK) {
        return status;
    }
    int value = source_value();
    bool waits = value <= q.above && q.wait && req->wake != HTTP_WAKE_DEADLINE &&
                 req->wake != HTTP_WAKE_DRAIN;
    if (!waits) {
        return http_response_json_take(
            resp, 200, json_pack("{s:i, s:s}", "value", value, "wake", WAKES[req->wake]));
    }
    status = http_park(req, resp, q.wait, &ticket, err);
    if (status != SV_OK) {
        return status;
    }
    source_add(ticket);
    if (source_value() > q.above) { /* changed in between: woken before the return */
        http_wake(ticket);
    }
    return SV_OK;
}

/* Parks and fails: the park must be undone. */
static enum sv_status get_failing(void *state, const struct http_request *req,
                                  struct http_response *resp, struct sv_error *err)
{
    struct http_ticket ticket;
    (void)state;
    enum sv_status status = http_park(req, resp, 50, &ticket, err);
    source_add(ticket);
    return status ? status : sv_fail(err, SV_ERR_CONFLICT, "%s", "");
}

static atomic_int streams;

struct cursor {
    int sent;
};

static enum sv_status events_fill(void *ctx, void *state, struct http_ticket ticket,
                                  struct http_events *out, struct sv_error *err)
{
    struct cursor *cursor = ctx;
    char id[16];
    (void)state;
    source_add(ticket);
    int value = source_value();
    if (value < 0) {
        return sv_fail(err, SV_ERR_DATABASE, "lost");
    }
    for (int n = 0; cursor->sent < value && n < 100; n++) {
        cursor->sent++;
        (void)snprintf(id, sizeof id, "%d", cursor->sent);
        enum sv_status status = http_events_send(out, id, "count", "{\"n\": 1}");
        if (status != SV_OK) {
            return status;
        }
    }
    return SV_OK;
}

static void events_done(void *ctx)
{
    atomic_fetch_sub(&streams, 1);
    free(ctx);
}

static enum sv_status get_events(void *state, const struct http_request *req,
                                 struct http_response *resp, struct sv_error *err)
{
    const char *last = http_header(req, "Last-Event-ID");
    (void)state;
    struct cursor *cursor = malloc(sizeof *cursor);
    cursor->sent = last ? atoi(last) : 0;
    atomic_fetch_add(&streams, 1);
    return http_response_events_take(req, resp, events_fill, events_done, cursor, err);
}

static const struct http_route ROUTES[] = {
    {.method = "GET", .pattern = "/value", .handler = get_value},
    {.method = "GET", .pattern = "/failing", .handler = get_failing},
    {.method = "GET", .pattern = "/events", .handler = get_events, .produces = "text/event-stream"},
};

static int setup(void **state)
{
    static struct test_http t;
    const char *flags[] = {"--request-threads=2", "--max-parked=40", NULL};
    source.value = 0;
    source.count = 0;
    test_http_start(&t, ROUTES, sizeof ROUTES / sizeof ROUTES[0], flags, NULL);
    *state = &t;
    return 0;
}

static int teardown(void **state)
{
    test_http_stop(*state, 1000);
    assert_int_equal(atomic_load(&streams), 0);
    return 0;
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
    struct http_stats stats;
    int64_t until = test_patience();
    do {
        http_server_stats(t->server, &stats);
        if (stats.parked == n) {
            return;
        }
    } while (test_patience_lasts(until));
    fail_msg("%zu parked instead of %zu", (size_t)stats.parked, n);
}

static void expect_answer(int fd, const char *wake)
{
    char have[32];
    struct test_reply reply = test_receive(fd, TEST_PATIENCE_MS, false);
    assert_int_equal(reply.status, 200);
    test_reply_member(&reply, "wake", have, sizeof have);
    assert_string_equal(have, wake);
    test_reply_free(&reply);
    (void)close(fd);
}

/* Many more waits than request threads; all are answered by one change. */
static void test_woken(void **state)
{
    const struct test_http *t = *state;
    int fds[30];
    for (size_t i = 0; i < 30; i++) {
        fds[i] = ask(t, "/value?above=0&wait=50");
    }
    await_parked(t, 30);
    struct test_reply reply = test_ask(t, "GET", "/value", NULL, NULL); /* threads are free */
    assert_int_equal(reply.status, 200);
    test_reply_free(&reply);
    source_set(1);
    for (size_t i = 0; i < 30; i++) {
        expect_answer(fds[i], "changed");
    }
    await_parked(t, 0);
}

/* The deadline comes while wakes that change nothing go on: they do not move it. */
static void test_deadline(void **state)
{
    const struct test_http *t = *state;
    int64_t start = sv_clock_monotonic_ms();
    int fd = ask(t, "/value?above=0&wait=1");
    struct pollfd answer = {.fd = fd, .events = POLLIN};
    for (int64_t until = test_patience(); sv_clock_monotonic_ms() < until;) {
        if (poll(&answer, 1, 30) != 0) {
            break;
        }
        source_set(0);
    }
    expect_answer(fd, "deadline");
    assert_true(sv_clock_monotonic_ms() - start >= 990);
}

static void test_failure_undoes_the_park(void **state)
{
    const struct test_http *t = *state;
    for (int i = 0; i < 60; i++) { /* more than there are slots */
        struct test_reply reply = test_ask(t, "GET", "/failing", NULL, NULL);
        assert_int_equal(reply.status, 409);
        test_reply_free(&reply);
    }
    source_set(0); /* stale tickets */
    await_parked(t, 0);
}

static void test_too_many(void **state)
{
    const struct test_http *t = *state;
    int fds[40];
    char retry[16];
    for (size_t i = 0; i < 40; i++) {
        fds[i] = ask(t, i % 2 ? "/value?above=0&wait=50" : "/events");
    }
    await_parked(t, 40);
    const char *paths[] = {"/value?above=0&wait=50", "/events"};
    for (size_t i = 0; i < 2; i++) {
        struct test_reply reply = test_ask(t, "GET", paths[i], NULL, NULL);
        assert_int_equal(reply.status, 429);
        test_reply_header(&reply, "Retry-After", retry, sizeof retry);
        assert_string_equal(retry, "1");
        test_reply_free(&reply);
    }
    for (size_t i = 0; i < 40; i++) {
        (void)close(fds[i]);
    }
    await_parked(t, 0); /* those who left are noticed */
}

/* Wakes race with handlers that are about to park: none may be lost. */
static void *waker(void *arg)
{
    (void)arg;
    for (int i = 1; i <= 400; i++) {
        source_set(i);
        if (i % 16 == 0) {
            sv_clock_sleep_ms(1);
        }
    }
    return NULL;
}

static void test_no_wake_is_lost(void **state)
{
    const struct test_http *t = *state;
    pthread_t thread;
    int fds[8];
    int seen[8] = {0};
    for (size_t i = 0; i < 8; i++) {
        fds[i] = test_connect(t);
    }
    assert_int_equal(pthread_create(&thread, NULL, waker, NULL), 0);
    for (int open = 8; open > 0;) {
        for (size_t i = 0; i < 8; i++) {
            char request[128];
            if (seen[i] == 400) {
                continue;
            }
            (void)snprintf(request, sizeof request,
                           "GET /value?above=%d&wait=50 HTTP/1.1\r\nHost: localhost\r\n\r\n",
                           seen[i]);
            test_send_text(fds[i], request);
        }
        for (size_t i = 0; i < 8; i++) {
            if (seen[i] == 400) {
                continue;
            }
            struct test_reply reply = test_receive(fds[i], TEST_PATIENCE_MS, false);
            const char *value = reply.body ? strstr(reply.body, "\"value\":") : NULL;
            if (!value) {
                fail_msg("no answer after %d: a wake was lost", seen[i]);
            }
            seen[i] = atoi(value + 8);
            open -= seen[i] == 400;
            test_reply_free(&reply);
        }
    }
    (void)pthread_join(thread, NULL);
    for (size_t i = 0; i < 8; i++) {
        (void)close(fds[i]);
    }
}

/* Reads until `text` has come. */
static bool stream_has(int fd, char *all, size_t size, size_t *inout_used, const char *text)
{
    int64_t until = test_patience();
    while (!strstr(all, text) && sv_clock_monotonic_ms() < until) {
        ssize_t n = read(fd, all + *inout_used, size - 1 - *inout_used);
        if (n <= 0) {
            return false;
        }
        *inout_used += (size_t)n;
        all[*inout_used] = '\0';
    }
    return strstr(all, text) != NULL;
}

static void test_events(void **state)
{
    const struct test_http *t = *state;
    static char all[100000];
    size_t used = 0;
    memset(all, 0, sizeof all);
    source_set(2);
    int fd = test_connect(t);
    test_send_text(fd, "GET /events HTTP/1.1\r\nHost: localhost\r\nLast-Event-ID: 1\r\n"
                       "Accept: text/event-stream\r\n\r\n");
    assert_true(
        stream_has(fd, all, sizeof all, &used, "id: 2\nevent: count\ndata: {\"n\": 1}\n\n"));
    assert_non_null(strstr(all, "Content-Type: text/event-stream"));
    assert_null(strstr(all, "id: 1\n"));
    source_set(350); /* several fills */
    assert_true(stream_has(fd, all, sizeof all, &used, "id: 350\n"));
    const char *at = all;
    for (int i = 2; i <= 350; i++) { /* each once, in order */
        char id[32];
        (void)snprintf(id, sizeof id, "id: %d\n", i);
        at = strstr(at, id);
        if (!at || strstr(at + 1, id)) {
            fail_msg("event %d is missing or doubled", i);
        }
    }
    source_set(-1); /* an error of the source ends the stream */
    assert_true(stream_has(fd, all, sizeof all, &used, "\r\n0\r\n\r\n"));
    (void)close(fd);
}

/* Everything that waits is answered when the server stops, and at once. */
static void test_drain(void **state)
{
    const struct test_http *t = *state;
    int fds[10];
    int64_t start = sv_clock_monotonic_ms();
    for (size_t i = 0; i < 10; i++) {
        fds[i] = ask(t, i % 2 ? "/value?above=0&wait=50" : "/events");
    }
    await_parked(t, 10);
    http_server_drain(t->server);
    for (size_t i = 0; i < 10; i++) {
        if (i % 2) {
            expect_answer(fds[i], "drain");
        } else {
            char all[1024] = "";
            size_t used = 0;
            assert_true(stream_has(fds[i], all, sizeof all, &used, "\r\n0\r\n\r\n"));
            (void)close(fds[i]);
        }
    }
    assert_true(sv_clock_monotonic_ms() - start < TEST_PATIENCE_MS); /* the waits are longer */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_woken, setup, teardown),
        cmocka_unit_test_setup_teardown(test_deadline, setup, teardown),
        cmocka_unit_test_setup_teardown(test_failure_undoes_the_park, setup, teardown),
        cmocka_unit_test_setup_teardown(test_too_many, setup, teardown),
        cmocka_unit_test_setup_teardown(test_no_wake_is_lost, setup, teardown),
        cmocka_unit_test_setup_teardown(test_events, setup, teardown),
        cmocka_unit_test_setup_teardown(test_drain, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
