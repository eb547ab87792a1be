/* SPDX-License-Identifier: MIT
 *
 * Raw sockets, a small reader of replies, and a server for tests.
 */
#include "tests/support/http_client.h"

#include <arpa/inet.h>
#include <jansson.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "server/base/clock.h"
#include "tests/support/cmocka_all.h"

#define HEAD_MAX 65536

void test_http_start(struct test_http *t, const struct http_route *routes, size_t count,
                     const char *const *flags, test_http_hook hook)
{
    char text[16][64];
    char *argv[17] = {NULL};
    int argc = 0;
    struct sv_error err = {0};
    (void)snprintf(text[argc], sizeof text[0], "--listen=127.0.0.1:0");
    argv[argc] = text[argc];
    argc++;
    for (; flags && *flags; flags++, argc++) {
        (void)snprintf(text[argc], sizeof text[0], "%s", *flags);
        argv[argc] = text[argc];
    }
    assert_int_equal(cfg_load(&argc, argv, NULL, &t->config, &err), SV_OK);
    assert_int_equal(argc, 0);
    (void)snprintf(t->spool_dir, sizeof t->spool_dir, "/tmp/assay-test-XXXXXX");
    assert_non_null(mkdtemp(t->spool_dir));
    struct http_settings settings = {
        .config = &t->config, .routes = routes, .route_count = count, .spool_dir = t->spool_dir};
    memset(settings.default_project, '0', 32);
    if (hook) {
        hook(&settings);
    }
    if (http_server_create(&settings, &t->server, &err) != SV_OK) {
        fail_msg("server: %s", err.text);
    }
}

void test_http_stop(struct test_http *t, unsigned grace_ms)
{
    http_server_stop(t->server, grace_ms);
    http_server_destroy(t->server);
    cfg_deinit(&t->config);
    assert_int_equal(rmdir(t->spool_dir), 0); /* nothing was left behind */
}

int test_connect(const struct test_http *t)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons(http_server_port(t->server)),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    int yes = 1; /* what is sent in pieces shall arrive in pieces */
    assert_int_equal(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes), 0);
    return fd;
}

void test_send(int fd, const void *bytes, size_t size)
{
    const char *p = bytes;
    while (size) {
        ssize_t n = send(fd, p, size, MSG_NOSIGNAL);
        if (n <= 0) {
            return; /* refused early: the reply tells */
        }
        p += n;
        size -= (size_t)n;
    }
}

void test_send_text(int fd, const char *text)
{
    test_send(fd, text, strlen(text));
}

/* One read with a deadline: bytes, 0 at the end, -1 when the time is over. */
static ssize_t read_some(int fd, char *to, size_t size, int64_t until_ms)
{
    int64_t left = until_ms - sv_clock_monotonic_ms();
    struct pollfd p = {.fd = fd, .events = POLLIN};
    if (left <= 0 || poll(&p, 1, (int)left) <= 0) {
        return -1;
    }
    ssize_t n = recv(fd, to, size, 0);
    return n < 0 ? 0 : n; /* a reset is an end */
}

void test_reply_header(const struct test_reply *reply, const char *name, char *out, size_t size)
{
    size_t n = strlen(name);
    out[0] = '\0';
    for (const char *p = reply->text; p && p < reply->body;
         p = memmem(p, (size_t)(reply->body - p), "\r\n", 2)) {
        p += p == reply->text ? 0 : 2;
        if (strncasecmp(p, name, n) == 0 && p[n] == ':') {
            p += n + 1 + strspn(p + n + 1, " ");
            (void)snprintf(out, size, "%.*s", (int)strcspn(p, "\r\n"), p);
            return;
        }
    }
}

/* Joins the chunks at body in place; false while incomplete. */
static bool chunks_join(char *body, size_t *inout_size, bool joins)
{
    size_t to = 0;
    size_t at = 0;
    while (at < *inout_size) {
        size_t n = 0;
        size_t start = at;
        for (; start < *inout_size && body[start] != '\r'; start++) {
            n = n * 16 + (size_t)(body[start] <= '9' ? body[start] - '0' : (body[start] & 15) + 9);
        }
        start += 2;
        if (start + n + 2 > *inout_size) {
            return false;
        }
        if (n == 0) {
            *inout_size = joins ? to : *inout_size;
            return true;
        }
        if (joins) {
            memmove(body + to, body + start, n);
        }
        to += n;
        at = start + n + 2;
    }
    return false;
}

/* Is the reply in text complete? Sets body and status. */
static bool reply_complete(struct test_reply *r, bool is_head)
{
    char value[64];
    size_t head = r->size < HEAD_MAX ? r->size : HEAD_MAX; /* sanitizers look at all of a string */
    char *end = memmem(r->text, head, "\r\n\r\n", 4);
    if (!end) {
        return false;
    }
    r->status = (r->text[9] - '0') * 100 + (r->text[10] - '0') * 10 + (r->text[11] - '0');
    r->body = end + 4;
    r->body_size = r->size - (size_t)(r->body - r->text);
    if (r->status == 100) {
        r->interim++;
        r->size = r->body_size;
        memmove(r->text, r->body, r->size + 1);
        r->status = 0;
        return reply_complete(r, is_head);
    }
    if (is_head || r->status == 304 || r->status == 204) {
        return true;
    }
    test_reply_header(r, "Transfer-Encoding", value, sizeof value);
    if (strcmp(value, "chunked") == 0) {
        return chunks_join(end + 4, &r->body_size, false) &&
               chunks_join(end + 4, &r->body_size, true);
    }
    test_reply_header(r, "Content-Length", value, sizeof value);
    return value[0] && r->body_size >= strtoul(value, NULL, 10);
}

struct test_reply test_receive(int fd, int timeout_ms, bool is_head)
{
    int64_t until = sv_clock_monotonic_ms() + timeout_ms;
    struct test_reply r = {.text = calloc(1, 1)};
    char piece[65536];
    while (!reply_complete(&r, is_head)) {
        ssize_t n = read_some(fd, piece, sizeof piece, until);
        if (n <= 0) {
            r.closed = n == 0;
            break;
        }
        r.text = realloc(r.text, r.size + (size_t)n + 1);
        assert_non_null(r.text);
        memcpy(r.text + r.size, piece, (size_t)n);
        r.size += (size_t)n;
        r.text[r.size] = '\0';
    }
    return r;
}

void test_reply_free(struct test_reply *reply)
{
    free(reply->text);
    *reply = (struct test_reply){0};
}

void test_reply_member(const struct test_reply *reply, const char *name, char *out, size_t size)
{
    json_t *problem = reply->body ? json_loadb(reply->body, reply->body_size, 0, NULL) : NULL;
    const char *text = json_string_value(json_object_get(problem, name));
    (void)snprintf(out, size, "%s", text ? text : "");
    json_decref(problem);
}

bool test_is_closed(int fd, int timeout_ms)
{
    int64_t until = sv_clock_monotonic_ms() + timeout_ms;
    char piece[4096];
    ssize_t n = 0;
    while ((n = read_some(fd, piece, sizeof piece, until)) > 0) {
    }
    return n == 0;
}

struct test_reply test_ask(const struct test_http *t, const char *method, const char *path,
                           const char *headers, const char *body)
{
    char head[8192];
    char length[64] = "";
    int fd = test_connect(t);
    if (body) {
        (void)snprintf(length, sizeof length, "Content-Length: %zu\r\n", strlen(body));
    }
    (void)snprintf(head, sizeof head, "%s %s HTTP/1.1\r\nHost: localhost\r\n%s%s\r\n", method, path,
                   headers ? headers : "", length);
    test_send_text(fd, head);
    test_send_text(fd, body ? body : "");
    struct test_reply reply = test_receive(fd, TEST_PATIENCE_MS, strcmp(method, "HEAD") == 0);
    (void)close(fd);
    return reply;
}
