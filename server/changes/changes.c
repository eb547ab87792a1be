/* SPDX-License-Identifier: MIT
 *
 * The listening thread and the lookups.
 *
 * Invariants, under the mutex:
 * 1. While listening, the revision of a job's entry is never below what the database has committed
 *    and notified; it is only given out while listening.
 * 2. An entry is learnt from a query only if nothing was lost or evicted since before the query:
 *    else a newer notification might have been forgotten in between.
 * 3. Who has been told a revision is never told an older one, nor a list from before it; who has
 *    written is never told what was before the write.
 * 4. A waiter is in the table, or has been woken, from the moment changes_wait returns.
 */
#include "server/changes/changes.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "server/changes/changes_internal.h"

#define DEFAULT_ENTRIES 16384
#define DEFAULT_RETRY   200
#define RETRY_MAX_MS    5000
#define WAIT_MS         10000

/* -------------------------------------------------------------------------------- the thread */

static void heard_notice(struct changes *changes, const struct changes_notice *notice)
{
    struct changes_woken woken = {0};
    bool evicted = false;
    (void)pthread_mutex_lock(&changes->mutex);
    changes->generation++;
    struct changes_entry *entry = changes_map_put(&changes->map, notice->id, &evicted);
    if (evicted) {
        changes->evicted = changes->generation;
    }
    memcpy(entry->job_id, notice->id, sizeof entry->job_id);
    memcpy(entry->project_id, notice->project_id, sizeof entry->project_id);
    if (notice->revision > entry->revision) {
        entry->revision = notice->revision;
    }
    changes_waits_take(&changes->waits, notice->id, entry->revision, &woken);
    (void)pthread_mutex_unlock(&changes->mutex);
    changes_woken_wake(&woken);
}

static void heard_connected(struct changes *changes)
{
    struct changes_woken woken = {0};
    (void)pthread_mutex_lock(&changes->mutex);
    changes_map_clear(&changes->map);
    changes->lost = ++changes->generation;
    changes->listening = true;
    changes_waits_take(&changes->waits, NULL, 0, &woken);
    (void)pthread_mutex_unlock(&changes->mutex);
    log_event(changes->settings.log, SV_LOG_INFO, "changes_listening",
              LOG_INT("woken", woken.count));
    changes_woken_wake(&woken);
}

static void heard_loss(struct changes *changes, const struct sv_error *err)
{
    (void)pthread_mutex_lock(&changes->mutex);
    bool was = changes->listening;
    changes->listening = false;
    changes->lost = ++changes->generation;
    (void)pthread_mutex_unlock(&changes->mutex);
    if (was) {
        log_event(changes->settings.log, SV_LOG_WARN, "changes_lost",
                  LOG_TEXT("detail", err->text));
    }
}

static bool is_stopped(struct changes *changes)
{
    (void)pthread_mutex_lock(&changes->mutex);
    bool stop = changes->stop;
    (void)pthread_mutex_unlock(&changes->mutex);
    return stop;
}

static void *listen_thread(void *arg)
{
    struct changes *changes = arg;
    const struct changes_source *source = &changes->settings.source;
    unsigned pause_ms = changes->settings.retry_ms;
    while (!is_stopped(changes)) {
        enum changes_heard heard = CHANGES_HEARD_NOTHING;
        struct changes_notice notice;
        struct sv_error err = {0};
        if (source->wait(source->ctx, WAIT_MS, changes->wake_fd, &heard, &notice, &err) != SV_OK) {
            struct pollfd wake = {.fd = changes->wake_fd, .events = POLLIN};
            heard_loss(changes, &err);
            (void)poll(&wake, 1, (int)pause_ms);
            pause_ms = pause_ms * 2 < RETRY_MAX_MS ? pause_ms * 2 : RETRY_MAX_MS;
            continue;
        }
        switch (heard) {
        case CHANGES_HEARD_NOTICE:
            heard_notice(changes, &notice);
            break;
        case CHANGES_HEARD_CONNECTED:
            pause_ms = changes->settings.retry_ms;
            heard_connected(changes);
            break;
        case CHANGES_HEARD_NOTHING:
            break;
        }
    }
    return NULL;
}

/* ---------------------------------------------------------------------------- birth and death */

static void changes_free(struct changes *changes)
{
    if (changes->wake_fd >= 0) {
        (void)close(changes->wake_fd);
    }
    changes_map_deinit(&changes->map);
    changes_answers_deinit(&changes->answers);
    free(changes->waits.slots);
    (void)pthread_mutex_destroy(&changes->mutex);
    free(changes);
}

enum sv_status changes_create(const struct changes_settings *settings, struct changes **out,
                              struct sv_error *err)
{
    struct changes *changes = calloc(1, sizeof *changes);
    if (!changes || pthread_mutex_init(&changes->mutex, NULL) != 0) {
        free(changes);
        return sv_fail(err, SV_ERR_INTERNAL, "out of memory");
    }
    changes->settings = *settings;
    changes->settings.retry_ms = settings->retry_ms ? settings->retry_ms : DEFAULT_RETRY;
    changes->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    size_t entries = settings->max_entries ? settings->max_entries : DEFAULT_ENTRIES;
    bool made = changes->wake_fd >= 0 && changes_map_init(&changes->map, entries) &&
                changes_answers_init(&changes->answers, settings->answer_bytes) &&
                pthread_create(&changes->thread, NULL, listen_thread, changes) == 0;
    if (!made) {
        changes_free(changes);
        return sv_fail(err, SV_ERR_INTERNAL, "cannot start listening for changes");
    }
    *out = changes;
    return SV_OK;
}

void changes_destroy(struct changes *changes)
{
    uint64_t one = 1;
    if (!changes) {
        return;
    }
    (void)pthread_mutex_lock(&changes->mutex);
    changes->stop = true;
    (void)pthread_mutex_unlock(&changes->mutex);
    (void)!write(changes->wake_fd, &one, sizeof one);
    (void)pthread_join(changes->thread, NULL);
    changes_free(changes);
}

/* -------------------------------------------------------------------------------------- lookups */

bool changes_is_listening(struct changes *changes)
{
    (void)pthread_mutex_lock(&changes->mutex);
    bool listening = changes->listening;
    (void)pthread_mutex_unlock(&changes->mutex);
    return listening;
}

/* The job's entry that id leads to, or NULL. */
static struct changes_entry *job_entry(struct changes *changes, const char *id)
{
    struct changes_entry *entry = changes_map_find(&changes->map, id);
    if (entry && strcmp(entry->job_id, id) != 0) {
        entry = changes_map_find(&changes->map, entry->job_id);
    }
    return entry;
}

bool changes_revision(struct changes *changes, const char *project_id, const char *id,
                      int64_t *out_revision)
{
    (void)pthread_mutex_lock(&changes->mutex);
    const struct changes_entry *entry = changes->listening ? job_entry(changes, id) : NULL;
    bool known = entry && strcmp(entry->project_id, project_id) == 0;
    if (known) {
        *out_revision = entry->revision;
    }
    (void)pthread_mutex_unlock(&changes->mutex);
    return known;
}

bool changes_generation(struct changes *changes, uint64_t *out_generation)
{
    (void)pthread_mutex_lock(&changes->mutex);
    bool listening = changes->listening;
    if (listening) {
        *out_generation = changes->generation;
    }
    (void)pthread_mutex_unlock(&changes->mutex);
    return listening;
}

struct changes_mark changes_mark(struct changes *changes)
{
    (void)pthread_mutex_lock(&changes->mutex);
    struct changes_mark mark = {changes->generation};
    (void)pthread_mutex_unlock(&changes->mutex);
    return mark;
}

static struct changes_entry *learn_one(struct changes *changes, const char *id, const char *job_id)
{
    bool evicted = false;
    struct changes_entry *entry = changes_map_put(&changes->map, id, &evicted);
    if (evicted) {
        changes->evicted = ++changes->generation;
    }
    (void)snprintf(entry->job_id, sizeof entry->job_id, "%s", job_id);
    return entry;
}

void changes_learn(struct changes *changes, struct changes_mark mark, const char *project_id,
                   const char *id, const char *job_id, int64_t revision)
{
    (void)pthread_mutex_lock(&changes->mutex);
    if (changes->listening && changes->lost <= mark.epoch && changes->evicted <= mark.epoch) {
        struct changes_entry *entry = learn_one(changes, id, job_id);
        if (strcmp(id, job_id) != 0) {
            entry = learn_one(changes, job_id, job_id);
        }
        (void)snprintf(entry->project_id, sizeof entry->project_id, "%s", project_id);
        if (revision > entry->revision) {
            entry->revision = revision;
            changes->generation++; /* lists that were kept may be older than this */
        }
    }
    (void)pthread_mutex_unlock(&changes->mutex);
}

void changes_wrote(struct changes *changes)
{
    (void)pthread_mutex_lock(&changes->mutex);
    changes_map_clear(&changes->map);
    changes->evicted = ++changes->generation;
    (void)pthread_mutex_unlock(&changes->mutex);
}

/* --------------------------------------------------------------------------------------- waits */

enum sv_status changes_wait(struct changes *changes, struct changes_mark mark, const char *id,
                            int64_t seen, const struct http_request *req,
                            struct http_response *resp, int64_t wait_seconds, struct sv_error *err)
{
    struct changes_waiter waiter = {.seen = seen};
    enum sv_status status = http_park(req, resp, wait_seconds, &waiter.ticket, err);
    if (status != SV_OK) {
        return status;
    }
    (void)pthread_mutex_lock(&changes->mutex);
    const struct changes_entry *entry = job_entry(changes, id);
    const struct changes_entry *own = entry ? entry : changes_map_find(&changes->map, id);
    /* an id that nobody has learnt may be a trial's: woken by anything, it looks again */
    (void)snprintf(waiter.job_id, sizeof waiter.job_id, "%s", own ? own->job_id : "");
    bool forgotten = changes->lost > mark.epoch || changes->evicted > mark.epoch;
    bool at_once = forgotten || (entry && entry->revision > seen) ||
                   !changes_waits_add(&changes->waits, &waiter);
    (void)pthread_mutex_unlock(&changes->mutex);
    if (at_once) {
        http_wake(waiter.ticket);
    }
    return SV_OK;
}

enum sv_status changes_wait_any(struct changes *changes, uint64_t generation,
                                const struct http_request *req, struct http_response *resp,
                                int64_t wait_seconds, struct sv_error *err)
{
    struct changes_waiter waiter = {.seen = 0};
    enum sv_status status = http_park(req, resp, wait_seconds, &waiter.ticket, err);
    if (status != SV_OK) {
        return status;
    }
    (void)pthread_mutex_lock(&changes->mutex);
    bool at_once =
        changes->generation != generation || !changes_waits_add(&changes->waits, &waiter);
    (void)pthread_mutex_unlock(&changes->mutex);
    if (at_once) {
        http_wake(waiter.ticket);
    }
    return SV_OK;
}

void changes_watch(struct changes *changes, struct http_ticket ticket)
{
    struct changes_waiter waiter = {.ticket = ticket};
    (void)pthread_mutex_lock(&changes->mutex);
    (void)changes_waits_add(&changes->waits, &waiter); /* else the heartbeat looks */
    (void)pthread_mutex_unlock(&changes->mutex);
}
