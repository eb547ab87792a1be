/* SPDX-License-Identifier: MIT
 *
 * /v1/datasets: list, show, edit, delete. Declaring one is in dataset_create.c, filling it in
 * uploads.c, its items in items.c.
 */
#include "server/api/datasets_internal.h"

#include <string.h>

#include "server/api/handlers_internal.h"

static const char *const STATES[] = {"uploading", "checking", "ready", "refused", NULL};
static const char *const SORTS[] = {"-created_at", "created_at", "name", NULL};
static const enum store_dataset_sort SORT_OF[] = {STORE_DATASETS_NEWEST, STORE_DATASETS_OLDEST,
                                                  STORE_DATASETS_BY_NAME};
static const char *const FIELDS[] = {
    "id",       "number",     "name",       "kind",        "layout",      "state", "notes",
    "options",  "digest",     "image",      "class_count", "counts",      "error", "progress",
    "revision", "created_by", "created_at", "updated_at",  "finished_at", NULL};

static json_t *encode_files(const struct store_dataset *dataset)
{
    json_t *rows = json_array();
    for (size_t i = 0; rows && i < dataset->n_files; i++) {
        const struct store_dataset_file *file = &dataset->files[i];
        json_t *size = file->declared_size < 0 ? json_null() : json_integer(file->declared_size);
        json_t *row =
            json_pack("{s:s, s:o, s:s?, s:I, s:b}", "name", file->name, "size", size, "sha256",
                      api_given(file->sha256), "received", (json_int_t)file->received_size,
                      "complete", file->complete ? 1 : 0);
        if (json_array_append_new(rows, row) != 0) {
            json_decref(rows);
            return NULL;
        }
    }
    return rows;
}

/* Files, classes and the report of the check: what only one data set's own page shows. */
static bool encode_rest(json_t *out, const struct store_dataset *dataset)
{
    json_t *report = api_document(dataset->report);
    json_t *classes = json_object_get(report, "classes");
    bool ok =
        report && json_object_set_new(out, "files", encode_files(dataset)) == 0 &&
        json_object_set_new(out, "classes", classes ? json_incref(classes) : json_null()) == 0 &&
        json_object_set(out, "report", report) == 0;
    json_decref(report);
    return ok;
}

json_t *api_dataset_encode(const struct store_dataset *d, bool in_list)
{
    bool ready = strcmp(d->state, "ready") == 0;
    json_t *image = !ready ? json_null()
                           : json_pack("{s:I, s:I, s:I}", "height", (json_int_t)d->height, "width",
                                       (json_int_t)d->width, "channels", (json_int_t)d->channels);
    json_t *counts =
        !ready ? json_null()
               : json_pack("{s:I, s:I, s:I}", "train", (json_int_t)d->train_count, "validation",
                           (json_int_t)d->validation_count, "test", (json_int_t)d->test_count);
    json_t *class_count = ready ? json_integer(d->class_count) : json_null();
    json_t *out = json_pack(
        "{s:s, s:I, s:s, s:s, s:s, s:s, s:s, s:o, s:s?, s:o, s:o, s:o, s:s?, s:o, s:I, s:s, s:s, "
        "s:s, s:s?}",
        "id", d->id, "number", (json_int_t)d->number, "name", d->name, "kind", d->kind, "layout",
        d->layout, "state", d->state, "notes", d->notes, "options", api_document(d->options),
        "digest", api_given(d->digest), "image", image, "class_count", class_count, "counts",
        counts, "error", d->error_text, "progress", jx_number(d->progress), "revision",
        (json_int_t)d->revision, "created_by", d->created_by, "created_at", d->created_at,
        "updated_at", d->updated_at, "finished_at", api_given(d->finished_at));
    if (out && !in_list && !encode_rest(out, d)) {
        json_decref(out);
        return NULL;
    }
    return out;
}

enum sv_status api_dataset_for_spec(struct api_ctx *ctx, const struct http_request *req,
                                    const char *id, struct jobs_dataset *out_dataset,
                                    struct sv_error *err)
{
    struct store_scope scope;
    struct store_memory memory = {0};
    struct store_dataset found;
    api_scope(req, &scope);
    enum sv_status st = sv_id_is_valid(id)
                            ? store_dataset_get(ctx->store, &scope, id, &memory, &found, err)
                            : SV_ERR_NOT_FOUND;
    if (st == SV_ERR_NOT_FOUND) {
        st = sv_fail_at(err, SV_ERR_INVALID_FIELD, "/dataset", "there is no such data set");
    } else if (st == SV_OK && strcmp(found.state, "ready") != 0) {
        st = sv_fail_at(err, SV_ERR_WRONG_STATE, "/dataset", "the data set is %s, not ready",
                        found.state);
    } else if (st == SV_OK) {
        *out_dataset = (struct jobs_dataset){.height = (size_t)found.height,
                                             .width = (size_t)found.width,
                                             .channels = (size_t)found.channels,
                                             .classes = (size_t)found.class_count,
                                             .train = (size_t)found.train_count,
                                             .validation = (size_t)found.validation_count,
                                             .test = (size_t)found.test_count};
        memcpy(out_dataset->id, found.id, sizeof out_dataset->id);
    }
    store_memory_clear(&memory);
    return st;
}

/* ---------------------------------------------------------------------------------------- list */

struct list_query {
    int64_t limit, wait;
    const char *cursor, *search;
    int state, kind, sort;
    struct http_list fields;
};

#define QUERY(member) offsetof(struct list_query, member)
static const struct http_param LIST_PARAMS[] = {
    HTTP_PARAM_ROW_LIMIT(struct list_query, limit),
    HTTP_PARAM_ROW_CURSOR(struct list_query, cursor),
    HTTP_PARAM_ROW_WAIT(struct list_query, wait),
    {"search", HTTP_PARAM_TEXT, QUERY(search), 1, 200, NULL},
    {"state", HTTP_PARAM_CHOICE, QUERY(state), 0, 0, STATES},
    {"kind", HTTP_PARAM_CHOICE, QUERY(kind), 0, 0, api_dataset_kinds},
    {"sort", HTTP_PARAM_CHOICE, QUERY(sort), 0, 0, SORTS},
    {"fields", HTTP_PARAM_LIST, QUERY(fields), 0, 64, FIELDS},
};

/* GET /v1/datasets. 400 for a wrong parameter. */
enum sv_status api_datasets_list(void *state, const struct http_request *req,
                                 struct http_response *out_resp, struct sv_error *err)
{
    struct api_ctx *ctx = state;
    struct list_query query = {.limit = HTTP_LIMIT_DEFAULT, .state = -1, .kind = -1, .sort = 0};
    struct store_scope scope;
    struct store_memory memory = {0};
    struct store_dataset_list list;
    struct api_list_poll poll;
    struct api_params params = {LIST_PARAMS, API_COUNT(LIST_PARAMS), &query};
    struct api_page page;
    bool done = false;
    enum sv_status st = http_query_decode(req, LIST_PARAMS, API_COUNT(LIST_PARAMS), &query, err);
    if (st == SV_OK) {
        st = api_page_open(&params, query.limit, query.cursor, &page, err);
    }
    if (st == SV_OK) {
        st = api_list_begin(ctx, req, out_resp, query.wait, &poll, &done, err);
    }
    if (st != SV_OK || done) {
        return st;
    }
    api_scope(req, &scope);
    struct store_dataset_filter filter = {
        .state = query.state < 0 ? NULL : STATES[query.state],
        .kind = query.kind < 0 ? NULL : api_dataset_kinds[query.kind],
        .search = query.search,
        .sort = SORT_OF[query.sort],
    };
    st = store_datasets_list(ctx->store, &scope, &filter, &page.store, &memory, &list, err);
    if (st == SV_OK) {
        json_t *rows = json_array();
        for (size_t i = 0; rows && i < list.n; i++) {
            api_list_pair(&poll, list.rows[i].id, list.rows[i].revision);
            rows = api_append_take(rows, api_dataset_encode(&list.rows[i], true));
        }
        rows = api_picked_take(rows, &query.fields);
        st = api_list_end_take(
            ctx, req, out_resp, &poll,
            rows ? api_list_take(rows, api_page_next(req, &page, list.next)) : NULL, err);
    }
    store_memory_clear(&memory);
    return st;
}

/* ---------------------------------------------------------------------------------------- one */

/* The data set as the answer to a change. */
enum sv_status api_dataset_answer(struct api_ctx *ctx, const struct http_request *req,
                                  struct http_response *resp, int status, const char *id,
                                  struct sv_error *err)
{
    struct store_scope scope;
    struct store_memory memory = {0};
    struct store_dataset dataset;
    api_scope(req, &scope);
    enum sv_status st = store_dataset_get(ctx->store, &scope, id, &memory, &dataset, err);
    if (st == SV_OK) {
        char etag[HTTP_ETAG_SIZE];
        http_etag(req, dataset.revision, etag);
        http_response_etag(resp, etag);
        st = http_response_json_take(resp, status, api_dataset_encode(&dataset, false));
    }
    store_memory_clear(&memory);
    return st;
}

struct show_query {
    int64_t wait;
};
static const struct http_param SHOW_PARAMS[] = {HTTP_PARAM_ROW_WAIT(struct show_query, wait)};

/* GET /v1/datasets/{id}: with classes, files and the report of the check. 404. */
enum sv_status api_datasets_get(void *state, const struct http_request *req,
                                struct http_response *out_resp, struct sv_error *err)
{
    struct api_ctx *ctx = state;
    struct show_query query = {0};
    struct store_scope scope;
    struct store_memory memory = {0};
    struct store_dataset dataset;
    struct api_poll poll;
    bool done = false;
    const char *id = http_path(req, "id");
    enum sv_status st = http_query_decode(req, SHOW_PARAMS, API_COUNT(SHOW_PARAMS), &query, err);
    if (st == SV_OK) {
        st = api_poll_begin(ctx, req, out_resp, id, query.wait, &poll, &done, err);
    }
    if (st != SV_OK || done) {
        return st;
    }
    api_scope(req, &scope);
    st = store_dataset_get(ctx->store, &scope, id, &memory, &dataset, err);
    if (st == SV_OK) {
        st = api_poll_end_take(ctx, req, out_resp, &poll, id, dataset.revision,
                               api_dataset_encode(&dataset, false), err);
    }
    store_memory_clear(&memory);
    return st;
}

struct patch_body {
    const char *name, *notes;
};
const struct jx_field api_dataset_patch_fields[] = {
    {.name = "name",
     .type = JX_STRING,
     .offset = offsetof(struct patch_body, name),
     .min = 1,
     .max = JOBS_NAME_MAX,
     .doc = "unique in the project"},
    {.name = "notes",
     .type = JX_STRING,
     .offset = offsetof(struct patch_body, notes),
     .max = JOBS_NOTES_MAX,
     .doc = "remarks"},
    JX_END,
};

/* PATCH /v1/datasets/{id}: name, notes. 404; 409 name taken; 422. */
enum sv_status api_datasets_patch(void *state, const struct http_request *req,
                                  struct http_response *out_resp, struct sv_error *err)
{
    struct api_ctx *ctx = state;
    struct patch_body body = {0};
    struct store_scope scope;
    const char *id = http_path(req, "id");
    api_scope(req, &scope);
    enum sv_status st = http_query_decode(req, NULL, 0, NULL, err);
    if (st == SV_OK) {
        st = api_decode_patch(api_dataset_patch_fields, req->json, &body, err);
    }
    if (st == SV_OK && body.name) {
        st = api_check_line(body.name, "/name", err);
    }
    if (st == SV_OK) {
        st = store_dataset_patch(ctx->store, &scope, id, body.name, body.notes, err);
    }
    return st == SV_OK ? api_dataset_answer(ctx, req, out_resp, 200, id, err) : st;
}

/* DELETE /v1/datasets/{id}. 404; 409 while a job refers to it or it is being checked. */
enum sv_status api_datasets_delete(void *state, const struct http_request *req,
                                   struct http_response *out_resp, struct sv_error *err)
{
    struct api_ctx *ctx = state;
    struct store_scope scope;
    api_scope(req, &scope);
    enum sv_status st = http_query_decode(req, NULL, 0, NULL, err);
    if (st == SV_OK) {
        st = store_dataset_delete(ctx->store, &scope, http_path(req, "id"), err);
    }
    if (st == SV_OK) {
        http_response_empty(out_resp, 204);
    }
    return st;
}
