/* SPDX-License-Identifier: MIT
 *
 * A control group for each child, with a hard limit of memory: what the kernel does at once, the
 * supervisor's look at resident sizes would do a tenth of a second later. v2, else v1. Only a group
 * that is this worker's own is touched: one that a path names, or, for "auto", the one it lives in
 * when systemd has marked that as delegated (Delegate=yes). Without one the resident sizes remain.
 */
#ifndef WORKER_CGROUP_H
#define WORKER_CGROUP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "server/base/error.h"

/* The group below which leaves are made; confined to the supervising thread. */
struct worker_cgroup {
    int version;     /* 1 or 2; 0: there is none, and nothing else here does anything */
    int fd;          /* of its directory; owned */
    bool is_useless; /* one was delegated, and its memory cannot be limited */
};

/* option: "auto", "off", or the directory of a group, which must then be usable (else
 * SV_ERR_INVALID_PARAMETER). Processes that live in a v2 group itself are moved into its leaf
 * "main", since such a group cannot limit what is below it. */
SV_MUST_CHECK enum sv_status worker_cgroup_open(const char *option, struct worker_cgroup *out_group,
                                                struct sv_error *err);
void worker_cgroup_close(struct worker_cgroup *group);
/* What "auto" takes for a process that lives in `group` (as in /proc/self/cgroup) below the mount
 * `root`: the directory of that group if it is delegated, or of the one above when this is the leaf
 * "main" that an earlier worker of the service made; a descriptor, or -1. */
int worker_cgroup_find(const char *root, const char *group);

/* Makes the leaf "trial-<name>" with that limit (bytes, > 0) and moves the process into it. Returns
 * the leaf's directory, owned by the caller, or -1 when it cannot be done. */
int worker_cgroup_enter(const struct worker_cgroup *group, const char *name, int64_t memory_bytes,
                        pid_t pid);
/* How many processes of the leaf the kernel has killed for memory; 0 when it does not say. */
int64_t worker_cgroup_kills(const struct worker_cgroup *group, int leaf_fd);
/* Closes and removes a leaf whose processes have ended. */
void worker_cgroup_leave(const struct worker_cgroup *group, const char *name, int leaf_fd);

#endif
