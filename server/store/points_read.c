/* SPDX-License-Identifier: MIT
 *
 * Reading of points and summaries. Chunks arrive one by one and points go into buckets as they
 * come, so a series of any length takes the memory of what is handed out.
 *
 * Thinning n points to m < n: the first and the last are kept; if m is odd also the second; the
 * rest is cut into (m - 2) / 2 runs of equal length, each of which gives its smallest and largest
 * finite point (or, when they coincide or there is none, its first ones) in order of step. So the
 * extremes of the whole are always among them, and exactly m points come back.
 */
#include "server/store/points.h"

#include <math.h>
#include <string.h>

#include "core/base/base.h"
#include "server/store/trial_internal.h"

enum { MAX_POINTS_MIN = 4, METRICS_MAX = 256 }; /* of a trial */

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

/* ---- thinning ---- */

struct point {
    int64_t step;
    double value;
};

/* One series on its way out. */
struct thinner {
    struct store_series *series;
    size_t capacity; /* points of the arrays */
    int64_t total;
    int64_t seen;  /* points so far */
    size_t head;   /* points kept at the beginning: 1 or 2; 0: all are kept */
    size_t runs;   /* between head and last */
    int64_t run;   /* that is open, -1: none */
    size_t filled; /* points of the open run, up to 2 in first */
    struct point first[2];
    struct point low, high;
    bool has_extremes;
};

static void thinner_begin(struct thinner *t, struct store_series *series, size_t max_points)
{
    *t = (struct thinner){.series = series, .total = series->total, .run = -1};
    bool thin = max_points > 0 && series->total > (int64_t)max_points;
    t->capacity = thin ? max_points : (size_t)series->total;
    if (thin) {
        t->head = max_points % 2 == 0 ? 1 : 2;
        t->runs = (max_points - 1 - t->head) / 2;
    }
}

static void put_point(struct thinner *t, struct point point)
{
    if (t->series->n < t->capacity) {
        t->series->steps[t->series->n] = point.step;
        t->series->values[t->series->n] = point.value;
        t->series->n++;
    }
}

static void close_run(struct thinner *t)
{
    if (t->run < 0 || !t->series) {
        return;
    }
    struct point a = t->first[0];
    struct point b = t->first[1];
    if (t->has_extremes && t->low.step != t->high.step) {
        a = t->low;
        b = t->high;
    } else if (t->has_extremes && t->low.step != a.step) {
        b = t->low;
    }
    bool swapped = a.step > b.step;
    put_point(t, swapped ? b : a);
    put_point(t, swapped ? a : b);
    t->filled = 0;
    t->has_extremes = false;
}

static void add_to_run(struct thinner *t, struct point point)
{
    if (t->filled < 2) {
        t->first[t->filled++] = point;
    }
    if (!isfinite(point.value)) {
        return;
    }
    if (!t->has_extremes || point.value < t->low.value) {
        t->low = point;
    }
    if (!t->has_extremes || point.value > t->high.value) {
        t->high = point;
    }
    t->has_extremes = true;
}

static void thinner_add(struct thinner *t, struct point point)
{
    int64_t i = t->seen++;
    bool inside = t->head > 0 && i >= (int64_t)t->head && i < t->total - 1;
    if (!inside) {
        close_run(t);
        t->run = -1;
        put_point(t, point);
        return;
    }
    int64_t inner = t->total - 1 - (int64_t)t->head; /* times runs it stays far below 2^63 */
    int64_t run = (i - (int64_t)t->head) * (int64_t)t->runs / inner;
    if (run != t->run) {
        close_run(t);
        t->run = run;
    }
    add_to_run(t, point);
}

/* ---- reading ---- */

struct reading {
    const char *trial_id;
    const struct store_scope *scope;
    const struct store_series_query *query;
    struct store_memory *memory;
    struct store_series_list list;
};

/* Everything in one statement, hence one snapshot: a row a chunk, with its job's revision and the
 * number of its series' points behind after_step. A trial without chunks gives one row without a
 * metric. */
static const char CHUNKS[] =
    "select j.id, j.revision, c.metric, (sum(case when c.first_step > $2 then"
    " cardinality(c.steps) else cardinality(c.steps) - width_bucket($2::bigint, c.steps) end) over"
    " (partition by c.metric))::bigint, c.steps, c.vals from trial t join job j on j.id = t.job_id"
    " left join metric_chunk c on c.trial_id = t.id and c.last_step > $2 and ($3::text[] is null"
    " or c.metric = any($3)) where t.id = $1 and t.project_id = $4 order by c.metric,"
    " c.first_step";

static void series_params(const struct reading *reading, struct sql_params *params)
{
    const struct store_series_query *query = reading->query;
    sql_text(params, reading->trial_id);
    sql_int(params, query->after_step);
    if (query->metrics) {
        sql_text_array(params, query->metrics, query->n_metrics);
    } else {
        sql_text(params, NULL);
    }
    sql_text(params, reading->scope->project_id);
}

/* Goes on with the series of the current row, or begins it; false when there is no memory. */
static bool enter_series(struct reading *reading, struct thinner *t, const char *metric,
                         int64_t total)
{
    struct store_series_list *list = &reading->list;
    if (t->series && strcmp(t->series->metric, metric) == 0) {
        return true;
    }
    close_run(t);
    t->series = NULL;
    size_t max = reading->query->max_points;
    size_t n = max > 0 && total > (int64_t)max ? max : (size_t)total;
    struct store_series series = {
        .metric = store_memory_copy(reading->memory, metric, strlen(metric)),
        .total = total,
        .steps = store_memory_array(reading->memory, n, sizeof *series.steps),
        .values = store_memory_array(reading->memory, n, sizeof *series.values)};
    if (reading->memory->failed || !list->rows || list->n == METRICS_MAX) {
        return false;
    }
    list->rows[list->n] = series;
    thinner_begin(t, &list->rows[list->n++], max);
    return true;
}

/* One row: job, revision, metric, total, steps, values. */
static void add_chunk(const struct sql_rows *rows, struct reading *reading, struct thinner *t)
{
    struct sql_reader r = {.rows = rows};
    sql_read_id(&r, reading->list.job_id);
    reading->list.job_revision = sql_read_int(&r);
    if (sql_read_null(&r)) {
        return;
    }
    const char *metric = PQgetvalue(rows->result, 0, r.column);
    sql_skip(&r);
    if (!enter_series(reading, t, metric, sql_read_int(&r))) {
        return;
    }
    struct sql_array steps = sql_read_array(&r);
    struct sql_array values = sql_read_array(&r);
    for (size_t i = 0; i < steps.n && i < values.n; i++) {
        struct point point = {sql_array_int(&steps, i), sql_array_real(&values, i)};
        if (point.step > reading->query->after_step) {
            thinner_add(t, point);
        }
    }
}

/* Row by row, so that a series of any length takes the memory of what is handed out. */
static enum sv_status read_chunks(struct store_conn *conn, void *ctx, struct sv_error *err)
{
    struct reading *reading = ctx;
    struct sql_params params = {0};
    struct thinner t = {.run = -1};
    reading->list = (struct store_series_list){
        .rows = store_memory_array(reading->memory, METRICS_MAX, sizeof *reading->list.rows)};
    series_params(reading, &params);
    enum sv_status st = sql_send(conn, CHUNKS, &params, err);
    if (st == SV_OK) {
        NN_ASSERT(PQsetSingleRowMode(conn->pg)); /* only refused when nothing was sent */
        for (PGresult *result = PQgetResult(conn->pg); result; result = PQgetResult(conn->pg)) {
            struct sql_rows rows = {.result = result, .n = PQntuples(result)};
            if (PQresultStatus(result) == PGRES_SINGLE_TUPLE) {
                add_chunk(&rows, reading, &t);
            } else if (st == SV_OK) {
                st = sql_sort(conn, result, CHUNKS, err);
            }
            PQclear(result);
        }
        close_run(&t);
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
    struct reading reading = {
        .trial_id = trial_id, .scope = scope, .query = query, .memory = memory};
    if (st == SV_OK) {
        st = store_run(store, "series_read", read_chunks, &reading, err);
    }
    if (st == SV_OK) {
        *out_list = reading.list;
    }
    return st;
}
