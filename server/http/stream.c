/* SPDX-License-Identifier: MIT
 *
 * Streamed bodies. libmicrohttpd asks for bytes on an I/O thread; when the buffer is empty the
 * connection is suspended, a request thread fills the buffer (the only place that may block) and
 * resumes. An event stream with nothing to say is parked in between; its heartbeat keeps the
 * connection open, finds out that the client has left, and ends a stream whose reader has lost the
 * right to read.
 */
#include <stdlib.h>
#include <string.h>

#include "server/base/clock.h"
#include "server/http/server_internal.h"

#define HEARTBEAT_MS     15000
#define EVENTS_LIFE_MS   3600000
#define EVENTS_BYTES_MAX (1u << 20) /* of one fill */

void http_stream_free(struct http_stream *stream)
{
    if (!stream) {
        return;
    }
    if (stream->done) {
        stream->done(stream->ctx);
    }
    free(stream->buffer);
    free(stream);
}

static bool buffer_add(struct http_stream *stream, const char *text, size_t size)
{
    size_t capacity = stream->capacity ? stream->capacity : 4096;
    while (capacity < stream->end + size) {
        capacity *= 2;
    }
    if (capacity != stream->capacity) {
        char *grown = capacity <= EVENTS_BYTES_MAX ? realloc(stream->buffer, capacity) : NULL;
        if (!grown) {
            return false;
        }
        stream->buffer = grown;
        stream->capacity = capacity;
    }
    memcpy(stream->buffer + stream->end, text, size);
    stream->end += size;
    return true;
}

enum sv_status http_response_events_take(const struct http_request *req, struct http_response *resp,
                                         http_events_fn fill, http_done_fn done, void *ctx,
                                         struct sv_error *err)
{
    struct http_ticket ticket;
    http_response_read_take(resp, "text/event-stream", UINT64_MAX, NULL, done, ctx);
    if (!resp->stream) {
        return sv_fail(err, SV_ERR_INTERNAL, "out of memory");
    }
    resp->stream->events = fill;
    if (!buffer_add(resp->stream, ":\n\n", 3)) { /* something to send with the headers */
        return sv_fail(err, SV_ERR_INTERNAL, "out of memory");
    }
    resp->stream->ends_at_ms = sv_clock_monotonic_ms() + EVENTS_LIFE_MS;
    /* takes the slot now, while an error can still be answered */
    return http_park_arm(http_exchange_of(req), &ticket, err);
}

static bool line_add(struct http_stream *stream, const char *name, const char *value)
{
    NN_ASSERT(!strpbrk(value, "\r\n"));
    return buffer_add(stream, name, strlen(name)) && buffer_add(stream, value, strlen(value)) &&
           buffer_add(stream, "\n", 1);
}

enum sv_status http_events_send(struct http_events *events, const char *id, const char *event,
                                const char *data)
{
    struct http_stream *stream = events->stream;
    size_t before = stream->end;
    if ((id && !line_add(stream, "id: ", id)) || (event && !line_add(stream, "event: ", event)) ||
        !line_add(stream, "data: ", data) || !buffer_add(stream, "\n", 1)) {
        stream->end = before;
        return SV_ERR_INTERNAL;
    }
    return SV_OK;
}

void http_stream_heartbeat(struct http_exchange *ex)
{
    struct http_stream *stream = ex->response.stream;
    stream->begin = 0;
    stream->end = 0;
    if (ex->gone || !buffer_add(stream, ":\n\n", 3)) {
        stream->failed = true;
    }
}

static void log_failure(const struct http_exchange *ex, enum sv_status status,
                        const struct sv_error *err)
{
    log_event(ex->server->settings.log, SV_LOG_WARN, "http_stream_failed",
              LOG_TEXT("request", ex->request_id), LOG_TEXT("code", sv_status_slug(status)),
              LOG_TEXT("detail", err->text));
}

/* True when the exchange was parked: it is no longer ours. */
static bool events_fill(struct http_exchange *ex, void *state)
{
    struct http_stream *stream = ex->response.stream;
    struct http_events events = {stream};
    struct http_ticket ticket;
    struct sv_error err = {0};
    int64_t now = sv_clock_monotonic_ms();
    if (atomic_load(&ex->server->draining) || now >= stream->ends_at_ms) {
        stream->ended = true;
        return false;
    }
    enum sv_status status = http_still_allowed(ex, state, &err);
    status = status ? status : http_park_arm(ex, &ticket, &err);
    if (status == SV_OK) {
        status = stream->events(stream->ctx, state, ticket, &events, &err);
    }
    if (status != SV_OK) {
        log_failure(ex, status, &err);
        stream->ended = true;
        return false;
    }
    if (!stream->end && http_park_commit(ex, now + HEARTBEAT_MS)) {
        return true;
    }
    stream->ended = !stream->end; /* the pool has stopped */
    return false;
}

static void read_fill(struct http_exchange *ex, void *state)
{
    struct http_stream *stream = ex->response.stream;
    struct sv_error err = {0};
    if (!stream->buffer) {
        stream->capacity = HTTP_CHUNK_BYTES;
        stream->buffer = malloc(stream->capacity);
    }
    uint64_t left = stream->size - stream->offset;
    size_t max = left < HTTP_CHUNK_BYTES ? (size_t)left : HTTP_CHUNK_BYTES;
    size_t count = 0;
    enum sv_status status = stream->buffer ? stream->read(stream->ctx, state, stream->offset,
                                                          stream->buffer, max, &count, &err)
                                           : SV_ERR_INTERNAL;
    NN_ASSERT(count <= max);
    bool short_body = count == 0 && stream->size != UINT64_MAX;
    if (status != SV_OK || short_body) {
        log_failure(ex, status ? status : SV_ERR_INTERNAL, &err);
        stream->failed = true;
    }
    stream->offset += count;
    stream->end = count;
    stream->ended = count == 0;
}

void http_stream_fill(struct http_exchange *ex, void *state)
{
    ex->response.stream->begin = 0;
    ex->response.stream->end = 0;
    if (ex->response.stream->read) {
        read_fill(ex, state);
    } else if (events_fill(ex, state)) {
        return;
    }
    http_exchange_resume(ex);
}

/* On an I/O thread. 0 is only returned together with a suspension, else the caller would spin. */
ssize_t http_stream_read(void *cls, uint64_t position, char *buffer, size_t max)
{
    struct http_exchange *ex = cls;
    struct http_stream *stream = ex->response.stream;
    (void)position;
    size_t have = stream->end - stream->begin;
    if (have) {
        size_t n = have < max ? have : max;
        memcpy(buffer, stream->buffer + stream->begin, n);
        stream->begin += n;
        atomic_fetch_add(&ex->connection->bytes, n);
        return (ssize_t)n;
    }
    if (stream->failed) {
        return MHD_CONTENT_READER_END_WITH_ERROR;
    }
    if (stream->ended) {
        return MHD_CONTENT_READER_END_OF_STREAM;
    }
    if (!http_pool_reserve(ex->server, true)) {
        return MHD_CONTENT_READER_END_WITH_ERROR;
    }
    ex->task = HTTP_TASK_FILL;
    MHD_suspend_connection(ex->mhd);
    http_pool_push_reserved(ex->server, ex);
    return 0;
}
