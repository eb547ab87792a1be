/* SPDX-License-Identifier: MIT
 *
 * The server: connections, queue, park table, threads.
 *
 * `mutex` guards the queue, the slots and the counters beside them; `connections_mutex` guards the
 * list of connections. Neither is held while libmicrohttpd is called, and never both.
 */
#ifndef HTTP_SERVER_INTERNAL_H
#define HTTP_SERVER_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "server/base/ids.h"
#include "server/config/config.h"
#include "server/http/exchange_internal.h"

/* The connection, for deadlines. Lives from accept to close. */
enum http_conn_phase {
    HTTP_CONN_HEADERS,
    HTTP_CONN_IDLE,
    HTTP_CONN_BODY,
    HTTP_CONN_OURS,
    HTTP_CONN_SENDING
};
struct http_connection {
    struct http_connection *prev, *next; /* guarded by connections_mutex */
    int fd;
    bool cut; /* by the sweep; guarded by connections_mutex */
    bool loopback;
    char peer[64];
    _Atomic(enum http_conn_phase) phase;
    _Atomic int64_t since_ms;
    _Atomic uint64_t bytes; /* of the body in this phase */
};

/* A parked request. generation rises when the slot changes hands or is armed anew. */
enum http_slot_state { HTTP_SLOT_FREE, HTTP_SLOT_ARMED, HTTP_SLOT_PARKED };
struct http_slot {
    enum http_slot_state state;
    uint32_t generation;
    uint32_t next_free;
    struct http_exchange *exchange;
    bool woken; /* while armed */
    int64_t deadline_ms;
};

struct http_server {
    struct http_settings settings;
    const struct cfg *config;
    struct MHD_Daemon *daemon;
    int listen_fd;
    char id[SV_ID_SIZE]; /* begins the request ids that we make */
    atomic_uint_fast64_t request_number;
    char host[64];
    uint16_t port;
    bool any_literal_host; /* not listening on loopback: any address is a good Host */
    atomic_bool draining;

    pthread_mutex_t mutex;
    pthread_cond_t work; /* queue not empty, or stopping */
    pthread_cond_t tick; /* timer: stopping */
    struct http_exchange *head, *tail;
    size_t queued; /* includes places reserved by an I/O thread */
    size_t running, parked;
    bool pool_stopped, timer_stopped;
    struct http_slot *slots;
    uint32_t slot_count, first_free;

    pthread_mutex_t connections_mutex;
    struct http_connection *connections;

    pthread_t *threads;
    unsigned thread_count;
    pthread_t timer;
    bool timer_running;

    atomic_uint_fast64_t requests, by_class[6], refused_queue, open_connections, exchanges;
};

/* router.c */
SV_MUST_CHECK enum sv_status http_route_table_check(const struct http_settings *settings,
                                                    struct sv_error *err);

/* pool.c */
/* A place in the queue; false when it is full (must_fit: only when stopped). */
bool http_pool_reserve(struct http_server *server, bool must_fit);
void http_pool_push_reserved(struct http_server *server, struct http_exchange *ex);
SV_MUST_CHECK enum sv_status http_pool_start(struct http_server *server, struct sv_error *err);
void http_pool_stop(struct http_server *server);
/* server->mutex held. */
void http_pool_push_locked(struct http_server *server, struct http_exchange *ex);

/* park.c */
SV_MUST_CHECK enum sv_status http_park_init(struct http_server *server, uint32_t count,
                                            struct sv_error *err);
void http_park_deinit(struct http_server *server);
/* After the handler: true when the request is parked or queued again, false when it may go on. */
bool http_park_commit(struct http_exchange *ex, int64_t deadline_ms);
SV_MUST_CHECK enum sv_status http_park_arm(struct http_exchange *ex, struct http_ticket *out_ticket,
                                           struct sv_error *err);
void http_park_release(struct http_exchange *ex);
void http_park_wake_all(struct http_server *server, enum http_wake why);
/* Deadlines; called by the timer. */
void http_park_tick(struct http_server *server, int64_t now_ms, bool look_for_gone);

/* timer.c */
SV_MUST_CHECK enum sv_status http_timer_start(struct http_server *server, struct sv_error *err);
void http_timer_stop(struct http_server *server);
void http_connection_phase(struct http_connection *connection, enum http_conn_phase phase);

/* listen.c */
SV_MUST_CHECK enum sv_status http_listen(struct http_server *server, struct sv_error *err);
bool http_host_is_allowed(const struct http_server *server, const char *host);

/* callbacks.c */
SV_MUST_CHECK enum sv_status http_daemon_start(struct http_server *server, struct sv_error *err);

#endif
