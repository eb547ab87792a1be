/* SPDX-License-Identifier: MIT
 *
 * Importing sequence tables in tests: texts in, report and prepared set out.
 */
#ifndef TESTS_SUPPORT_TABLES_H
#define TESTS_SUPPORT_TABLES_H

#include "core/data/import.h"
#include "core/data/scaling.h"
#include "core/data/sequences.h"

struct test_table_file {
    const char *name;
    const char *text;
    size_t size; /* 0: up to the NUL */
};

struct test_tables {
    char *directory;
    char *output; /* a folder in it that receives the prepared set */
    struct nn_import_setup setup;
    enum nn_status status;
    struct nn_error err;
    json_t *report;           /* of the last good import */
    struct nn_sequences *set; /* of the last good import */
};

int test_tables_setup(void **state);
int test_tables_teardown(void **state);

/* Writes the files and imports them. options: JSON text with ' for ", or NULL. On success the set
 * is open; on failure it is checked that nothing was left. */
void test_tables_import(struct test_tables *t, enum nn_import_layout layout, const char *options,
                        const struct test_table_file *files, size_t n);

/* One file "data.csv", layout table. */
void test_tables_text(struct test_tables *t, const char *options, const char *text);

/* Imports files that lie at paths; their names are what follows the last slash. */
void test_tables_paths(struct test_tables *t, enum nn_import_layout layout, const char *options,
                       const char *const *paths, size_t n);

/* train, test and RUL of FD001: the real ones below ASSAY_TEST_DATA where they are (true), else
 * simulated. Paths are to be freed. */
bool test_tables_turbofan(struct test_tables *t, char *out_paths[3]);

size_t test_tables_count(const struct test_tables *t, const char *name); /* report.counts[name] */
/* Reason and text under which a sequence was refused, NULL if it was not. */
const char *test_tables_reason(const struct test_tables *t, const char *sequence);
const char *test_tables_refusal(const struct test_tables *t, const char *sequence);
bool test_tables_warns(const struct test_tables *t, const char *code);
/* Index of a sequence, SIZE_MAX if there is none. */
size_t test_tables_item(const struct test_tables *t, const char *name);

/* Imports one text, which must be refused; the error must hold these words. */
void test_tables_refused(struct test_tables *t, const char *options, const char *text,
                         enum nn_status status, const char *words);

/* Of the set that is open: what it is, its scaling by some of its sequences, itself scaled. */
const struct nn_sequences_info *test_tables_info(const struct test_tables *t);
struct nn_scaling *test_tables_scaling(const struct test_tables *t, const uint32_t *items, size_t n,
                                       const struct nn_scaling_options *options);
struct nn_scaled_sequences *test_tables_scaled(const struct test_tables *t,
                                               const struct nn_scaling *scaling);

/* Equal to the bit. */
void test_assert_floats(const float *values, const float *wanted, size_t n);

#endif
