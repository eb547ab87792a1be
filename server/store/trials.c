/* SPDX-License-Identifier: MIT
 *
 * Trials as people see them: shown, listed, annotated, their attempts. Verbs are in trial_apply.c.
 */
#include "server/store/trials.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "server/store/jobs.h"
#include "server/store/touch_internal.h"
#include "server/store/trial_internal.h"

bool store_state_is_final(const char *state)
{
    static const char *const finals[] = {"completed", "stopped", "cancelled", "failed"};
    for (size_t i = 0; i < sizeof finals / sizeof finals[0]; i++) {
        if (strcmp(finals[i], state) == 0) {
            return true;
        }
    }
    return false;
}

static void read_progress(struct sql_reader *r, struct store_trial *out)
{
    out->attempt = sql_read_int(r);
    out->max_attempts = sql_read_int(r);
    out->fence = sql_read_int(r);
    out->cancel_requested = sql_read_bool(r);
    out->stop_requested = sql_read_bool(r);
    out->pause_requested = sql_read_bool(r);
    out->step = sql_read_int(r);
    out->total_steps = sql_read_int(r);
    out->epoch = sql_read_int(r);
    out->phase = sql_read_text(r);
    out->checkpoint_step = sql_read_int(r);
}

void store_trial_read(struct sql_reader *r, void *row)
{
    struct store_trial *out = row;
    out->number = sql_read_int(r);
    sql_read_id(r, out->id);
    sql_read_id(r, out->job_id);
    out->job_number = sql_read_int(r);
    out->job_revision = sql_read_int(r);
    sql_read_id(r, out->dataset_id);
    out->kind = sql_read_text(r);
    out->index = sql_read_int(r);
    out->parameters = sql_read_text(r);
    out->seed = sql_read_seed(r);
    sql_read_digest(r, out->hash);
    sql_read_id(r, out->duplicate_of);
    sql_read_id(r, out->forked_from);
    out->forked_step = sql_read_int(r);
    out->notes = sql_read_text(r);
    out->labels = sql_read_text_array(r, &out->n_labels);
    out->discarded = sql_read_bool(r);
    out->held = sql_read_bool(r);
    out->chosen = sql_read_bool(r);
    out->state = sql_read_text(r);
    read_progress(r, out);
    out->headline_metric = sql_read_text(r);
    out->headline_value = sql_read_real(r);
    out->error_class = sql_read_text(r);
    out->error_text = sql_read_text(r);
    sql_read_time(r, out->created_at);
    sql_read_time(r, out->queued_at);
    sql_read_time(r, out->started_at);
    sql_read_time(r, out->finished_at);
    sql_read_time(r, out->progress_at);
    sql_read_time(r, out->heartbeat_at);
    out->seconds = sql_read_real(r);
}

static void read_whole(struct sql_reader *r, void *row)
{
    struct store_trial *out = row;
    store_trial_read(r, row);
    out->resolved = sql_read_text(r);
}

/* Larger is better or not: rank rises from the best to the worst. */
#define RANK(best, worst)                                                                          \
    "(r.headline_value * (select case j.headline_direction when 'higher' then " best               \
    " else " worst " end from job j where j.id = r.job_id))"

const struct store_order store_trial_orders[] = {
    [STORE_TRIALS_BY_INDEX] = {"r.number > $3", "r.number", "null"},
    [STORE_TRIALS_NEWEST] = {"r.number < $3", "r.number desc", "null"},
    [STORE_TRIALS_BEST] = STORE_ORDER_NULLABLE(RANK("-1", "1"), "float8"),
    [STORE_TRIALS_WORST] = STORE_ORDER_NULLABLE(RANK("1", "-1"), "float8"),
    [STORE_TRIALS_BY_STATE] = {"(r.state, r.number) > ($4, $3)", "r.state, r.number", "r.state"},
    [STORE_TRIALS_STARTED] = STORE_ORDER_NULLABLE("r.started_at", "timestamptz"),
    [STORE_TRIALS_FINISHED] = STORE_ORDER_NULLABLE("r.finished_at", "timestamptz"),
};

static const struct store_resource TRIALS = {
    .what = "trial",
    .table = "trial",
    .columns = STORE_TRIAL_COLUMNS,
    .joins = STORE_TRIAL_JOINS,
    .where = STORE_TRIAL_WHERE,
    .orders = store_trial_orders,
    .row = {sizeof(struct store_trial), store_trial_read},
    .more = ", r.resolved",
    .read_one = read_whole,
};

enum sv_status store_trial_get(struct store *store, const struct store_scope *scope, const char *id,
                               struct store_memory *memory, struct store_trial *out_trial,
                               struct sv_error *err)
{
    return store_one_read(store, &TRIALS, scope, id, memory, out_trial, err);
}

enum sv_status store_trials_read(struct store *store, const struct store_resource *resource,
                                 const struct store_scope *scope,
                                 const struct store_trial_filter *filter,
                                 const struct store_page *page, struct store_memory *memory,
                                 struct store_rows *out_rows, struct sv_error *err)
{
    char since[24];
    (void)snprintf(since, sizeof since, "%" PRId64, filter->changed_since);
    const char *const filters[] = {filter->job_id,
                                   filter->state,
                                   filter->dataset_id,
                                   filter->error_class,
                                   store_flag_filter(filter->discarded),
                                   filter->label,
                                   filter->changed_since > 0 ? since : NULL};
    struct store_listing listing = {scope, page, (int)filter->sort, STORE_FILTERS(filters)};
    return store_list_read(store, resource, &listing, memory, out_rows, err);
}

enum sv_status store_trials_list(struct store *store, const struct store_scope *scope,
                                 const struct store_trial_filter *filter,
                                 const struct store_page *page, struct store_memory *memory,
                                 struct store_trial_list *out_list, struct sv_error *err)
{
    struct store_rows found;
    enum sv_status st = store_trials_read(store, &TRIALS, scope, filter, page, memory, &found, err);
    if (st == SV_OK) {
        *out_list = (struct store_trial_list){found.rows, found.n, found.next};
    }
    return st;
}

enum sv_status store_trial_exists(struct store *store, const struct store_scope *scope,
                                  const char *trial_id, struct sv_error *err)
{
    enum sv_status st = store_id_check(trial_id, "trial", err);
    if (st != SV_OK) {
        return st;
    }
    struct sql_params params = {0};
    struct sql_rows rows = {0};
    sql_text(&params, trial_id);
    sql_text(&params, scope->project_id);
    st = store_query(store, "select 1 from trial where id = $1 and project_id = $2", &params, &rows,
                     err);
    if (st == SV_OK) {
        st = rows.n > 0 ? SV_OK : store_not_found("trial", err);
        sql_rows_clear(&rows);
    }
    return st;
}

/* ---- annotations ---- */

struct annotation {
    const struct store_scope *scope;
    const char *id;
    const struct store_trial_patch *patch;
};

static enum sv_status patch_tx(struct store_conn *conn, void *ctx, struct sv_error *err)
{
    const struct annotation *annotation = ctx;
    const struct store_trial_patch *patch = annotation->patch;
    struct sql_params params = {0};
    struct sql_rows rows = {0};
    sql_text(&params, annotation->id);
    sql_text(&params, annotation->scope->project_id);
    sql_text(&params, patch->notes);
    sql_text(&params, store_flag_filter(patch->discarded));
    if (patch->labels) {
        sql_text_array(&params, patch->labels, patch->n_labels);
    } else {
        sql_text(&params, NULL);
    }
    enum sv_status st = sql_run(conn,
                                "update trial set notes = coalesce($3, notes), discarded ="
                                " coalesce($4::boolean, discarded), labels = coalesce($5::text[],"
                                " labels) where id = $1 and"
                                " project_id = $2 returning job_id",
                                &params, &rows, err);
    if (st != SV_OK) {
        return st;
    }
    char job_id[SV_ID_SIZE] = "";
    struct sql_reader reader = {.rows = &rows};
    if (rows.n > 0) {
        sql_read_id(&reader, job_id);
    }
    sql_rows_clear(&rows);
    if (!job_id[0]) {
        return store_not_found("trial", err);
    }
    struct store_touch touch = {.job_id = job_id,
                                .trial_id = annotation->id,
                                .kind = "trial_edited",
                                .actor = annotation->scope->actor};
    return store_job_touch(conn, &touch, err);
}

enum sv_status store_trial_patch(struct store *store, const struct store_scope *scope,
                                 const char *id, const struct store_trial_patch *patch,
                                 struct sv_error *err)
{
    enum sv_status st = store_id_check(id, "trial", err);
    struct annotation annotation = {.scope = scope, .id = id, .patch = patch};
    return st == SV_OK ? store_tx_run(store, "trial_patch", patch_tx, &annotation, err) : st;
}

/* ---- forks ---- */

/* The row, if there is one, of trial, step and blob. */
static enum sv_status read_fork(struct store *store, const char *sql, struct sql_params *params,
                                bool *out_found, struct store_fork *out_fork, struct sv_error *err)
{
    struct sql_rows rows = {0};
    enum sv_status st = store_query(store, sql, params, &rows, err);
    if (st != SV_OK) {
        return st;
    }
    struct sql_reader r = {.rows = &rows};
    *out_found = rows.n > 0;
    if (*out_found) {
        sql_read_id(&r, out_fork->trial_id);
        out_fork->step = sql_read_int(&r);
        sql_read_id(&r, out_fork->blob.id);
        sql_read_digest(&r, out_fork->blob.sha256);
        out_fork->blob.size = sql_read_int(&r);
    }
    sql_rows_clear(&rows);
    return SV_OK;
}

enum sv_status store_fork_find(struct store *store, const struct store_scope *scope,
                               const char *trial_id, struct store_fork *out_fork,
                               struct sv_error *err)
{
    struct sql_params params = {0};
    bool found = false;
    enum sv_status st = store_trial_exists(store, scope, trial_id, err);
    if (st != SV_OK) {
        return st;
    }
    sql_text(&params, trial_id);
    st = read_fork(store,
                   "select k.trial_id, k.step, b.id, b.sha256, b.size from checkpoint k join blob b"
                   " on b.id = k.blob_id where k.trial_id = $1 order by k.step desc limit 1",
                   &params, &found, out_fork, err);
    return st == SV_OK && !found
               ? sv_fail(err, SV_ERR_WRONG_STATE, "no checkpoint of the trial is in the database")
               : st;
}

enum sv_status store_fork_get(struct store *store, const struct store_scope *scope, const char *id,
                              bool *out_is_fork, struct store_fork *out_fork, struct sv_error *err)
{
    struct sql_params params = {0};
    sql_text(&params, id);
    sql_text(&params, scope->project_id);
    return read_fork(store,
                     "select t.forked_from, t.forked_step, b.id, b.sha256, b.size from trial t join"
                     " blob b on b.id = t.start_blob_id where (t.id = $1 or t.job_id = $1) and"
                     " t.project_id = $2 order by t.idx limit 1",
                     &params, out_is_fork, out_fork, err);
}

/* ---- attempts ---- */

static void read_attempt(struct sql_reader *r, void *row)
{
    struct store_attempt *out = row;
    out->fence = sql_read_int(r);
    out->n = sql_read_int(r);
    sql_read_id(r, out->worker_id);
    out->host = sql_read_text(r);
    out->core_build = sql_read_text(r);
    out->core_type = sql_read_text(r);
    out->instruction_set = sql_read_text(r);
    out->libraries = sql_read_text(r);
    out->cpu = sql_read_text(r);
    out->threads = sql_read_int(r);
    sql_read_time(r, out->claimed_at);
    sql_read_time(r, out->ended_at);
    out->resumed_step = sql_read_int(r);
    out->bits_may_differ = sql_read_bool(r);
    out->outcome = sql_read_text(r);
    out->error_class = sql_read_text(r);
    out->error_text = sql_read_text(r);
}

enum sv_status store_attempts_list(struct store *store, const struct store_scope *scope,
                                   const char *trial_id, struct store_memory *memory,
                                   struct store_attempt_list *out_list, struct sv_error *err)
{
    enum sv_status st = store_trial_exists(store, scope, trial_id, err);
    if (st != SV_OK) {
        return st;
    }
    static const struct store_shape SHAPE = {sizeof(struct store_attempt), read_attempt};
    struct sql_params params = {0};
    struct store_rows found;
    sql_text(&params, trial_id);
    st = store_read_rows(
        store,
        "select a.fence, a.n, a.worker_id, w.host, a.core_build, a.core_type,"
        " a.instruction_set, a.libraries, a.cpu, a.threads, rfc3339(a.claimed_at),"
        " rfc3339(a.ended_at), coalesce(a.resumed_step, -1), a.bits_may_differ,"
        " a.outcome, a.error_class, a.error_text from attempt a"
        " join worker w on w.id = a.worker_id where a.trial_id = $1 order by a.fence",
        &params, &SHAPE, memory, &found, err);
    if (st == SV_OK) {
        *out_list = (struct store_attempt_list){found.rows, found.n};
    }
    return st;
}
