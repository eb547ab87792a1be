/* SPDX-License-Identifier: MIT
 *
 * Searches that choose points when trials have ended. The rows of such trials are there from the
 * submission on, so that a job has all its trials whatever becomes of whoever chooses: they are not
 * claimed until they have their point, and they get it once.
 */
#ifndef STORE_SEARCHES_H
#define STORE_SEARCHES_H

#include "server/store/store.h"

struct store_search {
    char job_id[SV_ID_SIZE], project_id[SV_ID_SIZE];
    const char *submitted, *resolved; /* of the job, JSON */
    bool higher_is_better;
};
struct store_search_list {
    struct store_search *rows;
    size_t n;
};
/* Jobs with an open trial before which every trial has ended; not those that are paused. The oldest
 * first, a few at a time. */
SV_MUST_CHECK enum sv_status store_searches_ready(struct store *store, struct store_memory *memory,
                                                  struct store_search_list *out_list,
                                                  struct sv_error *err);

struct store_search_trial {
    const char *parameters; /* JSON */
    const char *state;
    bool chosen, discarded;
    double value; /* of the headline metric; NaN: none */
};
struct store_search_trial_list {
    struct store_search_trial *rows; /* by index, from 1 */
    size_t n;
};
SV_MUST_CHECK enum sv_status store_search_trials(struct store *store, const char *job_id,
                                                 struct store_memory *memory,
                                                 struct store_search_trial_list *out_list,
                                                 struct sv_error *err);

/* What an open trial becomes: queued with its point, or failed with the reason why its point cannot
 * be tried (then resolved, hash and what follows are not read). */
struct store_chosen {
    int64_t index;
    const char *parameters, *resolved; /* JSON */
    const char *hash;
    int64_t max_attempts, total_steps;
    const char *refusal; /* NULL: none */
};
/* In one transaction; trials that are not open any more stay as they are. *out_written: how many
 * were. */
SV_MUST_CHECK enum sv_status store_search_choose(struct store *store, const char *job_id,
                                                 const struct store_chosen *rows, size_t n,
                                                 size_t *out_written, struct sv_error *err);

#endif
