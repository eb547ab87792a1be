/* SPDX-License-Identifier: MIT
 *
 * Reading the curves of a running trial: what is kept, and behind it what is new.
 */
#include <pthread.h>
#include <string.h>

#include "server/store/curves_internal.h"

/* Of each wanted metric the number of its points and the chunks behind what is kept ($3 names,
 * $4 last steps); nothing of a curve beyond $5 points, nor of a trial that does not run: between a
 * claim and the moment its attempt has cut off what lies behind its checkpoint, points may go. */
static const char TAIL[] =
    "select j.id, j.revision, t.fence, a.fence is not null, s.metric, s.n, c.steps, c.vals from"
    " trial t join job j on j.id = t.job_id left join attempt a on a.trial_id = t.id and a.fence ="
    " t.fence and a.resumed_step is not null and t.state = 'running' left join metric_summary s on"
    " s.trial_id = a.trial_id and ($6::text[] is null or s.metric = any($6)) left join"
    " unnest($3::text[], $4::bigint[]) as k (metric, last_step) on k.metric = s.metric left join"
    " metric_chunk c on c.trial_id = s.trial_id and c.metric = s.metric and c.first_step >"
    " coalesce(k.last_step, -1) and s.n <= $5 where t.id = $1 and t.project_id = $2 order by"
    " s.metric, c.first_step";

struct tail {
    struct store_reading *reading;
    struct store_curve_set *set;
    size_t points_max;
    bool running; /* the trial runs, so that its points may be kept */
    bool agrees;  /* every curve has as many points as its summary says */
};

/* What is kept, as two arrays. */
static void tail_params(const struct tail *tail, struct sql_params *params)
{
    const char *names[STORE_METRICS_MAX];
    int64_t steps[STORE_METRICS_MAX];
    size_t n = 0;
    for (size_t i = 0; i < tail->set->n && n < STORE_METRICS_MAX; i++) {
        const struct store_curve *curve = &tail->set->curves[i];
        if (curve->n > 0) {
            names[n] = curve->metric;
            steps[n++] = curve->steps[curve->n - 1];
        }
    }
    sql_text(params, tail->reading->trial_id);
    sql_text(params, tail->reading->scope->project_id);
    sql_text_array(params, names, n);
    sql_int_array(params, steps, n);
    sql_int(params, (int64_t)tail->points_max);
    store_reading_names(tail->reading, params);
}

/* Hands out a curve that is up to date: a row of the list. */
static bool hand_out(struct store_reading *reading, const struct store_curve *curve)
{
    const struct store_series_query *query = reading->query;
    struct store_series_list *list = &reading->list;
    struct store_thinner t;
    size_t i = 0;
    while (i < curve->n && curve->steps[i] <= query->after_step) {
        i++;
    }
    size_t end = i;
    while (end < curve->n && store_series_wants(query, curve->steps[end])) {
        end++;
    }
    if (i == end) {
        return true;
    }
    if (list->n == STORE_METRICS_MAX ||
        !store_thin_begin(&t, &list->rows[list->n++], reading->memory, curve->metric,
                          (int64_t)(end - i), query->max_points)) {
        return false;
    }
    for (; i < end; i++) {
        store_thin_add(&t, (struct store_thin_point){curve->steps[i], curve->values[i]});
    }
    store_thin_end(&t);
    return true;
}

static bool append_chunk(struct store_curve *curve, struct sql_reader *r)
{
    struct sql_array steps = sql_read_array(r);
    struct sql_array values = sql_read_array(r);
    bool fits = true;
    for (size_t i = 0; fits && i < steps.n && i < values.n; i++) {
        fits = store_curve_append(curve, sql_array_int(&steps, i), sql_array_real(&values, i));
    }
    return fits;
}

/* Appends the rows; the last row of a metric hands its curve out. */
static void take_rows(struct tail *tail, const struct sql_rows *rows)
{
    for (int i = 0; tail->agrees && i < rows->n; i++) {
        struct sql_reader r = {.rows = rows, .row = i, .column = 4};
        if (sql_read_null(&r)) {
            return; /* no points at all */
        }
        const char *metric = PQgetvalue(rows->result, i, r.column);
        bool last =
            i + 1 == rows->n || strcmp(PQgetvalue(rows->result, i + 1, r.column), metric) != 0;
        sql_skip(&r);
        int64_t n = sql_read_int(&r);
        struct store_curve *curve = store_curve_get(tail->set, metric);
        tail->agrees = curve && (sql_read_null(&r) || append_chunk(curve, &r)) &&
                       (!last || ((int64_t)curve->n == n && hand_out(tail->reading, curve)));
    }
}

static void take_head(struct tail *tail, const struct sql_rows *rows)
{
    struct sql_reader r = {.rows = rows};
    sql_read_id(&r, tail->reading->list.job_id);
    tail->reading->list.job_revision = sql_read_int(&r);
    int64_t fence = sql_read_int(&r);
    tail->running = sql_read_bool(&r);
    tail->agrees = tail->running && (tail->set->n == 0 || tail->set->fence == fence);
    tail->set->fence = fence;
}

static enum sv_status tail_read(struct store_conn *conn, void *ctx, struct sv_error *err)
{
    struct tail *tail = ctx;
    struct sql_params params = {0};
    struct sql_rows rows = {0};
    enum sv_status st = store_reading_begin(tail->reading, err);
    if (st != SV_OK) {
        return st;
    }
    tail->running = false;
    tail->agrees = false;
    tail_params(tail, &params);
    st = sql_run(conn, TAIL, &params, &rows, err);
    if (st == SV_OK && rows.n > 0) {
        take_head(tail, &rows);
        take_rows(tail, &rows);
    }
    if (!tail->agrees) {
        store_curve_set_clear(tail->set);
    }
    sql_rows_clear(&rows);
    return st;
}

enum sv_status store_curves_read(struct store *store, struct store_reading *reading, bool *out_done,
                                 struct sv_error *err)
{
    struct store_curves *curves = store_curves_of(store);
    struct store_curve_set *set = curves ? store_curves_lock(curves, reading->trial_id) : NULL;
    *out_done = false;
    if (!set) {
        return SV_OK;
    }
    struct tail tail = {
        .reading = reading, .set = set, .points_max = store_curves_points_max(curves)};
    bool kept = set->n > 0;
    enum sv_status st = store_run(store, "series_tail", tail_read, &tail, err);
    if (st == SV_OK && !tail.agrees && tail.running && kept) { /* of an earlier attempt */
        st = store_run(store, "series_tail", tail_read, &tail, err);
    }
    *out_done = st == SV_OK && tail.agrees;
    store_curves_unlock(curves, set);
    return st;
}
