/* SPDX-License-Identifier: MIT
 *
 * What must be done now and then, by any process and any number of times, and figures for
 * /metrics. Each call does a bounded piece of work.
 */
#ifndef STORE_HOUSEKEEPING_H
#define STORE_HOUSEKEEPING_H

#include "server/store/store.h"

struct store_housekeeping {
    int blob_grace_s;   /* unreferenced for so long: collected; 3600 */
    int event_age_s;    /* 3600 */
    int64_t event_keep; /* at most so many: 100000 */
    int key_age_s;      /* idempotency keys and predictions: 86400 */
};
struct store_housekept {
    size_t blobs, events, keys, predictions;
    size_t chunks; /* groups of chunks that were joined */
};
/* Collects blobs nothing refers to, trims events, idempotency keys and predictions, joins the
 * chunks of ended trials. */
SV_MUST_CHECK enum sv_status store_housekeep(struct store *store,
                                             const struct store_housekeeping *limits,
                                             struct store_housekept *out_done,
                                             struct sv_error *err);

struct store_counters {
    int64_t trials_queued, trials_running, trials_paused; /* now */
    int64_t trials_completed, trials_stopped, trials_cancelled, trials_failed;
    int64_t attempts, attempts_lost;
    int64_t jobs, datasets_ready, datasets_waiting, weights_ready, weights_waiting;
    int64_t imports_running;
    int64_t workers;            /* heard of within the last minute */
    int64_t workers_in_trouble; /* of them: those that claim nothing for trouble of their own */
    int64_t blobs, blob_bytes, events;
    double oldest_queued_s; /* age of the oldest claimable trial; 0: none */
    double database_bytes;
};
SV_MUST_CHECK enum sv_status
store_counters_read(struct store *store, struct store_counters *out_counters, struct sv_error *err);

#endif
