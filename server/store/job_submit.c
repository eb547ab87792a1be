/* SPDX-License-Identifier: MIT
 *
 * Submission: the job, its experiment and all its trials in one transaction, so that nobody ever
 * sees a job with half of its trials. Trial rows are the queue; the same transaction notifies.
 */
#include <stdlib.h>
#include <string.h>

#include "server/store/jobs.h"
#include "server/store/list_internal.h"
#include "server/store/touch_internal.h"

struct submission {
    const struct store_scope *scope;
    const struct store_job_new *job;
    const struct store_idempotency *idempotency;
    char id[SV_ID_SIZE];
    char experiment_id[SV_ID_SIZE]; /* "" = none */
    char (*trial_ids)[SV_ID_SIZE];
    struct store_created created;
};

/* What is said of an asset that the job cannot use. */
struct asset_words {
    const char *pointer, *none, *not_ready;
};

/* Runs a statement whose one row, if any, tells whether an asset is ready. */
static enum sv_status expect_ready(struct store_conn *conn, const char *sql,
                                   struct sql_params *params, const struct asset_words *words,
                                   struct sv_error *err)
{
    struct sql_rows rows = {0};
    enum sv_status st = sql_run(conn, sql, params, &rows, err);
    if (st != SV_OK) {
        return st;
    }
    struct sql_reader reader = {.rows = &rows};
    bool found = rows.n > 0;
    bool ready = found && sql_read_bool(&reader);
    sql_rows_clear(&rows);
    if (!found) {
        return sv_fail_at(err, SV_ERR_NOT_FOUND, words->pointer, "%s", words->none);
    }
    return ready ? SV_OK
                 : sv_fail_at(err, SV_ERR_WRONG_STATE, words->pointer, "%s", words->not_ready);
}

/* The data set is held against deletion until the transaction ends. */
static enum sv_status check_dataset(struct store_conn *conn, const struct submission *s,
                                    struct sv_error *err)
{
    static const struct asset_words WORDS = {"/dataset", "no such data set",
                                             "the data set is not ready"};
    struct sql_params params = {0};
    sql_text(&params, s->job->dataset_id);
    sql_text(&params, s->scope->project_id);
    return expect_ready(conn,
                        "select state = 'ready' from dataset where id = $1 and"
                        " project_id = $2 for key share",
                        &params, &WORDS, err);
}

static enum sv_status ensure_experiment(struct store_conn *conn, struct submission *s,
                                        struct sv_error *err)
{
    const char *name = s->job->experiment;
    s->experiment_id[0] = '\0';
    if (!name || !*name) {
        return SV_OK;
    }
    char id[SV_ID_SIZE];
    sv_id_make(id);
    struct sql_params params = {0};
    struct sql_rows rows = {0};
    sql_text(&params, id);
    sql_text(&params, s->scope->project_id);
    sql_text(&params, name);
    sql_text(&params, s->scope->actor);
    enum sv_status st = sql_run(conn,
                                "insert into experiment (id, project_id, name, created_by) values"
                                " ($1, $2, $3, $4) on conflict (project_id, name) do nothing",
                                &params, NULL, err);
    if (st != SV_OK) {
        return st;
    }
    sql_text(&params, s->scope->project_id);
    sql_text(&params, name);
    st = sql_run(conn, "select id from experiment where project_id = $1 and name = $2", &params,
                 &rows, err);
    if (st == SV_OK) {
        struct sql_reader reader = {.rows = &rows};
        if (rows.n > 0) {
            sql_read_id(&reader, s->experiment_id);
        }
        sql_rows_clear(&rows);
    }
    return st;
}

static enum sv_status insert_job(struct store_conn *conn, const struct submission *s,
                                 struct sv_error *err)
{
    const struct store_job_new *job = s->job;
    struct sql_params params = {0};
    sql_text(&params, s->id);
    sql_text(&params, s->scope->project_id);
    sql_text_or_null(&params, s->experiment_id);
    sql_text(&params, job->dataset_id);
    sql_text(&params, job->name);
    sql_text(&params, job->kind);
    sql_text(&params, job->submitted);
    sql_text(&params, job->resolved);
    sql_text(&params, job->hash);
    sql_text(&params, job->headline_metric);
    sql_text(&params, job->headline_higher_is_better ? "higher" : "lower");
    sql_text(&params, job->notes ? job->notes : "");
    sql_text_array(&params, job->labels, job->n_labels);
    sql_int(&params, job->priority);
    sql_text_or_null(&params, job->duplicate_of);
    sql_int(&params, (int64_t)job->n_trials);
    sql_text(&params, s->scope->actor);
    sql_text(&params, job->warnings ? job->warnings : "[]");
    return sql_run(conn,
                   "insert into job (id, project_id, experiment_id, dataset_id, name, kind,"
                   " submitted, resolved, hash, headline_metric, headline_direction, notes,"
                   " labels, priority, duplicate_of, trial_count, created_by, warnings) values ($1,"
                   " $2, $3, $4, $5, $6, $7, $8, decode($9, 'hex'), $10, $11, $12, $13, $14, $15,"
                   " $16, $17, $18)",
                   &params, NULL, err);
}

/* The weights are held against deletion until the transaction ends, then by what refers to them. */
static enum sv_status insert_weights(struct store_conn *conn, const struct submission *s, size_t i,
                                     struct sv_error *err)
{
    const struct store_job_weights *weights = &s->job->weights[i];
    static const struct asset_words WORDS = {"/weights", "no such weights",
                                             "the weights are not ready"};
    struct sql_params params = {0};
    sql_text(&params, s->id);
    sql_text(&params, weights->network);
    sql_text(&params, weights->weights_id);
    sql_text(&params, s->scope->project_id);
    return expect_ready(
        conn,
        "with w as materialized (select id, state from weights where id = $3 and project_id = $4"
        " for key share), i as (insert into job_weights (job_id, network, weights_id, project_id)"
        " select $1, $2, w.id, $4 from w where w.state = 'ready') select state = 'ready' from w",
        &params, &WORDS, err);
}

/* One column of the trials as an array parameter. */
typedef const char *(*trial_text_fn)(const struct submission *s, size_t i);
static const char *trial_id(const struct submission *s, size_t i)
{
    return s->trial_ids[i];
}
static const char *trial_parameters(const struct submission *s, size_t i)
{
    return s->job->trials[i].parameters;
}
static const char *trial_resolved(const struct submission *s, size_t i)
{
    return s->job->trials[i].resolved;
}
static const char *trial_hash(const struct submission *s, size_t i)
{
    return s->job->trials[i].resolved ? s->job->trials[i].hash : NULL;
}

static void add_texts(struct sql_params *params, const struct submission *s, trial_text_fn text)
{
    size_t n = s->job->n_trials;
    const char **texts = store_memory_array(&params->memory, n, sizeof *texts);
    for (size_t i = 0; texts && i < n; i++) {
        texts[i] = text(s, i);
    }
    if (texts) {
        sql_text_array(params, texts, n);
    }
}

/* Seeds are unsigned: they travel as the bigint of the same bits. */
static void add_numbers(struct sql_params *params, const struct submission *s)
{
    size_t n = s->job->n_trials;
    int64_t *numbers = store_memory_array(&params->memory, 3 * n, sizeof *numbers);
    for (size_t i = 0; numbers && i < n; i++) {
        numbers[i] = (int64_t)s->job->trials[i].seed;
        numbers[n + i] = s->job->trials[i].max_attempts;
        numbers[2 * n + i] = s->job->trials[i].total_steps;
    }
    for (size_t column = 0; numbers && column < 3; column++) {
        sql_int_array(params, numbers + column * n, n);
    }
}

static enum sv_status insert_trials(struct store_conn *conn, const struct submission *s,
                                    struct sv_error *err)
{
    const struct store_fork *fork = s->job->fork;
    struct sql_params params = {0};
    sql_text(&params, s->scope->project_id);
    sql_text(&params, s->id);
    sql_int(&params, s->job->priority);
    add_texts(&params, s, trial_id);
    add_texts(&params, s, trial_parameters);
    add_texts(&params, s, trial_resolved);
    add_texts(&params, s, trial_hash);
    add_numbers(&params, s);
    sql_text(&params, s->job->duplicate_of_trial);
    sql_text(&params, fork ? fork->trial_id : NULL);
    if (fork) {
        sql_int(&params, fork->step);
    } else {
        sql_text(&params, NULL);
    }
    sql_text(&params, fork ? fork->blob.id : NULL);
    return sql_run(
        conn,
        "insert into trial (project_id, job_id, priority, idx, id, parameters, resolved, hash,"
        " seed, max_attempts, total_steps, chosen, duplicate_of, forked_from, forked_step,"
        " start_blob_id) select $1, $2, $3, x.idx, x.id::uuid, x.parameters::json,"
        " coalesce(x.resolved, '{}')::json, coalesce(decode(x.hash, 'hex'), sha256('{}')),"
        " case when x.seed < 0 then x.seed + 18446744073709551616::numeric else x.seed end,"
        " x.max_attempts, nullif(x.total_steps, 0), x.resolved is not null, $11::uuid, $12::uuid,"
        " $13::bigint, $14::uuid from unnest($4, $5, $6, $7, $8, $9, $10) with ordinality as"
        " x (id, parameters, resolved, hash, seed, max_attempts, total_steps, idx) order by x.idx",
        &params, NULL, err);
}

static enum sv_status submit_tx(struct store_conn *conn, void *ctx, struct sv_error *err)
{
    struct submission *s = ctx;
    bool done = false;
    struct store_creation creation = {.project_id = s->scope->project_id,
                                      .idempotency = s->idempotency,
                                      .resource = "job",
                                      .exists = "select 1 from job where id = $1",
                                      .new_id = s->id};
    enum sv_status st = store_create_begin(conn, &creation, &s->created, &done, err);
    if (st != SV_OK || done) {
        return st;
    }
    st = check_dataset(conn, s, err);
    if (st == SV_OK) {
        st = ensure_experiment(conn, s, err);
    }
    if (st == SV_OK) {
        st = insert_job(conn, s, err);
    }
    for (size_t i = 0; st == SV_OK && i < s->job->n_weights; i++) {
        st = insert_weights(conn, s, i, err);
    }
    if (st == SV_OK) {
        st = insert_trials(conn, s, err);
    }
    struct store_touch touch = {
        .job_id = s->id, .kind = "job_submitted", .actor = s->scope->actor, .recount = true};
    return st == SV_OK ? store_job_touch(conn, &touch, err) : st;
}

enum sv_status store_job_submit(struct store *store, const struct store_scope *scope,
                                const struct store_job_new *job,
                                const struct store_idempotency *idempotency,
                                struct store_created *out_created, struct sv_error *err)
{
    struct submission s = {.scope = scope, .job = job, .idempotency = idempotency};
    if (!sv_id_is_valid(job->dataset_id)) {
        return sv_fail_at(err, SV_ERR_NOT_FOUND, "/dataset", "no such data set");
    }
    s.trial_ids = calloc(job->n_trials, sizeof *s.trial_ids);
    if (!s.trial_ids) {
        return sv_fail(err, SV_ERR_INTERNAL, "out of memory");
    }
    sv_id_make(s.id);
    for (size_t i = 0; i < job->n_trials; i++) {
        sv_id_make(s.trial_ids[i]);
    }
    enum sv_status st = store_tx_run(store, "job_submit", submit_tx, &s, err);
    free(s.trial_ids);
    if (st == SV_OK) {
        *out_created = s.created;
    }
    return st;
}
