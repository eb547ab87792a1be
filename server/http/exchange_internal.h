/* SPDX-License-Identifier: MIT
 *
 * One request from its first byte to its last, and the server it runs on.
 *
 * An exchange has one owner at a time; only the owner touches it (and its arena):
 *
 *     I/O thread --dispatch--> queue --pop--> request thread --exchange_resume--> I/O thread
 *                                ^              |
 *                                |             park (long poll, event stream)
 *                                |              v
 *                              wake <--------- slot of the park table
 *
 * 1. While queue, request thread or slot own it, its connection is suspended. dispatch suspends
 *    before it queues; exchange_resume is the last thing an owner does, it may be freed at once.
 * 2. libmicrohttpd may hand over one more piece of a chunked body before it looks at the
 * suspension; body_more then takes nothing.
 * 3. It is freed in one place, the completed callback, which libmicrohttpd runs on the I/O thread
 *    and never for a suspended connection.
 * 4. server->mutex guards the queue, the slots and the counters beside them. connections_mutex
 *    guards the list of connections. Neither is held while libmicrohttpd is called, and never both.
 */
#ifndef HTTP_EXCHANGE_INTERNAL_H
#define HTTP_EXCHANGE_INTERNAL_H

#include <microhttpd.h>
#include <pthread.h>
#include <stdatomic.h>

#include "core/base/memory.h"
#include "server/config/config.h"
#include "server/http/request.h"
#include "server/http/response.h"
#include "server/http/server.h"

#define HTTP_URI_MAX        4096         /* bytes of the request target; above: 414 */
#define HTTP_HEADERS_MAX    100          /* headers of a request; above: 431 */
#define HTTP_HEAD_BYTES     (16u << 10)  /* request line and headers; above: 431 */
#define HTTP_SEGMENTS_MAX   12           /* of a path; above: 404 */
#define HTTP_PAIRS_MAX      64           /* query parameters; above: 400 */
#define HTTP_CHUNK_BYTES    (256u << 10) /* spooled and streamed at a time */
#define HTTP_EARLY_BYTES    (64u << 10)  /* larger bodies are authenticated before they are read */
#define HTTP_SWALLOW_BYTES  (4u << 20)   /* of a refused body, read and dropped */
#define HTTP_BYTES_A_SECOND (16u << 10)  /* slowest body that is put up with */
#define HTTP_OWN_HEADERS    16           /* headers that a handler may set */

struct http_pair {
    const char *name;
    const char *value;
};

/* What a request thread does with an exchange. */
enum http_task {
    HTTP_TASK_ADMIT,  /* authenticate and before_body, before a large body is read */
    HTTP_TASK_WRITE,  /* write the full chunk to the spool file */
    HTTP_TASK_HANDLE, /* run the handler */
    HTTP_TASK_FILL    /* read the next piece of a streamed answer */
};

/* Where the I/O thread is with it. */
enum http_phase {
    HTTP_PHASE_START,  /* headers are here */
    HTTP_PHASE_ADMIT,  /* ADMIT was dispatched */
    HTTP_PHASE_BODY,   /* the body comes */
    HTTP_PHASE_ANSWER, /* HANDLE was dispatched, or an answer is queued */
};

enum http_kind {
    HTTP_KIND_NONE,
    HTTP_KIND_BYTES, /* allocated: freed with free() */
    HTTP_KIND_STATIC,
    HTTP_KIND_FILE,
    HTTP_KIND_STREAM,
    HTTP_KIND_PARK
};

/* A streamed answer. Owned by its exchange. */
struct http_stream {
    http_read_fn read; /* one of these two */
    http_events_fn events;
    http_done_fn done;
    void *ctx;
    uint64_t size;   /* UINT64_MAX: unknown */
    uint64_t offset; /* bytes read so far */
    char *buffer;
    size_t capacity, begin, end; /* begin..end is to be sent */
    bool ended, failed;
    int64_t ends_at_ms; /* events */
};

struct http_events {
    struct http_stream *stream;
};

struct http_response {
    struct nn_arena *arena; /* of the exchange; borrowed */
    enum http_kind kind;
    int status;
    const char *type;
    void *bytes;
    uint64_t size;
    int fd;
    struct http_stream *stream;
    struct http_pair headers[HTTP_OWN_HEADERS];
    size_t header_count;
    json_t *extra; /* members of a problem document */
    unsigned retry_after;
    bool out_of_memory; /* a header was lost: the answer becomes 500 */
};

struct http_body_state {
    bool present, chunked;
    uint64_t length;   /* Content-Length; UINT64_MAX when chunked */
    uint64_t cap;      /* of this route */
    uint64_t received; /* bytes seen */
    char *buffer;      /* whole JSON body, or the chunk to be spooled */
    size_t used, capacity;
    int fd;
    uint64_t swallowed; /* bytes dropped since error */
};

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

struct http_exchange {
    struct http_request request; /* first: public functions come back from it */
    struct http_response response;
    struct http_server *server;
    struct MHD_Connection *mhd;
    struct http_connection *connection;
    struct nn_arena *arena;
    struct http_exchange *next; /* in the queue */
    enum http_phase phase;
    enum http_task task;
    bool admitted, close, overlong_uri, gone;
    int64_t started_ms;
    char *uri; /* as sent, NULL if it was too long */
    size_t uri_size;
    const char *query;
    bool is_http_1_0;
    const struct http_route *route;
    const char *segments[HTTP_SEGMENTS_MAX]; /* decoded */
    size_t segment_count;
    struct http_pair headers[HTTP_HEADERS_MAX];
    size_t header_count;
    struct http_pair pairs[HTTP_PAIRS_MAX]; /* of the query, decoded */
    size_t pair_count;
    struct http_body_state body;
    enum sv_status error; /* found while the body was read; answered at its end */
    struct sv_error error_detail;
    struct MHD_Response *answer; /* ready to be queued; NULL: none yet */
    unsigned answer_status;
    uint64_t answer_bytes;
    int32_t slot;          /* in the park table, -1: none */
    int64_t wait_until_ms; /* deadline of a long poll, 0: not set */
    char request_id[72];
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

static inline struct http_exchange *http_exchange_of(const struct http_request *req)
{
    /* the public struct is the first member, and handlers get it const */
    return (struct http_exchange *)(uintptr_t)req;
}

/* admit.c: all checks that need only the headers. SV_OK, or what to answer; may set ex->close. */
SV_MUST_CHECK enum sv_status http_admit(struct http_exchange *ex, const char *method,
                                        const char *version, struct sv_error *err);
bool http_is_problem_closing(enum sv_status status);

/* router.c: path -> route. Sets route and segments' names; for 405 and OPTIONS fills allow. */
SV_MUST_CHECK enum sv_status http_route_find(struct http_exchange *ex, const char *method,
                                             struct sv_error *err);
SV_MUST_CHECK enum sv_status http_route_table_check(const struct http_settings *settings,
                                                    struct sv_error *err);

/* body.c */
SV_MUST_CHECK enum sv_status http_body_admit(struct http_exchange *ex, struct sv_error *err);
SV_MUST_CHECK enum sv_status http_body_begin(struct http_exchange *ex, struct sv_error *err);
/* Takes what it can; returns bytes consumed, or SIZE_MAX to cut the connection. Sets *out_full when
 * the chunk must be written first. */
size_t http_body_take(struct http_exchange *ex, const char *data, size_t size, bool *out_full);
void http_body_write(struct http_exchange *ex);
SV_MUST_CHECK enum sv_status http_body_finish(struct http_exchange *ex, struct sv_error *err);
void http_body_deinit(struct http_exchange *ex);

/* pool.c */
/* A place in the queue; false when it is full (must_fit: only when stopped). */
bool http_pool_reserve(struct http_server *server, bool must_fit);
void http_pool_push_reserved(struct http_server *server, struct http_exchange *ex);
SV_MUST_CHECK enum sv_status http_pool_start(struct http_server *server, struct sv_error *err);
void http_pool_stop(struct http_server *server);
/* server->mutex held. */
void http_pool_push_locked(struct http_server *server, struct http_exchange *ex);
void http_exchange_resume(struct http_exchange *ex);

/* run.c: what a request thread does with an exchange; the caller no longer owns it afterwards. */
void http_exchange_run(struct http_exchange *ex, void *state);
/* The queue is gone: answer without running. */
void http_exchange_abandon(struct http_exchange *ex);

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

/* answer.c: response -> MHD_Response. Sets ex->answer; frees what the response held. */
void http_answer_make(struct http_exchange *ex);
void http_answer_problem(struct http_exchange *ex, enum sv_status status,
                         const struct sv_error *err);
void http_response_reset(struct http_response *resp);

/* stream.c */
void http_stream_fill(struct http_exchange *ex, void *state);
void http_stream_heartbeat(struct http_exchange *ex);
ssize_t http_stream_read(void *cls, uint64_t position, char *buffer, size_t max);
void http_stream_free(struct http_stream *stream);

/* text.c */
/* Percent-decodes in place; plus: '+' is a blank. False on a bad escape, %00 or invalid UTF-8. */
bool http_text_unescape(char *text, bool plus);
bool http_text_is_utf8(const char *text);
bool http_text_is_token(const char *text);
/* Next element of a comma list, without blanks and parameters (";..."): false at the end. */
bool http_text_next(const char **inout_list, const char **out_item, size_t *out_size,
                    const char **out_parameters);
/* Is the media type (no parameters) one of the comma list? */
bool http_text_in_list(const char *list, const char *item, size_t size);

/* query.c */
SV_MUST_CHECK enum sv_status http_query_split(struct http_exchange *ex, struct sv_error *err);

#endif
