/* SPDX-License-Identifier: MIT
 *
 * Ends of attempts. The trial's row is locked by name of trial, fence, worker and state; what was
 * asked for is read from that row, so a cancel that came before wins, and one that comes later
 * waits for the lock and meets the new state.
 *
 *   outcome        the trial becomes
 *   any            cancelled, when a cancel was asked for: nothing is kept
 *   completed      completed, with its evaluation
 *   stopped        stopped, with its evaluation
 *   paused         paused; queued when a stop was asked for meanwhile: a worker evaluates it
 *   cancelled      queued: nobody asked for it, so it was no cancel
 *   failed         failed; queued again when its class may be retried and attempts are left
 *   released       queued, after a delay if one is given, and the attempt does not count
 */
#include <string.h>

#include "server/store/attempt_internal.h"
#include "server/store/touch_internal.h"
#include "server/store/trial_internal.h"

struct ending {
    const struct store_claim *claim;
    const struct store_ending *ending;
    char state[16]; /* out */
};

struct store_conclusion store_conclude_failure(const struct store_held *held,
                                               const char *error_class, const char *error_text)
{
    bool retried = strcmp(error_class, "crashed") == 0 || strcmp(error_class, "worker_lost") == 0;
    bool again = retried && held->attempt < held->max_attempts;
    return (struct store_conclusion){.state = again ? "queued" : "failed",
                                     .outcome = !retried                              ? "failed"
                                                : strcmp(error_class, "crashed") == 0 ? "crashed"
                                                                                      : "lost",
                                     .error_class = error_class,
                                     .error_text = error_text,
                                     .counts = true,
                                     .backoff = again};
}

static struct store_conclusion conclude(const struct store_held *held,
                                        const struct store_ending *ending)
{
    if (held->cancel_requested) {
        return (struct store_conclusion){
            .state = "cancelled", .outcome = "cancelled", .counts = true, .wipe = true};
    }
    switch (ending->outcome) {
    case STORE_OUTCOME_COMPLETED:
        return (struct store_conclusion){
            .state = "completed", .outcome = "completed", .counts = true};
    case STORE_OUTCOME_STOPPED:
        return (struct store_conclusion){.state = "stopped", .outcome = "stopped", .counts = true};
    case STORE_OUTCOME_PAUSED:
        return (struct store_conclusion){.state = held->stop_requested ? "queued" : "paused",
                                         .outcome = "paused"};
    case STORE_OUTCOME_FAILED:
        return store_conclude_failure(held, ending->error_class, ending->error_text);
    case STORE_OUTCOME_CANCELLED:
    case STORE_OUTCOME_RELEASED:
        break;
    }
    return (struct store_conclusion){
        .state = "queued", .outcome = "released", .delay_ms = ending->delay_ms};
}

/* $1 trial, $2 state, $3 class, $4 text, $5 final, $6 counts, $7 backoff, $8 delay. Wishes end with
 * a final state; a wish to pause ends when it is fulfilled; others wait for the next attempt. */
static const char MOVE_TRIAL[] =
    "update trial t set state = $2, worker_id = null, lease_until = null, phase = '',"
    " error_class = $3, error_text = $4,"
    " finished_at = case when $5::boolean then clock_timestamp() end,"
    " cancel_requested_at = case when not $5 then cancel_requested_at end,"
    " stop_requested_at = case when not $5 then stop_requested_at end,"
    " pause_requested_at = case when not $5 and $2 <> 'paused' and stop_requested_at is null then"
    " pause_requested_at end,"
    " attempt = case when $6::boolean then attempt else greatest(attempt - 1, 0) end,"
    " queued_at = case when $2 = 'queued' then clock_timestamp() else queued_at end,"
    " not_before = case when $7::boolean then clock_timestamp() + (0.5 + random()) *"
    " least(power(2, attempt - 1), 60) * interval '1 s' when $8::bigint > 0 then clock_timestamp() "
    "+"
    " $8 * interval '1 ms' else not_before end,"
    " headline_value = case when $5 then (select m.value from evaluation_metric m join job j on"
    " j.id = t.job_id where m.trial_id = t.id and m.part || '_' || m.metric = j.headline_metric"
    " and m.value > '-Infinity' and m.value < 'Infinity') else headline_value end"
    " where id = $1 and state = 'running'";

static enum sv_status move_trial(struct store_conn *conn, const struct store_claim *claim,
                                 const struct store_conclusion *conclusion, struct sv_error *err)
{
    bool failed = strcmp(conclusion->state, "failed") == 0;
    struct sql_params params = {0};
    sql_text(&params, claim->trial_id);
    sql_text(&params, conclusion->state);
    sql_text(&params, failed ? conclusion->error_class : NULL);
    sql_text(&params, failed ? conclusion->error_text : NULL);
    sql_bool(&params, store_state_is_final(conclusion->state));
    sql_bool(&params, conclusion->counts);
    sql_bool(&params, conclusion->backoff);
    sql_int(&params, conclusion->delay_ms);
    return sql_run(conn, MOVE_TRIAL, &params, NULL, err);
}

static enum sv_status end_attempt(struct store_conn *conn, const struct store_claim *claim,
                                  const struct store_conclusion *conclusion, struct sv_error *err)
{
    struct sql_params params = {0};
    sql_text(&params, claim->trial_id);
    sql_int(&params, claim->fence);
    sql_text(&params, conclusion->outcome);
    sql_text(&params, conclusion->error_class);
    sql_text(&params, conclusion->error_text);
    return sql_run(conn,
                   "update attempt a set ended_at = clock_timestamp(), lease_until = t.lease_until,"
                   " outcome = $3, error_class = $4, error_text = $5 from trial t where a.trial_id"
                   " = $1 and a.fence = $2 and t.id = a.trial_id",
                   &params, NULL, err);
}

enum sv_status store_attempt_conclude(struct store_conn *conn, const struct store_claim *claim,
                                      const struct store_conclusion *conclusion,
                                      struct sv_error *err)
{
    char kind[32];
    struct sql_params params = {0};
    (void)snprintf(kind, sizeof kind, "trial_%s", conclusion->state);
    enum sv_status st = end_attempt(conn, claim, conclusion, err); /* while the lease stands */
    if (st == SV_OK) {
        st = move_trial(conn, claim, conclusion, err);
    }
    if (st == SV_OK && (conclusion->wipe || store_state_is_final(conclusion->state))) {
        sql_text(&params, claim->trial_id);
        st = sql_run(conn,
                     conclusion->wipe ? "select trial_results_delete($1)"
                                      : "update trial set fragmented = true where id = $1",
                     &params, NULL, err);
    }
    struct store_touch touch = {.job_id = claim->job_id,
                                .trial_id = claim->trial_id,
                                .kind = kind,
                                .actor = claim->worker_id,
                                .recount = true};
    return st == SV_OK ? store_job_touch(conn, &touch, err) : st;
}

/* The claim does not hold any more. When it was this attempt itself that ended, in a run whose
 * answer was lost, all is done. */
static enum sv_status ended_before(struct store_conn *conn, struct ending *ending,
                                   struct sv_error *err)
{
    struct sql_params params = {0};
    struct sql_rows rows = {0};
    struct store_memory memory = {0};
    sql_text(&params, ending->claim->trial_id);
    sql_int(&params, ending->claim->fence);
    enum sv_status st = sql_run(conn,
                                "select t.state from attempt a join trial t on t.id = a.trial_id"
                                " where a.trial_id = $1 and a.fence = $2 and a.outcome <> 'lost'",
                                &params, &rows, err);
    if (st != SV_OK) {
        return st;
    }
    if (rows.n > 0) {
        struct sql_reader r = {.rows = &rows, .memory = &memory};
        (void)snprintf(ending->state, sizeof ending->state, "%s", sql_read_text0(&r));
    } else {
        st = sv_fail(err, SV_ERR_WRONG_STATE, "the lease of the trial is lost");
    }
    sql_rows_clear(&rows);
    store_memory_clear(&memory);
    return st;
}

static enum sv_status end_tx(struct store_conn *conn, void *ctx, struct sv_error *err)
{
    struct ending *ending = ctx;
    const struct store_claim *claim = ending->claim;
    struct store_held held;
    size_t skipped;
    enum sv_status st = store_claim_lock(conn, claim, &held, NULL);
    if (st == SV_ERR_WRONG_STATE) {
        return ended_before(conn, ending, err);
    }
    struct store_conclusion conclusion = {0};
    if (st == SV_OK) {
        conclusion = conclude(&held, ending->ending);
        st = conclusion.wipe
                 ? store_log_write(conn, claim, ending->ending->last.lines,
                                   ending->ending->last.n_lines, err)
                 : store_commit_write(conn, claim, &ending->ending->last, &skipped, err);
    }
    if (st == SV_OK && store_state_is_final(conclusion.state) && !conclusion.wipe) {
        st = store_evaluations_write(conn, claim, ending->ending, err);
    }
    if (st != SV_OK) {
        return st;
    }
    (void)snprintf(ending->state, sizeof ending->state, "%s", conclusion.state);
    return store_attempt_conclude(conn, claim, &conclusion, err);
}

/* What would break a promise whatever the database says. */
static enum sv_status check_ending(const struct store_ending *ending, struct sv_error *err)
{
    bool evaluated =
        ending->outcome == STORE_OUTCOME_COMPLETED || ending->outcome == STORE_OUTCOME_STOPPED;
    if (evaluated && ending->n_evaluations == 0) {
        return sv_fail(err, SV_ERR_INTERNAL, "a trial cannot end well without its evaluation");
    }
    if (ending->outcome == STORE_OUTCOME_FAILED && (!ending->error_class || !ending->error_text)) {
        return sv_fail(err, SV_ERR_INTERNAL, "a failure needs its class and a sentence");
    }
    return SV_OK;
}

enum sv_status store_attempt_end(struct store *store, const struct store_claim *claim,
                                 const struct store_ending *ending, char out_state[16],
                                 struct sv_error *err)
{
    struct ending context = {.claim = claim, .ending = ending};
    enum sv_status st = check_ending(ending, err);
    if (st == SV_OK) {
        st = store_tx_run(store, "attempt_end", end_tx, &context, err);
    }
    if (st == SV_OK) {
        memcpy(out_state, context.state, sizeof context.state);
    }
    return st;
}
