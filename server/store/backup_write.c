/* SPDX-License-Identifier: MIT
 *
 * Writing the file of a backup. What is being written bears another name, so that nothing half done
 * looks whole; it gets its own name once it is on the disk, and replaces nothing.
 */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdarg.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/store/backup_internal.h"

enum { PATH_SIZE = 4096 };

static enum sv_status failed(struct sv_error *err)
{
    return sv_fail(err, errno == ENOSPC ? SV_ERR_NO_SPACE : SV_ERR_INTERNAL,
                   "the backup cannot be written: %s", strerror(errno));
}

static bool part_name(const char *path, char out_part[PATH_SIZE])
{
    int n = snprintf(out_part, PATH_SIZE, "%s.part", path);
    return n > 0 && n < PATH_SIZE;
}

enum sv_status backup_watch(const struct backup_file *file, struct sv_error *err)
{
    const struct store_backup_watch *watch = file->watch;
    return !watch || watch->go_on(watch->ctx) ? SV_OK
                                              : sv_fail(err, SV_ERR_WRONG_STATE, "interrupted");
}

enum sv_status backup_create(const char *path, struct backup_file *out_file, struct sv_error *err)
{
    char part[PATH_SIZE];
    struct stat info;
    if (!part_name(path, part)) {
        return sv_fail(err, SV_ERR_INVALID_PARAMETER, "the path is too long");
    }
    if (lstat(path, &info) == 0) {
        return sv_fail(err, SV_ERR_CONFLICT, "the file exists already: choose another name");
    }
    int fd = open(part, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) {
        return failed(err);
    }
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        (void)close(fd);
        return sv_fail(err, SV_ERR_CONFLICT, "another backup writes this file");
    }
    FILE *file = fdopen(fd, "w");
    if (!file) {
        enum sv_status st = failed(err);
        (void)close(fd);
        return st;
    }
    *out_file = (struct backup_file){.file = file};
    return SV_OK;
}

enum sv_status backup_begin_again(struct backup_file *file, struct sv_error *err)
{
    rewind(file->file); /* writes out what is buffered */
    if (ftruncate(fileno(file->file), 0) != 0) {
        return failed(err);
    }
    file->bytes = 0;
    nn_sha256_init(&file->hash);
    return SV_OK;
}

static enum sv_status put(struct backup_file *file, const void *data, size_t n,
                          struct sv_error *err)
{
    nn_sha256_update(&file->hash, data, n);
    file->bytes += (int64_t)n;
    return fwrite(data, 1, n, file->file) == n ? SV_OK : failed(err);
}

enum sv_status backup_put_line(struct backup_file *file, struct sv_error *err, const char *fmt, ...)
{
    char line[STORE_BACKUP_LINE];
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    if (n < 0 || (size_t)n >= sizeof line) {
        return sv_fail(err, SV_ERR_INTERNAL, "a line of the backup is too long");
    }
    line[n] = '\n'; /* in the place of the NUL */
    return put(file, line, (size_t)n + 1, err);
}

static enum sv_status put_one(struct backup_file *file, const char *data, size_t n,
                              struct sv_error *err)
{
    unsigned char length[4] = {(unsigned char)(n >> 24), (unsigned char)(n >> 16),
                               (unsigned char)(n >> 8), (unsigned char)n};
    enum sv_status st = put(file, length, sizeof length, err);
    return st == SV_OK ? put(file, data, n, err) : st;
}

enum sv_status backup_put_piece(struct backup_file *file, const char *data, size_t n,
                                struct sv_error *err)
{
    enum sv_status st = n == 0 ? put_one(file, "", 0, err) : backup_watch(file, err);
    for (size_t at = 0; st == SV_OK && at < n; at += BACKUP_PIECE_MAX) {
        size_t left = n - at;
        st = put_one(file, data + at, left < BACKUP_PIECE_MAX ? left : BACKUP_PIECE_MAX, err);
    }
    return st;
}

static bool sync_folder(const char *path)
{
    char folder[PATH_SIZE];
    (void)snprintf(folder, sizeof folder, "%s", path);
    int fd = open(dirname(folder), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool done = fd >= 0 && fsync(fd) == 0;
    if (fd >= 0) {
        (void)close(fd);
    }
    return done;
}

enum sv_status backup_finish(struct backup_file *file, const char *path, struct sv_error *err)
{
    uint8_t digest[NN_SHA256_SIZE];
    char hex[NN_SHA256_HEX];
    char part[PATH_SIZE];
    nn_sha256_finish(&file->hash, digest);
    nn_sha256_hex(digest, hex);
    enum sv_status st = backup_put_line(file, err, "end %s", hex);
    if (st == SV_OK && (fflush(file->file) != 0 || fsync(fileno(file->file)) != 0)) {
        st = failed(err);
    }
    if (st == SV_OK && (!part_name(path, part) || link(part, path) != 0 || unlink(part) != 0 ||
                        !sync_folder(path))) {
        st = errno == EEXIST ? sv_fail(err, SV_ERR_CONFLICT, "the file exists already")
                             : failed(err);
    }
    (void)fclose(file->file);
    file->file = NULL;
    return st;
}

void backup_discard(struct backup_file *file, const char *path)
{
    char part[PATH_SIZE];
    if (file->file && part_name(path, part)) {
        (void)unlink(part);
        (void)fclose(file->file);
        file->file = NULL;
    }
}
