/* SPDX-License-Identifier: MIT
 *
 * The database of one command that may run without the daemon: the configured one, the embedded
 * cluster that a daemon runs, or the embedded cluster run by the command itself for its time.
 */
#ifndef APP_DATABASE_H
#define APP_DATABASE_H

#include <sys/types.h>

#include "server/app/app_internal.h"
#include "server/store/cluster.h"

struct app_database {
    char conninfo[STORE_CONNINFO_SIZE];
    struct store_cluster cluster;
    pid_t postgres; /* ours to stop; 0: not */
    int lock_fd;    /* of the data directory while we run its cluster, else -1 */
};

/* `make`: makes data directory and cluster where they are missing; else that is SV_ERR_NOT_FOUND.
 * Blocks nothing; call it before threads exist. */
SV_MUST_CHECK enum sv_status app_database_open(const struct app *app, bool make,
                                               struct app_database *out_database,
                                               struct sv_error *err);
/* Stops what was started and waits for its end. */
void app_database_close(struct app_database *database);

/* Starts the cluster's postmaster in a process group of its own; <= 0 when it cannot. */
pid_t app_postgres_fork(const struct store_cluster *cluster,
                        const struct store_cluster_options *options);

#endif
