/* SPDX-License-Identifier: MIT
 *
 * What a trial kept to explain itself: maps and activations, as numbers or drawn as PNG.
 */
#include <string.h>

#include "core/explain/options.h"
#include "server/api/explained_internal.h"
#include "server/api/handlers_internal.h"
#include "server/api/trial_read_internal.h"

/* The artefact of a trial; document NULL: it kept none. */
struct kept {
    struct store_artefact artefact;
    json_t *document;
    struct api_explained explained;
    size_t n; /* the array asked for */
    bool overlay;
};

static enum sv_status open_kept(struct api_ctx *ctx, struct api_trial_read *read, struct kept *out,
                                struct sv_error *err)
{
    bool found = false;
    enum sv_status st = api_trial_artefact(ctx, read, "explanations", &out->artefact, &found, err);
    if (st == SV_OK && found) {
        out->document = api_document(out->artefact.detail);
        st = out->document ? SV_OK : api_no_memory(err);
    }
    out->explained =
        (struct api_explained){ctx, read->scope.project_id, out->artefact.blob.id, out->document};
    return st;
}

/* ---------------------------------------------------------------------------------------- list */

struct list_query {
    int method;
};
static const struct http_param LIST_PARAMS[] = {
    {"method", HTTP_PARAM_CHOICE, offsetof(struct list_query, method), 0, 0, api_explain_methods}};

/* GET /v1/trials/{id}/explanations?method=: what was kept; nothing when the job asked for nothing.
 * 404. */
enum sv_status api_trials_explanations(void *state, const struct http_request *req,
                                       struct http_response *out_resp, struct sv_error *err)
{
    struct list_query query = {.method = -1};
    struct api_params params = {LIST_PARAMS, API_COUNT(LIST_PARAMS), &query};
    struct api_trial_read read;
    struct kept kept = {0};
    json_t *rows = NULL;
    bool done = false;
    enum sv_status st =
        api_trial_read_begin(state, req, out_resp, &params, NULL, &read, &done, err);
    if (st != SV_OK || done) {
        return st;
    }
    st = open_kept(state, &read, &kept, err);
    if (st == SV_OK) {
        rows = json_array();
        for (size_t i = 0; i < api_explained_count(&kept.explained); i++) {
            if (api_explained_is(&kept.explained, i, query.method)) {
                rows = api_append_take(rows, api_explained_encode(&kept.explained, i));
            }
        }
        rows = api_list_take(rows, NULL);
        st = rows ? SV_OK : api_no_memory(err);
    }
    json_decref(kept.document);
    return api_trial_read_end_take(state, req, out_resp, &read, st, rows, err);
}

/* ----------------------------------------------------------------------------------- one array */

/* Answers with one array, which there is where st says so, and ends the read. */
static enum sv_status answer_array_take(struct api_ctx *ctx, const struct http_request *req,
                                        struct http_response *resp, struct api_trial_read *read,
                                        struct kept *kept, enum sv_status st, struct sv_error *err)
{
    struct api_explained_answer answer = {0};
    if (st == SV_OK) {
        st = api_explained_read(&kept->explained, kept->n, kept->overlay, req, &answer, err);
    }
    json_decref(kept->document);
    return st == SV_OK && answer.png
               ? api_trial_read_end_bytes_take(ctx, req, resp, read, "image/png", answer.png,
                                               answer.size, err)
               : api_trial_read_end_take(ctx, req, resp, read, st, answer.json, err);
}

struct one_query {
    bool overlay;
};
static const struct http_param ONE_PARAMS[] = {
    {"overlay", HTTP_PARAM_BOOL, offsetof(struct one_query, overlay), 0, 0, NULL}};

/* GET /v1/trials/{id}/explanations/{n}: the numbers, or with Accept: image/png a drawing. 404. */
enum sv_status api_trials_explanation(void *state, const struct http_request *req,
                                      struct http_response *out_resp, struct sv_error *err)
{
    struct one_query query = {.overlay = true};
    struct api_params params = {ONE_PARAMS, API_COUNT(ONE_PARAMS), &query};
    struct api_trial_read read;
    struct kept kept = {0};
    bool done = false;
    enum sv_status st =
        api_trial_read_begin(state, req, out_resp, &params, NULL, &read, &done, err);
    if (st != SV_OK || done) {
        return st;
    }
    st = open_kept(state, &read, &kept, err);
    if (st == SV_OK && !api_explained_number(&kept.explained, http_path(req, "n"), &kept.n)) {
        st = sv_fail(err, SV_ERR_NOT_FOUND, "the trial kept no such explanation");
    }
    kept.overlay = query.overlay;
    return answer_array_take(state, req, out_resp, &read, &kept, st, err);
}

/* -------------------------------------------------------------------------------- activations */

struct activation_query {
    const char *layer;
    int64_t sample;
};
#define ACTIVATION(member) offsetof(struct activation_query, member)
static const struct http_param ACTIVATION_PARAMS[] = {
    {"layer", HTTP_PARAM_TEXT, ACTIVATION(layer), 1, 64, NULL},
    {"sample", HTTP_PARAM_INT, ACTIVATION(sample), 0, 4294967295, NULL},
};

static enum sv_status find_activation(const struct api_explained *e,
                                      const struct activation_query *query, size_t *out_n,
                                      struct sv_error *err)
{
    if (!query->layer || query->sample < 0) {
        return sv_fail_parameter(err, SV_ERR_INVALID_PARAMETER, query->layer ? "sample" : "layer",
                                 "layer and sample are needed");
    }
    for (size_t i = 0; i < api_explained_count(e); i++) {
        const char *layer = json_string_value(json_object_get(api_explained_array(e, i), "layer"));
        const json_t *item = json_object_get(api_explained_picture(e, i), "item");
        if (api_explained_is(e, i, NN_EXPLAIN_ACTIVATIONS) && layer &&
            strcmp(layer, query->layer) == 0 && json_integer_value(item) == query->sample) {
            *out_n = i;
            return SV_OK;
        }
    }
    return sv_fail(err, SV_ERR_NOT_FOUND, "the trial kept no activation of this layer and sample");
}

/* GET /v1/trials/{id}/activations?layer=&sample=: as an explanation. 400 without either; 404. */
enum sv_status api_trials_activations(void *state, const struct http_request *req,
                                      struct http_response *out_resp, struct sv_error *err)
{
    struct activation_query query = {.sample = -1};
    struct api_params params = {ACTIVATION_PARAMS, API_COUNT(ACTIVATION_PARAMS), &query};
    struct api_trial_read read;
    struct kept kept = {0};
    bool done = false;
    enum sv_status st =
        api_trial_read_begin(state, req, out_resp, &params, NULL, &read, &done, err);
    if (st != SV_OK || done) {
        return st;
    }
    st = open_kept(state, &read, &kept, err);
    if (st == SV_OK) {
        st = find_activation(&kept.explained, &query, &kept.n, err);
    }
    return answer_array_take(state, req, out_resp, &read, &kept, st, err);
}
