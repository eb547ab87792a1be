/* SPDX-License-Identifier: MIT
 *
 * The profile of a trial's steps, from the child's record to the store's form.
 */
#ifndef WORKER_TRIAL_PROFILE_INTERNAL_H
#define WORKER_TRIAL_PROFILE_INTERNAL_H

#include <jansson.h>
#include <stdbool.h>

#include "server/store/attempts.h"

enum { WORKER_PROFILE_ROWS = 65536 };

struct worker_profile {
    json_t *record; /* NULL: none yet; texts of `stored` point into it */
    const char **texts;
    double *seconds;
    struct store_profile stored;
};

/* False when the record is not sound, is the second one, or memory is short. */
bool worker_profile_take(struct worker_profile *profile, json_t *record);
/* Zeroes it, too. */
void worker_profile_deinit(struct worker_profile *profile);

#endif
