/* SPDX-License-Identifier: MIT
 *
 * Splits: which items train, validate and test. A pure function of (set, fractions, seed).
 *
 * Only the train part is cut; items of the validation and test parts keep their place. The cut is
 * stratified by class, ordered by (seed, content digest), so that it does not depend on names or
 * order, and all items with the same content stand on the same side. Sides are disjoint.
 */
#ifndef NN_DATA_SPLIT_H
#define NN_DATA_SPLIT_H

#include "core/data/prepared.h"
#include "core/data/sequences.h"

/* Fractions of the train part; what is missing to 1 goes to the test side. */
struct nn_split_options {
    double train;      /* in (0, 1] */
    double validation; /* in [0, 1), train + validation <= 1 */
    uint64_t seed;
};

/* One side: item indices of the prepared set, ascending. */
struct nn_split_side {
    uint32_t *items;
    size_t count;
};

struct nn_split {
    struct nn_split_side side[NN_PART_COUNT]; /* by enum nn_part */
    size_t single_classes; /* classes with one content only: it trains, nothing validates */
    char *warnings;        /* one sentence a line, "" if none */
};

/* Cuts. A class with at least two (three, when a test side is cut too) different contents has at
 * least one on every side; one with fewer goes to train first, with a warning. Every class of the
 * part trains. NN_ERR_INVALID: a fraction is out of range, or the train side would be empty. */
NN_MUST_CHECK enum nn_status nn_split_make(const struct nn_prepared *prepared,
                                           const struct nn_split_options *options,
                                           struct nn_split **out_split, struct nn_error *err);
/* The same for sequences, which stay whole; those of a regression are cut as one class. */
NN_MUST_CHECK enum nn_status nn_split_make_sequences(const struct nn_sequences *sequences,
                                                     const struct nn_split_options *options,
                                                     struct nn_split **out_split,
                                                     struct nn_error *err);
/* What orders contents in a cut: a random number of (seed, digest). */
uint64_t nn_split_key(uint64_t seed, const uint8_t *digest);
void nn_split_destroy(struct nn_split *split);

#endif
