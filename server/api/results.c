/* SPDX-License-Identifier: MIT
 *
 * /v1/jobs/{id}/results: one row a trial, and one row a setting with mean and 95 % interval over
 * its seeds; as JSON, whole or in pages of either, and as CSV.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "server/api/csv_internal.h"
#include "server/api/handlers_internal.h"
#include "server/api/results_internal.h"
#include "server/store/events.h"

/* --------------------------------------------------------------------------------------- JSON */

static json_t *number_or_null(double value)
{
    return isnan(value) ? json_null() : jx_number(value);
}

static json_t *encode_metrics(const struct results *results, const struct store_result *row)
{
    json_t *out = json_object();
    for (size_t i = 0; out && i < results->n_columns; i++) {
        const struct store_result_metric *m = results_metric(row, &results->columns[i]);
        json_t *cell = !m ? json_null()
                          : json_pack("{s:o, s:o, s:o, s:I}", "value", jx_number(m->value), "low",
                                      number_or_null(m->low), "high", number_or_null(m->high), "n",
                                      (json_int_t)m->n);
        if (json_object_set_new(out, results->columns[i].name, cell) != 0) {
            json_decref(out);
            return NULL;
        }
    }
    return out;
}

static json_t *encode_trial(const struct results *results, const struct store_result *row)
{
    json_t *out = api_trial_encode(&row->trial);
    if (out &&
        (json_object_set_new(out, "metrics", encode_metrics(results, row)) != 0 ||
         json_object_set_new(out, "training_loss", number_or_null(row->last_training_loss)) != 0 ||
         json_object_set_new(out, "warnings",
                             api_warnings_encode(&results->failed, row->trial.id)) != 0)) {
        json_decref(out);
        return NULL;
    }
    return out;
}

static json_t *encode_group(const struct results *results, const struct results_group *group)
{
    json_t *metrics = json_object();
    for (size_t i = 0; metrics && i < results->n_columns; i++) {
        struct results_mean m = results_mean_of(results, group, &results->columns[i]);
        json_t *cell = json_pack("{s:I, s:o, s:o, s:o, s:o}", "n", (json_int_t)m.n, "mean",
                                 number_or_null(m.mean), "deviation", number_or_null(m.deviation),
                                 "low", number_or_null(m.low), "high", number_or_null(m.high));
        if (json_object_set_new(metrics, results->columns[i].name, cell) != 0) {
            json_decref(metrics);
            metrics = NULL;
        }
    }
    return json_pack("{s:o, s:I, s:o}", "parameters", api_document(group->parameters), "trials",
                     (json_int_t)group->count, "metrics", metrics);
}

/* Which rows of a table an answer shows. */
struct window {
    size_t n_items, first_group, n_groups;
    const struct http_list *fields; /* of items */
    const char *next;               /* cursor; NULL: none */
};

static json_t *encode(const struct results *results, const struct window *window)
{
    json_t *columns = json_array(), *items = json_array(), *groups = json_array();
    json_t *custom = json_array();
    for (size_t i = 0; i < results->n_columns; i++) {
        columns = api_append_take(columns, json_string(results->columns[i].name));
        if (results->columns[i].custom) {
            custom = api_append_take(custom, json_string(results->columns[i].name));
        }
    }
    for (size_t i = 0; i < window->n_items; i++) {
        items = api_append_take(items, encode_trial(results, &results->rows[i]));
    }
    for (size_t i = 0; i < window->n_groups; i++) {
        const struct results_group *group = &results->groups[window->first_group + i];
        groups = api_append_take(groups, encode_group(results, group));
    }
    json_auto_t *swept = api_document(results->job.parameters);
    return json_pack("{s:s, s:I, s:s, s:o, s:o, s:o, s:o, s:o, s:s?}", "job", results->job.id,
                     "revision", (json_int_t)results->job.revision, "headline_metric",
                     results->job.headline_metric, "target_parameters",
                     jobs_target_parameters(results->job.kind, swept), "metrics", columns,
                     "custom_metrics", custom, "items", api_picked_take(items, window->fields),
                     "groups", groups, "next_cursor", window->next);
}

/* ---------------------------------------------------------------------------------------- CSV */

/* Titles of the swept parameters: the keys of the first row's. */
static void write_parameter_titles(struct csv_writer *csv, json_t *parameters)
{
    const char *key;
    json_t *value;
    json_object_foreach(parameters, key, value)
    {
        csv_text(csv, key);
    }
}

static void write_parameters(struct csv_writer *csv, json_t *parameters)
{
    const char *key;
    json_t *value;
    json_object_foreach(parameters, key, value)
    {
        if (json_is_null(value)) {
            csv_empty(csv);
        } else if (json_is_string(value)) {
            csv_text(csv, json_string_value(value));
        } else if (json_is_integer(value)) {
            csv_integer(csv, json_integer_value(value));
        } else if (json_is_real(value)) {
            csv_number(csv, json_real_value(value));
        } else {
            char *text = json_is_boolean(value) ? strdup(json_is_true(value) ? "true" : "false")
                                                : jx_dump(value, NULL);
            csv_text(csv, text);
            free(text);
        }
    }
}

static void write_metric_titles(struct csv_writer *csv, const struct results *results,
                                const char *const *suffixes)
{
    for (size_t i = 0; i < results->n_columns; i++) {
        for (size_t k = 0; suffixes[k]; k++) {
            char title[160];
            (void)snprintf(title, sizeof title, "%s%s", results->columns[i].name, suffixes[k]);
            csv_text(csv, title);
        }
    }
}

static void write_number(struct csv_writer *csv, double value, bool there)
{
    if (there) {
        csv_number(csv, value);
    } else {
        csv_empty(csv);
    }
}

static void write_trial(struct csv_writer *csv, const struct results *results,
                        const struct store_result *row)
{
    const struct store_trial *t = &row->trial;
    json_t *parameters = api_document(t->parameters);
    csv_text(csv, t->id);
    csv_integer(csv, t->index);
    csv_text(csv, t->state);
    write_parameters(csv, parameters);
    csv_integer(csv, (int64_t)t->seed);
    for (size_t i = 0; i < results->n_columns; i++) {
        const struct store_result_metric *m = results_metric(row, &results->columns[i]);
        write_number(csv, m ? m->value : 0, m != NULL);
        write_number(csv, m ? m->low : 0, m && !isnan(m->low));
        write_number(csv, m ? m->high : 0, m && !isnan(m->high));
    }
    write_number(csv, row->last_training_loss, !isnan(row->last_training_loss));
    csv_number(csv, t->seconds);
    csv_text(csv, t->error_class);
    csv_text(csv, t->error_text);
    csv_text(csv, t->notes);
    csv_end_row(csv);
    json_decref(parameters);
}

static char *write_trials(const struct results *results, size_t *out_size)
{
    static const char *const suffixes[] = {"", "_low", "_high", NULL};
    struct csv_writer csv;
    if (!csv_begin(&csv)) {
        return NULL;
    }
    json_t *first = results->n ? api_document(results->rows[0].trial.parameters) : NULL;
    csv_text(&csv, "trial");
    csv_text(&csv, "index");
    csv_text(&csv, "state");
    write_parameter_titles(&csv, first);
    csv_text(&csv, "seed");
    write_metric_titles(&csv, results, suffixes);
    csv_text(&csv, "training_loss");
    csv_text(&csv, "seconds");
    csv_text(&csv, "error_class");
    csv_text(&csv, "error");
    csv_text(&csv, "notes");
    csv_end_row(&csv);
    for (size_t i = 0; i < results->n; i++) {
        write_trial(&csv, results, &results->rows[i]);
    }
    json_decref(first);
    return csv_finish(&csv, out_size);
}

static char *write_groups(const struct results *results, size_t *out_size)
{
    static const char *const suffixes[] = {"_n", "_mean", "_deviation", "_low", "_high", NULL};
    struct csv_writer csv;
    if (!csv_begin(&csv)) {
        return NULL;
    }
    json_t *first = results->n ? api_document(results->rows[0].trial.parameters) : NULL;
    write_parameter_titles(&csv, first);
    csv_text(&csv, "trials");
    write_metric_titles(&csv, results, suffixes);
    csv_end_row(&csv);
    for (size_t g = 0; g < results->n_groups; g++) {
        json_t *parameters = api_document(results->groups[g].parameters);
        write_parameters(&csv, parameters);
        csv_integer(&csv, (int64_t)results->groups[g].count);
        for (size_t i = 0; i < results->n_columns; i++) {
            struct results_mean m =
                results_mean_of(results, &results->groups[g], &results->columns[i]);
            csv_integer(&csv, (int64_t)m.n);
            write_number(&csv, m.mean, !isnan(m.mean));
            write_number(&csv, m.deviation, !isnan(m.deviation));
            write_number(&csv, m.low, !isnan(m.low));
            write_number(&csv, m.high, !isnan(m.high));
        }
        csv_end_row(&csv);
        json_decref(parameters);
    }
    json_decref(first);
    return csv_finish(&csv, out_size);
}

/* ------------------------------------------------------------------------------------- handlers */

static const char *const SORTS[] = {"index", "best", "worst", NULL};
static const enum store_trial_sort SORT_OF[] = {STORE_TRIALS_BY_INDEX, STORE_TRIALS_BEST,
                                                STORE_TRIALS_WORST};
static const char *const DISCARDED[] = {"false", "true", "any", NULL};
static const int DISCARDED_OF[] = {0, 1, -1};
static const char *const OVER[] = {"trials", "seeds", NULL};
enum { OVER_TRIALS, OVER_SEEDS };
static const char *const FIELDS[] = {API_TRIAL_FIELDS, "metrics", "training_loss", "warnings",
                                     NULL};

struct results_query {
    struct api_list_query list; /* limit 0: the whole table */
    int64_t changed_since;
    int sort, discarded, over;
};
#define QUERY(member) offsetof(struct results_query, member)
static const struct http_param PARAMS[] = {
    API_LIST_ROWS(FIELDS),
    API_LIST_ROW_WAIT,
    {"sort", HTTP_PARAM_CHOICE, QUERY(sort), 0, 0, SORTS},
    {"discarded", HTTP_PARAM_CHOICE, QUERY(discarded), 0, 0, DISCARDED},
    {"over", HTTP_PARAM_CHOICE, QUERY(over), 0, 0, OVER},
    {"changed_since", HTTP_PARAM_INT, QUERY(changed_since), 0, INT64_MAX, NULL},
};

/* A table as CSV is whole, and so are its groups: they count all their trials. */
static enum sv_status check(const struct results_query *query, bool as_csv, struct sv_error *err)
{
    bool paged = query->list.limit > 0;
    const char *wrong = paged && as_csv                                       ? "limit"
                        : query->list.cursor && !paged                        ? "cursor"
                        : query->list.fields.count && as_csv                  ? "fields"
                        : query->changed_since && (!paged || query->over > 0) ? "changed_since"
                                                                              : NULL;
    return wrong ? sv_fail_parameter(err, SV_ERR_INVALID_PARAMETER, wrong,
                                     "only for pages of JSON (`limit`), changed_since of trials")
                 : SV_OK;
}

/* Where the page of groups begins: cursors of groups are their places. */
static enum sv_status find_window(const struct http_request *req, const struct results *results,
                                  const struct results_query *query, const struct api_page *page,
                                  struct window *out_window, struct sv_error *err)
{
    *out_window = (struct window){.fields = &query->list.fields};
    if (query->list.limit == 0 || query->over != OVER_SEEDS) {
        out_window->n_items = results->n;
        out_window->n_groups = query->list.limit == 0 ? results->n_groups : 0;
        out_window->next = api_page_next(req, page, results->next);
        return SV_OK;
    }
    char *end = NULL;
    const char *cursor = page->store.cursor ? page->store.cursor : "0";
    unsigned long long first = strtoull(cursor, &end, 10);
    if (*end || first > results->n_groups) {
        return sv_fail_parameter(err, SV_ERR_INVALID_PARAMETER, "cursor", "the cursor is damaged");
    }
    size_t left = results->n_groups - (size_t)first;
    out_window->first_group = (size_t)first;
    out_window->n_groups = left < page->store.limit ? left : page->store.limit;
    if (out_window->n_groups < left) {
        const char *next = http_request_printf(req, "%llu", first + out_window->n_groups);
        out_window->next = api_page_next(req, page, next);
    }
    return SV_OK;
}

static char *write_csv(const struct results *results, int over, size_t *out_size)
{
    return over == OVER_SEEDS ? write_groups(results, out_size) : write_trials(results, out_size);
}

/* Reads and answers. */
static enum sv_status answer_read(struct api_ctx *ctx, const struct http_request *req,
                                  struct http_response *resp, const struct results_query *query,
                                  const struct api_page *page, const struct api_poll *poll,
                                  bool as_csv, struct sv_error *err)
{
    struct results results;
    struct window window;
    size_t size = 0;
    const char *id = http_path(req, "id");
    bool pages_rows = query->list.limit > 0 && query->over != OVER_SEEDS;
    struct results_ask ask = {.filter = {.job_id = id,
                                         .sort = SORT_OF[query->sort],
                                         .discarded = DISCARDED_OF[query->discarded],
                                         .changed_since = query->changed_since},
                              .page = pages_rows ? &page->store : NULL};
    enum sv_status st = results_read(ctx, req, &ask, &results, err);
    if (st != SV_OK) {
        return st;
    }
    int64_t revision = results.job.revision;
    if (as_csv) {
        char *text = write_csv(&results, query->over, &size);
        st = text ? api_poll_end_bytes_take(ctx, req, resp, poll, id, revision, API_CSV, text, size,
                                            err)
                  : api_no_memory(err);
    } else {
        st = find_window(req, &results, query, page, &window, err);
        st = st == SV_OK ? api_poll_end_take(ctx, req, resp, poll, id, revision,
                                             encode(&results, &window), err)
                         : st;
    }
    results_clear(&results);
    return st;
}

static enum sv_status answer(void *state, const struct http_request *req,
                             struct http_response *resp, bool as_csv, struct sv_error *err)
{
    struct api_ctx *ctx = state;
    struct results_query query = {0};
    struct api_params params = {PARAMS, API_COUNT(PARAMS), &query};
    struct api_page page;
    struct api_poll poll;
    bool done = false;
    const char *id = http_path(req, "id");
    enum sv_status st = http_query_decode(req, PARAMS, API_COUNT(PARAMS), &query, err);
    st = st == SV_OK ? check(&query, as_csv, err) : st;
    st = st == SV_OK ? api_page_open(req, &params, query.list.limit, query.list.cursor, &page, err)
                     : st;
    if (as_csv) {
        http_response_filename(resp, "results.csv"); /* of an answer kept, too */
    }
    if (st == SV_OK) {
        st = api_poll_begin(ctx, req, resp, id, query.list.wait, &poll, &done, err);
    }
    return st != SV_OK || done ? st
                               : answer_read(ctx, req, resp, &query, &page, &poll, as_csv, err);
}

/* GET /v1/jobs/{id}/results: JSON, or CSV by Accept. 404; 400 for a wrong parameter. */
enum sv_status api_jobs_results(void *state, const struct http_request *req,
                                struct http_response *out_resp, struct sv_error *err)
{
    return answer(state, req, out_resp, api_wants_csv(req), err);
}

/* GET /v1/jobs/{id}/results.csv: over=trials (a row a trial) or over=seeds (a row a setting). */
enum sv_status api_jobs_results_csv(void *state, const struct http_request *req,
                                    struct http_response *out_resp, struct sv_error *err)
{
    return answer(state, req, out_resp, true, err);
}
