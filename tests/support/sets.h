/* SPDX-License-Identifier: MIT
 *
 * Small prepared sets and private directories for tests of what reads them. A test stops at once
 * when one cannot be made.
 */
#ifndef TESTS_SUPPORT_SETS_H
#define TESTS_SUPPORT_SETS_H

#include "core/data/prepared.h"

struct test_set_item {
    uint32_t label;
    enum nn_part part;
    unsigned content; /* items of equal content have equal digests and pixels */
};

/* A directory of its own below $TMPDIR or /tmp; test_directory_remove takes it away with all it
 * holds. */
char *test_directory(void);
void test_directory_remove(char *directory);

/* directory/name, to be freed. */
char *test_path(const char *directory, const char *name);

/* Writes and opens a prepared set of n items, classes "c0", "c1", ... */
struct nn_prepared *test_set(const char *directory, const struct test_set_item *items, size_t n,
                             size_t height, size_t width, size_t channels, size_t classes);

#endif
