/* SPDX-License-Identifier: MIT
 *
 * core/json: numbers and text on their way out, paths, canonical text, nearest names.
 */
#include "tests/support/cmocka_all.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/json/json.h"

static void numbers_survive_nan(void **state)
{
    (void)state;
    static const double VALUES[] = {NAN, INFINITY, -INFINITY, 0.0, -0.0, 1e-310, DBL_MAX, 0.1};
    for (size_t i = 0; i < sizeof VALUES / sizeof VALUES[0]; i++) {
        json_t *json = jx_number(VALUES[i]);
        double back = 5;
        assert_non_null(json);
        assert_true(jx_number_get(json, &back));
        assert_memory_equal(&back, &VALUES[i], isnan(VALUES[i]) ? 0 : sizeof back);
        assert_int_equal(isnan(back), isnan(VALUES[i]));
        json_decref(json);
    }
    json_t *other = json_string("nan");
    double untouched = 5;
    assert_false(jx_number_get(other, &untouched));
    assert_true(untouched == 5);
    json_decref(other);
}

static void floats_are_written_short_and_come_back(void **state)
{
    (void)state;
    static const struct {
        float value;
        const char *text;
    } CASES[] = {{0.1F, "[0.1]"},
                 {1.0F / 3.0F, "[0.33333334]"},
                 {16777217.0F, "[16777216.0]"},
                 {FLT_MIN, "[1.1754944e-38]"},
                 {-2.5F, "[-2.5]"},
                 {NAN, "[\"NaN\"]"}};
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        json_t *array = json_array();
        assert_int_equal(json_array_append_new(array, jx_number_f32(CASES[i].value)), 0);
        char *text = jx_dump(array, NULL);
        assert_string_equal(text, CASES[i].text);
        double back;
        assert_true(jx_number_get(json_array_get(array, 0), &back));
        assert_true(isnan(CASES[i].value) || (float)back == CASES[i].value);
        free(text);
        json_decref(array);
    }
}

static void text_is_always_utf8(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t n;
        const char *text;
    } CASES[] = {
        {"plain", SIZE_MAX, "plain"},
        {"caf\xc3\xa9", SIZE_MAX, "caf\xc3\xa9"},
        {"\xf0\x9f\x98\x80", SIZE_MAX, "\xf0\x9f\x98\x80"},
        {"a\xff z", SIZE_MAX, "a\xef\xbf\xbd z"},
        {"a\0b", 3,
         "a\xef\xbf\xbd"
         "b"},
        {"\xc3", SIZE_MAX, "\xef\xbf\xbd"},
        {"\xed\xa0\x80", SIZE_MAX, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
        {"\xc0\xaf", SIZE_MAX, "\xef\xbf\xbd\xef\xbf\xbd"},
        {"\xf4\x90\x80\x80", SIZE_MAX, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
        {"", SIZE_MAX, ""},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        json_t *json = jx_text(CASES[i].bytes, CASES[i].n);
        assert_non_null(json);
        assert_string_equal(json_string_value(json), CASES[i].text);
        json_decref(json);
    }
}

static void paths_read_and_write(void **state)
{
    (void)state;
    json_t *root =
        json_pack("{s:{s:s}, s:[i, {s:i}]}", "training", "solver", "adam", "list", 5, "x", 6);
    assert_string_equal(json_string_value(jx_path_get(root, "training.solver")), "adam");
    assert_int_equal(json_integer_value(jx_path_get(root, "list.1.x")), 6);
    static const char *const ABSENT[] = {
        "",       ".",       "training.", ".training",        "training.solver.x",
        "list.2", "list.01", "list.x",    "training..solver", "list.-1"};
    for (size_t i = 0; i < sizeof ABSENT / sizeof ABSENT[0]; i++) {
        if (jx_path_get(root, ABSENT[i])) {
            fail_msg("found something at \"%s\"", ABSENT[i]);
        }
    }
    assert_int_equal(jx_path_set(root, "training.schedule.kind", json_string("none"), NULL), NN_OK);
    assert_int_equal(jx_path_set(root, "list.0", json_integer(7), NULL), NN_OK);
    assert_int_equal(jx_path_set(root, "new", json_true(), NULL), NN_OK);
    static const char *const WRONG[] = {"",  "training.solver.x", "list.2", "list.9.x", "a..b",
                                        "a."};
    for (size_t i = 0; i < sizeof WRONG / sizeof WRONG[0]; i++) {
        if (jx_path_set(root, WRONG[i], json_true(), NULL) != NN_ERR_INVALID) {
            fail_msg("took \"%s\"", WRONG[i]);
        }
    }
    assert_int_equal(jx_path_set(root, "new", NULL, NULL), NN_ERR_MEMORY);
    assert_string_equal(json_string_value(jx_path_get(root, "training.schedule.kind")), "none");
    assert_int_equal(json_integer_value(jx_path_get(root, "list.0")), 7);
    json_decref(root);
}

static void pointers_are_escaped_and_cut(void **state)
{
    (void)state;
    char out[16];
    jx_path_pointer("training.solver", out, sizeof out);
    assert_string_equal(out, "/training/solve");
    jx_path_pointer("a/b.c~d", out, sizeof out);
    assert_string_equal(out, "/a~1b/c~0d");
    jx_path_pointer("", out, sizeof out);
    assert_string_equal(out, "");
    jx_pointer_key("/a", "b/c", out, sizeof out);
    assert_string_equal(out, "/a/b~1c");
    jx_pointer_key("/0123456789012345678", "b", out, sizeof out);
    assert_int_equal(strlen(out), sizeof out - 1);
    jx_pointer_key("/01234567890123", "~x", out, sizeof out); /* no half of an escape */
    assert_string_equal(out, "/01234567890123");
    jx_pointer_index("/a", 12, out, sizeof out);
    assert_string_equal(out, "/a/12");
}

static void canonical_text_does_not_depend_on_order(void **state)
{
    (void)state;
    json_t *a =
        json_pack("{s:i, s:[f, b, n], s:{s:s}}", "b", 1, "a", 0.1, 1, "c", "x", "q\"\\\n\x1f/");
    json_t *b =
        json_pack("{s:{s:s}, s:[f, b, n], s:i}", "c", "x", "q\"\\\n\x1f/", "a", 0.1, 1, "b", 1);
    char *text_a = jx_canonical(a);
    char *text_b = jx_canonical(b);
    assert_string_equal(text_a, text_b);
    assert_string_equal(text_a,
                        "{\"a\":[0.1,true,null],\"b\":1,\"c\":{\"x\":\"q\\\"\\\\\\n\\u001f/\"}}");
    json_t *back = NULL;
    assert_int_equal(jx_parse(text_a, strlen(text_a), NULL, &back, NULL), NN_OK);
    assert_true(json_equal(a, back));
    size_t n = 0;
    char *plain = jx_dump(b, &n);
    assert_int_equal(n, strlen(plain));
    assert_true(strncmp(plain, "{\"c\":", 5) == 0);
    free(text_a);
    free(text_b);
    free(plain);
    json_decref(a);
    json_decref(b);
    json_decref(back);
}

static void dumping_is_bounded(void **state)
{
    (void)state;
    json_t *deep = json_array();
    for (int i = 0; i < 1000; i++) {
        json_t *outer = json_array();
        assert_int_equal(json_array_append_new(outer, deep), 0);
        deep = outer;
    }
    assert_null(jx_dump(deep, NULL));
    assert_null(jx_dump(NULL, NULL));
    json_decref(deep);
    json_t *wide = json_array();
    for (int i = 0; i < 10000; i++) {
        assert_int_equal(json_array_append_new(wide, json_integer(i)), 0);
    }
    size_t n = 0;
    char *text = jx_dump(wide, &n);
    assert_int_equal(n, 48891);
    free(text);
    json_decref(wide);
}

static void the_nearest_name_is_worth_naming(void **state)
{
    (void)state;
    static const struct jx_choice ROWS[] = {{"learning_rate", 0, NULL},
                                            {"momentum", 1, NULL},
                                            {"kernel", 2, NULL},
                                            {"epochs", 3, NULL},
                                            {"l2", 4, NULL},
                                            {"temporal_convolution", 5, NULL},
                                            {"convolution", 6, NULL},
                                            JX_END};
    static const struct {
        const char *name;
        const char *nearest;
    } CASES[] = {
        {"learnRate", "learning_rate"},
        {"learning-rate", "learning_rate"},
        {"LearningRate", "learning_rate"},
        {"momentun", "momentum"},
        {"kernel_size", "kernel"},
        {"epohcs", "epochs"},
        {"epoch", "epochs"},
        {"L2", "l2"},
        {"conv", "convolution"},
        {"temporal", "temporal_convolution"},
        {"colour", NULL},
        {"", NULL},
        {"!!!", NULL},
        {"x", NULL},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        const char *found = jx_nearest(CASES[i].name, ROWS, sizeof ROWS[0]);
        bool same = found && CASES[i].nearest ? strcmp(found, CASES[i].nearest) == 0
                                              : !found && !CASES[i].nearest;
        if (!same) {
            fail_msg("%s -> %s", CASES[i].name, found ? found : "nothing");
        }
    }
    char *long_name = malloc(100001);
    assert_non_null(long_name);
    memset(long_name, 'a', 100000);
    long_name[100000] = '\0';
    assert_null(jx_nearest(long_name, ROWS, sizeof ROWS[0]));
    free(long_name);
}

static void rows_are_found_by_name_and_value(void **state)
{
    (void)state;
    static const struct jx_choice ROWS[] = {{"a", 4, NULL}, {"b", 0, NULL}, JX_END};
    assert_string_equal(jx_choice_name(ROWS, 0), "b");
    assert_null(jx_choice_name(ROWS, 1));
    assert_int_equal(jx_choice_find(ROWS, "a")->value, 4);
    assert_null(jx_choice_find(ROWS, "c"));
}

/* The cases of RFC 7386, appendix A, whose target and patch are objects. */
static void patches_merge_as_the_rfc_says(void **state)
{
    (void)state;
    static const char *const CASES[][3] = {
        {"{\"a\": \"b\"}", "{\"a\": \"c\"}", "{\"a\": \"c\"}"},
        {"{\"a\": \"b\"}", "{\"b\": \"c\"}", "{\"a\": \"b\", \"b\": \"c\"}"},
        {"{\"a\": \"b\"}", "{\"a\": null}", "{}"},
        {"{\"a\": \"b\", \"b\": \"c\"}", "{\"a\": null}", "{\"b\": \"c\"}"},
        {"{\"a\": [\"b\"]}", "{\"a\": \"c\"}", "{\"a\": \"c\"}"},
        {"{\"a\": \"c\"}", "{\"a\": [\"b\"]}", "{\"a\": [\"b\"]}"},
        {"{\"a\": {\"b\": \"c\"}}", "{\"a\": {\"b\": \"d\", \"c\": null}}",
         "{\"a\": {\"b\": \"d\"}}"},
        {"{\"a\": [{\"b\": \"c\"}]}", "{\"a\": [1]}", "{\"a\": [1]}"},
        {"{\"e\": null}", "{\"a\": 1}", "{\"e\": null, \"a\": 1}"},
        {"{}", "{\"a\": {\"bb\": {\"ccc\": null}}}", "{\"a\": {\"bb\": {}}}"},
        {"{\"a\": 1}", "{\"a\": {\"b\": 2}}", "{\"a\": {\"b\": 2}}"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        json_auto_t *target = json_loads(CASES[i][0], 0, NULL);
        json_auto_t *patch = json_loads(CASES[i][1], 0, NULL);
        json_auto_t *expected = json_loads(CASES[i][2], 0, NULL);
        json_auto_t *kept = json_deep_copy(patch);
        assert_true(jx_merge(target, patch));
        if (!json_equal(target, expected)) {
            fail_msg("%s + %s", CASES[i][0], CASES[i][1]);
        }
        assert_true(json_equal(patch, kept));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_survive_nan),
        cmocka_unit_test(floats_are_written_short_and_come_back),
        cmocka_unit_test(text_is_always_utf8),
        cmocka_unit_test(paths_read_and_write),
        cmocka_unit_test(patches_merge_as_the_rfc_says),
        cmocka_unit_test(pointers_are_escaped_and_cut),
        cmocka_unit_test(canonical_text_does_not_depend_on_order),
        cmocka_unit_test(dumping_is_bounded),
        cmocka_unit_test(the_nearest_name_is_worth_naming),
        cmocka_unit_test(rows_are_found_by_name_and_value),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
