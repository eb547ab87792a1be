/* SPDX-License-Identifier: MIT
 *
 * Answers of every kind, asked by GET and by HEAD; entity tags; problem documents; streamed bodies.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/cmocka_all.h"
#include "tests/support/http_client.h"

#define STREAM_SIZE 3000001

static atomic_int opened; /* streams that await their done */

static enum sv_status get_json(void *state, const struct http_request *req,
                               struct http_response *resp, struct sv_error *err)
{
    (void)state;
    (void)err;
    char etag[HTTP_ETAG_SIZE];
    http_etag(req, 7, etag);
    if (http_if_none_match(req, etag)) {
        http_response_not_modified(resp, etag);
        return SV_OK;
    }
    http_response_etag(resp, etag);
    return http_response_json_take(resp, 200, json_pack("{s:i}", "a", 1));
}

static enum sv_status get_static(void *state, const struct http_request *req,
                                 struct http_response *resp, struct sv_error *err)
{
    (void)state;
    (void)req;
    (void)err;
    http_response_static(resp, 200, "text/plain", "hello", 5);
    http_response_filename(resp, "so\xc3\x9f\"e/../x.csv");
    return SV_OK;
}

static enum sv_status get_empty(void *state, const struct http_request *req,
                                struct http_response *resp, struct sv_error *err)
{
    (void)state;
    (void)req;
    (void)err;
    http_response_empty(resp, 204);
    return SV_OK;
}

static char pattern(uint64_t at)
{
    return (char)('a' + at % 23);
}

static enum sv_status get_file(void *state, const struct http_request *req,
                               struct http_response *resp, struct sv_error *err)
{
    (void)state;
    (void)err;
    int fd = http_spool_open(req);
    static _Thread_local char text[200000];
    for (size_t i = 0; i < sizeof text; i++) {
        text[i] = pattern(i);
    }
    if (write(fd, text, sizeof text) != (ssize_t)sizeof text) {
        return sv_fail(err, SV_ERR_INTERNAL, "no space");
    }
    http_response_fd_take(resp, "application/octet-stream", fd, sizeof text);
    return SV_OK;
}

struct source {
    uint64_t size;    /* bytes that it gives */
    uint64_t fail_at; /* 0: never */
};

static enum sv_status source_read(void *ctx, void *state, uint64_t offset, char *buffer,
                                  size_t size, size_t *out_count, struct sv_error *err)
{
    const struct source *s = ctx;
    (void)state;
    if (s->fail_at && offset >= s->fail_at) {
        return sv_fail(err, SV_ERR_DATABASE, "lost");
    }
    size_t n = s->size - offset < size ? (size_t)(s->size - offset) : size;
    n = n > 100000 ? 100000 - offset % 7 : n; /* not always as much as there is room */
    for (size_t i = 0; i < n; i++) {
        buffer[i] = pattern(offset + i);
    }
    *out_count = n;
    return SV_OK;
}

static void source_done(void *ctx)
{
    atomic_fetch_sub(&opened, 1);
    free(ctx);
}

static enum sv_status stream(struct http_response *resp, uint64_t size, uint64_t told,
                             uint64_t fail_at)
{
    struct source *s = malloc(sizeof *s);
    *s = (struct source){size, fail_at};
    atomic_fetch_add(&opened, 1);
    http_response_read_take(resp, "application/octet-stream", told, source_read, source_done, s);
    return SV_OK;
}

static enum sv_status get_stream(void *state, const struct http_request *req,
                                 struct http_response *resp, struct sv_error *err)
{
    (void)state;
    (void)req;
    (void)err;
    return stream(resp, STREAM_SIZE, STREAM_SIZE, 0);
}

static enum sv_status get_unknown(void *state, const struct http_request *req,
                                  struct http_response *resp, struct sv_error *err)
{
    (void)state;
    (void)req;
    (void)err;
    return stream(resp, STREAM_SIZE, UINT64_MAX, 0);
}

static enum sv_status get_broken(void *state, const struct http_request *req,
                                 struct http_response *resp, struct sv_error *err)
{
    (void)state;
    (void)req;
    (void)err;
    return stream(resp, STREAM_SIZE, STREAM_SIZE, 500000);
}

static enum sv_status get_short(void *state, const struct http_request *req,
                                struct http_response *resp, struct sv_error *err)
{
    (void)state;
    (void)req;
    (void)err;
    return stream(resp, 1000, 2000, 0);
}

/* An error after an answer was begun: the answer is dropped. */
static enum sv_status get_error(void *state, const struct http_request *req,
                                struct http_response *resp, struct sv_error *err)
{
    (void)state;
    (void)req;
    (void)stream(resp, 10, 10, 0);
    http_response_etag(resp, "\"dropped\"");
    http_response_extra_take(resp, "issues", json_pack("[{s:s}]", "layer", "conv1"));
    http_response_extra_take(resp, "code", json_string("not this one"));
    return sv_fail_at(err, SV_ERR_INVALID_NETWORK, "/network/layers/0", "bad \xff text");
}

static enum sv_status get_nothing(void *state, const struct http_request *req,
                                  struct http_response *resp, struct sv_error *err)
{
    (void)state;
    (void)req;
    (void)resp;
    (void)err;
    return SV_OK;
}

static enum sv_status get_busy(void *state, const struct http_request *req,
                               struct http_response *resp, struct sv_error *err)
{
    (void)state;
    (void)req;
    http_response_retry_after(resp, 17);
    return sv_fail(err, SV_ERR_TOO_MANY, "%s", "");
}

static enum sv_status post_created(void *state, const struct http_request *req,
                                   struct http_response *resp, struct sv_error *err)
{
    (void)state;
    (void)req;
    (void)err;
    http_response_location(resp, "/v1/jobs/%s", "0123");
    return http_response_json_take(resp, 201, json_object());
}

/* Memory that knows /recalled?known=1, and forgets in the middle for ?half=1. */
static bool recall(void *ctx, const struct http_request *req, struct http_response *resp)
{
    (void)ctx;
    if (http_query_value(req, "half")) {
        http_response_etag(resp, "\"forgotten\"");
        http_response_static(resp, 200, "application/json", "[1]", 3);
        return false;
    }
    if (!http_query_value(req, "known")) {
        return false;
    }
    char *text = http_request_printf(req, "[\"%s\"]", req->actor.project_id);
    http_response_etag(resp, "\"recalled\"");
    return http_response_copy(resp, 200, "application/json", text, strlen(text)) == SV_OK;
}

static atomic_int handled;

static enum sv_status get_recalled(void *state, const struct http_request *req,
                                   struct http_response *resp, struct sv_error *err)
{
    (void)state;
    (void)req;
    (void)err;
    atomic_fetch_add(&handled, 1);
    return http_response_json_take(resp, 200, json_pack("[s]", "handled"));
}

static bool recall_actor(void *ctx, const struct http_request *req, struct http_actor *out_actor)
{
    const char *token = http_bearer(req);
    (void)ctx;
    if (!token || strcmp(token, "kept") != 0) {
        return false;
    }
    *out_actor = (struct http_actor){.project_id = "p1", .role = HTTP_ROLE_VIEWER};
    return true;
}

static void use_memory(struct http_settings *settings)
{
    settings->recall_actor = recall_actor;
}

static const struct http_route ROUTES[] = {
    {.method = "GET", .pattern = "/json", .handler = get_json},
    {.method = "GET", .pattern = "/static", .handler = get_static, .produces = "text/plain"},
    {.method = "GET", .pattern = "/empty", .handler = get_empty},
    {.method = "GET",
     .pattern = "/file",
     .handler = get_file,
     .produces = "application/octet-stream"},
    {.method = "GET",
     .pattern = "/stream",
     .handler = get_stream,
     .produces = "application/octet-stream"},
    {.method = "GET",
     .pattern = "/unknown",
     .handler = get_unknown,
     .produces = "application/octet-stream"},
    {.method = "GET",
     .pattern = "/broken",
     .handler = get_broken,
     .produces = "application/octet-stream"},
    {.method = "GET",
     .pattern = "/short",
     .handler = get_short,
     .produces = "application/octet-stream"},
    {.method = "GET", .pattern = "/error", .handler = get_error},
    {.method = "GET", .pattern = "/nothing", .handler = get_nothing},
    {.method = "GET", .pattern = "/busy", .handler = get_busy},
    {.method = "POST", .pattern = "/created", .handler = post_created},
    {.method = "GET",
     .pattern = "/recalled",
     .handler = get_recalled,
     .recall = recall,
     .role = HTTP_ROLE_VIEWER},
    {.method = "GET",
     .pattern = "/recalled/admin",
     .handler = get_recalled,
     .recall = recall,
     .role = HTTP_ROLE_ADMIN},
    {.method = "GET",
     .pattern = "/recalled/all",
     .handler = get_recalled,
     .recall = recall,
     .role = HTTP_ROLE_PUBLIC},
};

static int setup(void **state)
{
    static struct test_http t;
    const char *flags[] = {"--request-threads=2", NULL};
    test_http_start(&t, ROUTES, sizeof ROUTES / sizeof ROUTES[0], flags, use_memory);
    *state = &t;
    return 0;
}

static int teardown(void **state)
{
    test_http_stop(*state, 0);
    assert_int_equal(atomic_load(&opened), 0);
    return 0;
}

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
    for (size_t i = 0; i < sizeof ROUTES / sizeof ROUTES[0]; i++) {
        char request[256];
        char have[64];
        char want[64];
        if (strcmp(ROUTES[i].method, "GET") != 0) {
            continue;
        }
        struct test_reply get = test_ask(t, "GET", ROUTES[i].pattern, NULL, NULL);
        int fd = test_connect(t);
        (void)snprintf(request, sizeof request, "HEAD %s HTTP/1.1\r\nHost: localhost\r\n\r\n",
                       ROUTES[i].pattern);
        test_send_text(fd, request);
        struct test_reply head = test_receive(fd, TEST_PATIENCE_MS, true);
        if (head.status != get.status) {
            fail_msg("HEAD %s: %d, GET %d", ROUTES[i].pattern, head.status, get.status);
        }
        assert_int_equal(head.body_size, 0);
        test_reply_header(&get, "Content-Length", want, sizeof want);
        test_reply_header(&head, "Content-Length", have, sizeof have);
        assert_string_equal(have, want);
        test_reply_header(&get, "Content-Type", want, sizeof want);
        test_reply_header(&head, "Content-Type", have, sizeof have);
        assert_string_equal(have, want);
        if (strcmp(ROUTES[i].pattern, "/unknown") ==
            0) { /* of unknown size: closed, nothing more */
            char byte;
            assert_int_equal(read(fd, &byte, 1), 0);
            (void)close(fd);
            fd = test_connect(t);
        }
        test_send_text(fd, "GET /json HTTP/1.1\r\nHost: localhost\r\n\r\n");
        struct test_reply next = test_receive(fd, TEST_PATIENCE_MS, false);
        if (next.status != 200) {
            fail_msg("HEAD %s: the connection is not usable afterwards", ROUTES[i].pattern);
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
        if (reply->body[i] != pattern(i)) {
            fail_msg("byte %zu differs", i);
        }
    }
    test_reply_free(reply);
}

static void test_streams(void **state)
{
    const struct test_http *t = *state;
    struct test_reply reply = test_ask(t, "GET", "/file", NULL, NULL);
    expect_pattern(&reply, 200000);
    reply = test_ask(t, "GET", "/stream", NULL, NULL);
    expect_header(&reply, "Content-Length", "3000001");
    expect_pattern(&reply, STREAM_SIZE);
    reply = test_ask(t, "GET", "/unknown", NULL, NULL);
    expect_header(&reply, "Transfer-Encoding", "chunked");
    expect_pattern(&reply, STREAM_SIZE);
    const char *cut[] = {"/broken", "/short"};
    for (size_t i = 0; i < 2; i++) {
        reply = test_ask(t, "GET", cut[i], NULL, NULL);
        assert_true(reply.closed); /* the client sees that it is not whole */
        assert_true(reply.body_size < STREAM_SIZE);
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
    int before = atomic_load(&handled);
    if (token) {
        (void)snprintf(headers, sizeof headers, "Authorization: Bearer %s\r\n", token);
    }
    struct test_reply reply = test_ask(t, "GET", path, headers, NULL);
    assert_int_equal(reply.status, 200);
    assert_string_equal(reply.body, body);
    assert_int_equal(atomic_load(&handled) - before, handlers);
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
    return cmocka_run_group_tests(tests, setup, teardown);
}
