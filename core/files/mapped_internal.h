/* SPDX-License-Identifier: MIT
 *
 * A regular file mapped for reading; private to the room.
 */
#ifndef NN_FILES_MAPPED_INTERNAL_H
#define NN_FILES_MAPPED_INTERNAL_H

#include "core/base/base.h"

/* bytes is NULL and size 0 for an empty file. */
struct nn_mapped {
    const unsigned char *bytes;
    size_t size;
    void *map; /* NULL: nothing to unmap */
};

/* fd is borrowed for the call. ERR_IO. */
NN_MUST_CHECK enum nn_status nn_mapped_open_fd(int fd, struct nn_mapped *out, struct nn_error *err);
NN_MUST_CHECK enum nn_status nn_mapped_open(const char *path, struct nn_mapped *out,
                                            struct nn_error *err);
void nn_mapped_close(struct nn_mapped *mapped);

#endif
