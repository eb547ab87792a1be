/* SPDX-License-Identifier: MIT
 *
 * /v1/explanations: what came of a question for reasons (explain.c), and its arrays.
 */
#include <string.h>

#include "server/api/explained_internal.h"
#include "server/api/handlers_internal.h"
#include "server/api/question_internal.h"

/* What the network says of the picture, and what there is to see. */
static json_t *encode_result(const json_t *report)
{
    const struct api_explained explained = {.detail = report};
    const json_t *picture = api_explained_picture(&explained, 0);
    json_t *arrays = json_array();
    for (size_t i = 0; i < api_explained_count(&explained); i++) {
        arrays = api_append_take(arrays, api_explained_encode(&explained, i));
    }
    return json_pack(
        "{s:O?, s:O?, s:O?, s:O?, s:O?, s:O?, s:O?, s:O?, s:o, s:O*}", "sample",
        json_object_get(picture, "item"), "name", json_object_get(picture, "name"), "part",
        json_object_get(picture, "part"), "trial_part", json_object_get(picture, "trial_part"),
        "true", json_object_get(picture, "true"), "predicted", json_object_get(report, "predicted"),
        "probability", json_object_get(report, "probability"), "classes",
        json_object_get(report, "classes"), "arrays", arrays, "warning",
        json_object_get(report, "warning"));
}

static json_t *encode(const struct store_posted *p)
{
    json_auto_t *report = api_document(p->report);
    bool ready = strcmp(p->state, "ready") == 0;
    return api_question_encode_take(p, ready ? encode_result(report) : json_null());
}

const struct api_question_kind api_explanation_kind = {
    .path = "/v1/explanations", .explains = true, .encode = encode};

static enum sv_status read_one(struct api_ctx *ctx, const struct http_request *req, const char *id,
                               struct api_seen *out_seen, struct sv_error *err)
{
    return api_question_read(ctx, req, &api_explanation_kind, id, out_seen, err);
}

/* GET /v1/explanations/{id}: as it stands, with `wait`. 404, also after a day. */
enum sv_status api_explanations_get(void *state, const struct http_request *req,
                                    struct http_response *out_resp, struct sv_error *err)
{
    return api_show(state, req, out_resp, read_one, err);
}

/* -------------------------------------------------------------------------------- one array */

struct one_query {
    bool overlay;
};
static const struct http_param ONE_PARAMS[] = {
    {"overlay", HTTP_PARAM_BOOL, offsetof(struct one_query, overlay), 0, 0, NULL}};

static enum sv_status read_array(struct api_ctx *ctx, const struct http_request *req,
                                 const struct store_posted *p, bool overlay,
                                 struct api_explained_answer *out, struct sv_error *err)
{
    bool ready = strcmp(p->state, "ready") == 0;
    json_auto_t *report = api_document(ready ? p->report : NULL);
    const struct api_explained explained = {ctx, req->actor.project_id, p->output_blob_id, report};
    size_t n = 0;
    return api_explained_number(&explained, http_path(req, "n"), &n)
               ? api_explained_read(&explained, n, overlay, req, out, err)
               : sv_fail(err, SV_ERR_NOT_FOUND, "the explanation has no such array");
}

/* GET /v1/explanations/{id}/{n}: the numbers, or with Accept: image/png a drawing. 404. */
enum sv_status api_explanations_array(void *state, const struct http_request *req,
                                      struct http_response *out_resp, struct sv_error *err)
{
    struct one_query query = {.overlay = true};
    struct api_explained_answer answer = {0};
    struct store_scope scope;
    struct store_memory memory = {0};
    struct store_posted p;
    struct api_poll poll;
    bool done = false;
    const char *id = http_path(req, "id");
    enum sv_status st = http_query_decode(req, ONE_PARAMS, API_COUNT(ONE_PARAMS), &query, err);
    if (st == SV_OK) {
        st = api_poll_begin(state, req, out_resp, id, 0, &poll, &done, err);
    }
    if (st != SV_OK || done) {
        return st;
    }
    api_scope(req, &scope);
    st = api_question_get(state, &scope, &api_explanation_kind, id, &memory, &p, err);
    if (st == SV_OK) {
        st = read_array(state, req, &p, query.overlay, &answer, err);
    }
    if (st == SV_OK) {
        st = answer.png ? api_poll_end_bytes_take(state, req, out_resp, &poll, p.id, p.revision,
                                                  "image/png", answer.png, answer.size, err)
                        : api_poll_end_take(state, req, out_resp, &poll, p.id, p.revision,
                                            answer.json, err);
    }
    store_memory_clear(&memory);
    return st;
}
