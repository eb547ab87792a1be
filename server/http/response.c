/* SPDX-License-Identifier: MIT
 *
 * What a handler builds: kinds of bodies, headers. answer.c makes microhttpd's response of it.
 */
#include "server/http/response.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/json/json.h"
#include "server/http/exchange_internal.h"
#include "server/http/query.h"

void http_response_reset(struct http_response *resp)
{
    if (resp->kind == HTTP_KIND_BYTES) {
        free(resp->bytes);
    }
    if (resp->fd >= 0) {
        (void)close(resp->fd);
    }
    http_stream_free(resp->stream);
    json_decref(resp->extra);
    *resp = (struct http_response){.arena = resp->arena, .fd = -1};
}

/* A handler may change its mind: drops the body that is there. */
static void body_set(struct http_response *resp, enum http_kind kind, int status, const char *type)
{
    json_t *extra = resp->extra;
    struct http_response kept = *resp;
    resp->extra = NULL;
    http_response_reset(resp);
    kept.kind = kind;
    kept.status = status;
    kept.type = type;
    kept.bytes = NULL;
    kept.lasting = NULL;
    kept.size = 0;
    kept.fd = -1;
    kept.stream = NULL;
    kept.extra = extra;
    *resp = kept;
}

enum sv_status http_response_bytes_take(struct http_response *resp, int status, const char *type,
                                        void *bytes, size_t size)
{
    if (!bytes && size) {
        return SV_ERR_INTERNAL;
    }
    body_set(resp, HTTP_KIND_BYTES, status, type);
    resp->bytes = bytes;
    resp->size = size;
    return SV_OK;
}

enum sv_status http_response_copy(struct http_response *resp, int status, const char *type,
                                  const void *bytes, size_t size)
{
    void *copy = malloc(size + 1);
    if (!copy) {
        return SV_ERR_INTERNAL;
    }
    memcpy(copy, bytes, size);
    return http_response_bytes_take(resp, status, type, copy, size);
}

enum sv_status http_response_json_take(struct http_response *resp, int status, json_t *json)
{
    char *text = json ? jx_dump(json, NULL) : NULL;
    json_decref(json);
    if (!text) {
        return SV_ERR_INTERNAL;
    }
    return http_response_bytes_take(resp, status, "application/json", text, strlen(text));
}

void http_response_empty(struct http_response *resp, int status)
{
    body_set(resp, HTTP_KIND_STATIC, status, NULL);
}

void http_response_static(struct http_response *resp, int status, const char *type,
                          const void *bytes, size_t size)
{
    body_set(resp, HTTP_KIND_STATIC, status, type);
    resp->lasting = bytes;
    resp->size = size;
}

void http_response_fd_take(struct http_response *resp, const char *type, int fd, uint64_t size)
{
    body_set(resp, HTTP_KIND_FILE, 200, type);
    resp->fd = fd;
    resp->size = size;
}

void http_response_read_take(struct http_response *resp, const char *type, uint64_t size,
                             http_read_fn read, http_done_fn done, void *ctx)
{
    struct http_stream *stream = calloc(1, sizeof *stream);
    body_set(resp, HTTP_KIND_STREAM, 200, type);
    resp->size = size;
    if (!stream) {
        resp->out_of_memory = true;
        if (done) {
            done(ctx);
        }
        return;
    }
    *stream = (struct http_stream){.read = read, .done = done, .ctx = ctx, .size = size};
    resp->stream = stream;
}

void http_response_header(struct http_response *resp, const char *name, const char *value)
{
    NN_ASSERT(http_text_is_token(name) && !strpbrk(value, "\r\n"));
    NN_ASSERT(resp->header_count < HTTP_OWN_HEADERS);
    char *copy = nn_arena_text(resp->arena, value);
    char *name_copy = nn_arena_text(resp->arena, name);
    if (!copy || !name_copy) {
        resp->out_of_memory = true;
        return;
    }
    resp->headers[resp->header_count++] = (struct http_pair){name_copy, copy};
}

void http_response_filename(struct http_response *resp, const char *name)
{
    char text[200];
    char value[240];
    size_t used = 0;
    for (const char *p = name; *p && used + 1 < sizeof text; p++) {
        bool plain = *p > ' ' && *p < 0x7f && !strchr("\"\\/%;:*?<>|", *p);
        text[used++] = *p;
        if (!plain) {
            text[used - 1] = '_';
        }
    }
    text[used] = '\0';
    (void)snprintf(value, sizeof value, "attachment; filename=\"%s\"", used ? text : "download");
    http_response_header(resp, "Content-Disposition", value);
}

void http_response_etag(struct http_response *resp, const char *etag)
{
    http_response_header(resp, "ETag", etag);
}

void http_response_location(struct http_response *resp, const char *fmt, ...)
{
    char value[512];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(value, sizeof value, fmt, args);
    va_end(args);
    http_response_header(resp, "Location", value);
}

void http_response_not_modified(struct http_response *resp, const char *etag)
{
    http_response_empty(resp, 304);
    http_response_etag(resp, etag);
}

void http_response_extra_take(struct http_response *resp, const char *name, json_t *value)
{
    if (!resp->extra) {
        resp->extra = json_object();
    }
    if (json_object_set_new(resp->extra, name, value) != 0) { /* takes the value in any case */
        resp->out_of_memory = true;
    }
}

void http_response_retry_after(struct http_response *resp, unsigned seconds)
{
    resp->retry_after = seconds;
}

void http_etag(const struct http_request *req, int64_t revision, char out[HTTP_ETAG_SIZE])
{
    const char *produces = http_exchange_of(req)->route->produces;
    const char *accept = produces && strchr(produces, ',') ? http_header(req, "Accept") : NULL;
    uint64_t hash = http_hash(http_query_hash(req), accept ? accept : "");
    (void)snprintf(out, HTTP_ETAG_SIZE, "\"r%lld-%016llx\"", (long long)revision,
                   (unsigned long long)hash);
}
