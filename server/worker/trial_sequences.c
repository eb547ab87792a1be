/* SPDX-License-Identifier: MIT
 *
 * Predicted sequences of a part, gathered piece by piece in the form the store takes.
 */
#include <stdlib.h>
#include <string.h>

#include "server/worker/worker_internal.h"

static bool grow(void **array, size_t capacity, size_t size)
{
    void *grown = reallocarray(*array, capacity, size);
    *array = grown ? grown : *array;
    return grown != NULL;
}

static bool grow_sequences(struct worker_sequences *all)
{
    if (all->n < all->capacity) {
        return true;
    }
    size_t capacity = all->capacity ? 2 * all->capacity : 128;
    if (!grow((void **)&all->samples, capacity, sizeof *all->samples) ||
        !grow((void **)&all->lengths, capacity, sizeof *all->lengths) ||
        !grow((void **)&all->firsts, capacity, sizeof *all->firsts) ||
        !grow((void **)&all->rows, capacity, sizeof *all->rows) ||
        !grow((void **)&all->names, capacity, sizeof *all->names)) {
        return false;
    }
    all->capacity = capacity;
    return true;
}

static bool grow_rows(struct worker_sequences *all, size_t more)
{
    size_t needed = all->n_rows + more;
    if (needed <= all->row_capacity) {
        return true;
    }
    size_t capacity = 2 * all->row_capacity > needed ? 2 * all->row_capacity : needed;
    if (!grow((void **)&all->targets, capacity, sizeof *all->targets) ||
        !grow((void **)&all->predicted, capacity, sizeof *all->predicted)) {
        return false;
    }
    all->row_capacity = capacity;
    return true;
}

/* The first piece of a sequence opens it. */
static bool open_sequence(struct worker_sequences *all, const struct wire_sequence *piece)
{
    char *name = grow_sequences(all) ? strdup(piece->name) : NULL;
    if (!name) {
        return false;
    }
    all->samples[all->n] = piece->sample;
    all->lengths[all->n] = piece->length;
    all->firsts[all->n] = (int64_t)all->n_rows;
    all->rows[all->n] = 0;
    all->names[all->n++] = name;
    return true;
}

static bool take_piece(struct worker_sequences *all, const struct wire_sequence *piece)
{
    if (!grow_rows(all, piece->rows) || (piece->first == 0 && !open_sequence(all, piece))) {
        return false;
    }
    size_t last = all->n - 1;
    if (all->n == 0 || all->samples[last] != piece->sample || all->rows[last] != piece->first) {
        return false;
    }
    memcpy(all->targets + all->n_rows, piece->target, piece->rows * sizeof *all->targets);
    memcpy(all->predicted + all->n_rows, piece->predicted, piece->rows * sizeof *all->predicted);
    all->n_rows += piece->rows;
    all->rows[last] += piece->rows;
    return true;
}

bool worker_sequences_take(struct worker_slot *slot, const struct wire_record *record)
{
    struct wire_sequence piece;
    void *block = NULL;
    if (wire_sequence_decode(record->payload, record->size, &piece, &block) != SV_OK) {
        return false;
    }
    struct worker_part *part = worker_part_of(slot, piece.part);
    bool taken = part && take_piece(&part->sequences, &piece);
    free(block);
    return taken;
}

struct store_sequence_predictions worker_sequences_stored(const struct worker_sequences *all)
{
    return (struct store_sequence_predictions){.samples = all->samples,
                                               .lengths = all->lengths,
                                               .firsts = all->firsts,
                                               .rows = all->rows,
                                               .names = (const char *const *)all->names,
                                               .n = all->n,
                                               .targets = all->targets,
                                               .predicted = all->predicted};
}

void worker_sequences_deinit(struct worker_sequences *all)
{
    for (size_t i = 0; i < all->n; i++) {
        free(all->names[i]);
    }
    free(all->samples);
    free(all->lengths);
    free(all->firsts);
    free(all->rows);
    free(all->names);
    free(all->targets);
    free(all->predicted);
    *all = (struct worker_sequences){0};
}
