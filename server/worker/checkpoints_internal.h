/* SPDX-License-Identifier: MIT
 *
 * Checkpoints on the worker's disk (checkpoints.c).
 */
#ifndef WORKER_CHECKPOINTS_INTERNAL_H
#define WORKER_CHECKPOINTS_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "server/store/attempts.h"

struct worker;
struct worker_slot;

/* A checkpoint file the child may go on from. */
struct worker_resume {
    char name[64];
    int64_t step;
};

/* The checkpoints that this worker can reach, newest first, linked into the attempt's directory; at
 * most 2. */
enum sv_status worker_checkpoints_fetch(struct worker_slot *slot, struct worker_resume out[2],
                                        size_t *out_n, struct sv_error *err);
/* Has the child removed that file of its directory? It keeps the two newest checkpoints, so an
 * older one may go before a slow slot has read its record; the record of a newer one follows. */
bool worker_checkpoint_is_gone(const struct worker_slot *slot, const char *name);
/* What became of a checkpoint file of the child. */
enum worker_kept {
    WORKER_KEPT,
    WORKER_NOT_KEPT,   /* the disk does not take it: those before it stay */
    WORKER_NOT_A_FILE, /* not there, or not what it should be */
};
/* Keeps a checkpoint file of the child beside its attempt and describes it when it is kept. */
enum worker_kept worker_checkpoint_keep(struct worker_slot *slot, const char *name, int64_t step,
                                        int64_t epoch, struct store_checkpoint *out_checkpoint);
/* Uploads the kept file of this step, which no child removes; false as worker_slot_upload. */
bool worker_checkpoint_upload(struct worker_slot *slot, int64_t step, struct store_blob *out_blob);
/* Forgets the local checkpoints of a trial that needs none any more. */
void worker_checkpoints_remove(struct worker *worker, const char *trial_id);

#endif
