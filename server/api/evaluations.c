/* SPDX-License-Identifier: MIT
 *
 * What a finished trial says about each part: evaluations and confusion matrices.
 */
#include <math.h>
#include <string.h>

#include "server/api/csv_internal.h"
#include "server/api/handlers_internal.h"
#include "server/api/trial_read_internal.h"
#include "server/store/results.h"

static const char *const PARTS[] = {"train", "validation", "test", NULL};
enum { PART_VALIDATION = 1 };

/* -------------------------------------------------------------------------------- evaluations */

static json_t *encode_evaluations(const struct store_evaluation_list *list)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < list->n; i++) {
        const struct store_evaluation *e = &list->rows[i];
        json_t *row = json_pack("{s:s, s:I, s:s}", "part", e->part, "sample_count",
                                (json_int_t)e->sample_count, "created_at", e->created_at);
        json_t *document = api_document(e->document);
        if (!row || !document || json_object_update_missing(row, document) != 0) {
            json_decref(row);
            row = NULL;
        }
        json_decref(document);
        rows = api_append_take(rows, row);
    }
    return rows;
}

/* GET /v1/trials/{id}/evaluations: every figure of each part, per class too; none before the trial
 * is evaluated. 404. */
enum sv_status api_trials_evaluations(void *state, const struct http_request *req,
                                      struct http_response *out_resp, struct sv_error *err)
{
    struct api_ctx *ctx = state;
    struct api_trial_read read;
    struct store_evaluation_list list;
    bool done = false;
    enum sv_status st = api_trial_read_begin(ctx, req, out_resp, NULL, NULL, &read, &done, err);
    if (st != SV_OK || done) {
        return st;
    }
    st = store_evaluations_list(ctx->store, &read.scope, read.id, &read.memory, &list, err);
    json_t *json = st == SV_OK ? api_list_take(encode_evaluations(&list), NULL) : NULL;
    return api_trial_read_end_take(ctx, req, out_resp, &read, st, json, err);
}

/* --------------------------------------------------------------------------- confusion matrix */

static const char *const FORMS[] = {"dense", "sparse", NULL};
enum { FORM_DENSE, FORM_SPARSE };

struct part_query {
    int part, form;
};
#define QUERY(member) offsetof(struct part_query, member)
static const struct http_param PART_PARAMS[] = {
    {"part", HTTP_PARAM_CHOICE, QUERY(part), 0, 0, PARTS},
    {"form", HTTP_PARAM_CHOICE, QUERY(form), 0, 0, FORMS},
};

static json_t *encode_row(const int64_t *counts, size_t n)
{
    json_t *row = json_array();
    for (size_t i = 0; i < n; i++) {
        row = api_append_take(row, json_integer(counts[i]));
    }
    return row;
}

/* The counts row by row. */
static json_t *encode_dense(const struct store_confusion *matrix)
{
    json_t *rows = json_array();
    for (size_t t = 0; t < matrix->n_classes; t++) {
        rows = api_append_take(
            rows, encode_row(matrix->counts + t * matrix->n_classes, matrix->n_classes));
    }
    return rows;
}

/* [true, predicted, count] of what is not 0: of many classes most cells are. */
static json_t *encode_sparse(const struct store_confusion *matrix)
{
    json_t *cells = json_array();
    for (size_t i = 0; i < matrix->n_classes * matrix->n_classes; i++) {
        if (matrix->counts[i] != 0) {
            cells =
                api_append_take(cells, json_pack("[I, I, I]", (json_int_t)(i / matrix->n_classes),
                                                 (json_int_t)(i % matrix->n_classes),
                                                 (json_int_t)matrix->counts[i]));
        }
    }
    return cells;
}

static json_t *encode_confusion(const char *part, int form, const struct store_confusion *matrix)
{
    json_t *classes = json_array();
    int64_t counted = 0, right = 0;
    for (size_t t = 0; t < matrix->n_classes; t++) {
        const int64_t *counts = matrix->counts + t * matrix->n_classes;
        classes = api_append_take(classes, jx_text(matrix->classes[t], SIZE_MAX));
        right += counts[t];
        for (size_t p = 0; p < matrix->n_classes; p++) {
            counted += counts[p];
        }
    }
    bool sparse = form == FORM_SPARSE;
    int64_t total = matrix->samples;
    json_t *accuracy = total > 0 ? jx_number((double)right / (double)total) : json_null();
    return json_pack("{s:s, s:s, s:s, s:o, s:o, s:I, s:I, s:o}", "part", part, "rows", "true",
                     "columns", "predicted", "classes", classes, sparse ? "cells" : "counts",
                     sparse ? encode_sparse(matrix) : encode_dense(matrix), "total",
                     (json_int_t)total, "unclassified", (json_int_t)(total - counted), "accuracy",
                     accuracy);
}

/* First line and first column are class names; rows = true, columns = predicted. */
static char *write_confusion(const struct store_confusion *matrix, size_t *out_size)
{
    struct csv_writer csv;
    if (!csv_begin(&csv)) {
        return NULL;
    }
    csv_text(&csv, "true\\predicted");
    for (size_t p = 0; p < matrix->n_classes; p++) {
        csv_text(&csv, matrix->classes[p]);
    }
    csv_end_row(&csv);
    for (size_t t = 0; t < matrix->n_classes; t++) {
        csv_text(&csv, matrix->classes[t]);
        for (size_t p = 0; p < matrix->n_classes; p++) {
            csv_integer(&csv, matrix->counts[t * matrix->n_classes + p]);
        }
        csv_end_row(&csv);
    }
    return csv_finish(&csv, out_size);
}

/* A part that was evaluated as a regression says so. */
static enum sv_status find_matrix(struct api_ctx *ctx, struct api_trial_read *read,
                                  const char *part, struct store_confusion *out_matrix,
                                  struct sv_error *err)
{
    const char *task = "";
    enum sv_status st =
        store_evaluation_task(ctx->store, &read->scope, read->id, part, &read->memory, &task, err);
    if (st == SV_OK && strcmp(task, "classification") != 0) {
        return sv_fail(err, SV_ERR_NOT_FOUND,
                       "a %s has no confusion matrix; see evaluations and predictions", task);
    }
    return st == SV_OK ? store_confusion_get(ctx->store, &read->scope, read->id, part,
                                             &read->memory, out_matrix, err)
                       : st;
}

static enum sv_status confusion(void *state, const struct http_request *req,
                                struct http_response *resp, bool as_csv, struct sv_error *err)
{
    struct api_ctx *ctx = state;
    struct part_query query = {.part = PART_VALIDATION};
    struct api_params params = {PART_PARAMS, as_csv ? 1 : API_COUNT(PART_PARAMS), &query};
    struct api_trial_read read;
    struct store_confusion matrix;
    bool done = false;
    if (as_csv) {
        http_response_filename(resp, "confusion-matrix.csv"); /* of an answer kept, too */
    }
    enum sv_status st = api_trial_read_begin(ctx, req, resp, &params, NULL, &read, &done, err);
    if (st != SV_OK || done) {
        return st;
    }
    st = find_matrix(ctx, &read, PARTS[query.part], &matrix, err);
    if (as_csv && st == SV_OK) {
        size_t size = 0;
        char *text = write_confusion(&matrix, &size);
        return api_trial_read_end_bytes_take(ctx, req, resp, &read, API_CSV, text, size, err);
    }
    json_t *json = st == SV_OK ? encode_confusion(PARTS[query.part], query.form, &matrix) : NULL;
    return api_trial_read_end_take(ctx, req, resp, &read, st, json, err);
}

/* GET /v1/trials/{id}/confusion-matrix?part=validation&form=dense. 404 also when the part was not
 * evaluated, or is that of a regression. */
enum sv_status api_trials_confusion(void *state, const struct http_request *req,
                                    struct http_response *out_resp, struct sv_error *err)
{
    return confusion(state, req, out_resp, api_wants_csv(req), err);
}

/* The same as a table. */
enum sv_status api_trials_confusion_csv(void *state, const struct http_request *req,
                                        struct http_response *out_resp, struct sv_error *err)
{
    return confusion(state, req, out_resp, true, err);
}
