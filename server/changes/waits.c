/* SPDX-License-Identifier: MIT
 *
 * Who waits for what. A waiter leaves the table when it is woken; one whose request has ended
 * otherwise stays until its slot is used again or woken, which does nothing.
 */
#include <stdlib.h>
#include <string.h>

#include "server/changes/changes_internal.h"

bool changes_waits_add(struct changes_waits *waits, const struct changes_waiter *waiter)
{
    size_t slot = waiter->ticket.slot;
    if (slot >= waits->count) {
        size_t count = (slot + 16) * 2;
        struct changes_waiter *grown = realloc(waits->slots, count * sizeof *grown);
        if (!grown) {
            return false;
        }
        memset(grown + waits->count, 0, (count - waits->count) * sizeof *grown);
        waits->slots = grown;
        waits->count = count;
    }
    waits->slots[slot] = *waiter;
    return true;
}

static bool woken_add(struct changes_woken *woken, struct http_ticket ticket)
{
    if (woken->count == woken->capacity) {
        size_t capacity = woken->capacity ? woken->capacity * 2 : 16;
        struct http_ticket *grown = realloc(woken->tickets, capacity * sizeof *grown);
        if (!grown) {
            return false;
        }
        woken->tickets = grown;
        woken->capacity = capacity;
    }
    woken->tickets[woken->count++] = ticket;
    return true;
}

static bool waits_for(const struct changes_waiter *waiter, const char *job_id, int64_t revision)
{
    if (!waiter->ticket.server) {
        return false;
    }
    return !job_id || !waiter->job_id[0] ||
           (strcmp(waiter->job_id, job_id) == 0 && revision > waiter->seen);
}

void changes_waits_take(struct changes_waits *waits, const char *job_id, int64_t revision,
                        struct changes_woken *out)
{
    for (size_t i = 0; i < waits->count; i++) {
        struct changes_waiter *waiter = &waits->slots[i];
        if (waits_for(waiter, job_id, revision) && woken_add(out, waiter->ticket)) {
            waiter->ticket.server = NULL;
        }
    }
}

void changes_woken_wake(struct changes_woken *woken)
{
    for (size_t i = 0; i < woken->count; i++) {
        http_wake(woken->tickets[i]);
    }
    free(woken->tickets);
    *woken = (struct changes_woken){0};
}
