/* SPDX-License-Identifier: MIT
 *
 * Running imports in tests: one fixture with a private directory, short ways to import, and to look
 * into the report.
 */
#ifndef TESTS_SUPPORT_IMPORTS_H
#define TESTS_SUPPORT_IMPORTS_H

#include "core/data/import.h"
#include "core/data/prepared.h"

#include "tests/support/archives.h"

struct test_import {
    char *directory; /* the archive or IDX files lie here */
    char *output;    /* a folder in it that receives the prepared set */
    struct nn_import_setup setup;
    struct nn_import_file files[8];
    enum nn_status status;
    struct nn_error err;
    json_t *report;          /* of the last good import */
    struct nn_prepared *set; /* of the last good import */
};

int test_import_setup(void **state);
int test_import_teardown(void **state);

/* Forgets the last import, keeps options and limits of the setup. */
void test_import_reset(struct test_import *t);

/* Imports directory/name as an archive, of signals when the setup's layout is that. On success the
 * set is open; on failure it is checked that the output folder is empty. */
void test_import_file(struct test_import *t, const char *name);

/* Writes an archive of the entries and imports it. Frees the contents. */
void test_import_entries(struct test_import *t, const struct test_archive_options *options,
                         struct test_entry *entries, size_t n);

/* The same with the default options; fails the test with the reason when it is refused. */
void test_import_good(struct test_import *t, struct test_entry *entries, size_t n);

/* Imports IDX files; contents are freed. */
void test_import_idx(struct test_import *t, const char *const *names, struct test_bytes *contents,
                     size_t n);

/* report.counts[name] */
size_t test_import_count(const struct test_import *t, const char *name);

/* Reason under which an entry stands in report[list], NULL if it does not. */
const char *test_import_reason(const struct test_import *t, const char *list, const char *entry);

/* Whether report.warnings has a row of this code. */
bool test_import_warns(const struct test_import *t, const char *code);

/* Index of the item of that name, SIZE_MAX if there is none. */
size_t test_import_item(const struct test_import *t, const char *name);

/* Name of the class of an item. */
const char *test_import_class(const struct test_import *t, const char *item);

#endif
