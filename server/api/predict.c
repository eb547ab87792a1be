/* SPDX-License-Identifier: MIT
 *
 * POST /v1/trials/{id}/predict: a picture or a sequence for a trial's network. The body is kept as
 * it came, and a worker's child looks into it.
 */
#include <string.h>

#include "server/api/handlers_internal.h"
#include "server/api/question_internal.h"
#include "server/store/blobs.h"

struct query {
    int64_t wait;
};
static const struct http_param PARAMS[] = {HTTP_PARAM_ROW_WAIT(struct query, wait)};

static json_t *encode(const struct store_posted *p)
{
    bool ready = strcmp(p->state, "ready") == 0;
    return api_question_encode_take(p, api_document(ready ? p->report : NULL));
}

static const struct api_question_kind KIND = {.path = "/v1/predictions", .encode = encode};

static enum sv_status ask(struct api_ctx *ctx, const struct http_request *req,
                          const struct store_created **out_made, struct sv_error *err)
{
    struct store_blob blob;
    enum sv_status st =
        store_blob_write_fd(ctx->store, req->actor.project_id, req->body_fd, &blob, err);
    const struct store_posted_new posted = {
        .trial_id = http_path(req, "id"), .media_type = req->body_type, .blob_id = blob.id};
    return st == SV_OK ? api_question_ask(ctx, req, &blob, &posted, out_made, err) : st;
}

/* POST: 200 with the answer, 202 with a Location when it takes longer than `wait` seconds. 404; 409
 * without a network; 413; 415; 400 and 422 with code, pointer and reason when the body is not what
 * the network takes. */
enum sv_status api_trials_predict(void *state, const struct http_request *req,
                                  struct http_response *out_resp, struct sv_error *err)
{
    struct query query = {.wait = 30};
    const struct store_created *made = http_request_kept(req);
    enum sv_status st = http_query_decode(req, PARAMS, API_COUNT(PARAMS), &query, err);
    if (st == SV_OK && !made) {
        st = ask(state, req, &made, err);
    }
    return st == SV_OK ? api_question_answer(state, req, out_resp, &KIND, made, query.wait, err)
                       : st;
}

static enum sv_status read_one(struct api_ctx *ctx, const struct http_request *req, const char *id,
                               struct api_seen *out_seen, struct sv_error *err)
{
    return api_question_read(ctx, req, &KIND, id, out_seen, err);
}

/* GET /v1/predictions/{id}: as it stands, with `wait`. 404, also after a day. */
enum sv_status api_predictions_get(void *state, const struct http_request *req,
                                   struct http_response *out_resp, struct sv_error *err)
{
    return api_show(state, req, out_resp, read_one, err);
}
