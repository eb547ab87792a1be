/* SPDX-License-Identifier: MIT
 *
 * Reading and grouping the results of a job.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/api/results_internal.h"
#include "server/config/config.h"

enum { PAGE = 500 };

static enum sv_status read_rows(struct api_ctx *ctx, const struct store_scope *scope,
                                const struct results_ask *ask, struct results *results,
                                struct sv_error *err)
{
    struct store_page page = ask->page ? *ask->page : (struct store_page){.limit = PAGE};
    struct store_result_list list;
    do {
        enum sv_status st = store_results_list(ctx->store, scope, &ask->filter, &page,
                                               &results->memory, &list, err);
        if (st != SV_OK) {
            return st;
        }
        struct store_result *rows =
            reallocarray(results->rows, results->n + list.n + 1, sizeof *rows);
        if (!rows) {
            return api_no_memory(err);
        }
        memcpy(rows + results->n, list.rows, list.n * sizeof *rows);
        results->rows = rows;
        results->n += list.n;
        page.cursor = list.next;
    } while (!ask->page && list.next && results->n < (size_t)ctx->config->max_trials);
    results->next = list.next;
    return SV_OK;
}

/* -------------------------------------------------------------------------------------- columns */

static bool add_column(struct results *results, const char *part, const char *metric, bool custom)
{
    struct results_column column = {.part = part, .metric = metric, .custom = custom};
    (void)snprintf(column.name, sizeof column.name, "%s_%s", part, metric);
    struct results_column *columns =
        reallocarray(results->columns, results->n_columns + 1, sizeof *columns);
    if (!columns) {
        return false;
    }
    results->columns = columns;
    columns[results->n_columns++] = column;
    return true;
}

static bool any_row_has(const struct results *results, const char *part, const char *metric)
{
    struct results_column column = {.part = part, .metric = metric};
    for (size_t i = 0; i < results->n; i++) {
        if (results_metric(&results->rows[i], &column)) {
            return true;
        }
    }
    return false;
}

static bool any_row_failed(const struct results *results, const char *part, const char *metric)
{
    for (size_t i = 0; i < results->failed.n; i++) {
        const struct store_failed_metric *row = &results->failed.rows[i];
        if (strcmp(row->part, part) == 0 && strcmp(row->metric, metric) == 0) {
            return true;
        }
    }
    return false;
}

/* The columns of one part: the metrics asked for, and those that the job brought, which show also
 * when they failed. Names live in the lists. */
static bool find_columns_of(struct results *results, const char *part, const json_t *metrics,
                            const json_t *custom)
{
    size_t given = json_array_size(metrics);
    for (size_t i = 0; i < given + json_array_size(custom); i++) {
        const json_t *name = i < given ? json_array_get(metrics, i)
                                       : json_object_get(json_array_get(custom, i - given), "name");
        const char *metric = json_string_value(name);
        bool own = i >= given;
        if (metric &&
            (any_row_has(results, part, metric) ||
             (own && any_row_failed(results, part, metric))) &&
            !add_column(results, part, metric, own)) {
            return false;
        }
    }
    return true;
}

/* What the job asked to compare, for each part that was evaluated. */
static bool find_columns(struct results *results)
{
    const json_t *metrics = jx_path_get(results->resolved, "evaluation.metrics");
    const json_t *custom = jx_path_get(results->resolved, "evaluation.custom_metrics");
    return find_columns_of(results, "validation", metrics, custom) &&
           find_columns_of(results, "test", metrics, custom) &&
           find_columns_of(results, "train", metrics, custom);
}

const struct store_result_metric *results_metric(const struct store_result *row,
                                                 const struct results_column *column)
{
    for (size_t i = 0; i < row->n_metrics; i++) {
        if (strcmp(row->metrics[i].part, column->part) == 0 &&
            strcmp(row->metrics[i].metric, column->metric) == 0) {
            return &row->metrics[i];
        }
    }
    return NULL;
}

/* --------------------------------------------------------------------------------------- groups */

static int compare_members(const void *a, const void *b, void *rows)
{
    const struct store_result *all = rows;
    size_t i = *(const size_t *)a, k = *(const size_t *)b;
    int by_text = strcmp(all[i].trial.parameters, all[k].trial.parameters);
    return by_text != 0 ? by_text : (i > k) - (i < k);
}

/* In the order of their first rows; a trial without a point is of none. */
static int compare_groups(const void *a, const void *b)
{
    const struct results_group *left = a, *right = b;
    return (left->members[0] > right->members[0]) - (left->members[0] < right->members[0]);
}

static bool find_groups(struct results *results)
{
    results->members = calloc(results->n + 1, sizeof *results->members);
    results->groups = calloc(results->n + 1, sizeof *results->groups);
    if (!results->members || !results->groups) {
        return false;
    }
    size_t n = 0;
    for (size_t i = 0; i < results->n; i++) {
        if (results->rows[i].trial.chosen) {
            results->members[n++] = i;
        }
    }
    qsort_r(results->members, n, sizeof *results->members, compare_members, results->rows);
    struct results_group *group = NULL;
    for (size_t i = 0; i < n; i++) {
        const char *parameters = results->rows[results->members[i]].trial.parameters;
        if (!group || strcmp(group->parameters, parameters) != 0) {
            group = &results->groups[results->n_groups++];
            *group = (struct results_group){parameters, 0, results->members + i};
        }
        group->count++;
    }
    qsort(results->groups, results->n_groups, sizeof *results->groups, compare_groups);
    return true;
}

/* Student's t for 95 %, two-sided, by degrees of freedom. */
static double student_t(size_t freedom)
{
    static const double table[] = {0,      12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646,
                                   2.3060, 2.2622,  2.2281, 2.2010, 2.1788, 2.1604, 2.1448, 2.1314,
                                   2.1199, 2.1098,  2.1009, 2.0930, 2.0860, 2.0796, 2.0739, 2.0687,
                                   2.0639, 2.0595,  2.0555, 2.0518, 2.0484, 2.0452, 2.0423};
    if (freedom < API_COUNT(table)) {
        return table[freedom];
    }
    /* Cornish-Fisher expansion around the normal quantile: 4 digits from 30 on. */
    double z = 1.959964, f = (double)freedom;
    return z + (z * z * z + z) / (4 * f) + (5 * pow(z, 5) + 16 * z * z * z + 3 * z) / (96 * f * f);
}

struct results_mean results_mean_of_values(const double *values, size_t n)
{
    struct results_mean out = {0, NAN, NAN, NAN, NAN};
    double sum = 0, squares = 0;
    for (size_t i = 0; i < n; i++) {
        if (isfinite(values[i])) {
            sum += values[i];
            out.n++;
        }
    }
    if (out.n == 0) {
        return out;
    }
    out.mean = sum / (double)out.n;
    for (size_t i = 0; i < n; i++) {
        double d = isfinite(values[i]) ? values[i] - out.mean : 0;
        squares += d * d;
    }
    if (out.n > 1) {
        out.deviation = sqrt(squares / (double)(out.n - 1));
        double half = student_t(out.n - 1) * out.deviation / sqrt((double)out.n);
        out.low = out.mean - half;
        out.high = out.mean + half;
    }
    return out;
}

struct results_mean results_mean_of(const struct results *results,
                                    const struct results_group *group,
                                    const struct results_column *column)
{
    struct results_mean none = {0, NAN, NAN, NAN, NAN};
    double *values = calloc(group->count + 1, sizeof *values);
    size_t n = 0;
    if (!values) {
        return none;
    }
    for (size_t i = 0; i < group->count; i++) {
        const struct store_result_metric *m =
            results_metric(&results->rows[group->members[i]], column);
        if (m) {
            values[n++] = m->value;
        }
    }
    struct results_mean mean = results_mean_of_values(values, n);
    free(values);
    return mean;
}

/* ------------------------------------------------------------------------------------------ all */

/* What the job's own metrics gave no value for; jobs without any are not asked about. */
static enum sv_status read_failed(struct api_ctx *ctx, const struct store_scope *scope,
                                  struct results *results, struct sv_error *err)
{
    const json_t *custom = jx_path_get(results->resolved, "evaluation.custom_metrics");
    if (json_array_size(custom) == 0) {
        return SV_OK;
    }
    return store_failed_metrics_list(ctx->store, scope, results->job.id, NULL, &results->memory,
                                     &results->failed, err);
}

enum sv_status results_read(struct api_ctx *ctx, const struct http_request *req,
                            const struct results_ask *ask, struct results *out_results,
                            struct sv_error *err)
{
    struct results results = {0};
    struct store_scope scope;
    api_scope(req, &scope);
    enum sv_status st =
        store_job_get(ctx->store, &scope, ask->filter.job_id, &results.memory, &results.job, err);
    if (st == SV_OK) {
        st = read_rows(ctx, &scope, ask, &results, err);
    }
    if (st == SV_OK) {
        results.resolved = api_document(results.job.resolved);
        st = read_failed(ctx, &scope, &results, err);
    }
    if (st == SV_OK) {
        st = find_columns(&results) && find_groups(&results) ? SV_OK : api_no_memory(err);
    }
    if (st != SV_OK) {
        results_clear(&results);
        return st;
    }
    *out_results = results;
    return SV_OK;
}

void results_clear(struct results *results)
{
    store_memory_clear(&results->memory);
    json_decref(results->resolved);
    free(results->rows);
    free(results->columns);
    free(results->groups);
    free(results->members);
    *results = (struct results){0};
}
