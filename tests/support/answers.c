/* SPDX-License-Identifier: MIT
 *
 * Routes with all kinds of answers for tests.
 */
#include "tests/support/answers.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/cmocka_all.h"

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

char answers_byte(uint64_t at)
{
    return (char)('a' + at % 23);
}

static enum sv_status get_file(void *state, const struct http_request *req,
                               struct http_response *resp, struct sv_error *err)
{
    (void)state;
    (void)err;
    int fd = http_spool_open(req);
    static _Thread_local char text[ANSWERS_FILE_SIZE];
    for (size_t i = 0; i < sizeof text; i++) {
        text[i] = answers_byte(i);
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
        buffer[i] = answers_byte(offset + i);
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
    return stream(resp, ANSWERS_STREAM_SIZE, ANSWERS_STREAM_SIZE, 0);
}

static enum sv_status get_unknown(void *state, const struct http_request *req,
                                  struct http_response *resp, struct sv_error *err)
{
    (void)state;
    (void)req;
    (void)err;
    return stream(resp, ANSWERS_STREAM_SIZE, UINT64_MAX, 0);
}

static enum sv_status get_broken(void *state, const struct http_request *req,
                                 struct http_response *resp, struct sv_error *err)
{
    (void)state;
    (void)req;
    (void)err;
    return stream(resp, ANSWERS_STREAM_SIZE, ANSWERS_STREAM_SIZE, 500000);
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

const struct http_route ANSWERS_ROUTES[] = {
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
const size_t ANSWERS_ROUTE_COUNT = sizeof ANSWERS_ROUTES / sizeof ANSWERS_ROUTES[0];

int answers_setup(void **state)
{
    static struct test_http t;
    const char *flags[] = {"--request-threads=2", NULL};
    test_http_start(&t, ANSWERS_ROUTES, ANSWERS_ROUTE_COUNT, flags, use_memory);
    *state = &t;
    return 0;
}

int answers_teardown(void **state)
{
    test_http_stop(*state, 0);
    assert_int_equal(atomic_load(&opened), 0);
    return 0;
}

int answers_handled(void)
{
    return atomic_load(&handled);
}
