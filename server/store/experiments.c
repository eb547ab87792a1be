/* SPDX-License-Identifier: MIT
 *
 * Experiments.
 */
#include "server/store/experiments.h"

#include "server/store/list_internal.h"

#define COLUMNS                                                                                    \
    "r.number, r.id, r.name, r.notes, r.created_by, rfc3339(r.created_at), c.jobs, c.trials, "     \
    "c.completed,"                                                                                 \
    " rfc3339(c.last_at)"
#define JOINS                                                                                      \
    " left join lateral (select count(*) as jobs, coalesce(sum(j.trial_count), 0)::bigint as"      \
    " trials, coalesce(sum(j.completed_count), 0)::bigint as completed, max(j.created_at) as"      \
    " last_at from job j where j.experiment_id = r.id) c on true"

static void read_experiment(struct sql_reader *r, void *row)
{
    struct store_experiment *out = row;
    out->number = sql_read_int(r);
    sql_read_id(r, out->id);
    out->name = sql_read_text(r);
    out->notes = sql_read_text(r);
    out->created_by = sql_read_text(r);
    sql_read_time(r, out->created_at);
    out->job_count = sql_read_int(r);
    out->trial_count = sql_read_int(r);
    out->completed_count = sql_read_int(r);
    sql_read_time(r, out->last_job_at);
}

struct create {
    const struct store_scope *scope;
    const char *name, *notes;
    const struct store_idempotency *idempotency;
    char id[SV_ID_SIZE];
    struct store_created created;
};

static enum sv_status name_taken(struct sv_error *err)
{
    return sv_fail_at(err, SV_ERR_CONFLICT, "/name", "an experiment of this name exists already");
}

static enum sv_status create_tx(struct store_conn *conn, void *ctx, struct sv_error *err)
{
    struct create *create = ctx;
    bool done = false;
    struct store_creation creation = {.project_id = create->scope->project_id,
                                      .idempotency = create->idempotency,
                                      .resource = "experiment",
                                      .exists = "select 1 from experiment where id = $1",
                                      .new_id = create->id};
    enum sv_status st = store_create_begin(conn, &creation, &create->created, &done, err);
    if (st != SV_OK || done) {
        return st;
    }
    struct sql_params params = {0};
    sql_text(&params, create->id);
    sql_text(&params, create->scope->project_id);
    sql_text(&params, create->name);
    sql_text(&params, create->notes ? create->notes : "");
    sql_text(&params, create->scope->actor);
    st = sql_run(conn,
                 "insert into experiment (id, project_id, name, notes, created_by) values"
                 " ($1, $2, $3, $4, $5)",
                 &params, NULL, err);
    return st == SV_ERR_CONFLICT ? name_taken(err) : st;
}

enum sv_status store_experiment_create(struct store *store, const struct store_scope *scope,
                                       const char *name, const char *notes,
                                       const struct store_idempotency *idempotency,
                                       struct store_created *out_created, struct sv_error *err)
{
    struct create create = {
        .scope = scope, .name = name, .notes = notes, .idempotency = idempotency};
    sv_id_make(create.id);
    enum sv_status st = store_tx_run(store, "experiment_create", create_tx, &create, err);
    if (st == SV_OK) {
        *out_created = create.created;
    }
    return st;
}

static const struct store_order NEWEST = {"r.number < $3", "r.number desc", "null"};

static const struct store_resource EXPERIMENTS = {
    .what = "experiment",
    .table = "experiment",
    .columns = COLUMNS,
    .joins = JOINS,
    .where = "r.project_id = $1 and ($5::text is null or r.name ilike $5)",
    .orders = &NEWEST,
    .row = {sizeof(struct store_experiment), read_experiment},
    .read_one = read_experiment,
};

enum sv_status store_experiment_get(struct store *store, const struct store_scope *scope,
                                    const char *id, struct store_memory *memory,
                                    struct store_experiment *out_experiment, struct sv_error *err)
{
    return store_one_read(store, &EXPERIMENTS, scope, id, memory, out_experiment, err);
}

enum sv_status store_experiments_list(struct store *store, const struct store_scope *scope,
                                      const char *search, const struct store_page *page,
                                      struct store_memory *memory,
                                      struct store_experiment_list *out_list, struct sv_error *err)
{
    const char *const filters[] = {store_search_pattern(memory, search)};
    struct store_listing listing = {scope, page, 0, STORE_FILTERS(filters)};
    struct store_rows found;
    enum sv_status st = store_list_read(store, &EXPERIMENTS, &listing, memory, &found, err);
    if (st == SV_OK) {
        *out_list = (struct store_experiment_list){found.rows, found.n, found.next};
    }
    return st;
}

enum sv_status store_experiment_patch(struct store *store, const struct store_scope *scope,
                                      const char *id, const char *name, const char *notes,
                                      struct sv_error *err)
{
    enum sv_status st = store_id_check(id, "experiment", err);
    if (st != SV_OK) {
        return st;
    }
    struct sql_params params = {0};
    struct sql_rows rows = {0};
    sql_text(&params, id);
    sql_text(&params, scope->project_id);
    sql_text(&params, name);
    sql_text(&params, notes);
    st = store_query(store,
                     "update experiment set name = coalesce($3, name), notes = coalesce($4, notes)"
                     " where id = $1 and project_id = $2",
                     &params, &rows, err);
    if (st == SV_ERR_CONFLICT) {
        return name_taken(err);
    }
    if (st == SV_OK) {
        st = rows.affected > 0 ? SV_OK : store_not_found("experiment", err);
        sql_rows_clear(&rows);
    }
    return st;
}
