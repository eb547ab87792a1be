/* SPDX-License-Identifier: MIT
 *
 * The reader of tables: cells as they were meant, and numbers that are nothing else.
 */
#include "core/data/table_internal.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zlib.h>

#include "tests/support/archives.h"
#include "tests/support/cmocka_all.h"
#include "tests/support/sets.h"

enum { ROOM = 4096 };

static int setup(void **state)
{
    *state = test_directory();
    return 0;
}

static int teardown(void **state)
{
    test_directory_remove(*state);
    return 0;
}

/* All cells of a file as text: cells in brackets, rows ended by '|'. */
static enum nn_status show_file(const char *path, enum nn_table_separator separator, char decimal,
                                const struct nn_table_caps *caps, char out[ROOM],
                                struct nn_error *err)
{
    const struct nn_table_caps usual = {1 << 20, 1000, 1 << 24};
    const struct nn_import_file file = {.name = "data", .path = path, .fd = -1};
    struct nn_table *table = NULL;
    struct nn_table_row row = {0};
    size_t n = 0;
    out[0] = '\0';
    enum nn_status status =
        nn_table_open(&file, separator, decimal, caps ? caps : &usual, &table, err);
    while (status == NN_OK && (status = nn_table_next(table, &row, err)) == NN_OK && row.n > 0) {
        for (size_t i = 0; i < row.n; i++) {
            assert_int_equal(strlen(row.cells[i].text), row.cells[i].length);
            n += (size_t)snprintf(out + n, ROOM - n, "[%s]", row.cells[i].text);
            assert_true(n < ROOM);
        }
        n += (size_t)snprintf(out + n, ROOM - n, "|");
    }
    nn_table_close(table);
    return status;
}

static enum nn_status show(const char *directory, const char *text, size_t size, char out[ROOM],
                           struct nn_error *err)
{
    char *path = test_path(directory, "data");
    test_file_write(path, text, size);
    enum nn_status status = show_file(path, NN_TABLE_AUTO, '.', NULL, out, err);
    free(path);
    return status;
}

static void cells_are_what_was_meant(void **state)
{
    static const struct {
        const char *text, *cells;
    } rows[] = {
        {"a,b\n1,2\n", "[a][b]|[1][2]|"},
        {"a,b\r\n1,2\r\n", "[a][b]|[1][2]|"},
        {"a,b\r1,2", "[a][b]|[1][2]|"},
        {"\xEF\xBB\xBF"
         "a,b\n",
         "[a][b]|"},
        {"\n\n a , b \n\n  \n1,\t2\n\n", "[a][b]|[1][2]|"},
        {"a;b,c\n1,5;2\n", "[a][b,c]|[1,5][2]|"},
        {"a\tb c\t\n\t2\t", "[a][b c][]|[][2][]|"},
        {"  1 2  3  \t\n4\t5 6 \t\n", "[1][2][3]|[4][5][6]|"},
        {"1 1 -0.0007 100.0  \n", "[1][1][-0.0007][100.0]|"},
        {"17\n18\n", "[17]|[18]|"},
        {"\"a,b\" , \"c\"\n\"\",d\"e\n", "[a,b][c]|[][d\"e]|"},
        {"a,\"x\r\ny\"\n", "[a][x\r\ny]|"},
        {"\"a \"\"b\"\"\",2\n", "[a \"b\"][2]|"},
        {"\"a b\" 2\n", "[a b][2]|"},
        {",,\n", "[][][]|"},
        {"\n \r\n", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char out[ROOM];
        assert_int_equal(show(*state, rows[i].text, strlen(rows[i].text), out, NULL), NN_OK);
        assert_string_equal(out, rows[i].cells);
    }
}

static void gzip_is_unpacked(void **state)
{
    char *path = test_path(*state, "data.gz");
    char out[ROOM];
    gzFile file = gzopen(path, "wb");
    assert_int_equal(gzputs(file, "a,b\n1,2\n"), 8);
    gzclose(file);
    assert_int_equal(show_file(path, NN_TABLE_AUTO, '.', NULL, out, NULL), NN_OK);
    assert_string_equal(out, "[a][b]|[1][2]|");
    assert_int_equal(truncate(path, 20), 0);
    assert_int_equal(show_file(path, NN_TABLE_AUTO, '.', NULL, out, NULL), NN_ERR_INVALID);
    free(path);
}

static void faults_name_line_and_field(void **state)
{
    static const struct {
        const char *text;
        size_t size;
        const char *words;
    } rows[] = {
        {"", 0, "is empty"},
        {"a,b\n1,\"2\n3,4\n", 0, "line 2, field 2: a quoted field never ends"},
        {"a,b\n\"1\"x,2\n", 0, "line 2, field 1: text behind a quoted field"},
        {"\"1\"x 2\n", 0, "line 1, field 1: text behind a quoted field"},
        {"a,b\n1,2\n1,\0002\n", 11, "line 3, field 2: a NUL byte"},
        {"\xFF\xFE"
         "a\0,\0b\0\n\0",
         10, "line 1, field 1: a NUL byte: no text file, or UTF-16"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char out[ROOM];
        struct nn_error err = {0};
        size_t size = rows[i].size ? rows[i].size : strlen(rows[i].text);
        assert_int_equal(show(*state, rows[i].text, size, out, &err), NN_ERR_INVALID);
        assert_non_null(strstr(err.text, rows[i].words));
    }
}

/* A row without end must not take memory without end. */
static void caps_hold(void **state)
{
    static const struct nn_table_caps caps = {.row_bytes = 1000, .cells = 50, .total_bytes = 5000};
    static const struct {
        const char *unit;
        size_t n;
        const char *words;
    } rows[] = {
        {"x", 1001, "more than 1000 bytes"},  {",", 50, "more than 50 fields"},
        {"\"", 3001, "more than 1000 bytes"}, {"1\n", 2501, "more than 5000 bytes"},
        {"\n", 5001, "more than 5000 bytes"},
    };
    char *path = test_path(*state, "data");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char out[65536];
        struct nn_error err = {0};
        FILE *file = fopen(path, "wb");
        for (size_t k = 0; k < rows[i].n; k++) {
            fputs(rows[i].unit, file);
        }
        fclose(file);
        const struct nn_import_file input = {.name = "data", .path = path, .fd = -1};
        struct nn_table *table = NULL;
        struct nn_table_row row = {.n = 1};
        enum nn_status status = nn_table_open(&input, NN_TABLE_COMMA, '.', &caps, &table, &err);
        while (status == NN_OK && row.n > 0) {
            status = nn_table_next(table, &row, &err);
        }
        nn_table_close(table);
        snprintf(out, sizeof out, "%zu: %s", i, err.text);
        assert_int_equal(status, NN_ERR_LIMIT);
        assert_non_null(strstr(out, rows[i].words));
    }
    free(path);
}

/* A line without end, packed small: the cap counts what comes out. */
static void a_bomb_stops_at_the_cap(void **state)
{
    static const struct nn_table_caps caps = {1 << 20, 8192, SIZE_MAX};
    char *path = test_path(*state, "data.gz");
    char *line = malloc(1 << 20);
    char out[ROOM];
    struct nn_error err = {0};
    gzFile file = gzopen(path, "wb1");
    memset(line, '7', 1 << 20);
    for (size_t i = 0; i < 64; i++) {
        assert_int_equal(gzwrite(file, line, 1 << 20), 1 << 20);
    }
    gzclose(file);
    assert_int_equal(show_file(path, NN_TABLE_AUTO, '.', &caps, out, &err), NN_ERR_LIMIT);
    assert_non_null(strstr(err.text, "line 1, field 1: the row has more than 1048576 bytes"));
    free(line);
    free(path);
}

/* Where a comma stands before the fraction it separates nothing. */
static void decimal_commas_are_no_separators(void **state)
{
    static const struct {
        const char *text, *cells;
    } rows[] = {
        {"1,5 2,5\n3 4,25\n", "[1,5][2,5]|[3][4,25]|"},
        {"1,5\n", "[1,5]|"},
        {"1,5;2,5\n", "[1,5][2,5]|"},
        {"1,5\t2,5\n", "[1,5][2,5]|"},
    };
    char *path = test_path(*state, "data");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char out[ROOM];
        test_file_write(path, rows[i].text, strlen(rows[i].text));
        assert_int_equal(show_file(path, NN_TABLE_AUTO, ',', NULL, out, NULL), NN_OK);
        assert_string_equal(out, rows[i].cells);
    }
    free(path);
}

/* ------------------------------------------------------------------------------------- numbers */

static void numbers_are_rounded_once(void **state)
{
    static const char *const texts[] = {"0",
                                        "-0",
                                        "1",
                                        "+1.5",
                                        "-0.0007",
                                        ".5",
                                        "5.",
                                        "1e3",
                                        "1E-3",
                                        "518.67",
                                        "9046.19",
                                        "1e22",
                                        "123456789012345",
                                        "1234567890123456789",
                                        "0.1",
                                        "0.3",
                                        "2.2250738585072011e-308",
                                        "1e-400",
                                        "9007199254740993",
                                        "1.7976931348623157e38",
                                        "3.4e38",
                                        "000000000000000000001.5",
                                        "0.000000000000000000000000001",
                                        "12345678901234567890e-19",
                                        "1e-99999999999999999999"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        double value = (double)NAN;
        assert_null(nn_number_read(texts[i], '.', &value));
        double wanted = strtod(texts[i], NULL);
        assert_memory_equal(&value, &wanted, sizeof value);
    }
}

static void what_is_no_number_says_so(void **state)
{
    static const struct {
        const char *text, *reason;
    } rows[] = {
        {"", "not_a_number"},        {"-", "not_a_number"},     {".", "not_a_number"},
        {"1e", "not_a_number"},      {"1e+", "not_a_number"},   {"0x1p3", "not_a_number"},
        {"0x10", "not_a_number"},    {"1,5", "not_a_number"},   {"1 2", "not_a_number"},
        {"1.2.3", "not_a_number"},   {"12abc", "not_a_number"}, {"1_000", "not_a_number"},
        {"nan", "not_finite"},       {"NaN", "not_finite"},     {"-inf", "not_finite"},
        {"+Infinity", "not_finite"}, {"1.#INF", "not_finite"},  {"1e999", "too_large"},
        {"-3.5e38", "too_large"},    {"1e39", "too_large"},     {"\xD9\xA1", "not_a_number"},
    };
    double value = 7;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *reason = nn_number_read(rows[i].text, '.', &value);
        assert_non_null(reason);
        assert_string_equal(reason, rows[i].reason);
    }
    assert_true(value == 7);
    char long_text[1000];
    memset(long_text, '1', sizeof long_text);
    long_text[sizeof long_text - 1] = '\0';
    assert_string_equal(nn_number_read(long_text, '.', &value), "not_a_number");
}

static void commas_are_points_where_asked_for(void **state)
{
    double value = 0;
    (void)state;
    assert_null(nn_number_read("1,5", ',', &value));
    assert_true(value == 1.5);
    assert_null(nn_number_read("1,2345678901234567890", ',', &value));
    assert_true(value == 1.2345678901234567890);
    assert_string_equal(nn_number_read("1.5", ',', &value), "not_a_number");
}

/* The process's locale may write 1,5; files do not change with it. */
static void locales_change_nothing(void **state)
{
    static const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "C.UTF-8"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        double value = 0;
        (void)setlocale(LC_ALL, names[i]); /* where it is installed */
        assert_null(nn_number_read("1.2345678901234567890", '.', &value));
        assert_true(value == 1.2345678901234567890);
        assert_string_equal(nn_number_read("1,5", '.', &value), "not_a_number");
    }
    setlocale(LC_ALL, "C");
}

/* -------------------------------------------------------------------------------- csv-spectrum */

/* The JSON beside a file as show_file writes cells: first the names, then the rows. */
static void expected_cells(const char *path, char out[ROOM])
{
    json_t *list = json_load_file(path, 0, NULL);
    const char *key;
    json_t *value;
    size_t n = 0;
    assert_non_null(list);
    json_object_foreach(json_array_get(list, 0), key, value)
    {
        n += (size_t)snprintf(out + n, ROOM - n, "[%s]", key);
    }
    n += (size_t)snprintf(out + n, ROOM - n, "|");
    for (size_t i = 0; i < json_array_size(list); i++) {
        json_object_foreach(json_array_get(list, i), key, value)
        {
            n += (size_t)snprintf(out + n, ROOM - n, "[%s]", json_string_value(value));
        }
        n += (size_t)snprintf(out + n, ROOM - n, "|");
    }
    json_decref(list);
}

static void csv_spectrum(void **state)
{
    static const char *const names[] = {"comma_in_quotes",
                                        "empty",
                                        "empty_crlf",
                                        "escaped_quotes",
                                        "json",
                                        "newlines",
                                        "newlines_crlf",
                                        "quotes_and_newlines",
                                        "simple",
                                        "simple_crlf",
                                        "utf8"};
    const char *root = getenv("ASSAY_TEST_DATA");
    size_t compared = 0;
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char csv[1024], json[1024], found[ROOM], wanted[ROOM];
        const char *base = root ? root : "../shared/data";
        snprintf(csv, sizeof csv, "%s/robustness/csv_spectrum/csvs/%s.csv", base, names[i]);
        snprintf(json, sizeof json, "%s/robustness/csv_spectrum/json/%s.json", base, names[i]);
        if (access(csv, R_OK) != 0) {
            continue;
        }
        assert_int_equal(show_file(csv, NN_TABLE_AUTO, '.', NULL, found, NULL), NN_OK);
        expected_cells(json, wanted);
        assert_string_equal(found, wanted);
        compared++;
    }
    print_message("%zu files of csv-spectrum compared\n", compared);
    assert_true(compared == 0 || compared == sizeof names / sizeof names[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(cells_are_what_was_meant, setup, teardown),
        cmocka_unit_test_setup_teardown(decimal_commas_are_no_separators, setup, teardown),
        cmocka_unit_test_setup_teardown(gzip_is_unpacked, setup, teardown),
        cmocka_unit_test_setup_teardown(faults_name_line_and_field, setup, teardown),
        cmocka_unit_test_setup_teardown(caps_hold, setup, teardown),
        cmocka_unit_test_setup_teardown(a_bomb_stops_at_the_cap, setup, teardown),
        cmocka_unit_test(numbers_are_rounded_once),
        cmocka_unit_test(what_is_no_number_says_so),
        cmocka_unit_test(commas_are_points_where_asked_for),
        cmocka_unit_test(locales_change_nothing),
        cmocka_unit_test(csv_spectrum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
