/* SPDX-License-Identifier: MIT
 *
 * Tables of sequences that are refused: values, columns, options, caps.
 */
#include <stdio.h>
#include <string.h>

#include "tests/support/cmocka_all.h"
#include "tests/support/tables.h"

#define LIFE "{'table': {'sequence': 'id', 'time': 't', 'remaining_life': true}}"
#define NEXT "{'table': {'sequence': 'id', 'time': 't', 'target': 'y'}}"

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
        assert_int_equal(test_tables_info(t)->count, 1);
        assert_string_equal(nn_sequences_item_name(t->set, 0), "train/2");
        assert_string_equal(test_tables_reason(t, "train/1"), rows[i].reason);
        assert_non_null(strstr(test_tables_refusal(t, "train/1"), rows[i].words));
        assert_true(test_tables_warns(t, "refused_sequences"));
        test_tables_refused(
            t, "{'on_refused': 'fail', 'table': {'sequence': 'id', 'time': 't', 'target': 'y'}}",
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
        {NEXT, "id,t,a,a,y\n1,1,5,6,1\n", "two columns of the header have the name \"a\""},
        {NEXT, "id,t,a\n1,1,5\n", "\"data.csv\" has no column \"y\"; it has id, t, a"},
        {NEXT, "id,t," LONG_NAME "," LONG_NAME "2\n1,1,5,6\n",
         "\"y\"; it has id, t, " LONG_NAME ", ..."},
        {NEXT, LONG_NAME LONG_NAME ",id,t\n5,1,1\n", "\"y\"; it has ..."},
        {NEXT, "1,1,5,2\n", "has no column \"id\"; it has no header"},
        {NEXT, "id,t,a,y\n", "there is a header and nothing below it"},
        {NEXT, "\n\n", "the file has no rows"},
        {NEXT, "id,t,y\n1,1,2\n", "no column is left as an input"},
        {"{'table': {'target': 9}}", "1,2,3\n", "has 3 columns, no column 9"},
        {"{'table': {'target': 2, 'inputs': [1, 2]}}", "1,2,3\n",
         "is the target, so it cannot be an input too"},
        {"{'table': {'target': 2, 'sequence': 1, 'inputs': [1]}}", "1,2,3\n", "is the sequence"},
        {"{'table': {'target': 2, 'inputs': [1, 1]}}", "1,2,3\n",
         "column \"column1\" stands twice in inputs"},
        {"{'table': {'target': 1, 'sequence': 1}}", "1,2,3\n", "is the time or the target too"},
        {"{'table': {'target': [2, 2]}}", "1,2,3\n", "a column stands twice in the list"},
        {"{'table': {'target': ['y', 2]}}", "x,y\n1,2\n", "column \"y\" stands twice in target"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        test_tables_refused(*state, rows[i].options, rows[i].text, NN_ERR_INVALID, rows[i].words);
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
    test_assert_floats(nn_sequences_targets(t->set, 1), (float[]){3}, 1);
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
        test_tables_refused(t, LIFE, "id,t,a\n1,1,5\n1,2,5\n1,3,5\n1,4,5\n2,1,6\n2,2,6\n",
                            NN_ERR_LIMIT, rows[i].words);
    }
    t->setup.limits = (struct nn_import_limits){0};
}

#define TABLE_TEST(name)                                                                           \
    cmocka_unit_test_setup_teardown(name, test_tables_setup, test_tables_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TABLE_TEST(bad_values_refuse_their_sequence),
        TABLE_TEST(bad_tables_are_refused_whole),
        TABLE_TEST(ends_of_life_must_fit),
        TABLE_TEST(files_are_told_apart_by_whole_words),
        TABLE_TEST(roles_can_be_given),
        TABLE_TEST(options_must_mean_something),
        TABLE_TEST(caps_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
