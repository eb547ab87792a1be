/* SPDX-License-Identifier: MIT
 *
 * The prepared set: what goes in comes out, and no lie in the file gets past opening.
 */
#include "core/data/prepared.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "core/data/prepared_internal.h"

#include "tests/support/cmocka_all.h"
#include "tests/support/sets.h"

static const struct test_set_item ITEMS[] = {
    {2, NN_PART_TRAIN, 1}, {0, NN_PART_TRAIN, 2}, {1, NN_PART_TEST, 3}, {2, NN_PART_TEST, 1}};
enum { N = 4, BYTES = 5 * 3 * 3 };

static void what_goes_in_comes_out(void **state)
{
    struct nn_prepared *set = test_set(*state, ITEMS, N, 5, 3, 3, 3);
    const struct nn_prepared_info *info = nn_prepared_info(set);
    assert_int_equal(info->count, N);
    assert_int_equal(info->height, 5);
    assert_int_equal(info->width, 3);
    assert_int_equal(info->channels, 3);
    assert_int_equal(info->class_count, 3);
    assert_int_equal(info->part_count[NN_PART_TRAIN], 2);
    assert_int_equal(info->part_count[NN_PART_VALIDATION], 0);
    assert_int_equal(info->part_count[NN_PART_TEST], 2);
    assert_string_equal(info->options, "{}");
    assert_string_equal(nn_prepared_item_name(set, 0), "item/00000.png");
    assert_string_equal(nn_prepared_item_name(set, 3), "item/00003.png");
    assert_string_equal(nn_prepared_class_name(set, 2), "c2");
    assert_int_equal(nn_prepared_label(set, 3), 2);
    assert_int_equal(nn_prepared_part(set, 2), NN_PART_TEST);
    assert_memory_equal(nn_prepared_pixels(set, 0), nn_prepared_pixels(set, 3), BYTES);
    assert_memory_equal(nn_prepared_item_digest(set, 0), nn_prepared_item_digest(set, 3), 32);
    assert_memory_not_equal(nn_prepared_pixels(set, 0), nn_prepared_pixels(set, 1), BYTES);
    nn_prepared_close(set);
}

/* Of sides that are no multiple of what is summed at a time, and some that are. */
static void means_are_of_chosen_items(void **state)
{
    static const struct {
        size_t height, width, channels;
    } CASES[] = {{5, 3, 3}, {7, 33, 1}, {8, 32, 3}, {1, 1, 1}, {9, 41, 3}};
    static const uint32_t chosen[] = {3, 1};
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        size_t channels = CASES[i].channels, pixels = CASES[i].height * CASES[i].width;
        double mean[NN_SIGNAL_CHANNELS_MAX];
        struct nn_prepared *set =
            test_set(*state, ITEMS, N, CASES[i].height, CASES[i].width, channels, 3);
        nn_prepared_mean(set, chosen, 2, mean);
        for (size_t c = 0; c < channels; c++) {
            size_t sum = 0;
            for (size_t k = c; k < pixels * channels; k += channels) {
                sum += (size_t)nn_prepared_pixels(set, 3)[k] + nn_prepared_pixels(set, 1)[k];
            }
            assert_true(fabs(mean[c] - (double)sum / (2 * (double)pixels)) < 1e-9);
        }
        nn_prepared_close(set);
    }
}

static void means_of_floats(void **state)
{
    static const float values[2][6] = {{1, -2, 3, 0.5f, 0, 7}, {9, 9, 9, -9, 9, 9}};
    static const char *const classes[] = {"only"};
    static const uint32_t all[] = {1, 0};
    const struct nn_prepared_item items[2] = {
        {.name = "a", .pixels = (const uint8_t *)values[0], .part = NN_PART_TRAIN},
        {.name = "b", .pixels = (const uint8_t *)values[1], .part = NN_PART_TRAIN}};
    const struct nn_prepared_draft draft = {2, 1, 3, 2, items, classes, 1, "{}", sizeof(float)};
    double mean[NN_SIGNAL_CHANNELS_MAX];
    struct nn_prepared *set = NULL;
    char *path = test_path(*state, "floats");
    assert_int_equal(nn_prepared_write(path, &draft, NULL, NULL), NN_OK);
    assert_int_equal(nn_prepared_open(path, &set, NULL), NN_OK);
    nn_prepared_mean(set, all, 2, mean);
    assert_true(fabs(mean[0] - 31.0 / 6) < 1e-12 && fabs(mean[1] - 14.5 / 6) < 1e-12);
    nn_prepared_close(set);
    free(path);
}

static uint8_t *read_set(const char *directory, size_t *out_size)
{
    struct nn_prepared *set = test_set(directory, ITEMS, N, 5, 3, 3, 3);
    char *path = test_path(directory, "set");
    FILE *file = fopen(path, "rb");
    uint8_t *bytes = aligned_alloc(64, 1 << 16);
    *out_size = fread(bytes, 1, 1 << 16, file);
    fclose(file);
    free(path);
    nn_prepared_close(set);
    return bytes;
}

static enum nn_status try_open(const uint8_t *bytes, size_t size)
{
    struct nn_prepared *set = NULL;
    struct nn_error err = {0};
    enum nn_status status = nn_prepared_open_bytes(bytes, size, &set, &err);
    assert_true((status == NN_OK) == (set != NULL));
    assert_true((status == NN_OK) == (err.text[0] == '\0'));
    nn_prepared_close(set);
    return status;
}

static void every_flipped_byte_is_noticed(void **state)
{
    size_t size;
    uint8_t *bytes = read_set(*state, &size);
    assert_int_equal(try_open(bytes, size), NN_OK);
    for (size_t i = 0; i < size; i += i < 1024 ? 1 : 7) {
        bytes[i] ^= 0x20;
        assert_int_equal(try_open(bytes, size), NN_ERR_CORRUPT);
        bytes[i] ^= 0x20;
    }
    free(bytes);
}

static void every_cut_is_noticed(void **state)
{
    size_t size;
    uint8_t *bytes = read_set(*state, &size);
    for (size_t cut = 0; cut < size; cut += 13) {
        uint8_t *copy = aligned_alloc(64, (cut + 63) / 64 * 64 + 64);
        memcpy(copy, bytes, cut);
        assert_int_equal(try_open(copy, cut), NN_ERR_CORRUPT);
        free(copy);
    }
    assert_int_equal(try_open(bytes, size - 1), NN_ERR_CORRUPT);
    free(bytes);
}

/* Writes checksums that fit whatever the file says now. */
static void seal(uint8_t *bytes, size_t size)
{
    struct nn_prepared_header h;
    memcpy(&h, bytes, sizeof h);
    h.payload_crc = (uint32_t)crc32_z(crc32_z(0, NULL, 0), bytes + sizeof h, size - sizeof h);
    h.header_crc = nn_section_header_crc(&h, sizeof h);
    memcpy(bytes, &h, sizeof h);
}

/* A liar can make checksums too: the values themselves must hold. */
static void sealed_lies_are_noticed(void **state)
{
    size_t size;
    struct nn_prepared_layout l;
    uint8_t *bytes = read_set(*state, &size);
    uint8_t *copy = aligned_alloc(64, 1 << 16);
    assert_int_equal(nn_prepared_layout_read(bytes, size, &l, NULL), NN_OK);
    const struct {
        uint64_t at;
        uint64_t value;
        size_t bytes;
    } lies[] = {
        {l.labels, 3, 4},
        {l.labels + 12, UINT32_MAX, 4},
        {l.parts, 3, 1},
        {l.parts + 3, 255, 1},
        {l.name_ends, 0, 8},
        {l.name_ends, UINT64_MAX, 8},
        {l.name_ends + 8, 15, 8},
        {l.name_ends + 24, 59, 8},
        {l.name_ends + 24, 61, 8},
        {l.names + 3, 0, 1},
        {l.names + 3, 0xff, 1},
        {l.names + 14, 'x', 1},
        {l.class_ends, 1 << 20, 8},
        {l.class_names + 2, 'x', 1},
        {l.options + 2, 'x', 1},
        {l.options, 0, 1},
    };
    for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
        memcpy(copy, bytes, size);
        memcpy(copy + lies[i].at, &lies[i].value, lies[i].bytes);
        seal(copy, size);
        assert_int_equal(try_open(copy, size), NN_ERR_CORRUPT);
    }
    free(copy);
    free(bytes);
}

static void sealed_header_lies_are_noticed(void **state)
{
    size_t size;
    uint8_t *bytes = read_set(*state, &size);
    static const uint64_t values[] = {0,          1,          2,          5,          1000,
                                      1ULL << 31, 1ULL << 32, 1ULL << 62, 1ULL << 63, UINT64_MAX};
    uint8_t *copy = aligned_alloc(64, 1 << 16);
    size_t refused = 0;
    for (size_t field = 16; field < 88; field += 8) {
        for (size_t k = 0; k < sizeof values / sizeof values[0]; k++) {
            memcpy(copy, bytes, size);
            memcpy(copy + field, &values[k], 8);
            seal(copy, size);
            refused += memcmp(copy, bytes, size) != 0 && try_open(copy, size) == NN_ERR_CORRUPT;
        }
    }
    assert_int_equal(refused, 9 * 10 - 1); /* one value is the honest one: 5 rows */
    copy[0] = 'X';
    assert_int_equal(try_open(copy, size), NN_ERR_CORRUPT);
    free(copy);
    free(bytes);
}

static void another_version_is_refused(void **state)
{
    size_t size;
    uint8_t *bytes = read_set(*state, &size);
    bytes[8] = NN_PREPARED_VERSION + 1;
    seal(bytes, size);
    assert_int_equal(try_open(bytes, size), NN_ERR_CORRUPT);
    free(bytes);
}

static void missing_files_and_folders(void **state)
{
    struct nn_prepared *set = NULL;
    char *path = test_path(*state, "absent");
    assert_int_equal(nn_prepared_open(path, &set, NULL), NN_ERR_IO);
    assert_int_equal(nn_prepared_open(*state, &set, NULL), NN_ERR_IO);
    assert_null(set);
    free(path);
}

/* The digest is of the data: equal sets agree, another label, pixel or order does not. */
static void digest_follows_the_data(void **state)
{
    struct test_set_item other[N];
    struct nn_prepared *first = test_set(*state, ITEMS, N, 5, 3, 3, 3);
    uint8_t digest[32];
    memcpy(digest, nn_prepared_info(first)->digest, 32);
    nn_prepared_close(first);
    for (size_t change = 0; change < 4; change++) {
        memcpy(other, ITEMS, sizeof other);
        other[1].label += change == 1;
        other[1].content += change == 2 ? 10 : 0;
        other[1].part = change == 3 ? NN_PART_VALIDATION : other[1].part;
        struct nn_prepared *set = test_set(*state, other, N, 5, 3, 3, 3);
        assert_int_equal(memcmp(digest, nn_prepared_info(set)->digest, 32) == 0, change == 0);
        nn_prepared_close(set);
    }
}

static void writer_refuses_nonsense(void **state)
{
    static const uint8_t pixel[1];
    struct nn_prepared_item item = {"a", pixel, {0}, 0, NN_PART_TRAIN};
    const char *classes[] = {"c"};
    struct nn_prepared_draft draft = {1, 1, 1, 1, &item, classes, 1, "{}", 1};
    char *path = test_path(*state, "written");
    item.label = 1;
    assert_int_equal(nn_prepared_write(path, &draft, NULL, NULL), NN_ERR_INVALID);
    item.label = 0;
    item.name = "\xff";
    assert_int_equal(nn_prepared_write(path, &draft, NULL, NULL), NN_ERR_INVALID);
    item.name = "a";
    assert_int_equal(nn_prepared_write(path, &draft, NULL, NULL), NN_OK);
    assert_int_equal(nn_prepared_write(path, &draft, NULL, NULL), NN_ERR_IO); /* never over one */
    free(path);
}

static void utf8_is_judged(void **state)
{
    (void)state;
    static const char *const good[] = {"",
                                       "a",
                                       "so\xc3\x9f"
                                       "e",
                                       "\xe7\x8c\xab",
                                       "\xf0\x9f\x90\x88",
                                       "\xf4\x8f\xbf\xbf"};
    static const char *const bad[] = {
        "\xff",     "\xc0\x80",         "\xe0\x80\x80", "\xed\xa0\x80", "\xc3",
        "\xe7\x8c", "\xf4\x90\x80\x80", "\x80",         "\xf5\x80",     "a\xe7\x8c\x41"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_true(nn_text_is_utf8(good[i], strlen(good[i])));
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_false(nn_text_is_utf8(bad[i], strlen(bad[i])));
    }
    assert_false(nn_text_is_utf8("a\0b", 3));
}

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_goes_in_comes_out, setup, teardown),
        cmocka_unit_test_setup_teardown(means_are_of_chosen_items, setup, teardown),
        cmocka_unit_test_setup_teardown(means_of_floats, setup, teardown),
        cmocka_unit_test_setup_teardown(every_flipped_byte_is_noticed, setup, teardown),
        cmocka_unit_test_setup_teardown(every_cut_is_noticed, setup, teardown),
        cmocka_unit_test_setup_teardown(sealed_lies_are_noticed, setup, teardown),
        cmocka_unit_test_setup_teardown(sealed_header_lies_are_noticed, setup, teardown),
        cmocka_unit_test_setup_teardown(another_version_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(missing_files_and_folders, setup, teardown),
        cmocka_unit_test_setup_teardown(digest_follows_the_data, setup, teardown),
        cmocka_unit_test_setup_teardown(writer_refuses_nonsense, setup, teardown),
        cmocka_unit_test(utf8_is_judged),
    };
    return cmocka_run_group_tests_name("prepared", tests, NULL, NULL);
}
