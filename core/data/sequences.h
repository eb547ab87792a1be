/* SPDX-License-Identifier: MIT
 *
 * A prepared sequence set: every step of a data set of sequences as numbers, in one read-only
 * mapped file. Nothing is scaled, clipped or dropped in it; that is each trial's own (scaling.h).
 *
 * Sequences stand sorted by part (train, validation, test), in the order of the files within one.
 * A step has `inputs` numbers, and either `targets` numbers or its sequence has a class. The file
 * is checked completely when opened, so that the getters cannot fail. Immutable after opening, may
 * be read from any number of threads.
 */
#ifndef NN_DATA_SEQUENCES_H
#define NN_DATA_SEQUENCES_H

#include "core/data/prepared.h"

struct nn_sequences;

struct nn_sequences_info {
    size_t count;       /* sequences, >= 1 */
    size_t steps;       /* of all sequences together */
    size_t inputs;      /* >= 1 */
    size_t targets;     /* numbers a step; 0 in a classification */
    size_t class_count; /* 0 in a regression */
    size_t part_count[NN_PART_COUNT];
    size_t part_steps[NN_PART_COUNT];
    size_t longest; /* steps of the longest sequence */
    uint8_t digest[NN_DIGEST_BYTES];
    const char *options; /* JSON text of the options it was made with */
};

/* Of one column over all steps of the train part (NaN without one). */
struct nn_column_statistics {
    double min;
    double max;
    double mean;
    double std; /* with n - 1; 0 for a single step */
};

/* Maps and checks path. NN_ERR_IO: cannot be read. NN_ERR_CORRUPT: cut off, wrong checksum, another
 * version, or a value out of range. */
NN_MUST_CHECK enum nn_status
nn_sequences_open(const char *path, struct nn_sequences **out_sequences, struct nn_error *err);
/* The same for an open file, which is borrowed for the call. */
NN_MUST_CHECK enum nn_status nn_sequences_open_fd(int fd, struct nn_sequences **out_sequences,
                                                  struct nn_error *err);
/* The same for bytes in memory, borrowed until closed; they must be 8-byte aligned. */
NN_MUST_CHECK enum nn_status nn_sequences_open_bytes(const uint8_t *bytes, size_t size,
                                                     struct nn_sequences **out_sequences,
                                                     struct nn_error *err);
void nn_sequences_close(struct nn_sequences *sequences);

/* All borrowed until closed. i < count. */
const struct nn_sequences_info *nn_sequences_info(const struct nn_sequences *sequences);
size_t nn_sequences_length(const struct nn_sequences *sequences, size_t i); /* steps, >= 1 */
/* length x inputs, finite */
const float *nn_sequences_features(const struct nn_sequences *sequences, size_t i);
/* length x targets, finite; NULL in a classification */
const float *nn_sequences_targets(const struct nn_sequences *sequences, size_t i);
/* class, 0 in a regression */
uint32_t nn_sequences_label(const struct nn_sequences *sequences, size_t i);
enum nn_part nn_sequences_part(const struct nn_sequences *sequences, size_t i);
/* SHA-256 over length, features, targets and label: equal sequences have equal digests. */
const uint8_t *nn_sequences_item_digest(const struct nn_sequences *sequences, size_t i);
/* "train/17", UTF-8 */
const char *nn_sequences_item_name(const struct nn_sequences *sequences, size_t i);
/* k < inputs, r < targets, c < class_count */
const char *nn_sequences_input_name(const struct nn_sequences *sequences, size_t k);
const char *nn_sequences_target_name(const struct nn_sequences *sequences, size_t r);
const char *nn_sequences_class_name(const struct nn_sequences *sequences, size_t c);
struct nn_column_statistics nn_sequences_input_statistics(const struct nn_sequences *sequences,
                                                          size_t k);
struct nn_column_statistics nn_sequences_target_statistics(const struct nn_sequences *sequences,
                                                           size_t r);

/* Where things stand in the file, for reading single sequences of a stored copy by offset. First
 * steps are uint64 (count + 1 of them, the last one is `steps`), labels uint32, parts uint8, item
 * digests NN_DIGEST_BYTES each, statistics 4 doubles a column (inputs, then targets), ends of names
 * uint64, features and targets float32; little-endian. */
struct nn_sequences_layout {
    uint64_t count, steps, inputs, targets, class_count;
    uint64_t first_steps, labels, parts, digests, statistics;
    uint64_t name_ends, names, names_bytes;
    uint64_t column_ends, columns, columns_bytes; /* inputs, then targets */
    uint64_t class_ends, classes, classes_bytes;
    uint64_t options, options_bytes;
    uint64_t features, target_values; /* offsets, as are those above without _bytes */
    uint64_t file_bytes;
};

#define NN_SEQUENCES_HEADER_BYTES 512

/* The layout from the first NN_SEQUENCES_HEADER_BYTES of a file. NN_ERR_CORRUPT. */
NN_MUST_CHECK enum nn_status nn_sequences_layout_read(const uint8_t *head, size_t size,
                                                      struct nn_sequences_layout *out_layout,
                                                      struct nn_error *err);

/* What nn_sequences_write takes; everything borrowed. */
struct nn_sequences_item {
    const char *name;
    size_t length;
    uint32_t label;
    enum nn_part part;
};

struct nn_sequences_draft {
    size_t count, inputs, targets, class_count;
    const struct nn_sequences_item *items;
    const float *features;      /* steps of all items, one behind the other, x inputs */
    const float *target_values; /* likewise x targets; may be NULL in a classification */
    const char *const *input_names;
    const char *const *target_names;
    const char *const *classes;
    const char *options; /* JSON text */
};

/* Writes a new file; on failure it is removed. Equal drafts give equal bytes. NN_ERR_IO;
 * NN_ERR_INVALID (a value out of range or not finite); NN_ERR_MEMORY. */
NN_MUST_CHECK enum nn_status nn_sequences_write(const char *path,
                                                const struct nn_sequences_draft *draft,
                                                uint8_t out_digest[NN_DIGEST_BYTES],
                                                struct nn_error *err);

/* Statistics of n rows of `columns` numbers, in double, two passes, in the order of the rows:
 * out[columns]. Rows come as `n` runs of lengths[i] rows at runs[i]. Numbers above `most` count as
 * it, rounded to float; INFINITY: as they are. */
void nn_column_statistics_of(const float *const *runs, const size_t *lengths, size_t n,
                             size_t columns, double most, struct nn_column_statistics *out);

#endif
