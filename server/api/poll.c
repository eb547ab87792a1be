/* SPDX-License-Identifier: MIT
 *
 * Reads that are polled: ETag, 304, long poll, answers kept by revision. See server/changes.
 */
#include <stdlib.h>
#include <string.h>

#include "server/api/answer_internal.h"

/* May this request still wait? After its deadline or in a drain it is answered as things stand. */
static bool may_wait(const struct http_request *req, int64_t wait)
{
    return wait > 0 && (req->wake == HTTP_WAKE_FIRST || req->wake == HTTP_WAKE_CHANGED);
}

static enum sv_status unchanged(struct api_ctx *ctx, const struct http_request *req,
                                struct http_response *resp, const struct api_poll *poll,
                                int64_t seen, const char *etag, struct sv_error *err)
{
    if (may_wait(req, poll->wait)) {
        return changes_wait(ctx->changes, poll->mark, poll->id, seen, req, resp, poll->wait, err);
    }
    http_response_not_modified(resp, etag);
    return SV_OK;
}

enum sv_status api_poll_begin(struct api_ctx *ctx, const struct http_request *req,
                              struct http_response *resp, const char *id, int64_t wait,
                              struct api_poll *out_poll, bool *out_done, struct sv_error *err)
{
    int64_t revision;
    char etag[HTTP_ETAG_SIZE];
    *out_poll = (struct api_poll){.id = id, .wait = wait, .mark = changes_mark(ctx->changes)};
    *out_done = false;
    if (!changes_revision(ctx->changes, req->actor.project_id, id, &revision)) {
        return SV_OK;
    }
    http_etag(req, revision, etag);
    if (http_if_none_match(req, etag)) {
        *out_done = true;
        return unchanged(ctx, req, resp, out_poll, revision, etag, err);
    }
    *out_done = changes_answer_get(ctx->changes, req, revision, resp);
    return SV_OK;
}

enum sv_status api_poll_end_bytes_take(struct api_ctx *ctx, const struct http_request *req,
                                       struct http_response *resp, const struct api_poll *poll,
                                       const char *job_id, int64_t revision, const char *type,
                                       char *bytes, size_t size, struct sv_error *err)
{
    char etag[HTTP_ETAG_SIZE];
    http_etag(req, revision, etag);
    changes_learn(ctx->changes, poll->mark, req->actor.project_id, poll->id, job_id, revision);
    if (http_if_none_match(req, etag)) {
        free(bytes);
        return unchanged(ctx, req, resp, poll, revision, etag, err);
    }
    changes_answer_put(ctx->changes, req, revision, etag, type, bytes, size);
    http_response_etag(resp, etag);
    return http_response_bytes_take(resp, 200, type, bytes, size);
}

enum sv_status api_poll_end_take(struct api_ctx *ctx, const struct http_request *req,
                                 struct http_response *resp, const struct api_poll *poll,
                                 const char *job_id, int64_t revision, json_t *json,
                                 struct sv_error *err)
{
    char *text = json ? jx_dump(json, NULL) : NULL;
    json_decref(json);
    if (!text) {
        return api_no_memory(err);
    }
    return api_poll_end_bytes_take(ctx, req, resp, poll, job_id, revision, "application/json", text,
                                   strlen(text), err);
}

static enum sv_status list_unchanged(struct api_ctx *ctx, const struct http_request *req,
                                     struct http_response *resp, const struct api_list_poll *poll,
                                     const char *etag, struct sv_error *err)
{
    if (poll->known && may_wait(req, poll->wait)) {
        return changes_wait_any(ctx->changes, poll->generation, req, resp, poll->wait, err);
    }
    http_response_not_modified(resp, etag);
    return SV_OK;
}

enum sv_status api_list_begin(struct api_ctx *ctx, const struct http_request *req,
                              struct http_response *resp, int64_t wait,
                              struct api_list_poll *out_poll, bool *out_done, struct sv_error *err)
{
    char etag[HTTP_ETAG_SIZE];
    *out_poll = (struct api_list_poll){.wait = wait, .pairs = HTTP_HASH_SEED};
    out_poll->known = changes_generation(ctx->changes, &out_poll->generation);
    *out_done = false;
    if (!out_poll->known) {
        return SV_OK;
    }
    int64_t version = (int64_t)(out_poll->generation & INT64_MAX);
    if (changes_answer_etag(ctx->changes, req, version, etag) && http_if_none_match(req, etag)) {
        *out_done = true;
        return list_unchanged(ctx, req, resp, out_poll, etag, err);
    }
    *out_done = changes_answer_get(ctx->changes, req, version, resp);
    return SV_OK;
}

void api_written(void *ctx)
{
    const struct api_ctx *api = ctx;
    changes_wrote(api->changes);
}

/* ------------------------------------------------------------------------- on an I/O thread */

/* Only what a handler has answered before: so the query is known to be sound. */
static bool recall(struct api_ctx *ctx, const struct http_request *req, struct http_response *resp,
                   int64_t version)
{
    char etag[HTTP_ETAG_SIZE];
    if (!changes_answer_etag(ctx->changes, req, version, etag)) {
        return false;
    }
    if (!http_if_none_match(req, etag)) {
        return changes_answer_get(ctx->changes, req, version, resp);
    }
    http_response_not_modified(resp, etag);
    return !http_query_value(req, "wait"); /* a wait is the handler's */
}

bool api_poll_recall(void *ctx, const struct http_request *req, struct http_response *out_resp)
{
    struct api_ctx *api = ctx;
    int64_t revision;
    return changes_revision(api->changes, req->actor.project_id, http_path(req, "id"), &revision) &&
           recall(api, req, out_resp, revision);
}

bool api_list_recall(void *ctx, const struct http_request *req, struct http_response *out_resp)
{
    struct api_ctx *api = ctx;
    uint64_t generation;
    return changes_generation(api->changes, &generation) &&
           recall(api, req, out_resp, (int64_t)(generation & INT64_MAX));
}

void api_list_pair(struct api_list_poll *poll, const char *id, int64_t revision)
{
    poll->pairs = http_hash(poll->pairs, id);
    poll->pairs = (poll->pairs ^ (uint64_t)revision) * UINT64_C(1099511628211);
}

enum sv_status api_list_end_take(struct api_ctx *ctx, const struct http_request *req,
                                 struct http_response *resp, const struct api_list_poll *poll,
                                 json_t *json, struct sv_error *err)
{
    char etag[HTTP_ETAG_SIZE];
    char *text = json ? jx_dump(json, NULL) : NULL;
    json_decref(json);
    if (!text) {
        return api_no_memory(err);
    }
    http_etag(req, (int64_t)(poll->pairs & INT64_MAX), etag);
    if (poll->known) {
        changes_answer_put(ctx->changes, req, (int64_t)(poll->generation & INT64_MAX), etag,
                           "application/json", text, strlen(text));
    }
    if (http_if_none_match(req, etag)) {
        free(text);
        return list_unchanged(ctx, req, resp, poll, etag, err);
    }
    http_response_etag(resp, etag);
    return http_response_bytes_take(resp, 200, "application/json", text, strlen(text));
}
