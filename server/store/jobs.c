/* SPDX-License-Identifier: MIT
 *
 * Jobs as people see them: shown, listed, edited, held. Submission is in job_submit.c, verbs in
 * trial_apply.c.
 */
#include "server/store/jobs.h"

#include <stdio.h>

#include "server/store/list_internal.h"
#include "server/store/touch_internal.h"

#define COLUMNS                                                                                    \
    "r.number, r.id, r.experiment_id, e.name, r.dataset_id, d.name, r.name, r.kind, r.notes, "     \
    "r.state, r.resolved #>> '{search,parameters}',"                                               \
    " r.headline_metric, r.headline_direction = 'higher', r.labels, r.priority, r.paused,"         \
    " r.archived, r.duplicate_of, r.trial_count, r.queued_count, r.running_count,"                 \
    " r.paused_count, r.completed_count, r.stopped_count, r.cancelled_count, r.failed_count,"      \
    " s.done, s.total, b.id, b.headline_value, r.revision, r.created_by, rfc3339(r.created_at),"   \
    " rfc3339(r.updated_at), rfc3339(r.started_at), rfc3339(r.finished_at)"

#define JOINS                                                                                      \
    " join dataset d on d.id = r.dataset_id left join experiment e on e.id = r.experiment_id"      \
    " left join lateral (select coalesce(sum(t.step), 0)::bigint as done,"                         \
    " case when bool_and(t.total_steps is not null) then sum(t.total_steps)::bigint end as total"  \
    " from trial t where t.job_id = r.id) s on true"                                               \
    " left join lateral (select t.id, t.headline_value from trial t where t.job_id = r.id and"     \
    " t.headline_value is not null and not t.discarded order by t.headline_value *"                \
    " case r.headline_direction when 'higher' then -1 else 1 end, t.idx limit 1) b on true"

static void read_counts(struct sql_reader *r, struct store_job *out)
{
    out->trial_count = sql_read_int(r);
    out->queued_count = sql_read_int(r);
    out->running_count = sql_read_int(r);
    out->paused_count = sql_read_int(r);
    out->completed_count = sql_read_int(r);
    out->stopped_count = sql_read_int(r);
    out->cancelled_count = sql_read_int(r);
    out->failed_count = sql_read_int(r);
    out->steps_done = sql_read_int(r);
    out->steps_total = sql_read_int(r);
}

static void read_job(struct sql_reader *r, void *row)
{
    struct store_job *out = row;
    out->number = sql_read_int(r);
    sql_read_id(r, out->id);
    sql_read_id(r, out->experiment_id);
    out->experiment_name = sql_read_text(r);
    sql_read_id(r, out->dataset_id);
    out->dataset_name = sql_read_text(r);
    out->name = sql_read_text(r);
    out->kind = sql_read_text(r);
    out->notes = sql_read_text(r);
    out->state = sql_read_text(r);
    out->parameters = sql_read_text(r);
    out->headline_metric = sql_read_text(r);
    out->headline_higher_is_better = sql_read_bool(r);
    out->labels = sql_read_text_array(r, &out->n_labels);
    out->priority = sql_read_int(r);
    out->paused = sql_read_bool(r);
    out->archived = sql_read_bool(r);
    sql_read_id(r, out->duplicate_of);
    read_counts(r, out);
    sql_read_id(r, out->best_trial_id);
    out->best_value = sql_read_real(r);
    out->revision = sql_read_int(r);
    out->created_by = sql_read_text(r);
    sql_read_time(r, out->created_at);
    sql_read_time(r, out->updated_at);
    sql_read_time(r, out->started_at);
    sql_read_time(r, out->finished_at);
}

static void read_whole(struct sql_reader *r, void *row)
{
    struct store_job *out = row;
    read_job(r, row);
    out->submitted = sql_read_text(r);
    out->resolved = sql_read_text(r);
    out->warnings = sql_read_text(r);
}

static const struct store_order ORDERS[] = {
    [STORE_JOBS_NEWEST] = {"r.number < $3", "r.number desc", "null"},
    [STORE_JOBS_OLDEST] = {"r.number > $3", "r.number", "null"},
    [STORE_JOBS_CHANGED] = {"(r.updated_at, r.number) < (($4::text)::timestamptz, $3)",
                            "r.updated_at desc, r.number desc", "r.updated_at"},
    [STORE_JOBS_BY_NAME] = {"(r.name, r.number) > ($4, $3)", "r.name, r.number", "r.name"},
};

#define FILTERS                                                                                    \
    "r.project_id = $1 and ($5::text is null or r.state = $5) and ($6::text is null or r.kind = "  \
    "$6)"                                                                                          \
    " and ($7::text is null or r.experiment_id = ($7::text)::uuid)"                                \
    " and ($8::text is null or r.dataset_id = ($8::text)::uuid)"                                   \
    " and ($9::text is null or r.labels @> array[$9]) and ($10::text is null or r.name ilike $10)" \
    " and ($11::boolean is null or r.archived = $11)"                                              \
    " and ($12::text is null or r.created_at >= ($12::text)::timestamptz)"                         \
    " and ($13::text is null or r.created_at < ($13::text)::timestamptz)"                          \
    " and ($14::text is null or r.number = ($14::text)::bigint)"

static const struct store_resource JOBS = {
    .what = "job",
    .table = "job",
    .columns = COLUMNS,
    .joins = JOINS,
    .where = FILTERS,
    .orders = ORDERS,
    .row = {sizeof(struct store_job), read_job},
    .more = ", r.submitted, r.resolved, r.warnings",
    .read_one = read_whole,
};

enum sv_status store_job_get(struct store *store, const struct store_scope *scope, const char *id,
                             struct store_memory *memory, struct store_job *out_job,
                             struct sv_error *err)
{
    return store_one_read(store, &JOBS, scope, id, memory, out_job, err);
}

enum sv_status store_jobs_list(struct store *store, const struct store_scope *scope,
                               const struct store_job_filter *filter, const struct store_page *page,
                               struct store_memory *memory, struct store_job_list *out_list,
                               struct sv_error *err)
{
    char number[24];
    (void)snprintf(number, sizeof number, "%lld", (long long)filter->number);
    const char *const filters[] = {filter->state,
                                   filter->kind,
                                   filter->experiment_id,
                                   filter->dataset_id,
                                   filter->label,
                                   store_search_pattern(memory, filter->search),
                                   store_flag_filter(filter->archived),
                                   filter->created_after,
                                   filter->created_before,
                                   filter->number > 0 ? number : NULL};
    struct store_listing listing = {scope, page, (int)filter->sort, STORE_FILTERS(filters)};
    struct store_rows found;
    enum sv_status st = store_list_read(store, &JOBS, &listing, memory, &found, err);
    if (st == SV_OK) {
        *out_list = (struct store_job_list){found.rows, found.n, found.next};
    }
    return st;
}

static void read_best(struct sql_reader *r, void *row)
{
    struct store_job_best *out = row;
    out->parameters = sql_read_text(r);
    sql_read_id(r, out->trial_id);
    out->value = sql_read_real(r);
}

static const char BESTS[] =
    "select distinct on (k.chosen) k.chosen::text, t.id, t.headline_value from trial t join job j "
    "on"
    " j.id = t.job_id cross join lateral (select coalesce(jsonb_object_agg(p.key, p.value), '{}')"
    " as chosen from json_each(t.parameters) p where p.key = any($3::text[])) k where"
    " j.id = $1 and j.project_id = $2 and t.headline_value is not null and not t.discarded order by"
    " k.chosen, t.headline_value * case j.headline_direction when 'higher' then -1 else 1 end,"
    " t.idx";

enum sv_status store_job_bests(struct store *store, const struct store_scope *scope, const char *id,
                               const char *const *parameters, size_t n, struct store_memory *memory,
                               struct store_job_best_list *out_list, struct sv_error *err)
{
    static const struct store_shape SHAPE = {sizeof(struct store_job_best), read_best};
    struct sql_params params = {0};
    struct store_rows found;
    enum sv_status st = store_id_check(id, "job", err);
    if (st != SV_OK) {
        return st;
    }
    sql_text(&params, id);
    sql_text(&params, scope->project_id);
    sql_text_array(&params, parameters, n);
    st = store_read_rows(store, BESTS, &params, &SHAPE, memory, &found, err);
    if (st == SV_OK) {
        *out_list = (struct store_job_best_list){found.rows, found.n};
    }
    return st;
}

/* ---- changing ---- */

struct change {
    const struct store_scope *scope;
    const char *id;
    const struct store_job_patch *patch; /* NULL: hold or let go */
    bool paused;
};

/* Why an update of the job met no row. */
static enum sv_status explain_miss(struct store_conn *conn, const struct change *change,
                                   struct sv_error *err)
{
    struct sql_params params = {0};
    struct sql_rows rows = {0};
    sql_text(&params, change->id);
    sql_text(&params, change->scope->project_id);
    enum sv_status st =
        sql_run(conn, "select 1 from job where id = $1 and project_id = $2", &params, &rows, err);
    if (st != SV_OK) {
        return st;
    }
    int n = rows.n;
    sql_rows_clear(&rows);
    return n > 0 ? sv_fail_parameter(err, SV_ERR_PRECONDITION, "If-Match",
                                     "the job has another revision now")
                 : store_not_found("job", err);
}

static enum sv_status patch_tx(struct store_conn *conn, void *ctx, struct sv_error *err)
{
    const struct change *change = ctx;
    const struct store_job_patch *patch = change->patch;
    struct sql_params params = {0};
    struct sql_rows rows = {0};
    sql_text(&params, change->id);
    sql_text(&params, change->scope->project_id);
    sql_text(&params, patch->name);
    sql_text(&params, patch->notes);
    if (patch->labels) {
        sql_text_array(&params, patch->labels, patch->n_labels);
    } else {
        sql_text(&params, NULL);
    }
    sql_text(&params, store_flag_filter(patch->archived));
    sql_int(&params, conn->repeated ? 0 : patch->if_revision);
    enum sv_status st = sql_run(conn,
                                "update job set name = coalesce($3, name), notes = coalesce($4,"
                                " notes), labels = coalesce($5::text[], labels), archived ="
                                " coalesce($6::boolean, archived) where id = $1 and"
                                " project_id = $2 and ($7::bigint = 0 or revision = $7)",
                                &params, &rows, err);
    if (st != SV_OK) {
        return st;
    }
    int affected = rows.affected;
    sql_rows_clear(&rows);
    if (affected == 0) {
        return explain_miss(conn, change, err);
    }
    struct store_touch touch = {
        .job_id = change->id, .kind = "job_edited", .actor = change->scope->actor};
    return store_job_touch(conn, &touch, err);
}

enum sv_status store_job_patch(struct store *store, const struct store_scope *scope, const char *id,
                               const struct store_job_patch *patch, struct sv_error *err)
{
    enum sv_status st = store_id_check(id, "job", err);
    struct change change = {.scope = scope, .id = id, .patch = patch};
    return st == SV_OK ? store_tx_run(store, "job_patch", patch_tx, &change, err) : st;
}

/* Trials first, then the job: the order of every transaction that locks both. A trial that is being
 * stopped goes on to its evaluation (trial_apply.c). */
static enum sv_status hold_tx(struct store_conn *conn, void *ctx, struct sv_error *err)
{
    const struct change *change = ctx;
    struct sql_params params = {0};
    struct sql_rows rows = {0};
    sql_text(&params, change->id);
    sql_text(&params, change->scope->project_id);
    sql_bool(&params, change->paused);
    enum sv_status st = sql_run(conn,
                                "update trial set held = $3 where job_id = $1 and project_id = $2"
                                " and held <> $3 and not ($3 and stop_requested_at is not null)",
                                &params, NULL, err);
    if (st != SV_OK) {
        return st;
    }
    sql_text(&params, change->id);
    sql_text(&params, change->scope->project_id);
    sql_bool(&params, change->paused);
    st = sql_run(conn, "update job set paused = $3 where id = $1 and project_id = $2", &params,
                 &rows, err);
    if (st != SV_OK) {
        return st;
    }
    int affected = rows.affected;
    sql_rows_clear(&rows);
    if (affected == 0) {
        return store_not_found("job", err);
    }
    struct store_touch touch = {.job_id = change->id,
                                .kind = change->paused ? "job_paused" : "job_resumed",
                                .actor = change->scope->actor,
                                .recount = true};
    return store_job_touch(conn, &touch, err);
}

enum sv_status store_job_hold(struct store *store, const struct store_scope *scope, const char *id,
                              bool paused, struct sv_error *err)
{
    enum sv_status st = store_id_check(id, "job", err);
    struct change change = {.scope = scope, .id = id, .paused = paused};
    return st == SV_OK ? store_tx_run(store, "job_hold", hold_tx, &change, err) : st;
}
