/* SPDX-License-Identifier: MIT
 *
 * The embedded PostgreSQL cluster below the data directory. This room prepares it and says how to
 * run it; the parent process starts the postmaster as its own child.
 *
 *   <data_dir>/pg            the cluster; made as pg.tmp and renamed when whole
 *   <data_dir>/pg-password   password of the role assay, mode 0600
 *   socket directory         <data_dir>/pg-socket, or a short one below /tmp when the path
 *                            would not fit into a socket address
 *
 * Unix socket only, scram, checksums, C.UTF-8, an unprivileged user when the caller is root.
 */
#ifndef STORE_CLUSTER_H
#define STORE_CLUSTER_H

#include <stddef.h>
#include <sys/types.h>

#include "server/base/error.h"

enum { STORE_PATH_SIZE = 1024, STORE_COMMAND_MAX = 24, STORE_CONNINFO_SIZE = 2048 };

struct store_cluster_options {
    const char *data_dir; /* absolute, existing */
    const char *bin_dir;  /* directory of postgres and initdb; NULL: looked for */
    const char *user;     /* who runs it when we are root; NULL: assay, else postgres */
    int max_connections;  /* 0: 100 */
    bool sync;            /* false only in tests: fsync off */
};

/* Value type: paths and ids, no open resources. */
struct store_cluster {
    char bin_dir[STORE_PATH_SIZE];
    char pg_dir[STORE_PATH_SIZE];
    char socket_dir[108];
    char password[65];
    int major; /* of the binaries */
    uid_t uid; /* who runs the postmaster: ours, or the unprivileged user's */
    gid_t gid;
    bool switch_user;  /* set gid, groups and uid before exec */
    pid_t running_pid; /* a live postmaster of this cluster found at preparation, 0 if none: adopt
                          it */
};

/* Makes or finds the cluster: runs initdb where needed, refuses another major version (the text
 * names `assayd backup` and `assayd restore`), accepts a stale pid file, notices a live postmaster.
 * Forks: call it before threads exist. Safe to repeat after a kill at any moment. */
SV_MUST_CHECK enum sv_status store_cluster_prepare(const struct store_cluster_options *options,
                                                   struct store_cluster *out_cluster,
                                                   struct sv_error *err);

/* How to start the postmaster; argv and envp end in NULL and point into the struct. */
struct store_cluster_command {
    char *argv[STORE_COMMAND_MAX];
    char *envp[STORE_COMMAND_MAX];
    char text[8192];
};
void store_cluster_command(const struct store_cluster *cluster,
                           const struct store_cluster_options *options,
                           struct store_cluster_command *out_command);

/* In a forked child: becomes the cluster's user where needed and executes the command; returns only
 * on failure. Async-signal-safe. */
void store_cluster_exec(const struct store_cluster *cluster,
                        const struct store_cluster_command *command);

/* Connection string for our own processes, password included: pass it by environment, never by
 * argument, never to a log. */
void store_cluster_conninfo(const struct store_cluster *cluster,
                            char out_conninfo[STORE_CONNINFO_SIZE]);

/* Waits until the cluster takes connections (through 57P03) and the database assay exists, which it
 * makes at the first time. SV_ERR_DATABASE on time-out. */
SV_MUST_CHECK enum sv_status store_cluster_wait_ready(const struct store_cluster *cluster,
                                                      int timeout_ms, struct sv_error *err);

/* The postmaster's pid as its pid file and /proc have it now; 0 when none is alive. */
pid_t store_cluster_pid(const struct store_cluster *cluster);

/* The signal that stops a postmaster fast (never immediately). */
int store_cluster_stop_signal(void);

#endif
