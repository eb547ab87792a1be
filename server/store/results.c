/* SPDX-License-Identifier: MIT
 *
 * Evaluations, confusion matrices, results tables and artefacts as they are read.
 */
#include "server/store/results.h"

#include "server/store/trial_internal.h"

/* train, validation, test: the order in which parts are shown. */
#define PART_ORDER(column) "array_position(array['train', 'validation', 'test'], " column ")"

/* What stands below a trial: $1 is its id. */
static enum sv_status read_below(struct store *store, const struct store_scope *scope,
                                 const char *trial_id, const char *sql,
                                 const struct store_shape *shape, struct store_memory *memory,
                                 struct store_rows *out_rows, struct sv_error *err)
{
    struct sql_params params = {0};
    enum sv_status st = store_trial_exists(store, scope, trial_id, err);
    if (st != SV_OK) {
        return st;
    }
    sql_text(&params, trial_id);
    return store_read_rows(store, sql, &params, shape, memory, out_rows, err);
}

static void read_evaluation(struct sql_reader *r, void *row)
{
    struct store_evaluation *out = row;
    out->part = sql_read_text(r);
    out->sample_count = sql_read_int(r);
    out->document = sql_read_text(r);
    sql_read_time(r, out->created_at);
}

enum sv_status store_evaluations_list(struct store *store, const struct store_scope *scope,
                                      const char *trial_id, struct store_memory *memory,
                                      struct store_evaluation_list *out_list, struct sv_error *err)
{
    static const struct store_shape SHAPE = {sizeof(struct store_evaluation), read_evaluation};
    struct store_rows found;
    enum sv_status st =
        read_below(store, scope, trial_id,
                   "select part, sample_count, document, rfc3339(created_at) from evaluation"
                   " where trial_id = $1 order by " PART_ORDER("part"),
                   &SHAPE, memory, &found, err);
    if (st == SV_OK) {
        *out_list = (struct store_evaluation_list){found.rows, found.n};
    }
    return st;
}

static void read_task(struct sql_reader *r, void *row)
{
    const char **out = row;
    *out = sql_read_text(r);
}

/* SV_ERR_NOT_FOUND with the parts that there are. */
static enum sv_status say_parts(struct store *store, const char *trial_id, const char *part,
                                struct store_memory *memory, struct sv_error *err)
{
    static const struct store_shape SHAPE = {sizeof(const char *), read_task};
    struct sql_params params = {0};
    const char *parts = NULL;
    sql_text(&params, trial_id);
    enum sv_status st = store_read_row(store,
                                       "select coalesce(string_agg(part, ', ' order by " PART_ORDER(
                                           "part") "), '') from"
                                                   " evaluation where trial_id = $1",
                                       &params, &SHAPE, "trial", memory, (void *)&parts, err);
    if (st != SV_OK) {
        return st;
    }
    return sv_fail(err, SV_ERR_NOT_FOUND, "the %s part has not been evaluated; %s%s", part,
                   parts[0] ? "evaluated are: " : "no part has", parts);
}

enum sv_status store_evaluation_task(struct store *store, const struct store_scope *scope,
                                     const char *trial_id, const char *part,
                                     struct store_memory *memory, const char **out_task,
                                     struct sv_error *err)
{
    static const struct store_shape SHAPE = {sizeof(const char *), read_task};
    struct sql_params params = {0};
    enum sv_status st = store_trial_exists(store, scope, trial_id, err);
    if (st != SV_OK) {
        return st;
    }
    sql_text(&params, trial_id);
    sql_text(&params, part);
    st = store_read_row(store,
                        "select coalesce(document ->> 'task', 'classification') from evaluation"
                        " where trial_id = $1 and part = $2",
                        &params, &SHAPE, "evaluation", memory, (void *)out_task, err);
    return st == SV_ERR_NOT_FOUND ? say_parts(store, trial_id, part, memory, err) : st;
}

static void read_confusion(struct sql_reader *r, void *row)
{
    struct store_confusion *out = row;
    size_t n = 0;
    out->classes = sql_read_text_array(r, &out->n_classes);
    out->counts = sql_read_int_array(r, &n);
    out->samples = sql_read_int(r);
}

enum sv_status store_confusion_get(struct store *store, const struct store_scope *scope,
                                   const char *trial_id, const char *part,
                                   struct store_memory *memory,
                                   struct store_confusion *out_confusion, struct sv_error *err)
{
    enum sv_status st = store_trial_exists(store, scope, trial_id, err);
    if (st != SV_OK) {
        return st;
    }
    static const struct store_shape SHAPE = {sizeof(struct store_confusion), read_confusion};
    struct sql_params params = {0};
    sql_text(&params, trial_id);
    sql_text(&params, part);
    return store_read_row(
        store,
        "select m.classes, m.counts, e.sample_count from confusion_matrix m join evaluation e"
        " using (trial_id, part) where m.trial_id = $1 and m.part = $2",
        &params, &SHAPE, "confusion matrix: the part has not been evaluated", memory, out_confusion,
        err);
}

/* ---- results table ---- */

/* The figures of one trial as arrays of equal order. */
#define METRIC_COLUMNS                                                                             \
    STORE_TRIAL_COLUMNS ", m.parts, m.metrics, m.vals, m.lows, m.highs, m.ns, l.last"
#define METRIC_JOINS                                                                               \
    STORE_TRIAL_JOINS                                                                              \
    " left join lateral (select array_agg(m.part order by m.o, m.metric) as parts,"                \
    " array_agg(m.metric order by m.o, m.metric) as metrics,"                                      \
    " array_agg(m.value order by m.o, m.metric) as vals,"                                          \
    " array_agg(coalesce(m.low, 'NaN') order by m.o, m.metric) as lows,"                           \
    " array_agg(coalesce(m.high, 'NaN') order by m.o, m.metric) as highs,"                         \
    " array_agg(m.n order by m.o, m.metric) as ns from (select e.*, " PART_ORDER(                  \
        "e.part") " as o from evaluation_metric e where e.trial_id = r.id) m) m on true"           \
                  " left join metric_summary l on l.trial_id = r.id and l.metric = "               \
                  "'training_loss'"

static void read_result(struct sql_reader *r, void *row)
{
    struct store_result *out = row;
    size_t n[6];
    store_trial_read(r, &out->trial);
    const char **parts = sql_read_text_array(r, &n[0]);
    const char **metrics = sql_read_text_array(r, &n[1]);
    double *values = sql_read_real_array(r, &n[2]);
    double *lows = sql_read_real_array(r, &n[3]);
    double *highs = sql_read_real_array(r, &n[4]);
    int64_t *counts = sql_read_int_array(r, &n[5]);
    out->last_training_loss = sql_read_real(r);
    if (r->memory->failed || n[1] != n[0] || n[2] != n[0] || n[3] != n[0] || n[4] != n[0] ||
        n[5] != n[0]) {
        return;
    }
    out->metrics = store_memory_array(r->memory, n[0], sizeof *out->metrics);
    for (size_t i = 0; out->metrics && i < n[0]; i++) {
        out->metrics[i] = (struct store_result_metric){.part = parts[i],
                                                       .metric = metrics[i],
                                                       .value = values[i],
                                                       .low = lows[i],
                                                       .high = highs[i],
                                                       .n = counts[i]};
        out->n_metrics = i + 1;
    }
}

static const struct store_resource RESULTS = {
    .what = "trial",
    .table = "trial",
    .columns = METRIC_COLUMNS,
    .joins = METRIC_JOINS,
    .where = STORE_TRIAL_WHERE,
    .orders = store_trial_orders,
    .row = {sizeof(struct store_result), read_result},
    .read_one = read_result,
};

enum sv_status store_results_list(struct store *store, const struct store_scope *scope,
                                  const struct store_trial_filter *filter,
                                  const struct store_page *page, struct store_memory *memory,
                                  struct store_result_list *out_list, struct sv_error *err)
{
    struct store_rows found;
    enum sv_status st = store_id_check(filter->job_id, "job", err);
    if (st == SV_OK) {
        st = store_trials_read(store, &RESULTS, scope, filter, page, memory, &found, err);
    }
    if (st == SV_OK) {
        *out_list = (struct store_result_list){found.rows, found.n, found.next};
    }
    return st;
}

static void read_failed(struct sql_reader *r, void *row)
{
    struct store_failed_metric *out = row;
    sql_read_id(r, out->trial_id);
    out->part = sql_read_text(r);
    out->metric = sql_read_text(r);
    out->text = sql_read_text(r);
}

enum sv_status store_failed_metrics_list(struct store *store, const struct store_scope *scope,
                                         const char *job_id, const char *trial_id,
                                         struct store_memory *memory,
                                         struct store_failed_metric_list *out_list,
                                         struct sv_error *err)
{
    static const struct store_shape SHAPE = {sizeof(struct store_failed_metric), read_failed};
    struct sql_params params = {0};
    struct store_rows found;
    sql_text(&params, job_id);
    sql_text_or_null(&params, trial_id ? trial_id : "");
    sql_text(&params, scope->project_id);
    enum sv_status st = store_read_rows(
        store,
        "select t.id, e.part, m.item ->> 'name', m.item ->> 'error' from trial t join evaluation e"
        " on e.trial_id = t.id cross join lateral json_array_elements(e.document ->"
        " 'custom_metrics') with ordinality as m (item, place) where t.job_id = $1 and"
        " ($2::uuid is null or t.id = $2) and t.project_id = $3 and m.item ->> 'error' is not null"
        " order by t.idx, " PART_ORDER("e.part") ", m.place",
        &params, &SHAPE, memory, &found, err);
    if (st == SV_OK) {
        *out_list = (struct store_failed_metric_list){found.rows, found.n};
    }
    return st;
}

static void read_artefact(struct sql_reader *r, void *row)
{
    struct store_artefact *out = row;
    sql_read_id(r, out->id);
    out->kind = sql_read_text(r);
    out->media_type = sql_read_text(r);
    out->detail = sql_read_text(r);
    sql_read_id(r, out->blob.id);
    sql_read_digest(r, out->blob.sha256);
    out->blob.size = sql_read_int(r);
    sql_read_time(r, out->created_at);
}

enum sv_status store_artefacts_list(struct store *store, const struct store_scope *scope,
                                    const char *trial_id, struct store_memory *memory,
                                    struct store_artefact_list *out_list, struct sv_error *err)
{
    static const struct store_shape SHAPE = {sizeof(struct store_artefact), read_artefact};
    struct store_rows found;
    enum sv_status st =
        read_below(store, scope, trial_id,
                   "select a.id, a.kind, a.media_type, a.detail, b.id, b.sha256, b.size,"
                   " rfc3339(a.created_at) from artefact a join blob b on b.id = a.blob_id"
                   " where a.trial_id = $1 order by a.kind",
                   &SHAPE, memory, &found, err);
    if (st == SV_OK) {
        *out_list = (struct store_artefact_list){found.rows, found.n};
    }
    return st;
}
