/* SPDX-License-Identifier: MIT
 *
 * /v1/experiments: names that group jobs over time. The jobs of one are listed by
 * /v1/jobs?experiment=ID.
 */
#include <stdio.h>

#include "server/api/assets_internal.h"
#include "server/api/handlers_internal.h"
#include "server/jobs/jobs.h"
#include "server/store/experiments.h"

static json_t *encode(const void *row, bool in_list)
{
    (void)in_list;
    const struct store_experiment *e = row;
    return json_pack("{s:s, s:I, s:s, s:s, s:I, s:I, s:I, s:s, s:s, s:s?}", "id", e->id, "number",
                     (json_int_t)e->number, "name", e->name, "notes", e->notes, "job_count",
                     (json_int_t)e->job_count, "trial_count", (json_int_t)e->trial_count,
                     "completed_count", (json_int_t)e->completed_count, "created_by", e->created_by,
                     "created_at", e->created_at, "last_job_at", api_given(e->last_job_at));
}

static const char *const FIELDS[] = {
    "id",          "number",          "name",       "notes",      "job_count",
    "trial_count", "completed_count", "created_by", "created_at", "last_job_at",
    NULL};

struct list_query {
    struct api_list_query list;
    const char *search;
};
static const struct http_param LIST_PARAMS[] = {
    API_LIST_ROWS(FIELDS),
    {"search", HTTP_PARAM_TEXT, offsetof(struct list_query, search), 1, 200, NULL},
};

static enum sv_status read_list(struct api_ctx *ctx, const struct http_request *req,
                                const void *query, const struct store_page *page,
                                struct store_memory *memory, struct api_rows *out_rows,
                                struct sv_error *err)
{
    const struct list_query *q = query;
    struct store_scope scope;
    struct store_experiment_list list;
    api_scope(req, &scope);
    enum sv_status st =
        store_experiments_list(ctx->store, &scope, q->search, page, memory, &list, err);
    if (st == SV_OK) {
        *out_rows = (struct api_rows){list.rows, list.n, list.next};
    }
    return st;
}

/* GET /v1/experiments: newest first. 400 for a wrong parameter. */
enum sv_status api_experiments_list(void *state, const struct http_request *req,
                                    struct http_response *out_resp, struct sv_error *err)
{
    static const struct api_list_kind KIND = {.params = LIST_PARAMS,
                                              .n_params = API_COUNT(LIST_PARAMS),
                                              .read = read_list,
                                              .row_size = sizeof(struct store_experiment),
                                              .encode = encode};
    struct list_query query = {.list = API_LIST_DEFAULTS};
    return api_list(state, req, out_resp, &KIND, &query.list, err);
}

static enum sv_status read_one(struct api_ctx *ctx, const struct http_request *req, const char *id,
                               struct api_seen *out_seen, struct sv_error *err)
{
    struct store_scope scope;
    struct store_memory memory = {0};
    struct store_experiment experiment;
    api_scope(req, &scope);
    enum sv_status st = store_experiment_get(ctx->store, &scope, id, &memory, &experiment, err);
    if (st == SV_OK) {
        st = api_seen(experiment.id, 0, encode(&experiment, false), out_seen, err);
    }
    store_memory_clear(&memory);
    return st;
}

static enum sv_status answer(struct api_ctx *ctx, const struct http_request *req,
                             struct http_response *resp, const char *id, struct sv_error *err)
{
    return api_show_changed_take(ctx, req, resp, 200, id, read_one, NULL, NULL, err);
}

/* GET /v1/experiments/{id}. 404. */
enum sv_status api_experiments_get(void *state, const struct http_request *req,
                                   struct http_response *out_resp, struct sv_error *err)
{
    enum sv_status st = http_query_decode(req, NULL, 0, NULL, err);
    return st == SV_OK ? answer(state, req, out_resp, http_path(req, "id"), err) : st;
}

struct experiment_body {
    const char *name, *notes;
};
const struct jx_field api_experiment_create_fields[] = {
    {.name = "name",
     .type = JX_STRING,
     .offset = offsetof(struct experiment_body, name),
     .min = 1,
     .max = JOBS_NAME_MAX,
     .required = true,
     .doc = "unique in the project"},
    {.name = "notes",
     .type = JX_STRING,
     .offset = offsetof(struct experiment_body, notes),
     .max = JOBS_NOTES_MAX,
     .doc = "remarks"},
    JX_END,
};

/* POST /v1/experiments. 201; 409 name taken; 422. */
enum sv_status api_experiments_post(void *state, const struct http_request *req,
                                    struct http_response *out_resp, struct sv_error *err)
{
    struct api_ctx *ctx = state;
    struct experiment_body body = {0};
    struct api_creation creation;
    enum sv_status st = api_creation_begin(req, &creation, err);
    if (st == SV_OK) {
        st = api_decode(api_experiment_create_fields, req->json, &body, err);
    }
    if (st == SV_OK) {
        st = api_check_line(body.name, "/name", err);
    }
    if (st == SV_OK) {
        st = store_experiment_create(ctx->store, &creation.scope, body.name,
                                     body.notes ? body.notes : "", creation.idempotency,
                                     &creation.created, err);
    }
    return st == SV_OK ? api_show_created(ctx, req, out_resp, "/v1/experiments", &creation.created,
                                          read_one, err)
                       : st;
}

/* PATCH /v1/experiments/{id}: name, notes. 404; 409 name taken; 422. */
enum sv_status api_experiments_patch(void *state, const struct http_request *req,
                                     struct http_response *out_resp, struct sv_error *err)
{
    struct api_ctx *ctx = state;
    struct api_naming body = {0};
    struct store_scope scope;
    const char *id = http_path(req, "id");
    api_scope(req, &scope);
    enum sv_status st = api_naming_decode(req, &body, err);
    if (st == SV_OK) {
        st = store_experiment_patch(ctx->store, &scope, id, body.name, body.notes, err);
    }
    return st == SV_OK ? answer(ctx, req, out_resp, id, err) : st;
}
