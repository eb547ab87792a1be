/* SPDX-License-Identifier: MIT
 *
 * Parked requests. The table of slots is the cap. A slot belongs to one request from its first park
 * to its answer:
 *
 *     FREE --arm--> ARMED --commit--> PARKED --wake, deadline, drain--> ARMED (request queued)
 *       ^             |                  |
 *       +---release---+----- gone -------+
 *
 * Each arming raises the generation, so a ticket names one park only. A wake that comes while the
 * slot is armed is remembered, and commit then queues the request at once: no wake is lost between
 * the handler's look at the data and the park.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "server/base/clock.h"
#include "server/http/server_internal.h"

#define NO_SLOT UINT32_MAX

enum sv_status http_park_init(struct http_server *server, uint32_t count, struct sv_error *err)
{
    server->slots = calloc(count, sizeof *server->slots);
    if (!server->slots) {
        return sv_fail(err, SV_ERR_INTERNAL, "out of memory");
    }
    server->slot_count = count;
    for (uint32_t i = 0; i < count; i++) {
        server->slots[i].next_free = i + 1 < count ? i + 1 : NO_SLOT;
    }
    return SV_OK;
}

void http_park_deinit(struct http_server *server)
{
    free(server->slots);
    server->slots = NULL;
}

static void release_locked(struct http_server *server, struct http_exchange *ex)
{
    struct http_slot *slot = &server->slots[ex->slot];
    slot->state = HTTP_SLOT_FREE;
    slot->generation++;
    slot->exchange = NULL;
    slot->next_free = server->first_free;
    server->first_free = (uint32_t)ex->slot;
    ex->slot = -1;
}

void http_park_release(struct http_exchange *ex)
{
    struct http_server *server = ex->server;
    if (ex->slot < 0) { /* only the owner changes it */
        return;
    }
    (void)pthread_mutex_lock(&server->mutex);
    release_locked(server, ex);
    (void)pthread_mutex_unlock(&server->mutex);
}

enum sv_status http_park_arm(struct http_exchange *ex, struct http_ticket *out_ticket,
                             struct sv_error *err)
{
    struct http_server *server = ex->server;
    (void)pthread_mutex_lock(&server->mutex);
    if (ex->slot < 0 && server->first_free != NO_SLOT) {
        ex->slot = (int32_t)server->first_free;
        server->first_free = server->slots[ex->slot].next_free;
    }
    bool found = ex->slot >= 0;
    if (found) {
        struct http_slot *slot = &server->slots[ex->slot];
        slot->state = HTTP_SLOT_ARMED;
        slot->generation++;
        slot->exchange = ex;
        slot->woken = atomic_load(&server->draining);
        *out_ticket = (struct http_ticket){server, (uint32_t)ex->slot, slot->generation};
    }
    (void)pthread_mutex_unlock(&server->mutex);
    return found ? SV_OK
                 : sv_fail(err, SV_ERR_TOO_MANY, "too many requests are waiting for changes");
}

enum sv_status http_park(const struct http_request *req, struct http_response *resp,
                         int64_t wait_seconds, struct http_ticket *out_ticket, struct sv_error *err)
{
    struct http_exchange *ex = http_exchange_of(req);
    enum sv_status status = http_park_arm(ex, out_ticket, err);
    if (status == SV_OK) {
        if (!ex->wait_until_ms) {
            ex->wait_until_ms = sv_clock_monotonic_ms() + wait_seconds * 1000;
        }
        resp->kind = HTTP_KIND_PARK;
    }
    return status;
}

/* The slot's request goes back to the request threads. */
static void requeue_locked(struct http_server *server, struct http_slot *slot, enum http_wake why)
{
    struct http_exchange *ex = slot->exchange;
    if (slot->state == HTTP_SLOT_PARKED) {
        server->parked--;
    }
    slot->state = HTTP_SLOT_ARMED;
    slot->woken = false;
    ex->request.wake = why;
    http_pool_push_locked(server, ex);
}

bool http_park_commit(struct http_exchange *ex, int64_t deadline_ms)
{
    struct http_server *server = ex->server;
    (void)pthread_mutex_lock(&server->mutex);
    struct http_slot *slot = &server->slots[ex->slot];
    bool goes = !server->pool_stopped;
    if (goes && slot->woken) {
        requeue_locked(server, slot,
                       atomic_load(&server->draining) ? HTTP_WAKE_DRAIN : HTTP_WAKE_CHANGED);
    } else if (goes) {
        slot->state = HTTP_SLOT_PARKED;
        slot->deadline_ms = deadline_ms;
        server->parked++;
    }
    (void)pthread_mutex_unlock(&server->mutex);
    return goes;
}

static void wake_locked(struct http_server *server, struct http_slot *slot, enum http_wake why)
{
    if (slot->state == HTTP_SLOT_PARKED && !server->pool_stopped) {
        requeue_locked(server, slot, why);
    } else if (slot->state == HTTP_SLOT_ARMED) {
        slot->woken = true;
    }
}

void http_wake(struct http_ticket ticket)
{
    struct http_server *server = ticket.server;
    if (!server) {
        return;
    }
    (void)pthread_mutex_lock(&server->mutex);
    struct http_slot *slot = &server->slots[ticket.slot];
    if (slot->generation == ticket.generation) {
        wake_locked(server, slot, HTTP_WAKE_CHANGED);
    }
    (void)pthread_mutex_unlock(&server->mutex);
}

void http_park_wake_all(struct http_server *server, enum http_wake why)
{
    (void)pthread_mutex_lock(&server->mutex);
    for (uint32_t i = 0; i < server->slot_count; i++) {
        wake_locked(server, &server->slots[i], why);
    }
    (void)pthread_mutex_unlock(&server->mutex);
}

static bool client_is_gone(const struct http_exchange *ex)
{
    char byte;
    ssize_t n = recv(ex->connection->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
}

/* Takes the slot's request out of the table for good, or for a heartbeat. */
static struct http_exchange *unpark_locked(struct http_server *server, struct http_slot *slot,
                                           struct http_exchange *list)
{
    struct http_exchange *ex = slot->exchange;
    server->parked--;
    slot->state = HTTP_SLOT_ARMED;
    if (ex->gone) {
        release_locked(server, ex);
    }
    ex->next = list;
    return ex;
}

void http_park_tick(struct http_server *server, int64_t now_ms, bool look_for_gone)
{
    struct http_exchange *list = NULL; /* ours until resumed */
    (void)pthread_mutex_lock(&server->mutex);
    for (uint32_t i = 0; i < server->slot_count && server->parked; i++) {
        struct http_slot *slot = &server->slots[i];
        if (slot->state != HTTP_SLOT_PARKED || server->pool_stopped) {
            continue;
        }
        struct http_exchange *ex = slot->exchange;
        ex->gone = look_for_gone && client_is_gone(ex);
        bool late = slot->deadline_ms <= now_ms;
        if (ex->gone || (late && ex->task == HTTP_TASK_FILL)) {
            list = unpark_locked(server, slot, list);
        } else if (late) {
            requeue_locked(server, slot, HTTP_WAKE_DEADLINE);
        }
    }
    (void)pthread_mutex_unlock(&server->mutex);
    while (list) {
        struct http_exchange *ex = list;
        list = ex->next;
        if (ex->task == HTTP_TASK_FILL) {
            http_stream_heartbeat(ex);
        }
        http_exchange_resume(ex);
    }
}
