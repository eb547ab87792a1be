/* SPDX-License-Identifier: MIT
 *
 * A request as its handler sees it. Everything is borrowed and lives until the answer has been
 * sent; a handler that is run again after a wait gets the same request.
 */
#ifndef HTTP_REQUEST_H
#define HTTP_REQUEST_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "server/base/error.h"

/* A role includes those before it. PUBLIC: no token asked for. */
enum http_role { HTTP_ROLE_PUBLIC, HTTP_ROLE_VIEWER, HTTP_ROLE_SUBMITTER, HTTP_ROLE_ADMIN };

struct http_server;

/* Who asks; filled by the authenticate hook. */
struct http_actor {
    char project_id[33]; /* 32 hex digits */
    char name[96];       /* of the token; "" when none was needed */
    enum http_role role;
};

/* Why the handler runs. */
enum http_wake {
    HTTP_WAKE_FIRST,    /* first time */
    HTTP_WAKE_CHANGED,  /* what it waited for may have changed: read again */
    HTTP_WAKE_DEADLINE, /* the wait is over: answer what stands */
    HTTP_WAKE_DRAIN     /* the server stops: answer what stands */
};

struct http_request {
    const char *method; /* of the route: "GET" also when HEAD was asked */
    bool is_head;
    const char *path; /* as sent, without query; starts with '/' */
    const char *id;   /* X-Request-Id of the client if it is sound, else ours */
    const char *peer; /* address of the client, as text */
    bool peer_is_loopback;
    struct http_actor actor;
    enum http_wake wake;
    json_t *json;          /* body of a JSON route; NULL only where the route says optional */
    int body_fd;           /* file of a spooled body, at offset 0; -1 if none */
    uint64_t body_size;    /* bytes of the body, of either kind */
    const char *body_type; /* media type of the body, lower case, without parameters; "" if none */
};

/* Decoded segment of the path that the route's pattern calls {name}. The name must be in the
 * pattern. */
const char *http_path(const struct http_request *req, const char *name);

/* Value of a header, any case; NULL if absent. Values hold no NUL; several are joined by ", ". */
const char *http_header(const struct http_request *req, const char *name);

/* Token of "Authorization: Bearer <token>" or the password of Basic; NULL if absent or unsound. */
const char *http_bearer(const struct http_request *req);

/* Does If-None-Match (weak comparison) or If-Match (strong) list this entity tag, or "*"? False
 * when the header is absent; http_header tells absent from different. */
bool http_if_none_match(const struct http_request *req, const char *etag);
bool http_if_match(const struct http_request *req, const char *etag);

/* Does Accept allow this media type? True when the header is absent. */
bool http_accepts(const struct http_request *req, const char *media_type);

/* Does Accept-Encoding allow this content coding? False when the header is absent. */
bool http_accepts_coding(const struct http_request *req, const char *coding);

/* size bytes, zeroed, that live as long as the request; NULL only when memory is exhausted.
 * Confined to the request's handler. */
void *http_request_alloc(const struct http_request *req, size_t size);
char *http_request_printf(const struct http_request *req, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* What the handler wants to find again when it runs again after a wait; NULL at first. It must live
 * as long as the request: http_request_alloc. */
void http_request_keep(const struct http_request *req, void *kept);
void *http_request_kept(const struct http_request *req);

/* The server that the request came to: for its counters, and for readiness while it drains. */
struct http_server *http_request_server(const struct http_request *req);

/* 64-bit hash of the query string in a canonical form (parameters sorted, `wait` left out): what an
 * ETag and a cursor are bound to. */
uint64_t http_query_hash(const struct http_request *req);

#endif
