/* SPDX-License-Identifier: MIT
 *
 * /v1/trials/{id}/metrics: curves as column arrays, thinned on request to an exact number of points
 * with first, last and extremes among them.
 */
#include "core/metrics/metrics.h"

#include <string.h>

#include "server/api/handlers_internal.h"
#include "server/api/series_internal.h"
#include "server/store/trials.h"

enum { POINTS_DEFAULT = 1000, POINTS_MIN = 4, POINTS_MAX = 100000, NAMES_MAX = 32 };

static const char *unit_of(const char *metric)
{
    const struct nn_metric *row = nn_metric_find(metric);
    return row ? row->unit : "";
}

static const char *direction_of(const char *metric)
{
    const struct nn_metric *row = nn_metric_find(metric);
    return nn_direction_name(row ? row->direction : NN_DIRECTION_NONE);
}

static json_t *encode_summary(const struct store_summary *s)
{
    json_t *min = s->has_extremes ? jx_number(s->min) : json_null();
    json_t *max = s->has_extremes ? jx_number(s->max) : json_null();
    json_t *min_step = s->has_extremes ? json_integer(s->min_step) : json_null();
    json_t *max_step = s->has_extremes ? json_integer(s->max_step) : json_null();
    return json_pack("{s:o, s:I, s:o, s:o, s:o, s:o, s:I, s:s, s:s}", "last", jx_number(s->last),
                     "last_step", (json_int_t)s->last_step, "min", min, "min_step", min_step, "max",
                     max, "max_step", max_step, "count", (json_int_t)s->n, "unit",
                     unit_of(s->metric), "direction", direction_of(s->metric));
}

json_t *api_summaries_encode(const struct store_summary_list *list)
{
    json_t *out = json_object();
    for (size_t i = 0; out && i < list->n; i++) {
        if (json_object_set_new(out, list->rows[i].metric, encode_summary(&list->rows[i])) != 0) {
            json_decref(out);
            return NULL;
        }
    }
    return out;
}

static json_t *encode_series(const struct store_series *series)
{
    json_t *steps = json_array(), *values = json_array();
    for (size_t i = 0; i < series->n; i++) {
        steps = api_append_take(steps, json_integer(series->steps[i]));
        values = api_append_take(values, jx_number(series->values[i]));
    }
    return json_pack("{s:o, s:o, s:I, s:s, s:s}", "step", steps, "value", values, "total",
                     (json_int_t)series->total, "unit", unit_of(series->metric), "direction",
                     direction_of(series->metric));
}

static json_t *encode_list(const char *trial_id, const struct store_series_list *list)
{
    json_t *metrics = json_object();
    for (size_t i = 0; metrics && i < list->n; i++) {
        if (json_object_set_new(metrics, list->rows[i].metric, encode_series(&list->rows[i])) !=
            0) {
            json_decref(metrics);
            return NULL;
        }
    }
    return metrics ? json_pack("{s:s, s:o}", "trial", trial_id, "metrics", metrics) : NULL;
}

struct metrics_query {
    int64_t wait, after_step, to_step, max_points;
    struct http_list names;
};

#define QUERY(member) offsetof(struct metrics_query, member)
static const struct http_param PARAMS[] = {
    HTTP_PARAM_ROW_WAIT(struct metrics_query, wait),
    {"after_step", HTTP_PARAM_INT, QUERY(after_step), -1, INT64_MAX, NULL},
    {"to_step", HTTP_PARAM_INT, QUERY(to_step), 1, INT64_MAX, NULL},
    {"max_points", HTTP_PARAM_INT, QUERY(max_points), POINTS_MIN, POINTS_MAX, NULL},
    {"names", HTTP_PARAM_LIST, QUERY(names), 0, NAMES_MAX, NULL},
};

static enum sv_status check_names(const struct http_list *names, struct sv_error *err)
{
    for (size_t i = 0; i < names->count; i++) {
        if (!nn_metric_find(names->items[i])) {
            return sv_fail_parameter(err, SV_ERR_INVALID_PARAMETER, "names",
                                     "there is no metric \"%.64s\"", names->items[i]);
        }
    }
    return SV_OK;
}

/* GET /v1/trials/{id}/metrics. 404; 400 for a wrong parameter. */
enum sv_status api_trials_metrics(void *state, const struct http_request *req,
                                  struct http_response *out_resp, struct sv_error *err)
{
    struct api_ctx *ctx = state;
    struct metrics_query query = {.after_step = -1, .max_points = POINTS_DEFAULT};
    struct store_scope scope;
    struct store_memory memory = {0};
    struct store_series_list list;
    struct api_poll poll;
    bool done = false;
    const char *id = http_path(req, "id");
    enum sv_status st = http_query_decode(req, PARAMS, API_COUNT(PARAMS), &query, err);
    if (st == SV_OK) {
        st = check_names(&query.names, err);
    }
    if (st == SV_OK) {
        st = api_poll_begin(ctx, req, out_resp, id, query.wait, &poll, &done, err);
    }
    if (st != SV_OK || done) {
        return st;
    }
    struct store_series_query series = {.metrics = query.names.count ? query.names.items : NULL,
                                        .n_metrics = query.names.count,
                                        .after_step = query.after_step,
                                        .to_step = query.to_step,
                                        .max_points = (size_t)query.max_points};
    api_scope(req, &scope);
    st = store_series_read(ctx->store, &scope, id, &series, &memory, &list, err);
    if (st == SV_OK) {
        st = api_poll_end_take(ctx, req, out_resp, &poll, list.job_id, list.job_revision,
                               encode_list(id, &list), err);
    }
    store_memory_clear(&memory);
    return st;
}
