/* SPDX-License-Identifier: MIT
 *
 * What an ending trial leaves behind: evaluations with their figures, confusion matrices and
 * predictions; artefacts. Written in the transaction that ends the attempt.
 */
#include <math.h>

#include "server/store/attempt_internal.h"

enum { CHUNK_PREDICTIONS = 8192 };

static enum sv_status insert_evaluation(struct store_conn *conn, const struct store_claim *claim,
                                        const struct store_evaluation_new *evaluation,
                                        struct sv_error *err)
{
    struct sql_params params = {0};
    sql_text(&params, claim->trial_id);
    sql_text(&params, evaluation->part);
    sql_int(&params, claim->fence);
    sql_text(&params, claim->project_id);
    sql_int(&params, evaluation->sample_count);
    sql_text(&params, evaluation->document);
    return sql_run(conn,
                   "insert into evaluation (trial_id, part, fence, project_id, sample_count,"
                   " document) values ($1, $2, $3, $4, $5, $6)",
                   &params, NULL, err);
}

/* An interval that is not there travels as NaN. */
static enum sv_status insert_metrics(struct store_conn *conn, const struct store_claim *claim,
                                     const struct store_evaluation_new *evaluation,
                                     struct sv_error *err)
{
    size_t n = evaluation->n_metrics;
    struct sql_params params = {0};
    const char **names = store_memory_array(&params.memory, n, sizeof *names);
    double *values = store_memory_array(&params.memory, 3 * n, sizeof *values);
    int64_t *counts = store_memory_array(&params.memory, n, sizeof *counts);
    n = params.memory.failed ? 0 : n;
    for (size_t i = 0; i < n; i++) {
        const struct store_metric_value *metric = &evaluation->metrics[i];
        names[i] = metric->metric;
        values[i] = metric->value;
        values[n + i] = metric->has_interval ? metric->low : (double)NAN;
        values[2 * n + i] = metric->has_interval ? metric->high : (double)NAN;
        counts[i] = metric->n;
    }
    sql_text(&params, claim->trial_id);
    sql_text(&params, evaluation->part);
    sql_text(&params, claim->project_id);
    sql_text_array(&params, names, n);
    for (size_t column = 0; column < 3; column++) {
        sql_real_array(&params, n > 0 ? values + column * n : values, n);
    }
    sql_int_array(&params, counts, n);
    return sql_run(conn,
                   "insert into evaluation_metric (trial_id, part, project_id, metric, value, low,"
                   " high, n) select $1, $2, $3, x.metric, x.value, nullif(x.low, 'NaN'),"
                   " nullif(x.high, 'NaN'), x.n from unnest($4::text[], $5::float8[],"
                   " $6::float8[], $7::float8[], $8::bigint[]) as x (metric, value, low, high, n)",
                   &params, NULL, err);
}

static enum sv_status insert_matrix(struct store_conn *conn, const struct store_claim *claim,
                                    const struct store_evaluation_new *evaluation,
                                    struct sv_error *err)
{
    struct sql_params params = {0};
    sql_text(&params, claim->trial_id);
    sql_text(&params, evaluation->part);
    sql_text(&params, claim->project_id);
    sql_text_array(&params, evaluation->classes, evaluation->n_classes);
    sql_int_array(&params, evaluation->counts, evaluation->n_classes * evaluation->n_classes);
    return sql_run(conn,
                   "insert into confusion_matrix (trial_id, part, project_id, classes, counts)"
                   " values ($1, $2, $3, $4, $5)",
                   &params, NULL, err);
}

static enum sv_status insert_predictions(struct store_conn *conn, const struct store_claim *claim,
                                         const struct store_evaluation_new *evaluation,
                                         struct sv_error *err)
{
    const struct store_predictions *predictions = &evaluation->predictions;
    enum sv_status st = SV_OK;
    for (size_t at = 0; st == SV_OK && at < predictions->n; at += CHUNK_PREDICTIONS) {
        size_t left = predictions->n - at;
        size_t n = left < CHUNK_PREDICTIONS ? left : CHUNK_PREDICTIONS;
        struct sql_params params = {0};
        sql_text(&params, claim->trial_id);
        sql_text(&params, evaluation->part);
        sql_int(&params, (int64_t)(at / CHUNK_PREDICTIONS));
        sql_text(&params, claim->project_id);
        sql_int_array(&params, predictions->samples + at, n);
        sql_int4_array(&params, predictions->truths + at, n);
        sql_int4_array(&params, predictions->predicted + at, n);
        sql_float_array(&params, predictions->probabilities + at, n);
        st = sql_run(conn,
                     "insert into prediction_chunk (trial_id, part, n, project_id, samples, truths,"
                     " predicted, probabilities) values ($1, $2, $3, $4, $5, $6, $7, $8)",
                     &params, NULL, err);
    }
    return st;
}

static enum sv_status insert_artefact(struct store_conn *conn, const struct store_claim *claim,
                                      const struct store_artefact_new *artefact,
                                      struct sv_error *err)
{
    char id[SV_ID_SIZE];
    sv_id_make(id);
    struct sql_params params = {0};
    sql_text(&params, id);
    sql_text(&params, claim->trial_id);
    sql_text(&params, artefact->kind);
    sql_int(&params, claim->fence);
    sql_text(&params, claim->project_id);
    sql_text(&params, artefact->media_type);
    sql_text(&params, artefact->blob_id);
    sql_text(&params, artefact->detail);
    return sql_run(conn,
                   "insert into artefact (id, trial_id, kind, fence, project_id, media_type,"
                   " blob_id, detail) values ($1, $2, $3, $4, $5, $6, $7, $8)",
                   &params, NULL, err);
}

/* What a trial left before it was extended. $2: a profile comes too. */
static enum sv_status delete_former(struct store_conn *conn, const struct store_claim *claim,
                                    const struct store_ending *ending, struct sv_error *err)
{
    struct sql_params params = {0};
    sql_text(&params, claim->trial_id);
    sql_bool(&params, ending->profile != NULL);
    return sql_run(conn,
                   "with e as (delete from evaluation where trial_id = $1), a as (delete from"
                   " artefact where trial_id = $1) delete from step_profile where trial_id = $1"
                   " and $2::boolean",
                   &params, NULL, err);
}

enum sv_status store_evaluations_write(struct store_conn *conn, const struct store_claim *claim,
                                       const struct store_ending *ending, struct sv_error *err)
{
    enum sv_status st = ending->n_evaluations > 0 ? delete_former(conn, claim, ending, err) : SV_OK;
    for (size_t i = 0; st == SV_OK && i < ending->n_evaluations; i++) {
        const struct store_evaluation_new *evaluation = &ending->evaluations[i];
        st = insert_evaluation(conn, claim, evaluation, err);
        if (st == SV_OK) {
            st = insert_metrics(conn, claim, evaluation, err);
        }
        if (st == SV_OK && evaluation->counts) {
            st = insert_matrix(conn, claim, evaluation, err);
        }
        if (st == SV_OK) {
            st = insert_predictions(conn, claim, evaluation, err);
        }
        if (st == SV_OK) {
            st = store_sequence_predictions_write(conn, claim, evaluation->part,
                                                  &evaluation->sequences, err);
        }
    }
    for (size_t i = 0; st == SV_OK && i < ending->n_artefacts; i++) {
        st = insert_artefact(conn, claim, &ending->artefacts[i], err);
    }
    if (st == SV_OK && ending->profile) {
        st = store_profile_write(conn, claim, ending->profile, err);
    }
    return st;
}
