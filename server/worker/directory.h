/* SPDX-License-Identifier: MIT
 *
 * Directories and files of the worker, always by descriptor, never through a symbolic link: what
 * a child left in its directory is as untrusted as an upload.
 */
#ifndef WORKER_DIRECTORY_H
#define WORKER_DIRECTORY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Opens a directory below parent, making it with `mode` if it is not there. -1 on failure. */
int worker_directory_open(int parent_fd, const char *name, mode_t mode);

/* Makes an attempt's private directory, mode 0700 and owned by uid and gid (0: our own), and opens
 * it. An old one of that name is removed first. -1 on failure. */
int worker_directory_make_private(int parent_fd, const char *name, uid_t uid, gid_t gid);

/* Removes a directory with all it holds. True when it is gone. */
bool worker_directory_remove(int parent_fd, const char *name);

/* Removes everything in the directory; true when it is empty. */
bool worker_directory_clear(int directory_fd);

/* Opens a file that a child left: a plain file with that name in this directory (no '/', no link),
 * of at most max_bytes. Returns the descriptor and its size, or -1. */
int worker_file_open(int directory_fd, const char *name, int64_t max_bytes, int64_t *out_size);

/* Writes a small file atomically: temporary name, fsync, rename, fsync of the directory. */
bool worker_file_write(int directory_fd, const char *name, const void *bytes, size_t size);

#endif
