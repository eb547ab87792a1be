/* SPDX-License-Identifier: MIT
 *
 * core/json: what the guarded parser takes and refuses.
 */
#include "tests/support/cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/json/json.h"

struct text_case {
    const char *name;
    const char *text;
    enum nn_status status;
};

#define TOO_DEEP "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]"

static const struct text_case TEXTS[] = {
    {"object", "{\"a\": [1, 2.5, true, null, \"x\"]}", NN_OK},
    {"array", "[]", NN_OK},
    {"1e-400 is zero", "[1e-400]", NN_OK},
    {"brackets in a string", "[\"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\"]", NN_OK},
    {"escaped quote in a string", "[\"\\\"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\"]", NN_OK},
    {"empty", "", NN_ERR_INVALID},
    {"blank", "  \n", NN_ERR_INVALID},
    {"scalar", "5", NN_ERR_INVALID},
    {"string", "\"a\"", NN_ERR_INVALID},
    {"trailing bytes", "{} x", NN_ERR_INVALID},
    {"two documents", "{}{}", NN_ERR_INVALID},
    {"duplicate key", "{\"a\": 1, \"a\": 1}", NN_ERR_INVALID},
    {"duplicate key by escape", "{\"a\": 1, \"\\u0061\": 2}", NN_ERR_INVALID},
    {"NUL by escape", "[\"\\u0000\"]", NN_ERR_INVALID},
    {"NUL in a key", "{\"a\\u0000b\": 1}", NN_ERR_INVALID},
    {"1e400", "[1e400]", NN_ERR_INVALID},
    {"1E999999999", "[1E999999999]", NN_ERR_INVALID},
    {"10^30", "[1000000000000000000000000000000]", NN_ERR_INVALID},
    {"2^63", "[9223372036854775808]", NN_ERR_INVALID},
    {"lone high surrogate", "[\"\\ud800\"]", NN_ERR_INVALID},
    {"lone low surrogate", "[\"\\udc00\"]", NN_ERR_INVALID},
    {"invalid UTF-8", "[\"\xff\"]", NN_ERR_INVALID},
    {"overlong UTF-8", "[\"\xc0\xaf\"]", NN_ERR_INVALID},
    {"raw control character", "[\"\x01\"]", NN_ERR_INVALID},
    {"byte order mark", "\xef\xbb\xbf[]", NN_ERR_INVALID},
    {"NaN", "[NaN]", NN_ERR_INVALID},
    {"Infinity", "[Infinity]", NN_ERR_INVALID},
    {"leading zero", "[01]", NN_ERR_INVALID},
    {"plus sign", "[+1]", NN_ERR_INVALID},
    {"bare point", "[.5]", NN_ERR_INVALID},
    {"ends with a point", "[1.]", NN_ERR_INVALID},
    {"comment", "[1 /* x */]", NN_ERR_INVALID},
    {"single quotes", "{'a': 1}", NN_ERR_INVALID},
    {"trailing comma", "[1,]", NN_ERR_INVALID},
    {"unclosed", "{\"a\": [1", NN_ERR_INVALID},
    {"unclosed string", "[\"abc", NN_ERR_INVALID},
    {"backslash at the end", "[\"\\", NN_ERR_INVALID},
    {"only closing", "]]]]", NN_ERR_INVALID},
    {"33 levels", TOO_DEEP, NN_ERR_LIMIT},
};

static void texts_are_taken_or_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof TEXTS / sizeof TEXTS[0]; i++) {
        struct nn_error err = {0};
        json_t *json = NULL;
        size_t n = strlen(TEXTS[i].text);
        /* an exact copy without terminator: reading past it is seen by the sanitizer */
        char *exact = malloc(n > 0 ? n : 1);
        assert_non_null(exact);
        memcpy(exact, TEXTS[i].text, n);
        enum nn_status status = jx_parse(exact, n, NULL, &json, &err);
        free(exact);
        if (status != TEXTS[i].status) {
            fail_msg("%s: %s (%s)", TEXTS[i].name, nn_status_slug(status), err.text);
        }
        assert_int_equal(json != NULL, status == NN_OK);
        assert_int_equal(err.text[0] != '\0', status != NN_OK);
        json_decref(json);
    }
}

static void errors_never_echo_the_bytes(void **state)
{
    (void)state;
    static const char *const TEXT[] = {"{\"secret-token\" 1}", "[secret-token]",
                                       "{\"secret-token\": 1, \"secret-token\": 2}"};
    for (size_t i = 0; i < sizeof TEXT / sizeof TEXT[0]; i++) {
        struct nn_error err = {0};
        json_t *json = NULL;
        assert_int_equal(jx_parse(TEXT[i], strlen(TEXT[i]), NULL, &json, &err), NN_ERR_INVALID);
        assert_null(strstr(err.text, "secret-token"));
        assert_non_null(strstr(err.text, "line 1, column"));
    }
}

static void exactly_32_levels_are_taken(void **state)
{
    (void)state;
    char text[128] = "";
    json_t *json = NULL;
    memset(text, '[', 32);
    memset(text + 32, ']', 32);
    assert_int_equal(jx_parse(text, 64, NULL, &json, NULL), NN_OK);
    json_decref(json);
}

static void size_is_refused_before_reading(void **state)
{
    (void)state;
    const struct jx_limits limits = {.max_bytes = 4, .max_depth = 2};
    json_t *json = NULL;
    assert_int_equal(jx_parse("[1]   ", 6, &limits, &json, NULL), NN_ERR_LIMIT);
    assert_int_equal(jx_parse("[[[]", 4, &limits, &json, NULL), NN_ERR_LIMIT);
    assert_null(json);
    assert_int_equal(jx_parse("[[]]", 4, &limits, &json, NULL), NN_OK);
    json_decref(json);
}

static void a_long_run_of_brackets_is_cheap(void **state)
{
    (void)state;
    size_t n = (size_t)50 << 20;
    char *text = malloc(n);
    struct jx_limits limits = {.max_bytes = n, .max_depth = JX_MAX_DEPTH};
    json_t *json = NULL;
    assert_non_null(text);
    memset(text, '[', n);
    assert_int_equal(jx_parse(text, n, &limits, &json, NULL), NN_ERR_LIMIT);
    free(text);
}

static void a_key_of_a_megabyte_is_taken_if_the_limit_allows(void **state)
{
    (void)state;
    size_t n = (size_t)1 << 20;
    char *text = malloc(n + 8);
    struct jx_limits limits = {.max_bytes = n + 8, .max_depth = 4};
    json_t *json = NULL;
    assert_non_null(text);
    memset(text, 'k', n + 8);
    memcpy(text, "{\"", 2);
    memcpy(text + n + 3, "\": 1}", 5);
    assert_int_equal(jx_parse(text, n + 8, NULL, &json, NULL), NN_ERR_LIMIT);
    assert_int_equal(jx_parse(text, n + 8, &limits, &json, NULL), NN_OK);
    assert_int_equal(json_object_size(json), 1);
    json_decref(json);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_taken_or_refused),
        cmocka_unit_test(errors_never_echo_the_bytes),
        cmocka_unit_test(exactly_32_levels_are_taken),
        cmocka_unit_test(size_is_refused_before_reading),
        cmocka_unit_test(a_long_run_of_brackets_is_cheap),
        cmocka_unit_test(a_key_of_a_megabyte_is_taken_if_the_limit_allows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
