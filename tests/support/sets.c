/* SPDX-License-Identifier: MIT
 *
 * Prepared sets for tests.
 */
#include "tests/support/sets.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/random.h"
#include "core/base/sha256.h"

char *test_directory(void)
{
    const char *base = getenv("TMPDIR");
    char path[512];
    snprintf(path, sizeof path, "%s/assay-test-XXXXXX", base ? base : "/tmp");
    char *made = mkdtemp(path);
    NN_ASSERT(made);
    return strdup(made);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

void test_directory_remove(char *directory)
{
    nftw(directory, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    free(directory);
}

char *test_path(const char *directory, const char *name)
{
    char *path = NULL;
    int n = asprintf(&path, "%s/%s", directory, name);
    NN_ASSERT(n > 0);
    return path;
}

static void fill(struct nn_prepared_item *item, const struct test_set_item *from, size_t index,
                 size_t bytes)
{
    struct nn_random random;
    uint8_t *pixels = malloc(bytes);
    char *name = NULL;
    NN_ASSERT(pixels && asprintf(&name, "item/%05zu.png", index) > 0);
    nn_random_init(&random, 1, NN_RANDOM_TEST, 0, from->content);
    for (size_t i = 0; i < bytes; i++) {
        pixels[i] = (uint8_t)nn_random_u32(&random);
    }
    nn_sha256_of(pixels, bytes, item->digest);
    item->name = name;
    item->pixels = pixels;
    item->label = from->label;
    item->part = from->part;
}

struct nn_prepared *test_set(const char *directory, const struct test_set_item *items, size_t n,
                             size_t height, size_t width, size_t channels, size_t classes)
{
    struct nn_prepared_item *rows = calloc(n, sizeof *rows);
    char(*names)[24] = calloc(classes, sizeof *names);
    const char **class_names = calloc(classes, sizeof *class_names);
    char *path = test_path(directory, "set");
    struct nn_prepared *set = NULL;
    struct nn_error err = {0};
    NN_ASSERT(rows && names && class_names);
    for (size_t k = 0; k < classes; k++) {
        snprintf(names[k], sizeof names[k], "c%zu", k);
        class_names[k] = names[k];
    }
    for (size_t i = 0; i < n; i++) {
        fill(&rows[i], &items[i], i, height * width * channels);
    }
    struct nn_prepared_draft draft = {n,           height,  width, channels, rows,
                                      class_names, classes, "{}",  1};
    remove(path);
    enum nn_status status = nn_prepared_write(path, &draft, NULL, &err);
    NN_ASSERT(status == NN_OK);
    status = nn_prepared_open(path, &set, &err);
    NN_ASSERT(status == NN_OK);
    for (size_t i = 0; i < n; i++) {
        free((void *)(uintptr_t)rows[i].name);
        free((void *)(uintptr_t)rows[i].pixels);
    }
    free(rows);
    free(names);
    free(class_names);
    free(path);
    return set;
}
