/* SPDX-License-Identifier: MIT
 *
 * /v1/datasets: list, show, edit, delete. Declaring one is in dataset_create.c, filling it in
 * uploads.c, its items in items.c.
 */
#include "server/api/datasets_internal.h"

#include <string.h>

#include "server/api/assets_internal.h"
#include "server/api/handlers_internal.h"

static const char *const STATES[] = {"uploading", "checking", "ready", "refused", NULL};
static const char *const SORTS[] = {"-created_at", "created_at", "name", NULL};
static const enum store_dataset_sort SORT_OF[] = {STORE_DATASETS_NEWEST, STORE_DATASETS_OLDEST,
                                                  STORE_DATASETS_BY_NAME};
static const char *const FIELDS[] = {
    "id",          "number",     "name",        "kind",     "layout",   "state",
    "notes",       "options",    "digest",      "image",    "sequence", "signal",
    "class_count", "counts",     "error",       "progress", "revision", "created_by",
    "created_at",  "updated_at", "finished_at", NULL};

/* Files, classes and the report of the check: what only one data set's own page shows. */
static bool encode_rest(json_t *out, const struct store_dataset *dataset)
{
    json_t *report = api_document(dataset->report);
    json_t *classes = json_object_get(report, "classes");
    bool ok =
        report &&
        json_object_set_new(out, "files", api_files_encode(dataset->files, dataset->n_files)) ==
            0 &&
        json_object_set_new(out, "classes", classes ? json_incref(classes) : json_null()) == 0 &&
        json_object_set(out, "report", report) == 0;
    json_decref(report);
    return ok;
}

/* A struct store_dataset; in lists without files, classes and report. */
static json_t *encode(const void *row, bool in_list)
{
    const struct store_dataset *d = row;
    bool ready = strcmp(d->state, "ready") == 0;
    bool images = strcmp(d->kind, api_dataset_kinds[0]) == 0;
    bool signals = strcmp(d->kind, api_dataset_kinds[2]) == 0;
    json_t *image = !ready || !images
                        ? json_null()
                        : json_pack("{s:I, s:I, s:I}", "height", (json_int_t)d->height, "width",
                                    (json_int_t)d->width, "channels", (json_int_t)d->channels);
    json_t *counts =
        !ready ? json_null()
               : json_pack("{s:I, s:I, s:I}", "train", (json_int_t)d->train_count, "validation",
                           (json_int_t)d->validation_count, "test", (json_int_t)d->test_count);
    json_t *sequence =
        !ready || images || signals
            ? json_null()
            : json_pack("{s:I, s:I, s:I}", "inputs", (json_int_t)d->channels, "targets",
                        (json_int_t)d->width, "longest", (json_int_t)d->height);
    json_t *signal = !ready || !signals ? json_null()
                                        : json_pack("{s:I, s:I}", "window", (json_int_t)d->width,
                                                    "channels", (json_int_t)d->channels);
    json_t *class_count = ready ? json_integer(d->class_count) : json_null();
    json_t *out =
        json_pack("{s:s, s:I, s:s, s:s, s:s, s:s, s:s, s:o, s:s?, s:o, s:o, s:o, s:o, s:o, s:s?, "
                  "s:o, s:I, s:s, "
                  "s:s, "
                  "s:s, s:s?}",
                  "id", d->id, "number", (json_int_t)d->number, "name", d->name, "kind", d->kind,
                  "layout", d->layout, "state", d->state, "notes", d->notes, "options",
                  api_document(d->options), "digest", api_given(d->digest), "image", image,
                  "sequence", sequence, "signal", signal, "class_count", class_count, "counts",
                  counts, "error", d->error_text, "progress", jx_number(d->progress), "revision",
                  (json_int_t)d->revision, "created_by", d->created_by, "created_at", d->created_at,
                  "updated_at", d->updated_at, "finished_at", api_given(d->finished_at));
    if (out && !in_list && !encode_rest(out, d)) {
        json_decref(out);
        return NULL;
    }
    return out;
}

/* Steps of a sequence, on average over all parts of the report. */
static double mean_steps(const json_t *report)
{
    double steps = 0, sequences = 0;
    const char *name;
    json_t *part;
    json_object_foreach(json_object_get(report, "parts"), name, part)
    {
        steps += json_number_value(json_object_get(part, "steps"));
        sequences += json_number_value(json_object_get(part, "sequences"));
    }
    return sequences > 0 ? steps / sequences : 0;
}

/* Sequences of a class are kept back only where another one of it trains; so an older report is
 * read, which does not say whether they differ. */
static bool has_pair(const json_t *report)
{
    size_t i;
    const json_t *class;
    json_array_foreach(json_object_get(report, "classes"), i, class)
    {
        if (json_integer_value(json_object_get(class, "train")) > 1) {
            return true;
        }
    }
    return false;
}

/* The first names of a list, as a text. */
static void name_some(const json_t *names, char *out, size_t size)
{
    size_t used = 0;
    for (size_t i = 0; i < json_array_size(names); i++) {
        const char *name = json_string_value(json_array_get(names, i));
        size_t left = size - used;
        if (!name || strlen(name) + sizeof ", , ..." > left) {
            (void)snprintf(out + used, left, "%s...", i > 0 ? ", " : "");
            return;
        }
        used += (size_t)snprintf(out + used, left, "%s%s", i > 0 ? ", " : "", name);
    }
}

/* The row of a set of sequences has their numbers in the places of an image's. */
static void fill_sequences(const struct store_dataset *found, struct jobs_dataset *out)
{
    json_t *report = api_document(found->report);
    json_t *options = api_document(found->options);
    const json_t *constant = jx_path_get(report, "counts.constant_inputs");
    out->sequences = true;
    out->remaining_life = strcmp(found->layout, "cmapss") == 0 ||
                          json_is_true(jx_path_get(options, "table.remaining_life"));
    out->longest = (size_t)found->height;
    out->targets = (size_t)found->width;
    out->inputs = (size_t)found->channels;
    out->constant_inputs = (size_t)json_integer_value(constant);
    name_some(json_object_get(report, "constant_inputs"), out->constant_names,
              sizeof out->constant_names);
    out->mean_steps = mean_steps(report);
    const json_t *divisible = json_object_get(report, "divisible");
    bool pair = divisible ? json_is_true(divisible) : out->classes == 0 || has_pair(report);
    out->indivisible = out->train < 2 || !pair;
    json_decref(options);
    json_decref(report);
}

/* What the import found out; an older one said nothing. */
static bool is_indivisible(const struct store_dataset *found)
{
    json_auto_t *report = api_document(found->report);
    return json_is_false(json_object_get(report, "divisible"));
}

static struct jobs_dataset for_spec(const struct store_dataset *found)
{
    struct jobs_dataset out = {.classes = (size_t)found->class_count,
                               .train = (size_t)found->train_count,
                               .validation = (size_t)found->validation_count,
                               .test = (size_t)found->test_count};
    memcpy(out.id, found->id, sizeof out.id);
    if (strcmp(found->kind, "sequences") == 0) {
        fill_sequences(found, &out);
    } else {
        out.height = (size_t)found->height;
        out.width = (size_t)found->width;
        out.channels = (size_t)found->channels;
        out.indivisible = is_indivisible(found);
        out.signals = strcmp(found->kind, "signals") == 0;
    }
    return out;
}

static enum sv_status not_ready(const char *state, struct sv_error *err)
{
    const char *then = strcmp(state, "refused") == 0 ? "its error says why"
                       : strcmp(state, "uploading") == 0
                           ? "upload the rest of its files"
                           : "it is checked by a worker; GET it with ?wait=30 and If-None-Match";
    return sv_fail_at(err, SV_ERR_WRONG_STATE, "/dataset", "the data set is %s, not ready: %s",
                      state, then);
}

enum sv_status api_dataset_for_spec(struct api_ctx *ctx, const struct store_scope *scope,
                                    const char *id, struct jobs_dataset *out_dataset,
                                    struct sv_error *err)
{
    struct store_memory memory = {0};
    struct store_dataset found;
    enum sv_status st = sv_id_is_valid(id)
                            ? store_dataset_get(ctx->store, scope, id, &memory, &found, err)
                            : SV_ERR_NOT_FOUND;
    if (st == SV_ERR_NOT_FOUND) {
        st = sv_fail_at(err, SV_ERR_INVALID_FIELD, "/dataset", "there is no such data set");
    } else if (st == SV_OK && strcmp(found.state, "ready") != 0) {
        st = not_ready(found.state, err);
    } else if (st == SV_OK) {
        *out_dataset = for_spec(&found);
    }
    store_memory_clear(&memory);
    return st;
}

enum sv_status api_report_bind(struct api_ctx *ctx, const struct http_request *req, const char *id,
                               const struct jobs_dataset *given, struct nn_network_bind *out_bind,
                               struct sv_error *err)
{
    struct store_scope scope;
    struct jobs_dataset dataset = *given;
    api_scope(req, &scope);
    enum sv_status st = id ? api_dataset_for_spec(ctx, &scope, id, &dataset, err) : SV_OK;
    if (st == SV_OK) {
        *out_bind = jobs_dataset_bind(&dataset, NULL);
    }
    return st;
}

/* ---------------------------------------------------------------------------------------- list */

struct list_query {
    struct api_list_query list;
    const char *search;
    int state, kind, sort;
};

#define QUERY(member) offsetof(struct list_query, member)
static const struct http_param LIST_PARAMS[] = {
    API_LIST_ROWS(FIELDS),
    API_LIST_ROW_WAIT,
    {"search", HTTP_PARAM_TEXT, QUERY(search), 1, 200, NULL},
    {"state", HTTP_PARAM_CHOICE, QUERY(state), 0, 0, STATES},
    {"kind", HTTP_PARAM_CHOICE, QUERY(kind), 0, 0, api_dataset_kinds},
    {"sort", HTTP_PARAM_CHOICE, QUERY(sort), 0, 0, SORTS},
};

static enum sv_status read_list(struct api_ctx *ctx, const struct http_request *req,
                                const void *query, const struct store_page *page,
                                struct store_memory *memory, struct api_rows *out_rows,
                                struct sv_error *err)
{
    const struct list_query *q = query;
    struct store_scope scope;
    struct store_dataset_list list;
    struct store_dataset_filter filter = {.state = api_choice(STATES, q->state),
                                          .kind = api_choice(api_dataset_kinds, q->kind),
                                          .search = q->search,
                                          .sort = SORT_OF[q->sort]};
    api_scope(req, &scope);
    enum sv_status st = store_datasets_list(ctx->store, &scope, &filter, page, memory, &list, err);
    if (st == SV_OK) {
        *out_rows = (struct api_rows){list.rows, list.n, list.next};
    }
    return st;
}

/* GET /v1/datasets. 400 for a wrong parameter. */
enum sv_status api_datasets_list(void *state, const struct http_request *req,
                                 struct http_response *out_resp, struct sv_error *err)
{
    static const struct api_list_kind KIND = {.params = LIST_PARAMS,
                                              .n_params = API_COUNT(LIST_PARAMS),
                                              .read = read_list,
                                              .row_size = sizeof(struct store_dataset),
                                              .encode = encode,
                                              .id = offsetof(struct store_dataset, id),
                                              .revision = offsetof(struct store_dataset, revision)};
    struct list_query query = {.list = API_LIST_DEFAULTS, .state = -1, .kind = -1};
    return api_list(state, req, out_resp, &KIND, &query.list, err);
}

/* ---------------------------------------------------------------------------------------- one */

enum sv_status api_dataset_read(struct api_ctx *ctx, const struct http_request *req, const char *id,
                                struct api_seen *out_seen, struct sv_error *err)
{
    struct store_scope scope;
    struct store_memory memory = {0};
    struct store_dataset dataset;
    api_scope(req, &scope);
    enum sv_status st = store_dataset_get(ctx->store, &scope, id, &memory, &dataset, err);
    if (st == SV_OK) {
        st = api_seen(dataset.id, dataset.revision, encode(&dataset, false), out_seen, err);
    }
    store_memory_clear(&memory);
    return st;
}

/* GET /v1/datasets/{id}: with classes, files and the report of the check. 404. */
enum sv_status api_datasets_get(void *state, const struct http_request *req,
                                struct http_response *out_resp, struct sv_error *err)
{
    return api_show(state, req, out_resp, api_dataset_read, err);
}

/* PATCH /v1/datasets/{id}: name, notes. 404; 409 name taken; 422. */
enum sv_status api_datasets_patch(void *state, const struct http_request *req,
                                  struct http_response *out_resp, struct sv_error *err)
{
    return api_asset_patch(state, req, out_resp, STORE_DATASET, api_dataset_read, err);
}

/* DELETE /v1/datasets/{id}. 404; 409 while a job refers to it or it is being checked. */
enum sv_status api_datasets_delete(void *state, const struct http_request *req,
                                   struct http_response *out_resp, struct sv_error *err)
{
    return api_asset_delete(state, req, out_resp, STORE_DATASET, err);
}
