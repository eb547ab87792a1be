/* SPDX-License-Identifier: MIT
 *
 * The zip container of torch.save: stored entries only, read by its central directory; private to
 * the room. Not for archives of users' files (core/data reads those).
 */
#ifndef NN_FILES_ZIP_INTERNAL_H
#define NN_FILES_ZIP_INTERNAL_H

#include "core/base/base.h"

/* Name and data point into the file. */
struct nn_zip_entry {
    const char *name;
    size_t name_size;
    const unsigned char *data;
    size_t size;
    uint32_t crc; /* as the directory says; checked once open */
};

struct nn_zip {
    struct nn_zip_entry *entries; /* ordered by name */
    size_t count;
};

/* Whether bytes begin as a zip file does. */
bool nn_zip_is(const unsigned char *bytes, size_t size);

/* ERR_INVALID with the lie; ERR_NOT_SUPPORTED for sizes of 4 GiB and more. */
NN_MUST_CHECK enum nn_status nn_zip_open(const unsigned char *bytes, size_t size,
                                         size_t max_entries, struct nn_zip *out,
                                         struct nn_error *err);
void nn_zip_deinit(struct nn_zip *zip);

/* By its whole name, or NULL. */
const struct nn_zip_entry *nn_zip_find(const struct nn_zip *zip, const char *name, size_t size);

#endif
