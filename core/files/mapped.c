/* SPDX-License-Identifier: MIT
 *
 * A regular file mapped for reading.
 */
#include "core/files/mapped_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum nn_status nn_mapped_open_fd(int fd, struct nn_mapped *out, struct nn_error *err)
{
    struct stat info;
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
        return nn_fail(err, NN_ERR_IO, "a weight file is no regular file");
    }
    struct nn_mapped mapped = {.size = (size_t)info.st_size};
    if (mapped.size > 0) {
        mapped.map = mmap(NULL, mapped.size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (mapped.map == MAP_FAILED) {
            return nn_fail(err, NN_ERR_IO, "cannot map a weight file: %s", strerrordesc_np(errno));
        }
        mapped.bytes = mapped.map;
    }
    *out = mapped;
    return NN_OK;
}

enum nn_status nn_mapped_open(const char *path, struct nn_mapped *out, struct nn_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return nn_fail(err, NN_ERR_IO, "cannot open a weight file: %s", strerrordesc_np(errno));
    }
    enum nn_status status = nn_mapped_open_fd(fd, out, err);
    (void)close(fd);
    return status;
}

void nn_mapped_close(struct nn_mapped *mapped)
{
    if (mapped->map) {
        (void)munmap(mapped->map, mapped->size);
    }
    *mapped = (struct nn_mapped){0};
}
