/* SPDX-License-Identifier: MIT
 *
 * Bodies: sizes around every border, chunked and not, spooled and not, caps, early refusals.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "server/http/query.h"
#include "tests/support/cmocka_all.h"
#include "tests/support/uploads.h"

#define TYPE "Content-Type: application/octet-stream\r\n"
#define JSON "Content-Type: application/json\r\n"

static void expect_upload(const struct test_http *t, size_t n, size_t chunk)
{
    char head[256];
    char have[32];
    char want[32];
    unsigned char *bytes = uploads_bytes(n);
    int fd = test_connect(t);
    int used = snprintf(head, sizeof head, "PUT /file HTTP/1.1\r\nHost: localhost\r\n" TYPE);
    if (chunk) {
        (void)snprintf(head + used, sizeof head - (size_t)used,
                       "Transfer-Encoding: chunked\r\n\r\n");
        test_send_text(fd, head);
        uploads_send_chunks(fd, bytes, n, chunk);
    } else {
        (void)snprintf(head + used, sizeof head - (size_t)used, "Content-Length: %zu\r\n\r\n", n);
        test_send_text(fd, head);
        test_send(fd, bytes, n);
    }
    struct test_reply reply = test_receive(fd, TEST_PATIENCE_MS, false);
    if (reply.status != 200) {
        fail_msg("%zu bytes in chunks of %zu: %d %s", n, chunk, reply.status, reply.text);
    }
    (void)snprintf(want, sizeof want, "%016llx",
                   (unsigned long long)uploads_hash(HTTP_HASH_SEED, bytes, n));
    test_reply_member(&reply, "hash", have, sizeof have);
    if (strcmp(have, want) != 0) {
        fail_msg("%zu bytes in chunks of %zu: content differs", n, chunk);
    }
    test_reply_free(&reply);
    /* the connection is still in step */
    test_send_text(fd, "GET /nowhere HTTP/1.1\r\nHost: localhost\r\n\r\n");
    reply = test_receive(fd, TEST_PATIENCE_MS, false);
    assert_int_equal(reply.status, 404);
    test_reply_free(&reply);
    (void)close(fd);
    free(bytes);
}

/* B26: stored hash equals client hash for sizes around pool and chunk borders. */
static void test_B26_sizes_around_borders(void **state)
{
    (void)state;
    struct test_http t;
    uploads_start(&t);
    for (size_t n = 987; n <= 2000; n += 101) {
        expect_upload(&t, n, 0);
    }
    const size_t borders[] = {0, 1, 16384, 32768, 65536, 131072, 262144, 524288, 1 << 20};
    for (size_t i = 0; i < sizeof borders / sizeof borders[0]; i++) {
        for (int d = -1; d <= 1; d++) {
            size_t n = borders[i] + (size_t)d;
            if (n < SIZE_MAX / 2) {
                expect_upload(&t, n, 0);
                expect_upload(&t, n, 65536);
            }
        }
    }
    const size_t chunks[] = {1, 7, 4096, 15700, 262144, 300000};
    for (size_t i = 0; i < sizeof chunks / sizeof chunks[0]; i++) {
        expect_upload(&t, chunks[i] < 100 ? 2000 : 700001, chunks[i]);
    }
    test_http_stop(&t, 0);
}

static struct test_reply put(const struct test_http *t, const char *path, const char *headers,
                             const char *body)
{
    char all[512];
    (void)snprintf(all, sizeof all, TYPE "Authorization: Bearer secret\r\n%s", headers);
    return test_ask(t, "PUT", path, all, body);
}

static void expect_status(struct test_reply *reply, int status, const char *code)
{
    char have[64];
    test_reply_member(reply, "code", have, sizeof have);
    if (reply->status != status || strcmp(have, code) != 0) {
        fail_msg("%d %s instead of %d %s", reply->status, have, status, code);
    }
    test_reply_free(reply);
}

static void test_types(void **state)
{
    const struct test_http *t = *state;
    char type[64];
    struct test_reply reply =
        test_ask(t, "PUT", "/submitters",
                 "Authorization: Bearer secret\r\nContent-Type: application/zip\r\n", "abc");
    expect_status(&reply, 415, "unsupported_media_type");
    reply =
        test_ask(t, "PUT", "/file",
                 "Authorization: Bearer secret\r\nContent-Type: Application/ZIP; a=b\r\n", "abc");
    assert_int_equal(reply.status, 200);
    test_reply_member(&reply, "type", type, sizeof type);
    assert_string_equal(type, "application/zip");
    test_reply_free(&reply);
    reply = put(t, "/file", "Content-Encoding: gzip\r\n", "abc");
    expect_status(&reply, 415, "unsupported_media_type");
}

/* The cap holds whether the length is told or not, and a wrong body is not read for ever. */
static void test_caps(void **state)
{
    const struct test_http *t = *state;
    static char big[3000];
    memset(big, 'x', sizeof big - 1);
    struct test_reply reply = put(t, "/small", "", big);
    expect_status(&reply, 413, "too_large");
    big[1000] = '\0';
    reply = put(t, "/small", "", big);
    assert_int_equal(reply.status, 200);
    test_reply_free(&reply);

    const size_t sizes[] = {1000, 1001, 300000, 8 << 20, 80 << 20};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        unsigned char *bytes = uploads_bytes(sizes[i]);
        int fd = test_connect(t);
        test_send_text(fd, "PUT /small HTTP/1.1\r\nHost: localhost\r\n" TYPE
                           "Authorization: Bearer secret\r\nTransfer-Encoding: chunked\r\n\r\n");
        uploads_send_chunks(fd, bytes, sizes[i], 4096);
        reply = test_receive(fd, TEST_PATIENCE_MS, false);
        if (sizes[i] == 1000) {
            assert_int_equal(reply.status, 200);
        } else if (sizes[i] < (64 << 20)) {
            assert_int_equal(reply.status, 413);
            assert_false(test_is_closed(fd, 10)); /* read to its end: still in step */
        } else {
            assert_true(reply.closed && reply.status == 0); /* cut: it would not end */
        }
        test_reply_free(&reply);
        (void)close(fd);
        free(bytes);
    }
}

static void test_json_caps(void **state)
{
    const struct test_http *t = *state;
    const size_t megabyte = 1 << 20;
    for (size_t n = megabyte - 1; n <= megabyte + 1; n++) {
        for (int chunked = 0; chunked < 2; chunked++) {
            unsigned char *body = malloc(n);
            memset(body, ' ', n);
            body[0] = '[';
            body[n - 1] = ']';
            char head[256];
            (void)snprintf(
                head, sizeof head,
                "POST /json HTTP/1.1\r\nHost: localhost\r\n" JSON
                "Authorization: Bearer secret\r\n%s%zu\r\n\r\n",
                chunked ? "Transfer-Encoding: chunked\r\nX-Size: " : "Content-Length: ", n);
            int fd = test_connect(t);
            test_send_text(fd, head);
            if (chunked) {
                uploads_send_chunks(fd, body, n, 50000);
            } else {
                test_send(fd, body, n);
            }
            struct test_reply reply = test_receive(fd, TEST_PATIENCE_MS, false);
            if (reply.status != (n <= megabyte ? 200 : 413)) {
                fail_msg("%zu bytes, chunked %d: %d", n, chunked, reply.status);
            }
            test_reply_free(&reply);
            (void)close(fd);
            free(body);
        }
    }
}

static void test_json_depth_and_duplicates(void **state)
{
    const struct test_http *t = *state;
    static char deep[5000];
    const char *headers = JSON "Authorization: Bearer secret\r\n";
    memset(deep, '[', 2049);
    memset(deep + 2049, ']', 2049);
    struct test_reply reply = test_ask(t, "POST", "/json", headers, deep);
    expect_status(&reply, 400, "invalid_json");
    reply = test_ask(t, "POST", "/json", headers, "{\"a\": 1, \"\\u0061\": 2}");
    expect_status(&reply, 400, "invalid_json");
    reply = test_ask(t, "POST", "/json", headers, "{\"a\": \"\\u0000\"}");
    expect_status(&reply, 400, "invalid_json");
    reply = test_ask(t, "POST", "/json", headers, "{} x");
    expect_status(&reply, 400, "invalid_json");
    reply = test_ask(t, "POST", "/optional", "Authorization: Bearer secret\r\n", NULL);
    assert_int_equal(reply.status, 200);
    assert_non_null(strstr(reply.body, "\"json\":false"));
    test_reply_free(&reply);
}

/* A client that does not ask first may send a small body to its end, and gets its answer. */
static void test_small_refused_bodies_are_dropped(void **state)
{
    const struct test_http *t = *state;
    const struct {
        const char *path, *headers;
        size_t size;
        int status;
    } rows[] = {
        {"POST /json", JSON, (2 << 20) + 5, 413},
        {"PUT /refused", TYPE, 3 << 20, 409},
        {"PUT /nowhere", TYPE, 1 << 20, 404},
        {"PUT /file", JSON, 100, 415},
        {"PUT /admins", TYPE "Authorization: Bearer secret\r\n", 4 << 20, 403},
        {"PUT /file", TYPE, 20 << 20, 413},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char head[512];
        unsigned char *bytes = uploads_bytes(rows[i].size);
        int fd = test_connect(t);
        (void)snprintf(head, sizeof head,
                       "%s HTTP/1.1\r\nHost: localhost\r\n%sContent-Length: %zu\r\n\r\n",
                       rows[i].path, rows[i].headers, rows[i].size);
        test_send_text(fd, head);
        test_send(fd, bytes, rows[i].size);
        struct test_reply reply = test_receive(fd, TEST_PATIENCE_MS, false);
        if (reply.status != rows[i].status) {
            fail_msg("%s: %d", rows[i].path, reply.status);
        }
        test_reply_free(&reply);
        test_send_text(fd, "GET /nowhere HTTP/1.1\r\nHost: localhost\r\n\r\n");
        reply = test_receive(fd, TEST_PATIENCE_MS, false);
        assert_int_equal(reply.status, 404); /* still in step */
        test_reply_free(&reply);
        (void)close(fd);
        free(bytes);
    }
}

/* More than any disk has room for: said before the body comes. */
static void test_a_body_that_the_disk_has_no_room_for(void **state)
{
    const struct test_http *t = *state;
    int fd = test_connect(t);
    test_send_text(fd, "PUT /boundless HTTP/1.1\r\nHost: localhost\r\n" TYPE
                       "Content-Length: 1152921504606846976\r\n\r\n");
    struct test_reply reply = test_receive(fd, TEST_PATIENCE_MS, false);
    expect_status(&reply, 507, "insufficient_storage");
    assert_true(test_is_closed(fd, TEST_PATIENCE_MS));
    (void)close(fd);
}

/* The disk fills up in the middle of a body of unknown length (here: no file may grow further): the
 * rest is dropped and the answer comes. */
static void test_a_disk_that_fills_up(void **state)
{
    enum { LIMIT = (1 << 20) + 4711, SIZE = 96 << 20 }; /* > HTTP_SWALLOW_BYTES */
    const struct test_http *t = *state;
    struct rlimit before;
    unsigned char *bytes = uploads_bytes(SIZE);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    assert_true(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
    struct rlimit little = {.rlim_cur = LIMIT, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0);
    int fd = test_connect(t);
    test_send_text(fd, "PUT /boundless HTTP/1.1\r\nHost: localhost\r\n" TYPE
                       "Transfer-Encoding: chunked\r\n\r\n");
    uploads_send_chunks(fd, bytes, SIZE, 1 << 20);
    struct test_reply reply = test_receive(fd, TEST_PATIENCE_MS, false);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    expect_status(&reply, 507, "insufficient_storage");
    (void)close(fd);
    free(bytes);
}

/* Refused before the body is sent: no 100 Continue, and nothing has to be read. */
static void test_early_refusals(void **state)
{
    const struct test_http *t = *state;
    const struct {
        const char *request;
        int status;
        const char *code;
    } rows[] = {
        {"PUT /refused HTTP/1.1\r\n" TYPE "Authorization: Bearer secret\r\n", 409, "wrong_state"},
        {"PUT /submitters HTTP/1.1\r\n" TYPE, 401, "unauthenticated"},
        {"PUT /admins HTTP/1.1\r\n" TYPE "Authorization: Bearer secret\r\n", 403, "forbidden"},
        {"POST /admin-json HTTP/1.1\r\n" JSON, 401, "unauthenticated"},
        {"PUT /nowhere HTTP/1.1\r\n" TYPE, 404, "not_found"},
        {"DELETE /file HTTP/1.1\r\n" TYPE, 405, "method_not_allowed"},
        {"PUT /file HTTP/1.1\r\nContent-Type: text/plain\r\n", 415, "unsupported_media_type"},
        {"PUT /small HTTP/1.1\r\n" TYPE, 413, "too_large"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char head[512];
        char code[64];
        int fd = test_connect(t);
        (void)snprintf(
            head, sizeof head,
            "%sHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 200000\r\n\r\n",
            rows[i].request);
        test_send_text(fd, head);
        struct test_reply reply = test_receive(fd, TEST_PATIENCE_MS, false);
        test_reply_member(&reply, "code", code, sizeof code);
        if (reply.status != rows[i].status || strcmp(code, rows[i].code) != 0 || reply.interim) {
            fail_msg("row %zu: %d %s, interim %d", i, reply.status, code, reply.interim);
        }
        assert_true(test_is_closed(fd, TEST_PATIENCE_MS));
        test_reply_free(&reply);
        (void)close(fd);
    }
}

static void test_continue(void **state)
{
    const struct test_http *t = *state;
    int fd = test_connect(t);
    test_send_text(fd, "PUT /submitters HTTP/1.1\r\nHost: localhost\r\n" TYPE
                       "Authorization: Bearer secret\r\n"
                       "Expect: 100-continue\r\nContent-Length: 3\r\n\r\n");
    char interim[64] = "";
    assert_true(read(fd, interim, sizeof interim - 1) > 0);
    assert_non_null(strstr(interim, "100 Continue"));
    test_send_text(fd, "abc");
    struct test_reply reply = test_receive(fd, TEST_PATIENCE_MS, false);
    assert_int_equal(reply.status, 200);
    test_reply_free(&reply);
    (void)close(fd);
}

/* The client leaves in the middle: nothing is leaked (the sanitizer looks) and the server lives. */
static void test_aborted_uploads(void **state)
{
    const struct test_http *t = *state;
    unsigned char *bytes = uploads_bytes(600000);
    for (size_t n = 0; n < 600000; n += 99991) {
        int fd = test_connect(t);
        test_send_text(fd, "PUT /file HTTP/1.1\r\nHost: localhost\r\n" TYPE
                           "Authorization: Bearer secret\r\nContent-Length: 700000\r\n\r\n");
        test_send(fd, bytes, n);
        (void)close(fd);
    }
    free(bytes);
    struct test_reply reply = put(t, "/file", "", "abc");
    assert_int_equal(reply.status, 200);
    test_reply_free(&reply);
}

static void test_basic_password_is_a_token(void **state)
{
    const struct test_http *t = *state;
    struct test_reply reply =
        test_ask(t, "PUT", "/submitters", TYPE "Authorization: Basic YXBpOnNlY3JldA==\r\n", "abc");
    assert_int_equal(reply.status, 200); /* api:secret */
    test_reply_free(&reply);
    const char *bad[] = {
        "Basic YXBpOnNlY3JldA=x", "Basic !!!!",    "Basic",  "Bearer",        "Bearer ",
        "Bearer secret x",        "Digest secret", "secret", "Basic c2VjcmV0"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char headers[128];
        (void)snprintf(headers, sizeof headers, TYPE "Authorization: %s\r\n", bad[i]);
        reply = test_ask(t, "PUT", "/submitters", headers, "abc");
        if (reply.status != (i == 0 ? 200 : 401)) { /* padding ends the text */
            fail_msg("%s: %d", bad[i], reply.status);
        }
        test_reply_free(&reply);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_B26_sizes_around_borders),
        cmocka_unit_test(test_types),
        cmocka_unit_test(test_caps),
        cmocka_unit_test(test_json_caps),
        cmocka_unit_test(test_json_depth_and_duplicates),
        cmocka_unit_test(test_small_refused_bodies_are_dropped),
        cmocka_unit_test(test_a_body_that_the_disk_has_no_room_for),
        cmocka_unit_test(test_a_disk_that_fills_up),
        cmocka_unit_test(test_early_refusals),
        cmocka_unit_test(test_continue),
        cmocka_unit_test(test_aborted_uploads),
        cmocka_unit_test(test_basic_password_is_a_token),
    };
    return cmocka_run_group_tests(tests, uploads_setup, uploads_teardown);
}
