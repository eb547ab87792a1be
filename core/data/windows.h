/* SPDX-License-Identifier: MIT
 *
 * Windows over sequences: pieces of `length` steps, cut within a sequence, that train and are
 * judged as if each were a sequence. The last window of a sequence ends where the sequence ends,
 * the one before it `stride` steps earlier, and so on while a whole window fits; what is left over
 * at the beginning is not used. A sequence shorter than a window is one window, as long as itself:
 * no step is made up.
 *
 * A function of lengths and options alone, so a run that is resumed has the same windows.
 */
#ifndef NN_DATA_WINDOWS_H
#define NN_DATA_WINDOWS_H

#include "core/base/memory.h"
#include "core/data/sequences.h"
#include "core/data/split.h"

enum nn_windows_tested { NN_WINDOWS_TESTED_LAST, NN_WINDOWS_TESTED_EVERY };

struct nn_window_options {
    int64_t length;    /* steps, >= 1 */
    bool length_given; /* false: sequences are whole, and the rest does not matter */
    int64_t stride;    /* steps from the end of a window to that of the next, >= 1 */
    int tested;        /* enum nn_windows_tested: which windows of a sequence the test part has */
};

/* Steps of a sequence. `fresh` of them, the last ones, are in no window of the sequence before this
 * one in its part: they are what an evaluation looks at, so that no step counts twice. */
struct nn_sequence_piece {
    uint32_t sequence;
    uint32_t first, length, fresh;
    bool ends; /* the sequence's last in its part */
};

struct nn_sequence_windows;

/* Cuts the sequences of each side, in its order. NN_ERR_MEMORY, NN_ERR_LIMIT: more than 2^32 - 1
 * windows. memory may be NULL. */
NN_MUST_CHECK enum nn_status
nn_sequence_windows_create(const struct nn_sequences *sequences, const struct nn_split_side *sides,
                           const struct nn_window_options *options, struct nn_memory *memory,
                           struct nn_sequence_windows **out, struct nn_error *err);
void nn_sequence_windows_destroy(struct nn_sequence_windows *windows);

/* The numbers of a part's windows, borrowed until destroyed. */
struct nn_split_side nn_sequence_windows_side(const struct nn_sequence_windows *windows,
                                              enum nn_part part);

size_t nn_sequence_windows_total(const struct nn_sequence_windows *windows);

/* Window i; with windows NULL sequence i as a whole. */
struct nn_sequence_piece nn_sequence_piece_at(const struct nn_sequences *sequences,
                                              const struct nn_sequence_windows *windows,
                                              uint32_t i);

/* Windows that a sequence of so many steps has. */
size_t nn_windows_count(const struct nn_window_options *options, size_t steps);

#endif
