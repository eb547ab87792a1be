/* SPDX-License-Identifier: MIT
 *
 * Files of the server that a data set may name. The kernel resolves the path below the root
 * (openat2), so that "..", absolute parts and links cannot lead out, whatever the text looks like.
 */
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "server/api/assets_internal.h"

enum { PATH_SIZE = 4096 };

static int open_beneath(int root, const char *relative)
{
    struct open_how how = {
        .flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK,
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
    };
    return (int)syscall(SYS_openat2, root, relative, &how, sizeof how);
}

/* The part of path below root: "/data/x.zip" below "/data" is "x.zip"; a relative path is taken as
 * it is. NULL: path is not below this root. */
static const char *below(const char *root, const char *path)
{
    size_t n = strlen(root);
    if (path[0] != '/') {
        return path;
    }
    while (n > 1 && root[n - 1] == '/') {
        n--;
    }
    if (strncmp(path, root, n) != 0 || (n > 1 && path[n] != '/')) {
        return NULL;
    }
    path += n;
    return path + strspn(path, "/");
}

/* A regular file below one root, or -1. */
static int open_in_root(const char *root, const char *path)
{
    struct stat info;
    const char *relative = below(root, path);
    if (!relative || !relative[0]) {
        return -1;
    }
    int directory = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0) {
        return -1;
    }
    int fd = open_beneath(directory, relative);
    (void)close(directory);
    if (fd >= 0 && (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode))) {
        (void)close(fd);
        fd = -1;
    }
    return fd;
}

enum sv_status api_import_open(const char *roots, const char *path, const char *pointer,
                               int *out_fd, const char **out_name, struct sv_error *err)
{
    char root[PATH_SIZE];
    const char *slash = strrchr(path, '/');
    for (const char *next = roots; *next;) {
        size_t n = strcspn(next, ":");
        if (n > 0 && n < sizeof root) {
            memcpy(root, next, n);
            root[n] = '\0';
            int fd = open_in_root(root, path);
            if (fd >= 0) {
                *out_fd = fd;
                *out_name = slash ? slash + 1 : path;
                return SV_OK;
            }
        }
        next += n + (next[n] == ':');
    }
    return sv_fail_at(err, SV_ERR_INVALID_FIELD, pointer,
                      "there is no such file below an allowed directory of the server");
}
