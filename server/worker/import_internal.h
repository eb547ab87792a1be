/* SPDX-License-Identifier: MIT
 *
 * What differs between the imports of assets; import_task.c does what they share.
 */
#ifndef WORKER_IMPORT_INTERNAL_H
#define WORKER_IMPORT_INTERNAL_H

#include "server/worker/worker_internal.h"

struct worker_import_kind {
    const char *asset;     /* in the start record: tells the child what to do */
    const char *artefact;  /* kind of the one file that the child leaves */
    bool may_be_bare;      /* it may leave none */
    int64_t wall_clock_ms; /* after which it is refused; 0: none */
    /* Stores what the done record of the slot says, under the claim. report is JSON; the file is
     * slot->artefacts[0]. */
    enum sv_status (*ready)(struct worker_slot *slot, const char *report, struct sv_error *err);
    /* The report of a refusal, as JSON; to be freed. NULL: it has none. */
    char *(*refusal)(const struct worker_slot *slot, const struct worker_verdict *verdict);
};
extern const struct worker_import_kind worker_import_dataset, worker_import_weights;
extern const struct worker_import_kind worker_import_prediction;

/* An integer of a record; 0 when it is absent. */
int64_t worker_record_number(const json_t *record, const char *name);

#endif
