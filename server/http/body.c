/* SPDX-License-Identifier: MIT
 *
 * Bodies. A JSON body is collected in memory up to its cap; a spooled one goes chunk by chunk to an
 * unlinked file, written by request threads while the connection is suspended. Both count what
 * arrives, so a chunked body has the same cap as one that says its length.
 *
 * An answer can only be queued before the first byte of a body or after the last: a mistake found
 * in between is remembered, and the rest is read and dropped, as much as would have been taken.
 * What is refused before, or exceeds its cap, is dropped up to a bound; then the connection is cut.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "core/json/json.h"
#include "server/http/server_internal.h"

#define JSON_DEPTH_MAX 32

static bool is_spool(const struct http_exchange *ex)
{
    return ex->route->body == HTTP_BODY_SPOOL;
}

static enum sv_status check_type(struct http_exchange *ex, struct sv_error *err)
{
    const char *wanted = !is_spool(ex)             ? "application/json"
                         : ex->route->content_type ? ex->route->content_type
                                                   : "application/octet-stream";
    const char *header = http_header(&ex->request, "Content-Type");
    const char *coding = http_header(&ex->request, "Content-Encoding");
    if (coding && strcasecmp(coding, "identity") != 0) {
        return sv_fail_parameter(err, SV_ERR_MEDIA_TYPE, "Content-Encoding",
                                 "encoded bodies are not accepted");
    }
    const char *list = header ? header : "";
    const char *type = NULL;
    const char *parameters = NULL;
    size_t size = 0;
    bool found = http_text_next(&list, &type, &size, &parameters) && !*list &&
                 http_text_in_list(wanted, type, size);
    if (found && !is_spool(ex) && parameters) {
        parameters += strspn(parameters, " ");
        found = strcasecmp(parameters, "charset=utf-8") == 0;
    }
    if (!found) {
        return sv_fail_parameter(err, SV_ERR_MEDIA_TYPE, "Content-Type", "the body must be %s",
                                 wanted);
    }
    char *copy = http_request_printf(&ex->request, "%.*s", (int)size, type);
    for (char *p = copy; p && *p; p++) {
        *p = (char)(*p >= 'A' && *p <= 'Z' ? *p | 0x20 : *p);
    }
    ex->request.body_type = copy ? copy : "";
    return SV_OK;
}

enum sv_status http_body_admit(struct http_exchange *ex, struct sv_error *err)
{
    const struct http_route *route = ex->route;
    const struct cfg *config = ex->server->config;
    struct http_body_state *body = &ex->body;
    uint64_t cap = (uint64_t)(is_spool(ex) ? config->max_upload_bytes : config->max_body_bytes);
    body->cap = route->max_bytes ? route->max_bytes : cap;
    if (route->body == HTTP_BODY_NONE) {
        return body->present ? sv_fail(err, SV_ERR_BAD_REQUEST, "this request takes no body")
                             : SV_OK;
    }
    if (is_spool(ex) && !body->present && !http_header(&ex->request, "Content-Length")) {
        return sv_fail_parameter(err, SV_ERR_LENGTH_REQUIRED, "Content-Length", "%s", "");
    }
    if (!body->chunked && body->length > body->cap) {
        return sv_fail(err, SV_ERR_TOO_LARGE, "the body may have %llu bytes",
                       (unsigned long long)body->cap);
    }
    return body->present || is_spool(ex) ? check_type(ex, err) : SV_OK;
}

int http_spool_open(const struct http_request *req)
{
    const char *dir = http_exchange_of(req)->server->settings.spool_dir;
    int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR)) {
        return fd;
    }
    char *path = http_request_printf(req, "%s/spool-XXXXXX", dir);
    fd = path ? mkostemp(path, O_CLOEXEC) : -1;
    if (fd >= 0) {
        (void)unlink(path);
    }
    return fd;
}

static enum sv_status no_place(int error, struct sv_error *err)
{
    bool full = error == ENOSPC || error == EDQUOT || error == EFBIG;
    return full ? sv_fail(err, SV_ERR_NO_SPACE, "there is no room on the disk for the body")
                : sv_fail(err, SV_ERR_OVERLOADED, "there is no place for the body");
}

/* A body that says its length is refused before it comes when the disk has no room for it: in the
 * middle of it there is nothing to be answered. Others may take the room meanwhile. */
static enum sv_status spool_begin(struct http_exchange *ex, struct sv_error *err)
{
    struct http_body_state *body = &ex->body;
    struct statvfs disk;
    body->capacity = HTTP_CHUNK_BYTES;
    body->fd = http_spool_open(&ex->request);
    if (body->fd < 0) {
        return no_place(errno, err);
    }
    if (!body->chunked && fstatvfs(body->fd, &disk) == 0 && disk.f_frsize > 0 &&
        body->length / disk.f_frsize >= disk.f_bavail) {
        return no_place(ENOSPC, err);
    }
    return SV_OK;
}

enum sv_status http_body_begin(struct http_exchange *ex, struct sv_error *err)
{
    struct http_body_state *body = &ex->body;
    if (is_spool(ex)) {
        enum sv_status status = spool_begin(ex, err);
        if (status != SV_OK) {
            return status;
        }
    } else {
        body->capacity = body->chunked ? 4096 : body->length;
    }
    body->buffer = malloc(body->capacity);
    return body->buffer ? SV_OK : sv_fail(err, SV_ERR_OVERLOADED, "out of memory");
}

static void body_fail(struct http_exchange *ex, enum sv_status status, const char *text)
{
    ex->error = sv_fail(&ex->error_detail, status, "%s", text);
}

static bool buffer_grow(struct http_body_state *body, size_t need)
{
    size_t capacity = body->capacity;
    while (capacity < need) {
        capacity *= 2;
    }
    char *grown = capacity == body->capacity ? body->buffer : realloc(body->buffer, capacity);
    if (grown) {
        body->buffer = grown;
        body->capacity = capacity;
    }
    return grown != NULL;
}

static size_t swallow(struct http_body_state *body, size_t size)
{
    body->swallowed += size;
    return body->swallowed > HTTP_SWALLOW_BYTES ? SIZE_MAX : size;
}

/* What was admitted is read to its end whatever has gone wrong meanwhile: else its sender, who
 * cannot be answered in the midst of it, would never know why. */
static size_t drop(struct http_body_state *body, size_t size)
{
    if (size > body->cap - body->received) {
        return swallow(body, size);
    }
    body->received += size;
    return size;
}

size_t http_body_take(struct http_exchange *ex, const char *data, size_t size, bool *out_full)
{
    struct http_body_state *body = &ex->body;
    *out_full = false;
    if (ex->answer) { /* refused already */
        return swallow(body, size);
    }
    if (!ex->error && size > body->cap - body->received) {
        body_fail(ex, SV_ERR_TOO_LARGE, "the body is larger than this request takes");
    }
    if (!ex->error && !is_spool(ex) && !buffer_grow(body, body->used + size)) {
        body_fail(ex, SV_ERR_OVERLOADED, "out of memory");
    }
    if (ex->error) {
        return drop(body, size);
    }
    size_t room = body->capacity - body->used;
    size_t taken = size < room ? size : room;
    memcpy(body->buffer + body->used, data, taken);
    body->used += taken;
    body->received += taken;
    *out_full = is_spool(ex) && body->used == body->capacity;
    return taken;
}

void http_body_write(struct http_exchange *ex)
{
    struct http_body_state *body = &ex->body;
    size_t done = 0;
    while (done < body->used && !ex->error) {
        ssize_t n = write(body->fd, body->buffer + done, body->used - done);
        if (n > 0) {
            done += (size_t)n;
        } else if (n < 0 && errno != EINTR) {
            ex->error = no_place(errno, &ex->error_detail);
        }
    }
    body->used = 0;
}

static enum sv_status parse_json(struct http_exchange *ex, struct sv_error *err)
{
    const struct http_body_state *body = &ex->body;
    struct nn_error detail = {0};
    struct jx_limits limits = {.max_bytes = (size_t)body->cap, .max_depth = JSON_DEPTH_MAX};
    if (!body->used) {
        return ex->route->body == HTTP_BODY_JSON_OPTIONAL
                   ? SV_OK
                   : sv_fail(err, SV_ERR_INVALID_JSON, "a body of application/json is needed");
    }
    enum nn_status status = jx_parse(body->buffer, body->used, &limits, &ex->request.json, &detail);
    if (status == NN_OK) {
        return SV_OK;
    }
    return sv_fail_at(err, status == NN_ERR_MEMORY ? SV_ERR_OVERLOADED : SV_ERR_INVALID_JSON,
                      detail.pointer, "%s", detail.text);
}

enum sv_status http_body_finish(struct http_exchange *ex, struct sv_error *err)
{
    struct http_body_state *body = &ex->body;
    if (is_spool(ex) && body->buffer) {
        http_body_write(ex);
        free(body->buffer);
        body->buffer = NULL;
    }
    if (ex->error) {
        *err = ex->error_detail;
        return ex->error;
    }
    ex->request.body_size = body->received;
    switch (ex->route->body) {
    case HTTP_BODY_NONE:
        return SV_OK;
    case HTTP_BODY_JSON:
    case HTTP_BODY_JSON_OPTIONAL:
        return ex->request.json ? SV_OK : parse_json(ex, err);
    case HTTP_BODY_SPOOL:
        break;
    }
    if (body->fd < 0 && (body->fd = http_spool_open(&ex->request)) < 0) { /* an empty body */
        return no_place(errno, err);
    }
    ex->request.body_fd = body->fd;
    return lseek(body->fd, 0, SEEK_SET) == 0
               ? SV_OK
               : sv_fail(err, SV_ERR_INTERNAL, "the spooled body cannot be read");
}

void http_body_deinit(struct http_exchange *ex)
{
    json_decref(ex->request.json);
    free(ex->body.buffer);
    if (ex->body.fd >= 0) {
        (void)close(ex->body.fd);
    }
}
