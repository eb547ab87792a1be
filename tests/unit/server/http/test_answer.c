/* SPDX-License-Identifier: MIT
 *
 * Answers of every kind, asked by GET and by HEAD; entity tags; problem documents; streamed bodies.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/answers.h"
#include "tests/support/cmocka_all.h"

static void expect_header(const struct test_reply *reply, const char *name, const char *value)
{
    char have[256];
    test_reply_header(reply, name, have, sizeof have);
    assert_string_equal(have, value);
}

/* B27: HEAD on every route, file and callback bodies too: no body, the connection stays usable. */
static void test_B27_head_everywhere(void **state)
{
    const struct test_http *t = *state;
    for (size_t i = 0; i < ANSWERS_ROUTE_COUNT; i++) {
        char request[256];
        char have[64];
        char want[64];
        if (strcmp(ANSWERS_ROUTES[i].method, "GET") != 0) {
            continue;
        }
        struct test_reply get = test_ask(t, "GET", ANSWERS_ROUTES[i].pattern, NULL, NULL);
        int fd = test_connect(t);
        (void)snprintf(request, sizeof request, "HEAD %s HTTP/1.1\r\nHost: localhost\r\n\r\n",
                       ANSWERS_ROUTES[i].pattern);
        test_send_text(fd, request);
        struct test_reply head = test_receive(fd, TEST_PATIENCE_MS, true);
        if (head.status != get.status) {
            fail_msg("HEAD %s: %d, GET %d", ANSWERS_ROUTES[i].pattern, head.status, get.status);
        }
        assert_int_equal(head.body_size, 0);
        test_reply_header(&get, "Content-Length", want, sizeof want);
        test_reply_header(&head, "Content-Length", have, sizeof have);
        assert_string_equal(have, want);
        test_reply_header(&get, "Content-Type", want, sizeof want);
        test_reply_header(&head, "Content-Type", have, sizeof have);
        assert_string_equal(have, want);
        if (strcmp(ANSWERS_ROUTES[i].pattern, "/unknown") ==
            0) { /* of unknown size: closed, nothing more */
            char byte;
            assert_int_equal(read(fd, &byte, 1), 0);
            (void)close(fd);
            fd = test_connect(t);
        }
        test_send_text(fd, "GET /json HTTP/1.1\r\nHost: localhost\r\n\r\n");
        struct test_reply next = test_receive(fd, TEST_PATIENCE_MS, false);
        if (next.status != 200) {
            fail_msg("HEAD %s: the connection is not usable afterwards", ANSWERS_ROUTES[i].pattern);
        }
        test_reply_free(&next);
        test_reply_free(&head);
        test_reply_free(&get);
        (void)close(fd);
    }
}

static void expect_pattern(struct test_reply *reply, size_t size)
{
    assert_int_equal(reply->status, 200);
    assert_int_equal(reply->body_size, size);
    for (size_t i = 0; i < size; i++) {
        if (reply->body[i] != answers_byte(i)) {
            fail_msg("byte %zu differs", i);
        }
    }
    test_reply_free(reply);
}

static void test_streams(void **state)
{
    const struct test_http *t = *state;
    struct test_reply reply = test_ask(t, "GET", "/file", NULL, NULL);
    expect_pattern(&reply, ANSWERS_FILE_SIZE);
    reply = test_ask(t, "GET", "/stream", NULL, NULL);
    expect_header(&reply, "Content-Length", "3000001");
    expect_pattern(&reply, ANSWERS_STREAM_SIZE);
    reply = test_ask(t, "GET", "/unknown", NULL, NULL);
    expect_header(&reply, "Transfer-Encoding", "chunked");
    expect_pattern(&reply, ANSWERS_STREAM_SIZE);
    const char *cut[] = {"/broken", "/short"};
    for (size_t i = 0; i < 2; i++) {
        reply = test_ask(t, "GET", cut[i], NULL, NULL);
        assert_true(reply.closed); /* the client sees that it is not whole */
        assert_true(reply.body_size < ANSWERS_STREAM_SIZE);
        test_reply_free(&reply);
    }
}

/* A reader that stops in the middle holds no request thread: there are only two. */
static void test_stalled_readers_hold_no_thread(void **state)
{
    const struct test_http *t = *state;
    int fds[6];
    char first[16];
    for (size_t i = 0; i < 6; i++) {
        fds[i] = test_connect(t);
        test_send_text(fds[i], "GET /unknown HTTP/1.1\r\nHost: localhost\r\n\r\n");
        assert_true(read(fds[i], first, sizeof first) > 0);
    }
    struct test_reply reply = test_ask(t, "GET", "/json", NULL, NULL);
    assert_int_equal(reply.status, 200);
    test_reply_free(&reply);
    for (size_t i = 0; i < 6; i++) {
        (void)close(fds[i]);
    }
}

static void test_entity_tags(void **state)
{
    const struct test_http *t = *state;
    char etag[64];
    char again[64];
    char headers[256];
    struct test_reply reply = test_ask(t, "GET", "/json?b=2&a=1", NULL, NULL);
    test_reply_header(&reply, "ETag", etag, sizeof etag);
    test_reply_free(&reply);
    reply = test_ask(t, "GET", "/json?a=1&wait=3&b=2", NULL, NULL); /* the same question */
    test_reply_header(&reply, "ETag", again, sizeof again);
    test_reply_free(&reply);
    assert_string_equal(etag, again);
    reply = test_ask(t, "GET", "/json?a=2&b=1", NULL, NULL); /* another */
    test_reply_header(&reply, "ETag", again, sizeof again);
    test_reply_free(&reply);
    assert_string_not_equal(etag, again);
    const char *before[] = {"", "W/", "\"x\", ", "\"x\" ,W/", "*, "};
    for (size_t i = 0; i < sizeof before / sizeof before[0]; i++) {
        char value[128];
        (void)snprintf(value, sizeof value, "%s%s", before[i], i == 4 ? "\"y\"" : etag);
        (void)snprintf(headers, sizeof headers, "If-None-Match: %s\r\n", value);
        reply = test_ask(t, "GET", "/json?a=1&b=2", headers, NULL);
        if (reply.status != 304) {
            fail_msg("%s: %d", headers, reply.status);
        }
        expect_header(&reply, "ETag", etag);
        test_reply_free(&reply);
    }
    reply = test_ask(t, "GET", "/json?a=1&b=2", "If-None-Match: \"r7\"\r\n", NULL);
    assert_int_equal(reply.status, 200);
    test_reply_free(&reply);
}

static void test_problem(void **state)
{
    const struct test_http *t = *state;
    struct test_reply reply = test_ask(t, "GET", "/error", "X-Request-Id: r1\r\n", NULL);
    assert_int_equal(reply.status, 422);
    expect_header(&reply, "Content-Type", "application/problem+json");
    expect_header(&reply, "ETag", "");
    json_t *problem = json_loadb(reply.body, reply.body_size, 0, NULL);
    assert_non_null(problem);
    const char *type;
    const char *title;
    const char *detail;
    const char *code;
    const char *pointer;
    const char *id;
    const char *layer;
    int status;
    assert_int_equal(json_unpack(problem, "{s:s, s:s, s:i, s:s, s:s, s:s, s:s, s:[{s:s}]}", "type",
                                 &type, "title", &title, "status", &status, "detail", &detail,
                                 "code", &code, "pointer", &pointer, "request_id", &id, "issues",
                                 "layer", &layer),
                     0);
    assert_int_equal(status, 422);
    assert_string_equal(code, "invalid_network");
    assert_string_equal(pointer, "/network/layers/0");
    assert_string_equal(id, "r1");
    assert_string_equal(detail, "bad \xef\xbf\xbd text");
    json_decref(problem);
    test_reply_free(&reply);

    reply = test_ask(t, "GET", "/busy", NULL, NULL);
    assert_int_equal(reply.status, 429);
    expect_header(&reply, "Retry-After", "17");
    test_reply_free(&reply);
    reply = test_ask(t, "GET", "/nothing", NULL, NULL); /* a bug of a handler */
    assert_int_equal(reply.status, 500);
    test_reply_free(&reply);
}

static void test_headers(void **state)
{
    const struct test_http *t = *state;
    struct test_reply reply = test_ask(t, "GET", "/static", NULL, NULL);
    expect_header(&reply, "Content-Disposition", "attachment; filename=\"so___e_.._x.csv\"");
    expect_header(&reply, "X-Content-Type-Options", "nosniff");
    test_reply_free(&reply);
    reply = test_ask(t, "POST", "/created", NULL, NULL);
    assert_int_equal(reply.status, 201);
    expect_header(&reply, "Location", "/v1/jobs/0123");
    test_reply_free(&reply);
}

static void expect_recall(const struct test_http *t, const char *path, const char *token,
                          const char *body, int handlers)
{
    char headers[128] = "";
    int before = answers_handled();
    if (token) {
        (void)snprintf(headers, sizeof headers, "Authorization: Bearer %s\r\n", token);
    }
    struct test_reply reply = test_ask(t, "GET", path, headers, NULL);
    assert_int_equal(reply.status, 200);
    assert_string_equal(reply.body, body);
    assert_int_equal(answers_handled() - before, handlers);
    expect_header(&reply, "ETag", handlers ? "" : "\"recalled\"");
    test_reply_free(&reply);
}

/* Answers from memory run no handler, and only for an actor who is known and may. */
static void test_recall(void **state)
{
    const struct test_http *t = *state;
    expect_recall(t, "/recalled?known=1", "kept", "[\"p1\"]", 0);
    expect_recall(t, "/recalled?known=1", "other", "[\"handled\"]", 1);
    expect_recall(t, "/recalled?known=1", NULL, "[\"handled\"]", 1);
    expect_recall(t, "/recalled", "kept", "[\"handled\"]", 1);
    expect_recall(t, "/recalled?half=1", "kept", "[\"handled\"]", 1);
    expect_recall(t, "/recalled/admin?known=1", "kept", "[\"handled\"]", 1);
    expect_recall(t, "/recalled/all?known=1", NULL, "[\"\"]", 0); /* nobody is asked who it is */
    expect_recall(t, "/recalled/all", NULL, "[\"handled\"]", 1);
    int fd = test_connect(t); /* and the connection stays open */
    for (int i = 0; i < 5; i++) {
        test_send_text(fd, "GET /recalled?known=1 HTTP/1.1\r\nHost: localhost\r\n"
                           "Authorization: Bearer kept\r\n\r\n");
        struct test_reply reply = test_receive(fd, TEST_PATIENCE_MS, false);
        assert_int_equal(reply.status, 200);
        test_reply_free(&reply);
    }
    (void)close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_B27_head_everywhere),
        cmocka_unit_test(test_streams),
        cmocka_unit_test(test_stalled_readers_hold_no_thread),
        cmocka_unit_test(test_entity_tags),
        cmocka_unit_test(test_problem),
        cmocka_unit_test(test_headers),
        cmocka_unit_test(test_recall),
    };
    return cmocka_run_group_tests(tests, answers_setup, answers_teardown);
}
