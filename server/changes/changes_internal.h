/* SPDX-License-Identifier: MIT
 *
 * The parts behind changes.h. One mutex guards map, waits and answers; it is never held while a
 * ticket is woken or the source is asked.
 */
#ifndef CHANGES_CHANGES_INTERNAL_H
#define CHANGES_CHANGES_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "server/changes/changes.h"

/* ------------------------------------------------------------------------------------- map.c */

/* What is known of an id. A trial's entry has another job_id than id and no revision of its own. */
struct changes_entry {
    char id[33];
    char job_id[33];
    char project_id[33];
    int64_t revision;
    uint32_t next;         /* in the bucket */
    uint32_t older, newer; /* in order of use */
};

/* Fixed number of entries; the least recently used one makes room. */
struct changes_map {
    struct changes_entry *entries;
    uint32_t *buckets;
    uint32_t capacity, count; /* entries in use are 0..count-1 */
    uint32_t bucket_count;    /* power of two */
    uint32_t oldest, newest;
};

bool changes_map_init(struct changes_map *map, size_t capacity);
void changes_map_deinit(struct changes_map *map);
void changes_map_clear(struct changes_map *map);
/* NULL if absent; moves it to the newest end. */
struct changes_entry *changes_map_find(struct changes_map *map, const char *id);
/* Finds or makes. *out_evicted: another entry had to go. */
struct changes_entry *changes_map_put(struct changes_map *map, const char *id, bool *out_evicted);

/* ----------------------------------------------------------------------------------- waits.c */

/* One for each slot that a ticket can name, since only the latest ticket of a slot is alive. */
struct changes_waiter {
    struct http_ticket ticket; /* server NULL: none */
    char job_id[33];           /* "": any */
    int64_t seen;
};
struct changes_waits {
    struct changes_waiter *slots;
    size_t count;
};
/* Tickets to be woken once the mutex is released. */
struct changes_woken {
    struct http_ticket *tickets;
    size_t count, capacity;
};

/* False when memory is exhausted. */
bool changes_waits_add(struct changes_waits *waits, const struct changes_waiter *waiter);
/* Moves those that wait for this job beyond `revision`, or for any; job_id NULL: all. Without
 * memory for it some stay, and are woken by their deadline. */
void changes_waits_take(struct changes_waits *waits, const char *job_id, int64_t revision,
                        struct changes_woken *out);
void changes_woken_wake(struct changes_woken *woken);

/* --------------------------------------------------------------------------------- answers.c */

struct changes_answer;
struct changes_answers {
    struct changes_answer **buckets;
    size_t bucket_count;
    struct changes_answer *oldest, *newest;
    size_t bytes, max_bytes;
};
bool changes_answers_init(struct changes_answers *answers, size_t max_bytes);
void changes_answers_deinit(struct changes_answers *answers);

struct changes {
    struct changes_settings settings;
    pthread_mutex_t mutex;
    struct changes_map map;
    struct changes_waits waits;
    struct changes_answers answers;
    uint64_t generation; /* notifications, losses and evictions so far */
    uint64_t lost;       /* generation at the latest loss: what was asked before it is not learnt */
    uint64_t evicted;    /* generation at the latest eviction, likewise */
    bool listening;
    bool stop;
    int wake_fd; /* eventfd: readable when the thread shall end */
    pthread_t thread;
};

#endif
