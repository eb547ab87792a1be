/* SPDX-License-Identifier: MIT
 *
 * Archives of pictures: classes, parts, names, and the report.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/support/cmocka_all.h"
#include "tests/support/imports.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static void assert_classes(const struct test_import *t, const char *const *names, size_t n)
{
    const json_t *list = json_object_get(t->report, "classes");
    assert_int_equal(nn_prepared_info(t->set)->class_count, n);
    assert_int_equal(json_array_size(list), n);
    for (size_t k = 0; k < n; k++) {
        assert_string_equal(nn_prepared_class_name(t->set, k), names[k]);
        assert_string_equal(json_string_value(json_object_get(json_array_get(list, k), "name")),
                            names[k]);
    }
}

static size_t class_count(const struct test_import *t, size_t k, const char *part)
{
    const json_t *row = json_array_get(json_object_get(t->report, "classes"), k);
    return (size_t)json_integer_value(json_object_get(row, part));
}

static void case_a01_numeric_folders_stand_bytewise(void **state)
{
    struct test_entry entries[] = {{"2/x.png", test_picture(8, 1), 0, 0},
                                   {"10/x.png", test_picture(8, 2), 0, 0},
                                   {"1/x.png", test_picture(8, 3), 0, 0}};
    test_import_good(*state, entries, COUNT(entries));
    assert_classes(*state, (const char *const[]){"1", "10", "2"}, 3);
    assert_string_equal(test_import_class(*state, "10/x.png"), "10");
    assert_string_equal(test_import_class(*state, "2/x.png"), "2");
}

static void case_a03_hidden_folders_are_no_classes(void **state)
{
    struct test_entry entries[] = {{"skip/1.png", test_picture(8, 1), 0, 0},
                                   {"no_skip/1.png", test_picture(8, 2), 0, 0},
                                   {".ipynb_checkpoints/1.png", test_picture(8, 3), 0, 0},
                                   {"__MACOSX/skip/._1.png", test_picture(8, 4), 0, 0},
                                   {"skip/.DS_Store", test_picture(8, 5), 0, 0},
                                   {"skip/Thumbs.db", test_picture(8, 6), 0, 0}};
    test_import_good(*state, entries, COUNT(entries));
    assert_classes(*state, (const char *const[]){"no_skip", "skip"}, 2);
    assert_int_equal(test_import_count(*state, "items"), 2);
    assert_int_equal(test_import_count(*state, "ignored"), 4);
    assert_int_equal(test_import_count(*state, "refused"), 0);
    assert_string_equal(test_import_reason(*state, "ignored", ".ipynb_checkpoints/1.png"),
                        "hidden");
    assert_string_equal(test_import_reason(*state, "ignored", "skip/Thumbs.db"), "system_file");
}

static void case_a05_empty_folder_is_an_empty_class(void **state)
{
    struct test_entry entries[] = {{"a/1.png", test_picture(8, 1), 0, 0},
                                   {"a/2.png", test_picture(8, 2), 0, 0},
                                   {"b/", {0}, TEST_FOLDER, 0}};
    test_import_good(*state, entries, COUNT(entries));
    assert_classes(*state, (const char *const[]){"a", "b"}, 2);
    assert_int_equal(class_count(*state, 0, "train"), 2);
    assert_int_equal(class_count(*state, 1, "train"), 0);
    assert_true(test_import_warns(*state, "empty_class"));
}

static void case_a06_labels_are_whole_folder_names(void **state)
{
    struct test_entry entries[] = {{"noperson/1_noperson.png", test_picture(8, 1), 0, 0},
                                   {"person/1_person.png", test_picture(8, 2), 0, 0}};
    test_import_good(*state, entries, COUNT(entries));
    assert_string_equal(test_import_class(*state, "person/1_person.png"), "person");
    assert_string_equal(test_import_class(*state, "noperson/1_noperson.png"), "noperson");
    assert_int_equal(class_count(*state, 0, "train"), 1);
    assert_int_equal(class_count(*state, 1, "train"), 1);
}

static void case_a08_equal_file_names_are_two_items(void **state)
{
    struct test_entry entries[] = {{"a/1.png", test_picture(8, 1), 0, 0},
                                   {"b/1.png", test_picture(8, 2), 0, 0}};
    test_import_good(*state, entries, COUNT(entries));
    assert_int_equal(test_import_count(*state, "items"), 2);
    assert_string_equal(test_import_class(*state, "a/1.png"), "a");
    assert_string_equal(test_import_class(*state, "b/1.png"), "b");
}

/* B20, B33: names in any script, whatever the locale of the process. */
static void case_b20_names_in_any_script(void **state)
{
    static const enum test_archive_format formats[] = {TEST_ZIP, TEST_TAR, TEST_TAR_GZ};
    for (size_t k = 0; k < 3; k++) {
        struct test_archive_options options = {.format = formats[k]};
        struct test_entry entries[] = {
            {"so\xc3\x9f"
             "e/1.png",
             test_picture(8, 1), 0, 0},
            {"\xe7\x8c\xab/2.png", test_picture(8, 2), 0, 0},
            {"\xe7\x8c\xab/\xd7\x90.png", test_picture(8, 3), 0, 0},
        };
        test_import_entries(*state, &options, entries, COUNT(entries));
        assert_classes(*state,
                       (const char *const[]){"so\xc3\x9f"
                                             "e",
                                             "\xe7\x8c\xab"},
                       2);
        assert_string_equal(test_import_class(*state, "\xe7\x8c\xab/\xd7\x90.png"), "\xe7\x8c\xab");
    }
}

static void parts_come_from_top_folders(void **state)
{
    struct test_import *t = *state;
    struct test_entry entries[] = {{"test/b/1.png", test_picture(8, 1), 0, 0},
                                   {"train/b/1.png", test_picture(8, 2), 0, 0},
                                   {"train/a/deep/1.png", test_picture(8, 3), 0, 0},
                                   {"val/a/1.png", test_picture(8, 4), 0, 0},
                                   {"train/loose.png", test_picture(8, 5), 0, 0},
                                   {"annotations/a.xml", {0}, 0, 0},
                                   {"README.md", {0}, 0, 0}};
    test_import_good(t, entries, COUNT(entries));
    assert_classes(t, (const char *const[]){"a", "b"}, 2);
    assert_int_equal(class_count(t, 0, "train"), 1);
    assert_int_equal(class_count(t, 0, "validation"), 1);
    assert_int_equal(class_count(t, 0, "test"), 0);
    assert_int_equal(class_count(t, 1, "test"), 1);
    assert_true(test_import_warns(t, "class_not_in_part"));
    assert_string_equal(test_import_reason(t, "refused", "train/loose.png"), "no_class");
    assert_string_equal(nn_prepared_item_name(t->set, 0), "train/a/deep/1.png");
    assert_string_equal(nn_prepared_item_name(t->set, 3), "test/b/1.png");
    assert_int_equal(nn_prepared_part(t->set, 2), NN_PART_VALIDATION);
}

static void part_words_alone_are_classes(void **state)
{
    struct test_entry entries[] = {{"train/1.png", test_picture(8, 1), 0, 0},
                                   {"plane/1.png", test_picture(8, 2), 0, 0},
                                   {"car/old/1.png", test_picture(8, 3), 0, 0}};
    test_import_good(*state, entries, COUNT(entries));
    assert_classes(*state, (const char *const[]){"car", "plane", "train"}, 3);
    assert_int_equal(test_import_count(*state, "train"), 3);
}

static void a_folder_around_everything_is_looked_through(void **state)
{
    struct test_entry entries[] = {{"flowers/", {0}, TEST_FOLDER, 0},
                                   {"flowers/v1/rose/1.png", test_picture(8, 1), 0, 0},
                                   {"flowers/v1/tulip/1.png", test_picture(8, 2), 0, 0},
                                   {"flowers/LICENSE", {0}, 0, 0}};
    test_import_good(*state, entries, COUNT(entries));
    assert_classes(*state, (const char *const[]){"rose", "tulip"}, 2);
    struct test_entry parts[] = {{"set/train/rose/1.png", test_picture(8, 1), 0, 0},
                                 {"set/test/rose/1.png", test_picture(8, 2), 0, 0}};
    test_import_good(*state, parts, COUNT(parts));
    assert_classes(*state, (const char *const[]){"rose"}, 1);
    assert_int_equal(test_import_count(*state, "test"), 1);
    assert_true(test_import_warns(*state, "single_class"));
}

/* The set does not depend on the order in the archive, nor on its format. */
static void order_in_the_archive_has_no_say(void **state)
{
    struct test_import *t = *state;
    static const char *const names[] = {"a/1.png", "b/2.png", "c/3.png", "a/4.png", "b/5.png"};
    char digest[65] = "";
    for (unsigned k = 0; k < 6; k++) {
        struct test_archive_options options = {.format = (enum test_archive_format)(k % 3),
                                               .stored = k == 3};
        struct test_entry entries[5];
        for (unsigned i = 0; i < 5; i++) {
            unsigned j = (i * 2 + k) % 5;
            entries[i] = (struct test_entry){names[j], test_picture(8, j), 0, 0};
        }
        test_import_entries(t, &options, entries, 5);
        assert_int_equal(t->status, NN_OK);
        const char *now = json_string_value(json_object_get(t->report, "digest"));
        assert_int_equal(strlen(now), 64);
        if (k > 0) {
            assert_string_equal(digest, now);
        }
        memcpy(digest, now, 65);
    }
}

static void copies_and_conflicts_are_reported(void **state)
{
    struct test_import *t = *state;
    struct test_entry entries[] = {
        {"train/a/1.png", test_picture(8, 1), 0, 0}, {"train/a/copy.png", test_picture(8, 1), 0, 0},
        {"test/a/1.png", test_picture(8, 1), 0, 0},  {"train/a/2.png", test_picture(8, 2), 0, 0},
        {"train/b/2.png", test_picture(8, 2), 0, 0}, {"test/b/3.png", test_picture(8, 3), 0, 0}};
    test_import_good(t, entries, COUNT(entries));
    assert_int_equal(test_import_count(t, "duplicates"), 3);
    assert_int_equal(test_import_count(t, "conflicts"), 1);
    const json_t *across = json_object_get(t->report, "duplicates");
    assert_int_equal(json_array_size(across), 1);
    assert_int_equal(json_integer_value(json_object_get(json_array_get(across, 0), "count")), 3);
    const json_t *conflicts = json_object_get(t->report, "conflicting_labels");
    assert_int_equal(json_array_size(conflicts), 1);
    const json_t *items = json_object_get(json_array_get(conflicts, 0), "items");
    assert_int_equal(json_array_size(items), 2);
    assert_string_equal(json_string_value(json_object_get(json_array_get(items, 1), "class")), "b");
    assert_true(test_import_warns(t, "duplicates_across_parts"));
    assert_true(test_import_warns(t, "conflicting_labels"));
}

/* What a job would stumble over: nothing that trains, nothing that can be kept back. */
static void sets_that_cannot_be_cut_are_told(void **state)
{
    struct test_import *t = *state;
    static const struct {
        const char *names[3];
        size_t pictures[3]; /* equal numbers: equal pictures */
        bool divisible, no_train, warned, alike;
    } rows[] = {
        {{"a/1.png", "a/2.png", "b/3.png"}, {1, 2, 3}, true, false, false, false},
        {{"a/1.png", "a/2.png", "b/3.png"}, {1, 1, 3}, false, false, true, true},
        {{"a/1.png", "b/2.png", "b/3.png"}, {1, 1, 1}, false, false, true, false},
        {{"a/1.png", "b/2.png", "c/3.png"}, {1, 2, 3}, false, false, true, false},
        {{"train/a/1.png", "train/b/2.png", "validation/a/3.png"},
         {1, 2, 3},
         false,
         false,
         false,
         false},
        {{"validation/a/1.png", "test/a/2.png", "test/b/3.png"},
         {1, 2, 3},
         false,
         true,
         false,
         false},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct test_entry entries[3];
        for (size_t k = 0; k < 3; k++) {
            entries[k] = (struct test_entry){rows[i].names[k],
                                             test_picture(8, (unsigned)rows[i].pictures[k]), 0, 0};
        }
        test_import_good(t, entries, 3);
        assert_int_equal(json_is_true(json_object_get(t->report, "divisible")), rows[i].divisible);
        assert_int_equal(test_import_warns(t, "no_train_part"), rows[i].no_train);
        assert_int_equal(test_import_warns(t, "indivisible"), rows[i].warned);
        assert_int_equal(test_import_warns(t, "alike"), rows[i].alike);
    }
}

static void warnings_of_names_and_balance(void **state)
{
    struct test_import *t = *state;
    struct test_entry entries[8] = {{"Rose/1.png", test_picture(8, 1), 0, 0},
                                    {"caf\xc3\xa9/1.png", test_picture(8, 2), 0, 0},
                                    {"cafe\xcc\x81/1.png", test_picture(8, 3), 0, 0}};
    char names[5][16];
    for (unsigned i = 0; i < 5; i++) {
        snprintf(names[i], sizeof names[i], "rose/%u.png", i);
        entries[3 + i] = (struct test_entry){names[i], test_picture(8, 10 + i), 0, 0};
    }
    test_import_good(t, entries, 8);
    assert_int_equal(nn_prepared_info(t->set)->class_count, 4);
    assert_true(test_import_warns(t, "similar_class_names"));
    assert_true(test_import_warns(t, "imbalance"));
}

static bool stop_at_once(void *ctx, size_t done, size_t total)
{
    (void)done;
    (void)total;
    return ++*(int *)ctx < 2;
}

static void cancelling(void **state)
{
    struct test_import *t = *state;
    int calls = 0;
    struct test_entry entries[] = {{"a/1.png", test_picture(8, 1), 0, 0}};
    t->setup.progress = stop_at_once;
    t->setup.progress_ctx = &calls;
    test_import_entries(t, NULL, entries, 1);
    assert_int_equal(t->status, NN_ERR_CANCELLED);
    assert_int_equal(calls, 2);
}

static void options_are_decoded(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum nn_status status;
    } rows[] = {
        {"{}", NN_OK},
        {"{\"image_size\": 32, \"on_refused\": \"fail\"}", NN_OK},
        {"{\"image_size\": [32, 64]}", NN_OK},
        {"{\"image_size\": null, \"classes\": [\"a\", \"b\"]}", NN_OK},
        {"{\"image_size\": 0}", NN_ERR_INVALID},
        {"{\"image_size\": [1, 2, 3]}", NN_ERR_INVALID},
        {"{\"image_size\": 100000}", NN_ERR_INVALID},
        {"{\"channels\": 3}", NN_OK},
        {"{\"channels\": 1}", NN_ERR_INVALID},
        {"{\"on_refused\": \"maybe\"}", NN_ERR_INVALID},
        {"{\"classes\": [1]}", NN_ERR_INVALID},
        {"{\"classes\": []}", NN_ERR_INVALID},
        {"{\"colour\": true}", NN_ERR_INVALID},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct nn_import_options options = {0};
        json_t *json = json_loads(rows[i].text, 0, NULL);
        assert_int_equal(nn_import_options_decode(NN_IMPORT_IDX, json, "", &options, NULL),
                         rows[i].status);
        if (i == 1) {
            assert_int_equal(options.on_refused, NN_IMPORT_FAIL);
            assert_int_equal(options.image_size.count, 1);
        }
        json_decref(json);
    }
}

static void archives_have_no_class_list(void **state)
{
    struct test_import *t = *state;
    struct test_entry entries[] = {{"a/1.png", test_picture(8, 1), 0, 0}};
    json_t *classes = json_pack("[s]", "x");
    t->setup.options.classes = classes;
    test_import_entries(t, NULL, entries, 1);
    json_decref(classes);
    assert_int_equal(t->status, NN_ERR_INVALID);
    assert_string_equal(t->err.pointer, "/classes");
}

#define IMPORT_TEST(f) cmocka_unit_test_setup_teardown(f, test_import_setup, test_import_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IMPORT_TEST(case_a01_numeric_folders_stand_bytewise),
        IMPORT_TEST(case_a03_hidden_folders_are_no_classes),
        IMPORT_TEST(case_a05_empty_folder_is_an_empty_class),
        IMPORT_TEST(case_a06_labels_are_whole_folder_names),
        IMPORT_TEST(case_a08_equal_file_names_are_two_items),
        IMPORT_TEST(case_b20_names_in_any_script),
        IMPORT_TEST(parts_come_from_top_folders),
        IMPORT_TEST(part_words_alone_are_classes),
        IMPORT_TEST(a_folder_around_everything_is_looked_through),
        IMPORT_TEST(order_in_the_archive_has_no_say),
        IMPORT_TEST(copies_and_conflicts_are_reported),
        IMPORT_TEST(warnings_of_names_and_balance),
        IMPORT_TEST(sets_that_cannot_be_cut_are_told),
        IMPORT_TEST(cancelling),
        IMPORT_TEST(archives_have_no_class_list),
        cmocka_unit_test(options_are_decoded),
    };
    return cmocka_run_group_tests_name("import_archive", tests, NULL, NULL);
}
