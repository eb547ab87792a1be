/* SPDX-License-Identifier: MIT
 *
 * Directories by descriptor.
 */
#include "server/worker/directory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A child can make no directory (server/trial/sandbox.c), so depth only bounds what others did. */
enum { MAX_DEPTH = 16 };

static int open_directory(int parent_fd, const char *name)
{
    return openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

int worker_directory_open(int parent_fd, const char *name, mode_t mode)
{
    if (mkdirat(parent_fd, name, mode) < 0 && errno != EEXIST) {
        return -1;
    }
    int fd = open_directory(parent_fd, name);
    if (fd >= 0 && fchmod(fd, mode) < 0) { /* whatever the umask was */
        (void)close(fd);
        return -1;
    }
    return fd;
}

int worker_directory_make_private(int parent_fd, const char *name, uid_t uid, gid_t gid)
{
    (void)worker_directory_remove(parent_fd, name);
    if (mkdirat(parent_fd, name, 0700) < 0) {
        return -1;
    }
    int fd = open_directory(parent_fd, name);
    if (fd >= 0 && uid != 0 && fchown(fd, uid, gid) < 0) {
        (void)close(fd);
        fd = -1;
    }
    if (fd < 0) {
        (void)unlinkat(parent_fd, name, AT_REMOVEDIR);
    }
    return fd;
}

static bool clear_directory(int directory_fd, int depth);

static bool remove_entry(int directory_fd, const char *name, int depth)
{
    if (unlinkat(directory_fd, name, 0) == 0) {
        return true;
    }
    if ((errno != EISDIR && errno != EPERM) || depth >= MAX_DEPTH) {
        return errno == ENOENT;
    }
    int fd = open_directory(directory_fd, name);
    bool cleared = fd >= 0 && clear_directory(fd, depth + 1);
    if (fd >= 0) {
        (void)close(fd);
    }
    return cleared && unlinkat(directory_fd, name, AT_REMOVEDIR) == 0;
}

static bool clear_directory(int directory_fd, int depth)
{
    int list_fd = open_directory(directory_fd, ".");
    DIR *list = list_fd < 0 ? NULL : fdopendir(list_fd);
    if (!list) {
        if (list_fd >= 0) {
            (void)close(list_fd);
        }
        return false;
    }
    bool all = true;
    struct dirent *entry;
    while ((entry = readdir(list)) != NULL) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            all = remove_entry(directory_fd, entry->d_name, depth) && all;
        }
    }
    (void)closedir(list);
    return all;
}

bool worker_directory_remove(int parent_fd, const char *name)
{
    return remove_entry(parent_fd, name, 0);
}

bool worker_directory_clear(int directory_fd)
{
    return clear_directory(directory_fd, 0);
}

int worker_file_open(int directory_fd, const char *name, int64_t max_bytes, int64_t *out_size)
{
    struct stat about;
    if (!name || !*name || strchr(name, '/')) {
        return -1;
    }
    int fd = openat(directory_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0 &&
        (fstat(fd, &about) < 0 || !S_ISREG(about.st_mode) || about.st_size > max_bytes)) {
        (void)close(fd);
        return -1;
    }
    if (fd >= 0) {
        *out_size = about.st_size;
    }
    return fd;
}

bool worker_file_write(int directory_fd, const char *name, const void *bytes, size_t size)
{
    char temporary[280];
    (void)snprintf(temporary, sizeof temporary, ".%.255s.new", name);
    int fd = openat(directory_fd, temporary, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC,
                    0600);
    if (fd < 0) {
        return false;
    }
    bool ok = write(fd, bytes, size) == (ssize_t)size && fsync(fd) == 0;
    ok = close(fd) == 0 && ok;
    ok = ok && renameat(directory_fd, temporary, directory_fd, name) == 0 &&
         fsync(directory_fd) == 0;
    if (!ok) {
        (void)unlinkat(directory_fd, temporary, 0);
    }
    return ok;
}
