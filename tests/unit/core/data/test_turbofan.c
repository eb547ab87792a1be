/* SPDX-License-Identifier: MIT
 *
 * The turbofan files, real and simulated.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/data/simulate.h"

#include "tests/support/cmocka_all.h"
#include "tests/support/sets.h"
#include "tests/support/tables.h"

/* Facts that were computed with an independent program from the published files. */
static void check_real(const struct test_tables *t)
{
    const struct nn_sequences_info *info = test_tables_info(t);
    assert_int_equal(info->part_count[NN_PART_TRAIN], 100);
    assert_int_equal(info->part_count[NN_PART_TEST], 100);
    assert_int_equal(info->part_steps[NN_PART_TRAIN], 20631);
    assert_int_equal(info->part_steps[NN_PART_TEST], 13096);
    const json_t *length =
        json_object_get(json_object_get(json_object_get(t->report, "parts"), "train"), "length");
    assert_int_equal(json_integer_value(json_object_get(length, "min")), 128);
    assert_int_equal(json_integer_value(json_object_get(length, "max")), 362);
    assert_true(fabs(json_real_value(json_object_get(length, "mean")) - 206.31) < 1e-9);
    struct nn_column_statistics s2 = nn_sequences_input_statistics(t->set, 4);
    struct nn_column_statistics rul = nn_sequences_target_statistics(t->set, 0);
    assert_true(fabs(s2.mean - 642.680933547) < 1e-5 && fabs(s2.std - 0.500053270) < 1e-6);
    assert_true(rul.min == 1 && rul.max == 362);
    assert_true(fabs(rul.mean - 108.80786195530997) < 1e-9);
    assert_true(fabs(rul.std - 68.8809901772182) < 1e-9);
    double sum = 0, low = 1e9, high = 0;
    for (size_t i = 0; i < info->count; i++) {
        if (nn_sequences_part(t->set, i) == NN_PART_TEST) {
            const float *targets = nn_sequences_targets(t->set, i);
            double last = (double)targets[nn_sequences_length(t->set, i) - 1];
            sum += last;
            low = fmin(low, last);
            high = fmax(high, last);
        }
    }
    assert_true(low == 7 && high == 145 && fabs(sum / 100 - 75.52) < 1e-9);
}

static void turbofan_files(void **state)
{
    static const char *const constant[] = {"setting3", "s1", "s5", "s10", "s16", "s18", "s19"};
    struct test_tables *t = *state;
    char *paths[3];
    bool real = test_tables_turbofan(t, paths);
    test_tables_paths(t, NN_IMPORT_CMAPSS, NULL, (const char *const *)paths, 3);
    assert_int_equal(t->status, NN_OK);
    assert_int_equal(test_tables_info(t)->inputs, 24);
    const json_t *list = json_object_get(t->report, "constant_inputs");
    assert_int_equal(json_array_size(list), 7); /* 17 remain */
    for (size_t k = 0; k < 7; k++) {
        assert_string_equal(json_string_value(json_array_get(list, k)), constant[k]);
    }
    assert_int_equal(test_tables_count(t, "refused"), 0);
    for (size_t i = 0; i < test_tables_info(t)->count; i++) {
        size_t length = nn_sequences_length(t->set, i);
        const float *targets = nn_sequences_targets(t->set, i);
        assert_true(nn_sequences_part(t->set, i) != NN_PART_TRAIN || targets[length - 1] == 1);
        assert_true(targets[0] == targets[length - 1] + (float)(length - 1));
    }
    if (real) {
        check_real(t);
    }
    for (size_t i = 0; i < 3; i++) {
        free(paths[i]);
    }
}

/* The preset needs all it is made of. */
static void turbofan_files_must_be_whole(void **state)
{
    struct test_tables *t = *state;
    char *paths[3];
    (void)test_tables_turbofan(t, paths);
    test_tables_paths(t, NN_IMPORT_CMAPSS, NULL, (const char *const *)paths, 2);
    assert_int_equal(t->status, NN_ERR_INVALID);
    assert_non_null(strstr(t->err.text, "1 files of part test, but 0 files of remaining life"));
    const struct test_table_file narrow = {"train.txt", "1 1 2 3\n", 0};
    test_tables_import(t, NN_IMPORT_CMAPSS, NULL, &narrow, 1);
    assert_non_null(strstr(t->err.text, "4 columns; C-MAPSS has 26"));
    for (size_t i = 0; i < 3; i++) {
        free(paths[i]);
    }
}

static char *read_text(const char *directory, const char *name)
{
    char *path = test_path(directory, name);
    FILE *file = fopen(path, "rb");
    char *text = calloc(1, 1 << 22);
    assert_non_null(file);
    assert_true(fread(text, 1, (1 << 22) - 1, file) > 0);
    fclose(file);
    free(path);
    return text;
}

static void simulation_is_a_function_of_its_seed(void **state)
{
    static const char *const names[] = {"train_FD.txt", "test_FD.txt", "RUL_FD.txt"};
    struct test_tables *t = *state;
    for (size_t i = 0; i < 3; i++) {
        struct nn_turbofan_options options = {.engines = 4, .seed = 7};
        assert_int_equal(nn_simulate_turbofan(t->directory, &options, NULL), NN_OK);
        char *first = read_text(t->directory, names[i]);
        assert_int_equal(nn_simulate_turbofan(t->directory, &options, NULL), NN_OK);
        char *again = read_text(t->directory, names[i]);
        options.seed = 8;
        assert_int_equal(nn_simulate_turbofan(t->directory, &options, NULL), NN_OK);
        char *other = read_text(t->directory, names[i]);
        assert_string_equal(first, again);
        assert_string_not_equal(first, other);
        assert_non_null(strstr(first, " \n")); /* blanks at the end, as the real files have */
        free(first);
        free(again);
        free(other);
    }
    const struct nn_turbofan_options none = {.engines = 0};
    assert_int_equal(nn_simulate_turbofan(t->directory, &none, NULL), NN_ERR_INVALID);
    const struct nn_turbofan_options one = {.engines = 1};
    assert_int_equal(nn_simulate_turbofan("/nonexistent", &one, NULL), NN_ERR_IO);
}

#define TABLE_TEST(name)                                                                           \
    cmocka_unit_test_setup_teardown(name, test_tables_setup, test_tables_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TABLE_TEST(turbofan_files),
        TABLE_TEST(turbofan_files_must_be_whole),
        TABLE_TEST(simulation_is_a_function_of_its_seed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
