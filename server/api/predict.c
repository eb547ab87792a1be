/* SPDX-License-Identifier: MIT
 *
 * POST /v1/trials/{id}/predict: a picture or a sequence for a trial's network. The body is kept as
 * it came, a worker's child looks into it and answers; the request waits for that, or says where to
 * ask again.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/sha256.h"
#include "server/api/handlers_internal.h"
#include "server/api/show_internal.h"
#include "server/api/trial_read_internal.h"
#include "server/store/predictions.h"

struct query {
    int64_t wait;
};
static const struct http_param PARAMS[] = {HTTP_PARAM_ROW_WAIT(struct query, wait)};

static bool is_waiting(const struct store_posted *p)
{
    return strcmp(p->state, "checking") == 0;
}

static json_t *encode(const struct store_posted *p)
{
    return json_pack("{s:s, s:s, s:s, s:o, s:s?, s:s, s:s?}", "id", p->id, "trial", p->trial_id,
                     "state", is_waiting(p) ? "waiting" : p->state, "result",
                     api_document(p->report), "error", p->error_text, "created_at", p->created_at,
                     "finished_at", api_given(p->finished_at));
}

/* -------------------------------------------------------------------------------------- asking */

/* 404; 409 while the trial has no network. */
static enum sv_status check_trial(struct api_ctx *ctx, const struct http_request *req,
                                  struct sv_error *err)
{
    struct api_trial_read read = {.id = http_path(req, "id")};
    struct store_trial trial;
    struct store_artefact network;
    bool found = false;
    api_scope(req, &read.scope);
    enum sv_status st =
        store_trial_get(ctx->store, &read.scope, read.id, &read.memory, &trial, err);
    if (st == SV_OK) {
        st = api_trial_artefact(ctx, &read, "network", &network, &found, err);
    }
    if (st == SV_OK && !found) {
        st = sv_fail(err, SV_ERR_WRONG_STATE, "the trial is %s and has no network", trial.state);
    }
    store_memory_clear(&read.memory);
    return st;
}

/* Before the body is read: nothing is sent in vain. */
enum sv_status api_trials_before_predict(void *state, const struct http_request *req,
                                         struct http_response *out_resp, struct sv_error *err)
{
    (void)out_resp;
    return check_trial(state, req, err);
}

/* The key of this request, if it has one: the digest is of the body's content and type too. */
static enum sv_status key_of(const struct http_request *req, const struct store_blob *blob,
                             struct store_idempotency *out_key, bool *out_used,
                             struct sv_error *err)
{
    struct nn_sha256 hash;
    enum sv_status st = api_idempotency(req, out_key, out_used, err);
    if (st == SV_OK && *out_used) {
        nn_sha256_init(&hash);
        nn_sha256_update(&hash, out_key->digest, sizeof out_key->digest);
        nn_sha256_update(&hash, blob->sha256, strlen(blob->sha256));
        nn_sha256_update(&hash, req->body_type, strlen(req->body_type));
        nn_sha256_finish(&hash, out_key->digest);
    }
    return st;
}

/* Puts the question into the queue; what was made lives as long as the request. */
static enum sv_status ask(struct api_ctx *ctx, const struct http_request *req,
                          const struct store_scope *scope, const struct store_created **out_made,
                          struct sv_error *err)
{
    struct store_blob blob;
    struct store_idempotency key;
    bool has_key = false;
    struct store_created *made = http_request_alloc(req, sizeof *made);
    enum sv_status st =
        made ? store_blob_write_fd(ctx->store, scope->project_id, req->body_fd, &blob, err)
             : api_no_memory(err);
    if (st == SV_OK) {
        st = key_of(req, &blob, &key, &has_key, err);
    }
    if (st != SV_OK) {
        return st;
    }
    const struct store_posted_new posted = {
        .trial_id = http_path(req, "id"), .media_type = req->body_type, .blob_id = blob.id};
    st = store_prediction_create(ctx->store, scope, &posted, has_key ? &key : NULL, made, err);
    if (st == SV_OK) {
        http_request_keep(req, made);
        *out_made = made;
    }
    return st;
}

/* ----------------------------------------------------------------------------------- answering */

static enum sv_status answer_later(const struct store_posted *p, struct http_response *resp,
                                   struct sv_error *err)
{
    json_t *json = encode(p);
    if (!json) {
        return api_no_memory(err);
    }
    http_response_location(resp, "/v1/predictions/%s", p->id);
    return http_response_json_take(resp, 202, json);
}

static enum sv_status answer(struct api_ctx *ctx, const struct http_request *req,
                             struct http_response *resp, struct changes_mark mark,
                             const struct store_posted *p, int64_t wait, struct sv_error *err)
{
    bool may_wait = wait > 0 && (req->wake == HTTP_WAKE_FIRST || req->wake == HTTP_WAKE_CHANGED);
    if (strcmp(p->state, "refused") == 0) {
        return sv_fail(err, SV_ERR_INVALID_FIELD, "%s", p->error_text);
    }
    if (is_waiting(p) && may_wait) {
        changes_learn(ctx->changes, mark, req->actor.project_id, p->id, p->id, p->revision);
        return changes_wait(ctx->changes, mark, p->id, p->revision, req, resp, wait, err);
    }
    if (is_waiting(p)) {
        return answer_later(p, resp, err);
    }
    json_t *json = encode(p);
    return json ? http_response_json_take(resp, 200, json) : api_no_memory(err);
}

/* POST: 200 with the answer, 202 with a Location when it takes longer than `wait` seconds. 404; 409
 * without a network; 413; 415; 422 with the reason when the body is not what the network takes. */
enum sv_status api_trials_predict(void *state, const struct http_request *req,
                                  struct http_response *out_resp, struct sv_error *err)
{
    struct api_ctx *ctx = state;
    struct query query = {.wait = 30};
    struct store_scope scope;
    struct store_memory memory = {0};
    struct store_posted prediction;
    const struct store_created *made = http_request_kept(req);
    enum sv_status st = http_query_decode(req, PARAMS, API_COUNT(PARAMS), &query, err);
    api_scope(req, &scope);
    if (st == SV_OK && !made) {
        st = ask(ctx, req, &scope, &made, err);
    }
    if (st != SV_OK) {
        return st;
    }
    api_replayed(out_resp, made);
    struct changes_mark mark = changes_mark(ctx->changes);
    st = store_prediction_get(ctx->store, &scope, made->id, &memory, &prediction, err);
    if (st == SV_OK) {
        st = answer(ctx, req, out_resp, mark, &prediction, query.wait, err);
    }
    store_memory_clear(&memory);
    return st;
}

/* ------------------------------------------------------------------------------- asking again */

static enum sv_status read_one(struct api_ctx *ctx, const struct http_request *req, const char *id,
                               struct api_seen *out_seen, struct sv_error *err)
{
    struct store_scope scope;
    struct store_memory memory = {0};
    struct store_posted prediction;
    api_scope(req, &scope);
    enum sv_status st = store_prediction_get(ctx->store, &scope, id, &memory, &prediction, err);
    if (st == SV_OK) {
        st = api_seen(prediction.id, prediction.revision, encode(&prediction), out_seen, err);
    }
    store_memory_clear(&memory);
    return st;
}

/* GET /v1/predictions/{id}: as it stands, with `wait`. 404, also after a day. */
enum sv_status api_predictions_get(void *state, const struct http_request *req,
                                   struct http_response *out_resp, struct sv_error *err)
{
    return api_show(state, req, out_resp, read_one, err);
}
