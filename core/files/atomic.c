/* SPDX-License-Identifier: MIT
 *
 * Atomic files. Error texts name no path: they may travel to a user.
 */
#include "core/files/atomic.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum nn_status nn_atomic_open(struct nn_atomic_file *file, const char *path, struct nn_error *err)
{
    if (strlen(path) >= sizeof file->path) {
        return nn_fail(err, NN_ERR_LIMIT, "a file path of %zu bytes is too long", strlen(path));
    }
    file->failed = false;
    file->used = 0;
    (void)snprintf(file->path, sizeof file->path, "%s", path);
    (void)snprintf(file->temporary, sizeof file->temporary, "%s.tmp", path);
    file->fd = open(file->temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file->fd < 0) {
        return nn_fail(err, NN_ERR_IO, "cannot create a file: %s", strerrordesc_np(errno));
    }
    return NN_OK;
}

static void write_all(struct nn_atomic_file *file, const unsigned char *bytes, size_t n)
{
    while (n > 0 && !file->failed) {
        ssize_t written = write(file->fd, bytes, n);
        if (written >= 0) {
            bytes += written;
            n -= (size_t)written;
        } else if (errno != EINTR) {
            file->failed = true;
        }
    }
}

static void flush(struct nn_atomic_file *file)
{
    write_all(file, file->buffer, file->used);
    file->used = 0;
}

void nn_atomic_write(struct nn_atomic_file *file, const void *bytes, size_t n)
{
    if (n > sizeof file->buffer - file->used) {
        flush(file);
    }
    if (n > sizeof file->buffer) {
        write_all(file, bytes, n);
    } else if (n > 0) {
        memcpy(file->buffer + file->used, bytes, n);
        file->used += n;
    }
}

/* Makes the rename itself durable. */
static bool directory_sync(const char *path)
{
    char directory[512];
    const char *slash = strrchr(path, '/');
    size_t length = slash ? (size_t)(slash - path) : 0;
    if (length == 0) {
        (void)snprintf(directory, sizeof directory, "%s", slash ? "/" : ".");
    } else {
        memcpy(directory, path, length);
        directory[length] = '\0';
    }
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        return false;
    }
    bool synced = fsync(fd) == 0;
    (void)close(fd);
    return synced;
}

enum nn_status nn_atomic_commit(struct nn_atomic_file *file, struct nn_error *err)
{
    flush(file);
    bool ok = !file->failed && fsync(file->fd) == 0;
    ok = close(file->fd) == 0 && ok;
    file->fd = -1;
    ok = ok && rename(file->temporary, file->path) == 0;
    if (!ok) {
        int reason = errno;
        (void)unlink(file->temporary);
        return nn_fail(err, NN_ERR_IO, "cannot write a file: %s", strerrordesc_np(reason));
    }
    if (!directory_sync(file->path)) {
        return nn_fail(err, NN_ERR_IO, "cannot sync a directory: %s", strerrordesc_np(errno));
    }
    return NN_OK;
}

void nn_atomic_abandon(struct nn_atomic_file *file)
{
    (void)close(file->fd);
    file->fd = -1;
    (void)unlink(file->temporary);
}
