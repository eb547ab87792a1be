/* SPDX-License-Identifier: MIT
 *
 * A full queue, slow clients, and stopping in the middle of everything.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/cmocka_all.h"
#include "tests/support/http_client.h"

/* A gate that handlers wait at. */
static struct {
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    bool open;
    int waiting;
} gate = {.mutex = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER};

static void gate_set(bool open)
{
    (void)pthread_mutex_lock(&gate.mutex);
    gate.open = open;
    (void)pthread_cond_broadcast(&gate.cond);
    (void)pthread_mutex_unlock(&gate.mutex);
}

static void gate_await(int waiting)
{
    int64_t until = test_patience();
    do {
        (void)pthread_mutex_lock(&gate.mutex);
        bool there = gate.waiting == waiting;
        (void)pthread_mutex_unlock(&gate.mutex);
        if (there) {
            return;
        }
    } while (test_patience_lasts(until));
    fail_msg("not %d handlers at the gate", waiting);
}

static enum sv_status get_gate(void *state, const struct http_request *req,
                               struct http_response *resp, struct sv_error *err)
{
    (void)state;
    (void)req;
    (void)err;
    (void)pthread_mutex_lock(&gate.mutex);
    gate.waiting++;
    while (!gate.open) {
        (void)pthread_cond_wait(&gate.cond, &gate.mutex);
    }
    gate.waiting--;
    (void)pthread_mutex_unlock(&gate.mutex);
    return http_response_json_take(resp, 200, json_object());
}

static enum sv_status get_quick(void *state, const struct http_request *req,
                                struct http_response *resp, struct sv_error *err)
{
    (void)state;
    (void)err;
    bool draining = http_server_is_draining(http_request_server(req));
    return http_response_json_take(resp, 200, json_pack("{s:b}", "draining", draining));
}

static enum sv_status get_park(void *state, const struct http_request *req,
                               struct http_response *resp, struct sv_error *err)
{
    struct http_ticket ticket;
    (void)state;
    return req->wake == HTTP_WAKE_FIRST ? http_park(req, resp, 50, &ticket, err)
                                        : http_response_json_take(resp, 200, json_object());
}

/* Parks again whatever happens: the stop must come to an end all the same. */
static enum sv_status get_stubborn(void *state, const struct http_request *req,
                                   struct http_response *resp, struct sv_error *err)
{
    struct http_ticket ticket;
    (void)state;
    return http_park(req, resp, 50, &ticket, err);
}

static enum sv_status fill_never(void *ctx, void *state, struct http_ticket ticket,
                                 struct http_events *out, struct sv_error *err)
{
    (void)ctx;
    (void)state;
    (void)ticket;
    (void)out;
    (void)err;
    return SV_OK;
}

static enum sv_status get_events(void *state, const struct http_request *req,
                                 struct http_response *resp, struct sv_error *err)
{
    (void)state;
    return http_response_events_take(req, resp, fill_never, NULL, NULL, err);
}

static const struct http_route ROUTES[] = {
    {.method = "GET", .pattern = "/gate", .handler = get_gate},
    {.method = "GET", .pattern = "/quick", .handler = get_quick},
    {.method = "GET", .pattern = "/viewers", .handler = get_quick, .role = HTTP_ROLE_VIEWER},
    {.method = "GET", .pattern = "/park", .handler = get_park},
    {.method = "GET", .pattern = "/stubborn", .handler = get_stubborn},
    {.method = "GET", .pattern = "/events", .handler = get_events, .produces = "text/event-stream"},
    {.method = "POST", .pattern = "/json", .handler = get_quick, .body = HTTP_BODY_JSON},
    {.method = "PUT", .pattern = "/file", .handler = get_quick, .body = HTTP_BODY_SPOOL},
};

#define ROUTE_COUNT (sizeof ROUTES / sizeof ROUTES[0])
#define H           "Host: localhost\r\n"

static int ask(const struct test_http *t, const char *text)
{
    int fd = test_connect(t);
    test_send_text(fd, text);
    return fd;
}

static void expect_status(int fd, int status)
{
    struct test_reply reply = test_receive(fd, TEST_PATIENCE_MS, false);
    assert_int_equal(reply.status, status);
    test_reply_free(&reply);
}

/* Threads busy, queue full: 503 with Retry-After while nobody leaves the gate, so I/O goes on. */
static void test_full_queue(void **state)
{
    (void)state;
    struct test_http t;
    int fds[5];
    char header[32];
    const char *flags[] = {"--request-threads=2", "--request-queue=3", NULL};
    test_http_start(&t, ROUTES, ROUTE_COUNT, flags, NULL);
    gate_set(false);
    for (size_t i = 0; i < 2; i++) {
        fds[i] = ask(&t, "GET /gate HTTP/1.1\r\n" H "\r\n");
    }
    gate_await(2);
    for (size_t i = 2; i < 5; i++) {
        fds[i] = ask(&t, "GET /quick HTTP/1.1\r\n" H "\r\n");
    }
    struct http_stats stats;
    do {
        http_server_stats(t.server, &stats);
    } while (stats.queued < 3);
    for (int i = 0; i < 3; i++) {
        struct test_reply reply = test_ask(&t, "GET", "/quick", NULL, NULL);
        assert_int_equal(reply.status, 503);
        test_reply_header(&reply, "Retry-After", header, sizeof header);
        assert_string_equal(header, "1");
        test_reply_member(&reply, "code", header, sizeof header);
        assert_string_equal(header, "overloaded");
        test_reply_free(&reply);
    }
    gate_set(true);
    for (size_t i = 0; i < 5; i++) {
        expect_status(fds[i], 200);
        (void)close(fds[i]);
    }
    http_server_stats(t.server, &stats);
    assert_int_equal(stats.refused_queue, 3);
    assert_int_equal(stats.by_class[5], 3);
    test_http_stop(&t, 1000);
}

struct dripper {
    const char *name;
    const char *start; /* sent at once; then a byte now and then */
};

/* A client that sends a byte now and then keeps libmicrohttpd's own timeout away for ever. */
static void test_slow_clients_are_cut(void **state)
{
    (void)state;
    static const struct dripper rows[] = {
        {"request line", "G"},
        {"headers", "GET /quick HTTP/1.1\r\n" H "X-A: "},
        {"second request", "GET /quick HTTP/1.1\r\n" H "\r\nGET /quick HTTP/1.1\r\n" H "X-A: "},
        {"JSON body", "POST /json HTTP/1.1\r\n" H
                      "Content-Type: application/json\r\nContent-Length: 9999\r\n\r\n["},
        {"file", "PUT /file HTTP/1.1\r\n" H
                 "Content-Type: application/octet-stream\r\nContent-Length: 9999\r\n\r\n"},
        {"chunks", "PUT /file HTTP/1.1\r\n" H "Content-Type: application/octet-stream\r\n"
                   "Transfer-Encoding: chunked\r\n\r\nffff\r\n"},
    };
    enum { N = sizeof rows / sizeof rows[0] };
    struct test_http t;
    int fds[N];
    bool cut[N] = {false};
    size_t left = N;
    const char *flags[] = {"--header-seconds=1", "--idle-seconds=1", "--body-seconds=1", NULL};
    test_http_start(&t, ROUTES, ROUTE_COUNT, flags, NULL);
    for (size_t i = 0; i < N; i++) {
        fds[i] = ask(&t, rows[i].start);
    }
    int64_t until = test_patience();
    while (left && sv_clock_monotonic_ms() < until) {
        for (size_t i = 0; i < N; i++) {
            if (!cut[i]) {
                test_send_text(fds[i], " ");
                cut[i] = test_is_closed(fds[i], 20);
                left -= cut[i];
            }
        }
    }
    for (size_t i = 0; i < N; i++) {
        if (!cut[i]) {
            fail_msg("%s: still open", rows[i].name);
        }
        (void)close(fds[i]);
    }
    struct test_reply reply = test_ask(&t, "GET", "/quick", NULL, NULL);
    assert_int_equal(reply.status, 200);
    test_reply_free(&reply);
    test_http_stop(&t, 0);
}

/* Requests in every state when the server stops. */
static void test_stop_in_the_middle(void **state)
{
    (void)state;
    static const char *const requests[] = {
        "",
        "GET /qui",
        "GET /park HTTP/1.1\r\n" H "\r\n",
        "GET /events HTTP/1.1\r\n" H "\r\n",
        "GET /stubborn HTTP/1.1\r\n" H "\r\n",
        "POST /json HTTP/1.1\r\n" H "Content-Type: application/json\r\nContent-Length: 9\r\n\r\n[",
        "PUT /file HTTP/1.1\r\n" H
        "Content-Type: application/octet-stream\r\nContent-Length: 9\r\n\r\nx",
        "GET /gate HTTP/1.1\r\n" H "\r\n",
        "GET /quick HTTP/1.1\r\n" H "\r\n",
    };
    enum { N = sizeof requests / sizeof requests[0] };
    for (unsigned grace = 0; grace < 2; grace++) {
        struct test_http t;
        int fds[N];
        const char *flags[] = {"--request-threads=2", NULL};
        gate_set(true);
        test_http_start(&t, ROUTES, ROUTE_COUNT, flags, NULL);
        for (size_t i = 0; i < N; i++) {
            fds[i] = ask(&t, requests[i]);
        }
        sv_clock_sleep_ms(grace ? 100 : 3);
        int64_t start = sv_clock_monotonic_ms();
        test_http_stop(&t, grace * 200);
        assert_true(sv_clock_monotonic_ms() - start < TEST_PATIENCE_MS); /* waits are longer */
        for (size_t i = 0; i < N; i++) {
            assert_true(test_is_closed(fds[i], TEST_PATIENCE_MS));
            (void)close(fds[i]);
        }
    }
}

static void *stop_thread(void *arg)
{
    test_http_stop(arg, TEST_PATIENCE_MS);
    return NULL;
}

/* A request in its handler when the stop begins is answered; new ones are refused, but for those
 * that tell readiness. */
static void test_drain_finishes_requests(void **state)
{
    (void)state;
    struct test_http t;
    pthread_t thread;
    char text[32];
    const char *flags[] = {"--request-threads=2", NULL};
    test_http_start(&t, ROUTES, ROUTE_COUNT, flags, NULL);
    gate_set(false);
    int running = ask(&t, "GET /gate HTTP/1.1\r\n" H "\r\n");
    gate_await(1);
    int kept[2]; /* keep-alive connections from before */
    for (size_t i = 0; i < 2; i++) {
        kept[i] = ask(&t, "GET /quick HTTP/1.1\r\n" H "\r\n");
        expect_status(kept[i], 200);
    }
    assert_int_equal(pthread_create(&thread, NULL, stop_thread, &t), 0);
    while (!http_server_is_draining(t.server)) {
        sv_clock_sleep_ms(1);
    }
    test_send_text(kept[0], "GET /viewers HTTP/1.1\r\n" H "\r\n");
    struct test_reply reply = test_receive(kept[0], TEST_PATIENCE_MS, false);
    assert_int_equal(reply.status, 503);
    test_reply_member(&reply, "code", text, sizeof text);
    assert_string_equal(text, "draining");
    test_reply_header(&reply, "Connection", text, sizeof text);
    assert_string_equal(text, "close");
    test_reply_free(&reply);
    test_send_text(kept[1], "GET /quick HTTP/1.1\r\n" H "\r\n");
    reply = test_receive(kept[1], TEST_PATIENCE_MS, false);
    assert_int_equal(reply.status, 200);
    assert_non_null(strstr(reply.body, "true"));
    test_reply_free(&reply);
    gate_set(true);
    expect_status(running, 200);
    (void)pthread_join(thread, NULL);
    (void)close(running);
    (void)close(kept[0]);
    (void)close(kept[1]);
}

static void test_address_in_use(void **state)
{
    (void)state;
    struct test_http t;
    struct cfg config;
    char listen[64];
    char *argv[] = {listen, NULL};
    int argc = 1;
    struct sv_error err = {0};
    test_http_start(&t, ROUTES, ROUTE_COUNT, NULL, NULL);
    (void)snprintf(listen, sizeof listen, "--listen=127.0.0.1:%u", http_server_port(t.server));
    assert_int_equal(cfg_load(&argc, argv, NULL, &config, &err), SV_OK);
    struct http_settings settings = {
        .config = &config, .routes = ROUTES, .route_count = ROUTE_COUNT, .spool_dir = t.spool_dir};
    struct http_server *second = NULL;
    assert_int_equal(http_server_create(&settings, &second, &err), SV_ERR_CONFLICT);
    assert_null(second);
    const char *bad[] = {"nowhere",     "127.0.0.1",       "127.0.0.1:", ":80",
                         "127.0.0.1:x", "127.0.0.1:70000", "[::1:80"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        config.listen = bad[i];
        if (http_server_create(&settings, &second, &err) != SV_ERR_INVALID_PARAMETER) {
            fail_msg("listens on %s", bad[i]);
        }
    }
    cfg_deinit(&config);
    test_http_stop(&t, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_full_queue),         cmocka_unit_test(test_slow_clients_are_cut),
        cmocka_unit_test(test_stop_in_the_middle), cmocka_unit_test(test_drain_finishes_requests),
        cmocka_unit_test(test_address_in_use),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
