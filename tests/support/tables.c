/* SPDX-License-Identifier: MIT
 *
 * Imports of sequence tables for tests.
 */
#include "tests/support/tables.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/data/sequence_loader.h"
#include "core/data/simulate.h"

#include "tests/support/archives.h"
#include "tests/support/cmocka_all.h"
#include "tests/support/sets.h"

enum { FILES_MAX = 64 };

int test_tables_setup(void **state)
{
    struct test_tables *t = calloc(1, sizeof *t);
    NN_ASSERT(t);
    t->directory = test_directory();
    t->output = test_path(t->directory, "output");
    NN_ASSERT(mkdir(t->output, 0700) == 0);
    *state = t;
    return 0;
}

static void reset(struct test_tables *t)
{
    char *path = test_path(t->output, "prepared");
    remove(path);
    free(path);
    json_decref(t->report);
    nn_sequences_close(t->set);
    t->report = NULL;
    t->set = NULL;
    t->err = (struct nn_error){0};
}

int test_tables_teardown(void **state)
{
    struct test_tables *t = *state;
    reset(t);
    test_directory_remove(t->directory);
    free(t->output);
    free(t);
    return 0;
}

static size_t files_in(const char *directory)
{
    DIR *dir = opendir(directory);
    size_t n = 0;
    NN_ASSERT(dir);
    for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir)) {
        n += entry->d_name[0] != '.';
    }
    closedir(dir);
    return n;
}

static json_t *parse_options(const char *options)
{
    char *text = strdup(options ? options : "{}");
    NN_ASSERT(text);
    for (char *p = text; *p; p++) {
        *p = *p == '\'' ? '"' : *p;
    }
    json_t *json = json_loads(text, 0, NULL);
    NN_ASSERT(json);
    free(text);
    return json;
}

static void run(struct test_tables *t, enum nn_import_layout layout, const char *options,
                const struct nn_import_file *files, size_t n)
{
    struct nn_import_result result = {0};
    json_t *json = parse_options(options);
    reset(t);
    t->setup.layout = layout;
    t->setup.files = files;
    t->setup.n_files = n;
    t->setup.directory = t->output;
    t->status = nn_import_options_decode(layout, json, "", &t->setup.options, &t->err);
    if (t->status == NN_OK) {
        t->status = nn_import_run(&t->setup, &result, &t->err);
    }
    NN_ASSERT(files_in(t->output) == (t->status == NN_OK));
    NN_ASSERT((t->status == NN_OK) == (t->err.text[0] == '\0'));
    if (t->status == NN_OK) {
        char *path = test_path(t->output, result.prepared_name);
        NN_ASSERT(nn_sequences_open(path, &t->set, &t->err) == NN_OK);
        t->report = result.report;
        free(path);
    }
    json_decref(json);
}

void test_tables_import(struct test_tables *t, enum nn_import_layout layout, const char *options,
                        const struct test_table_file *files, size_t n)
{
    struct nn_import_file list[FILES_MAX] = {0};
    char *paths[FILES_MAX];
    NN_ASSERT(n <= FILES_MAX);
    for (size_t i = 0; i < n; i++) {
        char name[16];
        snprintf(name, sizeof name, "file-%zu", i);
        paths[i] = test_path(t->directory, name);
        test_file_write(paths[i], files[i].text,
                        files[i].size ? files[i].size : strlen(files[i].text));
        list[i] = (struct nn_import_file){.name = files[i].name, .path = paths[i], .fd = -1};
    }
    run(t, layout, options, list, n);
    for (size_t i = 0; i < n; i++) {
        free(paths[i]);
    }
}

void test_tables_text(struct test_tables *t, const char *options, const char *text)
{
    test_tables_import(t, NN_IMPORT_TABLE, options,
                       &(struct test_table_file){.name = "data.csv", .text = text}, 1);
}

void test_tables_paths(struct test_tables *t, enum nn_import_layout layout, const char *options,
                       const char *const *paths, size_t n)
{
    struct nn_import_file list[FILES_MAX] = {0};
    NN_ASSERT(n <= FILES_MAX);
    for (size_t i = 0; i < n; i++) {
        list[i] =
            (struct nn_import_file){.name = strrchr(paths[i], '/') + 1, .path = paths[i], .fd = -1};
    }
    run(t, layout, options, list, n);
}

bool test_tables_turbofan(struct test_tables *t, char *out_paths[3])
{
    static const char *const real[] = {"train_FD001.txt", "test_FD001.txt", "RUL_FD001.txt"};
    static const char *const made[] = {"train_FD.txt", "test_FD.txt", "RUL_FD.txt"};
    const char *root = getenv("ASSAY_TEST_DATA");
    bool has_real = true;
    for (size_t i = 0; i < 3; i++) {
        out_paths[i] = NULL;
        NN_ASSERT(asprintf(&out_paths[i], "%s/cmapss/%s", root ? root : "../shared/data", real[i]) >
                  0);
        has_real = has_real && access(out_paths[i], R_OK) == 0;
    }
    if (has_real) {
        return true;
    }
    const struct nn_turbofan_options options = {.engines = 30, .seed = 1};
    NN_ASSERT(nn_simulate_turbofan(t->directory, &options, NULL) == NN_OK);
    for (size_t i = 0; i < 3; i++) {
        free(out_paths[i]);
        out_paths[i] = test_path(t->directory, made[i]);
    }
    return false;
}

size_t test_tables_count(const struct test_tables *t, const char *name)
{
    const json_t *value = json_object_get(json_object_get(t->report, "counts"), name);
    NN_ASSERT(json_is_integer(value));
    return (size_t)json_integer_value(value);
}

static const json_t *find_row(const struct test_tables *t, const char *list, const char *key,
                              const char *value)
{
    const json_t *rows = json_object_get(t->report, list);
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        if (strcmp(json_string_value(json_object_get(row, key)), value) == 0) {
            return row;
        }
    }
    return NULL;
}

const char *test_tables_reason(const struct test_tables *t, const char *sequence)
{
    return json_string_value(json_object_get(find_row(t, "refused", "name", sequence), "reason"));
}

const char *test_tables_refusal(const struct test_tables *t, const char *sequence)
{
    return json_string_value(json_object_get(find_row(t, "refused", "name", sequence), "text"));
}

bool test_tables_warns(const struct test_tables *t, const char *code)
{
    return find_row(t, "warnings", "code", code) != NULL;
}

size_t test_tables_item(const struct test_tables *t, const char *name)
{
    for (size_t i = 0; i < nn_sequences_info(t->set)->count; i++) {
        if (strcmp(nn_sequences_item_name(t->set, i), name) == 0) {
            return i;
        }
    }
    return SIZE_MAX;
}

const struct nn_sequences_info *test_tables_info(const struct test_tables *t)
{
    return nn_sequences_info(t->set);
}

void test_assert_floats(const float *values, const float *wanted, size_t n)
{
    assert_non_null(values);
    for (size_t i = 0; i < n; i++) {
        assert_true(values[i] == wanted[i]);
    }
}

void test_tables_refused(struct test_tables *t, const char *options, const char *text,
                         enum nn_status status, const char *words)
{
    test_tables_text(t, options, text);
    if (!strstr(t->err.text, words)) {
        print_message("\"%s\" instead of \"%s\"\n", t->err.text, words);
    }
    assert_int_equal(t->status, status);
    assert_non_null(strstr(t->err.text, words));
}

struct nn_scaling *test_tables_scaling(const struct test_tables *t, const uint32_t *items, size_t n,
                                       const struct nn_scaling_options *options)
{
    struct nn_scaling *scaling = NULL;
    assert_int_equal(nn_scaling_create(t->set, items, n, options, &scaling, NULL), NN_OK);
    return scaling;
}

struct nn_scaled_sequences *test_tables_scaled(const struct test_tables *t,
                                               const struct nn_scaling *scaling)
{
    struct nn_scaled_sequences *scaled = NULL;
    assert_int_equal(nn_scaled_sequences_create(t->set, scaling, NULL, &scaled, NULL), NN_OK);
    return scaled;
}
