/* SPDX-License-Identifier: MIT
 *
 * The only place where answers and problem documents (RFC 9457) get their final form.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/json/json.h"
#include "server/http/server_internal.h"

#define STREAM_BLOCK (64u << 10)
_Static_assert(MHD_SIZE_UNKNOWN == UINT64_MAX, "both mean a body of unknown size");

/* libmicrohttpd asks for bytes it could write to, and does not. */
union lasting {
    const void *given;
    void *wanted;
};

static void header_add(struct MHD_Response *answer, const char *name, const char *value)
{
    if (value && *value) {
        (void)MHD_add_response_header(answer, name, value);
    }
}

static void headers_add(struct http_exchange *ex, struct MHD_Response *answer)
{
    const struct http_response *resp = &ex->response;
    for (size_t i = 0; i < resp->header_count; i++) {
        header_add(answer, resp->headers[i].name, resp->headers[i].value);
    }
    header_add(answer, "Content-Type", resp->type);
    header_add(answer, "X-Request-Id", ex->request_id);
    header_add(answer, "X-Content-Type-Options", "nosniff");
    if (!MHD_get_response_header(answer, "Cache-Control")) {
        header_add(answer, "Cache-Control", "no-cache");
    }
    if (ex->route && ex->route->produces && strchr(ex->route->produces, ',')) {
        header_add(answer, "Vary", "Accept");
    }
    if (ex->close || atomic_load(&ex->server->draining)) {
        header_add(answer, "Connection", "close");
    }
}

/* Moves the body out of resp. */
static struct MHD_Response *body_make(struct http_exchange *ex)
{
    struct http_response *resp = &ex->response;
    struct MHD_Response *answer = NULL;
    switch (resp->kind) {
    case HTTP_KIND_BYTES:
        answer = MHD_create_response_from_buffer(resp->size, resp->bytes, MHD_RESPMEM_MUST_FREE);
        if (answer) {
            resp->bytes = NULL;
        }
        break;
    case HTTP_KIND_STATIC:
        answer = MHD_create_response_from_buffer(
            resp->size, ((union lasting){.given = resp->lasting}).wanted, MHD_RESPMEM_PERSISTENT);
        break;
    case HTTP_KIND_FILE:
        answer = MHD_create_response_from_fd64(resp->size, resp->fd);
        if (answer) {
            resp->fd = -1;
        }
        break;
    case HTTP_KIND_STREAM:
        answer =
            MHD_create_response_from_callback(resp->size, STREAM_BLOCK, http_stream_read, ex, NULL);
        if (answer && ex->request.is_head && resp->size == UINT64_MAX) {
            /* else libmicrohttpd 0.9.75 would send the end of a chunked body after the headers */
            (void)MHD_set_response_options(answer, MHD_RF_HTTP_1_0_COMPATIBLE_STRICT, MHD_RO_END);
        }
        break;
    case HTTP_KIND_NONE:
    case HTTP_KIND_PARK:
        break;
    }
    return answer;
}

void http_answer_make(struct http_exchange *ex)
{
    struct http_response *resp = &ex->response;
    bool built = resp->kind != HTTP_KIND_NONE && !resp->out_of_memory;
    struct MHD_Response *answer = built ? body_make(ex) : NULL;
    if (!answer) {
        http_response_reset(resp);
        http_answer_problem(ex, SV_ERR_INTERNAL, NULL);
        return;
    }
    headers_add(ex, answer);
    ex->answer = answer;
    ex->answer_status = (unsigned)resp->status;
    ex->answer_bytes = resp->size == UINT64_MAX ? 0 : resp->size;
}

static void text_set(json_t *object, const char *name, const char *text)
{
    if (text && *text) {
        (void)json_object_set_new(object, name, jx_text(text, SIZE_MAX));
    }
}

static char *problem_text(const struct http_exchange *ex, enum sv_status status,
                          const struct sv_error *err)
{
    char type[96];
    json_t *problem = json_object();
    (void)snprintf(type, sizeof type, "urn:assay:problem:%s", sv_status_slug(status));
    text_set(problem, "type", type);
    text_set(problem, "title", sv_status_title(status));
    (void)json_object_set_new(problem, "status", json_integer(sv_status_http(status)));
    text_set(problem, "detail", err ? err->text : NULL);
    text_set(problem, "code", sv_status_slug(status));
    text_set(problem, "pointer", err ? err->pointer : NULL);
    text_set(problem, "parameter", err ? err->parameter : NULL);
    text_set(problem, "request_id", ex->request_id);
    if (ex->response.extra) {
        (void)json_object_update_missing(problem, ex->response.extra);
    }
    char *text = json_dumps(problem, JSON_COMPACT);
    json_decref(problem);
    return text;
}

static void problem_headers(struct http_exchange *ex, struct MHD_Response *answer, int http)
{
    char seconds[16];
    unsigned retry = ex->response.retry_after ? ex->response.retry_after : 1;
    (void)snprintf(seconds, sizeof seconds, "%u", retry);
    if (http == 429 || http == 503) {
        header_add(answer, "Retry-After", seconds);
    }
    if (http == 401) {
        header_add(answer, "WWW-Authenticate", "Bearer realm=\"assay\"");
    }
}

void http_answer_problem(struct http_exchange *ex, enum sv_status status,
                         const struct sv_error *err)
{
    static char last_resort[] = "{\"code\":\"internal\",\"status\":500}";
    struct http_response *resp = &ex->response;
    char *text = problem_text(ex, status, err);
    struct MHD_Response *answer =
        text ? MHD_create_response_from_buffer(strlen(text), text, MHD_RESPMEM_MUST_FREE)
             : MHD_create_response_from_buffer(sizeof last_resort - 1, last_resort,
                                               MHD_RESPMEM_PERSISTENT);
    if (!answer) {
        free(text);
        return; /* without an answer the connection is cut */
    }
    resp->type = "application/problem+json";
    ex->answer_status = (unsigned)(text ? sv_status_http(status) : 500);
    ex->answer_bytes = text ? strlen(text) : sizeof last_resort - 1;
    headers_add(ex, answer);
    problem_headers(ex, answer, (int)ex->answer_status);
    ex->answer = answer;
}
