/* SPDX-License-Identifier: MIT
 *
 * What handlers share: the scope of a request, values as JSON, lists, polls.
 */
#ifndef API_ANSWER_INTERNAL_H
#define API_ANSWER_INTERNAL_H

#include <jansson.h>

#include "core/json/json.h"
#include "server/api/api.h"
#include "server/changes/changes.h"
#include "server/http/http.h"
#include "server/store/store.h"

#define API_COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))

/* In whose name the store acts for this request. */
void api_scope(const struct http_request *req, struct store_scope *out_scope);

/* "" -> NULL, for the "s?" of json_pack: absent times and ids are null. */
const char *api_given(const char *text);
/* A stored JSON text parsed again; null when text is NULL. NULL when out of memory. */
json_t *api_document(const char *text);

/* A failed constructor. */
enum sv_status api_no_memory(struct sv_error *err);

/* SHA-256 of method, path and canonical body under the request's Idempotency-Key. *out_used is
 * false when there is no such header. */
SV_MUST_CHECK enum sv_status api_idempotency(const struct http_request *req,
                                             struct store_idempotency *out_key, bool *out_used,
                                             struct sv_error *err);
/* What every POST without parameters that creates something begins with. */
struct api_creation {
    struct store_scope scope;
    struct store_idempotency key;
    const struct store_idempotency *idempotency; /* key, or NULL */
    struct store_created created;                /* for the store to fill */
};
SV_MUST_CHECK enum sv_status api_creation_begin(const struct http_request *req,
                                                struct api_creation *out_creation,
                                                struct sv_error *err);
/* Says in a header whether the answer repeats an earlier one. */
void api_replayed(struct http_response *resp, const struct store_created *created);

/* A body field that is known but not built: 422 not_supported with its pointer. fields ends in
 * NULL. */
SV_MUST_CHECK enum sv_status api_refuse_fields(const json_t *body, const char *const *fields,
                                               struct sv_error *err);
/* jx_decode with the statuses of this side: SV_ERR_UNKNOWN_FIELD, SV_ERR_INVALID_FIELD. */
SV_MUST_CHECK enum sv_status api_decode(const struct jx_field *table, const json_t *body, void *out,
                                        struct sv_error *err);
/* The same for the i-th item of the array at `pointer`. */
SV_MUST_CHECK enum sv_status api_decode_item(const struct jx_field *table, const json_t *item,
                                             const char *pointer, size_t i, void *out,
                                             struct sv_error *err);
/* The same for the body of a PATCH, which must name something. */
SV_MUST_CHECK enum sv_status api_decode_patch(const struct jx_field *table, const json_t *body,
                                              void *out, struct sv_error *err);
/* A text without control characters. */
SV_MUST_CHECK enum sv_status api_check_line(const char *text, const char *pointer,
                                            struct sv_error *err);

/* ------------------------------------------------------------------------------------- lists */

/* rows with row at its end; both are transferred. NULL, with everything freed, when either is NULL
 * or memory is exhausted; so a chain needs one check at its end. */
json_t *api_append_take(json_t *rows, json_t *row);
/* rows with only the named members of each; no names keep all. NULL as above. */
json_t *api_picked_take(json_t *rows, const struct http_list *fields);
/* {"items": rows, "next_cursor": next or null}; rows is transferred, NULL gives NULL. */
json_t *api_list_take(json_t *rows, const char *next);

/* A query table and the struct it decodes into. */
struct api_params {
    const struct http_param *table;
    size_t count;
    void *out;
};

/* A page of a store list. The store's cursors say where to go on, not in which list: the signature
 * binds them to the path, the filters and the sort of the query (everything but limit, cursor,
 * wait, fields). */
struct api_page {
    struct store_page store;
    uint64_t signature;
};
/* SV_ERR_INVALID_PARAMETER "cursor" for one that was made for another list or query. */
SV_MUST_CHECK enum sv_status api_page_open(const struct http_request *req,
                                           const struct api_params *params, int64_t limit,
                                           const char *cursor, struct api_page *out_page,
                                           struct sv_error *err);
/* The store's next cursor as the client gets it, in the request's memory; NULL stays NULL. */
const char *api_page_next(const struct http_request *req, const struct api_page *page,
                          const char *next);

/* ------------------------------------------------------------------------------------- polls */

/* A read of something with a revision: answered with 304, parked, or from an answer kept, without a
 * query, where the revision is known; else the handler reads and api_poll_end answers. */
struct api_poll {
    const char *id; /* of the job, or of something below it */
    int64_t wait;   /* seconds */
    struct changes_mark mark;
};

/* *out_done: resp holds the answer, or the request is parked. */
SV_MUST_CHECK enum sv_status api_poll_begin(struct api_ctx *ctx, const struct http_request *req,
                                            struct http_response *resp, const char *id,
                                            int64_t wait, struct api_poll *out_poll, bool *out_done,
                                            struct sv_error *err);
/* json is transferred; the read saw job_id at revision. */
SV_MUST_CHECK enum sv_status api_poll_end_take(struct api_ctx *ctx, const struct http_request *req,
                                               struct http_response *resp,
                                               const struct api_poll *poll, const char *job_id,
                                               int64_t revision, json_t *json,
                                               struct sv_error *err);
/* The same for an answer of another media type; bytes are freed by free(). */
SV_MUST_CHECK enum sv_status
api_poll_end_bytes_take(struct api_ctx *ctx, const struct http_request *req,
                        struct http_response *resp, const struct api_poll *poll, const char *job_id,
                        int64_t revision, const char *type, char *bytes, size_t size,
                        struct sv_error *err);

/* Lists: bound to the generation of all changes; their ETag is made of the (id, revision) pairs of
 * the page. */
struct api_list_poll {
    int64_t wait;
    bool known; /* generation is certain */
    uint64_t generation;
    uint64_t pairs; /* hash of the pairs so far */
};
SV_MUST_CHECK enum sv_status api_list_begin(struct api_ctx *ctx, const struct http_request *req,
                                            struct http_response *resp, int64_t wait,
                                            struct api_list_poll *out_poll, bool *out_done,
                                            struct sv_error *err);
/* Rows of the route table: the same from memory, without a request thread. */
bool api_poll_recall(void *ctx, const struct http_request *req, struct http_response *out_resp);
bool api_list_recall(void *ctx, const struct http_request *req, struct http_response *out_resp);
void api_list_pair(struct api_list_poll *poll, const char *id, int64_t revision);
SV_MUST_CHECK enum sv_status api_list_end_take(struct api_ctx *ctx, const struct http_request *req,
                                               struct http_response *resp,
                                               const struct api_list_poll *poll, json_t *json,
                                               struct sv_error *err);

#endif
