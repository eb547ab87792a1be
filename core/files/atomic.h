/* SPDX-License-Identifier: MIT
 *
 * Files that are whole or absent: written to a temporary in the same directory, synced, renamed,
 * and the directory synced. A process killed at any moment leaves the old file or the new one.
 */
#ifndef NN_FILES_ATOMIC_H
#define NN_FILES_ATOMIC_H

#include "core/base/base.h"

/* A file being written; a value type, confined to one thread. */
struct nn_atomic_file {
    char path[512];
    char temporary[512 + 8];
    int fd;
    bool failed; /* a write failed: commit will say so */
    size_t used;
    unsigned char buffer[65536];
};

/* ERR_IO, ERR_LIMIT (path too long). Creates path + ".tmp", mode 0600, over an old one. */
NN_MUST_CHECK enum nn_status nn_atomic_open(struct nn_atomic_file *file, const char *path,
                                            struct nn_error *err);
/* Buffered. A failure is remembered and reported by commit. */
void nn_atomic_write(struct nn_atomic_file *file, const void *bytes, size_t n);
/* Flushes, syncs, renames. Either way the file is closed and no temporary is left. */
NN_MUST_CHECK enum nn_status nn_atomic_commit(struct nn_atomic_file *file, struct nn_error *err);
/* Gives up: closes and removes the temporary. */
void nn_atomic_abandon(struct nn_atomic_file *file);

#endif
