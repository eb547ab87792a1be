/* SPDX-License-Identifier: MIT
 *
 * server/base: log lines, ids, times.
 */
#include "tests/support/cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/base/clock.h"
#include "server/base/ids.h"
#include "server/base/log.h"
#include "server/base/text.h"

/* What one line says behind its time. */
static const char *logged(const struct log_field *field, char *line, size_t size)
{
    int fds[2];
    assert_int_equal(pipe(fds), 0);
    struct sv_log log = {.fd = fds[1], .level = SV_LOG_INFO, .process = "work"};
    log_write(&log, SV_LOG_INFO, "seen", field, 1);
    ssize_t n = read(fds[0], line, size - 1);
    (void)close(fds[0]);
    (void)close(fds[1]);
    assert_true(n > SV_TIME_SIZE);
    line[n] = '\0';
    return line + SV_TIME_SIZE;
}

static void values_cannot_forge_a_line(void **state)
{
    (void)state;
    static const struct {
        const char *value, *line;
    } cases[] = {
        {"plain", "info seen process=work k=plain\n"},
        {"", "info seen process=work k=\"\"\n"},
        {NULL, "info seen process=work k=-\n"},
        {"two words", "info seen process=work k=\"two words\"\n"},
        {"a\nerror forged", "info seen process=work k=\"a\\x0aerror forged\"\n"},
        {"a\xc2\x9b"
         "2J",
         "info seen process=work k=\"a\\xc2\\x9b2J\"\n"},
        {"Stra\xc3\x9f", "info seen process=work k=Stra\xc3\x9f\n"},
        {"q\"b\\", "info seen process=work k=\"q\\\"b\\\\\"\n"},
    };
    char line[256];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct log_field field = LOG_TEXT("k", cases[i].value);
        assert_string_equal(logged(&field, line, sizeof line), cases[i].line);
    }
    struct log_field number = LOG_INT("k", -7);
    assert_string_equal(logged(&number, line, sizeof line), "info seen process=work k=-7\n");
}

static void long_lines_are_cut(void **state)
{
    (void)state;
    char *value = malloc(10001);
    assert_non_null(value);
    memset(value, 'x', 10000);
    value[10000] = '\0';
    char line[4096];
    struct log_field field = LOG_TEXT("k", value);
    const char *text = logged(&field, line, sizeof line);
    assert_true(strlen(text) < 2048);
    assert_string_equal(text + strlen(text) - 4, "...\n");
    free(value);
}

static void levels_are_a_threshold(void **state)
{
    (void)state;
    enum sv_log_level level;
    assert_true(log_level_parse("warn", &level));
    assert_int_equal(level, SV_LOG_WARN);
    assert_false(log_level_parse("loud", &level));
    struct sv_log closed = {.fd = -1, .level = SV_LOG_ERROR};
    log_event(&closed, SV_LOG_WARN, "not_written", LOG_INT("n", 1));
    log_event(NULL, SV_LOG_ERROR, "silent", LOG_INT("n", 1));
}

static void ids_are_version_7_and_rise(void **state)
{
    (void)state;
    char earlier[SV_ID_SIZE];
    char later[SV_ID_SIZE];
    sv_id_make(earlier);
    sv_clock_sleep_ms(2);
    sv_id_make(later);
    assert_true(sv_id_is_valid(earlier));
    assert_int_equal(earlier[12], '7');
    assert_non_null(strchr("89ab", earlier[16]));
    assert_true(strcmp(earlier, later) < 0);
    assert_false(sv_id_is_valid(NULL));
    assert_false(sv_id_is_valid(""));
    assert_false(sv_id_is_valid("0192E0000000700080000000000000AB"));
    assert_false(sv_id_is_valid("0192e000-0000-7000-8000-00000000"));
}

static void times_are_rfc_3339(void **state)
{
    (void)state;
    char text[SV_TIME_SIZE];
    sv_time_format(1767323045678, text);
    assert_string_equal(text, "2026-01-02T03:04:05.678Z");
    sv_time_format(0, text);
    assert_string_equal(text, "1970-01-01T00:00:00.000Z");
}

static void control_characters_are_known(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t size; /* of the control character that it begins with */
    } rows[] = {{"", 0},         {"a", 0},        {"\x1f", 1},     {" ", 0},
                {"~", 0},        {"\x7f", 1},     {"\xc2\x80", 2}, {"\xc2\x9f", 2},
                {"\xc2\xa0", 0}, {"\xc3\x9f", 0}, {"\xc2", 0},     {"\x9b", 0}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(sv_text_control(rows[i].text), rows[i].size);
        assert_int_equal(sv_text_is_line(rows[i].text), rows[i].size == 0);
    }
    assert_false(sv_text_is_line("two\nlines"));
}

static void copies_keep_characters_whole(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t size;
        const char *copy;
    } rows[] = {{"abc", 4, "abc"},
                {"abc", 3, "ab"},
                {"abc", 1, ""},
                {"a\xc3\x9f", 3, "a"},
                {"a\xc3\x9f", 4, "a\xc3\x9f"},
                {"\xe2\x82\xac", 3, ""}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char copy[8];
        sv_text_copy(copy, rows[i].size, rows[i].text);
        assert_string_equal(copy, rows[i].copy);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_cannot_forge_a_line),
        cmocka_unit_test(long_lines_are_cut),
        cmocka_unit_test(levels_are_a_threshold),
        cmocka_unit_test(ids_are_version_7_and_rise),
        cmocka_unit_test(times_are_rfc_3339),
        cmocka_unit_test(control_characters_are_known),
        cmocka_unit_test(copies_keep_characters_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
