/* SPDX-License-Identifier: MIT
 *
 * The keeper: this worker's voice in the queue. Registers the instance, extends leases, learns what
 * people want of running trials, takes back what other workers lost, claims for idle slots.
 *
 * A notification only makes it look sooner; everything it acts on is read from tables.
 */
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "server/base/clock.h"
#include "server/config/config.h"
#include "server/store/events.h"
#include "server/store/workers.h"
#include "server/worker/worker_internal.h"

enum {
    HINT_GAP_MS = 1000,    /* between heartbeats that notifications ask for */
    CLAIM_GAP_MS = 200,    /* between looks at an empty queue that notifications ask for */
    QUESTION_GAP_MS = 20,  /* likewise, where somebody waits for a prediction */
    CHECK_MS = 30000,      /* between looks at the version of the schema */
    DATABASE_GAP_MS = 500, /* between tries while the database is away */
};

struct keeper {
    struct worker *worker;
    struct store_instance *instance;
    struct store_listener *listener;
    int lease_ms, beat_ms, poll_ms;
    int64_t beat_at_ms, claim_at_ms;           /* when next */
    int64_t beaten_ms, claimed_ms, checked_ms; /* when last */
    struct store_claim *claims;                /* room for every slot, as the two below */
    size_t *slots;
    struct store_control *controls;
};

/* ----------------------------------------------------------------------------- heartbeats */

static size_t collect_claims(struct keeper *keeper)
{
    struct worker *worker = keeper->worker;
    size_t n = 0;
    worker_lock(worker);
    for (size_t i = 0; i < worker->n_trial_slots; i++) {
        if (worker->slots[i].busy && !worker->slots[i].control.lost) {
            keeper->slots[n] = i;
            keeper->claims[n++] = worker->slots[i].trial.claim;
        }
    }
    worker_unlock(worker);
    return n;
}

/* Is the claim still the slot's? It may have ended meanwhile. The mutex is held. */
static bool still_claimed(const struct worker_slot *slot, const struct store_claim *claim)
{
    return slot->busy && slot->trial.claim.fence == claim->fence &&
           strcmp(slot->trial.claim.trial_id, claim->trial_id) == 0;
}

static void apply_control(struct worker_slot *slot, const struct store_control *from,
                          int64_t lease_until_ms)
{
    struct worker_control *control = &slot->control;
    if (!from->held) {
        control->lost = true;
    } else {
        control->lease_until_ms = lease_until_ms;
        control->cancel = control->cancel || from->cancel_requested;
        control->stop = control->stop || from->stop_requested;
        control->pause = from->pause_requested;
    }
    worker_wake(slot->wake_fd);
}

static enum sv_status beat_trials(struct keeper *keeper, struct sv_error *err)
{
    struct worker *worker = keeper->worker;
    int64_t now = sv_clock_monotonic_ms();
    size_t n = collect_claims(keeper);
    if (n == 0) {
        return SV_OK;
    }
    enum sv_status st = store_heartbeat(worker->store, worker->worker_id, keeper->lease_ms,
                                        keeper->claims, n, keeper->controls, err);
    worker_lock(worker);
    for (size_t i = 0; st == SV_OK && i < n; i++) {
        struct worker_slot *slot = &worker->slots[keeper->slots[i]];
        if (still_claimed(slot, &keeper->claims[i])) {
            apply_control(slot, &keeper->controls[i], now + keeper->lease_ms);
        }
    }
    worker_unlock(worker);
    return st;
}

static enum sv_status beat_import(struct keeper *keeper, struct worker_slot *slot,
                                  struct sv_error *err)
{
    struct worker *worker = keeper->worker;
    int64_t now = sv_clock_monotonic_ms();
    worker_lock(worker);
    bool busy = slot->busy && !slot->control.lost;
    struct store_import_claim claim = slot->import.claim;
    double progress = slot->control.progress;
    worker_unlock(worker);
    if (!busy) {
        return SV_OK;
    }
    enum sv_status st =
        store_import_heartbeat(worker->store, &claim, keeper->lease_ms, progress, err);
    worker_lock(worker);
    bool same = slot->busy && slot->import.claim.fence == claim.fence &&
                strcmp(slot->import.claim.id, claim.id) == 0;
    if (same && st == SV_OK) {
        slot->control.lease_until_ms = now + keeper->lease_ms;
    } else if (same && st == SV_ERR_WRONG_STATE) {
        slot->control.lost = true;
        worker_wake(slot->wake_fd);
    }
    worker_unlock(worker);
    return st == SV_ERR_WRONG_STATE ? SV_OK : st;
}

static void beat(struct keeper *keeper)
{
    struct worker *worker = keeper->worker;
    struct sv_error err = {0};
    size_t reaped = 0;
    enum sv_status st = beat_trials(keeper, &err);
    for (size_t i = worker->n_trial_slots; i < worker->n_slots && st == SV_OK; i++) {
        st = beat_import(keeper, &worker->slots[i], &err);
    }
    struct worker_trouble trouble = worker_trouble_now(worker);
    st = st == SV_OK ? store_instance_renew(keeper->instance, trouble.text, &err) : st;
    st = st == SV_OK ? store_reap(worker->store, &reaped, &err) : st;
    keeper->beaten_ms = sv_clock_monotonic_ms();
    keeper->beat_at_ms = keeper->beaten_ms + (st == SV_OK ? keeper->beat_ms : DATABASE_GAP_MS);
    if (st != SV_OK) {
        log_event(worker->log, SV_LOG_WARN, "heartbeat_failed",
                  LOG_TEXT("code", sv_status_slug(st)), LOG_TEXT("text", err.text));
    } else if (reaped > 0) {
        log_event(worker->log, SV_LOG_WARN, "leases_reaped", LOG_INT("count", reaped));
    }
}

static void sooner(int64_t *at_ms, int64_t when_ms)
{
    *at_ms = when_ms < *at_ms ? when_ms : *at_ms;
}

/* --------------------------------------------------------------------------------- claims */

/* Hands a fresh claim over to its slot. */
static void hand_over(struct keeper *keeper, struct worker_slot *slot, const char *name,
                      int64_t fence, int64_t claimed_ms)
{
    struct worker *worker = keeper->worker;
    worker_lock(worker);
    (void)snprintf(slot->directory_name, sizeof slot->directory_name, "%s-%lld", name,
                   (long long)fence);
    slot->control = (struct worker_control){
        .lease_until_ms = claimed_ms + keeper->lease_ms,
        .stop = slot->task == &worker_trial_task && slot->trial.stop_requested,
        .most_threads = worker->cores,
    };
    slot->busy = true;
    worker_share_cores(worker);
    (void)pthread_cond_broadcast(&worker->changed);
    worker_unlock(worker);
    worker_wake(worker->supervisor_wake_fd);
}

static enum sv_status claim_trial(struct keeper *keeper, struct worker_slot *slot, bool *out_found,
                                  struct sv_error *err)
{
    struct worker *worker = keeper->worker;
    struct store_environment environment = worker->environment;
    int64_t now = sv_clock_monotonic_ms();
    environment.threads = (int)worker->cores;
    enum sv_status st =
        store_trial_claim(worker->store, worker->worker_id, keeper->lease_ms, &environment,
                          &slot->memory, out_found, &slot->trial, err);
    if (st == SV_OK && *out_found) {
        hand_over(keeper, slot, slot->trial.claim.trial_id, slot->trial.claim.fence, now);
    }
    return st;
}

static enum sv_status claim_import(struct keeper *keeper, struct worker_slot *slot, bool *out_found,
                                   struct sv_error *err)
{
    struct worker *worker = keeper->worker;
    int64_t now = sv_clock_monotonic_ms();
    enum store_import_queue queue =
        slot->index == worker->n_trial_slots ? STORE_QUEUE_ASSETS : STORE_QUEUE_PREDICTIONS;
    enum sv_status st =
        store_import_claim(worker->store, queue, worker->worker_id, keeper->lease_ms, &slot->memory,
                           out_found, &slot->import, err);
    if (st == SV_OK && *out_found) {
        hand_over(keeper, slot, slot->import.claim.id, slot->import.claim.fence, now);
    }
    return st;
}

static bool is_idle(struct worker_slot *slot)
{
    worker_lock(slot->worker);
    bool idle = !slot->busy && !slot->finished && !slot->worker->draining;
    worker_unlock(slot->worker);
    return idle;
}

/* Fills idle slots until the queues give no more, or as many as `most`. */
static enum sv_status fill_slots(struct keeper *keeper, size_t most, struct sv_error *err)
{
    struct worker *worker = keeper->worker;
    enum sv_status st = SV_OK;
    bool found = true;
    for (size_t i = 0; i < worker->n_trial_slots && st == SV_OK && found && most > 0; i++) {
        if (is_idle(&worker->slots[i])) {
            st = claim_trial(keeper, &worker->slots[i], &found, err);
            most -= found;
        }
    }
    for (size_t i = worker->n_trial_slots; i < worker->n_slots && st == SV_OK && most > 0; i++) {
        if (is_idle(&worker->slots[i])) {
            found = false;
            st = claim_import(keeper, &worker->slots[i], &found, err);
            most -= found;
        }
    }
    return st;
}

/* With trouble behind it the worker claims one thing, to see whether it is over; while it lasts,
 * none, and its row soon says so. */
static void claim_all(struct keeper *keeper)
{
    struct worker *worker = keeper->worker;
    struct sv_error err = {0};
    int64_t again_ms = 0;
    if (!worker_trouble_lets_claim(worker, &again_ms)) {
        keeper->claim_at_ms = again_ms;
        sooner(&keeper->beat_at_ms, keeper->beaten_ms + HINT_GAP_MS);
        return;
    }
    size_t most = worker_trouble_now(worker).in_a_row > 0 ? 1 : worker->n_slots;
    enum sv_status st = fill_slots(keeper, most, &err);
    keeper->claimed_ms = sv_clock_monotonic_ms();
    keeper->claim_at_ms = keeper->claimed_ms + (st == SV_OK ? keeper->poll_ms : DATABASE_GAP_MS);
    if (st != SV_OK) {
        log_event(worker->log, SV_LOG_WARN, "claim_failed", LOG_TEXT("code", sv_status_slug(st)),
                  LOG_TEXT("text", err.text));
    }
}

/* -------------------------------------------------------------------------------- the loop */

static bool is_ours(struct keeper *keeper, const struct store_change *change)
{
    struct worker *worker = keeper->worker;
    bool ours = false;
    worker_lock(worker);
    for (size_t i = 0; i < worker->n_trial_slots; i++) {
        ours = ours || (worker->slots[i].busy &&
                        strcmp(worker->slots[i].trial.claim.job_id, change->id) == 0);
    }
    worker_unlock(worker);
    return ours;
}

static void wait_away(struct keeper *keeper)
{
    struct pollfd fd = {.fd = keeper->worker->keeper_wake_fd, .events = POLLIN};
    (void)poll(&fd, 1, DATABASE_GAP_MS);
}

/* Waits for the next thing to do: time, a notification, a slot that became idle, the end. */
static void wait_next(struct keeper *keeper)
{
    struct worker *worker = keeper->worker;
    struct store_change change;
    enum store_heard heard = STORE_HEARD_NOTHING;
    int64_t now = sv_clock_monotonic_ms();
    int64_t next =
        keeper->beat_at_ms < keeper->claim_at_ms ? keeper->beat_at_ms : keeper->claim_at_ms;
    int timeout_ms = next > now ? (int)(next - now) : 0;
    enum sv_status st = store_listener_wait(keeper->listener, timeout_ms, worker->keeper_wake_fd,
                                            &heard, &change, NULL);
    if (st != SV_OK) {
        wait_away(keeper);
        heard = STORE_HEARD_NOTHING;
    }
    if (heard == STORE_HEARD_CONNECTED) {
        keeper->beat_at_ms = keeper->claim_at_ms = 0;
    } else if (heard == STORE_HEARD_CHANGE) {
        bool asked = change.subject == STORE_SUBJECT_PREDICTION;
        sooner(&keeper->claim_at_ms, keeper->claimed_ms + (asked ? QUESTION_GAP_MS : CLAIM_GAP_MS));
        if (change.subject == STORE_SUBJECT_JOB && is_ours(keeper, &change)) {
            sooner(&keeper->beat_at_ms, keeper->beaten_ms + HINT_GAP_MS);
        }
    }
    struct pollfd wake = {.fd = worker->keeper_wake_fd, .events = POLLIN};
    if (poll(&wake, 1, 0) > 0) {
        worker_wake_taken(worker->keeper_wake_fd);
        keeper->claim_at_ms = 0;
    }
}

/* The schema is newer than this program: others may write what we would misread. */
static void refuse_schema(struct worker *worker, const struct sv_error *err)
{
    log_event(worker->log, SV_LOG_ERROR, "schema_is_newer", LOG_TEXT("text", err->text));
    worker_lock(worker);
    worker->refused = true;
    worker_unlock(worker);
    worker_start_draining(worker);
}

static void check_schema(struct keeper *keeper)
{
    struct sv_error err = {0};
    int64_t now = sv_clock_monotonic_ms();
    if (now - keeper->checked_ms >= CHECK_MS) {
        keeper->checked_ms = now;
        if (store_check(keeper->worker->store, &err) == SV_ERR_DRAINING) {
            refuse_schema(keeper->worker, &err);
        }
    }
}

/* Registers this start of the worker; false when the end comes first. */
static bool register_instance(struct keeper *keeper)
{
    struct worker *worker = keeper->worker;
    const struct store_environment *environment = &worker->environment;
    struct store_worker_info info = {
        .node_id = worker->node_id,
        .host = worker->host,
        .build = environment->core_build,
        .core_type = environment->core_type,
        .instruction_set = environment->instruction_set,
        .cpu = environment->cpu,
        .pid = worker->pid,
        .core_tokens = (int)worker->cores,
    };
    size_t reaped = 0;
    bool told = false;
    while (!worker_is_draining(worker)) {
        struct sv_error err = {0};
        enum sv_status st = store_check(worker->store, &err);
        st = st == SV_OK
                 ? store_instance_open(worker->store, &info, &keeper->instance, &reaped, &err)
                 : st;
        if (st == SV_ERR_DRAINING) {
            refuse_schema(worker, &err);
            return false;
        }
        if (st == SV_OK) {
            worker_lock(worker);
            memcpy(worker->worker_id, store_instance_id(keeper->instance), SV_ID_SIZE);
            worker_unlock(worker);
            log_event(worker->log, SV_LOG_INFO, "registered", LOG_TEXT("worker", worker->worker_id),
                      LOG_INT("taken_back", reaped));
            return true;
        }
        if (!told && st == SV_ERR_WRONG_STATE) { /* as at every first start */
            log_event(worker->log, SV_LOG_INFO, "waiting_for_schema",
                      LOG_TEXT("text", "the service brings it up to date"));
        } else if (!told) {
            log_event(worker->log, SV_LOG_WARN, "waiting_for_database",
                      LOG_TEXT("code", sv_status_slug(st)), LOG_TEXT("text", err.text));
        }
        told = true;
        wait_away(keeper);
        worker_wake_taken(worker->keeper_wake_fd);
    }
    return false;
}

static bool may_end(struct worker *worker)
{
    worker_lock(worker);
    bool may = worker->keeper_may_end;
    worker_unlock(worker);
    return may;
}

static void keep(struct keeper *keeper)
{
    struct worker *worker = keeper->worker;
    while (!may_end(worker)) {
        int64_t now = sv_clock_monotonic_ms();
        if (now >= keeper->beat_at_ms) {
            beat(keeper);
        }
        if (now >= keeper->claim_at_ms) {
            if (worker_is_draining(worker)) {
                keeper->claim_at_ms = now + keeper->poll_ms;
            } else {
                check_schema(keeper);
                claim_all(keeper);
            }
        }
        wait_next(keeper);
    }
}

void *worker_keeper_main(void *arg)
{
    struct worker *worker = arg;
    int lease_ms = (int)(worker->config->lease_seconds * 1000);
    struct keeper keeper = {
        .worker = worker,
        .lease_ms = lease_ms,
        .beat_ms = lease_ms / 4,
        .poll_ms = (int)(worker->config->poll_seconds * 1000),
        .claims = calloc(worker->n_slots, sizeof *keeper.claims),
        .slots = calloc(worker->n_slots, sizeof *keeper.slots),
        .controls = calloc(worker->n_slots, sizeof *keeper.controls),
    };
    struct sv_error err = {0};
    bool ready = keeper.claims && keeper.slots && keeper.controls &&
                 store_listener_open(worker->store, &keeper.listener, &err) == SV_OK;
    if (ready && register_instance(&keeper)) {
        keep(&keeper);
    }
    store_instance_close(keeper.instance);
    store_listener_close(keeper.listener);
    free(keeper.claims);
    free(keeper.slots);
    free(keeper.controls);
    return NULL;
}
