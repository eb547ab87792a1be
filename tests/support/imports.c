/* SPDX-License-Identifier: MIT
 *
 * Imports for tests.
 */
#include "tests/support/imports.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/support/cmocka_all.h"
#include "tests/support/sets.h"

int test_import_setup(void **state)
{
    struct test_import *t = calloc(1, sizeof *t);
    NN_ASSERT(t);
    t->directory = test_directory();
    t->output = test_path(t->directory, "output");
    NN_ASSERT(mkdir(t->output, 0700) == 0);
    *state = t;
    return 0;
}

int test_import_teardown(void **state)
{
    struct test_import *t = *state;
    test_import_reset(t);
    test_directory_remove(t->directory);
    free(t->output);
    free(t);
    return 0;
}

void test_import_reset(struct test_import *t)
{
    char *path = test_path(t->output, "prepared");
    remove(path);
    free(path);
    json_decref(t->report);
    nn_prepared_close(t->set);
    t->report = NULL;
    t->set = NULL;
    t->err = (struct nn_error){0};
}

/* Nothing but what the result names may lie in the output folder. */
static void check_output(const struct test_import *t)
{
    DIR *dir = opendir(t->output);
    size_t n = 0;
    NN_ASSERT(dir);
    for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir)) {
        bool dots = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
        NN_ASSERT(dots || strcmp(entry->d_name, "prepared") == 0);
        n += !dots;
    }
    closedir(dir);
    NN_ASSERT(n == (t->status == NN_OK));
}

static void run(struct test_import *t)
{
    struct nn_import_result result = {0};
    test_import_reset(t);
    t->setup.files = t->files;
    t->setup.directory = t->output;
    t->status = nn_import_run(&t->setup, &result, &t->err);
    check_output(t);
    NN_ASSERT((t->status == NN_OK) == (t->err.text[0] == '\0'));
    if (t->status == NN_OK) {
        char *path = test_path(t->output, result.prepared_name);
        t->report = result.report;
        enum nn_status status = nn_prepared_open(path, &t->set, &t->err);
        NN_ASSERT(status == NN_OK);
        free(path);
    } else {
        NN_ASSERT(result.report == NULL);
    }
}

void test_import_file(struct test_import *t, const char *name)
{
    char *path = test_path(t->directory, name);
    t->files[0] = (struct nn_import_file){.name = name, .path = path};
    bool signals = t->setup.layout == NN_IMPORT_SIGNALS;
    t->setup.layout = signals ? NN_IMPORT_SIGNALS : NN_IMPORT_ARCHIVE;
    t->setup.n_files = 1;
    run(t);
    free(path);
}

void test_import_entries(struct test_import *t, const struct test_archive_options *options,
                         struct test_entry *entries, size_t n)
{
    char *path = test_path(t->directory, "data");
    test_archive_write(path, options, entries, n);
    for (size_t i = 0; i < n; i++) {
        free(entries[i].content.data);
    }
    free(path);
    test_import_file(t, "data");
}

void test_import_good(struct test_import *t, struct test_entry *entries, size_t n)
{
    test_import_entries(t, NULL, entries, n);
    if (t->status != NN_OK) {
        fail_msg("%s", t->err.text);
    }
}

void test_import_idx(struct test_import *t, const char *const *names, struct test_bytes *contents,
                     size_t n)
{
    char *paths[8];
    NN_ASSERT(n <= 8);
    for (size_t i = 0; i < n; i++) {
        char name[8] = "idx-0";
        name[4] = (char)('0' + i);
        paths[i] = test_path(t->directory, name);
        test_file_write(paths[i], contents[i].data, contents[i].size);
        t->files[i] = (struct nn_import_file){.name = names[i], .path = paths[i]};
        free(contents[i].data);
    }
    t->setup.layout = NN_IMPORT_IDX;
    t->setup.n_files = n;
    run(t);
    for (size_t i = 0; i < n; i++) {
        free(paths[i]);
    }
}

size_t test_import_count(const struct test_import *t, const char *name)
{
    const json_t *value = json_object_get(json_object_get(t->report, "counts"), name);
    NN_ASSERT(json_is_integer(value));
    return (size_t)json_integer_value(value);
}

static const json_t *find_row(const json_t *list, const char *key, const char *value)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *row = json_array_get(list, i);
        const char *text = json_string_value(json_object_get(row, key));
        if (text && strcmp(text, value) == 0) {
            return row;
        }
    }
    return NULL;
}

const char *test_import_reason(const struct test_import *t, const char *list, const char *entry)
{
    const json_t *row = find_row(json_object_get(t->report, list), "name", entry);
    return row ? json_string_value(json_object_get(row, "reason")) : NULL;
}

bool test_import_warns(const struct test_import *t, const char *code)
{
    return find_row(json_object_get(t->report, "warnings"), "code", code) != NULL;
}

size_t test_import_item(const struct test_import *t, const char *name)
{
    for (size_t i = 0; i < nn_prepared_info(t->set)->count; i++) {
        if (strcmp(nn_prepared_item_name(t->set, i), name) == 0) {
            return i;
        }
    }
    return SIZE_MAX;
}

const char *test_import_class(const struct test_import *t, const char *item)
{
    size_t i = test_import_item(t, item);
    NN_ASSERT(i != SIZE_MAX);
    return nn_prepared_class_name(t->set, nn_prepared_label(t->set, i));
}
