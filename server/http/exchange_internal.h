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
 */
#ifndef HTTP_EXCHANGE_INTERNAL_H
#define HTTP_EXCHANGE_INTERNAL_H

#include <microhttpd.h>

#include "core/base/memory.h"
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
#define HTTP_SWALLOW_BYTES  (64u << 20)  /* of a refused body, read and dropped */
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
    void *bytes;         /* BYTES */
    const void *lasting; /* STATIC */
    uint64_t size;
    int fd; /* FILE; -1: none */
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

struct http_connection;

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
    const char *host; /* of an absolute-form target, else the header; NULL: not looked at yet */
    bool is_http_1_0;
    const struct http_route *route;
    const char *segments[HTTP_SEGMENTS_MAX]; /* decoded */
    size_t segment_count;
    const char *number; /* the segment that stands for the route's id and is none; or NULL */
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
    void *kept;            /* of the handler: http_request_keep */
    char request_id[72];
};

static inline struct http_exchange *http_exchange_of(const struct http_request *req)
{
    /* the public struct is the first member, and handlers get it const */
    union {
        const struct http_request *given;
        struct http_exchange *wanted;
    } as = {req};
    return as.wanted;
}

/* admit.c: all checks that need only the headers. SV_OK, or what to answer; may set ex->close. */
SV_MUST_CHECK enum sv_status http_admit(struct http_exchange *ex, const char *method,
                                        const char *version, struct sv_error *err);
bool http_is_problem_closing(enum sv_status status);

/* router.c: path -> route. Sets route and segments' names; for 405 and OPTIONS fills allow. */
SV_MUST_CHECK enum sv_status http_route_find(struct http_exchange *ex, const char *method,
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

/* Gives it back to its I/O thread; it may be freed at once. */
void http_exchange_resume(struct http_exchange *ex);

/* run.c: who asks, and may they? Sets the request's actor. */
SV_MUST_CHECK enum sv_status http_authenticate(struct http_exchange *ex, void *state,
                                               struct sv_error *err);
/* The same of one that was let in before and has waited since: fails only when the right is known
 * to be gone, since it cannot be taken away while nobody can be asked. */
SV_MUST_CHECK enum sv_status http_still_allowed(struct http_exchange *ex, void *state,
                                                struct sv_error *err);
/* run.c: what a request thread does with an exchange; the caller no longer owns it afterwards. */
void http_exchange_run(struct http_exchange *ex, void *state);
/* The queue is gone: answer without running. */
void http_exchange_abandon(struct http_exchange *ex);

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
