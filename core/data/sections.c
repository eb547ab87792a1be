/* SPDX-License-Identifier: MIT
 *
 * Sections: their places, how they are written, opened, and what both readers check.
 */
#include "core/data/sections_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zlib.h>

#define BUFFER_BYTES ((size_t)1 << 20)

bool nn_section_place(uint64_t *at, uint64_t n, uint64_t size, uint64_t alignment,
                      uint64_t *out_offset)
{
    uint64_t bytes;
    uint64_t start;
    if (__builtin_mul_overflow(n, size, &bytes) ||
        __builtin_add_overflow(*at, alignment - 1, &start)) {
        return false;
    }
    start -= start % alignment;
    *out_offset = start;
    return !__builtin_add_overflow(start, bytes, at) && *at <= INT64_MAX;
}

uint32_t nn_section_crc(const void *data, size_t n)
{
    return (uint32_t)crc32_z(crc32_z(0, NULL, 0), data, n);
}

/* -------------------------------------------------------------------------------------- opening */

uint32_t nn_section_header_crc(const void *header, size_t header_bytes)
{
    static const uint8_t zeros[sizeof(uint32_t)];
    const size_t behind = NN_SECTION_CRC_OFFSET + sizeof zeros;
    const uint8_t *bytes = header;
    uLong crc = crc32_z(crc32_z(0, NULL, 0), bytes, NN_SECTION_CRC_OFFSET);
    crc = crc32_z(crc, zeros, sizeof zeros);
    return (uint32_t)crc32_z(crc, bytes + behind, header_bytes - behind);
}

static enum nn_status cut_off(const struct nn_section_format *format, struct nn_error *err)
{
    return nn_fail(err, NN_ERR_CORRUPT, "%s: the header is cut off", format->what);
}

enum nn_status nn_section_header_read(const struct nn_section_format *format, const uint8_t *bytes,
                                      size_t size, void *out_header, struct nn_error *err)
{
    uint32_t version;
    uint32_t crc;
    if (size < format->header_bytes) {
        return cut_off(format, err);
    }
    if (memcmp(bytes, format->magic, sizeof format->magic) != 0) {
        return nn_fail(err, NN_ERR_CORRUPT, "%s: a file of another kind", format->what);
    }
    memcpy(&version, bytes + sizeof format->magic, sizeof version);
    if (version != format->version) {
        return nn_fail(err, NN_ERR_CORRUPT, "%s: version %u, this build reads %u", format->what,
                       version, format->version);
    }
    memcpy(&crc, bytes + NN_SECTION_CRC_OFFSET, sizeof crc);
    if (crc != nn_section_header_crc(bytes, format->header_bytes)) {
        return nn_fail(err, NN_ERR_CORRUPT, "%s: the checksum of the header is wrong",
                       format->what);
    }
    memcpy(out_header, bytes, format->header_bytes);
    return NN_OK;
}

enum nn_status nn_section_file_open(const struct nn_section_format *format, const char *path,
                                    int *out_fd, struct nn_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return nn_fail(err, NN_ERR_IO, "cannot open the %s: %s", format->what, strerror(errno));
    }
    *out_fd = fd;
    return NN_OK;
}

enum nn_status nn_section_file_map(const struct nn_section_format *format, int fd, void **out_bytes,
                                   size_t *out_size, struct nn_error *err)
{
    struct stat st;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        return nn_fail(err, NN_ERR_IO, "cannot read the %s: not a regular file", format->what);
    }
    size_t size = (size_t)st.st_size;
    if (size < format->header_bytes) {
        return cut_off(format, err);
    }
    void *bytes = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
    if (bytes == MAP_FAILED) {
        return nn_fail(err, NN_ERR_IO, "cannot map the %s: %s", format->what, strerror(errno));
    }
    *out_bytes = bytes;
    *out_size = size;
    return NN_OK;
}

/* ---------------------------------------------------------------------------------------- texts */

/* Bytes of the character at p, 0 when it is malformed or NUL. */
static size_t character_size(const unsigned char *p, size_t left)
{
    unsigned char c = *p;
    if (c == 0 || (c >= 0x80 && c < 0xC2) || c > 0xF4) {
        return 0;
    }
    size_t size = c < 0x80 ? 1 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
    /* the second byte excludes overlong forms, surrogates and what is above U+10FFFF */
    unsigned char low = c == 0xE0 ? 0xA0 : c == 0xF0 ? 0x90 : 0x80;
    unsigned char high = c == 0xED ? 0x9F : c == 0xF4 ? 0x8F : 0xBF;
    if (size > left || (size > 1 && (p[1] < low || p[1] > high))) {
        return 0;
    }
    for (size_t i = 2; i < size; i++) {
        if ((p[i] & 0xC0) != 0x80) {
            return 0;
        }
    }
    return size;
}

bool nn_text_is_utf8(const char *text, size_t n)
{
    const unsigned char *p = (const unsigned char *)text;
    while (n > 0) {
        size_t size = character_size(p, n);
        if (size == 0) {
            return false;
        }
        p += size;
        n -= size;
    }
    return true;
}

uint64_t nn_section_u64(const uint8_t *bytes, uint64_t section, uint64_t i)
{
    uint64_t value;
    memcpy(&value, bytes + section + i * sizeof value, sizeof value);
    return value;
}

bool nn_section_texts_hold(const uint8_t *bytes, uint64_t ends, uint64_t n, uint64_t texts,
                           uint64_t size)
{
    const char *text = (const char *)bytes + texts;
    uint64_t begin = 0;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t end = nn_section_u64(bytes, ends, i);
        if (end <= begin || end > size || text[end - 1] != '\0' ||
            !nn_text_is_utf8(text + begin, end - begin - 1)) {
            return false;
        }
        begin = end;
    }
    return begin == size;
}

const char *nn_section_text(const uint8_t *bytes, uint64_t ends, uint64_t texts, size_t i)
{
    return (const char *)bytes + texts + (i ? nn_section_u64(bytes, ends, i - 1) : 0);
}

/* -------------------------------------------------------------------------------------- writing */

void nn_section_put(struct nn_section_writer *w, const void *data, size_t n)
{
    w->failed = w->failed || fwrite(data, 1, n, w->file) != n;
    w->crc = (uint32_t)crc32_z(w->crc, data, n);
    w->at += n;
}

void nn_section_put_data(struct nn_section_writer *w, const void *data, size_t n)
{
    nn_section_put(w, data, n);
    nn_sha256_update(&w->digest, data, n);
}

void nn_section_pad(struct nn_section_writer *w, uint64_t offset)
{
    static const uint8_t zeros[NN_SECTION_PAGE];
    NN_ASSERT(offset >= w->at && offset - w->at <= sizeof zeros);
    nn_section_put(w, zeros, (size_t)(offset - w->at));
}

static const char *text_of(const void *first, size_t stride, size_t i)
{
    const char *text;
    memcpy(&text, (const char *)first + i * stride, sizeof text);
    return text;
}

void nn_section_put_texts(struct nn_section_writer *w, uint64_t ends, uint64_t texts, size_t n,
                          const void *first, size_t stride)
{
    uint64_t end = 0;
    nn_section_pad(w, ends);
    for (size_t i = 0; i < n; i++) {
        end += strlen(text_of(first, stride, i)) + 1;
        nn_section_put_data(w, &end, sizeof end);
    }
    nn_section_pad(w, texts);
    for (size_t i = 0; i < n; i++) {
        const char *text = text_of(first, stride, i);
        nn_section_put_data(w, text, strlen(text) + 1);
    }
}

static void release(struct nn_section_writer *w, const char *path, bool keep)
{
    if (w->file) {
        fclose(w->file);
    } else if (w->fd >= 0) {
        close(w->fd);
    }
    if (!keep && w->fd >= 0) {
        unlink(path);
    }
    free(w->buffer);
}

enum nn_status nn_section_writer_open(struct nn_section_writer *writer, const char *path,
                                      size_t header_bytes, struct nn_error *err)
{
    static const uint8_t blank[NN_SECTION_PAGE];
    struct nn_section_writer w = {.crc = nn_section_crc(NULL, 0), .at = header_bytes};
    NN_ASSERT(header_bytes <= sizeof blank);
    w.fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    w.file = w.fd < 0 ? NULL : fdopen(w.fd, "wb");
    w.buffer = malloc(BUFFER_BYTES);
    if (!w.file || !w.buffer) {
        enum nn_status status =
            nn_fail(err, NN_ERR_IO, "cannot create the prepared set: %s", strerror(errno));
        release(&w, path, false);
        return status;
    }
    setvbuf(w.file, w.buffer, _IOFBF, BUFFER_BYTES);
    nn_sha256_init(&w.digest);
    w.failed = fwrite(blank, header_bytes, 1, w.file) != 1;
    *writer = w;
    return NN_OK;
}

enum nn_status nn_section_writer_close(struct nn_section_writer *w, const char *path,
                                       const void *header, size_t header_bytes,
                                       struct nn_error *err)
{
    bool done = !w->failed && fflush(w->file) == 0 && fseek(w->file, 0, SEEK_SET) == 0 &&
                fwrite(header, header_bytes, 1, w->file) == 1 && fflush(w->file) == 0;
    enum nn_status status =
        done ? NN_OK
             : nn_fail(err, NN_ERR_IO, "cannot write the prepared set: %s", strerror(errno));
    release(w, path, done);
    return status;
}
