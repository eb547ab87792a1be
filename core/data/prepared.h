/* SPDX-License-Identifier: MIT
 *
 * A prepared set: every image of a data set decoded once, or every window of a set of signals, in
 * one read-only mapped file. A window is an image of one row whose values are float32.
 *
 * As imported, items stand sorted: train, validation, test part, and by name (bytes) within a part;
 * IDX items keep their order. Classes are sorted by the bytes of their names; those of IDX by
 * label. The file is checked completely when opened, so that the getters cannot fail. Immutable
 * after opening, may be read from any number of threads.
 */
#ifndef NN_DATA_PREPARED_H
#define NN_DATA_PREPARED_H

#include "core/base/base.h"

#define NN_DIGEST_BYTES        32
#define NN_SIGNAL_CHANNELS_MAX 64

enum nn_part { NN_PART_TRAIN, NN_PART_VALIDATION, NN_PART_TEST, NN_PART_COUNT };

/* "train", "validation", "test". */
const char *nn_part_name(enum nn_part part);

struct nn_prepared;

struct nn_prepared_info {
    size_t count; /* items, >= 1 */
    size_t height;
    size_t width;
    size_t channels;                  /* 1 or 3; of signals up to NN_SIGNAL_CHANNELS_MAX */
    size_t value_bytes;               /* 1: pixels, 4: float32 */
    size_t class_count;               /* >= 1 */
    size_t part_count[NN_PART_COUNT]; /* items per part */
    uint8_t digest[NN_DIGEST_BYTES]; /* SHA-256 over shape, classes, labels, parts, names, pixels */
    const char *options;             /* JSON text of the options it was made with */
};

/* Maps and checks path. NN_ERR_IO: cannot be read. NN_ERR_CORRUPT: cut off, wrong checksum, another
 * version, or a value out of range. */
NN_MUST_CHECK enum nn_status nn_prepared_open(const char *path, struct nn_prepared **out_prepared,
                                              struct nn_error *err);
/* The same for an open file, which is borrowed for the call. */
NN_MUST_CHECK enum nn_status nn_prepared_open_fd(int fd, struct nn_prepared **out_prepared,
                                                 struct nn_error *err);
/* The same for bytes in memory, borrowed until closed; they must be 8-byte aligned. */
NN_MUST_CHECK enum nn_status nn_prepared_open_bytes(const uint8_t *bytes, size_t size,
                                                    struct nn_prepared **out_prepared,
                                                    struct nn_error *err);
void nn_prepared_close(struct nn_prepared *prepared);

/* Where things stand in the file, for reading single items of a stored copy by offset. Labels are
 * uint32, parts uint8, item digests NN_DIGEST_BYTES each, name ends uint64 (of the names section,
 * which holds NUL-terminated strings one behind the other); little-endian. */
struct nn_prepared_layout {
    uint64_t count, height, width, channels, class_count, value_bytes;
    uint64_t item_bytes; /* height * width * channels * value_bytes */
    uint64_t labels, parts, digests, name_ends, names, names_bytes;
    uint64_t class_ends, class_names, class_names_bytes;
    uint64_t options, options_bytes;
    uint64_t pixels; /* offset, as are those above without _bytes */
    uint64_t file_bytes;
};

#define NN_PREPARED_HEADER_BYTES 512

/* The layout from the first NN_PREPARED_HEADER_BYTES of a prepared set. NN_ERR_CORRUPT. */
NN_MUST_CHECK enum nn_status nn_prepared_layout_read(const uint8_t *head, size_t size,
                                                     struct nn_prepared_layout *out_layout,
                                                     struct nn_error *err);

/* What nn_prepared_write takes; everything borrowed. */
struct nn_prepared_item {
    const char *name;      /* UTF-8 */
    const uint8_t *pixels; /* item_bytes of the layout */
    uint8_t digest[NN_DIGEST_BYTES];
    uint32_t label;
    enum nn_part part;
};

struct nn_prepared_draft {
    size_t count, height, width, channels;
    const struct nn_prepared_item *items;
    const char *const *classes;
    size_t class_count;
    const char *options; /* JSON text */
    size_t value_bytes;  /* as in the info; of float32 all values are finite */
};

/* Writes a new file; on failure it is removed. Items stand in the order given. out_digest (may be
 * NULL) receives the data digest. NN_ERR_IO, NN_ERR_INVALID (a value out of range). */
NN_MUST_CHECK enum nn_status nn_prepared_write(const char *path,
                                               const struct nn_prepared_draft *draft,
                                               uint8_t out_digest[NN_DIGEST_BYTES],
                                               struct nn_error *err);

/* All borrowed until closed. i < count, k < class_count. */
const struct nn_prepared_info *nn_prepared_info(const struct nn_prepared *prepared);
/* height x width x channels values of item i as bytes. */
const uint8_t *nn_prepared_pixels(const struct nn_prepared *prepared, size_t i);
/* The same of a set of float32: finite, aligned for floats. */
const float *nn_prepared_values(const struct nn_prepared *prepared, size_t i);
uint32_t nn_prepared_label(const struct nn_prepared *prepared, size_t i);
enum nn_part nn_prepared_part(const struct nn_prepared *prepared, size_t i);
/* SHA-256 over size and pixels as decoded, before resizing: equal pictures have equal digests. */
const uint8_t *nn_prepared_item_digest(const struct nn_prepared *prepared, size_t i);
/* Path inside the archive ("train/rose/1.jpg") or "train/00017" for IDX; UTF-8. */
const char *nn_prepared_item_name(const struct nn_prepared *prepared, size_t i);
const char *nn_prepared_class_name(const struct nn_prepared *prepared, size_t k);

/* Mean of each channel over the values of count >= 1 items, in the unit of the values: of pixels
 * exact, whatever their order; of float32 summed in that order. */
void nn_prepared_mean(const struct nn_prepared *prepared, const uint32_t *items, size_t count,
                      double out[NN_SIGNAL_CHANNELS_MAX]);

#endif
