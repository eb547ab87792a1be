/* SPDX-License-Identifier: MIT
 *
 * Archives for tests, by libarchive's writers.
 */
#include "tests/support/archives.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <archive.h>
#include <archive_entry.h>
#include <zlib.h>

#include "core/base/base.h"

static void set_kind(struct archive_entry *entry, const struct test_entry *from)
{
    static const unsigned types[] = {AE_IFREG, AE_IFDIR, AE_IFLNK, AE_IFREG,
                                     AE_IFCHR, AE_IFIFO, AE_IFREG};
    archive_entry_set_filetype(entry, types[from->kind]);
    archive_entry_set_perm(entry, from->kind == TEST_SETUID ? 07777 : 0644);
    if (from->kind == TEST_SYMLINK) {
        archive_entry_set_symlink(entry, from->target);
    }
    if (from->kind == TEST_HARDLINK) {
        archive_entry_set_hardlink(entry, from->target);
    }
}

static void write_entry(struct archive *archive, const struct test_entry *from)
{
    struct archive_entry *entry = archive_entry_new();
    bool has_data = from->kind == TEST_FILE || from->kind == TEST_SETUID;
    archive_entry_set_pathname(entry, from->name);
    archive_entry_set_size(entry, has_data ? (la_int64_t)from->content.size : 0);
    archive_entry_set_mtime(entry, 1000000000, 0);
    set_kind(entry, from);
    NN_ASSERT(archive_write_header(archive, entry) >= ARCHIVE_WARN);
    if (has_data) {
        archive_write_data(archive, from->content.data, from->content.size);
    }
    archive_entry_free(entry);
}

void test_archive_write(const char *path, const struct test_archive_options *options,
                        const struct test_entry *entries, size_t n)
{
    static const struct test_archive_options zip = {0};
    const struct test_archive_options *o = options ? options : &zip;
    struct archive *archive = archive_write_new();
    NN_ASSERT(archive);
    if (o->format == TEST_ZIP) {
        archive_write_set_format_zip(archive);
        archive_write_set_options(archive, o->stored ? "zip:compression=store" : "");
    } else {
        archive_write_set_format_pax_restricted(archive);
    }
    if (o->format == TEST_TAR_GZ) {
        archive_write_add_filter_gzip(archive);
    }
    if (o->encrypted) {
        NN_ASSERT(archive_write_set_options(archive, "zip:encryption=zipcrypt") == ARCHIVE_OK);
        archive_write_set_passphrase(archive, "secret");
    }
    NN_ASSERT(archive_write_open_filename(archive, path) == ARCHIVE_OK);
    for (size_t i = 0; i < n; i++) {
        write_entry(archive, &entries[i]);
    }
    NN_ASSERT(archive_write_close(archive) == ARCHIVE_OK);
    archive_write_free(archive);
}

struct test_bytes test_picture(size_t side, unsigned content)
{
    uint8_t *pixels = calloc(side, side);
    NN_ASSERT(pixels);
    for (size_t i = 0; i < side * side; i++) {
        content = content * 1664525U + 1013904223U;
        pixels[i] = (uint8_t)(content >> 24);
    }
    struct test_bytes file = test_png_simple(pixels, side, side, 1);
    free(pixels);
    return file;
}

void test_file_write(const char *path, const void *data, size_t size)
{
    FILE *file = fopen(path, "wb");
    NN_ASSERT(file);
    NN_ASSERT(fwrite(data, 1, size, file) == size);
    NN_ASSERT(fclose(file) == 0);
}

struct test_bytes test_file_read(const char *path)
{
    struct test_bytes bytes = {0};
    FILE *file = fopen(path, "rb");
    if (!file) {
        return bytes;
    }
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    bytes.data = malloc((size_t)size + 1);
    NN_ASSERT(bytes.data);
    bytes.size = fread(bytes.data, 1, (size_t)size, file);
    fclose(file);
    return bytes;
}

struct test_bytes test_gzip(const void *data, size_t size)
{
    z_stream z = {0};
    NN_ASSERT(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
    struct test_bytes out = {malloc(size + 1024), 0};
    NN_ASSERT(out.data);
    z.next_in = (Bytef *)(uintptr_t)data;
    z.avail_in = (uInt)size;
    z.next_out = out.data;
    z.avail_out = (uInt)(size + 1024);
    NN_ASSERT(deflate(&z, Z_FINISH) == Z_STREAM_END);
    out.size = z.total_out;
    deflateEnd(&z);
    return out;
}

struct test_bytes test_idx(const uint32_t *dims, size_t n_dims, const uint8_t *data)
{
    size_t n = 1;
    for (size_t k = 0; k < n_dims; k++) {
        n *= dims[k];
    }
    struct test_bytes out = {calloc(1, 4 + 4 * n_dims + n + 1), 4 + 4 * n_dims + n};
    NN_ASSERT(out.data);
    out.data[2] = 8;
    out.data[3] = (uint8_t)n_dims;
    for (size_t k = 0; k < n_dims; k++) {
        for (size_t b = 0; b < 4; b++) {
            out.data[4 + 4 * k + b] = (uint8_t)(dims[k] >> (24 - 8 * b));
        }
    }
    if (data) {
        memcpy(out.data + 4 + 4 * n_dims, data, n);
    }
    return out;
}
