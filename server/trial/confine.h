/* SPDX-License-Identifier: MIT
 *
 * What a child does to itself before it looks at anything a user made: limits, another user, no new
 * privileges, death with its supervisor, and a filter on system calls.
 *
 * The limits come as arguments of the command line (`assayd trial --uid 65534 ...`), written by the
 * supervisor (server/worker/spawn.c), so that they hold before the first byte is read.
 */
#ifndef TRIAL_CONFINE_H
#define TRIAL_CONFINE_H

#include <stdbool.h>
#include <stdint.h>

#include "server/base/error.h"

/* 0 = leave as it is, for every field. */
struct trial_limits {
    int64_t parent; /* pid of the supervisor: leave at once if it is not our parent */
    int64_t uid;    /* become this user; needs root */
    int64_t gid;    /* and group, without supplementary groups */
    int64_t
        address_space; /* bytes; generous, never the tight limit (OpenBLAS spins below ~180 MB) */
    int64_t file_size; /* bytes of one written file */
    int64_t open_files;
    int64_t processes; /* threads of the user; only where the user is not a person's */
};

/* Reads "--uid N" pairs; false for anything else. */
SV_MUST_CHECK bool trial_limits_parse(int argc, char *const *argv, struct trial_limits *out_limits);

/* Applies the limits, and without being asked: nice 10 (its session too), no core files, first
 * victim of the machine's out-of-memory killer, not dumpable, umask 077, SIGKILL when the parent's
 * spawning thread ends. Not to be undone. */
SV_MUST_CHECK enum sv_status trial_confine(const struct trial_limits *limits, struct sv_error *err);

/* Installs the seccomp filter for all threads: an allow-list; everything else gives EPERM. The
 * process can read, write, rename and remove files, map memory without executing it, and start
 * threads. It can open no socket, execute nothing, start no process, trace none, signal none but
 * itself, make no directory, link or device and change no owner. */
SV_MUST_CHECK enum sv_status trial_sandbox(struct sv_error *err);

#endif
