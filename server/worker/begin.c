/* SPDX-License-Identifier: MIT
 *
 * The beginning of an attempt: its directory, its inputs, its child. What fails here by no fault of
 * the trial gives it back (trouble.c).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "server/worker/directory.h"
#include "server/worker/worker_internal.h"

enum { GIVEN_BACK_MS = 1000 }; /* longer than the worker's pause */

static bool open_directory(struct worker_slot *slot)
{
    struct worker *worker = slot->worker;
    slot->directory_fd = worker_directory_make_private(worker->attempts_fd, slot->directory_name,
                                                       worker->uid, worker->gid);
    if (slot->directory_fd < 0) {
        return false;
    }
    slot->log_fd = openat(slot->directory_fd, "log",
                          O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
    return slot->log_fd >= 0;
}

static bool send_start(struct worker_slot *slot, const json_t *start)
{
    char *text = json_dumps(start, JSON_COMPACT);
    bool sent = text && wire_queue(slot->channel, WIRE_START, text, strlen(text)) == SV_OK;
    free(text);
    return sent;
}

/* This worker cannot prepare the attempt, which is no fault of the trial: it goes back, for longer
 * than the worker pauses, so that one that cannot be prepared here does not keep others waiting. */
static void give_back(struct worker_slot *slot, const char *text)
{
    slot->given_back_ms = worker_trouble_met(slot->worker, text) + GIVEN_BACK_MS;
}

/* Starts the child and sends its start record. */
static bool start_child(struct worker_slot *slot, const json_t *start)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0) {
        give_back(slot, "no socket for a child is to be had");
        return false;
    }
    struct wire_limits limits = {.max_payload = (size_t)64 << 20, .max_outgoing = (size_t)8 << 20};
    if (wire_channel_create(pair[0], limits, &slot->channel, NULL) != SV_OK) {
        (void)close(pair[1]);
        give_back(slot, "no channel to a child is to be had");
        return false;
    }
    worker_lock(slot->worker);
    struct worker_spawn *spawn = &slot->process.spawn;
    spawn->program = slot->worker->setup->program;
    spawn->role = slot->task->role;
    spawn->core_type = slot->worker->environment.core_type;
    spawn->directory_fd = slot->directory_fd;
    spawn->socket_fd = pair[1];
    spawn->log_fd = slot->log_fd;
    spawn->uid = slot->worker->uid;
    spawn->gid = slot->worker->gid;
    worker_unlock(slot->worker);
    bool running = worker_process_start(slot);
    (void)close(pair[1]);
    if (!running) {
        give_back(slot, "a child process cannot be started");
        return false;
    }
    worker_trouble_over(slot->worker);
    return send_start(slot, start);
}

/* Directory and inputs, and the start record of the child. */
static enum sv_status prepare(struct worker_slot *slot, json_t **out_start, struct sv_error *err)
{
    enum sv_status st;
    int tries = 0;
    if (!open_directory(slot)) {
        return sv_fail(err, SV_ERR_INTERNAL, "no directory for an attempt can be made: %s",
                       strerrordesc_np(errno));
    }
    do {
        if (tries++ > 0) { /* what stands in it is in the way */
            (void)worker_directory_clear(slot->directory_fd);
        }
        json_decref(*out_start);
        *out_start = NULL;
        st = slot->task->prepare(slot, out_start, err);
    } while (!worker_is_draining(slot->worker) && st != SV_ERR_INTERNAL &&
             worker_slot_retry(slot, st, err));
    return st;
}

bool worker_slot_begin(struct worker_slot *slot)
{
    json_t *start = NULL;
    struct sv_error err = {0};
    enum sv_status st = prepare(slot, &start, &err);
    if (st == SV_ERR_INTERNAL) {
        give_back(slot, err.text);
    }
    bool begun = st == SV_OK && !worker_is_draining(slot->worker) && start_child(slot, start);
    json_decref(start);
    if (!begun && !slot->given_back_ms && !worker_slot_lost(slot) &&
        !worker_is_draining(slot->worker)) {
        slot->failed = true;
        slot->broken = false;
        (void)snprintf(slot->failed_class, sizeof slot->failed_class, "internal");
        (void)snprintf(slot->failed_text, sizeof slot->failed_text, "%.300s",
                       err.text[0] ? err.text : "the attempt could not be prepared");
    }
    return begun;
}
