/* SPDX-License-Identifier: MIT
 *
 * GET /v1/trials/{id}/predictions: of a classification its samples with true and predicted class,
 * of a regression its sequences with target and prediction at the last step, or one of them step by
 * step.
 */
#include <stdio.h>
#include <string.h>

#include "server/api/handlers_internal.h"
#include "server/api/trial_read_internal.h"
#include "server/store/datasets.h"
#include "server/store/results.h"

static const char *const PARTS[] = {"train", "validation", "test", NULL};
enum { PART_VALIDATION = 1 };

struct predictions_query {
    int part, wrong, sort;
    int64_t limit, sequence;
    const char *cursor, *truth, *predicted;
};

static const char *const WRONG[] = {"false", "true", NULL};
static const char *const SORTS[] = {"-worst_error", NULL};
#define QUERY(member) offsetof(struct predictions_query, member)
static const struct http_param PREDICTION_PARAMS[] = {
    HTTP_PARAM_ROW_LIMIT(struct predictions_query, limit),
    HTTP_PARAM_ROW_CURSOR(struct predictions_query, cursor),
    {"part", HTTP_PARAM_CHOICE, QUERY(part), 0, 0, PARTS},
    {"true", HTTP_PARAM_TEXT, QUERY(truth), 1, 1024, NULL},
    {"predicted", HTTP_PARAM_TEXT, QUERY(predicted), 1, 1024, NULL},
    {"wrong", HTTP_PARAM_CHOICE, QUERY(wrong), 0, 0, WRONG},
    {"sequence", HTTP_PARAM_INT, QUERY(sequence), 0, UINT32_MAX, NULL},
    {"sort", HTTP_PARAM_CHOICE, QUERY(sort), 0, 0, SORTS},
};

static enum sv_status class_index(const struct store_confusion *matrix, const char *parameter,
                                  const char *name, int *out_index, struct sv_error *err)
{
    *out_index = -1;
    for (size_t i = 0; name && i < matrix->n_classes; i++) {
        if (strcmp(matrix->classes[i], name) == 0) {
            *out_index = (int)i;
        }
    }
    return !name || *out_index >= 0 ? SV_OK
                                    : sv_fail_parameter(err, SV_ERR_INVALID_PARAMETER, parameter,
                                                        "there is no such class");
}

static json_t *class_name(const struct store_confusion *matrix, int32_t index)
{
    bool known = index >= 0 && (size_t)index < matrix->n_classes;
    return known ? jx_text(matrix->classes[index], SIZE_MAX) : json_null();
}

/* Where a sample can be looked at; null for a sequence. */
static json_t *image_of(const struct store_dataset *dataset, int64_t sample)
{
    char image[128];
    (void)snprintf(image, sizeof image, "/v1/datasets/%s/items/%lld/image", dataset->id,
                   (long long)sample);
    return strcmp(dataset->kind, "sequences") == 0 ? json_null() : json_string(image);
}

static json_t *encode_predictions(const struct store_prediction_list *list,
                                  const struct store_confusion *matrix,
                                  const struct store_dataset *dataset)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < list->n; i++) {
        const struct store_prediction *p = &list->rows[i];
        rows = api_append_take(
            rows, json_pack("{s:I, s:o, s:o, s:o, s:o}", "sample", (json_int_t)p->sample, "true",
                            class_name(matrix, p->truth), "predicted",
                            class_name(matrix, p->predicted), "probability",
                            jx_number_f32(p->probability), "image", image_of(dataset, p->sample)));
    }
    return rows;
}

/* ------------------------------------------------------------------------------ classification */

static enum sv_status read_samples(struct api_ctx *ctx, const struct http_request *req,
                                   struct api_trial_read *read,
                                   const struct predictions_query *query, struct api_page *page,
                                   json_t **out_json, struct sv_error *err)
{
    struct store_confusion matrix;
    struct store_dataset dataset;
    struct store_prediction_list list;
    struct store_prediction_filter filter = {.part = PARTS[query->part], .wrong = query->wrong};
    if (query->sequence >= 0 || query->sort >= 0) {
        return sv_fail_parameter(err, SV_ERR_INVALID_PARAMETER,
                                 query->sequence >= 0 ? "sequence" : "sort",
                                 "this is a classification of samples");
    }
    enum sv_status st = store_confusion_get(ctx->store, &read->scope, read->id, filter.part,
                                            &read->memory, &matrix, err);
    if (st == SV_OK) {
        st = class_index(&matrix, "true", query->truth, &filter.truth, err);
    }
    if (st == SV_OK) {
        st = class_index(&matrix, "predicted", query->predicted, &filter.predicted, err);
    }
    if (st == SV_OK) {
        st = store_predictions_list(ctx->store, &read->scope, read->id, &filter, &page->store,
                                    &read->memory, &list, err);
    }
    if (st == SV_OK) {
        st = store_dataset_get(ctx->store, &read->scope, read->dataset_id, &read->memory, &dataset,
                               err);
    }
    if (st == SV_OK) {
        *out_json = api_list_take(encode_predictions(&list, &matrix, &dataset),
                                  api_page_next(req, page, list.next));
    }
    return st;
}

/* ---------------------------------------------------------------------------------- regression */

static json_t *encode_numbers(const double *values, size_t n)
{
    json_t *out = json_array();
    for (size_t i = 0; i < n; i++) {
        out = api_append_take(out, jx_number_f32((float)values[i]));
    }
    return out;
}

static json_t *encode_worst(const struct store_sequence_prediction *p)
{
    float target = (float)p->worst_target, predicted = (float)p->worst_predicted;
    return json_pack("{s:I, s:o, s:o, s:o}", "step", (json_int_t)p->worst_step, "target",
                     jx_number_f32(target), "predicted", jx_number_f32(predicted), "error",
                     jx_number_f32(predicted - target));
}

static json_t *encode_sequence(const struct store_sequence_prediction *p, bool whole)
{
    json_t *row =
        json_pack("{s:I, s:o, s:I, s:o, s:o, s:o, s:o, s:o}", "sample", (json_int_t)p->sample,
                  "name", jx_text(p->name, SIZE_MAX), "length", (json_int_t)p->length, "target",
                  jx_number_f32((float)p->target), "predicted", jx_number_f32((float)p->predicted),
                  "error", jx_number_f32((float)p->predicted - (float)p->target), "rmse",
                  jx_number(p->rmse), "worst", encode_worst(p));
    if (row && whole &&
        (json_object_set_new(row, "targets", encode_numbers(p->targets, p->n)) != 0 ||
         json_object_set_new(row, "predictions", encode_numbers(p->predictions, p->n)) != 0)) {
        json_decref(row);
        return NULL;
    }
    return row;
}

/* Parameters that only classifications have. */
static enum sv_status check_sequences(const struct predictions_query *query, struct sv_error *err)
{
    const char *wrong = query->truth         ? "true"
                        : query->predicted   ? "predicted"
                        : query->wrong != -1 ? "wrong"
                                             : NULL;
    return wrong ? sv_fail_parameter(err, SV_ERR_INVALID_PARAMETER, wrong,
                                     "a regression has no classes")
                 : SV_OK;
}

static enum sv_status read_sequences(struct api_ctx *ctx, const struct http_request *req,
                                     struct api_trial_read *read,
                                     const struct predictions_query *query, struct api_page *page,
                                     json_t **out_json, struct sv_error *err)
{
    struct store_sequence_prediction_list list;
    bool whole = query->sequence >= 0;
    struct store_sequence_filter filter = {.part = PARTS[query->part],
                                           .sample = query->sequence,
                                           .worst_first = query->sort >= 0 && !whole};
    enum sv_status st = check_sequences(query, err);
    if (st == SV_OK) {
        st = store_sequence_predictions_list(ctx->store, &read->scope, read->id, &filter,
                                             &page->store, &read->memory, &list, err);
    }
    if (st == SV_OK && whole && list.n == 0) {
        st = sv_fail_parameter(err, SV_ERR_INVALID_PARAMETER, "sequence",
                               "the part has no such sequence");
    }
    if (st != SV_OK) {
        return st;
    }
    json_t *rows = json_array();
    for (size_t i = 0; i < list.n; i++) {
        rows = api_append_take(rows, encode_sequence(&list.rows[i], whole));
    }
    *out_json = api_list_take(rows, api_page_next(req, page, list.next));
    return SV_OK;
}

/* -------------------------------------------------------------------------------------- handler */

/* GET /v1/trials/{id}/predictions?part=validation&true=A&predicted=B: the samples of class A taken
 * for B; ?part=test&sequence=7: one sequence step by step. 404 also when the part was not
 * evaluated; 400 for an unknown class or sequence, or a parameter of the other task. */
enum sv_status api_trials_predictions(void *state, const struct http_request *req,
                                      struct http_response *out_resp, struct sv_error *err)
{
    struct api_ctx *ctx = state;
    struct predictions_query query = {.part = PART_VALIDATION,
                                      .wrong = -1,
                                      .sort = -1,
                                      .limit = HTTP_LIMIT_DEFAULT,
                                      .sequence = -1};
    struct api_params params = {PREDICTION_PARAMS, API_COUNT(PREDICTION_PARAMS), &query};
    struct api_trial_read read;
    struct api_page page;
    const char *task = "";
    json_t *json = NULL;
    bool done = false;
    enum sv_status st = api_trial_read_begin(ctx, req, out_resp, &params, NULL, &read, &done, err);
    if (st != SV_OK || done) {
        return st;
    }
    st = api_page_open(req, &params, query.limit, query.cursor, &page, err);
    if (st == SV_OK) {
        st = store_evaluation_task(ctx->store, &read.scope, read.id, PARTS[query.part],
                                   &read.memory, &task, err);
    }
    if (st == SV_OK) {
        bool regression = strcmp(task, "regression") == 0;
        st = regression ? read_sequences(ctx, req, &read, &query, &page, &json, err)
                        : read_samples(ctx, req, &read, &query, &page, &json, err);
    }
    return api_trial_read_end_take(ctx, req, out_resp, &read, st, json, err);
}
