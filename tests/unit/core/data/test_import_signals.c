/* SPDX-License-Identifier: MIT
 *
 * Recordings to windows: every format gives the same numbers, parts never share a sample, what
 * cannot be taken is refused by name; and the simulated gearbox.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/data/simulate.h"

#include "tests/support/cmocka_all.h"
#include "tests/support/imports.h"
#include "tests/support/sets.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* ------------------------------------------------------------------------------------ recordings
 */

/* Value t of a recording: exact in 16 bits, and tells recording and time. */
static float value_of(unsigned content, size_t t)
{
    return (float)((int)(content * 1000 + t) - 8000) / 32768;
}

static struct test_bytes bytes_of(const void *data, size_t size)
{
    struct test_bytes bytes = {malloc(size + 1), size};
    memcpy(bytes.data, data, size);
    return bytes;
}

static struct test_bytes raw(unsigned content, size_t n)
{
    float *values = malloc(n * sizeof *values);
    for (size_t t = 0; t < n; t++) {
        values[t] = value_of(content, t);
    }
    return (struct test_bytes){(void *)values, n * sizeof *values};
}

static void put(uint8_t **at, const void *data, size_t n)
{
    memcpy(*at, data, n);
    *at += n;
}

static void put_number(uint8_t **at, uint64_t value, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        *(*at)++ = (uint8_t)(value >> (8 * i));
    }
}

/* Mono PCM; an odd chunk before the format, as some programs write. */
static struct test_bytes wav(unsigned content, size_t n, unsigned bits)
{
    unsigned width = bits / 8;
    uint8_t *data = malloc(64 + n * width);
    uint8_t *at = data;
    put(&at, "RIFF", 4);
    put_number(&at, 4 + 10 + 24 + 8 + n * width, 4);
    put(&at, "WAVEnote", 8);
    put_number(&at, 1, 4);
    put(&at, "x\0fmt ", 6);
    put_number(&at, 16, 4);
    put_number(&at, 1, 2);
    put_number(&at, 1, 2);
    put_number(&at, 12800, 4);
    put_number(&at, 12800 * width, 4);
    put_number(&at, width, 2);
    put_number(&at, bits, 2);
    put(&at, "data", 4);
    put_number(&at, n * width, 4);
    for (size_t t = 0; t < n; t++) {
        int64_t level = (int64_t)lrintf(value_of(content, t) * 32768);
        put_number(&at, (uint64_t)(level * (1LL << (bits - 16))), width);
    }
    return (struct test_bytes){(void *)data, (size_t)(at - data)};
}

/* Two columns of doubles, time and the signal, in C's or Fortran's order. */
static struct test_bytes npy(unsigned content, size_t n, bool by_columns)
{
    uint8_t *data = malloc(10 + 118 + 2 * n * sizeof(double));
    char header[119];
    uint8_t *at = data;
    int used = snprintf(header, sizeof header,
                        "{'descr': '<f8', 'fortran_order': %s, 'shape': (%zu, 2), }",
                        by_columns ? "True" : "False", n);
    memset(header + used, ' ', sizeof header - 1 - (size_t)used);
    header[117] = '\n';
    put(&at, "\x93NUMPY\1\0", 8);
    put_number(&at, 118, 2);
    put(&at, header, 118);
    for (size_t i = 0; i < 2 * n; i++) {
        size_t t = by_columns ? i % n : i / 2;
        bool second = by_columns ? i >= n : i % 2;
        double value = second ? (double)value_of(content, t) : (double)t;
        put(&at, &value, sizeof value);
    }
    return (struct test_bytes){(void *)data, (size_t)(at - data)};
}

static struct test_bytes csv(unsigned content, size_t n, const char *header, char separator)
{
    char *text = malloc(64 + 64 * n);
    size_t used = (size_t)sprintf(text, "%s", header);
    for (size_t t = 0; t < n; t++) {
        used += (size_t)sprintf(text + used, "%zu%c%.9g\r\n", t, separator,
                                (double)value_of(content, t));
    }
    return (struct test_bytes){(void *)text, used};
}

static void import(struct test_import *t, struct test_entry *entries, size_t n)
{
    t->setup.layout = NN_IMPORT_SIGNALS;
    test_import_entries(t, NULL, entries, n);
}

static void import_well(struct test_import *t, struct test_entry *entries, size_t n)
{
    t->setup.layout = NN_IMPORT_SIGNALS;
    test_import_good(t, entries, n);
}

static void set_options(struct test_import *t, const char *json)
{
    json_t *options = json_loads(json, 0, NULL);
    assert_int_equal(
        nn_import_options_decode(NN_IMPORT_SIGNALS, options, "", &t->setup.options, &t->err),
        NN_OK);
    json_decref(options);
}

/* Window `first`.. of a recording: its values, or fails. */
static void assert_window(const struct test_import *t, const char *recording, size_t first,
                          unsigned content)
{
    char name[128];
    snprintf(name, sizeof name, "%s@%08zu", recording, first);
    size_t item = test_import_item(t, name);
    assert_int_not_equal(item, SIZE_MAX);
    const float *values = nn_prepared_values(t->set, item);
    for (size_t i = 0; i < nn_prepared_info(t->set)->width; i++) {
        assert_float_equal(values[i], value_of(content, first + i), 0);
    }
}

/* ----------------------------------------------------------------------------------------- tests
 */

static void every_format_gives_the_same_numbers(void **state)
{
    struct test_import *t = *state;
    set_options(t, "{\"signal\": {\"window\": 16, \"parts\": {\"by\": \"folders\"}}}");
    struct test_entry one[] = {{"a/raw.f32", raw(1, 40), 0, 0},
                               {"a/w16.wav", wav(2, 40, 16), 0, 0},
                               {"b/w24.WAV", wav(3, 40, 24), 0, 0},
                               {"b/w32.wav", wav(4, 40, 32), 0, 0}};
    import_well(t, one, COUNT(one));
    assert_int_equal(nn_prepared_info(t->set)->count, 8);
    assert_int_equal(nn_prepared_info(t->set)->height, 1);
    assert_int_equal(nn_prepared_info(t->set)->width, 16);
    assert_int_equal(nn_prepared_info(t->set)->value_bytes, 4);
    assert_window(t, "a/raw.f32", 16, 1);
    assert_window(t, "a/w16.wav", 0, 2);
    assert_window(t, "b/w24.WAV", 16, 3);
    assert_window(t, "b/w32.wav", 0, 4);
    set_options(t, "{\"signal\": {\"window\": 16, \"channels\": 2, \"stride\": 12,"
                   " \"parts\": {\"by\": \"folders\"}}}");
    struct test_entry two[] = {{"a/c.npy", npy(1, 40, false), 0, 0},
                               {"a/f.npy", npy(2, 40, true), 0, 0},
                               {"b/t.csv", csv(3, 40, "time,acceleration\n", ','), 0, 0},
                               {"b/t.txt", csv(4, 40, "", ' '), 0, 0},
                               {"b/t.dat", csv(5, 40, "# rig 7\n\n", '\t'), 0, 0}};
    import_well(t, two, COUNT(two));
    assert_int_equal(nn_prepared_info(t->set)->count, 15);
    assert_window(t, "a/c.npy", 24, 1);
    assert_window(t, "a/f.npy", 12, 2);
    assert_window(t, "b/t.csv", 24, 3);
    assert_window(t, "b/t.txt", 0, 4);
    assert_window(t, "b/t.dat", 12, 5);
}

/* First sample of an item, by its name. */
static size_t first_of(const struct nn_prepared *set, size_t i)
{
    return strtoull(strchr(nn_prepared_item_name(set, i), '@') + 1, NULL, 10);
}

static void parts_by_time_share_no_sample(void **state)
{
    struct test_import *t = *state;
    set_options(t, "{\"signal\": {\"window\": 16, \"stride\": 5, \"parts\": {\"by\": \"time\","
                   " \"train\": 0.5, \"validation\": 0.25, \"gap\": 7}}}");
    struct test_entry entries[] = {{"a/1.f32", raw(1, 214), 0, 0}, {"b/1.f32", raw(2, 214), 0, 0}};
    import_well(t, entries, COUNT(entries));
    size_t begin[NN_PART_COUNT] = {SIZE_MAX, SIZE_MAX, SIZE_MAX};
    size_t end[NN_PART_COUNT] = {0};
    for (size_t i = 0; i < nn_prepared_info(t->set)->count; i++) {
        enum nn_part part = nn_prepared_part(t->set, i);
        size_t first = first_of(t->set, i);
        begin[part] = first < begin[part] ? first : begin[part];
        end[part] = first + 16 > end[part] ? first + 16 : end[part];
    }
    assert_int_equal(begin[NN_PART_TRAIN], 0); /* 200 samples without the gaps: 100, 50, 50 */
    assert_int_equal(begin[NN_PART_VALIDATION], 107);
    assert_int_equal(begin[NN_PART_TEST], 164);
    assert_true(end[NN_PART_TRAIN] <= 100);
    assert_true(end[NN_PART_VALIDATION] <= 157);
    assert_true(end[NN_PART_TEST] <= 214);
    assert_int_equal(nn_prepared_info(t->set)->part_count[NN_PART_TRAIN], 2 * 17);
    assert_int_equal(nn_prepared_info(t->set)->part_count[NN_PART_TEST], 2 * 7);
    assert_string_equal(json_string_value(jx_path_get(t->report, "signal.parts_by")), "time");
}

/* Part of each recording, by its name without the class. */
static void assert_whole_recordings(const struct nn_prepared *set, size_t n_windows)
{
    for (size_t i = 0; i < nn_prepared_info(set)->count; i += n_windows) {
        for (size_t k = 1; k < n_windows; k++) {
            const char *one = nn_prepared_item_name(set, i);
            const char *other = nn_prepared_item_name(set, i + k);
            assert_int_equal(strncmp(one, other, (size_t)(strchr(one, '@') - one)), 0);
            assert_int_equal(nn_prepared_part(set, i), nn_prepared_part(set, i + k));
        }
    }
}

static void recordings_go_to_parts_as_a_whole(void **state)
{
    struct test_import *t = *state;
    enum { EACH = 10 };
    struct test_entry entries[2 * EACH];
    char names[2 * EACH][16];
    set_options(t, "{\"signal\": {\"window\": 16, \"stride\": 8,"
                   " \"parts\": {\"train\": 0.6, \"validation\": 0.2}}}");
    for (unsigned i = 0; i < 2 * EACH; i++) {
        snprintf(names[i], sizeof names[i], "%c/%02u.f32", i < EACH ? 'a' : 'b', i);
        entries[i] = (struct test_entry){names[i], raw(i, 40), 0, 0};
    }
    import_well(t, entries, COUNT(entries));
    const size_t *parts = nn_prepared_info(t->set)->part_count;
    assert_int_equal(parts[NN_PART_TRAIN], 2 * 6 * 4);
    assert_int_equal(parts[NN_PART_VALIDATION], 2 * 2 * 4);
    assert_int_equal(parts[NN_PART_TEST], 2 * 2 * 4);
    assert_whole_recordings(t->set, 4);
    struct test_entry few[] = {{"a/1.f32", raw(1, 40), 0, 0},
                               {"a/2.f32", raw(2, 40), 0, 0},
                               {"b/1.f32", raw(3, 40), 0, 0}};
    import(t, few, COUNT(few));
    assert_int_equal(t->status, NN_ERR_INVALID);
    assert_string_equal(t->err.pointer, "/signal/parts");
    assert_non_null(strstr(t->err.text, "by \"time\""));
}

/* Equal recordings are one: they go to a part together, and a class of them alone is too small to
 * be shared out, so that no class is left without a train part. */
static void equal_recordings_are_one(void **state)
{
    struct test_import *t = *state;
    set_options(t, "{\"signal\": {\"window\": 16, \"stride\": 8,"
                   " \"parts\": {\"train\": 0.5, \"validation\": 0}}}");
    struct test_entry enough[] = {{"a/1.f32", raw(1, 40), 0, 0},
                                  {"a/2.f32", raw(1, 40), 0, 0},
                                  {"a/3.f32", raw(2, 40), 0, 0},
                                  {"b/1.f32", raw(3, 40), 0, 0},
                                  {"b/2.f32", raw(4, 40), 0, 0}};
    import_well(t, enough, COUNT(enough));
    const size_t *parts = nn_prepared_info(t->set)->part_count;
    assert_int_equal(parts[NN_PART_TRAIN] + parts[NN_PART_TEST], 5 * 4);
    assert_true(nn_prepared_part(t->set, test_import_item(t, "a/1.f32@00000000")) ==
                nn_prepared_part(t->set, test_import_item(t, "a/2.f32@00000000")));
    assert_true(nn_prepared_part(t->set, test_import_item(t, "a/1.f32@00000000")) !=
                nn_prepared_part(t->set, test_import_item(t, "a/3.f32@00000000")));
    struct test_entry alike[] = {{"a/1.f32", raw(1, 40), 0, 0},
                                 {"a/2.f32", raw(1, 40), 0, 0},
                                 {"a/3.f32", raw(1, 40), 0, 0},
                                 {"b/1.f32", raw(3, 40), 0, 0},
                                 {"b/2.f32", raw(4, 40), 0, 0}};
    import(t, alike, COUNT(alike));
    assert_int_equal(t->status, NN_ERR_INVALID);
    assert_string_equal(t->err.pointer, "/signal/parts");
    assert_non_null(strstr(t->err.text, "class \"a\" has 1 different recordings of 3"));
    set_options(t, "{\"signal\": {\"window\": 16, \"parts\": {\"train\": 1, \"validation\": 0}}}");
    struct test_entry all[] = {{"a/1.f32", raw(1, 40), 0, 0}, {"b/1.f32", raw(3, 40), 0, 0}};
    import_well(t, all, COUNT(all));
    assert_int_equal(nn_prepared_info(t->set)->part_count[NN_PART_TRAIN], 2 * 2);
}

static void a_table_labels_recordings(void **state)
{
    struct test_import *t = *state;
    static const char table[] = "\xef\xbb\xbf"
                                "recording;part;class\r\n\"x 1.f32\";train;sound\n"
                                "sub/2.f32;test;\"broken\"\n3.f32;train;broken\n";
    set_options(t, "{\"signal\": {\"window\": 16}}");
    struct test_entry entries[] = {{"rig/x 1.f32", raw(1, 20), 0, 0},
                                   {"rig/labels.csv", bytes_of(table, sizeof table - 1), 0, 0},
                                   {"rig/sub/2.f32", raw(2, 20), 0, 0},
                                   {"rig/3.f32", raw(3, 20), 0, 0},
                                   {"rig/4.f32", raw(4, 20), 0, 0}};
    import_well(t, entries, COUNT(entries));
    assert_int_equal(nn_prepared_info(t->set)->count, 3);
    assert_string_equal(test_import_class(t, "rig/x 1.f32@00000000"), "sound");
    assert_string_equal(test_import_class(t, "rig/sub/2.f32@00000000"), "broken");
    assert_int_equal(nn_prepared_info(t->set)->part_count[NN_PART_TEST], 1);
    assert_window(t, "rig/3.f32", 0, 3); /* the windows behind a refused recording are its own */
    assert_string_equal(test_import_reason(t, "refused", "rig/4.f32"), "no_class");
    assert_string_equal(test_import_reason(t, "ignored", "rig/labels.csv"), "label_table");
}

static void what_cannot_be_taken_is_refused_by_name(void **state)
{
    struct test_import *t = *state;
    static const float infinite[20] = {[7] = INFINITY};
    static const char uneven[] = "1 2\n3 4\n5\n";
    static const char word[] = "1\n2\nthree\n";
    static const char commas[] = "1,5;2,5\n1,6;2,6\n";
    static const char first[] = "nan\n1\n2\n";
    set_options(t, "{\"signal\": {\"window\": 16, \"parts\": {\"by\": \"folders\"}}}");
    struct test_bytes cut = wav(1, 40, 16);
    cut.size -= 10;
    struct test_bytes coded = wav(1, 40, 16);
    ((uint8_t *)coded.data)[12 + 10 + 8] = 2; /* ADPCM */
    struct test_entry entries[] = {
        {"a/good.f32", raw(1, 20), 0, 0},
        {"b/good.f32", raw(2, 20), 0, 0},
        {"a/short.f32", raw(3, 15), 0, 0},
        {"a/odd.f32", bytes_of("12345", 5), 0, 0},
        {"a/inf.f32", bytes_of(infinite, sizeof infinite), 0, 0},
        {"a/cut.wav", cut, 0, 0},
        {"a/coded.wav", coded, 0, 0},
        {"a/uneven.txt", bytes_of(uneven, sizeof uneven - 1), 0, 0},
        {"a/word.csv", bytes_of(word, sizeof word - 1), 0, 0},
        {"a/commas.csv", bytes_of(commas, sizeof commas - 1), 0, 0},
        {"a/first.csv", bytes_of(first, sizeof first - 1), 0, 0},
        {"a/picture.png", bytes_of("png", 3), 0, 0},
        {"a/empty.csv", bytes_of("", 0), 0, 0},
        {"a/no.npy", bytes_of("\x93NUMPY\1\0\xff\xff", 10), 0, 0},
    };
    static const char *const reasons[][2] = {
        {"a/short.f32", "too_short"},     {"a/odd.f32", "damaged"},
        {"a/inf.f32", "not_finite"},      {"a/cut.wav", "damaged"},
        {"a/coded.wav", "unsupported"},   {"a/uneven.txt", "uneven_rows"},
        {"a/word.csv", "not_a_number"},   {"a/picture.png", "unsupported"},
        {"a/empty.csv", "damaged"},       {"a/no.npy", "damaged"},
        {"a/commas.csv", "not_a_number"}, {"a/first.csv", "not_finite"},
    };
    import_well(t, entries, COUNT(entries));
    for (size_t i = 0; i < COUNT(reasons); i++) {
        const char *reason = test_import_reason(t, "refused", reasons[i][0]);
        assert_non_null(reason);
        assert_string_equal(reason, reasons[i][1]);
    }
    assert_int_equal(test_import_count(t, "refused"), COUNT(reasons));
    assert_int_equal(test_import_count(t, "train"), 2);
    set_options(t, "{\"signal\": {\"window\": 16, \"channels\": [2]}}");
    struct test_entry mono[] = {{"a/1.f32", raw(1, 20), 0, 0}};
    import(t, mono, COUNT(mono));
    assert_int_equal(t->status, NN_ERR_INVALID);
    assert_non_null(strstr(t->err.text, "channel 2"));
}

static void options_that_mean_nothing_are_refused(void **state)
{
    (void)state;
    static const struct {
        enum nn_import_layout layout;
        const char *json, *pointer;
    } cases[] = {
        {NN_IMPORT_ARCHIVE, "{\"signal\": {}}", "/signal"},
        {NN_IMPORT_SIGNALS, "{\"image_size\": 8}", "/image_size"},
        {NN_IMPORT_SIGNALS, "{\"signal\": {\"window\": 3}}", "/signal/window"},
        {NN_IMPORT_SIGNALS, "{\"signal\": {\"channels\": [1, 1]}}", "/signal/channels"},
        {NN_IMPORT_SIGNALS, "{\"signal\": {\"parts\": {\"by\": \"luck\"}}}", "/signal/parts/by"},
        {NN_IMPORT_SIGNALS, "{\"signal\": {\"parts\": {\"train\": 0.9, \"validation\": 0.2}}}",
         "/signal/parts/validation"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct nn_import_options options;
        struct nn_error err = {0};
        json_t *json = json_loads(cases[i].json, 0, NULL);
        assert_int_equal(nn_import_options_decode(cases[i].layout, json, "", &options, &err),
                         NN_ERR_INVALID);
        assert_string_equal(err.pointer, cases[i].pointer);
        json_decref(json);
    }
}

/* ------------------------------------------------------------------------------------ simulation
 */

static float *read_floats(const char *directory, const char *name, size_t n)
{
    float *values = calloc(n, sizeof *values);
    char *path = test_path(directory, name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fread(values, sizeof *values, n, file), n);
    fclose(file);
    free(path);
    return values;
}

/* Power of a signal at one frequency, by its correlation with sine and cosine. */
static double power_at(const float *values, size_t n, double hertz)
{
    double re = 0, im = 0;
    for (size_t t = 0; t < n; t++) {
        double angle = 2 * 3.14159265358979323846 * hertz * (double)t / 12800;
        re += (double)values[t] * cos(angle);
        im += (double)values[t] * sin(angle);
    }
    return (re * re + im * im) / (double)n / (double)n;
}

/* In a band, which the speed's spread makes necessary. */
static double power_near(const float *values, size_t n, double hertz, double width)
{
    double sum = 0;
    for (double f = hertz - width; f <= hertz + width; f += 2) {
        sum += power_at(values, n, f);
    }
    return sum;
}

static void the_gearbox_is_a_function_of_its_seed(void **state)
{
    struct test_import *t = *state;
    enum { N = 8192 };
    static const char name[] = "outer_race/0000_20hz_load1.f32";
    struct nn_gearbox_options options = {.recordings = 1, .samples = N, .seed = 7};
    assert_int_equal(nn_simulate_gearbox(t->directory, &options, NULL), NN_OK);
    float *first = read_floats(t->directory, name, N);
    float *healthy = read_floats(t->directory, "healthy/0000_20hz_load1.f32", N);
    assert_int_equal(nn_simulate_gearbox(t->directory, &options, NULL), NN_OK);
    float *again = read_floats(t->directory, name, N);
    options.seed = 8;
    assert_int_equal(nn_simulate_gearbox(t->directory, &options, NULL), NN_OK);
    float *other = read_floats(t->directory, name, N);
    assert_memory_equal(first, again, N * sizeof *first);
    assert_memory_not_equal(first, other, N * sizeof *first);
    /* the mesh at 23 x 20 Hz in both; the resonance of the impulses in the faulty one alone */
    assert_true(power_near(healthy, N, 460, 8) > 20 * power_near(healthy, N, 560, 8));
    assert_true(power_near(first, N, 460, 8) > 20 * power_near(first, N, 560, 8));
    assert_true(power_near(first, N, 3200, 160) > 10 * power_near(healthy, N, 3200, 160));
    const struct nn_gearbox_options none = {.samples = 100};
    assert_int_equal(nn_simulate_gearbox(t->directory, &none, NULL), NN_ERR_INVALID);
    options.samples = 16;
    assert_int_equal(nn_simulate_gearbox("/nonexistent", &options, NULL), NN_ERR_IO);
    free(first);
    free(again);
    free(other);
    free(healthy);
}

#define IMPORT_TEST(name)                                                                          \
    cmocka_unit_test_setup_teardown(name, test_import_setup, test_import_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IMPORT_TEST(every_format_gives_the_same_numbers),
        IMPORT_TEST(parts_by_time_share_no_sample),
        IMPORT_TEST(recordings_go_to_parts_as_a_whole),
        IMPORT_TEST(equal_recordings_are_one),
        IMPORT_TEST(a_table_labels_recordings),
        IMPORT_TEST(what_cannot_be_taken_is_refused_by_name),
        cmocka_unit_test(options_that_mean_nothing_are_refused),
        IMPORT_TEST(the_gearbox_is_a_function_of_its_seed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
