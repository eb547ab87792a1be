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

/* What series there are and how many points each has behind after_step. */
static const char TOTALS[] =
    "select c.metric, sum(case when c.first_step > $2 then cardinality(c.steps) else"
    " cardinality(c.steps) - width_bucket($2::bigint, c.steps) end)::bigint from metric_chunk c"
    " where c.trial_id = $1 and c.last_step > $2 and ($3::text[] is null or c.metric = any($3))"
    " group by c.metric order by c.metric";

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
}

static enum sv_status read_totals(struct store_conn *conn, struct reading *reading,
                                  struct sv_error *err)
{
    struct sql_params params = {0};
    struct sql_rows rows = {0};
    struct store_series_list *list = &reading->list;
    series_params(reading, &params);
    enum sv_status st = sql_run(conn, TOTALS, &params, &rows, err);
    if (st != SV_OK) {
        return st;
    }
    size_t max = reading->query->max_points;
    list->rows = store_memory_array(reading->memory, (size_t)rows.n, sizeof *list->rows);
    for (int i = 0; list->rows && i < rows.n; i++) {
        struct sql_reader r = {.rows = &rows, .row = i, .memory = reading->memory};
        struct store_series *series = &list->rows[i];
        series->metric = sql_read_text(&r);
        series->total = sql_read_int(&r);
        size_t n = max > 0 && series->total > (int64_t)max ? max : (size_t)series->total;
        series->steps = store_memory_array(reading->memory, n, sizeof *series->steps);
        series->values = store_memory_array(reading->memory, n, sizeof *series->values);
        list->n++;
    }
    sql_rows_clear(&rows);
    return store_memory_check(reading->memory, err);
}

/* One row: metric, steps, values. */
static void add_chunk(const struct sql_rows *rows, struct reading *reading, struct thinner *t)
{
    struct sql_reader r = {.rows = rows};
    sql_skip(&r);
    struct sql_array steps = sql_read_array(&r);
    struct sql_array values = sql_read_array(&r);
    for (size_t i = 0; i < steps.n && i < values.n; i++) {
        struct point point = {sql_array_int(&steps, i), sql_array_real(&values, i)};
        if (point.step > reading->query->after_step) {
            thinner_add(t, point);
        }
    }
}

/* Moves to the series that the row's metric names; false when there is none. */
static bool find_series(const struct sql_rows *rows, struct reading *reading, size_t *at,
                        struct thinner *t)
{
    const char *metric = PQgetvalue(rows->result, 0, 0);
    size_t i = *at;
    while (i < reading->list.n && strcmp(reading->list.rows[i].metric, metric) != 0) {
        i++;
    }
    if (i < reading->list.n && (i != *at || !t->series)) {
        close_run(t);
        *at = i;
        thinner_begin(t, &reading->list.rows[i], reading->query->max_points);
    }
    return i < reading->list.n;
}

static enum sv_status stream_chunks(struct store_conn *conn, struct reading *reading,
                                    struct sv_error *err)
{
    static const char CHUNKS[] =
        "select c.metric, c.steps, c.vals from metric_chunk c where c.trial_id = $1 and c.last_step"
        " > $2 and ($3::text[] is null or c.metric = any($3)) order by c.metric, c.first_step";
    struct sql_params p = {0};
    struct thinner t = {.run = -1};
    size_t at = 0;
    enum sv_status st = SV_OK;
    series_params(reading, &p);
    if (!PQsendQueryParams(conn->pg, CHUNKS, p.n, p.types, p.values, p.lengths, p.formats, 1) ||
        !PQsetSingleRowMode(conn->pg)) {
        st = sv_fail(err, SV_ERR_DATABASE, "the connection to the database was lost");
        conn->failure = SQL_LOST;
    }
    for (PGresult *result = PQgetResult(conn->pg); result; result = PQgetResult(conn->pg)) {
        struct sql_rows rows = {.result = result, .n = PQntuples(result)};
        if (PQresultStatus(result) == PGRES_SINGLE_TUPLE) {
            if (find_series(&rows, reading, &at, &t)) {
                add_chunk(&rows, reading, &t);
            }
        } else if (st == SV_OK) {
            st = sql_sort(conn, result, CHUNKS, err);
        }
        PQclear(result);
    }
    close_run(&t);
    sql_params_clear(&p);
    return st;
}

static enum sv_status read_revision(struct store_conn *conn, struct reading *reading,
                                    struct sv_error *err)
{
    struct sql_params params = {0};
    struct sql_rows rows = {0};
    sql_text(&params, reading->trial_id);
    sql_text(&params, reading->scope->project_id);
    enum sv_status st = sql_run(conn,
                                "select j.id, j.revision from trial t join job j on j.id = t.job_id"
                                " where t.id = $1 and t.project_id = $2",
                                &params, &rows, err);
    if (st != SV_OK) {
        return st;
    }
    if (rows.n > 0) {
        struct sql_reader r = {.rows = &rows};
        sql_read_id(&r, reading->list.job_id);
        reading->list.job_revision = sql_read_int(&r);
    } else {
        st = store_not_found("trial", err);
    }
    sql_rows_clear(&rows);
    return st;
}

/* One snapshot for totals and chunks, so that they agree. */
static enum sv_status read_tx(struct store_conn *conn, void *ctx, struct sv_error *err)
{
    struct reading *reading = ctx;
    reading->list = (struct store_series_list){0};
    enum sv_status st = sql_run(conn, "set transaction isolation level repeatable read, read only",
                                NULL, NULL, err);
    if (st == SV_OK) {
        st = read_revision(conn, reading, err);
    }
    if (st == SV_OK) {
        st = read_totals(conn, reading, err);
    }
    if (st == SV_OK && reading->list.n > 0) {
        st = stream_chunks(conn, reading, err);
    }
    return st;
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
        st = store_tx_run(store, "series_read", read_tx, &reading, err);
    }
    if (st == SV_OK) {
        *out_list = reading.list;
    }
    return st;
}
