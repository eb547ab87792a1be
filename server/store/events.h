/* SPDX-License-Identifier: MIT
 *
 * The outbox of events, the connection that listens to changes, and revisions.
 *
 * Event ids rise in order of commit, so a reader that has seen one has seen all before it.
 */
#ifndef STORE_EVENTS_H
#define STORE_EVENTS_H

#include "server/store/store.h"

struct store_event {
    int64_t id;
    const char *kind; /* "job_submitted", "trial_cancel", "trial_completed", "points" ... */
    char job_id[SV_ID_SIZE], trial_id[SV_ID_SIZE], dataset_id[SV_ID_SIZE]; /* "" = none */
    char weights_id[SV_ID_SIZE];
    int64_t revision;   /* of the job, data set or weights */
    const char *detail; /* JSON or NULL */
    const char *actor;
    char created_at[STORE_TIME_SIZE];
};
struct store_event_list {
    struct store_event *rows; /* oldest first */
    size_t n;
    bool gap; /* events after `after` have been trimmed: read the state anew */
};
/* job_id NULL: all of the project. limit <= 500. */
SV_MUST_CHECK enum sv_status store_events_read(struct store *store, const struct store_scope *scope,
                                               const char *job_id, int64_t after, size_t limit,
                                               struct store_memory *memory,
                                               struct store_event_list *out_list,
                                               struct sv_error *err);
/* Id of the latest event of the project, 0 if none: where a stream without Last-Event-ID starts. */
SV_MUST_CHECK enum sv_status store_events_latest(struct store *store,
                                                 const struct store_scope *scope, int64_t *out_id,
                                                 struct sv_error *err);

enum store_subject {
    STORE_SUBJECT_JOB,
    STORE_SUBJECT_DATASET,
    STORE_SUBJECT_WEIGHTS,
    STORE_SUBJECT_PREDICTION
};

/* A job, data set or weights stand at this revision now. */
struct store_change {
    enum store_subject subject;
    char id[SV_ID_SIZE];
    char project_id[SV_ID_SIZE];
    int64_t revision;
    int64_t event_id; /* 0: none, or read by store_revisions_read */
};

/* Revisions of jobs, data sets and weights in order of last change: those changed at or after
 * `since` (RFC 3339, NULL: all), in pages. For filling the map after LISTEN (in this order, so that
 * nothing is missed). *out_next is "" at the end, else the `after` of the next call; `after` NULL
 * at first. */
struct store_change_list {
    struct store_change *rows;
    size_t n;
    const char *next; /* NULL at the end */
};
SV_MUST_CHECK enum sv_status store_revisions_read(struct store *store, const char *since,
                                                  const struct store_page *page,
                                                  struct store_memory *memory,
                                                  struct store_change_list *out_list,
                                                  struct sv_error *err);
/* One of them, for a miss in the map. SV_ERR_NOT_FOUND. */
SV_MUST_CHECK enum sv_status store_revision_get(struct store *store,
                                                const struct store_scope *scope,
                                                enum store_subject subject, const char *id,
                                                int64_t *out_revision, struct sv_error *err);

/* One LISTEN connection of its own, confined to one thread. */
struct store_listener;

/* Does not connect yet. */
SV_MUST_CHECK enum sv_status store_listener_open(struct store *store,
                                                 struct store_listener **out_listener,
                                                 struct sv_error *err);
void store_listener_close(struct store_listener *listener);

enum store_heard {
    STORE_HEARD_CHANGE,    /* *out_change is set */
    STORE_HEARD_NOTHING,   /* time is up, or wake_fd became readable */
    STORE_HEARD_CONNECTED, /* listening now, after a loss too: read the revisions before going on */
};
/* Waits for the next change, up to timeout_ms, or until wake_fd (-1: none) is readable. Connects
 * when needed (SV_ERR_DATABASE: away; call again, not in a tight loop). A silent connection is
 * checked by a round trip every 10 s, so that a half-open one is noticed. */
SV_MUST_CHECK enum sv_status store_listener_wait(struct store_listener *listener, int timeout_ms,
                                                 int wake_fd, enum store_heard *out_heard,
                                                 struct store_change *out_change,
                                                 struct sv_error *err);

#endif
