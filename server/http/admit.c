/* SPDX-License-Identifier: MIT
 *
 * The checks that need only the request line and the headers, in the order in which they answer:
 * what two parsers could read differently (400), what nobody knows (501), whose request it is
 * (403), where it goes (404, 405), whether the answer and the body fit (406, 411, 413, 415).
 * libmicrohttpd 0.9.75 lets all of the first group pass.
 */
#include <string.h>
#include <strings.h>

#include "server/http/server_internal.h"

/* Headers of which a second one would be read differently by different parsers. */
static const char *const SINGLE_HEADERS[] = {"Host",
                                             "Content-Length",
                                             "Transfer-Encoding",
                                             "Content-Type",
                                             "Authorization",
                                             "Origin",
                                             "Expect",
                                             "X-Request-Id",
                                             "Content-Range",
                                             "Idempotency-Key",
                                             "Content-Encoding",
                                             "Upload-Offset"};

static const char *const METHODS[] = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"};

struct collector {
    struct http_exchange *ex;
    const char *at; /* where the next header must begin; NULL: it did not */
    enum sv_status status;
    struct sv_error *err;
};

/* libmicrohttpd hands out C strings that point into the block as it came, each line's end replaced
 * by zeros. So every byte of the block can be accounted for, and what it has bent shows as a gap: a
 * NUL that cut a value or the target, a folded line (whose text it appends to the header's name!),
 * a bare line feed, a line it dropped. Returns where the next line begins, NULL for a gap. */
static const char *line_end(const char *at, const char *key, size_t key_size, const char *value,
                            size_t value_size)
{
    if (at != key) {
        return NULL;
    }
    for (at += key_size + 1; at < value && (*at == ' ' || *at == '\t');) {
        at++;
    }
    return at == value ? value + value_size + 2 : NULL;
}

static bool value_is_clean(const char *value)
{
    for (const char *p = value; *p; p++) {
        if (((unsigned char)*p < ' ' && *p != '\t') || *p == 0x7f) {
            return false;
        }
    }
    return true;
}

static enum MHD_Result header_collect(void *cls, enum MHD_ValueKind kind, const char *key,
                                      size_t key_size, const char *value, size_t value_size)
{
    struct collector *c = cls;
    struct http_exchange *ex = c->ex;
    (void)kind;
    if (!value || !http_text_is_token(key)) {
        c->status = sv_fail(c->err, SV_ERR_BAD_REQUEST, "a header name is malformed");
        return MHD_NO;
    }
    c->at = c->at ? line_end(c->at, key, key_size, value, value_size) : NULL;
    if (!value_is_clean(value)) {
        c->status = sv_fail_parameter(c->err, SV_ERR_BAD_REQUEST, key,
                                      "a header value holds a control character");
        return MHD_NO;
    }
    if (ex->header_count == HTTP_HEADERS_MAX) {
        c->status =
            sv_fail(c->err, SV_ERR_HEADERS_TOO_LARGE, "more than %d headers", HTTP_HEADERS_MAX);
        return MHD_NO;
    }
    ex->headers[ex->header_count++] = (struct http_pair){key, value};
    return MHD_YES;
}

static size_t header_count(const struct http_exchange *ex, const char *name)
{
    size_t n = 0;
    for (size_t i = 0; i < ex->header_count; i++) {
        n += strcasecmp(ex->headers[i].name, name) == 0;
    }
    return n;
}

static enum sv_status collect_headers(struct http_exchange *ex, const char *method,
                                      const char *version, struct sv_error *err)
{
    const char *line = method + strlen(method) + 1 + ex->uri_size + 1;
    struct collector c = {ex, line == version ? version + strlen(version) + 2 : NULL, SV_OK, err};
    (void)MHD_get_connection_values_n(ex->mhd, MHD_HEADER_KIND, header_collect, &c);
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(ex->mhd, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    if (c.status == SV_OK && info && info->header_size > HTTP_HEAD_BYTES) {
        c.status = sv_fail(err, SV_ERR_HEADERS_TOO_LARGE, "headers of more than %u bytes",
                           HTTP_HEAD_BYTES);
    }
    if (c.status == SV_OK && (!c.at || !info || c.at + 2 != method + info->header_size)) {
        c.status = sv_fail(err, SV_ERR_BAD_REQUEST,
                           "the headers hold a NUL, a folded line or a bare line feed");
    }
    for (size_t i = 0; c.status == SV_OK && i < sizeof SINGLE_HEADERS / sizeof SINGLE_HEADERS[0];
         i++) {
        if (header_count(ex, SINGLE_HEADERS[i]) > 1) {
            c.status = sv_fail_parameter(err, SV_ERR_BAD_REQUEST, SINGLE_HEADERS[i],
                                         "the header comes more than once");
        }
    }
    return c.status;
}

/* Whether and how a body follows. */
static enum sv_status check_framing(struct http_exchange *ex, struct sv_error *err)
{
    const char *coding = http_header(&ex->request, "Transfer-Encoding");
    const char *length = http_header(&ex->request, "Content-Length");
    if (coding && length) {
        return sv_fail_parameter(err, SV_ERR_BAD_REQUEST, "Transfer-Encoding",
                                 "Content-Length and Transfer-Encoding exclude each other");
    }
    if (coding && ex->is_http_1_0) {
        return sv_fail_parameter(err, SV_ERR_BAD_REQUEST, "Transfer-Encoding",
                                 "HTTP/1.0 has no transfer codings");
    }
    if (coding && strcasecmp(coding, "chunked") != 0) {
        return sv_fail_parameter(err, SV_ERR_NOT_IMPLEMENTED, "Transfer-Encoding",
                                 "the only transfer coding is chunked");
    }
    ex->body.chunked = coding != NULL;
    ex->body.length = coding ? UINT64_MAX : 0;
    for (const char *p = length ? length : ""; *p; p++) {
        /* libmicrohttpd has refused what is not a number of 64 bits */
        ex->body.length = ex->body.length * 10 + (uint64_t)(*p - '0');
    }
    ex->body.present = ex->body.length > 0;
    return SV_OK;
}

/* "http://authority/path", as a proxy gets it: the authority is the host then, whatever the header
 * says (RFC 9112, 3.2.2). */
static enum sv_status take_authority(struct http_exchange *ex, struct sv_error *err)
{
    static const char scheme[] = "http://";
    const char *authority = ex->request.path + sizeof scheme - 1;
    ex->host = http_header(&ex->request, "Host");
    if (strncasecmp(ex->request.path, scheme, sizeof scheme - 1) != 0) {
        return SV_OK;
    }
    size_t n = strcspn(authority, "/");
    char *host = nn_arena_text(ex->arena, authority);
    if (!host) {
        return sv_fail(err, SV_ERR_INTERNAL, "out of memory");
    }
    host[n] = '\0';
    ex->host = host;
    ex->request.path = authority[n] ? authority + n : "/";
    return SV_OK;
}

static enum sv_status check_target(struct http_exchange *ex, struct sv_error *err)
{
    if (!ex->uri) {
        return sv_fail(err, SV_ERR_INTERNAL, "out of memory");
    }
    enum sv_status status = take_authority(ex, err);
    if (status != SV_OK) {
        return status;
    }
    if (ex->request.path[0] != '/' && strcmp(ex->uri, "*") != 0) {
        return sv_fail(err, SV_ERR_BAD_REQUEST, "the address must begin with /");
    }
    for (const char *p = ex->uri; *p; p++) {
        if (*p <= ' ' || *p == 0x7f || *p == '#' || *p == '\\') { /* signed: also 8-bit bytes */
            return sv_fail(err, SV_ERR_BAD_REQUEST,
                           "the address holds a character that must be escaped");
        }
    }
    return SV_OK;
}

static bool method_is_known(const char *method)
{
    for (size_t i = 0; i < sizeof METHODS / sizeof METHODS[0]; i++) {
        if (strcmp(method, METHODS[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* A page of another site must not reach us through the browser of somebody inside. */
static enum sv_status check_host(const struct http_exchange *ex, struct sv_error *err)
{
    const char *header = http_header(&ex->request, "Host");
    const char *origin = http_header(&ex->request, "Origin");
    if (!header || !*header) {
        return sv_fail_parameter(err, SV_ERR_BAD_REQUEST, "Host", "the header is missing");
    }
    if (!http_host_is_allowed(ex->server, ex->host)) {
        return sv_fail_parameter(err, SV_ERR_FORBIDDEN_ORIGIN, "Host",
                                 "this name is not in the list of allowed hosts");
    }
    if (!origin) {
        return SV_OK;
    }
    const char *authority = strncmp(origin, "http://", 7) == 0    ? origin + 7
                            : strncmp(origin, "https://", 8) == 0 ? origin + 8
                                                                  : NULL;
    if (!authority || strcasecmp(authority, ex->host) != 0) {
        return sv_fail_parameter(err, SV_ERR_FORBIDDEN_ORIGIN, "Origin",
                                 "requests from pages of another origin are refused");
    }
    return SV_OK;
}

static enum sv_status check_answer_type(const struct http_exchange *ex, struct sv_error *err)
{
    const char *list = ex->route->produces ? ex->route->produces : "application/json";
    const char *item = NULL;
    const char *parameters = NULL;
    size_t size = 0;
    char type[64];
    for (const char *p = list; http_text_next(&p, &item, &size, &parameters);) {
        (void)snprintf(type, sizeof type, "%.*s", (int)size, item);
        if (http_accepts(&ex->request, type)) {
            return SV_OK;
        }
    }
    return sv_fail_parameter(err, SV_ERR_NOT_ACCEPTABLE, "Accept", "the answer is %s", list);
}

/* After these the rest of the connection cannot be trusted. */
bool http_is_problem_closing(enum sv_status status)
{
    return status == SV_ERR_BAD_REQUEST || status == SV_ERR_NOT_IMPLEMENTED ||
           status == SV_ERR_URI_TOO_LONG || status == SV_ERR_HEADERS_TOO_LARGE ||
           status == SV_ERR_FORBIDDEN_ORIGIN || status == SV_ERR_DRAINING;
}

enum sv_status http_admit(struct http_exchange *ex, const char *method, const char *version,
                          struct sv_error *err)
{
    ex->is_http_1_0 = strcmp(version, "HTTP/1.0") == 0;
    if (ex->overlong_uri) {
        return sv_fail(err, SV_ERR_URI_TOO_LONG, "the address has more than %d bytes",
                       HTTP_URI_MAX);
    }
    enum sv_status status = collect_headers(ex, method, version, err);
    status = status ? status : check_framing(ex, err);
    status = status ? status : check_target(ex, err);
    if (status == SV_OK && !method_is_known(method)) {
        status = sv_fail(err, SV_ERR_NOT_IMPLEMENTED, "the method is not known");
    }
    status = status ? status : check_host(ex, err);
    status = status ? status : http_query_split(ex, err);
    status = status ? status : http_route_find(ex, method, err);
    if (status != SV_OK || ex->answer) { /* OPTIONS is answered */
        return status;
    }
    if (atomic_load(&ex->server->draining) && ex->route->role != HTTP_ROLE_PUBLIC) {
        return sv_fail(err, SV_ERR_DRAINING, "%s", "");
    }
    status = check_answer_type(ex, err);
    return status ? status : http_body_admit(ex, err);
}
