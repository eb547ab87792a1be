/* SPDX-License-Identifier: MIT
 *
 * The server: a route table, settings, start and stop.
 */
#ifndef HTTP_SERVER_H
#define HTTP_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "server/base/error.h"
#include "server/base/log.h"
#include "server/http/request.h"
#include "server/http/response.h"

struct cfg;
struct http_server;

/* Runs on a request thread, may block on the database for a short while. state: what thread_start
 * made for this thread, else settings.ctx. May run again for the same request after a park. */
typedef enum sv_status (*http_handler_fn)(void *state, const struct http_request *req,
                                          struct http_response *out_resp, struct sv_error *err);

/* Looks for the answer in memory, on an I/O thread, before a request is queued: it must neither
 * wait nor ask anybody. True: resp is the answer. ctx: settings.ctx. */
typedef bool (*http_recall_fn)(void *ctx, const struct http_request *req,
                               struct http_response *out_resp);

enum http_body {
    HTTP_BODY_NONE,          /* a body is refused */
    HTTP_BODY_JSON,          /* application/json, parsed into req->json */
    HTTP_BODY_JSON_OPTIONAL, /* the same, or none */
    HTTP_BODY_SPOOL          /* written to an unlinked file: req->body_fd */
};

struct http_route {
    const char *method;  /* GET, POST, PUT, PATCH, DELETE; HEAD and OPTIONS follow */
    const char *pattern; /* "/v1/jobs/{id}/cancel"; {id} matches 32 hex digits only, any other
                          * {name} one non-empty segment */
    http_handler_fn handler;
    enum http_role role; /* least role; PUBLIC skips the authenticate hook */
    enum http_body body;
    uint64_t max_bytes;       /* of the body; 0: the server's cap for the kind */
    const char *content_type; /* comma list for SPOOL; NULL: application/octet-stream */
    const char *produces;     /* comma list of media types; NULL: application/json */
    /* Runs before the body of a SPOOL route is read, with the request's actor; an error refuses the
     * upload early. NULL: only authentication. Its answer is not used. */
    http_handler_fn before_body;
    http_recall_fn recall; /* of a GET; NULL: the handler always runs */
};

struct http_settings {
    const struct cfg *config; /* listen, limits, deadlines; borrowed for the server's life */
    const struct http_route *routes;
    size_t route_count;
    const char *spool_dir;    /* for large bodies; must exist; borrowed */
    const struct sv_log *log; /* requests at debug; may be NULL; borrowed */
    void *ctx;                /* state of handlers when thread_start is NULL */
    /* State of one request thread, made and ended on it. May be NULL. */
    void *(*thread_start)(void *ctx, unsigned index);
    void (*thread_end)(void *state);
    /* Fills out_actor or fails with SV_ERR_UNAUTHENTICATED, SV_ERR_DATABASE ... NULL: only loopback
     * peers are served, as ADMIN of default_project. */
    enum sv_status (*authenticate)(void *state, const struct http_request *req,
                                   struct http_actor *out_actor, struct sv_error *err);
    /* The actor if it is known without asking anybody; runs on an I/O thread, as recall does. NULL:
     * recall is used on PUBLIC routes only. */
    bool (*recall_actor)(void *ctx, const struct http_request *req, struct http_actor *out_actor);
    /* Says, as an error, what a number that stands where `pattern` has an id may mean: digits
     * alone. Runs on a request thread, with the request's actor, in place of the route's handler.
     * NULL: such a path is not found without more. */
    enum sv_status (*explain_number)(void *state, const struct http_request *req,
                                     const char *pattern, const char *number, struct sv_error *err);
    /* Runs on a request thread after the handler of a POST, PUT, PATCH or DELETE, whatever came of
     * it, and before its answer goes out. May be NULL. */
    void (*written)(void *state);
    char default_project[33];
};

/* Is this an address to listen on? SV_ERR_INVALID_PARAMETER. Opens nothing. */
SV_MUST_CHECK enum sv_status http_listen_check(const char *listen, struct sv_error *err);

/* Binds, starts all threads. SV_ERR_CONFLICT when the address is taken, SV_ERR_INVALID_PARAMETER
 * for a bad listen address. */
SV_MUST_CHECK enum sv_status http_server_create(const struct http_settings *settings,
                                                struct http_server **out, struct sv_error *err);
/* "127.0.0.1" and the port in use. */
const char *http_server_host(const struct http_server *server);
uint16_t http_server_port(const struct http_server *server);

/* Stop accepting work: new requests are answered 503 draining except on PUBLIC routes, parked
 * ones are woken. Idempotent. */
void http_server_drain(struct http_server *server);
bool http_server_is_draining(const struct http_server *server);
/* Drains, waits up to grace_ms for requests in flight, ends all threads. Tickets may still be woken
 * afterwards (nothing happens), so the order is: stop, destroy what holds tickets, destroy. */
void http_server_stop(struct http_server *server, unsigned grace_ms);
/* Frees a server that was stopped. server may be NULL. */
void http_server_destroy(struct http_server *server);

struct http_stats {
    uint64_t requests;      /* handled or refused since start */
    uint64_t by_class[6];   /* [2]: answers 2xx ... */
    uint64_t refused_queue; /* 503 for a full queue */
    uint64_t connections;   /* open now */
    uint64_t queued;        /* waiting for a thread now */
    uint64_t running;       /* in a handler now */
    uint64_t parked;        /* waiting for a change now */
};
void http_server_stats(struct http_server *server, struct http_stats *out);

#endif
