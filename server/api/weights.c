/* SPDX-License-Identifier: MIT
 *
 * /v1/weights: list, show, edit, delete, tensors, content. Declaring is in weights_create.c,
 * filling in uploads.c, the match with a network in weights_match.c.
 */
#include "server/api/weights_internal.h"

#include <stdio.h>
#include <string.h>

#include "server/api/handlers_internal.h"

static const char *const STATES[] = {"uploading", "checking", "ready", "refused", NULL};
static const char *const SORTS[] = {"-created_at", "created_at", "name", NULL};
static const enum store_weights_sort SORT_OF[] = {STORE_WEIGHTS_NEWEST, STORE_WEIGHTS_OLDEST,
                                                  STORE_WEIGHTS_BY_NAME};
static const char *const FIELDS[] = {"id",
                                     "number",
                                     "name",
                                     "state",
                                     "notes",
                                     "origin",
                                     "url",
                                     "licence",
                                     "format",
                                     "digest",
                                     "preprocessing",
                                     "tensor_count",
                                     "element_count",
                                     "bytes",
                                     "error",
                                     "progress",
                                     "revision",
                                     "created_by",
                                     "created_at",
                                     "updated_at",
                                     "finished_at",
                                     NULL};

/* Without the description of a graph, which has an address of its own. */
static json_t *shown_report(const struct store_weights *w)
{
    json_t *report = api_document(w->report);
    if (json_is_object(report)) {
        (void)json_object_del(report, "network");
    }
    return report;
}

static json_t *encode(const void *row, bool in_list)
{
    const struct store_weights *w = row;
    bool ready = strcmp(w->state, "ready") == 0;
    json_t *out = json_pack(
        "{s:s, s:I, s:s, s:s, s:s, s:s, s:s, s:s, s:s?, s:s?, s:o, s:o, s:o, s:o, s:s?, s:o, s:I, "
        "s:s, s:s, s:s, s:s?}",
        "id", w->id, "number", (json_int_t)w->number, "name", w->name, "state", w->state, "notes",
        w->notes, "origin", w->origin, "url", w->url, "licence", w->licence, "format", w->format,
        "digest", api_given(w->digest), "preprocessing", api_document(w->preprocessing),
        "tensor_count", ready ? json_integer(w->tensor_count) : json_null(), "element_count",
        ready ? json_integer(w->element_count) : json_null(), "bytes",
        ready ? json_integer(w->content.size) : json_null(), "error", w->error_text, "progress",
        jx_number(w->progress), "revision", (json_int_t)w->revision, "created_by", w->created_by,
        "created_at", w->created_at, "updated_at", w->updated_at, "finished_at",
        api_given(w->finished_at));
    if (out && !in_list &&
        (json_object_set_new(out, "files", api_files_encode(w->files, w->n_files)) != 0 ||
         json_object_set_new(out, "report", shown_report(w)) != 0)) {
        json_decref(out);
        return NULL;
    }
    return out;
}

/* ---------------------------------------------------------------------------------------- list */

struct list_query {
    struct api_list_query list;
    const char *search;
    int state, sort;
};

#define QUERY(member) offsetof(struct list_query, member)
static const struct http_param LIST_PARAMS[] = {
    API_LIST_ROWS(FIELDS),
    API_LIST_ROW_WAIT,
    {"search", HTTP_PARAM_TEXT, QUERY(search), 1, 200, NULL},
    {"state", HTTP_PARAM_CHOICE, QUERY(state), 0, 0, STATES},
    {"sort", HTTP_PARAM_CHOICE, QUERY(sort), 0, 0, SORTS},
};

static enum sv_status read_list(struct api_ctx *ctx, const struct http_request *req,
                                const void *query, const struct store_page *page,
                                struct store_memory *memory, struct api_rows *out_rows,
                                struct sv_error *err)
{
    const struct list_query *q = query;
    struct store_scope scope;
    struct store_weights_list list;
    struct store_weights_filter filter = {
        .state = api_choice(STATES, q->state), .search = q->search, .sort = SORT_OF[q->sort]};
    api_scope(req, &scope);
    enum sv_status st = store_weights_list(ctx->store, &scope, &filter, page, memory, &list, err);
    if (st == SV_OK) {
        *out_rows = (struct api_rows){list.rows, list.n, list.next};
    }
    return st;
}

/* GET /v1/weights. 400 for a wrong parameter. */
enum sv_status api_weights_list(void *state, const struct http_request *req,
                                struct http_response *out_resp, struct sv_error *err)
{
    static const struct api_list_kind KIND = {.params = LIST_PARAMS,
                                              .n_params = API_COUNT(LIST_PARAMS),
                                              .read = read_list,
                                              .row_size = sizeof(struct store_weights),
                                              .encode = encode,
                                              .id = offsetof(struct store_weights, id),
                                              .revision = offsetof(struct store_weights, revision)};
    struct list_query query = {.list = API_LIST_DEFAULTS, .state = -1};
    return api_list(state, req, out_resp, &KIND, &query.list, err);
}

/* ----------------------------------------------------------------------------------------- one */

enum sv_status api_weights_read(struct api_ctx *ctx, const struct http_request *req, const char *id,
                                struct api_seen *out_seen, struct sv_error *err)
{
    struct store_scope scope;
    struct store_memory memory = {0};
    struct store_weights weights = {0};
    api_scope(req, &scope);
    enum sv_status st = store_weights_get(ctx->store, &scope, id, &memory, &weights, err);
    if (st == SV_OK) {
        st = api_seen(weights.id, weights.revision, encode(&weights, false), out_seen, err);
    }
    store_memory_clear(&memory);
    return st;
}

/* GET /v1/weights/{id}: with files and the report of the check. 404. */
enum sv_status api_weights_get(void *state, const struct http_request *req,
                               struct http_response *out_resp, struct sv_error *err)
{
    return api_show(state, req, out_resp, api_weights_read, err);
}

/* PATCH /v1/weights/{id}: name, notes. 404; 409 name taken; 422. */
enum sv_status api_weights_patch(void *state, const struct http_request *req,
                                 struct http_response *out_resp, struct sv_error *err)
{
    return api_asset_patch(state, req, out_resp, STORE_WEIGHTS, api_weights_read, err);
}

/* DELETE /v1/weights/{id}. 404; 409 while a job refers to them or they are being checked. */
enum sv_status api_weights_delete(void *state, const struct http_request *req,
                                  struct http_response *out_resp, struct sv_error *err)
{
    return api_asset_delete(state, req, out_resp, STORE_WEIGHTS, err);
}

enum sv_status api_weights_find_ready(struct api_ctx *ctx, const struct http_request *req,
                                      const struct store_scope *scope, struct store_memory *memory,
                                      struct store_weights *out_weights, struct sv_error *err)
{
    struct store_weights found;
    enum sv_status st =
        store_weights_get(ctx->store, scope, http_path(req, "id"), memory, &found, err);
    if (st == SV_OK && strcmp(found.state, "ready") != 0) {
        return sv_fail(err, SV_ERR_WRONG_STATE, "the weights are %s, not ready", found.state);
    }
    if (st == SV_OK) {
        *out_weights = found;
    }
    return st;
}

/* ------------------------------------------------------------------------------------- tensors */

struct tensors_query {
    int64_t limit;
    const char *cursor;
};
static const struct http_param TENSORS_PARAMS[] = {
    HTTP_PARAM_ROW_LIMIT(struct tensors_query, limit),
    HTTP_PARAM_ROW_CURSOR(struct tensors_query, cursor),
};

/* A page of the stored list, which never changes once there is one. */
static enum sv_status cut_tensors(const struct http_request *req, const char *text,
                                  const struct tensors_query *query, json_t **out_json,
                                  struct sv_error *err)
{
    struct http_cursor cursor;
    uint64_t signature = http_hash(HTTP_HASH_SEED, req->path);
    enum sv_status st = http_cursor_decode(query->cursor, signature, "i", &cursor, err);
    if (st != SV_OK) {
        return st;
    }
    json_auto_t *all = api_document(text);
    size_t i = cursor.count ? (size_t)cursor.values[0].integer : 0;
    json_t *rows = json_array();
    while (rows && i < json_array_size(all) && json_array_size(rows) < (size_t)query->limit) {
        rows = api_append_take(rows, json_incref(json_array_get(all, i++)));
    }
    cursor.count = 1;
    cursor.values[0].kind = HTTP_CURSOR_INT;
    cursor.values[0].integer = (int64_t)i;
    bool more = i < json_array_size(all);
    *out_json = api_list_take(rows, more ? http_cursor_encode(req, signature, &cursor) : NULL);
    return SV_OK;
}

/* GET /v1/weights/{id}/tensors: names, types and shapes, by name. 404; 409 not ready. */
enum sv_status api_weights_tensors(void *state, const struct http_request *req,
                                   struct http_response *out_resp, struct sv_error *err)
{
    struct tensors_query query = {.limit = HTTP_LIMIT_DEFAULT};
    struct store_scope scope;
    struct store_memory memory = {0};
    struct store_weights weights = {0};
    struct api_poll poll;
    json_t *json = NULL;
    bool done = false;
    const char *id = http_path(req, "id");
    enum sv_status st =
        http_query_decode(req, TENSORS_PARAMS, API_COUNT(TENSORS_PARAMS), &query, err);
    if (st == SV_OK) {
        st = api_poll_begin(state, req, out_resp, id, 0, &poll, &done, err);
    }
    if (st != SV_OK || done) {
        return st;
    }
    api_scope(req, &scope);
    st = api_weights_find_ready(state, req, &scope, &memory, &weights, err);
    if (st == SV_OK) {
        st = cut_tensors(req, weights.tensors, &query, &json, err);
    }
    if (st == SV_OK) {
        st = api_poll_end_take(state, req, out_resp, &poll, id, weights.revision, json, err);
    }
    store_memory_clear(&memory);
    return st;
}

/* ------------------------------------------------------------------------------------- content */

/* GET /v1/weights/{id}/content: all tensors as safetensors, whatever was uploaded. The ETag is the
 * content's digest. 404; 409 not ready. */
enum sv_status api_weights_content(void *state, const struct http_request *req,
                                   struct http_response *out_resp, struct sv_error *err)
{
    struct store_scope scope;
    struct store_memory memory = {0};
    struct store_weights weights = {0};
    char name[80];
    api_scope(req, &scope);
    enum sv_status st = http_query_decode(req, NULL, 0, NULL, err);
    if (st == SV_OK) {
        st = api_weights_find_ready(state, req, &scope, &memory, &weights, err);
    }
    if (st == SV_OK) {
        (void)snprintf(name, sizeof name, "%s.safetensors", weights.id);
        st = api_blob_send(state, req, out_resp, &scope, &weights.content, name, err);
    }
    store_memory_clear(&memory);
    return st;
}
