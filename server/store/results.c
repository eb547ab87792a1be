/* SPDX-License-Identifier: MIT
 *
 * Evaluations, confusion matrices, results tables and artefacts as they are read.
 */
#include "server/store/results.h"

#include "server/store/trial_internal.h"

/* train, validation, test: the order in which parts are shown. */
#define PART_ORDER(column) "array_position(array['train', 'validation', 'test'], " column ")"

enum sv_status store_evaluations_list(struct store *store, const struct store_scope *scope,
                                      const char *trial_id, struct store_memory *memory,
                                      struct store_evaluation_list *out_list, struct sv_error *err)
{
    enum sv_status st = store_trial_exists(store, scope, trial_id, err);
    if (st != SV_OK) {
        return st;
    }
    struct sql_params params = {0};
    struct sql_rows rows = {0};
    struct store_evaluation_list list = {0};
    sql_text(&params, trial_id);
    st = store_query(store,
                     "select part, sample_count, document, rfc3339(created_at) from evaluation"
                     " where trial_id = $1 order by " PART_ORDER("part"),
                     &params, &rows, err);
    if (st != SV_OK) {
        return st;
    }
    list.rows = store_memory_array(memory, (size_t)rows.n, sizeof *list.rows);
    for (int i = 0; list.rows && i < rows.n; i++) {
        struct sql_reader r = {.rows = &rows, .row = i, .memory = memory};
        list.rows[i].part = sql_read_text(&r);
        list.rows[i].sample_count = sql_read_int(&r);
        list.rows[i].document = sql_read_text(&r);
        sql_read_time(&r, list.rows[i].created_at);
        list.n++;
    }
    sql_rows_clear(&rows);
    st = store_memory_check(memory, err);
    if (st == SV_OK) {
        *out_list = list;
    }
    return st;
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
    struct sql_params params = {0};
    struct sql_rows rows = {0};
    struct store_confusion confusion = {0};
    sql_text(&params, trial_id);
    sql_text(&params, part);
    st = store_query(
        store, "select classes, counts from confusion_matrix where trial_id = $1 and part = $2",
        &params, &rows, err);
    if (st != SV_OK) {
        return st;
    }
    if (rows.n > 0) {
        struct sql_reader r = {.rows = &rows, .memory = memory};
        size_t n = 0;
        confusion.classes = sql_read_text_array(&r, &confusion.n_classes);
        confusion.counts = sql_read_int_array(&r, &n);
        st = store_memory_check(memory, err);
    } else {
        st = store_not_found("confusion matrix: the part has not been evaluated", err);
    }
    sql_rows_clear(&rows);
    if (st == SV_OK) {
        *out_confusion = confusion;
    }
    return st;
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

static void read_result(struct sql_reader *r, struct store_result *out)
{
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

enum sv_status store_results_list(struct store *store, const struct store_scope *scope,
                                  const struct store_trial_filter *filter,
                                  const struct store_page *page, struct store_memory *memory,
                                  struct store_result_list *out_list, struct sv_error *err)
{
    struct sql_rows rows = {0};
    struct store_result_list list = {0};
    struct store_trial_query query = {.scope = scope,
                                      .filter = filter,
                                      .page = page,
                                      .columns = METRIC_COLUMNS,
                                      .joins = METRIC_JOINS};
    enum sv_status st = store_id_check(filter->job_id, "job", err);
    if (st == SV_OK) {
        st = store_trials_query(store, &query, memory, &rows, &list.n, &list.next, err);
    }
    if (st != SV_OK) {
        return st;
    }
    list.rows = store_memory_array(memory, list.n, sizeof *list.rows);
    for (size_t i = 0; list.rows && i < list.n; i++) {
        struct sql_reader reader = {.rows = &rows, .row = (int)i, .memory = memory};
        list.rows[i].trial.number = sql_read_int(&reader);
        sql_skip(&reader);
        read_result(&reader, &list.rows[i]);
    }
    sql_rows_clear(&rows);
    st = store_memory_check(memory, err);
    if (st == SV_OK) {
        *out_list = list;
    }
    return st;
}

enum sv_status store_artefacts_list(struct store *store, const struct store_scope *scope,
                                    const char *trial_id, struct store_memory *memory,
                                    struct store_artefact_list *out_list, struct sv_error *err)
{
    enum sv_status st = store_trial_exists(store, scope, trial_id, err);
    if (st != SV_OK) {
        return st;
    }
    struct sql_params params = {0};
    struct sql_rows rows = {0};
    struct store_artefact_list list = {0};
    sql_text(&params, trial_id);
    st = store_query(store,
                     "select a.id, a.kind, a.media_type, a.detail, b.id, b.sha256, b.size,"
                     " rfc3339(a.created_at) from artefact a join blob b on b.id = a.blob_id"
                     " where a.trial_id = $1 order by a.kind",
                     &params, &rows, err);
    if (st != SV_OK) {
        return st;
    }
    list.rows = store_memory_array(memory, (size_t)rows.n, sizeof *list.rows);
    for (int i = 0; list.rows && i < rows.n; i++) {
        struct sql_reader r = {.rows = &rows, .row = i, .memory = memory};
        struct store_artefact *artefact = &list.rows[i];
        sql_read_id(&r, artefact->id);
        artefact->kind = sql_read_text(&r);
        artefact->media_type = sql_read_text(&r);
        artefact->detail = sql_read_text(&r);
        sql_read_id(&r, artefact->blob.id);
        sql_read_digest(&r, artefact->blob.sha256);
        artefact->blob.size = sql_read_int(&r);
        sql_read_time(&r, artefact->created_at);
        list.n++;
    }
    sql_rows_clear(&rows);
    st = store_memory_check(memory, err);
    if (st == SV_OK) {
        *out_list = list;
    }
    return st;
}
