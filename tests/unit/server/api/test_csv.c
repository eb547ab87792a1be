/* SPDX-License-Identifier: MIT
 *
 * CSV cells: quoting, formulas, numbers that come back.
 */
#include "server/api/csv_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/cmocka_all.h"

static void expect_cell(const char *text, const char *expected)
{
    struct csv_writer csv;
    size_t size = 0;
    char line[128];
    assert_true(csv_begin(&csv));
    csv_text(&csv, text);
    csv_end_row(&csv);
    char *out = csv_finish(&csv, &size);
    assert_non_null(out);
    (void)snprintf(line, sizeof line, "%s\r\n", expected);
    assert_string_equal(out, line);
    assert_int_equal(size, strlen(line));
    free(out);
}

static void texts_are_quoted_and_never_formulas(void **state)
{
    (void)state;
    static const struct {
        const char *text, *cell;
    } rows[] = {
        {"plain", "plain"},
        {"", ""},
        {NULL, ""},
        {"a,b", "\"a,b\""},
        {"say \"hi\"", "\"say \"\"hi\"\"\""},
        {"two\nlines", "\"two\nlines\""},
        {"=1+1", "'=1+1"},
        {"+1", "'+1"},
        {"-1", "'-1"},
        {"@SUM(A1)", "'@SUM(A1)"},
        {"\tx", "'\tx"},
        {"=a,b", "\"'=a,b\""},
        {"a=b", "a=b"},
        {"so\xc3\x9f"
         "e",
         "so\xc3\x9f"
         "e"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        expect_cell(rows[i].text, rows[i].cell);
    }
}

static void expect_number(double value, const char *expected)
{
    struct csv_writer csv;
    size_t size = 0;
    assert_true(csv_begin(&csv));
    csv_number(&csv, value);
    char *out = csv_finish(&csv, &size);
    assert_non_null(out);
    assert_string_equal(out, expected);
    free(out);
}

static void numbers_come_back(void **state)
{
    (void)state;
    expect_number(0.9, "0.9");
    expect_number(-0.5, "-0.5");
    expect_number(1e300, "1e+300");
    expect_number(NAN, "NaN");
    expect_number(INFINITY, "Infinity");
    expect_number(-INFINITY, "-Infinity");
    double third = 1.0 / 3.0;
    struct csv_writer csv;
    size_t size = 0;
    assert_true(csv_begin(&csv));
    csv_number(&csv, third);
    char *out = csv_finish(&csv, &size);
    assert_true(strtod(out, NULL) == third);
    free(out);
}

/* As short as JSON has them: 0.1f is not 0.100000001490116. */
static void single_precision_comes_back(void **state)
{
    (void)state;
    static const struct {
        float value;
        const char *text;
    } rows[] = {{0.1F, "0.1"}, {-2.5F, "-2.5"}, {16777217.0F, "16777216"}, {NAN, "NaN"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct csv_writer csv;
        size_t size = 0;
        assert_true(csv_begin(&csv));
        csv_number_f32(&csv, rows[i].value);
        char *out = csv_finish(&csv, &size);
        assert_string_equal(out, rows[i].text);
        free(out);
    }
}

static void rows_have_commas_between(void **state)
{
    (void)state;
    struct csv_writer csv;
    size_t size = 0;
    assert_true(csv_begin(&csv));
    csv_text(&csv, "a");
    csv_empty(&csv);
    csv_integer(&csv, -3);
    csv_end_row(&csv);
    csv_empty(&csv);
    csv_text(&csv, "b");
    csv_end_row(&csv);
    char *out = csv_finish(&csv, &size);
    assert_string_equal(out, "a,,-3\r\n,b\r\n");
    free(out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_quoted_and_never_formulas),
        cmocka_unit_test(numbers_come_back),
        cmocka_unit_test(single_precision_comes_back),
        cmocka_unit_test(rows_have_commas_between),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
