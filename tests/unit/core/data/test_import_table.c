/* SPDX-License-Identifier: MIT
 *
 * Importing sequence tables: what the columns mean, what is refused and how it is said, and the
 * turbofan data with their published facts.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/data/simulate.h"

#include "tests/support/cmocka_all.h"
#include "tests/support/sets.h"
#include "tests/support/tables.h"

#define LIFE "{'table': {'sequence': 'id', 'time': 't', 'remaining_life': true}}"
#define NEXT "{'table': {'sequence': 'id', 'time': 't', 'target': 'y'}}"

static const struct nn_sequences_info *info_of(const struct test_tables *t)
{
    return nn_sequences_info(t->set);
}

static void assert_floats(const float *values, const float *wanted, size_t n)
{
    assert_non_null(values);
    for (size_t i = 0; i < n; i++) {
        assert_true(values[i] == wanted[i]);
    }
}

/* Imports one text; the error must hold these words. */
static void refused(struct test_tables *t, const char *options, const char *text,
                    enum nn_status status, const char *words)
{
    test_tables_text(t, options, text);
    if (!strstr(t->err.text, words)) {
        print_message("\"%s\" instead of \"%s\"\n", t->err.text, words);
    }
    assert_int_equal(t->status, status);
    assert_non_null(strstr(t->err.text, words));
}

/* --------------------------------------------------------------------------------------- meaning
 */

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
        assert_int_equal(info_of(t)->count, 2);
        assert_int_equal(info_of(t)->inputs, 2);
        assert_int_equal(info_of(t)->targets, 1);
        assert_string_equal(nn_sequences_item_name(t->set, 0), "train/u");
        assert_string_equal(nn_sequences_input_name(t->set, 1), "b");
        assert_string_equal(nn_sequences_target_name(t->set, 0), "y");
        assert_int_equal(nn_sequences_length(t->set, 0), 2);
        assert_int_equal(nn_sequences_length(t->set, 1), 1);
        assert_floats(nn_sequences_features(t->set, 0), (float[]){10, 7, 11, 8}, 4);
        assert_floats(nn_sequences_features(t->set, 1), (float[]){12, 9}, 2);
        assert_floats(nn_sequences_targets(t->set, 0), (float[]){0.5F, 0.25F}, 2);
        assert_floats(nn_sequences_targets(t->set, 1), (float[]){4}, 1);
    }
}

static void rows_of_sequences_may_be_mixed(void **state)
{
    struct test_tables *t = *state;
    test_tables_text(t, NEXT, "id,t,a,y\nu,1,10,1\nv,1,20,2\nu,2,11,3\nw,1,30,4\nv,2,21,5\n");
    assert_int_equal(t->status, NN_OK);
    assert_int_equal(info_of(t)->count, 3);
    assert_floats(nn_sequences_features(t->set, 0), (float[]){10, 11}, 2);
    assert_floats(nn_sequences_features(t->set, 1), (float[]){20, 21}, 2);
    assert_floats(nn_sequences_targets(t->set, 1), (float[]){2, 5}, 2);
    assert_floats(nn_sequences_features(t->set, 2), (float[]){30}, 1);
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
    assert_floats(nn_sequences_targets(t->set, 0), (float[]){3, 2, 1}, 3);
    assert_floats(nn_sequences_targets(t->set, 1), (float[]){4, 1}, 2); /* cycles, not rows */
    assert_floats(nn_sequences_targets(t->set, 2), (float[]){11, 10}, 2);
    assert_floats(nn_sequences_targets(t->set, 3), (float[]){0}, 1);
    assert_string_equal(nn_sequences_target_name(t->set, 0), "remaining_life");
    assert_false(test_tables_warns(t, "assumed_run_to_failure"));
    test_tables_import(t, NN_IMPORT_TABLE, LIFE, files, 2);
    assert_int_equal(t->status, NN_OK);
    assert_floats(nn_sequences_targets(t->set, 2), (float[]){2, 1}, 2);
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
    assert_int_equal(info_of(t)->count, 3);
    assert_string_equal(nn_sequences_item_name(t->set, 0), "train/train_a.txt");
    assert_string_equal(nn_sequences_item_name(t->set, 2), "validation/val_c.txt");
    assert_string_equal(nn_sequences_input_name(t->set, 1), "column2");
    assert_floats(nn_sequences_targets(t->set, 0), (float[]){3, 2, 1}, 3);
    assert_int_equal(info_of(t)->part_count[NN_PART_VALIDATION], 1);
    assert_int_equal(info_of(t)->longest, 3);
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
    assert_int_equal(info_of(t)->inputs, 2);
    assert_floats(nn_sequences_features(t->set, 0), (float[]){1.5F, 2.5F, 3.5F, 4.5F}, 4);
    assert_floats(nn_sequences_targets(t->set, 1), (float[]){7.5F}, 1);
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
    assert_floats(nn_sequences_features(t->set, 1), (float[]){8}, 1); /* found by name */
}

static void classes_are_of_whole_sequences(void **state)
{
    struct test_tables *t = *state;
    static const char options[] =
        "{'table': {'sequence': 'id', 'task': 'classification', 'target': 'c'}}";
    test_tables_text(t, options,
                     "id,a,c\n1,5,rose\n1,6,rose\n2,7,aster\n3,8,rose\n4,1,rose\n4,2,aster\n");
    assert_int_equal(t->status, NN_OK);
    assert_int_equal(info_of(t)->class_count, 2);
    assert_int_equal(info_of(t)->targets, 0);
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
    assert_int_equal(info_of(t)->class_count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(nn_sequences_label(t->set, i), i);
    }
    const json_t *constant = json_object_get(t->report, "constant_inputs");
    assert_int_equal(json_array_size(constant), 1);
    assert_string_equal(json_string_value(json_array_get(constant, 0)), "k");
    assert_true(test_tables_warns(t, "constant_inputs"));
}

/* ---------------------------------------------------------------------------------------- missing
 */

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
        assert_floats(nn_sequences_features(t->set, 0), rows[i].wanted, 5);
        assert_int_equal(test_tables_count(t, "filled"), 3);
        assert_true(test_tables_warns(t, "filled"));
    }
}

static void gaps_are_refused_without_a_rule(void **state)
{
    struct test_tables *t = *state;
    refused(t, NEXT, GAPS, NN_ERR_INVALID, "no sequence of the train part is left");
    assert_non_null(strstr(t->err.text, "\"data.csv\", line 2, column 3 (a): there is no value"));
    test_tables_text(t, NEXT, GAPS "3,1,5,1\n");
    assert_int_equal(t->status, NN_OK);
    assert_int_equal(info_of(t)->count, 1);
    assert_int_equal(test_tables_count(t, "refused"), 2);
    assert_string_equal(test_tables_reason(t, "train/1"), "missing");
    assert_string_equal(test_tables_reason(t, "train/2"), "not_a_number");
    assert_string_equal(test_tables_refusal(t, "train/2"),
                        "\"data.csv\", line 6, column 3 (a): \"NA\" is not a number");
    refused(t, "{'table': {'sequence': 'id', 'target': 'y', 'missing': 'mean'}}",
            "id,a,y\n1,,2\n1,,3\n", NN_ERR_INVALID, "column \"a\" has no value in the train part");
    refused(t, "{'table': {'sequence': 'id', 'target': 'y', 'missing': 'mean'}}", "id,a,y\n1,5,\n",
            NN_ERR_INVALID, "column 3 (y): there is no value");
}

/* --------------------------------------------------------------------------------------- refused
 */

static void bad_values_refuse_their_sequence(void **state)
{
    static const struct {
        const char *row, *reason, *words;
    } rows[] = {
        {"1,2,abc,1", "not_a_number", "line 3, column 3 (a): \"abc\" is not a number"},
        {"1,2,0x1F,1", "not_a_number", "\"0x1F\" is not a number"},
        {"1,2,\"1,5\",1", "not_a_number", "\"1,5\" is not a number"},
        {"1,2,NaN,1", "not_finite", "line 3, column 3 (a): \"NaN\" is not finite"},
        {"1,2,-inf,1", "not_finite", "\"-inf\" is not finite"},
        {"1,2,1e999,1", "too_large", "\"1e999\" is too large"},
        {"1,2,5,1e39", "too_large", "line 3, column 4 (y): \"1e39\" is too large"},
        {"1,2,5,", "missing", "line 3, column 4 (y): there is no value"},
        {"1,1,5,1", "time_repeated", "line 3, column 2 (t): the time of the row before it again"},
        {"1,0,5,1", "time_unordered", "line 3, column 2 (t): a time before that of the row"},
        {"1,x,5,1", "not_a_number", "line 3, column 2 (t): \"x\" is not a number"},
    };
    struct test_tables *t = *state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[256];
        snprintf(text, sizeof text, "id,t,a,y\n1,1,5,1\n%s\n1,3,6,1\n2,1,7,1\n", rows[i].row);
        test_tables_text(t, NEXT, text);
        assert_int_equal(t->status, NN_OK);
        assert_int_equal(info_of(t)->count, 1);
        assert_string_equal(nn_sequences_item_name(t->set, 0), "train/2");
        assert_string_equal(test_tables_reason(t, "train/1"), rows[i].reason);
        assert_non_null(strstr(test_tables_refusal(t, "train/1"), rows[i].words));
        assert_true(test_tables_warns(t, "refused_sequences"));
        refused(t,
                "{'on_refused': 'fail', 'table': {'sequence': 'id', 'time': 't', 'target': 'y'}}",
                text, NN_ERR_INVALID, rows[i].words);
    }
}

/* Of 63 bytes: two of them are more than a sentence takes. */
#define LONG_NAME "a_sensor_with_a_name_that_goes_on_and_on_and_on_until_it_is_long"

static void bad_tables_are_refused_whole(void **state)
{
    static const struct {
        const char *options, *text, *words;
    } rows[] = {
        {NEXT, "id,t,a,y\n1,1,5,1\n1,2,6\n", "line 3: 3 fields, 4 are expected"},
        {NEXT, "id,t,a,y\n1,1,5,1\n1,2,6,1,9\n", "line 3, column 5: 5 fields, 4 are expected"},
        {NEXT, "id,t,a,y\n1,1,5,1\n,2,6,1\n", "line 3, column 1: the sequence id is empty"},
        {NEXT, "id,t,a,y\n\xFF,1,5,1\n", "line 2, column 1: the sequence id is not UTF-8"},
        {NEXT, "id,t,a,a,y\n1,1,5,6,1\n", "two columns have the name \"a\""},
        {NEXT, "id,t,a\n1,1,5\n", "\"data.csv\" has no column \"y\"; it has id, t, a"},
        {NEXT, "id,t," LONG_NAME "," LONG_NAME "2\n1,1,5,6\n",
         "\"y\"; it has id, t, " LONG_NAME ", ..."},
        {NEXT, LONG_NAME LONG_NAME ",id,t\n5,1,1\n", "\"y\"; it has ..."},
        {NEXT, "1,1,5,2\n", "has no column \"id\"; it has no header"},
        {NEXT, "id,t,a,y\n", "there is a header and nothing below it"},
        {NEXT, "\n\n", "the file has no rows"},
        {NEXT, "id,t,y\n1,1,2\n", "no column is left as an input"},
        {"{'table': {'target': 9}}", "1,2,3\n", "has 3 columns, no column 9"},
        {"{'table': {'target': 2, 'inputs': [1, 2]}}", "1,2,3\n", "is the target"},
        {"{'table': {'target': 2, 'sequence': 1, 'inputs': [1]}}", "1,2,3\n", "is the sequence"},
        {"{'table': {'target': 2, 'inputs': [1, 1]}}", "1,2,3\n", "is the input already"},
        {"{'table': {'target': 1, 'sequence': 1}}", "1,2,3\n", "is the time or the target too"},
        {"{'table': {'target': [2, 2]}}", "1,2,3\n", "a column stands twice"},
        {"{'table': {'target': ['y', 2]}}", "x,y\n1,2\n", "column \"y\" is a target already"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        refused(*state, rows[i].options, rows[i].text, NN_ERR_INVALID, rows[i].words);
    }
}

static void ends_of_life_must_fit(void **state)
{
    static const struct {
        const char *ends, *words;
    } rows[] = {
        {"5\n", "line 2: 1 numbers, \"test.csv\" has more sequences"},
        {"5\n6\n7\n", "line 3: \"test.csv\" has only 2 sequences"},
        {"5\n-1\n", "line 2, column 1: \"-1\" is no remaining life"},
        {"5\nx\n", "line 2, column 1: \"x\" is no remaining life"},
        {"5\nnan\n", "\"nan\" is no remaining life"},
        {"5 6\n", "line 1, column 2: a single number is expected"},
    };
    struct test_tables *t = *state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct test_table_file files[] = {
            {"RUL.txt", rows[i].ends, 0},
            {"train.csv", "id,t,a\n1,1,5\n", 0},
            {"test.csv", "id,t,a\n1,1,5\n2,1,6\n", 0},
        };
        test_tables_import(t, NN_IMPORT_TABLE, LIFE, files, 3);
        assert_int_equal(t->status, NN_ERR_INVALID);
        assert_non_null(strstr(t->err.text, rows[i].words));
    }
}

/* Words of file names, never parts of words: "latest" is no test, "interval" no validation. */
static void files_are_told_apart_by_whole_words(void **state)
{
    static const struct {
        const char *name;
        int role; /* -1: cannot be told */
    } rows[] = {
        {"train_FD001.txt", NN_TABLE_TRAIN},
        {"test_FD001.txt", NN_TABLE_TEST},
        {"RUL_FD001.txt", NN_TABLE_TEST_END},
        {"val-RUL.csv", NN_TABLE_VALIDATION_END},
        {"x.validation.csv", NN_TABLE_VALIDATION},
        {"latest.csv", -1},
        {"interval.csv", -1},
        {"data.csv", -1},
    };
    const struct nn_table_options options = {0};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        enum nn_table_role role = NN_TABLE_TRAIN;
        enum nn_status status = nn_table_role_of(&options, rows[i].name, false, &role, NULL);
        assert_int_equal(status, rows[i].role < 0 ? NN_ERR_INVALID : NN_OK);
        assert_true(rows[i].role < 0 || (int)role == rows[i].role);
    }
}

static void roles_can_be_given(void **state)
{
    static const struct test_table_file files[] = {
        {"a.csv", "id,t,a\n1,1,5\n1,2,6\n", 0},
        {"b.csv", "id,t,a\n1,1,5\n", 0},
        {"c.csv", "3\n", 0},
    };
    static const struct {
        const char *options, *words;
    } rows[] = {
        {"{'table': {'sequence': 1, 'time': 2, 'remaining_life': true}}",
         "does not say which part"},
        {"{'table': {'sequence': 1, 'time': 2, 'remaining_life': true, 'files': {'a.csv': "
         "'train', 'b.csv': 'test', 'c.csv': 'test_end_of_life', 'd.csv': 'test'}}}",
         "there is no file \"d.csv\""},
        {"{'table': {'sequence': 1, 'time': 2, 'remaining_life': true, 'files': {'a.csv': "
         "'validation', 'b.csv': 'test', 'c.csv': 'test_end_of_life'}}}",
         "no file is of the train part"},
        {"{'table': {'sequence': 1, 'time': 2, 'remaining_life': true, 'files': {'a.csv': "
         "'train', 'b.csv': 'test', 'c.csv': 'validation_end_of_life'}}}",
         "0 files of part validation, but 1 files of remaining life"},
    };
    struct test_tables *t = *state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        test_tables_import(t, NN_IMPORT_TABLE, rows[i].options, files, 3);
        assert_int_equal(t->status, NN_ERR_INVALID);
        assert_non_null(strstr(t->err.text, rows[i].words));
        assert_string_equal(t->err.pointer, "/table/files");
    }
    test_tables_import(t, NN_IMPORT_TABLE,
                       "{'table': {'sequence': 1, 'time': 2, 'remaining_life': true, 'files': "
                       "{'a.csv': 'train', 'b.csv': 'test', 'c.csv': 'test_end_of_life'}}}",
                       files, 3);
    assert_int_equal(t->status, NN_OK);
    assert_floats(nn_sequences_targets(t->set, 1), (float[]){3}, 1);
}

static void options_must_mean_something(void **state)
{
    static const struct {
        enum nn_import_layout layout;
        const char *options, *pointer;
    } rows[] = {
        {NN_IMPORT_TABLE, "{}", "/table/target"},
        {NN_IMPORT_TABLE, "{'table': {'target': 'y', 'remaining_life': true}}",
         "/table/remaining_life"},
        {NN_IMPORT_TABLE, "{'table': {'remaining_life': true, 'task': 'classification'}}",
         "/table/remaining_life"},
        {NN_IMPORT_TABLE, "{'table': {'target': ['a', 'b'], 'task': 'classification'}}",
         "/table/target"},
        {NN_IMPORT_TABLE, "{'table': {'target': 0}}", "/table/target"},
        {NN_IMPORT_TABLE, "{'table': {'target': 'y', 'time': true}}", "/table/time"},
        {NN_IMPORT_TABLE, "{'table': {'target': 'y', 'inputs': [-1]}}", "/table/inputs"},
        {NN_IMPORT_TABLE, "{'table': {'target': 'y', 'inputs': ['a'], 'ignore': ['b']}}",
         "/table/ignore"},
        {NN_IMPORT_TABLE, "{'table': {'target': 'y', 'missing': 'value'}}", "/table/missing_value"},
        {NN_IMPORT_TABLE, "{'table': {'target': 'y', 'missing_value': 1}}", "/table/missing_value"},
        {NN_IMPORT_TABLE, "{'table': {'target': 'y', 'missing': 'guess'}}", "/table/missing"},
        {NN_IMPORT_TABLE, "{'table': {'target': 'y', 'decimal_comma': true, 'separator': 'comma'}}",
         "/table/decimal_comma"},
        {NN_IMPORT_TABLE, "{'table': {'target': 'y', 'files': {'a': 'spare'}}}", "/table/files/a"},
        {NN_IMPORT_TABLE, "{'table': {'target': 'y', 'columns': 3}}", "/table/columns"},
        {NN_IMPORT_TABLE, "{'image_size': 3, 'table': {'target': 'y'}}", "/image_size"},
        {NN_IMPORT_TABLE, "{'channels': 3, 'table': {'target': 'y'}}", "/channels"},
        {NN_IMPORT_CMAPSS, "{'table': {'target': 'y'}}", "/table/target"},
        {NN_IMPORT_CMAPSS, "{'table': {'header': 'yes'}}", "/table/header"},
        {NN_IMPORT_IDX, "{'table': {'target': 'y'}}", "/table"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct nn_import_options options;
        struct nn_error err = {0};
        char text[256];
        snprintf(text, sizeof text, "%s", rows[i].options);
        for (char *p = text; *p; p++) {
            *p = *p == '\'' ? '"' : *p;
        }
        json_t *json = json_loads(text, 0, NULL);
        assert_non_null(json);
        assert_int_equal(nn_import_options_decode(rows[i].layout, json, "", &options, &err),
                         NN_ERR_INVALID);
        assert_string_equal(err.pointer, rows[i].pointer);
        json_decref(json);
    }
}

static void caps_hold(void **state)
{
    static const struct {
        struct nn_import_limits limits;
        const char *words;
    } rows[] = {
        {{.max_values = 20}, "more than"},
        {{.max_entries = 1}, "more than 1 sequences"},
        {{.max_total_bytes = 30}, "more than 30 bytes"},
    };
    struct test_tables *t = *state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        t->setup.limits = rows[i].limits;
        refused(t, LIFE, "id,t,a\n1,1,5\n1,2,5\n1,3,5\n1,4,5\n2,1,6\n2,2,6\n", NN_ERR_LIMIT,
                rows[i].words);
    }
    t->setup.limits = (struct nn_import_limits){0};
}

/* --------------------------------------------------------------------------------------- numbers
 */

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
            memcpy(digest, info_of(t)->digest, sizeof digest);
        }
        assert_memory_equal(info_of(t)->digest, digest, sizeof digest);
    }
}

/* -------------------------------------------------------------------------------------- turbofan
 */

/* Facts that were computed with an independent program from the published files. */
static void check_real(const struct test_tables *t)
{
    const struct nn_sequences_info *info = info_of(t);
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
    assert_int_equal(info_of(t)->inputs, 24);
    const json_t *list = json_object_get(t->report, "constant_inputs");
    assert_int_equal(json_array_size(list), 7); /* 17 remain */
    for (size_t k = 0; k < 7; k++) {
        assert_string_equal(json_string_value(json_array_get(list, k)), constant[k]);
    }
    assert_int_equal(test_tables_count(t, "refused"), 0);
    for (size_t i = 0; i < info_of(t)->count; i++) {
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
        TABLE_TEST(bad_values_refuse_their_sequence),
        TABLE_TEST(bad_tables_are_refused_whole),
        TABLE_TEST(ends_of_life_must_fit),
        TABLE_TEST(files_are_told_apart_by_whole_words),
        TABLE_TEST(roles_can_be_given),
        TABLE_TEST(options_must_mean_something),
        TABLE_TEST(caps_hold),
        TABLE_TEST(statistics_are_of_the_train_part),
        TABLE_TEST(equal_sequences_across_parts_are_told),
        TABLE_TEST(spelling_does_not_change_the_digest),
        TABLE_TEST(turbofan_files),
        TABLE_TEST(turbofan_files_must_be_whole),
        TABLE_TEST(simulation_is_a_function_of_its_seed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
