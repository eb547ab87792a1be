/* SPDX-License-Identifier: MIT
 *
 * /v1/networks and /v1/layers: the catalogue, what a description may have, and its analysis before
 * it is trained.
 */
#include "core/network/network.h"
#include "core/network/report.h"

#include <string.h>

#include "server/api/datasets_internal.h"
#include "server/api/handlers_internal.h"

/* GET /v1/networks: the catalogue, ordered by name. */
enum sv_status api_networks_list(void *state, const struct http_request *req,
                                 struct http_response *out_resp, struct sv_error *err)
{
    (void)state;
    enum sv_status st = http_query_decode(req, NULL, 0, NULL, err);
    if (st != SV_OK) {
        return st;
    }
    json_t *rows = json_array();
    for (size_t i = 0; rows && i < nn_catalogue_count(); i++) {
        json_t *row = nn_catalogue_get(nn_catalogue_name(i));
        (void)json_object_del(row, "description");
        if (json_array_append_new(rows, row) != 0) {
            json_decref(rows);
            rows = NULL;
        }
    }
    return http_response_json_take(out_resp, 200, rows ? api_list_take(rows, NULL) : NULL);
}

/* GET /v1/networks/{name}: one template with its layers. 404. */
enum sv_status api_networks_get(void *state, const struct http_request *req,
                                struct http_response *out_resp, struct sv_error *err)
{
    (void)state;
    const char *name = http_path(req, "name");
    enum sv_status st = http_query_decode(req, NULL, 0, NULL, err);
    if (st != SV_OK) {
        return st;
    }
    for (size_t i = 0; i < nn_catalogue_count(); i++) {
        if (strcmp(nn_catalogue_name(i), name) == 0) {
            return http_response_json_take(out_resp, 200, nn_catalogue_get(name));
        }
    }
    return sv_fail(err, SV_ERR_NOT_FOUND, "there is no such network in the catalogue");
}

/* GET /v1/layers: the kinds of layers that a description may have, with their options. */
enum sv_status api_layers_list(void *state, const struct http_request *req,
                               struct http_response *out_resp, struct sv_error *err)
{
    (void)state;
    enum sv_status st = http_query_decode(req, NULL, 0, NULL, err);
    if (st != SV_OK) {
        return st;
    }
    json_t *rows = nn_layer_kinds_json();
    return http_response_json_take(out_resp, 200, rows ? api_list_take(rows, NULL) : NULL);
}

/* ------------------------------------------------------------------------------------ analysis */

struct analysis_input {
    size_t height, width, channels;
};

struct analysis_sequence {
    size_t features, longest, targets;
};

struct analysis {
    const json_t *network;
    const char *dataset;
    struct analysis_input input;
    struct analysis_sequence sequence;
    bool input_given, sequence_given;
    size_t classes;
    size_t batch_size;
};

#define OFFSET(member)   offsetof(struct analysis, member)
#define INPUT(member)    offsetof(struct analysis_input, member)
#define SEQUENCE(member) offsetof(struct analysis_sequence, member)
static const struct jx_field INPUT_FIELDS[] = {
    {.name = "height",
     .type = JX_SIZE,
     .offset = INPUT(height),
     .min = 1,
     .max = 8192,
     .required = true,
     .doc = "rows of a picture"},
    {.name = "width",
     .type = JX_SIZE,
     .offset = INPUT(width),
     .min = 1,
     .max = 8192,
     .required = true,
     .doc = "columns of a picture"},
    {.name = "channels",
     .type = JX_SIZE,
     .offset = INPUT(channels),
     .min = 1,
     .max = 4096,
     .required = true,
     .doc = "values of a pixel"},
    JX_END,
};

static const struct jx_field SEQUENCE_FIELDS[] = {
    {.name = "features",
     .type = JX_SIZE,
     .offset = SEQUENCE(features),
     .min = 1,
     .max = 65536,
     .required = true,
     .doc = "inputs of a step"},
    {.name = "longest",
     .type = JX_SIZE,
     .offset = SEQUENCE(longest),
     .min = 1,
     .max = 10000000,
     .fallback = "100",
     .doc = "steps of the longest sequence"},
    {.name = "targets",
     .type = JX_SIZE,
     .offset = SEQUENCE(targets),
     .max = 65536,
     .fallback = "0",
     .doc = "numbers that are predicted; 0: a class"},
    JX_END,
};

const struct jx_field api_analysis_fields[] = {
    {.name = "network",
     .type = JX_ANY,
     .offset = OFFSET(network),
     .required = true,
     .ref = "#/components/schemas/Network",
     .doc = "as in a job"},
    {.name = "dataset",
     .type = JX_STRING,
     .offset = OFFSET(dataset),
     .min = 1,
     .max = 64,
     .doc = "id of a data set that gives image size and classes"},
    {.name = "input",
     .type = JX_OBJECT,
     .offset = OFFSET(input),
     .given = JX_GIVEN(struct analysis, input_given),
     .fields = INPUT_FIELDS,
     .doc = "instead of a data set, with classes"},
    {.name = "sequence",
     .type = JX_OBJECT,
     .offset = OFFSET(sequence),
     .given = JX_GIVEN(struct analysis, sequence_given),
     .fields = SEQUENCE_FIELDS,
     .doc = "instead of a data set of sequences; with its targets, or with classes"},
    {.name = "classes",
     .type = JX_SIZE,
     .offset = OFFSET(classes),
     .min = 1,
     .max = 1000000,
     .doc = "instead of a data set, with input or sequence"},
    {.name = "batch_size",
     .type = JX_SIZE,
     .offset = OFFSET(batch_size),
     .min = 1,
     .max = 65536,
     .fallback = "128",
     .doc = "what the bytes are counted for"},
    JX_END,
};

/* Sizes come from one place, and say what is predicted. */
static enum sv_status check_sizes(const struct analysis *analysis, struct sv_error *err)
{
    bool has_classes = analysis->classes > 0;
    bool has_sizes = analysis->input_given || analysis->sequence_given;
    bool has_targets = analysis->sequence_given && analysis->sequence.targets > 0;
    if (analysis->dataset && (has_sizes || has_classes)) {
        return sv_fail_at(err, SV_ERR_INVALID_FIELD, "/dataset",
                          "a data set gives sizes and classes already");
    }
    if (analysis->input_given && analysis->sequence_given) {
        return sv_fail_at(err, SV_ERR_INVALID_FIELD, "/sequence",
                          "a network takes pictures or sequences, not both");
    }
    if (has_classes && !has_sizes) {
        return sv_fail_at(err, SV_ERR_INVALID_FIELD, "/input", "input and classes go together");
    }
    if (has_sizes && has_classes == has_targets) {
        return sv_fail_at(err, SV_ERR_INVALID_FIELD, "/classes",
                          has_classes ? "a network predicts classes or targets, not both"
                          : analysis->input_given
                              ? "input and classes go together"
                              : "say how many classes, or targets of the sequence");
    }
    return SV_OK;
}

static enum sv_status decode_analysis(const json_t *body, struct analysis *out_analysis,
                                      struct sv_error *err)
{
    enum sv_status st = api_decode(api_analysis_fields, body, out_analysis, err);
    if (st != SV_OK) {
        return st;
    }
    if (!json_is_object(out_analysis->network)) {
        return sv_fail_at(err, SV_ERR_INVALID_FIELD, "/network", "must be an object");
    }
    return check_sizes(out_analysis, err);
}

/* ---- forms of a report ---- */

enum report_form { REPORT_JSON, REPORT_DOT, REPORT_TABLE };

struct report_query {
    int form; /* -1: as Accept says */
};

static const char *const REPORT_FORMS[] = {"json", "dot", "table", NULL};
static const struct http_param REPORT_PARAMS[] = {
    {"format", HTTP_PARAM_CHOICE, offsetof(struct report_query, form), 0, 0, REPORT_FORMS}};

static enum report_form form_of(const struct http_request *req, const struct report_query *query)
{
    if (query->form >= 0) {
        return (enum report_form)query->form;
    }
    if (http_accepts(req, "application/json")) {
        return REPORT_JSON;
    }
    return http_accepts(req, API_GRAPHVIZ) ? REPORT_DOT : REPORT_TABLE;
}

/* Takes the report. */
static enum sv_status answer_report(struct http_response *out_resp, enum report_form form,
                                    json_t *report, struct sv_error *err)
{
    if (form == REPORT_JSON) {
        return http_response_json_take(out_resp, 200, report);
    }
    char *text = form == REPORT_DOT ? nn_report_dot(report) : nn_report_table(report);
    json_decref(report);
    if (!text) {
        return sv_fail(err, SV_ERR_INTERNAL, "out of memory while writing the report");
    }
    const char *type = form == REPORT_DOT ? API_GRAPHVIZ : "text/plain; charset=utf-8";
    return http_response_bytes_take(out_resp, 200, type, text, strlen(text));
}

/* POST /v1/networks/analyze: a report on a description, good or bad; 200 in both cases. As JSON, as
 * a graph or as a table (`format`, or Accept). 422 for a body that is no such request. */
enum sv_status api_networks_analyze(void *state, const struct http_request *req,
                                    struct http_response *out_resp, struct sv_error *err)
{
    struct api_ctx *ctx = state;
    struct analysis analysis = {0};
    struct nn_network_bind bind = {0};
    struct nn_error nn = {0};
    json_t *report = NULL;
    struct report_query query = {.form = -1};
    enum sv_status st =
        http_query_decode(req, REPORT_PARAMS, API_COUNT(REPORT_PARAMS), &query, err);
    if (st == SV_OK) {
        st = decode_analysis(req->json, &analysis, err);
    }
    if (st != SV_OK) {
        return st;
    }
    struct jobs_dataset given = {.height = analysis.input.height,
                                 .width = analysis.input.width,
                                 .channels = analysis.input.channels,
                                 .sequences = analysis.sequence_given,
                                 .inputs = analysis.sequence.features,
                                 .targets = analysis.sequence.targets,
                                 .longest = analysis.sequence.longest,
                                 .classes = analysis.classes};
    st = api_report_bind(ctx, req, analysis.dataset, &given, &bind, err);
    if (st != SV_OK) {
        return st;
    }
    bool bound = analysis.dataset || analysis.input_given || analysis.sequence_given;
    if (nn_network_analyze(analysis.network, bound ? &bind : NULL, analysis.batch_size, &report,
                           &nn) != NN_OK) {
        return sv_fail(err, SV_ERR_INTERNAL, "%s", nn.text);
    }
    return answer_report(out_resp, form_of(req, &query), report, err);
}
