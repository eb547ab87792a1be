/* SPDX-License-Identifier: MIT
 *
 * The file: a header of one page, then the rows. The checksum of the rows stands in the header,
 * which is written last.
 */
#include "core/data/rows.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/data/sections_internal.h"

static const char MAGIC[8] = {'N', 'N', 'R', 'O', 'W', 'S', '1', '\n'};

/* One page of the file; the rest is zero. */
struct header {
    char magic[8];
    uint64_t count, width, real_bytes;
    uint8_t digest[NN_SHA256_SIZE];
    uint32_t rows_crc, header_crc; /* the latter over the page with itself as 0 */
    char unused[NN_SECTION_PAGE - 72];
};
_Static_assert(sizeof(struct header) == NN_SECTION_PAGE, "a page");

size_t nn_rows_bytes(const struct nn_rows_key *key)
{
    size_t bytes;
    bool fits = nn_size_mul(key->count, key->width, &bytes) &&
                nn_size_mul(bytes, sizeof(nn_real), &bytes) &&
                nn_size_add(bytes, NN_SECTION_PAGE, &bytes);
    return fits ? bytes : SIZE_MAX;
}

static struct header header_of(const struct nn_rows_key *key, uint32_t rows_crc)
{
    struct header header = {.count = key->count,
                            .width = key->width,
                            .real_bytes = sizeof(nn_real),
                            .rows_crc = rows_crc};
    memcpy(header.magic, MAGIC, sizeof MAGIC);
    memcpy(header.digest, key->digest, sizeof header.digest);
    header.header_crc = nn_section_crc(&header, sizeof header);
    return header;
}

/* ---- writing ---- */

struct nn_rows_writer {
    struct nn_section_writer file;
    struct nn_rows_key key;
    char *path;
};

enum nn_status nn_rows_writer_open(const char *path, const struct nn_rows_key *key,
                                   struct nn_rows_writer **out, struct nn_error *err)
{
    struct nn_rows_writer *writer = calloc(1, sizeof *writer);
    char *copy = strdup(path);
    if (!writer || !copy) {
        free(writer);
        free(copy);
        return nn_fail(err, NN_ERR_MEMORY, "no memory to keep rows");
    }
    (void)unlink(path);
    enum nn_status status = nn_section_writer_open(&writer->file, path, NN_SECTION_PAGE, err);
    if (status != NN_OK) {
        free(writer);
        free(copy);
        return status;
    }
    writer->key = *key;
    writer->path = copy;
    *out = writer;
    return NN_OK;
}

bool nn_rows_write(struct nn_rows_writer *writer, const nn_real *rows, size_t n)
{
    nn_section_put(&writer->file, rows, n * writer->key.width * sizeof *rows);
    return !writer->file.failed;
}

enum nn_status nn_rows_writer_close(struct nn_rows_writer *writer, bool keep, struct nn_error *err)
{
    NN_ASSERT(!keep || writer->file.failed || writer->file.at == nn_rows_bytes(&writer->key));
    struct header header = header_of(&writer->key, writer->file.crc);
    writer->file.failed = writer->file.failed || !keep;
    enum nn_status status =
        nn_section_writer_close(&writer->file, writer->path, &header, sizeof header, err);
    free(writer->path);
    free(writer);
    return keep ? status : NN_OK;
}

/* ---- reading ---- */

struct nn_rows {
    const uint8_t *bytes;
    size_t size, width;
};

static bool holds(const struct nn_rows *rows, const struct nn_rows_key *key)
{
    const uint8_t *first = rows->bytes + NN_SECTION_PAGE;
    struct header wanted = header_of(key, nn_section_crc(first, rows->size - NN_SECTION_PAGE));
    return memcmp(rows->bytes, &wanted, sizeof wanted) == 0;
}

static enum nn_status map(int fd, const struct nn_rows_key *key, struct nn_rows *rows,
                          struct nn_error *err)
{
    struct stat about;
    size_t size = nn_rows_bytes(key);
    if (fd < 0 || fstat(fd, &about) < 0) {
        return nn_fail(err, NN_ERR_IO, "kept rows cannot be read");
    }
    if (!S_ISREG(about.st_mode) || size == SIZE_MAX || (uint64_t)about.st_size != size) {
        return nn_fail(err, NN_ERR_CORRUPT, "kept rows: another size than the key's");
    }
    void *bytes = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
    if (bytes == MAP_FAILED) {
        return nn_fail(err, NN_ERR_IO, "kept rows cannot be mapped");
    }
    *rows = (struct nn_rows){bytes, size, key->width};
    return NN_OK;
}

enum nn_status nn_rows_open(const char *path, const struct nn_rows_key *key, struct nn_rows **out,
                            struct nn_error *err)
{
    struct nn_rows *rows = calloc(1, sizeof *rows);
    if (!rows) {
        return nn_fail(err, NN_ERR_MEMORY, "no memory to read kept rows");
    }
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    enum nn_status status = map(fd, key, rows, err);
    if (fd >= 0) {
        (void)close(fd);
    }
    if (status == NN_OK && !holds(rows, key)) {
        status = nn_fail(err, NN_ERR_CORRUPT, "kept rows: damaged, or of another key");
    }
    if (status != NN_OK) {
        nn_rows_close(rows);
        return status;
    }
    *out = rows;
    return NN_OK;
}

void nn_rows_close(struct nn_rows *rows)
{
    if (rows && rows->bytes) {
        (void)munmap((void *)(uintptr_t)rows->bytes, rows->size);
    }
    free(rows);
}

const nn_real *nn_rows_row(const struct nn_rows *rows, size_t i)
{
    return (const nn_real *)(const void *)(rows->bytes + NN_SECTION_PAGE) + i * rows->width;
}
