/* SPDX-License-Identifier: MIT
 *
 * Experiments: names that group jobs over time. A job that names one makes it when there is none.
 */
#ifndef STORE_EXPERIMENTS_H
#define STORE_EXPERIMENTS_H

#include "server/store/store.h"

struct store_experiment {
    char id[SV_ID_SIZE];
    int64_t number;
    const char *name, *notes, *created_by;
    char created_at[STORE_TIME_SIZE];
    int64_t job_count, trial_count, completed_count;
    char last_job_at[STORE_TIME_SIZE]; /* "" without jobs */
};
struct store_experiment_list {
    struct store_experiment *rows;
    size_t n;
    const char *next;
};

/* SV_ERR_CONFLICT when the name is taken; idempotency may be NULL. */
SV_MUST_CHECK enum sv_status
store_experiment_create(struct store *store, const struct store_scope *scope, const char *name,
                        const char *notes, const struct store_idempotency *idempotency,
                        struct store_created *out_created, struct sv_error *err);
SV_MUST_CHECK enum sv_status store_experiment_get(struct store *store,
                                                  const struct store_scope *scope, const char *id,
                                                  struct store_memory *memory,
                                                  struct store_experiment *out_experiment,
                                                  struct sv_error *err);
/* Newest first; search: part of the name, any case, or NULL. */
SV_MUST_CHECK enum sv_status
store_experiments_list(struct store *store, const struct store_scope *scope, const char *search,
                       const struct store_page *page, struct store_memory *memory,
                       struct store_experiment_list *out_list, struct sv_error *err);
/* name or notes NULL: left as is. SV_ERR_CONFLICT when the name is taken. */
SV_MUST_CHECK enum sv_status store_experiment_patch(struct store *store,
                                                    const struct store_scope *scope, const char *id,
                                                    const char *name, const char *notes,
                                                    struct sv_error *err);

#endif
