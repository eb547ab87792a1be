/* SPDX-License-Identifier: MIT
 *
 * What people ask of trials. The rows of a verb come from the one table of states in jobs; here the
 * trials are locked, sorted by state, and each state's move is one UPDATE that names the state and
 * the fences it was decided for.
 *
 * Order of locks in every transaction of this room: trials (by index), then the job, then the lock
 * of the outbox.
 */
#include <string.h>

#include "server/store/jobs.h"
#include "server/store/touch_internal.h"
#include "server/store/trial_internal.h"

struct apply {
    const struct store_scope *scope;
    const char *job_id;   /* all its trials ... */
    const char *trial_id; /* ... or this one */
    const struct store_verb *verb;
    struct store_memory memory;
    char touched_job[SV_ID_SIZE]; /* the job that the trials belong to */
    char state[16];               /* the trial's, as it was */
    struct store_applied applied;
};

/* The trials that were locked. */
struct locked {
    size_t n;
    const char **ids, **states;
    int64_t *fences;
    bool *begun; /* has a checkpoint */
};

static enum sv_status lock_trials(struct store_conn *conn, struct apply *apply,
                                  struct locked *out_locked, struct sv_error *err)
{
    struct sql_params params = {0};
    struct sql_rows rows = {0};
    sql_text(&params, apply->trial_id ? apply->trial_id : apply->job_id);
    sql_text(&params, apply->scope->project_id);
    enum sv_status st =
        sql_run(conn,
                apply->trial_id ? "select hex(id), state, fence, checkpoint_step > 0, job_id from"
                                  " trial where id = $1 and project_id = $2 for no key update"
                                : "select hex(id), state, fence, checkpoint_step > 0, job_id from"
                                  " trial where job_id = $1 and project_id = $2 order by idx for"
                                  " no key update",
                &params, &rows, err);
    if (st != SV_OK) {
        return st;
    }
    struct locked locked = {.n = (size_t)rows.n};
    locked.ids = store_memory_array(&apply->memory, locked.n, sizeof *locked.ids);
    locked.states = store_memory_array(&apply->memory, locked.n, sizeof *locked.states);
    locked.fences = store_memory_array(&apply->memory, locked.n, sizeof *locked.fences);
    locked.begun = store_memory_array(&apply->memory, locked.n, sizeof *locked.begun);
    for (size_t i = 0; !apply->memory.failed && i < locked.n; i++) {
        struct sql_reader r = {.rows = &rows, .row = (int)i, .memory = &apply->memory};
        locked.ids[i] = sql_read_text(&r);
        locked.states[i] = sql_read_text(&r);
        locked.fences[i] = sql_read_int(&r);
        locked.begun[i] = sql_read_bool(&r);
        sql_read_id(&r, apply->touched_job);
    }
    sql_rows_clear(&rows);
    *out_locked = locked;
    return store_memory_check(&apply->memory, err);
}

/* The assignments that write a wish. Whoever stops a trial wants what it has so far, so that it may
 * pass through the queue of a paused job. */
static const char *wish_assignments(enum store_wish wish)
{
    switch (wish) {
    case STORE_WISH_STOP:
        return "stop_requested_at = coalesce(stop_requested_at, clock_timestamp()), held = false";
    case STORE_WISH_CANCEL:
        return "cancel_requested_at = coalesce(cancel_requested_at, clock_timestamp())";
    case STORE_WISH_PAUSE:
        return "pause_requested_at = coalesce(pause_requested_at, clock_timestamp())";
    case STORE_WISH_RESUME:
    case STORE_WISH_NONE:
        break;
    }
    return "pause_requested_at = null";
}

/* The assignments of a change of state, beside the state itself. */
static const char *change_assignments(const struct store_move *move, enum store_wish wish)
{
    if (store_state_is_final(move->to)) {
        return "finished_at = clock_timestamp(), cancel_requested_at = null, stop_requested_at ="
               " null, pause_requested_at = null, checkpoint_step = 0, headline_value = null";
    }
    if (store_state_is_final(move->from)) { /* again, from the start */
        return "queued_at = clock_timestamp(), not_before = now(), finished_at = null, started_at"
               " = null, cancel_requested_at = null, stop_requested_at = null,"
               " pause_requested_at = null, attempt = 0, step = 0, epoch = 0, phase = '',"
               " progress_at = null, checkpoint_step = 0, reached_step = 0, headline_value = null,"
               " error_class = null, error_text = null,"
               " held = (select j.paused from job j where j.id = t.job_id)";
    }
    return wish == STORE_WISH_STOP
               ? "queued_at = clock_timestamp(), not_before = now(), pause_requested_at = null,"
                 " stop_requested_at = clock_timestamp(), held = false"
               : "queued_at = clock_timestamp(), not_before = now(), pause_requested_at = null";
}

/* Into cancelled, and out of a final state, nothing that was made stays. */
static bool move_wipes(const struct store_move *move)
{
    return store_state_is_final(move->from) || store_state_is_final(move->to);
}

/* One statement for all trials of one state. */
static enum sv_status run_move(struct store_conn *conn, struct apply *apply,
                               const struct store_move *move, const struct locked *group,
                               struct sv_error *err)
{
    char sql[1600];
    struct sql_params params = {0};
    struct sql_rows rows = {0};
    bool changes = move->effect == STORE_CHANGED;
    (void)snprintf(
        sql, sizeof sql,
        "with u as (update trial t set state = $1, %s from unnest($3::text[], $4::bigint[]) as"
        " x (id, fence) where t.id = x.id::uuid and t.fence = x.fence and t.state = $2"
        " returning t.id) select count(*), count(%s) from u",
        changes ? change_assignments(move, apply->verb->wish) : wish_assignments(apply->verb->wish),
        changes && move_wipes(move) ? "trial_results_delete(u.id)" : "1");
    sql_text(&params, changes ? move->to : move->from);
    sql_text(&params, move->from);
    sql_text_array(&params, group->ids, group->n);
    sql_int_array(&params, group->fences, group->n);
    enum sv_status st = sql_run(conn, sql, &params, &rows, err);
    if (st != SV_OK) {
        return st;
    }
    struct sql_reader reader = {.rows = &rows};
    size_t n = (size_t)sql_read_int(&reader);
    sql_rows_clear(&rows);
    apply->applied.changed += changes ? n : 0;
    apply->applied.requested += changes ? 0 : n;
    return SV_OK;
}

static bool is_of(const struct locked *locked, size_t i, const struct store_move *move)
{
    return strcmp(locked->states[i], move->from) == 0 &&
           (move->of == STORE_OF_ALL || locked->begun[i] == (move->of == STORE_OF_BEGUN));
}

static enum sv_status move_group(struct store_conn *conn, struct apply *apply,
                                 const struct store_move *move, const struct locked *locked,
                                 struct sv_error *err)
{
    struct locked group = {.ids = store_memory_array(&apply->memory, locked->n, sizeof *group.ids),
                           .fences =
                               store_memory_array(&apply->memory, locked->n, sizeof *group.fences)};
    for (size_t i = 0; !apply->memory.failed && i < locked->n; i++) {
        if (is_of(locked, i, move)) {
            group.ids[group.n] = locked->ids[i];
            group.fences[group.n++] = locked->fences[i];
        }
    }
    switch (move->effect) {
    case STORE_REFUSED:
        break;
    case STORE_UNCHANGED:
        apply->applied.unchanged += group.n;
        break;
    case STORE_REQUESTED:
    case STORE_CHANGED:
        return group.n > 0 ? run_move(conn, apply, move, &group, err) : SV_OK;
    }
    return SV_OK;
}

static bool stops_job(const struct apply *apply)
{
    return apply->job_id && apply->verb->wish == STORE_WISH_STOP;
}

/* A job that is stopped is paused no more: a held queue would never evaluate what is begun. */
static enum sv_status let_go(struct store_conn *conn, const struct apply *apply,
                             struct sv_error *err)
{
    static const char *const STATEMENTS[] = {
        "update trial set held = false where job_id = $1 and held",
        "update job set paused = false where id = $1 and paused",
    };
    enum sv_status st = SV_OK;
    for (size_t i = 0; st == SV_OK && i < sizeof STATEMENTS / sizeof STATEMENTS[0]; i++) {
        struct sql_params params = {0};
        sql_text(&params, apply->job_id);
        st = sql_run(conn, STATEMENTS[i], &params, NULL, err);
    }
    return st;
}

static enum sv_status touch(struct store_conn *conn, const struct apply *apply,
                            struct sv_error *err)
{
    char kind[64];
    (void)snprintf(kind, sizeof kind, "%s_%s", apply->trial_id ? "trial" : "job",
                   apply->verb->name);
    struct store_touch touch = {.job_id = apply->touched_job,
                                .trial_id = apply->trial_id,
                                .kind = kind,
                                .actor = apply->scope->actor,
                                .recount = apply->applied.changed > 0 || stops_job(apply)};
    return store_job_touch(conn, &touch, err);
}

static enum sv_status apply_tx(struct store_conn *conn, void *ctx, struct sv_error *err)
{
    struct apply *apply = ctx;
    struct locked locked = {0};
    apply->applied = (struct store_applied){0};
    enum sv_status st = lock_trials(conn, apply, &locked, err);
    if (st != SV_OK) {
        return st;
    }
    if (locked.n == 0) {
        return store_not_found(apply->trial_id ? "trial" : "job", err);
    }
    (void)snprintf(apply->state, sizeof apply->state, "%s", locked.states[0]);
    for (size_t i = 0; st == SV_OK && i < apply->verb->n_moves; i++) {
        st = move_group(conn, apply, &apply->verb->moves[i], &locked, err);
    }
    struct store_applied *applied = &apply->applied;
    applied->refused = locked.n - applied->changed - applied->requested - applied->unchanged;
    if (st != SV_OK || applied->changed + applied->requested == 0) {
        return st;
    }
    if (stops_job(apply)) {
        st = let_go(conn, apply, err);
    }
    return st == SV_OK ? touch(conn, apply, err) : st;
}

static enum sv_status run_apply(struct store *store, struct apply *apply, struct sv_error *err)
{
    enum sv_status st = store_id_check(apply->trial_id ? apply->trial_id : apply->job_id,
                                       apply->trial_id ? "trial" : "job", err);
    if (st == SV_OK) {
        st = store_tx_run(store, apply->verb->name, apply_tx, apply, err);
    }
    store_memory_clear(&apply->memory);
    return st;
}

enum sv_status store_job_apply(struct store *store, const struct store_scope *scope, const char *id,
                               const struct store_verb *verb, struct store_applied *out_applied,
                               struct sv_error *err)
{
    struct apply apply = {.scope = scope, .job_id = id, .verb = verb};
    enum sv_status st = run_apply(store, &apply, err);
    if (st == SV_OK) {
        *out_applied = apply.applied;
    }
    return st;
}

enum sv_status store_trial_apply(struct store *store, const struct store_scope *scope,
                                 const char *id, const struct store_verb *verb,
                                 enum store_effect *out_effect, struct sv_error *err)
{
    struct apply apply = {.scope = scope, .trial_id = id, .verb = verb};
    enum sv_status st = run_apply(store, &apply, err);
    if (st != SV_OK) {
        return st;
    }
    if (apply.applied.refused > 0) {
        return sv_fail(err, SV_ERR_WRONG_STATE, "the trial is %s: %s is not possible", apply.state,
                       verb->name);
    }
    if (out_effect) {
        *out_effect = apply.applied.changed > 0     ? STORE_CHANGED
                      : apply.applied.requested > 0 ? STORE_REQUESTED
                                                    : STORE_UNCHANGED;
    }
    return SV_OK;
}
