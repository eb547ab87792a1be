/* SPDX-License-Identifier: MIT
 *
 * The answer that a handler builds. A handler that returns anything but SV_OK needs no answer: the
 * server drops what was built and sends a problem document made of status and sv_error.
 *
 * _take: the value is transferred, even when the call fails. Functions that return a status fail
 * only for lack of memory (SV_ERR_INTERNAL).
 */
#ifndef HTTP_RESPONSE_H
#define HTTP_RESPONSE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "server/base/error.h"
#include "server/http/request.h"

struct http_response; /* confined to the handler */

/* JSON document with status 200, 201, 202 ...; json NULL (a failed constructor) is
 * SV_ERR_INTERNAL. */
SV_MUST_CHECK enum sv_status http_response_json_take(struct http_response *resp, int status,
                                                     json_t *json);
/* No body: 204, 304. */
void http_response_empty(struct http_response *resp, int status);
/* Bytes of a media type; _copy copies, _take frees with free(). */
SV_MUST_CHECK enum sv_status http_response_copy(struct http_response *resp, int status,
                                                const char *type, const void *bytes, size_t size);
SV_MUST_CHECK enum sv_status http_response_bytes_take(struct http_response *resp, int status,
                                                      const char *type, void *bytes, size_t size);
/* Bytes with static lifetime. */
void http_response_static(struct http_response *resp, int status, const char *type,
                          const void *bytes, size_t size);
/* size bytes of an open file from offset 0; fd is closed when sent. http_spool_open gives an
 * unlinked file in the data directory for that. */
void http_response_fd_take(struct http_response *resp, const char *type, int fd, uint64_t size);

/* An unlinked, close-on-exec file in the spool directory; -1 when that fails. */
int http_spool_open(const struct http_request *req);

/* A body that is read while it is sent. read runs on a request thread, writes up to size bytes to
 * buffer and sets *out_count; 0 ends the body. offset is the number of bytes read so far. An error
 * after the first byte cuts the connection (and is logged). state is what handlers get.
 * size UINT64_MAX: unknown. done frees ctx, on any thread, exactly once. */
typedef enum sv_status (*http_read_fn)(void *ctx, void *state, uint64_t offset, char *buffer,
                                       size_t size, size_t *out_count, struct sv_error *err);
typedef void (*http_done_fn)(void *ctx);
void http_response_read_take(struct http_response *resp, const char *type, uint64_t size,
                             http_read_fn read, http_done_fn done, void *ctx);

/* Name for a download: Content-Disposition attachment; odd characters are replaced. */
void http_response_filename(struct http_response *resp, const char *name);
/* A header of our own making: name and value must be sound (checked; an unsound one is a bug). At
 * most 12 headers. */
void http_response_header(struct http_response *resp, const char *name, const char *value);
void http_response_etag(struct http_response *resp, const char *etag);
void http_response_location(struct http_response *resp, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* 304 with the ETag. */
void http_response_not_modified(struct http_response *resp, const char *etag);
/* A member beside the standard ones of the problem document that is sent when the handler returns
 * an error, e.g. "issues". */
void http_response_extra_take(struct http_response *resp, const char *name, json_t *value);
/* Seconds for Retry-After of an error (default 1 for 429 and 503). */
void http_response_retry_after(struct http_response *resp, unsigned seconds);

/* Entity tag of a revision, the query, and Accept where the route has a choice: "\"r12-5f3a...\"".
 */
#define HTTP_ETAG_SIZE 48
void http_etag(const struct http_request *req, int64_t revision, char out[HTTP_ETAG_SIZE]);

/* --- Waiting --------------------------------------------------------------------------------
 * A ticket names one park of one request; it goes stale when the park ends, and waking a stale
 * ticket does nothing, so whoever holds tickets needs no word when a request ends otherwise. */
struct http_ticket {
    struct http_server *server; /* NULL: none */
    uint32_t slot;
    uint32_t generation;
};

/* Park the request after this handler returns SV_OK: it is run again, with another http_wake, when
 * the ticket is woken (also if that happens before the return), when wait_seconds have passed since
 * the request's first park, or when the server drains. SV_ERR_TOO_MANY when all slots are taken. */
SV_MUST_CHECK enum sv_status http_park(const struct http_request *req, struct http_response *resp,
                                       int64_t wait_seconds, struct http_ticket *out_ticket,
                                       struct sv_error *err);
/* From any thread; cheap. */
void http_wake(struct http_ticket ticket);

/* Event stream (text/event-stream). fill runs on a request thread and appends what is new with
 * http_events_send; before it reads, it gives `ticket` to whoever wakes it (changes_watch). It runs
 * once at the start, after each wake, and again at once while it has sent something. An error ends
 * the stream. Comments are sent as heartbeat when idle; the stream ends after an hour at most: the
 * client comes back with Last-Event-ID. done as above. SV_ERR_TOO_MANY as above. */
struct http_events;
typedef enum sv_status (*http_events_fn)(void *ctx, void *state, struct http_ticket ticket,
                                         struct http_events *out, struct sv_error *err);
SV_MUST_CHECK enum sv_status http_response_events_take(const struct http_request *req,
                                                       struct http_response *resp,
                                                       http_events_fn fill, http_done_fn done,
                                                       void *ctx, struct sv_error *err);
/* One event; data is one line of JSON. id and event may be NULL. */
SV_MUST_CHECK enum sv_status http_events_send(struct http_events *events, const char *id,
                                              const char *event, const char *data);

#endif
