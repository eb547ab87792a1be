/* SPDX-License-Identifier: MIT
 *
 * A prepared set: every image of a data set decoded once, in one read-only mapped file.
 *
 * Items stand sorted: train, validation, test part, and by name (bytes) within a part; IDX items
 * keep their order. Classes are sorted by the bytes of their names unless the user gave a list. The
 * file is checked completely when opened, so that the getters cannot fail. Immutable after opening,
 * may be read from any number of threads.
 */
#ifndef NN_DATA_PREPARED_H
#define NN_DATA_PREPARED_H

#include "core/base/base.h"

#define NN_DIGEST_BYTES 32

enum nn_part { NN_PART_TRAIN, NN_PART_VALIDATION, NN_PART_TEST, NN_PART_COUNT };

/* "train", "validation", "test". */
const char *nn_part_name(enum nn_part part);

struct nn_prepared;

struct nn_prepared_info {
    size_t count; /* items, >= 1 */
    size_t height;
    size_t width;
    size_t channels;                  /* 1 or 3 */
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

/* All borrowed until closed. i < count, k < class_count. */
const struct nn_prepared_info *nn_prepared_info(const struct nn_prepared *prepared);
/* height x width x channels bytes of item i. */
const uint8_t *nn_prepared_pixels(const struct nn_prepared *prepared, size_t i);
uint32_t nn_prepared_label(const struct nn_prepared *prepared, size_t i);
enum nn_part nn_prepared_part(const struct nn_prepared *prepared, size_t i);
/* SHA-256 over size and pixels as decoded, before resizing: equal pictures have equal digests. */
const uint8_t *nn_prepared_item_digest(const struct nn_prepared *prepared, size_t i);
/* Path inside the archive ("train/rose/1.jpg") or "train/00017" for IDX; UTF-8. */
const char *nn_prepared_item_name(const struct nn_prepared *prepared, size_t i);
const char *nn_prepared_class_name(const struct nn_prepared *prepared, size_t k);

#endif
