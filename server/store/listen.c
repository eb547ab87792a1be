/* SPDX-License-Identifier: MIT
 *
 * The listening connection. A notification is only a hint that makes things faster: after every
 * connect the caller is told to read the state, and a silent connection is asked now and then
 * whether it still lives, since a half-open one never says so by itself.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/base/clock.h"
#include "server/store/events.h"
#include "server/store/sql_internal.h"

enum { CHECK_MS = 10000 };

struct store_listener {
    struct store *store;
    PGconn *pg; /* NULL while away */
    int64_t check_at_ms;
};

enum sv_status store_listener_open(struct store *store, struct store_listener **out_listener,
                                   struct sv_error *err)
{
    struct store_listener *listener = calloc(1, sizeof *listener);
    if (!listener) {
        return sv_fail(err, SV_ERR_INTERNAL, "out of memory");
    }
    listener->store = store;
    *out_listener = listener;
    return SV_OK;
}

static void disconnect(struct store_listener *listener)
{
    PQfinish(listener->pg);
    listener->pg = NULL;
}

void store_listener_close(struct store_listener *listener)
{
    if (listener) {
        disconnect(listener);
        free(listener);
    }
}

static enum sv_status lost(struct store_listener *listener, struct sv_error *err)
{
    disconnect(listener);
    return sv_fail(err, SV_ERR_DATABASE, "the database cannot be reached");
}

static bool run_plain(struct store_listener *listener, const char *sql)
{
    bool done = sql_command_plain(listener->pg, sql, store_patience_ms(listener->store));
    listener->check_at_ms = sv_clock_monotonic_ms() + CHECK_MS;
    return done;
}

static enum sv_status connect_listener(struct store_listener *listener, struct sv_error *err)
{
    enum sv_status st = store_connect(listener->store, &listener->pg, err);
    if (st == SV_OK && !run_plain(listener, "listen assay_changes")) {
        st = lost(listener, err);
    }
    return st;
}

static const char *const SUBJECTS[] = {[STORE_SUBJECT_JOB] = "job",
                                       [STORE_SUBJECT_DATASET] = "dataset",
                                       [STORE_SUBJECT_WEIGHTS] = "weights",
                                       [STORE_SUBJECT_PREDICTION] = "predict"};

/* "job|dataset|weights|predict <id> <project> <revision> <event>"; false for anything else, which
 * others may send.
 */
static bool parse_change(const char *payload, struct store_change *out_change)
{
    char what[8];
    struct store_change change = {0};
    int words = 0;
    if (sscanf(payload, "%7[a-z] %32[0-9a-f] %32[0-9a-f]%n", what, change.id, change.project_id,
               &words) != 3 ||
        !sv_id_is_valid(change.id) || !sv_id_is_valid(change.project_id)) {
        return false;
    }
    char *end = NULL;
    change.revision = strtoll(payload + words, &end, 10);
    change.event_id = strtoll(end, &end, 10);
    if (*end != '\0' || change.revision < 1 || change.event_id < 0) {
        return false;
    }
    for (size_t i = 0; i < sizeof SUBJECTS / sizeof SUBJECTS[0]; i++) {
        if (strcmp(what, SUBJECTS[i]) == 0) {
            change.subject = (enum store_subject)i;
            *out_change = change;
            return true;
        }
    }
    return false;
}

static bool next_change(struct store_listener *listener, struct store_change *out_change)
{
    bool found = false;
    PGnotify *notify;
    while (!found && (notify = PQnotifies(listener->pg)) != NULL) {
        found = parse_change(notify->extra, out_change);
        PQfreemem(notify);
    }
    return found;
}

/* Sleeps until the socket or wake_fd is readable or the time is up; *out_woken: it was wake_fd. */
static void wait_readable(struct store_listener *listener, int wake_fd, int64_t ms, bool *out_woken)
{
    struct pollfd fds[2] = {{.fd = PQsocket(listener->pg), .events = POLLIN},
                            {.fd = wake_fd, .events = POLLIN}};
    int n = poll(fds, 2, ms > 0 ? (int)ms : 0); /* a negative descriptor is ignored */
    *out_woken = n > 0 && fds[1].revents != 0;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

enum sv_status store_listener_wait(struct store_listener *listener, int timeout_ms, int wake_fd,
                                   enum store_heard *out_heard, struct store_change *out_change,
                                   struct sv_error *err)
{
    if (!listener->pg) {
        enum sv_status st = connect_listener(listener, err);
        if (st == SV_OK) {
            *out_heard = STORE_HEARD_CONNECTED;
        }
        return st;
    }
    int64_t end_ms = sv_clock_monotonic_ms() + timeout_ms;
    for (;;) {
        if (next_change(listener, out_change)) {
            *out_heard = STORE_HEARD_CHANGE;
            return SV_OK;
        }
        int64_t now_ms = sv_clock_monotonic_ms();
        if (now_ms >= listener->check_at_ms && !run_plain(listener, "select 1")) {
            return lost(listener, err);
        }
        bool woken = false;
        wait_readable(listener, wake_fd, least(end_ms, listener->check_at_ms) - now_ms, &woken);
        if (!PQconsumeInput(listener->pg)) {
            return lost(listener, err);
        }
        if (next_change(listener, out_change)) {
            *out_heard = STORE_HEARD_CHANGE;
            return SV_OK;
        }
        if (woken || sv_clock_monotonic_ms() >= end_ms) {
            *out_heard = STORE_HEARD_NOTHING;
            return SV_OK;
        }
    }
}
