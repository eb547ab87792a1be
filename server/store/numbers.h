/* SPDX-License-Identifier: MIT
 *
 * The readable numbers that resources have beside their ids.
 */
#ifndef STORE_NUMBERS_H
#define STORE_NUMBERS_H

#include "server/store/store.h"

enum store_numbered {
    STORE_NUMBERED_JOB,
    STORE_NUMBERED_TRIAL,
    STORE_NUMBERED_DATASET,
    STORE_NUMBERED_WEIGHTS,
    STORE_NUMBERED_EXPERIMENT,
};

/* The id of what has this number in the scope's project. SV_ERR_NOT_FOUND. */
SV_MUST_CHECK enum sv_status store_number_find(struct store *store, const struct store_scope *scope,
                                               enum store_numbered kind, int64_t number,
                                               char out_id[SV_ID_SIZE], struct sv_error *err);

#endif
