/* SPDX-License-Identifier: MIT
 *
 * A slot: one attempt after the other.
 *
 *   idle --keeper: claim--> prepare --> start child --> talk --> (child ended) --> end --> idle
 *
 * Whatever happens between, `end` runs once, the directory is removed and the claim is let go.
 */
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/json/json.h"
#include "server/base/clock.h"
#include "server/config/config.h"
#include "server/worker/directory.h"
#include "server/worker/worker_internal.h"

enum {
    COMMIT_MS = 1000, /* between commits: curves are live */
    RETRY_MS = 500,   /* between tries while the database is away */
    LOG_TAIL_BYTES = 4000,
};

/* --------------------------------------------------------------------------- for the tasks */

bool worker_slot_lost(struct worker_slot *slot)
{
    worker_lock(slot->worker);
    bool lost = slot->control.lost;
    worker_unlock(slot->worker);
    return lost;
}

static void mark_lost(struct worker_slot *slot)
{
    worker_lock(slot->worker);
    slot->control.lost = true;
    worker_unlock(slot->worker);
    worker_wake(slot->worker->supervisor_wake_fd);
}

/* Sleeps for a while or until something of the slot changes. */
static void pause_a_while(struct worker_slot *slot)
{
    struct pollfd fd = {.fd = slot->wake_fd, .events = POLLIN};
    (void)poll(&fd, 1, RETRY_MS);
    worker_wake_taken(slot->wake_fd);
}

bool worker_slot_retry(struct worker_slot *slot, enum sv_status st, const struct sv_error *err)
{
    if (st == SV_OK || worker_slot_lost(slot) || slot->broken) {
        return false;
    }
    if (st == SV_ERR_WRONG_STATE) {
        mark_lost(slot);
        return false;
    }
    if (st == SV_ERR_DATABASE || st == SV_ERR_OVERLOADED || st == SV_ERR_CONFLICT) {
        pause_a_while(slot);
        return !worker_slot_lost(slot);
    }
    log_event(slot->worker->log, SV_LOG_ERROR, "attempt_not_recorded",
              LOG_TEXT("attempt", slot->directory_name), LOG_TEXT("code", sv_status_slug(st)),
              LOG_TEXT("text", err->text));
    slot->broken = true;
    return false;
}

struct fetch {
    struct worker_slot *slot;
    const char *project_id;
    const struct store_blob *blob;
};

static enum sv_status fetch_blob(void *ctx, const char *sha256, int fd, struct sv_error *err)
{
    struct fetch *fetch = ctx;
    (void)sha256;
    return store_blob_read_fd(fetch->slot->worker->store, fetch->project_id, fetch->blob->id, fd,
                              err);
}

enum sv_status worker_slot_link_blob(struct worker_slot *slot, const char *project_id,
                                     const struct store_blob *blob, const char *name,
                                     struct sv_error *err)
{
    struct fetch fetch = {slot, project_id, blob};
    return worker_cache_link(slot->worker->cache, blob->sha256, blob->size, slot->directory_fd,
                             name, fetch_blob, &fetch, err);
}

bool worker_slot_upload(struct worker_slot *slot, const char *project_id, int directory_fd,
                        const char *name, struct store_blob *out_blob)
{
    int64_t size = 0;
    int fd = worker_file_open(directory_fd, name, STORE_BLOB_MAX, &size);
    if (fd < 0) {
        slot->broken = true;
        return false;
    }
    struct sv_error err = {0};
    enum sv_status st;
    do {
        st = lseek(fd, 0, SEEK_SET) == 0
                 ? store_blob_write_fd(slot->worker->store, project_id, fd, out_blob, &err)
                 : SV_ERR_INTERNAL;
    } while (worker_slot_retry(slot, st, &err));
    (void)close(fd);
    return st == SV_OK;
}

/* -------------------------------------------------------------------------------- talking */

/* Tells the child, once each, what is wanted of it. */
static void pass_wishes(struct worker_slot *slot)
{
    int64_t grace_ms = slot->worker->config->grace_seconds * 1000;
    worker_lock(slot->worker);
    struct worker_control control = slot->control;
    bool draining = slot->worker->draining;
    worker_unlock(slot->worker);
    if (control.cancel && !slot->sent_cancel) {
        slot->sent_cancel = true;
        (void)!wire_queue(slot->channel, WIRE_CANCEL, NULL, 0);
        worker_process_kill(slot, WORKER_KILL_CANCEL, grace_ms);
    }
    if (control.stop && !slot->sent_stop) {
        slot->sent_stop = true;
        (void)!wire_queue(slot->channel, WIRE_STOP, NULL, 0);
    }
    if ((control.pause || draining) && !slot->sent_pause) {
        slot->sent_pause = true;
        (void)!wire_queue(slot->channel, WIRE_PAUSE, NULL, 0);
    }
    if (draining && !slot->sent_drain) {
        slot->sent_drain = true;
        worker_process_kill(slot, WORKER_KILL_DRAIN, grace_ms);
    }
    if (control.threads > 0 && control.threads != slot->sent_threads) {
        uint32_t threads = (uint32_t)control.threads;
        slot->sent_threads = control.threads;
        (void)!wire_queue(slot->channel, WIRE_THREADS, &threads, sizeof threads);
    }
}

json_t *worker_record_json(const struct wire_record *record)
{
    static const struct jx_limits limits = {.max_bytes = (size_t)64 << 20, .max_depth = 32};
    json_t *json = NULL;
    return jx_parse(record->payload, record->size, &limits, &json, NULL) == NN_OK ? json : NULL;
}

static void take_failed(struct worker_slot *slot, const struct wire_record *record)
{
    json_decref(slot->failed_record);
    slot->failed_record = worker_record_json(record);
    const char *class = json_string_value(json_object_get(slot->failed_record, "class"));
    const char *text = json_string_value(json_object_get(slot->failed_record, "text"));
    slot->failed = true;
    (void)snprintf(slot->failed_class, sizeof slot->failed_class, "%s", class ? class : "");
    (void)snprintf(slot->failed_text, sizeof slot->failed_text, "%s", text ? text : "");
}

static bool take_done(struct worker_slot *slot, const struct wire_record *record)
{
    json_decref(slot->done_record);
    slot->done_record = worker_record_json(record);
    const char *outcome = json_string_value(json_object_get(slot->done_record, "outcome"));
    slot->done = outcome != NULL;
    if (json_object_get(slot->done_record, "step")) {
        worker_pending_progress(&slot->pending, slot->done_record);
    }
    (void)snprintf(slot->done_outcome, sizeof slot->done_outcome, "%s", outcome ? outcome : "");
    return slot->done;
}

static bool take_record(struct worker_slot *slot, const struct wire_record *record)
{
    slot->silent_ms = 0;
    if (record->type == WIRE_FAILED) {
        take_failed(slot, record);
        return true;
    }
    if (record->type == WIRE_DONE) {
        return take_done(slot, record);
    }
    return slot->task->take(slot, record);
}

/* Takes all records that are there. Returns false when nothing more will come. */
static bool take_records(struct worker_slot *slot)
{
    struct wire_record record;
    enum wire_event event;
    while ((event = wire_receive(slot->channel, &record)) == WIRE_GOT_RECORD) {
        if (!take_record(slot, &record) || slot->broken) {
            log_event(slot->worker->log, SV_LOG_ERROR, "child_not_understood",
                      LOG_TEXT("attempt", slot->directory_name),
                      LOG_TEXT("record", wire_type_slug(record.type)));
            worker_process_kill(slot, WORKER_KILL_PROTOCOL, 0);
            return false;
        }
        if (sv_clock_monotonic_ms() - slot->committed_ms >= COMMIT_MS) {
            break; /* a child that never pauses must not keep us from committing */
        }
    }
    return event == WIRE_NOTHING_YET || event == WIRE_GOT_RECORD;
}

static void commit_due(struct worker_slot *slot, bool all)
{
    int64_t now = sv_clock_monotonic_ms();
    if (all || now - slot->committed_ms >= COMMIT_MS) {
        slot->task->commit(slot, all);
        slot->committed_ms = sv_clock_monotonic_ms();
    }
}

/* Waits for the child, for a wish, or for the next commit. Only this counts as silence of the
 * child: what it says while the slot records, or the whole machine stands still, waits to be read.
 */
static void listen_a_while(struct worker_slot *slot)
{
    int64_t since_ms = sv_clock_monotonic_ms();
    short events = (short)(POLLIN | (wire_outgoing(slot->channel) > 0 ? POLLOUT : 0));
    struct pollfd fds[2] = {{.fd = wire_channel_fd(slot->channel), .events = events},
                            {.fd = slot->wake_fd, .events = POLLIN}};
    (void)poll(fds, 2, COMMIT_MS);
    int64_t waited_ms = sv_clock_monotonic_ms() - since_ms;
    slot->silent_ms += waited_ms < COMMIT_MS ? waited_ms : COMMIT_MS;
    worker_wake_taken(slot->wake_fd);
}

/* All that has come is read: a child that has been silent for too long hangs. Why it failed stands,
 * if it said so before. */
static void end_hung(struct worker_slot *slot)
{
    if (slot->most_silent_ms && slot->silent_ms > slot->most_silent_ms) {
        enum worker_kill why = slot->failed ? WORKER_KILL_SLOW_END : WORKER_KILL_NO_PROGRESS;
        worker_process_kill(slot, why, 0);
    }
}

/* Until the child has no more to say. */
static void talk(struct worker_slot *slot)
{
    bool more = true;
    slot->committed_ms = sv_clock_monotonic_ms();
    while (more && !worker_slot_lost(slot)) {
        pass_wishes(slot);
        listen_a_while(slot);
        (void)!wire_write(slot->channel);
        more = take_records(slot) && !slot->done;
        end_hung(slot);
        commit_due(slot, !more);
    }
}

/* The child has said its last: it gets the grace time to leave. */
static void see_off(struct worker_slot *slot)
{
    int64_t grace_ms = slot->worker->config->grace_seconds * 1000;
    if (worker_slot_lost(slot)) {
        worker_process_kill(slot, WORKER_KILL_LEASE_LOST, 0);
    }
    wire_channel_destroy(slot->channel); /* end of file: leave */
    slot->channel = NULL;
    if (!worker_process_wait(slot, 1000)) {
        worker_process_kill(slot, WORKER_KILL_SLOW_END, grace_ms);
        (void)worker_process_wait(slot, -1);
    }
}

/* --------------------------------------------------------------------------------- ending */

static struct worker_verdict judge(struct worker_slot *slot)
{
    worker_lock(slot->worker);
    struct worker_ending ending = {
        .started = slot->process.state == PROCESS_ENDED,
        .wait_status = slot->process.wait_status,
        .killed_for = slot->control.lost ? WORKER_KILL_LEASE_LOST : slot->process.kill_for,
        .out_of_memory_seen = slot->process.out_of_memory_seen,
        .unprepared = slot->given_back_ms > 0,
        .done = slot->done,
        .failed_class = slot->failed ? slot->failed_class : NULL,
        .failed_text = slot->failed_text,
    };
    bool draining = slot->worker->draining;
    worker_unlock(slot->worker);
    if (slot->broken && ending.killed_for != WORKER_KILL_LEASE_LOST) {
        ending.done = false;
        ending.killed_for = WORKER_KILL_PROTOCOL;
    } else if (!ending.started && !slot->failed && draining) {
        ending.killed_for = WORKER_KILL_DRAIN; /* it never came to a start */
    }
    return worker_classify(&ending);
}

/* What the child wrote to its standard error goes into the attempt's log when it died. */
static void keep_log_tail(struct worker_slot *slot)
{
    char tail[LOG_TAIL_BYTES + 1];
    off_t size = slot->log_fd >= 0 ? lseek(slot->log_fd, 0, SEEK_END) : 0;
    off_t from = size > LOG_TAIL_BYTES ? size - LOG_TAIL_BYTES : 0;
    ssize_t n = size > 0 ? pread(slot->log_fd, tail, LOG_TAIL_BYTES, from) : 0;
    if (n <= 0) {
        return;
    }
    tail[n] = '\0';
    char *rest = NULL;
    for (char *line = strtok_r(tail, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        (void)worker_pending_line(&slot->pending, "error", line);
    }
}

static void close_attempt(struct worker_slot *slot)
{
    wire_channel_destroy(slot->channel);
    slot->channel = NULL;
    if (slot->log_fd >= 0) {
        (void)close(slot->log_fd);
    }
    if (slot->directory_fd >= 0) {
        (void)close(slot->directory_fd);
    }
    if (!worker_directory_remove(slot->worker->attempts_fd, slot->directory_name)) {
        log_event(slot->worker->log, SV_LOG_WARN, "directory_not_removed",
                  LOG_TEXT("attempt", slot->directory_name));
    }
    worker_pending_deinit(&slot->pending);
    json_decref(slot->failed_record);
    json_decref(slot->done_record);
    store_memory_clear(&slot->memory);
}

static void log_verdict(struct worker_slot *slot, const struct worker_verdict *verdict)
{
    static const char *const outcomes[] = {
        [WORKER_DONE] = "done",
        [WORKER_CANCELLED] = "cancelled",
        [WORKER_GIVEN_BACK] = "given_back",
        [WORKER_FAILED] = "failed",
        [WORKER_LOST] = "lost",
    };
    bool failed = verdict->outcome == WORKER_FAILED;
    log_event(slot->worker->log, failed ? SV_LOG_WARN : SV_LOG_INFO, "attempt_ended",
              LOG_TEXT("attempt", slot->directory_name),
              LOG_TEXT("outcome", slot->done && verdict->outcome == WORKER_DONE
                                      ? slot->done_outcome
                                      : outcomes[verdict->outcome]),
              LOG_TEXT("class", failed ? worker_class_slug(verdict->class) : ""),
              LOG_TEXT("text", verdict->text));
}

static void run_attempt(struct worker_slot *slot)
{
    log_event(slot->worker->log, SV_LOG_INFO, "attempt_started",
              LOG_TEXT("attempt", slot->directory_name), LOG_TEXT("role", slot->task->role));
    if (worker_slot_begin(slot)) {
        talk(slot);
    }
    worker_lock(slot->worker);
    bool running = slot->process.state == PROCESS_RUNNING;
    worker_unlock(slot->worker);
    if (running) {
        see_off(slot);
    }
    struct worker_verdict verdict = judge(slot);
    if (verdict.outcome == WORKER_FAILED) {
        keep_log_tail(slot);
    }
    slot->broken = false; /* the end may be recorded even when a commit could not */
    slot->task->end(slot, &verdict);
    log_verdict(slot, &verdict);
    close_attempt(slot);
}

/* Everything of the last attempt is forgotten. */
static void reset(struct worker_slot *slot)
{
    slot->directory_fd = slot->log_fd = -1;
    slot->channel = NULL;
    slot->sent_cancel = slot->sent_stop = slot->sent_pause = slot->sent_drain = false;
    slot->sent_threads = 0;
    slot->started = slot->done = slot->failed = slot->broken = false;
    slot->checkpoint_missed = false;
    slot->given_back_ms = 0;
    slot->silent_ms = slot->most_silent_ms = 0;
    slot->done_outcome[0] = slot->failed_class[0] = slot->failed_text[0] = '\0';
    slot->done_record = slot->failed_record = NULL;
    slot->stored_checkpoint_ms = sv_clock_monotonic_ms();
    memset(slot->parts, 0, sizeof slot->parts);
    slot->n_artefacts = 0;
}

void *worker_slot_main(void *arg)
{
    struct worker_slot *slot = arg;
    struct worker *worker = slot->worker;
    worker_lock(worker);
    for (;;) {
        while (!slot->busy && !worker->draining) {
            (void)pthread_cond_wait(&worker->changed, &worker->mutex);
        }
        if (!slot->busy) {
            break;
        }
        worker_unlock(worker);
        reset(slot);
        run_attempt(slot);
        worker_lock(worker);
        slot->busy = false;
        slot->process = (struct worker_process){.pid_fd = -1};
        worker_share_cores(worker);
        worker_wake(worker->keeper_wake_fd);
    }
    slot->finished = true;
    worker_unlock(worker);
    worker_wake(worker->supervisor_wake_fd);
    return NULL;
}
