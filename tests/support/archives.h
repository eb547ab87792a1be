/* SPDX-License-Identifier: MIT
 *
 * Archives for tests of what reads them: good ones, and ones that no tool would write.
 */
#ifndef TESTS_SUPPORT_ARCHIVES_H
#define TESTS_SUPPORT_ARCHIVES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/support/pictures.h"

enum test_archive_format { TEST_ZIP, TEST_TAR, TEST_TAR_GZ };

enum test_entry_kind {
    TEST_FILE,
    TEST_FOLDER,
    TEST_SYMLINK, /* to `target` */
    TEST_HARDLINK,
    TEST_DEVICE,
    TEST_FIFO,
    TEST_SETUID, /* a file with all mode bits */
};

struct test_entry {
    const char *name; /* bytes as they shall stand in the archive */
    struct test_bytes content;
    enum test_entry_kind kind;
    const char *target;
};

struct test_archive_options {
    enum test_archive_format format;
    bool encrypted; /* zip, the old cipher */
    bool stored;    /* zip without compression */
};

/* Writes path anew. */
void test_archive_write(const char *path, const struct test_archive_options *options,
                        const struct test_entry *entries, size_t n);

/* A grey PNG of side x side whose pixels depend on content. */
struct test_bytes test_picture(size_t side, unsigned content);

void test_file_write(const char *path, const void *data, size_t size);
struct test_bytes test_file_read(const char *path);

/* gzip of bytes. */
struct test_bytes test_gzip(const void *data, size_t size);

/* An IDX file of unsigned bytes with these dimensions; data may be NULL (zeros). */
struct test_bytes test_idx(const uint32_t *dims, size_t n_dims, const uint8_t *data);

#endif
