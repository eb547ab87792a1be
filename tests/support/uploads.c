/* SPDX-License-Identifier: MIT
 *
 * Routes with all kinds of bodies for tests.
 */
#include "tests/support/uploads.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/http/query.h"
#include "tests/support/cmocka_all.h"

uint64_t uploads_hash(uint64_t hash, const unsigned char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        hash = (hash ^ bytes[i]) * UINT64_C(1099511628211);
    }
    return hash;
}

/* Size and hash of the spooled file. */
static enum sv_status put_file(void *state, const struct http_request *req,
                               struct http_response *resp, struct sv_error *err)
{
    static _Thread_local unsigned char piece[65536];
    uint64_t h = HTTP_HASH_SEED;
    uint64_t size = 0;
    ssize_t n;
    (void)state;
    (void)err;
    while ((n = read(req->body_fd, piece, sizeof piece)) > 0) {
        h = uploads_hash(h, piece, (size_t)n);
        size += (uint64_t)n;
    }
    assert_int_equal(size, req->body_size);
    char text[32];
    (void)snprintf(text, sizeof text, "%016llx", (unsigned long long)h);
    return http_response_json_take(resp, 200,
                                   json_pack("{s:I, s:s, s:s}", "size", (json_int_t)size, "hash",
                                             text, "type", req->body_type));
}

static enum sv_status post_json(void *state, const struct http_request *req,
                                struct http_response *resp, struct sv_error *err)
{
    (void)state;
    (void)err;
    return http_response_json_take(
        resp, 200,
        json_pack("{s:b, s:I}", "json", req->json != NULL, "size", (json_int_t)req->body_size));
}

static enum sv_status refuse_early(void *state, const struct http_request *req,
                                   struct http_response *resp, struct sv_error *err)
{
    (void)state;
    (void)req;
    (void)resp;
    return sv_fail(err, SV_ERR_WRONG_STATE, "not now");
}

static enum sv_status authenticate(void *state, const struct http_request *req,
                                   struct http_actor *out, struct sv_error *err)
{
    (void)state;
    const char *token = http_bearer(req);
    if (!token || strcmp(token, "secret") != 0) {
        return sv_fail(err, SV_ERR_UNAUTHENTICATED, "%s", "");
    }
    out->role = HTTP_ROLE_SUBMITTER;
    return SV_OK;
}

static const struct http_route ROUTES[] = {
    {.method = "PUT",
     .pattern = "/file",
     .handler = put_file,
     .body = HTTP_BODY_SPOOL,
     .content_type = "application/octet-stream, application/zip"},
    {.method = "PUT",
     .pattern = "/small",
     .handler = put_file,
     .body = HTTP_BODY_SPOOL,
     .max_bytes = 1000},
    {.method = "PUT",
     .pattern = "/boundless",
     .handler = put_file,
     .body = HTTP_BODY_SPOOL,
     .max_bytes = UINT64_MAX},
    {.method = "PUT",
     .pattern = "/refused",
     .handler = put_file,
     .body = HTTP_BODY_SPOOL,
     .before_body = refuse_early},
    {.method = "PUT",
     .pattern = "/submitters",
     .handler = put_file,
     .body = HTTP_BODY_SPOOL,
     .role = HTTP_ROLE_SUBMITTER},
    {.method = "PUT",
     .pattern = "/admins",
     .handler = put_file,
     .body = HTTP_BODY_SPOOL,
     .role = HTTP_ROLE_ADMIN},
    {.method = "POST", .pattern = "/json", .handler = post_json, .body = HTTP_BODY_JSON},
    {.method = "POST",
     .pattern = "/admin-json",
     .handler = post_json,
     .body = HTTP_BODY_JSON,
     .role = HTTP_ROLE_ADMIN},
    {.method = "POST",
     .pattern = "/optional",
     .handler = post_json,
     .body = HTTP_BODY_JSON_OPTIONAL},
};

static void use_tokens(struct http_settings *settings)
{
    settings->authenticate = authenticate;
}

int uploads_setup(void **state)
{
    static struct test_http t;
    const char *flags[] = {"--request-threads=3", "--max-upload-bytes=8M", NULL};
    test_http_start(&t, ROUTES, sizeof ROUTES / sizeof ROUTES[0], flags, use_tokens);
    *state = &t;
    return 0;
}

int uploads_teardown(void **state)
{
    test_http_stop(*state, 0);
    return 0;
}

void uploads_start(struct test_http *t)
{
    const char *flags[] = {"--request-threads=2", NULL};
    test_http_start(t, ROUTES, sizeof ROUTES / sizeof ROUTES[0], flags, NULL);
}

unsigned char *uploads_bytes(size_t n)
{
    unsigned char *bytes = malloc(n + 1);
    uint32_t x = (uint32_t)n + 1;
    for (size_t i = 0; i < n; i++) { /* NULs among them */
        x = x * 1664525u + 1013904223u;
        bytes[i] = (unsigned char)(x >> 24 & (i % 3 ? 0xff : 0x03));
    }
    return bytes;
}

void uploads_send_chunks(int fd, const unsigned char *bytes, size_t n, size_t chunk)
{
    char line[32];
    for (size_t at = 0; at < n; at += chunk) {
        size_t m = n - at < chunk ? n - at : chunk;
        (void)snprintf(line, sizeof line, "%zx\r\n", m);
        test_send_text(fd, line);
        test_send(fd, bytes + at, m);
        test_send_text(fd, "\r\n");
    }
    test_send_text(fd, "0\r\n\r\n");
}
