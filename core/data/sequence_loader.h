/* SPDX-License-Identifier: MIT
 *
 * The loader of sequences. The whole set is scaled once, into memory; a batch is pointers into it.
 *
 * What it deals out are sequences, or windows of them (windows.h).
 *
 * The order is that of the image loader (loader.h): a function of (seed, shuffle mode, epoch). With
 * shuffle `never` it may be by length instead, longest first, equal lengths in the order given. A
 * batch keeps the order of its samples; what a network does about different lengths is its own
 * affair, and nothing is ever padded here. Confined to one thread; scaled sequences are immutable.
 */
#ifndef NN_DATA_SEQUENCE_LOADER_H
#define NN_DATA_SEQUENCE_LOADER_H

#include "core/base/memory.h"
#include "core/data/loader.h"
#include "core/data/scaling.h"
#include "core/data/windows.h"

struct nn_scaled_sequences;

/* Scales every sequence of the set (validation and test too, by the same numbers). sequences and
 * scaling are borrowed until destroyed. memory may be NULL. NN_ERR_MEMORY. */
NN_MUST_CHECK enum nn_status nn_scaled_sequences_create(const struct nn_sequences *sequences,
                                                        const struct nn_scaling *scaling,
                                                        struct nn_memory *memory,
                                                        struct nn_scaled_sequences **out_scaled,
                                                        struct nn_error *err);
void nn_scaled_sequences_destroy(struct nn_scaled_sequences *scaled);

/* Bytes that it allocates, for the memory plan; SIZE_MAX when that does not fit. */
size_t nn_scaled_sequences_bytes(const struct nn_sequences *sequences,
                                 const struct nn_scaling *scaling);

/* Of sequence i of the set, borrowed until destroyed: length x used inputs, length x targets (NULL
 * in a classification). */
const nn_real *nn_scaled_sequences_inputs(const struct nn_scaled_sequences *scaled, size_t i);
const nn_real *nn_scaled_sequences_targets(const struct nn_scaled_sequences *scaled, size_t i);
/* The same from the first step of a piece on. */
const nn_real *nn_scaled_sequences_inputs_at(const struct nn_scaled_sequences *scaled,
                                             const struct nn_sequence_piece *piece);
const nn_real *nn_scaled_sequences_targets_at(const struct nn_scaled_sequences *scaled,
                                              const struct nn_sequence_piece *piece);
const struct nn_sequences *nn_scaled_sequences_set(const struct nn_scaled_sequences *scaled);

enum nn_sequence_sort { NN_SEQUENCE_SORT_NONE, NN_SEQUENCE_SORT_LENGTH_DESCENDING };

struct nn_sequence_loader_options {
    const uint32_t *items; /* item indices, or numbers of windows; borrowed until destroyed */
    size_t count;          /* >= 1 */
    size_t batch_size;     /* >= 1 */
    const struct nn_sequence_windows *windows; /* NULL: whole sequences; borrowed likewise */
    bool drop_last; /* the partial last batch is left out, unless it is the only one */
    enum nn_shuffle shuffle;
    enum nn_sequence_sort sort; /* only with NN_SHUFFLE_NEVER */
    uint64_t seed;
    size_t epochs;      /* the loader ends after this many, >= 1 */
    size_t first_epoch; /* where to begin: a resumed run starts here */
    size_t first_batch; /* batch within first_epoch */
    struct nn_memory *memory;
};

/* One batch, borrowed until the next call of nn_sequence_loader_next. */
struct nn_sequence_loader_batch {
    size_t epoch;
    size_t index;                  /* within the epoch */
    size_t first;                  /* position of its first sample within the epoch */
    size_t count;                  /* samples */
    size_t steps;                  /* of all samples together */
    size_t longest;                /* steps of the longest */
    const nn_real *const *inputs;  /* count pointers to lengths[i] x used inputs */
    const nn_real *const *targets; /* count pointers to lengths[i] x targets (NULLs: classes) */
    const size_t *lengths;
    const uint32_t *labels;
    const uint32_t *items; /* which of the options' items these are */
};

struct nn_sequence_loader;

/* The most steps a batch of these items can have: the sum of the batch_size longest. */
size_t nn_sequence_loader_max_steps(const struct nn_sequences *sequences,
                                    const struct nn_sequence_windows *windows,
                                    const uint32_t *items, size_t count, size_t batch_size);

/* scaled is borrowed until destroyed. NN_ERR_INVALID: an index or a size out of range, or sorting
 * together with shuffling. NN_ERR_MEMORY. */
NN_MUST_CHECK enum nn_status
nn_sequence_loader_create(const struct nn_scaled_sequences *scaled,
                          const struct nn_sequence_loader_options *options,
                          struct nn_sequence_loader **out_loader, struct nn_error *err);
void nn_sequence_loader_destroy(struct nn_sequence_loader *loader);

/* The next batch, or false after the last one of the last epoch. Allocates nothing. */
NN_MUST_CHECK bool nn_sequence_loader_next(struct nn_sequence_loader *loader,
                                           struct nn_sequence_loader_batch *out_batch);

#endif
