/* SPDX-License-Identifier: MIT
 *
 * Starts a child process: exec at once, no code of ours between. The child finds its socket on
 * WIRE_CHILD_FD, its log on standard output and error, the private directory as its working
 * directory, and a clean environment; everything else is closed. It limits itself
 * (server/trial/confine.h) by the arguments given here.
 */
#ifndef WORKER_SPAWN_H
#define WORKER_SPAWN_H

#include <stdint.h>
#include <sys/types.h>

#include "server/base/error.h"

struct worker_spawn {
    const char *program;   /* path of the assayd binary */
    const char *role;      /* "trial", "import" */
    const char *core_type; /* for OPENBLAS_CORETYPE */
    int directory_fd;
    int socket_fd;
    int log_fd;
    uid_t uid; /* 0: stay who we are */
    gid_t gid;
    int64_t address_space; /* bytes; 0: no limit */
    int64_t file_size;     /* bytes; 0: no limit */
};

/* Must be called from a thread that lives as long as the child may: the child dies with it. The
 * child leads a session of its own. Descriptors are borrowed. */
SV_MUST_CHECK enum sv_status worker_spawn(const struct worker_spawn *spawn, pid_t *out_pid,
                                          struct sv_error *err);

#endif
