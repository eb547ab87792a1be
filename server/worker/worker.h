/* SPDX-License-Identifier: MIT
 *
 * The worker pool of one machine, `assayd work`: claims trials and import tasks from the store,
 * runs each in a child process of its own, and is the only writer of what comes back, always under
 * the attempt's fence. See README.md for its threads.
 */
#ifndef WORKER_WORKER_H
#define WORKER_WORKER_H

#include "server/base/error.h"

struct cfg;
struct store;
struct sv_log;

struct worker_setup {
    const struct cfg *config; /* borrowed until worker_run returns, as all here */
    struct store *store;
    const struct sv_log *log;
    const char *data_dir;  /* absolute, existing; the worker uses `work` below it */
    const char *program;   /* path of the assayd binary that children execute */
    const char *libraries; /* names and versions, recorded with each attempt */
    int drain_fd;          /* readable or at end of file: drain */
};

/* Works until drain_fd says so, then writes checkpoints, gives running trials back to the queue and
 * returns. Call it from a thread that lives as long as the process: children die with it. Fails
 * only when it cannot start: another worker holds the directory, or the directory cannot be made.
 */
SV_MUST_CHECK enum sv_status worker_run(const struct worker_setup *setup, struct sv_error *err);

#endif
