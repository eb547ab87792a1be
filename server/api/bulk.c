/* SPDX-License-Identifier: MIT
 *
 * POST /v1/jobs/bulk: one verb for many jobs, named by ids or by a filter, each with its own
 * result.
 */
#include "server/api/handlers_internal.h"
#include "server/api/jobs_internal.h"

enum { BULK_MAX = 500 };

static const struct jx_choice STATES[] = {
    {"queued", 0, ""},  {"running", 1, ""},   {"paused", 2, ""}, {"completed", 3, ""},
    {"stopped", 4, ""}, {"cancelled", 5, ""}, {"failed", 6, ""}, JX_END,
};

struct filter {
    const char *kind, *experiment, *dataset, *label, *search;
    int state;
    bool state_given, archived;
};

#define FILTER(member) offsetof(struct filter, member)
static const struct jx_field FILTER_FIELDS[] = {
    {.name = "state",
     .type = JX_ENUM,
     .offset = FILTER(state),
     .given = JX_GIVEN(struct filter, state_given),
     .choices = STATES,
     .doc = "of the job"},
    {.name = "kind",
     .type = JX_STRING,
     .offset = FILTER(kind),
     .min = 1,
     .max = 64,
     .doc = "of the job"},
    {.name = "experiment",
     .type = JX_STRING,
     .offset = FILTER(experiment),
     .min = 1,
     .max = 64,
     .doc = "id"},
    {.name = "dataset",
     .type = JX_STRING,
     .offset = FILTER(dataset),
     .min = 1,
     .max = 64,
     .doc = "id"},
    {.name = "label",
     .type = JX_STRING,
     .offset = FILTER(label),
     .min = 1,
     .max = JOBS_LABEL_MAX,
     .doc = "one of the job's labels"},
    {.name = "search",
     .type = JX_STRING,
     .offset = FILTER(search),
     .min = 1,
     .max = JOBS_NAME_MAX,
     .doc = "part of the name, any case"},
    {.name = "archived",
     .type = JX_BOOL,
     .offset = FILTER(archived),
     .fallback = "false",
     .doc = "archived jobs instead of the others"},
    JX_END,
};

struct bulk_body {
    const char *action;
    const json_t *ids, *states;
    int64_t epochs;
    bool epochs_given;
    struct filter filter;
    bool has_filter;
};
static const struct jx_field ID_ITEM = {.name = "id", .type = JX_STRING, .min = 1, .max = 64};
const struct jx_field api_bulk_fields[] = {
    {.name = "action",
     .type = JX_STRING,
     .offset = offsetof(struct bulk_body, action),
     .max = 32,
     .required = true,
     .doc = "pause, resume, stop, cancel, restart, extend, duplicate, archive or unarchive"},
    {.name = "ids",
     .type = JX_ARRAY,
     .offset = offsetof(struct bulk_body, ids),
     .items = &ID_ITEM,
     .min_items = 1,
     .max_items = BULK_MAX,
     .doc = "jobs"},
    {.name = "filter",
     .type = JX_OBJECT,
     .offset = offsetof(struct bulk_body, filter),
     .given = JX_GIVEN(struct bulk_body, has_filter),
     .fields = FILTER_FIELDS,
     .doc = "instead of ids: all jobs that it fits, at most 500"},
    {.name = "states",
     .type = JX_ARRAY,
     .offset = offsetof(struct bulk_body, states),
     .items = &api_restart_state,
     .min_items = 1,
     .max_items = 3,
     .doc = "restart: which trials run again"},
    {.name = "epochs",
     .type = JX_INT,
     .offset = offsetof(struct bulk_body, epochs),
     .given = JX_GIVEN(struct bulk_body, epochs_given),
     .min = 1,
     .max = API_EPOCHS_MAX,
     .doc = "extend: of the whole training",
     .unit = "epochs"},
    JX_END,
};

static enum sv_status check_choice(const json_t *json, const struct bulk_body *body,
                                   struct sv_error *err)
{
    if (!body->ids && !body->has_filter) {
        return sv_fail_at(err, SV_ERR_INVALID_FIELD, "/ids", "is required without a filter");
    }
    if (body->ids && body->has_filter) {
        return sv_fail_at(err, SV_ERR_INVALID_FIELD, "/filter", "ids name the jobs already");
    }
    if (body->has_filter && json_object_size(json_object_get(json, "filter")) == 0) {
        return sv_fail_at(err, SV_ERR_INVALID_FIELD, "/filter", "must name something");
    }
    const struct filter *filter = &body->filter;
    if (filter->experiment && !sv_id_is_valid(filter->experiment)) {
        return sv_fail_at(err, SV_ERR_INVALID_FIELD, "/filter/experiment",
                          "is no id; GET /v1/experiments lists the ids by name");
    }
    if (filter->dataset && !sv_id_is_valid(filter->dataset)) {
        return sv_fail_at(err, SV_ERR_INVALID_FIELD, "/filter/dataset",
                          "is no id; GET /v1/datasets lists the ids by name");
    }
    return SV_OK;
}

static enum sv_status decode_bulk(const json_t *json, struct bulk_body *out_body,
                                  const struct api_verb **out_verb, struct api_wish *out_wish,
                                  struct sv_error *err)
{
    enum sv_status st = api_decode(api_bulk_fields, json, out_body, err);
    if (st == SV_OK) {
        *out_verb = api_verb_find(out_body->action);
        st = *out_verb ? check_choice(json, out_body, err)
                       : sv_fail_at(err, SV_ERR_INVALID_FIELD, "/action",
                                    "there is no such action; there are pause, resume, stop, "
                                    "cancel, restart, extend, duplicate, archive and unarchive");
    }
    if (st != SV_OK) {
        return st;
    }
    json_t *epochs = out_body->epochs_given ? json_integer(out_body->epochs) : NULL;
    json_auto_t *rest = json_pack("{s:O*, s:o*}", "states", out_body->states, "epochs", epochs);
    return rest ? api_verb_decode(rest, *out_verb, out_wish, err) : api_no_memory(err);
}

/* The ids of the jobs that the filter fits, oldest first, a new array. More than can be done at
 * once are refused, before anything is done. */
static enum sv_status find_jobs(struct api_ctx *ctx, const struct store_scope *scope,
                                const struct bulk_body *body, json_t **out_ids,
                                struct sv_error *err)
{
    const struct filter *f = &body->filter;
    struct store_memory memory = {0};
    struct store_job_list list;
    struct store_page page = {.limit = BULK_MAX};
    struct store_job_filter filter = {.state =
                                          f->state_given ? jx_choice_name(STATES, f->state) : NULL,
                                      .kind = f->kind,
                                      .experiment_id = f->experiment,
                                      .dataset_id = f->dataset,
                                      .label = f->label,
                                      .search = f->search,
                                      .archived = f->archived ? 1 : 0,
                                      .sort = STORE_JOBS_OLDEST};
    enum sv_status st = store_jobs_list(ctx->store, scope, &filter, &page, &memory, &list, err);
    if (st == SV_OK && list.next) {
        st = sv_fail_at(err, SV_ERR_INVALID_FIELD, "/filter", "fits more than %d jobs", BULK_MAX);
    }
    if (st == SV_OK) {
        json_t *ids = json_array();
        for (size_t i = 0; i < list.n; i++) {
            ids = api_append_take(ids, json_string(list.rows[i].id));
        }
        *out_ids = ids;
        st = ids ? SV_OK : api_no_memory(err);
    }
    store_memory_clear(&memory);
    return st;
}

/* Would the flag of the job that the verb sets be another one? Only for what keeps no counts. */
static bool changes_flag(struct api_ctx *ctx, const struct store_scope *scope, const char *id,
                         const struct api_verb *verb)
{
    struct store_memory memory = {0};
    struct store_job job = {0};
    bool hold = verb->event == JOBS_EVENT_PAUSE || verb->event == JOBS_EVENT_RESUME;
    bool changes = false;
    if ((hold || verb->is_archive) && sv_id_is_valid(id) &&
        store_job_get(ctx->store, scope, id, &memory, &job, NULL) == SV_OK) {
        changes =
            hold ? job.paused != (verb->event == JOBS_EVENT_PAUSE) : job.archived != verb->archived;
    }
    store_memory_clear(&memory);
    return changes;
}

/* One action for all jobs of a request. */
struct bulk {
    struct api_ctx *ctx;
    const struct http_request *req;
    struct store_scope scope;
    const struct api_verb *verb;
    struct api_wish wish;
};

static enum sv_status apply_one(const struct bulk *bulk, const char *id, bool *out_applied,
                                struct store_created *out_created, struct sv_error *err)
{
    struct store_applied applied = {0};
    if (!sv_id_is_valid(id)) {
        return sv_fail(err, SV_ERR_NOT_FOUND, "there is no such job");
    }
    if (bulk->verb->creates) {
        *out_applied = true;
        return api_duplicate(bulk->ctx, bulk->req, id, out_created, err);
    }
    bool flag = changes_flag(bulk->ctx, &bulk->scope, id, bulk->verb);
    enum sv_status st =
        api_verb_apply(bulk->ctx, &bulk->scope, id, bulk->verb, &bulk->wish, &applied, err);
    *out_applied = flag || applied.changed + applied.requested > 0;
    return st;
}

static json_t *bulk_row(const struct bulk *bulk, const char *id, enum sv_status *out_status)
{
    struct sv_error err = {0};
    struct store_created created = {0};
    bool applied = false;
    enum sv_status st = apply_one(bulk, id, &applied, &created, &err);
    *out_status = st;
    if (st == SV_OK) {
        return json_pack("{s:s, s:i, s:b, s:s?, s:n, s:n}", "id", id, "status",
                         bulk->verb->creates ? 201 : 200, "applied", applied ? 1 : 0, "created",
                         api_given(created.id), "code", "detail");
    }
    return json_pack("{s:s, s:i, s:b, s:n, s:s, s:s}", "id", id, "status", sv_status_http(st),
                     "applied", 0, "created", "code", sv_status_slug(st), "detail",
                     err.text[0] ? err.text : sv_status_title(st));
}

static enum sv_status apply_all(const struct bulk *bulk, const json_t *ids, json_t **out_rows,
                                struct sv_error *err)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < json_array_size(ids); i++) {
        enum sv_status one;
        const char *id = json_string_value(json_array_get(ids, i));
        rows = api_append_take(rows, bulk_row(bulk, id, &one));
        if (one == SV_ERR_DATABASE || one == SV_ERR_OVERLOADED) {
            json_decref(rows); /* the rest would say the same, each after its own time-out */
            return sv_fail(err, one, "the database cannot be reached");
        }
    }
    *out_rows = rows;
    return rows ? SV_OK : api_no_memory(err);
}

/* POST /v1/jobs/bulk: 200 also when some were refused. 422. */
enum sv_status api_jobs_bulk(void *state, const struct http_request *req,
                             struct http_response *out_resp, struct sv_error *err)
{
    struct bulk bulk = {.ctx = state, .req = req};
    struct bulk_body body = {0};
    json_t *found = NULL, *rows = NULL;
    api_scope(req, &bulk.scope);
    enum sv_status st = http_query_decode(req, NULL, 0, NULL, err);
    if (st == SV_OK) {
        st = decode_bulk(req->json, &body, &bulk.verb, &bulk.wish, err);
    }
    if (st == SV_OK && body.has_filter) {
        st = find_jobs(bulk.ctx, &bulk.scope, &body, &found, err);
    }
    if (st == SV_OK) {
        st = apply_all(&bulk, found ? found : body.ids, &rows, err);
    }
    json_decref(found);
    return st == SV_OK ? http_response_json_take(out_resp, 200, json_pack("{s:o}", "results", rows))
                       : st;
}
