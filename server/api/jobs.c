/* SPDX-License-Identifier: MIT
 *
 * /v1/jobs: list, show, edit. Submission is in submit.c, verbs in verbs.c, results in results.c.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "server/api/handlers_internal.h"
#include "server/api/jobs_internal.h"

static const char *const STATES[] = {"queued",  "running",   "paused", "completed",
                                     "stopped", "cancelled", "failed", NULL};
static const char *const KINDS[] = {"solver_comparison",     "transfer_learning",
                                    "sequence_regression",   "sequence_classification",
                                    "signal_classification", NULL};
static const char *const SORTS[] = {"-created_at", "created_at", "-updated_at", "name", NULL};
static const enum store_job_sort SORT_OF[] = {STORE_JOBS_NEWEST, STORE_JOBS_OLDEST,
                                              STORE_JOBS_CHANGED, STORE_JOBS_BY_NAME};
static const char *const ARCHIVED[] = {"false", "true", "any", NULL};
static const int ARCHIVED_OF[] = {0, 1, -1};
static const char *const FIELDS[] = {"id",
                                     "number",
                                     "kind",
                                     "name",
                                     "experiment",
                                     "dataset",
                                     "state",
                                     "paused",
                                     "archived",
                                     "notes",
                                     "labels",
                                     "headline_metric",
                                     "headline_direction",
                                     "target_parameters",
                                     "trial_count",
                                     "counts",
                                     "steps",
                                     "progress",
                                     "best",
                                     "duplicated_from",
                                     "revision",
                                     "created_by",
                                     "created_at",
                                     "updated_at",
                                     "started_at",
                                     "finished_at",
                                     NULL};

json_t *api_labels_encode(const char *const *labels, size_t n)
{
    json_t *rows = json_array();
    for (size_t i = 0; rows && i < n; i++) {
        rows = api_append_take(rows, json_string(labels[i]));
    }
    return rows;
}

static json_t *encode_counts(const struct store_job *job)
{
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "queued", (json_int_t)job->queued_count,
                     "running", (json_int_t)job->running_count, "paused",
                     (json_int_t)job->paused_count, "completed", (json_int_t)job->completed_count,
                     "stopped", (json_int_t)job->stopped_count, "cancelled",
                     (json_int_t)job->cancelled_count, "failed", (json_int_t)job->failed_count);
}

static double progress(const struct store_job *job)
{
    int64_t live = job->queued_count + job->running_count + job->paused_count;
    if (live == 0) {
        return 1.0;
    }
    return job->steps_total > 0 ? (double)job->steps_done / (double)job->steps_total : 0.0;
}

static json_t *encode_best(const struct store_job *job)
{
    return job->best_trial_id[0] ? json_pack("{s:s, s:o}", "trial", job->best_trial_id, "value",
                                             jx_number(job->best_value))
                                 : json_null();
}

static json_t *encode_targets(const struct store_job *job)
{
    json_auto_t *parameters = api_document(job->parameters);
    return jobs_target_parameters(job->kind, parameters);
}

static json_t *encode_experiment(const struct store_job *job)
{
    return job->experiment_id[0]
               ? json_pack("{s:s, s:s}", "id", job->experiment_id, "name", job->experiment_name)
               : json_null();
}

/* A struct store_job; in lists without the two documents. */
static json_t *encode(const void *row, bool in_list)
{
    const struct store_job *job = row;
    json_t *out = json_pack(
        "{s:s, s:I, s:s, s:s, s:o, s:{s:s, s:s}, s:s, s:b, s:b, s:s, s:o, s:s, s:s, s:o, s:I, "
        "s:o, s:{s:I, s:I}, s:o, s:o, s:s?, s:I, s:s, s:s, s:s, s:s?, s:s?}",
        "id", job->id, "number", (json_int_t)job->number, "kind", job->kind, "name", job->name,
        "experiment", encode_experiment(job), "dataset", "id", job->dataset_id, "name",
        job->dataset_name, "state", job->state, "paused", job->paused ? 1 : 0, "archived",
        job->archived ? 1 : 0, "notes", job->notes, "labels",
        api_labels_encode(job->labels, job->n_labels), "headline_metric", job->headline_metric,
        "headline_direction", job->headline_higher_is_better ? "higher" : "lower",
        "target_parameters", encode_targets(job), "trial_count", (json_int_t)job->trial_count,
        "counts", encode_counts(job), "steps", "done", (json_int_t)job->steps_done, "total",
        (json_int_t)job->steps_total, "progress", jx_number(progress(job)), "best",
        encode_best(job), "duplicated_from", api_given(job->duplicate_of), "revision",
        (json_int_t)job->revision, "created_by", job->created_by, "created_at", job->created_at,
        "updated_at", job->updated_at, "started_at", api_given(job->started_at), "finished_at",
        api_given(job->finished_at));
    if (out && !in_list &&
        (json_object_set_new(out, "submitted", api_document(job->submitted)) != 0 ||
         json_object_set_new(out, "resolved", api_document(job->resolved)) != 0 ||
         json_object_set_new(out, "warnings", api_document(job->warnings)) != 0)) {
        json_decref(out);
        return NULL;
    }
    return out;
}

const char **api_labels(const json_t *labels, size_t *out_count)
{
    size_t n = json_array_size(labels);
    const char **rows = calloc(n + 1, sizeof *rows);
    for (size_t i = 0; rows && i < n; i++) {
        rows[i] = json_string_value(json_array_get(labels, i));
    }
    *out_count = n;
    return rows;
}

/* ---------------------------------------------------------------------------------------- list */

struct list_query {
    struct api_list_query list;
    const char *search, *label, *experiment, *dataset, *created_after, *created_before;
    int64_t number;
    int state, kind, sort, archived;
};

#define QUERY(member) offsetof(struct list_query, member)
static const struct http_param LIST_PARAMS[] = {
    API_LIST_ROWS(FIELDS),
    API_LIST_ROW_WAIT,
    {"search", HTTP_PARAM_TEXT, QUERY(search), 1, 200, NULL},
    {"label", HTTP_PARAM_TEXT, QUERY(label), 1, JOBS_LABEL_MAX, NULL},
    {"experiment", HTTP_PARAM_ID, QUERY(experiment), 0, 0, NULL},
    {"dataset", HTTP_PARAM_ID, QUERY(dataset), 0, 0, NULL},
    {"created_after", HTTP_PARAM_TEXT, QUERY(created_after), 1, 40, NULL},
    {"created_before", HTTP_PARAM_TEXT, QUERY(created_before), 1, 40, NULL},
    {"state", HTTP_PARAM_CHOICE, QUERY(state), 0, 0, STATES},
    {"kind", HTTP_PARAM_CHOICE, QUERY(kind), 0, 0, KINDS},
    {"number", HTTP_PARAM_INT, QUERY(number), 1, 9007199254740991, NULL},
    {"archived", HTTP_PARAM_CHOICE, QUERY(archived), 0, 0, ARCHIVED},
    {"sort", HTTP_PARAM_CHOICE, QUERY(sort), 0, 0, SORTS},
};

/* Digits at text, as a number. */
static int digits(const char *text, int n)
{
    int value = 0;
    for (int i = 0; i < n; i++) {
        value = 10 * value + (text[i] - '0');
    }
    return value;
}

static bool has_shape(const char *text, const char *shape)
{
    for (; *shape; shape++, text++) {
        if (*shape == 'd' ? *text < '0' || *text > '9' : *text != *shape) {
            return false;
        }
    }
    return true;
}

static bool is_day(int year, int month, int day)
{
    static const int days[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return year >= 1 && month >= 1 && month <= 12 && day >= 1 &&
           day <= days[month - 1] - (month == 2 && !leap);
}

/* "Z", or an offset as far as the database knows any. */
static bool is_zone(const char *text)
{
    bool offset = (text[0] == '+' || text[0] == '-') && has_shape(text + 1, "dd:dd") && !text[6];
    return strcmp(text, "Z") == 0 ||
           (offset && digits(text + 1, 2) <= 15 && digits(text + 4, 2) <= 59);
}

/* RFC 3339, and a moment that there is: the database would not say whose time it refuses, and it
 * also knows words such as "yesterday". */
static bool is_time(const char *text)
{
    if (!has_shape(text, "dddd-dd-ddTdd:dd:dd") ||
        !is_day(digits(text, 4), digits(text + 5, 2), digits(text + 8, 2)) ||
        digits(text + 11, 2) > 23 || digits(text + 14, 2) > 59 || digits(text + 17, 2) > 59) {
        return false;
    }
    const char *rest = text + 19;
    size_t fraction = rest[0] == '.' ? strspn(rest + 1, "0123456789") : 0;
    return is_zone(rest + (fraction ? 1 + fraction : 0));
}

static enum sv_status check_time(const char *name, const char *text, struct sv_error *err)
{
    return !text || is_time(text) ? SV_OK
                                  : sv_fail_parameter(err, SV_ERR_INVALID_PARAMETER, name,
                                                      "must be a time as 2026-01-02T03:04:05Z");
}

static enum sv_status check_list(const void *query, struct sv_error *err)
{
    const struct list_query *q = query;
    enum sv_status st = check_time("created_after", q->created_after, err);
    return st == SV_OK ? check_time("created_before", q->created_before, err) : st;
}

static enum sv_status read_list(struct api_ctx *ctx, const struct http_request *req,
                                const void *query, const struct store_page *page,
                                struct store_memory *memory, struct api_rows *out_rows,
                                struct sv_error *err)
{
    const struct list_query *q = query;
    struct store_scope scope;
    struct store_job_list list;
    struct store_job_filter filter = {.state = api_choice(STATES, q->state),
                                      .kind = api_choice(KINDS, q->kind),
                                      .experiment_id = q->experiment,
                                      .dataset_id = q->dataset,
                                      .label = q->label,
                                      .search = q->search,
                                      .archived = ARCHIVED_OF[q->archived],
                                      .created_after = q->created_after,
                                      .created_before = q->created_before,
                                      .number = q->number,
                                      .sort = SORT_OF[q->sort]};
    api_scope(req, &scope);
    enum sv_status st = store_jobs_list(ctx->store, &scope, &filter, page, memory, &list, err);
    if (st == SV_OK) {
        *out_rows = (struct api_rows){list.rows, list.n, list.next};
    }
    return st;
}

/* GET /v1/jobs. 400 for a wrong parameter. */
enum sv_status api_jobs_list(void *state, const struct http_request *req,
                             struct http_response *out_resp, struct sv_error *err)
{
    static const struct api_list_kind KIND = {.params = LIST_PARAMS,
                                              .n_params = API_COUNT(LIST_PARAMS),
                                              .check = check_list,
                                              .read = read_list,
                                              .row_size = sizeof(struct store_job),
                                              .encode = encode,
                                              .id = offsetof(struct store_job, id),
                                              .revision = offsetof(struct store_job, revision)};
    struct list_query query = {.list = API_LIST_DEFAULTS, .state = -1, .kind = -1};
    return api_list(state, req, out_resp, &KIND, &query.list, err);
}

/* ----------------------------------------------------------------------------------------- one */

/* Adds to a job whose trials have several targets the best trial of each. */
static enum sv_status add_bests(struct api_ctx *ctx, const struct store_scope *scope,
                                const struct store_job *job, struct store_memory *memory,
                                json_t *inout_json, struct sv_error *err)
{
    struct store_job_best_list list = {0};
    size_t n = 0;
    const char **names = api_labels(json_object_get(inout_json, "target_parameters"), &n);
    enum sv_status st = names ? SV_OK : api_no_memory(err);
    if (st == SV_OK && n > 0) {
        st = store_job_bests(ctx->store, scope, job->id, names, n, memory, &list, err);
    }
    free(names);
    if (st != SV_OK) {
        return st;
    }
    json_t *rows = json_array();
    for (size_t i = 0; i < list.n; i++) {
        const struct store_job_best *best = &list.rows[i];
        rows = api_append_take(rows, json_pack("{s:o, s:s, s:o}", "parameters",
                                               api_document(best->parameters), "trial",
                                               best->trial_id, "value", jx_number(best->value)));
    }
    return rows && json_object_set_new(inout_json, "best_by_target", rows) == 0
               ? SV_OK
               : api_no_memory(err);
}

enum sv_status api_job_read(struct api_ctx *ctx, const struct http_request *req, const char *id,
                            struct api_seen *out_seen, struct sv_error *err)
{
    struct store_scope scope;
    struct store_memory memory = {0};
    struct store_job job;
    api_scope(req, &scope);
    enum sv_status st = store_job_get(ctx->store, &scope, id, &memory, &job, err);
    json_t *json = st == SV_OK ? encode(&job, false) : NULL;
    if (st == SV_OK) {
        st = json ? add_bests(ctx, &scope, &job, &memory, json, err) : api_no_memory(err);
    }
    if (st == SV_OK) {
        st = api_seen(job.id, job.revision, json_incref(json), out_seen, err);
    }
    json_decref(json);
    store_memory_clear(&memory);
    return st;
}

enum sv_status api_job_answer(struct api_ctx *ctx, const struct http_request *req,
                              struct http_response *resp, const char *id,
                              const struct store_applied *applied, struct sv_error *err)
{
    json_t *done = NULL;
    if (applied) {
        done = json_pack("{s:I, s:I, s:I, s:I}", "changed", (json_int_t)applied->changed,
                         "requested", (json_int_t)applied->requested, "unchanged",
                         (json_int_t)applied->unchanged, "refused", (json_int_t)applied->refused);
        if (!done) {
            return api_no_memory(err);
        }
    }
    return api_show_changed_take(ctx, req, resp, 200, id, api_job_read, "applied", done, err);
}

/* GET /v1/jobs/{id}: with the submitted and the resolved spec. 404. */
enum sv_status api_jobs_get(void *state, const struct http_request *req,
                            struct http_response *out_resp, struct sv_error *err)
{
    return api_show(state, req, out_resp, api_job_read, err);
}

/* The revision that If-Match asks for: "r12-..." of a GET without parameters. 0: no condition. */
static enum sv_status wanted_revision(struct api_ctx *ctx, const struct http_request *req,
                                      const struct store_scope *scope, const char *id,
                                      int64_t *out_revision, struct sv_error *err)
{
    struct store_memory memory = {0};
    struct store_job job;
    char etag[HTTP_ETAG_SIZE];
    *out_revision = 0;
    if (!http_header(req, "If-Match")) {
        return SV_OK;
    }
    enum sv_status st = store_job_get(ctx->store, scope, id, &memory, &job, err);
    if (st == SV_OK) {
        http_etag(req, job.revision, etag);
        *out_revision = job.revision;
        if (!http_if_match(req, etag)) {
            st = sv_fail_parameter(err, SV_ERR_PRECONDITION, "If-Match",
                                   "the job has changed since");
        }
    }
    store_memory_clear(&memory);
    return st;
}

/* PATCH /v1/jobs/{id}: name, notes, labels. 404; 412; 422. */
enum sv_status api_jobs_patch(void *state, const struct http_request *req,
                              struct http_response *out_resp, struct sv_error *err)
{
    struct api_ctx *ctx = state;
    struct jobs_edit edit = {0};
    struct store_scope scope;
    struct store_job_patch patch = {.archived = -1};
    const char **labels = NULL;
    const char *id = http_path(req, "id");
    api_scope(req, &scope);
    enum sv_status st = http_query_decode(req, NULL, 0, NULL, err);
    if (st == SV_OK) {
        st = jobs_edit_decode(req->json, &edit, err);
    }
    if (st == SV_OK) {
        st = wanted_revision(ctx, req, &scope, id, &patch.if_revision, err);
    }
    if (st == SV_OK && edit.labels) {
        labels = api_labels(edit.labels, &patch.n_labels);
        st = labels ? SV_OK : api_no_memory(err);
    }
    if (st == SV_OK) {
        patch.name = edit.name;
        patch.notes = edit.notes;
        patch.labels = labels;
        st = store_job_patch(ctx->store, &scope, id, &patch, err);
    }
    free(labels);
    return st == SV_OK ? api_job_answer(ctx, req, out_resp, id, NULL, err) : st;
}
