/* SPDX-License-Identifier: MIT
 *
 * Reading of points and summaries. Chunks arrive one by one and points are thinned as they come
 * (thin.c); of a running trial the points are kept between reads (curves.c).
 */
#include "server/store/points.h"

#include <string.h>

#include "core/base/base.h"
#include "server/store/curves_internal.h"
#include "server/store/trial_internal.h"

enum { MAX_POINTS_MIN = 4 };

enum sv_status store_summaries_list(struct store *store, const struct store_scope *scope,
                                    const char *trial_id, struct store_memory *memory,
                                    struct store_summary_list *out_list, struct sv_error *err)
{
    enum sv_status st = store_trial_exists(store, scope, trial_id, err);
    if (st != SV_OK) {
        return st;
    }
    struct sql_params params = {0};
    struct sql_rows rows = {0};
    struct store_summary_list list = {0};
    sql_text(&params, trial_id);
    st = store_query(store,
                     "select metric, n, last, last_step, min is not null, min, max, min_step,"
                     " max_step from metric_summary where trial_id = $1 order by metric",
                     &params, &rows, err);
    if (st != SV_OK) {
        return st;
    }
    list.rows = store_memory_array(memory, (size_t)rows.n, sizeof *list.rows);
    for (int i = 0; list.rows && i < rows.n; i++) {
        struct sql_reader r = {.rows = &rows, .row = i, .memory = memory};
        struct store_summary *summary = &list.rows[i];
        summary->metric = sql_read_text(&r);
        summary->n = sql_read_int(&r);
        summary->last = sql_read_real(&r);
        summary->last_step = sql_read_int(&r);
        summary->has_extremes = sql_read_bool(&r);
        summary->min = sql_read_real(&r);
        summary->max = sql_read_real(&r);
        summary->min_step = sql_read_int(&r);
        summary->max_step = sql_read_int(&r);
        list.n++;
    }
    sql_rows_clear(&rows);
    st = store_memory_check(memory, err);
    if (st == SV_OK) {
        *out_list = list;
    }
    return st;
}

/* ---- curves ---- */

/* Everything in one statement, hence one snapshot: a row a chunk, with its job's revision and the
 * number of its series' points behind after_step ($2) and up to to_step ($5). A trial without
 * chunks gives one row without a metric. */
static const char CHUNKS[] =
    "select j.id, j.revision, c.metric, (sum(case when c.last_step <= $5 then c.n else"
    " width_bucket($5::bigint, c.steps) end - case when c.first_step > $2 then 0 else"
    " width_bucket($2::bigint, c.steps) end) over (partition by c.metric))::bigint, c.steps, "
    "c.vals from trial t join job j on j.id = t.job_id"
    " left join metric_chunk c on c.trial_id = t.id and c.last_step > $2 and c.first_step <= $5"
    " and ($3::text[] is null or c.metric = any($3)) where t.id = $1 and t.project_id = $4 order by"
    " c.metric, c.first_step";

bool store_series_wants(const struct store_series_query *query, int64_t step)
{
    return step > query->after_step && (query->to_step == 0 || step <= query->to_step);
}

static void chunk_params(const struct store_reading *reading, struct sql_params *params)
{
    sql_text(params, reading->trial_id);
    sql_int(params, reading->query->after_step);
    store_reading_names(reading, params);
    sql_text(params, reading->scope->project_id);
    sql_int(params, reading->query->to_step == 0 ? INT64_MAX : reading->query->to_step);
}

void store_reading_names(const struct store_reading *reading, struct sql_params *params)
{
    const struct store_series_query *query = reading->query;
    if (query->metrics) {
        sql_text_array(params, query->metrics, query->n_metrics);
    } else {
        sql_text(params, NULL);
    }
}

enum sv_status store_reading_begin(struct store_reading *reading, struct sv_error *err)
{
    reading->list = (struct store_series_list){
        .rows = store_memory_array(reading->memory, STORE_METRICS_MAX, sizeof *reading->list.rows)};
    return store_memory_check(reading->memory, err);
}

/* Goes on with the series of the current row, or begins it; false when there is no room. */
static bool enter_series(struct store_reading *reading, struct store_thinner *t, const char *metric,
                         int64_t total)
{
    struct store_series_list *list = &reading->list;
    if (t->series && strcmp(t->series->metric, metric) == 0) {
        return true;
    }
    store_thin_end(t);
    *t = STORE_THINNER_IDLE;
    return list->n < STORE_METRICS_MAX &&
           store_thin_begin(t, &list->rows[list->n++], reading->memory, metric, total,
                            reading->query->max_points);
}

/* One row: job, revision, metric, total, steps, values. */
static void add_chunk(const struct sql_rows *rows, struct store_reading *reading,
                      struct store_thinner *t)
{
    struct sql_reader r = {.rows = rows};
    sql_read_id(&r, reading->list.job_id);
    reading->list.job_revision = sql_read_int(&r);
    if (sql_read_null(&r)) {
        return;
    }
    const char *metric = PQgetvalue(rows->result, 0, r.column);
    sql_skip(&r);
    int64_t total = sql_read_int(&r);
    if (total == 0 || !enter_series(reading, t, metric, total)) {
        return;
    }
    struct sql_array steps = sql_read_array(&r);
    struct sql_array values = sql_read_array(&r);
    for (size_t i = 0; i < steps.n && i < values.n; i++) {
        struct store_thin_point point = {sql_array_int(&steps, i), sql_array_real(&values, i)};
        if (store_series_wants(reading->query, point.step)) {
            store_thin_add(t, point);
        }
    }
}

/* Row by row, so that a series of any length takes the memory of what is handed out. */
static enum sv_status stream_chunks(struct store_conn *conn, void *ctx, struct sv_error *err)
{
    struct store_reading *reading = ctx;
    struct sql_params params = {0};
    struct store_thinner t = STORE_THINNER_IDLE;
    enum sv_status st = store_reading_begin(reading, err);
    chunk_params(reading, &params);
    st = st ? st : sql_send(conn, CHUNKS, &params, err);
    if (st == SV_OK) {
        NN_ASSERT(PQsetSingleRowMode(conn->pg)); /* only refused when nothing was sent */
        for (PGresult *result = sql_next(conn); result; result = sql_next(conn)) {
            struct sql_rows rows = {.result = result, .n = PQntuples(result)};
            if (PQresultStatus(result) == PGRES_SINGLE_TUPLE) {
                add_chunk(&rows, reading, &t);
            } else if (st == SV_OK) {
                st = sql_sort(conn, result, CHUNKS, err);
            }
            PQclear(result);
        }
        store_thin_end(&t);
        st = st ? st : sql_overdue_check(conn, err);
    }
    sql_params_clear(&params);
    if (st == SV_OK && !reading->list.job_id[0]) {
        st = store_not_found("trial", err);
    }
    return st ? st : store_memory_check(reading->memory, err);
}

enum sv_status store_series_read(struct store *store, const struct store_scope *scope,
                                 const char *trial_id, const struct store_series_query *query,
                                 struct store_memory *memory, struct store_series_list *out_list,
                                 struct sv_error *err)
{
    enum sv_status st = store_id_check(trial_id, "trial", err);
    if (st == SV_OK && query->max_points > 0 && query->max_points < MAX_POINTS_MIN) {
        st = sv_fail_parameter(err, SV_ERR_INVALID_PARAMETER, "max_points",
                               "max_points must be %d or more", MAX_POINTS_MIN);
    }
    struct store_reading reading = {
        .trial_id = trial_id, .scope = scope, .query = query, .memory = memory};
    bool done = false;
    if (st == SV_OK) {
        st = store_curves_read(store, &reading, &done, err);
    }
    if (st == SV_OK && !done) {
        st = store_run(store, "series_read", stream_chunks, &reading, err);
    }
    if (st == SV_OK) {
        *out_list = reading.list;
    }
    return st;
}
