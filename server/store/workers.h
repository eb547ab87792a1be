/* SPDX-License-Identifier: MIT
 *
 * Worker instances: one a start of `assayd work`, with a random id. While it lives it holds a
 * session advisory lock on a connection of its own, so that a later start on the same data
 * directory can tell a dead instance from a slow one.
 */
#ifndef STORE_WORKERS_H
#define STORE_WORKERS_H

#include "server/store/store.h"

struct store_worker_info {
    const char *node_id; /* id kept in the data directory (sv_id_make at its first use) */
    const char *host, *build, *core_type, *instruction_set, *cpu;
    int pid, core_tokens;
};

/* Confined to one thread. */
struct store_instance;

/* Registers an instance and takes its lock; then gives trials and imports of dead instances of the
 * same node back to the queue at once (as store_reap does). *out_reaped may be NULL. */
SV_MUST_CHECK enum sv_status store_instance_open(struct store *store,
                                                 const struct store_worker_info *info,
                                                 struct store_instance **out_instance,
                                                 size_t *out_reaped, struct sv_error *err);
/* The worker id that claims carry. */
const char *store_instance_id(const struct store_instance *instance);
/* Keeps the instance's row fresh and takes the lock again after a lost connection. Call it with
 * each heartbeat. trouble: what keeps the worker from preparing attempts, "": nothing. */
SV_MUST_CHECK enum sv_status store_instance_renew(struct store_instance *instance,
                                                  const char *trouble, struct sv_error *err);
/* Says that it stops (when the database is there) and frees. NULL is allowed. */
void store_instance_close(struct store_instance *instance);

/* SV_OK when the newest instance on the data directory of that id has given a sign within
 * silent_ms and can work; else SV_ERR_WRONG_STATE says why. */
SV_MUST_CHECK enum sv_status store_worker_check(struct store *store, const char *node_id,
                                                int silent_ms, struct sv_error *err);

#endif
