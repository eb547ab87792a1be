/* SPDX-License-Identifier: MIT
 *
 * The prepared sequence set: what goes in comes out, equal drafts give equal bytes, and no lie in
 * the file gets past opening.
 */
#include "core/data/sequences.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/data/sequences_internal.h"

#include "tests/support/cmocka_all.h"
#include "tests/support/sets.h"

enum { COUNT = 3, INPUTS = 2, STEPS = 6, ROOM = 1 << 15 };

static const struct nn_sequences_item ITEMS[COUNT] = {{"train/1", 3, 0, NN_PART_TRAIN},
                                                      {"train/2", 1, 0, NN_PART_TRAIN},
                                                      {"test/1", 2, 0, NN_PART_TEST}};
static const float FEATURES[STEPS * INPUTS] = {1, 10, 2, 10, 3, 10, 6, 10, 1, 10, 2, 11};
static const float TARGETS[STEPS] = {3, 2, 1, 1, 9, 8};
static const char *const INPUT_NAMES[] = {"speed", "constant"};
static const char *const TARGET_NAMES[] = {"life"};
static const char *const CLASSES[] = {"a", "b"};

static struct nn_sequences_draft draft(void)
{
    return (struct nn_sequences_draft){.count = COUNT,
                                       .inputs = INPUTS,
                                       .targets = 1,
                                       .items = ITEMS,
                                       .features = FEATURES,
                                       .target_values = TARGETS,
                                       .input_names = INPUT_NAMES,
                                       .target_names = TARGET_NAMES,
                                       .classes = CLASSES,
                                       .options = "{}"};
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

/* Writes a draft and reads the file back; NULL when it was refused. */
static uint8_t *write_set(const char *directory, const struct nn_sequences_draft *d,
                          size_t *out_size, enum nn_status *out_status)
{
    char *path = test_path(directory, "sequences");
    uint8_t *bytes = NULL;
    remove(path);
    *out_status = nn_sequences_write(path, d, NULL, NULL);
    FILE *file = fopen(path, "rb");
    assert_true((file != NULL) == (*out_status == NN_OK));
    if (file) {
        bytes = aligned_alloc(64, ROOM);
        *out_size = fread(bytes, 1, ROOM, file);
        assert_true(*out_size > 0 && *out_size < ROOM);
        fclose(file);
    }
    free(path);
    return bytes;
}

static uint8_t *good_set(const char *directory, size_t *out_size)
{
    struct nn_sequences_draft d = draft();
    enum nn_status status;
    uint8_t *bytes = write_set(directory, &d, out_size, &status);
    assert_int_equal(status, NN_OK);
    return bytes;
}

static void what_goes_in_comes_out(void **state)
{
    size_t size;
    struct nn_sequences *set = NULL;
    uint8_t *bytes = good_set(*state, &size);
    assert_int_equal(nn_sequences_open_bytes(bytes, size, &set, NULL), NN_OK);
    const struct nn_sequences_info *info = nn_sequences_info(set);
    assert_int_equal(info->count, 3);
    assert_int_equal(info->steps, 6);
    assert_int_equal(info->part_count[NN_PART_TRAIN], 2);
    assert_int_equal(info->part_steps[NN_PART_TRAIN], 4);
    assert_int_equal(info->part_steps[NN_PART_TEST], 2);
    assert_int_equal(info->longest, 3);
    assert_string_equal(info->options, "{}");
    assert_int_equal(nn_sequences_length(set, 1), 1);
    assert_memory_equal(nn_sequences_features(set, 1), (FEATURES + 6), 2 * sizeof(float));
    assert_memory_equal(nn_sequences_targets(set, 2), (TARGETS + 4), 2 * sizeof(float));
    assert_int_equal(nn_sequences_part(set, 2), NN_PART_TEST);
    assert_string_equal(nn_sequences_item_name(set, 2), "test/1");
    assert_string_equal(nn_sequences_input_name(set, 1), "constant");
    assert_string_equal(nn_sequences_target_name(set, 0), "life");
    struct nn_column_statistics speed = nn_sequences_input_statistics(set, 0);
    assert_true(speed.min == 1 && speed.max == 6 && speed.mean == 3);
    assert_true(fabs(speed.std - sqrt(14.0 / 3)) < 1e-15);
    struct nn_column_statistics constant = nn_sequences_input_statistics(set, 1);
    assert_true(constant.min == 10 && constant.max == 10 && constant.std == 0);
    nn_sequences_close(set);
    free(bytes);
}

static void equal_drafts_give_equal_bytes(void **state)
{
    size_t size[2];
    uint8_t *bytes[2];
    for (size_t i = 0; i < 2; i++) {
        bytes[i] = good_set(*state, &size[i]);
    }
    assert_int_equal(size[0], size[1]);
    assert_memory_equal(bytes[0], bytes[1], size[0]);
    free(bytes[0]);
    free(bytes[1]);
}

static void classes_instead_of_targets(void **state)
{
    struct nn_sequences_item items[COUNT];
    struct nn_sequences_draft d = draft();
    struct nn_sequences *set = NULL;
    enum nn_status status;
    size_t size;
    memcpy(items, ITEMS, sizeof items);
    items[1].label = 1;
    d.items = items;
    d.targets = 0;
    d.target_values = NULL;
    d.class_count = 2;
    uint8_t *bytes = write_set(*state, &d, &size, &status);
    assert_int_equal(status, NN_OK);
    assert_int_equal(nn_sequences_open_bytes(bytes, size, &set, NULL), NN_OK);
    assert_int_equal(nn_sequences_label(set, 1), 1);
    assert_string_equal(nn_sequences_class_name(set, 1), "b");
    assert_null(nn_sequences_targets(set, 0));
    nn_sequences_close(set);
    free(bytes);
}

static void drafts_out_of_range_are_refused(void **state)
{
    static const char *const bad_names[] = {"speed", "\xFF"};
    for (int fault = 0; fault < 9; fault++) {
        struct nn_sequences_item items[COUNT];
        float features[STEPS * INPUTS];
        float targets[STEPS];
        struct nn_sequences_draft d = draft();
        enum nn_status status;
        size_t size = 0;
        memcpy(items, ITEMS, sizeof items);
        memcpy(features, FEATURES, sizeof features);
        memcpy(targets, TARGETS, sizeof targets);
        d.items = items;
        d.features = features;
        d.target_values = targets;
        d.count = fault == 0 ? 0 : d.count;
        d.inputs = fault == 1 ? 0 : d.inputs;
        d.targets = fault == 2 ? 0 : d.targets;
        d.class_count = fault == 3 ? 2 : d.class_count;
        items[1].length = fault == 4 ? 0 : items[1].length;
        items[1].label = fault == 5 ? 1 : 0;
        features[3] = fault == 6 ? NAN : features[3];
        targets[3] = fault == 7 ? INFINITY : targets[3];
        d.input_names = fault == 8 ? bad_names : d.input_names;
        free(write_set(*state, &d, &size, &status));
        assert_int_equal(status, NN_ERR_INVALID);
    }
}

/* ------------------------------------------------------------------------------------------ lies
 */

static enum nn_status try_open(const uint8_t *bytes, size_t size)
{
    struct nn_sequences *set = NULL;
    struct nn_error err = {0};
    enum nn_status status = nn_sequences_open_bytes(bytes, size, &set, &err);
    assert_true((status == NN_OK) == (set != NULL));
    assert_true((status == NN_OK) == (err.text[0] == '\0'));
    nn_sequences_close(set);
    return status;
}

static void every_flipped_byte_is_noticed(void **state)
{
    size_t size;
    uint8_t *bytes = good_set(*state, &size);
    for (size_t i = 0; i < size; i += i < 1024 ? 1 : 7) {
        bytes[i] ^= 0x20;
        assert_int_equal(try_open(bytes, size), NN_ERR_CORRUPT);
        bytes[i] ^= 0x20;
    }
    assert_int_equal(try_open(bytes, size), NN_OK);
    free(bytes);
}

static void every_cut_is_noticed(void **state)
{
    size_t size;
    uint8_t *bytes = good_set(*state, &size);
    for (size_t n = 0; n < size; n += n < 1024 ? 1 : 97) {
        assert_int_equal(try_open(bytes, n), NN_ERR_CORRUPT);
    }
    free(bytes);
}

/* Checksums that fit, as a liar would write them. */
static void seal(uint8_t *bytes, size_t size)
{
    struct nn_sequences_header h;
    memcpy(&h, bytes, sizeof h);
    h.payload_crc = nn_section_crc(bytes + sizeof h, size - sizeof h);
    h.header_crc = nn_section_header_crc(&h, sizeof h);
    memcpy(bytes, &h, sizeof h);
}

static void sealed_lies_are_noticed(void **state)
{
    size_t size;
    uint8_t *bytes = good_set(*state, &size);
    uint8_t *copy = aligned_alloc(64, ROOM);
    struct nn_sequences_layout l;
    assert_int_equal(nn_sequences_layout_read(bytes, size, &l, NULL), NN_OK);
    const float nan = NAN;
    const uint64_t beyond = 99, zero = 0, two = 2;
    const uint32_t label = 1;
    const uint8_t part = NN_PART_COUNT;
    const struct {
        uint64_t at;
        const void *bytes;
        size_t n;
    } lies[] = {
        {l.first_steps, &two, 8},        /* does not begin at 0 */
        {l.first_steps + 8, &zero, 8},   /* a sequence without steps */
        {l.first_steps + 8, &beyond, 8}, /* longer than the file */
        {l.first_steps + 24, &two, 8},   /* the last one ends early */
        {l.labels, &label, 4},           /* a class without classes */
        {l.parts + 1, &part, 1},         /* no such part */
        {l.name_ends, &beyond, 8},       /* a name beyond the names */
        {l.names, "\xFF", 1},            /* not UTF-8 */
        {l.columns, "\0", 1},            /* a NUL inside of a name */
        {l.options + 1, "\xFF", 1},
        {l.features + 4, &nan, 4},
        {l.target_values + 4, &nan, 4},
        {l.statistics + 8, "\0\0\0\0\0\0\xF8\x7F", 8}, /* NaN */
        {offsetof(struct nn_sequences_header, count), &zero, 8},
        {offsetof(struct nn_sequences_header, inputs), &beyond, 8},
        {offsetof(struct nn_sequences_header, targets), &zero, 8},
        {offsetof(struct nn_sequences_header, steps), "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF", 8},
        {offsetof(struct nn_sequences_header, file_bytes), &beyond, 8},
    };
    for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
        memcpy(copy, bytes, size);
        memcpy(copy + lies[i].at, lies[i].bytes, lies[i].n);
        seal(copy, size);
        assert_int_equal(try_open(copy, size), NN_ERR_CORRUPT);
    }
    seal(bytes, size);
    assert_int_equal(try_open(bytes, size), NN_OK);
    free(copy);
    free(bytes);
}

static void other_files_are_not_taken(void **state)
{
    char *path = test_path(*state, "absent");
    struct nn_sequences *set = NULL;
    assert_int_equal(nn_sequences_open(path, &set, NULL), NN_ERR_IO);
    assert_int_equal(nn_sequences_open(*state, &set, NULL), NN_ERR_IO);
    assert_null(set);
    free(path);
}

#define SET_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SET_TEST(what_goes_in_comes_out),        SET_TEST(equal_drafts_give_equal_bytes),
        SET_TEST(classes_instead_of_targets),    SET_TEST(drafts_out_of_range_are_refused),
        SET_TEST(every_flipped_byte_is_noticed), SET_TEST(every_cut_is_noticed),
        SET_TEST(sealed_lies_are_noticed),       SET_TEST(other_files_are_not_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
