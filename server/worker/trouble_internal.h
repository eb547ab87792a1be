/* SPDX-License-Identifier: MIT
 *
 * The worker's directory, and the worker's own trouble: what keeps it from preparing attempts by no
 * fault of the trials.
 */
#ifndef WORKER_TROUBLE_INTERNAL_H
#define WORKER_TROUBLE_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "server/base/error.h"

struct worker;

/* What keeps this worker from preparing attempts; guarded by the worker's mutex. */
struct worker_trouble {
    int in_a_row;     /* failures since an attempt was prepared; 0: none */
    int64_t until_ms; /* monotonic: no claims before */
    char text[128];   /* of the last one; "": it looks mended */
};

/* -------------------------------------------------------------------------------- home.c */

/* Opens the worker's directory, making what is not there, and takes its lock. What attempts of an
 * earlier start left is removed. SV_ERR_CONFLICT: another worker uses it. */
SV_MUST_CHECK enum sv_status worker_home_open(struct worker *worker, struct sv_error *err);
/* On the keeper's thread: makes again what is gone, whatever other threads do meanwhile, and writes
 * a small file to see whether the disk takes it. */
SV_MUST_CHECK enum sv_status worker_home_mend(struct worker *worker, struct sv_error *err);

/* ----------------------------------------------------------------------------- trouble.c */

/* An attempt could not be prepared, by no fault of the trial. Returns the pause in milliseconds
 * before the next claim, above 0. */
int worker_trouble_met(struct worker *worker, const char *text);
/* An attempt was prepared. */
void worker_trouble_over(struct worker *worker);
struct worker_trouble worker_trouble_now(struct worker *worker);
/* On the keeper's thread: may the worker claim? After a pause it mends its directory first.
 * *out_again_ms: when not, when to ask again (monotonic). */
bool worker_trouble_lets_claim(struct worker *worker, int64_t *out_again_ms);

#endif
