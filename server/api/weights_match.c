/* SPDX-License-Identifier: MIT
 *
 * POST /v1/weights/{id}/match: how weights would fit a network, from the names and shapes that were
 * kept at the import; no file is opened.
 */
#include <stdio.h>

#include "server/api/datasets_internal.h"
#include "server/api/handlers_internal.h"
#include "server/api/weights_internal.h"

enum { SIDE = 224, CHANNELS = 3 }; /* of the input when nothing says its size */

static const struct jx_choice HEADS[] = {
    {"replaced", NN_MATCH_HEAD_REPLACED, "always made new"},
    {"kept", NN_MATCH_HEAD_KEPT, "wanted like any other layer"},
    {"replaced_if_other", NN_MATCH_HEAD_REPLACED_IF_OTHER, "made new where it does not fit"},
    JX_END,
};

struct match_input {
    size_t height, width, channels;
};

#define INPUT(member) offsetof(struct match_input, member)
static const struct jx_field INPUT_FIELDS[] = {
    {.name = "height",
     .type = JX_SIZE,
     .offset = INPUT(height),
     .min = 1,
     .max = 8192,
     .fallback = "224",
     .doc = "rows of a picture"},
    {.name = "width",
     .type = JX_SIZE,
     .offset = INPUT(width),
     .min = 1,
     .max = 8192,
     .fallback = "224",
     .doc = "columns of a picture"},
    {.name = "channels",
     .type = JX_SIZE,
     .offset = INPUT(channels),
     .min = 1,
     .max = 4096,
     .fallback = "3",
     .doc = "values of a pixel"},
    JX_END,
};

struct match_body {
    const json_t *network;
    const char *dataset;
    struct match_input input;
    bool has_input;
    size_t classes;
    int head;
};

#define OFFSET(member) offsetof(struct match_body, member)
const struct jx_field api_match_fields[] = {
    {.name = "network",
     .type = JX_ANY,
     .offset = OFFSET(network),
     .required = true,
     .ref = "#/components/schemas/Network",
     .doc = "as in a job"},
    {.name = "classes",
     .type = JX_SIZE,
     .offset = OFFSET(classes),
     .min = 1,
     .max = 1000000,
     .doc = "of the new head"},
    {.name = "input",
     .type = JX_OBJECT,
     .offset = OFFSET(input),
     .given = JX_GIVEN(struct match_body, has_input),
     .fields = INPUT_FIELDS,
     .doc = "size of the pictures"},
    {.name = "dataset",
     .type = JX_STRING,
     .offset = OFFSET(dataset),
     .min = 1,
     .max = 64,
     .doc = "id of a data set that gives input and classes instead"},
    {.name = "head",
     .type = JX_ENUM,
     .offset = OFFSET(head),
     .choices = HEADS,
     .fallback = "\"replaced\"",
     .doc = "what becomes of the last layer with parameters"},
    JX_END,
};

static enum sv_status decode(const json_t *json, struct match_body *body, struct sv_error *err)
{
    enum sv_status st = api_decode(api_match_fields, json, body, err);
    if (st != SV_OK) {
        return st;
    }
    if (!json_is_object(body->network)) {
        return sv_fail_at(err, SV_ERR_INVALID_FIELD, "/network", "must be an object");
    }
    if (body->dataset && (body->has_input || body->classes > 0)) {
        return sv_fail_at(err, SV_ERR_INVALID_FIELD, "/dataset",
                          "a data set gives input and classes already");
    }
    if (!body->dataset && body->classes == 0) {
        return sv_fail_at(err, SV_ERR_INVALID_FIELD, "/classes", "is required without a data set");
    }
    return SV_OK;
}

/* Sizes of a body without a data set. */
static struct jobs_dataset given(const struct match_body *body)
{
    return (struct jobs_dataset){.height = body->has_input ? body->input.height : SIDE,
                                 .width = body->has_input ? body->input.width : SIDE,
                                 .channels = body->has_input ? body->input.channels : CHANNELS,
                                 .classes = body->classes};
}

/* A network that is wrong by itself is the client's mistake, below /network. */
static enum sv_status network_fail(enum nn_status status, const struct nn_error *nn,
                                   struct sv_error *err)
{
    char pointer[256];
    if (status != NN_ERR_INVALID && status != NN_ERR_LIMIT && status != NN_ERR_NOT_SUPPORTED) {
        return sv_fail(err, SV_ERR_INTERNAL, "%s", nn->text);
    }
    (void)snprintf(pointer, sizeof pointer, "/network%s", nn->pointer);
    return sv_fail_at(err,
                      status == NN_ERR_NOT_SUPPORTED ? SV_ERR_NOT_SUPPORTED : SV_ERR_INVALID_FIELD,
                      pointer, "%s", nn->text);
}

static enum sv_status match(const struct match_body *body, const struct nn_network_bind *bound,
                            const struct store_weights *weights, json_t **out_report,
                            struct sv_error *err)
{
    struct api_fit fit = {0};
    struct nn_error nn = {0};
    json_auto_t *list = api_document(weights->tensors);
    json_auto_t *report = api_document(weights->report);
    enum nn_status status = api_fit_begin(list, report, body->network, bound,
                                          (enum nn_match_head)body->head, &fit, &nn);
    enum sv_status st = status == NN_OK ? SV_OK : network_fail(status, &nn, err);
    if (st == SV_OK) {
        *out_report = nn_match_json(fit.match);
    }
    api_fit_end(&fit);
    return st;
}

/* POST /v1/weights/{id}/match: 200 with the report, whether they fit or not. 404; 409 not ready;
 * 422 for a body or network that is none. */
enum sv_status api_weights_match(void *state, const struct http_request *req,
                                 struct http_response *out_resp, struct sv_error *err)
{
    struct match_body body = {0};
    struct nn_network_bind bound = {0};
    struct store_scope scope;
    struct store_memory memory = {0};
    struct store_weights weights = {0};
    json_t *report = NULL;
    api_scope(req, &scope);
    enum sv_status st = http_query_decode(req, NULL, 0, NULL, err);
    if (st == SV_OK) {
        st = decode(req->json, &body, err);
    }
    if (st == SV_OK) {
        st = api_weights_find_ready(state, req, &scope, &memory, &weights, err);
    }
    if (st == SV_OK) {
        struct jobs_dataset sizes = given(&body);
        st = api_report_bind(state, req, body.dataset, &sizes, &bound, err);
    }
    if (st == SV_OK) {
        st = match(&body, &bound, &weights, &report, err);
    }
    if (st == SV_OK) {
        st = http_response_json_take(out_resp, 200, report);
    }
    store_memory_clear(&memory);
    return st;
}
