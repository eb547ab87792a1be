/* SPDX-License-Identifier: MIT
 *
 * Tables of sequences: what columns and rows mean, gaps, statistics, digests.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/cmocka_all.h"
#include "tests/support/tables.h"

#define LIFE "{'table': {'sequence': 'id', 'time': 't', 'remaining_life': true}}"
#define NEXT "{'table': {'sequence': 'id', 'time': 't', 'target': 'y'}}"

static void columns_by_name_and_by_number(void **state)
{
    static const char text[] = "id,t,a,y,b\nu,1,10,0.5,7\nu,2,11,0.25,8\nv,5,12,4,9\n";
    static const char *const options[] = {
        NEXT,
        "{'table': {'sequence': 1, 'time': 2, 'target': 4}}",
        "{'table': {'sequence': 1, 'time': 2, 'target': 4, 'header': 'yes'}}",
        "{'table': {'sequence': 'id', 'time': 2, 'target': ['y'], 'inputs': ['a', 5]}}",
    };
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        struct test_tables *t = *state;
        test_tables_text(t, options[i], text);
        assert_int_equal(t->status, NN_OK);
        assert_int_equal(test_tables_info(t)->count, 2);
        assert_int_equal(test_tables_info(t)->inputs, 2);
        assert_int_equal(test_tables_info(t)->targets, 1);
        assert_string_equal(nn_sequences_item_name(t->set, 0), "train/u");
        assert_string_equal(nn_sequences_input_name(t->set, 1), "b");
        assert_string_equal(nn_sequences_target_name(t->set, 0), "y");
        assert_int_equal(nn_sequences_length(t->set, 0), 2);
        assert_int_equal(nn_sequences_length(t->set, 1), 1);
        test_assert_floats(nn_sequences_features(t->set, 0), (float[]){10, 7, 11, 8}, 4);
        test_assert_floats(nn_sequences_features(t->set, 1), (float[]){12, 9}, 2);
        test_assert_floats(nn_sequences_targets(t->set, 0), (float[]){0.5F, 0.25F}, 2);
        test_assert_floats(nn_sequences_targets(t->set, 1), (float[]){4}, 1);
    }
}

static void rows_of_sequences_may_be_mixed(void **state)
{
    struct test_tables *t = *state;
    test_tables_text(t, NEXT, "id,t,a,y\nu,1,10,1\nv,1,20,2\nu,2,11,3\nw,1,30,4\nv,2,21,5\n");
    assert_int_equal(t->status, NN_OK);
    assert_int_equal(test_tables_info(t)->count, 3);
    test_assert_floats(nn_sequences_features(t->set, 0), (float[]){10, 11}, 2);
    test_assert_floats(nn_sequences_features(t->set, 1), (float[]){20, 21}, 2);
    test_assert_floats(nn_sequences_targets(t->set, 1), (float[]){2, 5}, 2);
    test_assert_floats(nn_sequences_features(t->set, 2), (float[]){30}, 1);
}

static void remaining_life_counts_down_to_one(void **state)
{
    static const struct test_table_file files[] = {
        {"train.csv", "id,t,a\n1,1,5\n1,2,6\n1,3,7\n2,1,5\n2,4,9\n", 0},
        {"test.csv", "id,t,a\n1,1,5\n1,2,6\n2,1,5\n", 0},
        {"rul.csv", "rul\n10\n0\n", 0},
    };
    struct test_tables *t = *state;
    test_tables_import(t, NN_IMPORT_TABLE, LIFE, files, 3);
    assert_int_equal(t->status, NN_OK);
    test_assert_floats(nn_sequences_targets(t->set, 0), (float[]){3, 2, 1}, 3);
    test_assert_floats(nn_sequences_targets(t->set, 1), (float[]){4, 1}, 2); /* cycles, not rows */
    test_assert_floats(nn_sequences_targets(t->set, 2), (float[]){11, 10}, 2);
    test_assert_floats(nn_sequences_targets(t->set, 3), (float[]){0}, 1);
    assert_string_equal(nn_sequences_target_name(t->set, 0), "remaining_life");
    assert_false(test_tables_warns(t, "assumed_run_to_failure"));
    test_tables_import(t, NN_IMPORT_TABLE, LIFE, files, 2);
    assert_int_equal(t->status, NN_OK);
    test_assert_floats(nn_sequences_targets(t->set, 2), (float[]){2, 1}, 2);
    assert_true(test_tables_warns(t, "assumed_run_to_failure"));
}

/* Without a time column rows are counted; without an id a file is one sequence. */
static void files_can_be_sequences(void **state)
{
    static const struct test_table_file files[] = {
        {"train_a.txt", "1 2\n3 4\n5 6\n", 0},
        {"train_b.txt", "7 8\n", 0},
        {"val_c.txt", "9 10\n11 12\n", 0},
    };
    struct test_tables *t = *state;
    test_tables_import(t, NN_IMPORT_TABLE, "{'table': {'remaining_life': true}}", files, 3);
    assert_int_equal(t->status, NN_OK);
    assert_int_equal(test_tables_info(t)->count, 3);
    assert_string_equal(nn_sequences_item_name(t->set, 0), "train/train_a.txt");
    assert_string_equal(nn_sequences_item_name(t->set, 2), "validation/val_c.txt");
    assert_string_equal(nn_sequences_input_name(t->set, 1), "column2");
    test_assert_floats(nn_sequences_targets(t->set, 0), (float[]){3, 2, 1}, 3);
    assert_int_equal(test_tables_info(t)->part_count[NN_PART_VALIDATION], 1);
    assert_int_equal(test_tables_info(t)->longest, 3);
}

static void decimal_commas_are_read_everywhere(void **state)
{
    static const struct test_table_file files[] = {
        {"train.csv", "1,5 2,5\n3,5 4,5\n", 0},
        {"test.csv", "5,5 6,5\n", 0},
        {"RUL.csv", "7,5\n", 0}, /* a number, no header */
    };
    struct test_tables *t = *state;
    test_tables_import(t, NN_IMPORT_TABLE,
                       "{'table': {'decimal_comma': true, 'remaining_life': true}}", files, 3);
    assert_int_equal(t->status, NN_OK);
    assert_int_equal(test_tables_info(t)->inputs, 2);
    test_assert_floats(nn_sequences_features(t->set, 0), (float[]){1.5F, 2.5F, 3.5F, 4.5F}, 4);
    test_assert_floats(nn_sequences_targets(t->set, 1), (float[]){7.5F}, 1);
}

static void ids_of_two_files_do_not_meet(void **state)
{
    static const struct test_table_file files[] = {
        {"train_1.csv", "id,t,a\n1,1,5\n1,2,6\n", 0},
        {"train_2.csv", "t,id,extra,a\n1,1,x,8\n", 0},
    };
    struct test_tables *t = *state;
    test_tables_import(t, NN_IMPORT_TABLE, LIFE, files, 2);
    assert_int_equal(t->status, NN_OK);
    assert_string_equal(nn_sequences_item_name(t->set, 0), "train/train_1.csv/1");
    assert_string_equal(nn_sequences_item_name(t->set, 1), "train/train_2.csv/1");
    test_assert_floats(nn_sequences_features(t->set, 1), (float[]){8}, 1); /* found by name */
}

static void classes_are_of_whole_sequences(void **state)
{
    struct test_tables *t = *state;
    static const char options[] =
        "{'table': {'sequence': 'id', 'task': 'classification', 'target': 'c'}}";
    test_tables_text(t, options,
                     "id,a,c\n1,5,rose\n1,6,rose\n2,7,aster\n3,8,rose\n4,1,rose\n4,2,aster\n");
    assert_int_equal(t->status, NN_OK);
    assert_int_equal(test_tables_info(t)->class_count, 2);
    assert_int_equal(test_tables_info(t)->targets, 0);
    assert_null(nn_sequences_targets(t->set, 0));
    assert_string_equal(nn_sequences_class_name(t->set, 0), "aster");
    assert_int_equal(nn_sequences_label(t->set, 0), 1);
    assert_int_equal(nn_sequences_label(t->set, 1), 0);
    assert_string_equal(test_tables_reason(t, "train/4"), "class_changes");
    /* whole numbers by their value: not 1, 10, 2 */
    test_tables_text(t, options, "id,a,c\n1,5,10\n2,6,2\n3,7,1\n");
    assert_int_equal(t->status, NN_OK);
    assert_string_equal(nn_sequences_class_name(t->set, 1), "2");
    assert_string_equal(nn_sequences_class_name(t->set, 2), "10");
    assert_int_equal(nn_sequences_label(t->set, 0), 2);
}

/* A22, A24: classes that begin at 1 are mapped; a constant input is named. */
static void case_a22_a24_labels_from_one_and_constant_columns(void **state)
{
    struct test_tables *t = *state;
    test_tables_text(t, "{'table': {'sequence': 'id', 'task': 'classification', 'target': 'c'}}",
                     "id,a,k,c\n1,5,3,1\n2,6,3,2\n3,7,3,3\n");
    assert_int_equal(t->status, NN_OK);
    assert_int_equal(test_tables_info(t)->class_count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(nn_sequences_label(t->set, i), i);
    }
    const json_t *constant = json_object_get(t->report, "constant_inputs");
    assert_int_equal(json_array_size(constant), 1);
    assert_string_equal(json_string_value(json_array_get(constant, 0)), "k");
    assert_true(test_tables_warns(t, "constant_inputs"));
}

#define GAPS "id,t,a,y\n1,1,,1\n1,2,4,1\n1,3,,1\n2,1,8,1\n2,2,NA,1\n"

static void gaps_are_filled_by_rule(void **state)
{
    static const struct {
        const char *rule;
        float wanted[5];
    } rows[] = {
        {"'missing': 'previous'", {6, 4, 4, 8, 8}},
        {"'missing': 'mean'", {6, 4, 6, 8, 6}},
        {"'missing': 'value', 'missing_value': -1.5", {-1.5F, 4, -1.5F, 8, -1.5F}},
    };
    struct test_tables *t = *state;
    for (size_t i = 0; i < 3; i++) {
        char options[256];
        snprintf(options, sizeof options,
                 "{'table': {'sequence': 'id', 'time': 't', 'target': 'y', 'missing_texts': "
                 "['NA'], %s}}",
                 rows[i].rule);
        test_tables_text(t, options, GAPS);
        assert_int_equal(t->status, NN_OK);
        test_assert_floats(nn_sequences_features(t->set, 0), rows[i].wanted, 5);
        assert_int_equal(test_tables_count(t, "filled"), 3);
        assert_true(test_tables_warns(t, "filled"));
    }
}

static void gaps_are_refused_without_a_rule(void **state)
{
    struct test_tables *t = *state;
    test_tables_refused(t, NEXT, GAPS, NN_ERR_INVALID, "no sequence of the train part is left");
    assert_non_null(strstr(t->err.text, "\"data.csv\", line 2, column 3 (a): there is no value"));
    test_tables_text(t, NEXT, GAPS "3,1,5,1\n");
    assert_int_equal(t->status, NN_OK);
    assert_int_equal(test_tables_info(t)->count, 1);
    assert_int_equal(test_tables_count(t, "refused"), 2);
    assert_string_equal(test_tables_reason(t, "train/1"), "missing");
    assert_string_equal(test_tables_reason(t, "train/2"), "not_a_number");
    assert_string_equal(test_tables_refusal(t, "train/2"),
                        "\"data.csv\", line 6, column 3 (a): \"NA\" is not a number");
    test_tables_refused(t, "{'table': {'sequence': 'id', 'target': 'y', 'missing': 'mean'}}",
                        "id,a,y\n1,,2\n1,,3\n", NN_ERR_INVALID,
                        "column \"a\" has no value in the train part");
    test_tables_refused(t, "{'table': {'sequence': 'id', 'target': 'y', 'missing': 'mean'}}",
                        "id,a,y\n1,5,\n", NN_ERR_INVALID, "column 3 (y): there is no value");
}

static void statistics_are_of_the_train_part(void **state)
{
    static const struct test_table_file files[] = {
        {"train.csv", "id,a,y\n1,1,10\n1,2,20\n2,6,60\n", 0},
        {"test.csv", "id,a,y\n1,100,1000\n", 0},
    };
    struct test_tables *t = *state;
    test_tables_import(t, NN_IMPORT_TABLE, "{'table': {'sequence': 'id', 'target': 'y'}}", files,
                       2);
    assert_int_equal(t->status, NN_OK);
    struct nn_column_statistics a = nn_sequences_input_statistics(t->set, 0);
    struct nn_column_statistics y = nn_sequences_target_statistics(t->set, 0);
    assert_true(a.min == 1 && a.max == 6 && a.mean == 3);
    assert_true(fabs(a.std - sqrt(7)) < 1e-12); /* (4 + 1 + 9) / 2 */
    assert_true(y.min == 10 && y.max == 60 && y.mean == 30);
}

static void equal_sequences_across_parts_are_told(void **state)
{
    static const struct test_table_file files[] = {
        {"train.csv", "id,a,y\n1,1,10\n1,2,20\n2,6,60\n", 0},
        {"test.csv", "id,a,y\n7,1,10\n7,2,20\n", 0},
    };
    struct test_tables *t = *state;
    test_tables_import(t, NN_IMPORT_TABLE, "{'table': {'sequence': 'id', 'target': 'y'}}", files,
                       2);
    assert_int_equal(t->status, NN_OK);
    assert_int_equal(test_tables_count(t, "duplicates"), 1);
    assert_true(test_tables_warns(t, "duplicates_across_parts"));
}

/* Of all that train of a class, or of a regression. */
static void equal_sequences_of_a_class_are_told(void **state)
{
    struct test_tables *t = *state;
    static const char classes[] =
        "{'table': {'sequence': 'id', 'task': 'classification', 'target': 'c'}}";
    static const char numbers[] = "{'table': {'sequence': 'id', 'target': 'c'}}";
    static const struct {
        const char *options, *text;
        bool divisible, alike;
    } rows[] = {
        {classes, "id,a,c\n1,5,x\n2,5,x\n3,6,y\n4,7,y\n", true, true},
        {classes, "id,a,c\n1,5,x\n2,5,x\n3,6,y\n4,6,y\n", false, true},
        {classes, "id,a,c\n1,5,x\n2,6,y\n", false, false},
        {numbers, "id,a,c\n1,5,1\n2,5,1\n", false, true},
        {numbers, "id,a,c\n1,5,1\n2,5,2\n", true, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        test_tables_text(t, rows[i].options, rows[i].text);
        assert_int_equal(t->status, NN_OK);
        assert_int_equal(json_is_true(json_object_get(t->report, "divisible")), rows[i].divisible);
        assert_int_equal(test_tables_warns(t, "alike"), rows[i].alike);
    }
}

/* Separators, ends of line and blanks are no content: the same numbers, the same digest. */
static void spelling_does_not_change_the_digest(void **state)
{
    static const char *const texts[] = {
        "id,t,a,y\n1,1,5.50,1\n1,2,6,2\n",
        "id;t;a;y\r\n1;1;5.5;1\r\n1;2;6.0;2",
        "\xEF\xBB\xBF\"id\",\"t\",\"a\",\"y\"\n\"1\",1,55e-1,1\n\n1,2,6,2\n",
        "id\tt\ta\ty\t\r\n1\t1\t5.5\t1\t\r\n1\t2\t6\t2\t\r\n",
        "id t a y  \n 1 1  5.5 1  \n1 2 6 2  \n",
    };
    struct test_tables *t = *state;
    uint8_t digest[NN_DIGEST_BYTES];
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        test_tables_text(t, NEXT, texts[i]);
        assert_int_equal(t->status, NN_OK);
        if (i == 0) {
            memcpy(digest, test_tables_info(t)->digest, sizeof digest);
        }
        assert_memory_equal(test_tables_info(t)->digest, digest, sizeof digest);
    }
}

#define TABLE_TEST(name)                                                                           \
    cmocka_unit_test_setup_teardown(name, test_tables_setup, test_tables_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TABLE_TEST(columns_by_name_and_by_number),
        TABLE_TEST(rows_of_sequences_may_be_mixed),
        TABLE_TEST(remaining_life_counts_down_to_one),
        TABLE_TEST(files_can_be_sequences),
        TABLE_TEST(decimal_commas_are_read_everywhere),
        TABLE_TEST(ids_of_two_files_do_not_meet),
        TABLE_TEST(classes_are_of_whole_sequences),
        TABLE_TEST(case_a22_a24_labels_from_one_and_constant_columns),
        TABLE_TEST(gaps_are_filled_by_rule),
        TABLE_TEST(gaps_are_refused_without_a_rule),
        TABLE_TEST(statistics_are_of_the_train_part),
        TABLE_TEST(equal_sequences_across_parts_are_told),
        TABLE_TEST(equal_sequences_of_a_class_are_told),
        TABLE_TEST(spelling_does_not_change_the_digest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
