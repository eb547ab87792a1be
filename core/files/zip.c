/* SPDX-License-Identifier: MIT
 *
 * The zip container of torch.save. The central directory is what counts, and nothing else may
 * disagree with it: every local header must carry the same name, no entry may overlap another or
 * the directory, names are there once, and the bytes must have their checksum. Local headers of
 * torch.save hold no sizes (a descriptor follows the data); where they do, they must agree.
 *
 * Formats: APPNOTE.TXT 6.3.3, sections 4.3.7 (local header), 4.3.12 (directory), 4.3.14 to 4.3.16
 * (ends). torch.save always writes the zip64 end too; the plain one is complete below 4 GiB.
 */
#include "core/files/zip_internal.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum {
    LOCAL_BYTES = 30,
    CENTRAL_BYTES = 46,
    END_BYTES = 22,
    END64_BYTES = 56,
    LOCATOR_BYTES = 20,
    COMMENT_MAX = 65535,
    ENCRYPTED = 1,
};

#define LOCAL_MAGIC   0x04034b50U
#define CENTRAL_MAGIC 0x02014b50U
#define END_MAGIC     0x06054b50U
#define END64_MAGIC   0x06064b50U
#define LOCATOR_MAGIC 0x07064b50U

static size_t number16(const unsigned char *bytes)
{
    return (size_t)(bytes[0] | bytes[1] << 8);
}

static size_t number32(const unsigned char *bytes)
{
    return number16(bytes) | number16(bytes + 2) << 16;
}

static bool has_magic(const unsigned char *bytes, size_t size, size_t at, size_t magic)
{
    return at + 4 <= size && number32(bytes + at) == magic;
}

bool nn_zip_is(const unsigned char *bytes, size_t size)
{
    return has_magic(bytes, size, 0, LOCAL_MAGIC) || has_magic(bytes, size, 0, END_MAGIC);
}

static int name_order(const char *a, size_t a_size, const char *b, size_t b_size)
{
    int order = memcmp(a, b, a_size < b_size ? a_size : b_size);
    return order != 0 ? order : (a_size > b_size) - (a_size < b_size);
}

static int by_name(const void *a, const void *b)
{
    const struct nn_zip_entry *x = a;
    const struct nn_zip_entry *y = b;
    return name_order(x->name, x->name_size, y->name, y->name_size);
}

static int by_place(const void *a, const void *b)
{
    const struct nn_zip_entry *x = a;
    const struct nn_zip_entry *y = b;
    return (x->name > y->name) - (x->name < y->name);
}

/* The directory of the file: where it lies, how many entries. */
struct directory {
    size_t at, size, count;
};

/* The end record whose comment reaches exactly to the end of the file. */
static bool find_end(const unsigned char *bytes, size_t size, size_t *out)
{
    for (size_t comment = 0; comment <= COMMENT_MAX && comment + END_BYTES <= size; comment++) {
        size_t at = size - END_BYTES - comment;
        if (has_magic(bytes, size, at, END_MAGIC) && number16(bytes + at + 20) == comment) {
            *out = at;
            return true;
        }
    }
    return false;
}

static enum nn_status directory_find(const unsigned char *bytes, size_t size, struct directory *out,
                                     struct nn_error *err)
{
    size_t end = 0;
    if (!find_end(bytes, size, &end)) {
        return nn_fail(err, NN_ERR_INVALID, "the zip container has no end");
    }
    const unsigned char *record = bytes + end;
    struct directory found = {
        .at = number32(record + 16), .size = number32(record + 12), .count = number16(record + 10)};
    if (found.at == UINT32_MAX || found.size == UINT32_MAX || found.count == UINT16_MAX) {
        return nn_fail(err, NN_ERR_NOT_SUPPORTED, "zip containers of 4 GiB and more are not read");
    }
    if (end >= LOCATOR_BYTES + END64_BYTES &&
        has_magic(bytes, size, end - LOCATOR_BYTES, LOCATOR_MAGIC) &&
        has_magic(bytes, size, end - LOCATOR_BYTES - END64_BYTES, END64_MAGIC)) {
        end -= LOCATOR_BYTES + END64_BYTES;
    }
    if (number16(record + 8) != found.count || found.at > end || found.size != end - found.at) {
        return nn_fail(err, NN_ERR_INVALID,
                       "the zip container's directory does not end at its end");
    }
    *out = found;
    return NN_OK;
}

/* The data of an entry, by its local header. */
static enum nn_status local_read(const unsigned char *bytes, size_t end, size_t at,
                                 const unsigned char *central, struct nn_zip_entry *entry,
                                 struct nn_error *err)
{
    if (at > end || end - at < LOCAL_BYTES || !has_magic(bytes, end, at, LOCAL_MAGIC)) {
        return nn_fail(err, NN_ERR_INVALID,
                       "an entry of the zip container is not where it should be");
    }
    const unsigned char *local = bytes + at;
    size_t begin = at + LOCAL_BYTES + number16(local + 26) + number16(local + 28);
    if (begin > end || end - begin < entry->size) {
        return nn_fail(err, NN_ERR_INVALID, "an entry of the zip container leaves the file");
    }
    bool sized = number32(local + 18) != 0 || number32(local + 22) != 0;
    if (number16(local + 26) != entry->name_size ||
        memcmp(local + LOCAL_BYTES, entry->name, entry->name_size) != 0 ||
        number16(local + 8) != number16(central + 10) ||
        (sized && (number32(local + 18) != entry->size || number32(local + 22) != entry->size))) {
        return nn_fail(err, NN_ERR_INVALID,
                       "an entry of the zip container is called otherwise in its directory");
    }
    entry->name = (const char *)local + LOCAL_BYTES;
    entry->data = bytes + begin;
    return NN_OK;
}

/* One record of the directory at *at, which moves behind it. */
static enum nn_status central_read(const unsigned char *bytes, const struct directory *directory,
                                   size_t *at, struct nn_zip_entry *out, struct nn_error *err)
{
    size_t left = directory->at + directory->size - *at;
    const unsigned char *record = bytes + *at;
    if (left < CENTRAL_BYTES || !has_magic(bytes, *at + left, *at, CENTRAL_MAGIC)) {
        return nn_fail(err, NN_ERR_INVALID, "the zip container's directory is cut off");
    }
    size_t name_size = number16(record + 28);
    size_t length = CENTRAL_BYTES + name_size + number16(record + 30) + number16(record + 32);
    if (left < length || name_size == 0) {
        return nn_fail(err, NN_ERR_INVALID, "the zip container's directory is cut off");
    }
    if (number16(record + 8) & ENCRYPTED) {
        return nn_fail(err, NN_ERR_INVALID, "the zip container is encrypted");
    }
    if (number16(record + 10) != 0 || number32(record + 20) != number32(record + 24)) {
        return nn_fail(err, NN_ERR_INVALID,
                       "the zip container is compressed; torch.save stores its entries");
    }
    if (number32(record + 24) == UINT32_MAX || number32(record + 42) == UINT32_MAX) {
        return nn_fail(err, NN_ERR_NOT_SUPPORTED, "zip containers of 4 GiB and more are not read");
    }
    *out = (struct nn_zip_entry){.name = (const char *)record + CENTRAL_BYTES,
                                 .name_size = name_size,
                                 .size = number32(record + 24),
                                 .crc = (uint32_t)number32(record + 16)};
    *at += length;
    return local_read(bytes, directory->at, number32(record + 42), record, out, err);
}

/* Names and data lie in the file in one order; neighbours must not meet. */
static enum nn_status overlap_check(struct nn_zip *zip, struct nn_error *err)
{
    qsort(zip->entries, zip->count, sizeof *zip->entries, by_place);
    for (size_t i = 1; i < zip->count; i++) {
        const struct nn_zip_entry *before = &zip->entries[i - 1];
        const unsigned char *header = (const unsigned char *)zip->entries[i].name - LOCAL_BYTES;
        if (header < before->data + before->size) {
            return nn_fail(err, NN_ERR_INVALID, "entries of the zip container overlap");
        }
    }
    qsort(zip->entries, zip->count, sizeof *zip->entries, by_name);
    for (size_t i = 1; i < zip->count; i++) {
        if (by_name(&zip->entries[i - 1], &zip->entries[i]) == 0) {
            return nn_fail(err, NN_ERR_INVALID, "an entry of the zip container is there twice");
        }
    }
    return NN_OK;
}

/* Of entries that do not overlap: the work is at most that of the file once. */
static enum nn_status checksums_check(const struct nn_zip *zip, struct nn_error *err)
{
    for (size_t i = 0; i < zip->count; i++) {
        const struct nn_zip_entry *entry = &zip->entries[i];
        if (crc32_z(0, entry->data, entry->size) != entry->crc) {
            return nn_fail(err, NN_ERR_INVALID, "an entry of the zip container fails its checksum");
        }
    }
    return NN_OK;
}

enum nn_status nn_zip_open(const unsigned char *bytes, size_t size, size_t max_entries,
                           struct nn_zip *out, struct nn_error *err)
{
    struct nn_zip zip = {0};
    struct directory directory = {0};
    enum nn_status status = directory_find(bytes, size, &directory, err);
    if (status != NN_OK) {
        return status;
    }
    if (directory.count > max_entries) {
        return nn_fail(err, NN_ERR_LIMIT, "%zu entries of the zip container are more than %zu",
                       directory.count, max_entries);
    }
    zip.entries = calloc(directory.count + 1, sizeof *zip.entries);
    if (!zip.entries) {
        return nn_fail(err, NN_ERR_MEMORY, "no memory for %zu entries", directory.count);
    }
    size_t at = directory.at;
    while (status == NN_OK && zip.count < directory.count) {
        status = central_read(bytes, &directory, &at, &zip.entries[zip.count], err);
        zip.count += status == NN_OK;
    }
    if (status == NN_OK && at != directory.at + directory.size) {
        status = nn_fail(err, NN_ERR_INVALID, "the zip container's directory holds more entries");
    }
    if (status == NN_OK) {
        status = overlap_check(&zip, err);
    }
    if (status == NN_OK) {
        status = checksums_check(&zip, err);
    }
    if (status != NN_OK) {
        nn_zip_deinit(&zip);
        return status;
    }
    *out = zip;
    return NN_OK;
}

void nn_zip_deinit(struct nn_zip *zip)
{
    free(zip->entries);
    *zip = (struct nn_zip){0};
}

const struct nn_zip_entry *nn_zip_find(const struct nn_zip *zip, const char *name, size_t size)
{
    const struct nn_zip_entry key = {.name = name, .name_size = size};
    return bsearch(&key, zip->entries, zip->count, sizeof *zip->entries, by_name);
}
