/* SPDX-License-Identifier: MIT
 *
 * Predicted sequences on their way from the child to the store. Confined to the slot's thread.
 */
#ifndef WORKER_TRIAL_SEQUENCES_INTERNAL_H
#define WORKER_TRIAL_SEQUENCES_INTERNAL_H

#include "server/store/attempts.h"
#include "server/wire/wire.h"

struct worker_slot;

/* Predicted sequences, rows one after the other: struct store_sequence_predictions in the making.
 */
struct worker_sequences {
    int64_t *samples, *lengths, *firsts, *rows;
    char **names;
    size_t n, capacity;
    float *targets, *predicted;
    size_t n_rows, row_capacity;
};

/* Takes a piece into the part that it names; false when it is not sound. */
bool worker_sequences_take(struct worker_slot *slot, const struct wire_record *record);
/* In the form that the store takes; borrowed. */
struct store_sequence_predictions worker_sequences_stored(const struct worker_sequences *all);
void worker_sequences_deinit(struct worker_sequences *all);

#endif
