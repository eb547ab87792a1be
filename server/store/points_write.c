/* SPDX-License-Identifier: MIT
 *
 * Writing of points. A batch becomes one chunk a metric (more when it is large); summaries are
 * merged here and written with it. A point is new when its step is beyond the last stored one of
 * its metric: so a batch that is sent again changes nothing, and no point can ever stand twice.
 */
#include <math.h>
#include <string.h>

#include "server/store/attempt_internal.h"

enum { CHUNK_POINTS = 8192, METRICS_MAX = 256, METRIC_BYTES = 63 };

/* Summaries of a trial's metrics as columns: those there are, then those that a batch adds. */
struct summaries {
    size_t n;
    const char *names[METRICS_MAX];
    int64_t counts[METRICS_MAX], last_steps[METRICS_MAX], min_steps[METRICS_MAX],
        max_steps[METRICS_MAX];
    double lasts[METRICS_MAX], mins[METRICS_MAX], maxs[METRICS_MAX]; /* no finite value: NaN */
    bool changed[METRICS_MAX];
};

/* The new points, metric by metric. */
struct batch {
    int64_t *steps;
    double *values;
    size_t n;
    const char **metrics;   /* of each chunk */
    int64_t *begins, *ends; /* first and last element, from 1 */
    double *lows, *highs;   /* smallest and largest finite value; NaN: there is none */
    int64_t *low_steps, *high_steps;
    size_t n_chunks;
};

static enum sv_status read_summaries(struct store_conn *conn, const struct store_claim *claim,
                                     struct store_memory *memory, struct summaries *s,
                                     struct sv_error *err)
{
    struct sql_params params = {0};
    struct sql_rows rows = {0};
    sql_text(&params, claim->trial_id);
    enum sv_status st = sql_run(conn,
                                "select metric, n, last, last_step, min, min_step, max, max_step"
                                " from metric_summary where trial_id = $1 limit 256",
                                &params, &rows, err);
    if (st != SV_OK) {
        return st;
    }
    for (int i = 0; i < rows.n && i < METRICS_MAX; i++) {
        struct sql_reader r = {.rows = &rows, .row = i, .memory = memory};
        s->names[i] = sql_read_text(&r);
        s->counts[i] = sql_read_int(&r);
        s->lasts[i] = sql_read_real(&r);
        s->last_steps[i] = sql_read_int(&r);
        s->mins[i] = sql_read_real(&r);
        s->min_steps[i] = sql_read_int(&r);
        s->maxs[i] = sql_read_real(&r);
        s->max_steps[i] = sql_read_int(&r);
        s->n++;
    }
    sql_rows_clear(&rows);
    return store_memory_check(memory, err);
}

/* The metric's place in the summaries; METRICS_MAX when there is no room. */
static size_t find_metric(struct summaries *s, const char *name)
{
    for (size_t i = 0; i < s->n; i++) {
        if (strcmp(s->names[i], name) == 0) {
            return i;
        }
    }
    if (s->n < METRICS_MAX) {
        s->names[s->n] = name;
        s->last_steps[s->n] = INT64_MIN;
        s->mins[s->n] = (double)NAN;
        s->maxs[s->n] = (double)NAN;
        return s->n++;
    }
    return METRICS_MAX;
}

/* NaN and infinities count and may be last, but never become an extreme. */
static void add_to_summary(struct summaries *s, size_t i, int64_t step, double value)
{
    s->counts[i]++;
    s->lasts[i] = value;
    s->last_steps[i] = step;
    s->changed[i] = true;
    if (!isfinite(value)) {
        return;
    }
    if (!(s->mins[i] <= value)) {
        s->mins[i] = value;
        s->min_steps[i] = step;
    }
    if (!(s->maxs[i] >= value)) {
        s->maxs[i] = value;
        s->max_steps[i] = step;
    }
}

static void begin_chunk(struct batch *batch, const char *metric)
{
    batch->metrics[batch->n_chunks] = metric;
    batch->begins[batch->n_chunks] = (int64_t)batch->n + 1;
    batch->lows[batch->n_chunks] = (double)NAN;
    batch->highs[batch->n_chunks] = (double)NAN;
    batch->n_chunks++;
}

static void add_to_chunk(struct batch *batch, int64_t step, double value)
{
    size_t last = batch->n_chunks - 1;
    batch->steps[batch->n] = step;
    batch->values[batch->n] = value;
    batch->ends[last] = (int64_t)++batch->n;
    if (isfinite(value) && !(batch->lows[last] <= value)) {
        batch->lows[last] = value;
        batch->low_steps[last] = step;
    }
    if (isfinite(value) && !(batch->highs[last] >= value)) {
        batch->highs[last] = value;
        batch->high_steps[last] = step;
    }
}

/* Moves the points of metric i that are new into the batch. */
static void take_metric(struct summaries *s, size_t i, const struct store_point *points, size_t n,
                        struct batch *batch)
{
    size_t in_chunk = CHUNK_POINTS;
    for (size_t k = 0; k < n; k++) {
        if (points[k].step <= s->last_steps[i] || strcmp(points[k].metric, s->names[i]) != 0) {
            continue;
        }
        if (in_chunk == CHUNK_POINTS) {
            begin_chunk(batch, s->names[i]);
            in_chunk = 0;
        }
        add_to_summary(s, i, points[k].step, points[k].value);
        add_to_chunk(batch, points[k].step, points[k].value);
        in_chunk++;
    }
}

static enum sv_status sort_points(struct summaries *s, const struct store_point *points, size_t n,
                                  struct store_memory *memory, struct batch *batch,
                                  struct sv_error *err)
{
    size_t chunks = METRICS_MAX + n / CHUNK_POINTS + 1;
    batch->steps = store_memory_array(memory, n, sizeof *batch->steps);
    batch->values = store_memory_array(memory, n, sizeof *batch->values);
    batch->metrics = store_memory_array(memory, chunks, sizeof *batch->metrics);
    batch->begins = store_memory_array(memory, chunks, sizeof *batch->begins);
    batch->ends = store_memory_array(memory, chunks, sizeof *batch->ends);
    batch->low_steps = store_memory_array(memory, chunks, sizeof *batch->low_steps);
    batch->high_steps = store_memory_array(memory, chunks, sizeof *batch->high_steps);
    batch->lows = store_memory_array(memory, chunks, sizeof *batch->lows);
    batch->highs = store_memory_array(memory, chunks, sizeof *batch->highs);
    if (memory->failed) {
        return store_memory_check(memory, err);
    }
    for (size_t k = 0; k < n; k++) {
        size_t length = strlen(points[k].metric);
        if (length < 1 || length > METRIC_BYTES ||
            find_metric(s, points[k].metric) == METRICS_MAX) {
            return sv_fail(err, SV_ERR_INVALID_FIELD,
                           "a metric's name is empty or too long, or there are more than %d",
                           METRICS_MAX);
        }
    }
    for (size_t i = 0; i < s->n; i++) {
        take_metric(s, i, points, n, batch);
    }
    return SV_OK;
}

static enum sv_status insert_chunks(struct store_conn *conn, const struct store_claim *claim,
                                    const struct batch *batch, struct sv_error *err)
{
    struct sql_params params = {0};
    sql_text(&params, claim->trial_id);
    sql_int(&params, claim->fence);
    sql_text(&params, claim->project_id);
    sql_int_array(&params, batch->steps, batch->n);
    sql_real_array(&params, batch->values, batch->n);
    sql_text_array(&params, batch->metrics, batch->n_chunks);
    sql_int_array(&params, batch->begins, batch->n_chunks);
    sql_int_array(&params, batch->ends, batch->n_chunks);
    sql_real_array(&params, batch->lows, batch->n_chunks);
    sql_int_array(&params, batch->low_steps, batch->n_chunks);
    sql_real_array(&params, batch->highs, batch->n_chunks);
    sql_int_array(&params, batch->high_steps, batch->n_chunks);
    return sql_run(conn,
                   "insert into metric_chunk (trial_id, fence, project_id, metric, first_step,"
                   " last_step, steps, vals, low, low_step, high, high_step) select $1, $2, $3,"
                   " x.metric, ($4::bigint[])[x.one], ($4::bigint[])[x.other],"
                   " ($4::bigint[])[x.one:x.other], ($5::float8[])[x.one:x.other], nullif(x.low,"
                   " 'NaN'), case when x.low <> 'NaN' then x.low_step end, nullif(x.high, 'NaN'),"
                   " case when x.high <> 'NaN' then x.high_step end from unnest($6::text[],"
                   " $7::bigint[], $8::bigint[], $9::float8[], $10::bigint[], $11::float8[],"
                   " $12::bigint[]) as x (metric, one, other, low, low_step, high, high_step)",
                   &params, NULL, err);
}

/* Keeps the changed summaries only. */
static void pack_changed(struct summaries *s)
{
    size_t n = 0;
    for (size_t i = 0; i < s->n; i++) {
        if (s->changed[i]) {
            s->names[n] = s->names[i];
            s->counts[n] = s->counts[i];
            s->lasts[n] = s->lasts[i];
            s->last_steps[n] = s->last_steps[i];
            s->mins[n] = s->mins[i];
            s->min_steps[n] = s->min_steps[i];
            s->maxs[n] = s->maxs[i];
            s->max_steps[n] = s->max_steps[i];
            n++;
        }
    }
    s->n = n;
}

static enum sv_status upsert_summaries(struct store_conn *conn, const struct store_claim *claim,
                                       struct summaries *s, struct sv_error *err)
{
    pack_changed(s);
    struct sql_params params = {0};
    sql_text(&params, claim->trial_id);
    sql_text(&params, claim->project_id);
    sql_text_array(&params, s->names, s->n);
    sql_int_array(&params, s->counts, s->n);
    sql_real_array(&params, s->lasts, s->n);
    sql_int_array(&params, s->last_steps, s->n);
    sql_real_array(&params, s->mins, s->n);
    sql_int_array(&params, s->min_steps, s->n);
    sql_real_array(&params, s->maxs, s->n);
    sql_int_array(&params, s->max_steps, s->n);
    return sql_run(
        conn,
        "insert into metric_summary (trial_id, project_id, metric, n, last, last_step, min,"
        " min_step, max, max_step) select $1, $2, x.metric, x.n, x.last, x.last_step,"
        " nullif(x.min, 'NaN'), case when x.min <> 'NaN' then x.min_step end, nullif(x.max, 'NaN'),"
        " case when x.max <> 'NaN' then x.max_step end from unnest($3::text[], $4::bigint[],"
        " $5::float8[], $6::bigint[], $7::float8[], $8::bigint[], $9::float8[], $10::bigint[]) as"
        " x (metric, n, last, last_step, min, min_step, max, max_step)"
        " on conflict (trial_id, metric) do update set n = excluded.n, last = excluded.last,"
        " last_step = excluded.last_step, min = excluded.min, min_step = excluded.min_step,"
        " max = excluded.max, max_step = excluded.max_step",
        &params, NULL, err);
}

enum sv_status store_points_write(struct store_conn *conn, const struct store_claim *claim,
                                  const struct store_point *points, size_t n, size_t *out_skipped,
                                  struct sv_error *err)
{
    struct store_memory memory = {0};
    struct batch batch = {0};
    struct summaries *s = store_memory_take(&memory, sizeof *s);
    enum sv_status st = store_memory_check(&memory, err);
    if (st == SV_OK) {
        st = read_summaries(conn, claim, &memory, s, err);
    }
    if (st == SV_OK) {
        st = sort_points(s, points, n, &memory, &batch, err);
    }
    if (st == SV_OK && batch.n > 0) {
        st = insert_chunks(conn, claim, &batch, err);
        if (st == SV_OK) {
            st = upsert_summaries(conn, claim, s, err);
        }
    }
    if (st == SV_OK) {
        *out_skipped = n - batch.n;
    }
    store_memory_clear(&memory);
    return st;
}
