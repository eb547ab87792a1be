/* SPDX-License-Identifier: MIT
 *
 * A client of raw bytes for tests of the HTTP room, and a server on a free port with the routes of
 * the test.
 */
#ifndef TESTS_SUPPORT_HTTP_CLIENT_H
#define TESTS_SUPPORT_HTTP_CLIENT_H

#include <stdbool.h>
#include <stddef.h>

#include "server/config/config.h"
#include "server/http/http.h"
#include "tests/support/patience.h"

/* A server in this process. */
struct test_http {
    struct cfg config;
    struct http_server *server;
    char spool_dir[64];
};

/* flags: NULL-terminated, e.g. "--request-queue=1"; may be NULL. hook may be NULL. */
typedef void (*test_http_hook)(struct http_settings *settings);
void test_http_start(struct test_http *t, const struct http_route *routes, size_t count,
                     const char *const *flags, test_http_hook hook);
void test_http_stop(struct test_http *t, unsigned grace_ms);

/* What came back. text holds everything received. */
struct test_reply {
    int status; /* 0: no status line came */
    char *text;
    size_t size;
    const char *body; /* in text; after the blank line, chunks joined */
    size_t body_size;
    bool closed; /* the server closed the connection within the time */
    int interim; /* number of 100 Continue before it */
};
void test_reply_free(struct test_reply *reply);
/* Value of a header of the reply in out ("" if absent). */
void test_reply_header(const struct test_reply *reply, const char *name, char *out, size_t size);
/* Member of the problem document, "" if absent. */
void test_reply_member(const struct test_reply *reply, const char *name, char *out, size_t size);

/* Connected socket; fails the test when that is impossible. */
int test_connect(const struct test_http *t);
void test_send(int fd, const void *bytes, size_t size);
void test_send_text(int fd, const char *text);
/* Reads one reply (by Content-Length, chunks or close), at most timeout_ms. is_head: no body. */
struct test_reply test_receive(int fd, int timeout_ms, bool is_head);
/* Does the server close within the time? Reads and drops what comes. */
bool test_is_closed(int fd, int timeout_ms);

/* "METHOD path HTTP/1.1", Host and the given headers ("A: b\r\n"...), body of Content-Length (when
 * not NULL); one connection, one reply. */
struct test_reply test_ask(const struct test_http *t, const char *method, const char *path,
                           const char *headers, const char *body);

#endif
