/* SPDX-License-Identifier: MIT
 *
 * libarchive, restricted: zip (through its central directory), tar, and gzip around the latter;
 * nothing is extracted. Sizes that headers declare are not believed: bytes are counted as they
 * come. Entries of a zip can be skipped for free; those of a tar.gz must be unpacked to be skipped,
 * so that they count.
 */
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <archive.h>
#include <archive_entry.h>

#include "core/data/archive_internal.h"

#define BLOCK_BYTES ((size_t)64 << 10)

struct nn_archive {
    struct archive *reader;
    struct nn_archive_caps caps;
    int fd;
    bool own_fd;
    bool first;   /* no header read yet */
    bool pending; /* the current entry may have unread bytes */
    size_t entries;
    size_t bytes;
    uint8_t *buffer;
    size_t room;
    locale_t utf8;
    locale_t before;
};

/* ------------------------------------------------------------------------------- open and close */

/* libarchive turns names into the character set of the thread's locale; in the C locale names that
 * are not ASCII would be lost. */
static void enter_utf8(struct nn_archive *a)
{
    a->utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
    a->before = a->utf8 ? uselocale(a->utf8) : (locale_t)0;
}

static void leave_utf8(struct nn_archive *a)
{
    if (a->utf8) {
        uselocale(a->before);
        freelocale(a->utf8);
    }
}

static int restrict_formats(struct archive *reader, enum nn_archive_kind kind)
{
    int rc = archive_read_support_filter_gzip(reader);
    if (kind == NN_ARCHIVE_PLAIN) {
        return rc == ARCHIVE_OK ? archive_read_support_format_raw(reader) : rc;
    }
    rc = rc == ARCHIVE_OK ? archive_read_support_format_tar(reader) : rc;
    return rc == ARCHIVE_OK ? archive_read_support_format_zip_seekable(reader) : rc;
}

static bool open_file(struct nn_archive *a, const struct nn_import_file *file)
{
    a->fd = file->path ? open(file->path, O_RDONLY | O_CLOEXEC) : file->fd;
    a->own_fd = file->path != NULL && a->fd >= 0;
    return a->fd >= 0 && lseek(a->fd, 0, SEEK_SET) == 0;
}

/* Why the file is no archive for us, from its first bytes. */
static enum nn_status refuse_file(struct nn_archive *a, struct nn_error *err)
{
    uint8_t head[4] = {0};
    ssize_t n = pread(a->fd, head, sizeof head, 0);
    if (n == 0) {
        return nn_fail(err, NN_ERR_INVALID, "the archive is empty");
    }
    if (memcmp(head, "PK", 2) == 0) {
        return nn_fail(err, NN_ERR_INVALID,
                       "the zip is cut off or damaged: no directory at its end");
    }
    if (head[0] == 0x1f && head[1] == 0x8b) {
        return nn_fail(err, NN_ERR_INVALID, "the gzip file holds no tar or is damaged: %.100s",
                       nn_archive_reason(a));
    }
    return nn_fail(err, NN_ERR_NOT_SUPPORTED, "not a zip, tar or tar.gz");
}

enum nn_status nn_archive_open(const struct nn_import_file *file, enum nn_archive_kind kind,
                               const struct nn_archive_caps *caps, struct nn_archive **out_archive,
                               struct nn_error *err)
{
    struct nn_archive *a = calloc(1, sizeof *a);
    enum nn_status status = NN_OK;
    if (!a) {
        return nn_fail(err, NN_ERR_MEMORY, "no memory to read \"%.100s\"", file->name);
    }
    a->caps = *caps;
    a->first = true;
    a->fd = -1;
    enter_utf8(a);
    a->reader = archive_read_new();
    if (!a->reader || restrict_formats(a->reader, kind) != ARCHIVE_OK) {
        status = nn_fail(err, NN_ERR_MEMORY, "no memory to read \"%.100s\"", file->name);
    } else if (!open_file(a, file)) {
        status = nn_fail(err, NN_ERR_IO, "cannot read \"%.100s\": %s", file->name, strerror(errno));
    } else if (archive_read_open_fd(a->reader, a->fd, BLOCK_BYTES) != ARCHIVE_OK) {
        status = kind == NN_ARCHIVE_ENTRIES
                     ? refuse_file(a, err)
                     : nn_fail(err, NN_ERR_INVALID, "\"%.100s\" is empty or damaged", file->name);
    }
    if (status != NN_OK) {
        nn_archive_close(a);
        return status;
    }
    *out_archive = a;
    return NN_OK;
}

void nn_archive_close(struct nn_archive *archive)
{
    if (!archive) {
        return;
    }
    archive_read_free(archive->reader);
    if (archive->own_fd) {
        close(archive->fd);
    }
    leave_utf8(archive);
    free(archive->buffer);
    free(archive);
}

const char *nn_archive_reason(struct nn_archive *archive)
{
    const char *text = archive->reader ? archive_error_string(archive->reader) : NULL;
    return text ? text : "damaged";
}

/* -------------------------------------------------------------------------------------- headers */

static bool is_zip(struct nn_archive *a)
{
    return (archive_format(a->reader) & ARCHIVE_FORMAT_BASE_MASK) == ARCHIVE_FORMAT_ZIP;
}

/* libarchive writes the method of the current zip entry into the name of the format. */
static bool is_method_supported(struct nn_archive *a)
{
    const char *name = archive_format_name(a->reader);
    return !is_zip(a) || !name || strstr(name, "(uncompressed)") || strstr(name, "(deflation)");
}

static enum nn_entry_kind kind_of(struct archive_entry *entry)
{
    if (archive_entry_hardlink(entry) || archive_entry_filetype(entry) == AE_IFLNK) {
        return NN_ENTRY_LINK;
    }
    switch (archive_entry_filetype(entry)) {
    case AE_IFREG:
        return NN_ENTRY_FILE;
    case AE_IFDIR:
        return NN_ENTRY_FOLDER;
    default:
        return NN_ENTRY_SPECIAL;
    }
}

static enum nn_status over_total(struct nn_archive *a, struct nn_error *err)
{
    return nn_fail(err, NN_ERR_LIMIT, "the archive unpacks to more than %zu bytes",
                   a->caps.total_bytes);
}

/* Unpacks and counts what is left of the current entry, unless skipping it costs nothing. */
static enum nn_status pass_over(struct nn_archive *a, struct nn_error *err)
{
    const void *block;
    size_t n;
    la_int64_t offset;
    int rc = ARCHIVE_OK;
    while (a->pending && !is_zip(a) && rc == ARCHIVE_OK) {
        rc = archive_read_data_block(a->reader, &block, &n, &offset);
        if (rc == ARCHIVE_OK && (n > a->caps.total_bytes - a->bytes)) {
            return over_total(a, err);
        }
        a->bytes += rc == ARCHIVE_OK ? n : 0;
    }
    a->pending = false;
    if (rc < ARCHIVE_WARN) {
        return nn_fail(err, NN_ERR_INVALID, "the archive is cut off or damaged: %.100s",
                       nn_archive_reason(a));
    }
    return NN_OK;
}

enum nn_status nn_archive_next(struct nn_archive *archive, struct nn_archive_entry *out_entry,
                               bool *out_end, struct nn_error *err)
{
    struct nn_archive *a = archive;
    struct archive_entry *entry = NULL;
    enum nn_status status = pass_over(a, err);
    if (status != NN_OK) {
        return status;
    }
    int rc = archive_read_next_header(a->reader, &entry);
    if (rc == ARCHIVE_EOF) {
        *out_end = true;
        return NN_OK;
    }
    if (rc < ARCHIVE_WARN && a->first) {
        return refuse_file(a, err);
    }
    if (rc < ARCHIVE_WARN || archive_filter_count(a->reader) > 2) {
        return nn_fail(err, NN_ERR_INVALID, "the archive is cut off or damaged: %.100s",
                       rc < ARCHIVE_WARN ? nn_archive_reason(a) : "packed more than once");
    }
    a->first = false;
    a->pending = true;
    if (++a->entries > a->caps.entries) {
        return nn_fail(err, NN_ERR_LIMIT, "the archive has more than %zu entries", a->caps.entries);
    }
    const char *name = archive_entry_pathname(entry);
    *out_entry = (struct nn_archive_entry){
        .name = name ? name : archive_entry_pathname_utf8(entry),
        .kind = kind_of(entry),
        .encrypted = archive_entry_is_encrypted(entry),
        .method_supported = is_method_supported(a),
    };
    *out_end = false;
    return NN_OK;
}

/* ----------------------------------------------------------------------------------------- data */

static bool grow(struct nn_archive *a, size_t wanted)
{
    size_t room = 2 * a->room < wanted ? wanted : 2 * a->room;
    uint8_t *buffer = realloc(a->buffer, room);
    if (!buffer) {
        return false;
    }
    a->buffer = buffer;
    a->room = room;
    return true;
}

/* An error while reading data: of this entry alone, or of everything behind it too? */
static enum nn_status judge_error(struct nn_archive *a, long rc, enum nn_entry_read *out_read,
                                  struct nn_error *err)
{
    if (rc == ARCHIVE_FATAL && !is_zip(a)) {
        return nn_fail(err, NN_ERR_INVALID, "the archive is cut off or damaged: %.100s",
                       nn_archive_reason(a));
    }
    a->pending = false;
    *out_read = NN_ENTRY_UNREADABLE;
    return NN_OK;
}

enum nn_status nn_archive_read(struct nn_archive *archive, const uint8_t **out_bytes,
                               size_t *out_size, enum nn_entry_read *out_read, struct nn_error *err)
{
    struct nn_archive *a = archive;
    size_t size = 0;
    for (;;) {
        if (size == a->room && !grow(a, BLOCK_BYTES)) {
            return nn_fail(err, NN_ERR_MEMORY, "no memory to read an entry");
        }
        la_ssize_t n = archive_read_data(a->reader, a->buffer + size, a->room - size);
        if (n < 0) {
            return judge_error(a, (long)n, out_read, err);
        }
        if ((size_t)n > a->caps.total_bytes - a->bytes) {
            return over_total(a, err);
        }
        a->bytes += (size_t)n;
        size += (size_t)n;
        if (size > a->caps.entry_bytes) {
            *out_read = NN_ENTRY_TOO_LARGE;
            return NN_OK;
        }
        if (n == 0) {
            break;
        }
    }
    a->pending = false;
    *out_bytes = a->buffer;
    *out_size = size;
    *out_read = NN_ENTRY_READ;
    return NN_OK;
}

enum nn_status nn_archive_read_some(struct nn_archive *archive, void *dst, size_t n, size_t *out_n,
                                    struct nn_error *err)
{
    size_t got = 0;
    while (got < n) {
        la_ssize_t more = archive_read_data(archive->reader, (uint8_t *)dst + got, n - got);
        if (more < 0) {
            return nn_fail(err, NN_ERR_INVALID, "cut off or damaged: %.100s",
                           nn_archive_reason(archive));
        }
        if (more == 0) {
            break;
        }
        got += (size_t)more;
    }
    *out_n = got;
    return NN_OK;
}
