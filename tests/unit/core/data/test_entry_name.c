/* SPDX-License-Identifier: MIT
 *
 * Names of entries: what is refused, what is passed over, what is left.
 */
#include <string.h>

#include "core/data/import_internal.h"

#include "tests/support/cmocka_all.h"

static void names_are_judged(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"../x", "path_traversal"},
        {"..", "path_traversal"},
        {"a/../../x", "path_traversal"},
        {"a/..", "path_traversal"},
        {"..\\..\\x", "path_traversal"},
        {"a\\..\\x", "path_traversal"},
        {"/../x", "path_traversal"},
        {"/abs", "absolute_path"},
        {"//abs", "absolute_path"},
        {"\\abs", "absolute_path"},
        {"C:\\x", "absolute_path"},
        {"c:x", "absolute_path"},
        {"a\\b.png", "bad_path"},
        {"", "bad_path"},
        {"a\nb", "bad_path"},
        {"a\x7f", "bad_path"},
        {"\xff\xfe", "name_not_utf8"},
        {"gr\xfcn/1.png", "name_not_utf8"},
    };
    char out[NN_ENTRY_NAME_MAX + 1];
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *reason = nn_entry_name_clean(rows[i][0], out);
        assert_non_null(reason);
        assert_string_equal(reason, rows[i][1]);
    }
    assert_string_equal(nn_entry_name_clean(NULL, out), "name_not_utf8");
}

static void long_names(void **state)
{
    (void)state;
    char name[4097];
    char out[NN_ENTRY_NAME_MAX + 1];
    memset(name, 'a', sizeof name);
    name[4096] = '\0';
    assert_string_equal(nn_entry_name_clean(name, out), "name_too_long");
    name[256] = '\0';
    assert_string_equal(nn_entry_name_clean(name, out), "name_too_long");
    name[255] = '\0';
    assert_null(nn_entry_name_clean(name, out));
    for (size_t i = 1; i < 1024; i += 2) {
        name[i] = '/';
        name[i + 1] = 'a';
    }
    name[1024] = '\0';
    assert_null(nn_entry_name_clean(name, out));
    name[1024] = 'a';
    name[1025] = '\0';
    assert_string_equal(nn_entry_name_clean(name, out), "name_too_long");
}

static void names_are_cleaned(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"a/1.png", "a/1.png"},
        {"./a/1.png", "a/1.png"},
        {"a//b/./1.png", "a/b/1.png"},
        {"a/", "a"},
        {"./", ""},
        {".", ""},
        {"..a/b..", "..a/b.."},
        {"so\xc3\x9f"
         "e/1",
         "so\xc3\x9f"
         "e/1"},
    };
    char out[NN_ENTRY_NAME_MAX + 1];
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_null(nn_entry_name_clean(rows[i][0], out));
        assert_string_equal(out, rows[i][1]);
    }
}

static void some_are_passed_over(void **state)
{
    (void)state;
    assert_string_equal(nn_entry_name_ignored(".ipynb_checkpoints/a.png"), "hidden");
    assert_string_equal(nn_entry_name_ignored("a/.DS_Store"), "hidden");
    assert_string_equal(nn_entry_name_ignored("a/._1.png"), "hidden");
    assert_string_equal(nn_entry_name_ignored("__MACOSX/a/1.png"), "system_file");
    assert_string_equal(nn_entry_name_ignored("a/Thumbs.db"), "system_file");
    assert_string_equal(nn_entry_name_ignored("a/thumbs.DB"), "system_file");
    assert_string_equal(nn_entry_name_ignored("desktop.ini"), "system_file");
    assert_null(nn_entry_name_ignored("a/b/1.png"));
    assert_null(nn_entry_name_ignored("Thumbs.db.png"));
    assert_null(nn_entry_name_ignored(""));
}

static void components(void **state)
{
    (void)state;
    size_t n;
    assert_int_equal(nn_entry_name_depth(""), 0);
    assert_int_equal(nn_entry_name_depth("a"), 1);
    assert_int_equal(nn_entry_name_depth("a/bc/d"), 3);
    assert_true(strncmp(nn_entry_name_part("a/bc/d", 1, &n), "bc/d", 4) == 0);
    assert_int_equal(n, 2);
    assert_null(nn_entry_name_part("a/bc/d", 3, &n));
}

static void folding(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"Rose", "rose"},
        {"caf\xc3\xa9", "cafe"},             /* one code point */
        {"cafe\xcc\x81", "cafe"},            /* letter and accent */
        {"\xc3\x84pfel", "apfel"},           /* Ä */
        {"\xc5\xbd\xc5\xa1\xc5\xbf", "zss"}, /* Ž š long s */
        {"so\xc3\x9f"
         "e",
         "sose"}, /* the table takes ß for s */
        {"\xe7\x8c\xab", "\xe7\x8c\xab"},
    };
    char out[64];
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        nn_name_fold(rows[i][0], out, sizeof out);
        assert_string_equal(out, rows[i][1]);
    }
    nn_name_fold("abcdef", out, 4);
    assert_string_equal(out, "abc");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_judged),  cmocka_unit_test(long_names),
        cmocka_unit_test(names_are_cleaned), cmocka_unit_test(some_are_passed_over),
        cmocka_unit_test(components),        cmocka_unit_test(folding),
    };
    return cmocka_run_group_tests_name("entry_name", tests, NULL, NULL);
}
