/* SPDX-License-Identifier: MIT
 *
 * Revisions known without a query, waits that wake on changes, answers kept by revision. All
 * functions may be called from any thread.
 *
 * Ids are 32 hex digits. A job's (a data set's) revision rises with every commit that touches
 * anything below it, and each such commit notifies.
 */
#ifndef CHANGES_CHANGES_H
#define CHANGES_CHANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "server/base/error.h"
#include "server/base/log.h"
#include "server/http/request.h"
#include "server/http/response.h"

struct changes;

/* One notification: a job or data set stands at this revision now. */
struct changes_notice {
    char id[33];
    char project_id[33];
    int64_t revision;
};

enum changes_heard {
    CHANGES_HEARD_NOTICE,   /* *out_notice is set */
    CHANGES_HEARD_NOTHING,  /* time is up, or wake_fd became readable */
    CHANGES_HEARD_CONNECTED /* listening now, also after a loss: what was known may be stale */
};

/* What the thread listens with; made by app on top of server/store. Only the thread calls it. */
struct changes_source {
    void *ctx;
    /* Waits for the next notification, up to timeout_ms or until wake_fd is readable. Connects,
     * issues LISTEN and proves a silent connection alive by itself. SV_ERR_DATABASE: away, call
     * again. */
    enum sv_status (*wait)(void *ctx, int timeout_ms, int wake_fd, enum changes_heard *out_heard,
                           struct changes_notice *out_notice, struct sv_error *err);
};

struct changes_settings {
    struct changes_source source;
    const struct sv_log *log; /* lost and regained connections; may be NULL; borrowed */
    size_t max_entries;       /* ids in the map; 0: 16384 */
    size_t answer_bytes;      /* memory for answers; 0: none are kept */
    unsigned retry_ms;        /* first pause after a lost connection, doubled up to 5 s; 0: 200 */
};

/* Starts the thread; an unreachable database is no error: it keeps trying. */
SV_MUST_CHECK enum sv_status changes_create(const struct changes_settings *settings,
                                            struct changes **out, struct sv_error *err);
/* Stops the thread. Waits are not woken: the HTTP server is stopped before and destroyed after. */
void changes_destroy(struct changes *changes);
/* Is the LISTEN connection up? */
bool changes_is_listening(struct changes *changes);

/* Revision of the job that id names (a job, or an id learnt as below it), if it is known for
 * certain and belongs to the project. */
bool changes_revision(struct changes *changes, const char *project_id, const char *id,
                      int64_t *out_revision);
/* Rises with every notification of any job, and when the connection was lost: what is unchanged
 * between two equal values has not changed. False while the connection is down. */
bool changes_generation(struct changes *changes, uint64_t *out_generation);

/* The point in time before a query; what the query returned may be taught with it. */
struct changes_mark {
    uint64_t epoch;
};
struct changes_mark changes_mark(struct changes *changes);
/* The query made after mark saw job_id of this project at revision. id is the job's own or that of
 * something below it (a trial). Refused silently when the mark is too old to be sure. */
void changes_learn(struct changes *changes, struct changes_mark mark, const char *project_id,
                   const char *id, const char *job_id, int64_t revision);

/* This process has written: nothing that was known may be given out any more, because the
 * notification of the write may arrive after the writer's next question. */
void changes_wrote(struct changes *changes);

/* Park the request until the job's revision is above seen, or wait_seconds are over. id as above;
 * seen was looked up or read after mark. When it is above already, or may be because what was known
 * has been forgotten since, the request is run again at once. */
SV_MUST_CHECK enum sv_status changes_wait(struct changes *changes, struct changes_mark mark,
                                          const char *id, int64_t seen,
                                          const struct http_request *req,
                                          struct http_response *resp, int64_t wait_seconds,
                                          struct sv_error *err);
/* Park until anything has happened since the generation (lists). */
SV_MUST_CHECK enum sv_status changes_wait_any(struct changes *changes, uint64_t generation,
                                              const struct http_request *req,
                                              struct http_response *resp, int64_t wait_seconds,
                                              struct sv_error *err);
/* For event streams: wake the ticket at the next notification of any job. Call it before reading
 * the outbox. */
void changes_watch(struct changes *changes, struct http_ticket ticket);

/* Answers by revision, one for each project, role, address with query, and Accept. version is a
 * revision or a generation that was read before the data. get fills resp with 200, the bytes and
 * the ETag, and is true when there is an answer of exactly this version; etag gives only its ETag.
 * put copies. */
bool changes_answer_get(struct changes *changes, const struct http_request *req, int64_t version,
                        struct http_response *resp);
bool changes_answer_etag(struct changes *changes, const struct http_request *req, int64_t version,
                         char out_etag[HTTP_ETAG_SIZE]);
void changes_answer_put(struct changes *changes, const struct http_request *req, int64_t version,
                        const char *etag, const char *type, const void *bytes, size_t size);

#endif
