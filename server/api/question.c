/* SPDX-License-Identifier: MIT
 *
 * What questions to a network share, whether it is asked for its answer or for its reasons.
 */
#include "server/api/question_internal.h"

#include <string.h>

#include "core/base/sha256.h"
#include "server/api/handlers_internal.h"
#include "server/api/trial_read_internal.h"

static bool is_waiting(const struct store_posted *p)
{
    return strcmp(p->state, "checking") == 0;
}

static bool is_refused(const struct store_posted *p)
{
    return strcmp(p->state, "refused") == 0;
}

/* Code and pointer of a refusal; what crashed has none. */
struct refusal {
    enum sv_status status;
    char pointer[160];
};

static struct refusal refusal_of(const struct store_posted *p)
{
    json_auto_t *report = api_document(p->report);
    const char *pointer = json_string_value(json_object_get(report, "pointer"));
    struct refusal refusal = {
        .status = sv_status_parse(json_string_value(json_object_get(report, "code")))};
    (void)snprintf(refusal.pointer, sizeof refusal.pointer, "%s", pointer ? pointer : "");
    return refusal;
}

json_t *api_question_encode_take(const struct store_posted *p, json_t *result)
{
    const char *code = is_refused(p) ? sv_status_slug(refusal_of(p).status) : NULL;
    return json_pack("{s:s, s:s, s:s, s:o, s:s?, s:s?, s:s, s:s?}", "id", p->id, "trial",
                     p->trial_id, "state", is_waiting(p) ? "waiting" : p->state, "result", result,
                     "error", p->error_text, "code", code, "created_at", p->created_at,
                     "finished_at", api_given(p->finished_at));
}

/* -------------------------------------------------------------------------------------- asking */

/* Before the body is read, so that nothing is sent in vain: 404; 409 while the trial has no
 * network. */
enum sv_status api_trials_before_question(void *state, const struct http_request *req,
                                          struct http_response *out_resp, struct sv_error *err)
{
    struct api_ctx *ctx = state;
    struct api_trial_read read = {.id = http_path(req, "id")};
    struct store_trial trial;
    struct store_artefact network;
    bool found = false;
    (void)out_resp;
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

/* The key of this request, if it has one: the digest is of content, type and options too. */
static enum sv_status key_of(const struct http_request *req, const struct store_blob *input,
                             const struct store_posted_new *posted,
                             struct store_idempotency *out_key, bool *out_used,
                             struct sv_error *err)
{
    struct nn_sha256 hash;
    const char *explain = posted->explain ? posted->explain : "";
    enum sv_status st = api_idempotency(req, out_key, out_used, err);
    if (st == SV_OK && *out_used) {
        nn_sha256_init(&hash);
        nn_sha256_update(&hash, out_key->digest, sizeof out_key->digest);
        nn_sha256_update(&hash, input->sha256, strlen(input->sha256));
        nn_sha256_update(&hash, posted->media_type, strlen(posted->media_type));
        nn_sha256_update(&hash, explain, strlen(explain));
        nn_sha256_finish(&hash, out_key->digest);
    }
    return st;
}

enum sv_status api_question_ask(struct api_ctx *ctx, const struct http_request *req,
                                const struct store_blob *input,
                                const struct store_posted_new *posted,
                                const struct store_created **out_made, struct sv_error *err)
{
    struct store_scope scope;
    struct store_idempotency key;
    bool has_key = false;
    struct store_created *made = http_request_alloc(req, sizeof *made);
    api_scope(req, &scope);
    enum sv_status st = made ? key_of(req, input, posted, &key, &has_key, err) : api_no_memory(err);
    if (st == SV_OK) {
        st = store_prediction_create(ctx->store, &scope, posted, has_key ? &key : NULL, made, err);
    }
    if (st == SV_OK) {
        http_request_keep(req, made);
        *out_made = made;
    }
    return st;
}

/* ----------------------------------------------------------------------------------- answering */

static enum sv_status answer_later(const struct api_question_kind *kind,
                                   const struct store_posted *p, struct http_response *resp,
                                   struct sv_error *err)
{
    json_t *json = kind->encode(p);
    if (!json) {
        return api_no_memory(err);
    }
    http_response_location(resp, "%s/%s", kind->path, p->id);
    return http_response_json_take(resp, 202, json);
}

static enum sv_status refuse(const struct store_posted *p, struct sv_error *err)
{
    struct refusal refusal = refusal_of(p);
    return sv_fail_at(err, refusal.status, refusal.pointer, "%s", p->error_text);
}

static enum sv_status answer(struct api_ctx *ctx, const struct http_request *req,
                             struct http_response *resp, const struct api_question_kind *kind,
                             struct changes_mark mark, const struct store_posted *p, int64_t wait,
                             struct sv_error *err)
{
    bool may_wait = wait > 0 && (req->wake == HTTP_WAKE_FIRST || req->wake == HTTP_WAKE_CHANGED);
    if (is_refused(p)) {
        return refuse(p, err);
    }
    if (is_waiting(p) && may_wait) {
        changes_learn(ctx->changes, mark, req->actor.project_id, p->id, p->id, p->revision);
        return changes_wait(ctx->changes, mark, p->id, p->revision, req, resp, wait, err);
    }
    if (is_waiting(p)) {
        return answer_later(kind, p, resp, err);
    }
    json_t *json = kind->encode(p);
    return json ? http_response_json_take(resp, 200, json) : api_no_memory(err);
}

enum sv_status api_question_answer(struct api_ctx *ctx, const struct http_request *req,
                                   struct http_response *resp, const struct api_question_kind *kind,
                                   const struct store_created *made, int64_t wait,
                                   struct sv_error *err)
{
    struct store_scope scope;
    struct store_memory memory = {0};
    struct store_posted posted;
    api_scope(req, &scope);
    api_replayed(resp, made);
    struct changes_mark mark = changes_mark(ctx->changes);
    enum sv_status st = store_prediction_get(ctx->store, &scope, made->id, &memory, &posted, err);
    if (st == SV_OK) {
        st = answer(ctx, req, resp, kind, mark, &posted, wait, err);
    }
    store_memory_clear(&memory);
    return st;
}

/* ------------------------------------------------------------------------------- asking again */

enum sv_status api_question_get(struct api_ctx *ctx, const struct store_scope *scope,
                                const struct api_question_kind *kind, const char *id,
                                struct store_memory *memory, struct store_posted *out_posted,
                                struct sv_error *err)
{
    enum sv_status st = store_prediction_get(ctx->store, scope, id, memory, out_posted, err);
    return st == SV_OK && out_posted->explains != kind->explains
               ? sv_fail(err, SV_ERR_NOT_FOUND, "no such %s",
                         kind->explains ? "explanation" : "prediction")
               : st;
}

enum sv_status api_question_read(struct api_ctx *ctx, const struct http_request *req,
                                 const struct api_question_kind *kind, const char *id,
                                 struct api_seen *out_seen, struct sv_error *err)
{
    struct store_scope scope;
    struct store_memory memory = {0};
    struct store_posted posted;
    api_scope(req, &scope);
    enum sv_status st = api_question_get(ctx, &scope, kind, id, &memory, &posted, err);
    if (st == SV_OK) {
        st = api_seen(posted.id, posted.revision, kind->encode(&posted), out_seen, err);
    }
    store_memory_clear(&memory);
    return st;
}
