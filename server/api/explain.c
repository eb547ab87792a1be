/* SPDX-License-Identifier: MIT
 *
 * An explanation asked for later: POST /v1/trials/{id}/explanations with an item of the trial's
 * data set or a picture. What can be known from the network is checked here; the sample is looked
 * into by a worker's child. What comes of it is in explanation.c.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/explain/options.h"
#include "core/network/network.h"
#include "server/api/explained_internal.h"
#include "server/api/handlers_internal.h"
#include "server/api/prepared_internal.h"
#include "server/api/question_internal.h"
#include "server/api/trial_read_internal.h"
#include "server/jobs/jobs.h"
#include "server/store/blobs.h"

enum { JSON_MAX = 65536, NAME_MAX_BYTES = 1024, LAYER_MAX = 64 };

/* ------------------------------------------------------------------------------- what is asked */

/* From the body, or beside a picture from the query. */
struct asked {
    int64_t item; /* -1: a picture is posted */
    int method;
    const char *layer, *class;
    struct nn_hiding_options hiding; /* decoded for its mistakes; the body goes on as it is */
};

const struct jx_field api_explanation_fields[] = {
    {.name = "item",
     .type = JX_INT,
     .offset = offsetof(struct asked, item),
     .min = 0,
     .max = 4294967295,
     .required = true,
     .doc = "item of the trial's data set"},
    {.name = "method",
     .type = JX_ENUM,
     .offset = offsetof(struct asked, method),
     .choices = nn_explain_methods,
     .fallback = "\"grad_cam\"",
     .doc = "what is made of it"},
    {.name = "layer",
     .type = JX_STRING,
     .offset = offsetof(struct asked, layer),
     .min = 1,
     .max = LAYER_MAX,
     .doc = "whose activation is wanted, or whose maps grad_cam weighs; default for grad_cam: the "
            "last with height and width"},
    {.name = "class",
     .type = JX_STRING,
     .offset = offsetof(struct asked, class),
     .min = 1,
     .max = NAME_MAX_BYTES,
     .doc = "what the map speaks for; default: the predicted class and, where that is another, "
            "the true one"},
    NN_HIDING_ROWS(struct asked, hiding),
    JX_END,
};

struct query {
    int64_t wait;
    int method; /* -1: not given */
    const char *layer, *class;
};
#define QUERY(member) offsetof(struct query, member)
static const struct http_param PARAMS[] = {
    HTTP_PARAM_ROW_WAIT(struct query, wait),
    {"method", HTTP_PARAM_CHOICE, QUERY(method), 0, 0, api_explain_methods},
    {"layer", HTTP_PARAM_TEXT, QUERY(layer), 1, LAYER_MAX, NULL},
    {"class", HTTP_PARAM_TEXT, QUERY(class), 1, NAME_MAX_BYTES, NULL},
};

static enum sv_status parse_body(const struct http_request *req, json_t **out_body,
                                 struct sv_error *err)
{
    static const struct jx_limits limits = {.max_bytes = JSON_MAX, .max_depth = 4};
    char *text = malloc(JSON_MAX);
    struct nn_error nn = {0};
    if (!text) {
        return api_no_memory(err);
    }
    ssize_t n = req->body_size > JSON_MAX ? 0 : pread(req->body_fd, text, JSON_MAX, 0);
    enum sv_status st =
        req->body_size > JSON_MAX
            ? sv_fail(err, SV_ERR_TOO_LARGE, "a question has at most %d bytes", JSON_MAX)
        : n < 0 ? sv_fail(err, SV_ERR_INTERNAL, "the body cannot be read")
        : jx_parse(text, (size_t)n, &limits, out_body, &nn) != NN_OK
            ? sv_fail(err, SV_ERR_INVALID_JSON, "%s", nn.text)
            : SV_OK;
    free(text);
    return st;
}

/* Options stand in one place. */
static enum sv_status check_query(const struct query *query, struct sv_error *err)
{
    const char *given = query->method >= 0 ? "method"
                        : query->layer     ? "layer"
                        : query->class     ? "class"
                                           : NULL;
    return given ? sv_fail_parameter(err, SV_ERR_INVALID_PARAMETER, given,
                                     "beside an item of the data set it is a field of the body")
                 : SV_OK;
}

/* Texts are borrowed from *out_body, which is NULL where a picture is posted, and from the request.
 */
static enum sv_status decode(const struct http_request *req, const struct query *query,
                             struct asked *out, json_t **out_body, struct sv_error *err)
{
    if (strcmp(req->body_type, "application/json") != 0) {
        *out = (struct asked){.item = -1,
                              .method = query->method < 0 ? NN_EXPLAIN_GRAD_CAM : query->method,
                              .layer = query->layer,
                              .class = query->class};
        return SV_OK;
    }
    enum sv_status st = check_query(query, err);
    if (st == SV_OK) {
        st = parse_body(req, out_body, err);
    }
    return st == SV_OK ? api_decode(api_explanation_fields, *out_body, out, err) : st;
}

/* A mistake in an option: of a body at its pointer, of a query by its parameter. */
static enum sv_status blame(const struct asked *asked, enum sv_status st, struct sv_error *err)
{
    if (st == SV_OK || asked->item >= 0 || !err->pointer[0]) {
        return st;
    }
    (void)snprintf(err->parameter, sizeof err->parameter, "%.60s", err->pointer + 1);
    err->pointer[0] = '\0';
    return st == SV_ERR_INVALID_FIELD ? SV_ERR_INVALID_PARAMETER : st;
}

/* -------------------------------------------------------------------------------- the question */

/* The trial that is asked, and what comes of the request. */
struct asking {
    struct api_ctx *ctx;
    const struct http_request *req;
    struct asked asked;
    json_t *body; /* NULL: a picture is posted */
    struct api_trial_read read;
    struct store_trial trial;
    json_t *network, *detail; /* the description, and what the artefact says of it */
    json_t *options, *facts;
    struct store_blob input;
};

static void asking_deinit(struct asking *a)
{
    json_decref(a->body);
    json_decref(a->network);
    json_decref(a->detail);
    json_decref(a->options);
    json_decref(a->facts);
    store_memory_clear(&a->read.memory);
}

static enum sv_status find_network(struct asking *a, struct sv_error *err)
{
    struct api_trial_read *read = &a->read;
    struct store_artefact artefact;
    bool found = false;
    read->id = http_path(a->req, "id");
    api_scope(a->req, &read->scope);
    enum sv_status st =
        store_trial_get(a->ctx->store, &read->scope, read->id, &read->memory, &a->trial, err);
    if (st == SV_OK) {
        st = api_trial_artefact(a->ctx, read, "network", &artefact, &found, err);
    }
    if (st == SV_OK && !found) {
        st = sv_fail(err, SV_ERR_WRONG_STATE, "the trial has no network any more");
    }
    if (st == SV_OK) {
        json_auto_t *resolved = api_document(a->trial.resolved);
        a->network = json_incref(json_object_get(resolved, "network"));
        a->detail = api_document(artefact.detail);
        st = a->network && a->detail ? SV_OK : api_no_memory(err);
    }
    return st;
}

static size_t side_of(const struct asking *a, const char *name)
{
    return (size_t)json_integer_value(json_object_get(a->detail, name));
}

static bool is_of_signals(const struct asking *a)
{
    return json_is_true(json_object_get(a->detail, "signal"));
}

static enum sv_status check_class(const struct asking *a, struct sv_error *err)
{
    size_t i;
    json_t *name;
    if (!a->asked.class) {
        return SV_OK;
    }
    if (a->asked.method == NN_EXPLAIN_ACTIVATIONS) {
        return sv_fail_at(err, SV_ERR_INVALID_FIELD, "/class",
                          "a class is for maps, and an activation speaks for none");
    }
    json_array_foreach(json_object_get(a->detail, "classes"), i, name)
    {
        if (json_string_value(name) && strcmp(json_string_value(name), a->asked.class) == 0) {
            return SV_OK;
        }
    }
    return sv_fail_at(err, SV_ERR_INVALID_FIELD, "/class", "the network knows no such class");
}

static enum sv_status plan(struct asking *a, struct sv_error *err)
{
    const struct nn_network_bind bind = {
        .height = side_of(a, "height"),
        .width = side_of(a, "width"),
        .channels = side_of(a, "channels"),
        .classes = json_array_size(json_object_get(a->detail, "classes"))};
    const struct jobs_question question = {.bind = &bind,
                                           .signals = is_of_signals(a),
                                           .method = api_explain_methods[a->asked.method],
                                           .layer = a->asked.layer,
                                           .body = a->body};
    enum sv_status st = jobs_explain_later(a->network, &question, &a->options, err);
    if (st == SV_OK) {
        st = check_class(a, err);
    }
    return blame(&a->asked, st, err);
}

static enum sv_status write_blob(struct asking *a, const void *bytes, size_t size,
                                 struct sv_error *err)
{
    struct store_blob_writer *writer = NULL;
    enum sv_status st = store_blob_begin(a->ctx->store, a->read.scope.project_id, &writer, err);
    if (st == SV_OK) {
        st = store_blob_append(writer, bytes, size, err);
    }
    if (st == SV_OK) {
        st = store_blob_finish(writer, &a->input, err);
    }
    store_blob_writer_destroy(writer);
    return st;
}

/* The bytes that go on; to be freed. An item goes the way of a posted picture: as PNG, at its own
 * size, it comes out as it went in. A window goes as the floats that it is. */
static enum sv_status read_item(const struct asking *a, const struct api_prepared *p, uint64_t n,
                                char **out, size_t *out_size, struct sv_error *err)
{
    if (!is_of_signals(a)) {
        return api_prepared_png(p, n, out, out_size, err);
    }
    *out_size = p->layout.item_bytes;
    *out = malloc(*out_size);
    return *out ? api_prepared_range(p, p->layout.pixels + n * *out_size, *out, *out_size, err)
                : api_no_memory(err);
}

/* Adds to the facts of an item what it was for in the trial. */
static enum sv_status add_trial_part(struct asking *a, struct sv_error *err)
{
    const char *part = NULL;
    enum sv_status st = store_sample_part(a->ctx->store, &a->read.scope, a->read.id, a->asked.item,
                                          &a->read.memory, &part, err);
    if (st != SV_OK) {
        return st;
    }
    json_t *value = part ? json_string(part) : json_null();
    return json_object_set_new(a->facts, "trial_part", value) == 0 ? SV_OK : api_no_memory(err);
}

static enum sv_status keep_item(struct asking *a, struct sv_error *err)
{
    struct api_prepared p = {0};
    uint64_t n = (uint64_t)a->asked.item;
    char *bytes = NULL;
    size_t size = 0;
    enum sv_status st = api_prepared_open(a->ctx, &a->read.scope, a->trial.dataset_id, &p, err);
    if (st == SV_OK && n >= p.layout.count) {
        st = sv_fail_at(err, SV_ERR_INVALID_FIELD, "/item", "the data set has %llu items",
                        (unsigned long long)p.layout.count);
    }
    if (st == SV_OK) {
        st = api_prepared_facts(&p, n, &a->facts, err);
    }
    if (st == SV_OK) {
        st = add_trial_part(a, err);
    }
    if (st == SV_OK) {
        st = read_item(a, &p, n, &bytes, &size, err);
    }
    if (st == SV_OK) {
        st = write_blob(a, bytes, size, err);
    }
    free(bytes);
    store_memory_clear(&p.memory);
    return st;
}

static enum sv_status keep_sample(struct asking *a, struct sv_error *err)
{
    return a->asked.item >= 0 ? keep_item(a, err)
                              : store_blob_write_fd(a->ctx->store, a->read.scope.project_id,
                                                    a->req->body_fd, &a->input, err);
}

static enum sv_status put(struct asking *a, const struct store_created **out_made,
                          struct sv_error *err)
{
    json_auto_t *explain = json_pack("{s:O, s:s?, s:O?}", "options", a->options, "class",
                                     a->asked.class, "picture", a->facts);
    char *text = explain ? jx_dump(explain, NULL) : NULL;
    const char *item_type = is_of_signals(a) ? "application/octet-stream" : "image/png";
    const struct store_posted_new posted = {.trial_id = a->read.id,
                                            .media_type =
                                                a->asked.item >= 0 ? item_type : a->req->body_type,
                                            .blob_id = a->input.id,
                                            .explain = text};
    enum sv_status st = text ? api_question_ask(a->ctx, a->req, &a->input, &posted, out_made, err)
                             : api_no_memory(err);
    free(text);
    return st;
}

static enum sv_status ask(struct api_ctx *ctx, const struct http_request *req,
                          const struct query *query, const struct store_created **out_made,
                          struct sv_error *err)
{
    struct asking asking = {.ctx = ctx, .req = req};
    enum sv_status st = decode(req, query, &asking.asked, &asking.body, err);
    if (st == SV_OK) {
        st = find_network(&asking, err);
    }
    if (st == SV_OK) {
        st = plan(&asking, err);
    }
    if (st == SV_OK) {
        st = keep_sample(&asking, err);
    }
    if (st == SV_OK) {
        st = put(&asking, out_made, err);
    }
    asking_deinit(&asking);
    return st;
}

/* -------------------------------------------------------------------------------------- handler */

/* POST /v1/trials/{id}/explanations, {item, method, layer, class, ...} or a picture with the first
 * of them as parameters: 200 with what was made, 202 with a Location when it takes longer than
 * `wait` seconds. 400; 404; 409 without a network; 413; 415; 422. */
enum sv_status api_trials_explain(void *state, const struct http_request *req,
                                  struct http_response *out_resp, struct sv_error *err)
{
    struct query query = {.wait = 30, .method = -1};
    const struct store_created *made = http_request_kept(req);
    enum sv_status st = http_query_decode(req, PARAMS, API_COUNT(PARAMS), &query, err);
    if (st == SV_OK && !made) {
        st = ask(state, req, &query, &made, err);
    }
    return st == SV_OK ? api_question_answer(state, req, out_resp, &api_explanation_kind, made,
                                             query.wait, err)
                       : st;
}
