/* SPDX-License-Identifier: MIT
 *
 * Extensions. Locks as everywhere: trials by index, then the job, then the outbox.
 */
#include "server/store/extend.h"

#include <stdio.h>
#include <string.h>

#include "server/store/list_internal.h"
#include "server/store/touch_internal.h"

static void read_extendable(struct sql_reader *r, void *row)
{
    struct store_extendable *out = row;
    sql_read_id(r, out->id);
    sql_read_id(r, out->job_id);
    out->fence = sql_read_int(r);
    out->state = sql_read_text(r);
    out->step = sql_read_int(r);
    out->total_steps = sql_read_int(r);
    out->resolved = sql_read_text(r);
    out->parameters = sql_read_text(r);
}

enum sv_status store_extendable_read(struct store *store, const struct store_scope *scope,
                                     const char *job_id, const char *trial_id,
                                     struct store_memory *memory,
                                     struct store_extendable_list *out_list, struct sv_error *err)
{
    static const struct store_shape SHAPE = {sizeof(struct store_extendable), read_extendable};
    const char *what = trial_id ? "trial" : "job";
    struct sql_params params = {0};
    struct store_rows found = {0};
    enum sv_status st = store_id_check(trial_id ? trial_id : job_id, what, err);
    if (st != SV_OK) {
        return st;
    }
    sql_text(&params, trial_id ? trial_id : job_id);
    sql_text(&params, scope->project_id);
    st = store_read_rows(store,
                         trial_id ? "select id, job_id, fence, state, step, total_steps, resolved,"
                                    " parameters from trial where id = $1 and project_id = $2"
                                  : "select id, job_id, fence, state, step, total_steps, resolved,"
                                    " parameters from trial where job_id = $1 and project_id = $2"
                                    " order by idx",
                         &params, &SHAPE, memory, &found, err);
    if (st == SV_OK && found.n == 0) {
        st = store_not_found(what, err);
    }
    if (st == SV_OK) {
        *out_list = (struct store_extendable_list){found.rows, found.n};
    }
    return st;
}

struct extending {
    const struct store_scope *scope;
    const struct store_extension *extension;
    size_t changed;
};

/* $1 ids, $2 fences: as they were read. */
static void add_trials(struct sql_params *params, const struct store_extension *extension)
{
    size_t n = extension->n;
    const char **ids = store_memory_array(&params->memory, n, sizeof *ids);
    int64_t *fences = store_memory_array(&params->memory, n, sizeof *fences);
    for (size_t i = 0; ids && fences && i < n; i++) {
        ids[i] = extension->rows[i].from->id;
        fences[i] = extension->rows[i].from->fence;
    }
    sql_text_array(params, ids, ids ? n : 0);
    sql_int_array(params, fences, fences ? n : 0);
}

static enum sv_status lock_trials(struct store_conn *conn, const struct store_extension *extension,
                                  struct sv_error *err)
{
    struct sql_params params = {0};
    add_trials(&params, extension);
    return sql_run(conn,
                   "select 1 from trial t join unnest($1::text[], $2::bigint[]) as x (id, fence) on"
                   " t.id = x.id::uuid and t.fence = x.fence order by t.idx for no key update of t",
                   &params, NULL, err);
}

/* $3 resolved, $4 parameters, $5 hashes, $6 steps in all, $7 states before, $8 state after, $9 an
 * earlier run of this transaction may have been committed: then it is done once more. */
static const char EXTEND[] =
    "update trial t set state = $8, resolved = x.resolved::json, parameters = x.parameters::json,"
    " checkpoint_hash = coalesce(t.checkpoint_hash, t.hash), hash = decode(x.hash, 'hex'),"
    " total_steps = coalesce(nullif(x.total_steps, 0), t.total_steps), attempt = 0, phase = '',"
    " queued_at = clock_timestamp(), not_before = now(), finished_at = null, progress_at = null,"
    " cancel_requested_at = null, stop_requested_at = null, pause_requested_at = null,"
    " fragmented = false, held = (select j.paused from job j where j.id = t.job_id)"
    " from unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::bigint[]) as x"
    " (id, fence, resolved, parameters, hash, total_steps) where t.id = x.id::uuid and t.fence ="
    " x.fence and (t.state = any($7) or $9::boolean and t.state = $8 and t.hash = decode(x.hash,"
    " 'hex'))";

static enum sv_status move_trials(struct store_conn *conn, struct extending *extending,
                                  struct sv_error *err)
{
    const struct store_extension *extension = extending->extension;
    const struct store_verb *verb = extension->verb;
    size_t n = extension->n;
    struct sql_params params = {0};
    struct sql_rows rows = {0};
    add_trials(&params, extension);
    const char **texts = store_memory_array(&params.memory, 3 * n, sizeof *texts);
    const char **from = store_memory_array(&params.memory, verb->n_moves, sizeof *from);
    int64_t *steps = store_memory_array(&params.memory, n, sizeof *steps);
    n = params.memory.failed ? 0 : n;
    for (size_t i = 0; i < n; i++) {
        texts[i] = extension->rows[i].resolved;
        texts[n + i] = extension->rows[i].parameters;
        texts[2 * n + i] = extension->rows[i].hash;
        steps[i] = extension->rows[i].total_steps;
    }
    for (size_t i = 0; from && i < verb->n_moves; i++) {
        from[i] = verb->moves[i].from;
    }
    for (size_t column = 0; column < 3; column++) {
        sql_text_array(&params, n > 0 ? texts + column * n : texts, n);
    }
    sql_int_array(&params, steps, n);
    sql_text_array(&params, from, from ? verb->n_moves : 0);
    sql_text(&params, verb->moves[0].to);
    sql_bool(&params, conn->repeated);
    enum sv_status st = sql_run(conn, EXTEND, &params, &rows, err);
    if (st == SV_OK) {
        extending->changed = (size_t)rows.affected;
        sql_rows_clear(&rows);
    }
    return st;
}

static enum sv_status extend_tx(struct store_conn *conn, void *ctx, struct sv_error *err)
{
    struct extending *extending = ctx;
    const struct store_extension *extension = extending->extension;
    char kind[64];
    enum sv_status st = lock_trials(conn, extension, err);
    if (st == SV_OK) {
        st = move_trials(conn, extending, err);
    }
    if (st != SV_OK || extending->changed == 0) {
        return st;
    }
    (void)snprintf(kind, sizeof kind, "%s_%s", extension->trial_id ? "trial" : "job",
                   extension->verb->name);
    struct store_touch touch = {.job_id = extension->job_id,
                                .trial_id = extension->trial_id,
                                .kind = kind,
                                .detail = extension->detail,
                                .actor = extending->scope->actor,
                                .recount = true};
    return store_job_touch(conn, &touch, err);
}

enum sv_status store_trials_extend(struct store *store, const struct store_scope *scope,
                                   const struct store_extension *extension, size_t *out_changed,
                                   struct sv_error *err)
{
    struct extending extending = {.scope = scope, .extension = extension};
    enum sv_status st = store_tx_run(store, "extend", extend_tx, &extending, err);
    if (st == SV_OK) {
        *out_changed = extending.changed;
    }
    return st;
}
