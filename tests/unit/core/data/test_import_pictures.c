/* SPDX-License-Identifier: MIT
 *
 * Archives of pictures: what becomes of each picture, by content, size, channels and depth.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/support/cmocka_all.h"
#include "tests/support/imports.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* A32: twenty images, number 13 cut by 23 bytes. */
static void case_a32_cut_image_is_named(void **state)
{
    struct test_import *t = *state;
    for (int policy = NN_IMPORT_SKIP; policy <= NN_IMPORT_FAIL; policy++) {
        struct test_entry entries[20];
        char names[20][16];
        for (unsigned i = 0; i < 20; i++) {
            snprintf(names[i], sizeof names[i], "%c/%02u.png", 'a' + (int)i % 2, i + 1);
            entries[i] = (struct test_entry){names[i], test_picture(16, i), 0, 0};
        }
        entries[12].content.size -= 23;
        t->setup.options.on_refused = policy;
        test_import_entries(t, NULL, entries, 20);
        if (policy == NN_IMPORT_SKIP) {
            assert_int_equal(t->status, NN_OK);
            assert_int_equal(test_import_count(t, "items"), 19);
            assert_int_equal(test_import_count(t, "refused"), 1);
            assert_string_equal(test_import_reason(t, "refused", "a/13.png"), "truncated");
            assert_true(test_import_warns(t, "refused_entries"));
        } else {
            assert_int_equal(t->status, NN_ERR_INVALID);
            assert_non_null(strstr(t->err.text, "a/13.png"));
        }
    }
}

static void case_a33_content_decides_not_the_name(void **state)
{
    struct test_bytes bmp = {calloc(1, 60), 60};
    struct test_bytes text = {(uint8_t *)strdup("just a text"), 11};
    memcpy(bmp.data, "BM", 2);
    struct test_entry entries[] = {{"a/x.jpg", test_picture(8, 1), 0, 0},
                                   {"a/y.jpg", bmp, 0, 0},
                                   {"a/z.jpg", text, 0, 0},
                                   {"a/empty.jpg", {0}, 0, 0},
                                   {"b/x", test_picture(8, 2), 0, 0}};
    test_import_good(*state, entries, COUNT(entries));
    assert_int_equal(test_import_count(*state, "items"), 2);
    assert_string_equal(test_import_reason(*state, "refused", "a/y.jpg"), "format_not_supported");
    assert_string_equal(test_import_reason(*state, "refused", "a/z.jpg"), "not_an_image");
    assert_string_equal(test_import_reason(*state, "refused", "a/empty.jpg"), "empty_file");
}

/* A35: one picture stored turned, with the tag that says so, and its upright twin. */
static void case_a35_turned_twins_are_equal(void **state)
{
    struct test_import *t = *state;
    uint8_t upright[32 * 16];
    uint8_t turned[16 * 32];
    for (size_t y = 0; y < 32; y++) {
        for (size_t x = 0; x < 16; x++) {
            upright[y * 16 + x] = y < 16 ? 200 : x < 8 ? 20 : 90; /* whole blocks: exact in JPEG */
            turned[(15 - x) * 32 + y] = upright[y * 16 + x];
        }
    }
    struct test_jpeg_options six = {.quality = 100, .exif = 6};
    struct test_jpeg_options plain = {.quality = 100};
    struct test_entry entries[] = {{"a/1.jpg", test_jpeg(turned, 16, 32, 1, &six), 0, 0},
                                   {"a/2.jpg", test_jpeg(upright, 32, 16, 1, &plain), 0, 0}};
    test_import_good(t, entries, 2);
    assert_int_equal(nn_prepared_info(t->set)->height, 32);
    assert_int_equal(nn_prepared_info(t->set)->width, 16);
    assert_memory_equal(nn_prepared_pixels(t->set, 0), nn_prepared_pixels(t->set, 1), 32 * 16);
    assert_memory_equal(nn_prepared_item_digest(t->set, 0), nn_prepared_item_digest(t->set, 1), 32);
    assert_int_equal(test_import_count(t, "duplicates"), 1);
}

static void case_a36_cmyk_is_never_lost(void **state)
{
    uint8_t *rgb = test_pattern(16, 16, 3, 1);
    uint8_t *cmyk = test_pattern(16, 16, 4, 1);
    struct test_jpeg_options no_adobe = {.no_adobe = true};
    struct test_entry entries[] = {{"a/1.jpg", test_jpeg(rgb, 16, 16, 3, NULL), 0, 0},
                                   {"a/2.jpg", test_jpeg(cmyk, 16, 16, 4, NULL), 0, 0},
                                   {"b/3.jpg", test_jpeg(cmyk, 16, 16, 4, &no_adobe), 0, 0}};
    free(rgb);
    free(cmyk);
    test_import_good(*state, entries, COUNT(entries));
    assert_int_equal(test_import_count(*state, "items"), 3);
    assert_int_equal(test_import_count(*state, "refused"), 0);
}

static void sizes_and_channels(void **state)
{
    struct test_import *t = *state;
    for (int wanted = 0; wanted < 2; wanted++) {
        uint8_t *rgb = test_pattern(12, 12, 3, 1);
        struct test_entry entries[] = {{"a/1.png", test_picture(8, 1), 0, 0},
                                       {"a/2.png", test_picture(12, 2), 0, 0},
                                       {"a/3.png", test_png_simple(rgb, 12, 12, 3), 0, 0},
                                       {"a/4.png", test_picture(20, 4), 0, 0}};
        free(rgb);
        t->setup.options.image_size = (struct jx_ints){0};
        if (wanted) {
            t->setup.options.image_size = (struct jx_ints){2, {10, 6}};
        }
        test_import_good(t, entries, COUNT(entries));
        const struct nn_prepared_info *info = nn_prepared_info(t->set);
        assert_int_equal(info->height, wanted ? 10 : 12);
        assert_int_equal(info->width, wanted ? 6 : 12);
        assert_int_equal(info->channels, 3);
        assert_int_equal(test_import_count(t, "resized"), wanted ? 4 : 2);
        assert_true(test_import_warns(t, "resized"));
        const uint8_t *grey = nn_prepared_pixels(t->set, 1);
        assert_true(grey[0] == grey[1] && grey[1] == grey[2]);
        assert_non_null(strstr(info->options, wanted ? "[10,6]" : "null"));
    }
}

/* Grey pictures alone stay grey, unless three channels are asked for. */
static void grey_archives_can_get_three_channels(void **state)
{
    struct test_import *t = *state;
    for (size_t channels = 0; channels <= 3; channels += 3) {
        struct test_entry entries[] = {{"a/1.png", test_picture(8, 1), 0, 0},
                                       {"b/1.png", test_picture(8, 2), 0, 0}};
        t->setup.options.channels = channels;
        test_import_good(t, entries, COUNT(entries));
        assert_int_equal(nn_prepared_info(t->set)->channels, channels > 0 ? 3 : 1);
        const uint8_t *pixels = nn_prepared_pixels(t->set, 1);
        assert_true(channels == 0 || (pixels[0] == pixels[1] && pixels[1] == pixels[2]));
    }
}

/* Of 16 bits the upper 8 are kept: said, and said louder when that leaves almost nothing. */
static void sixteen_bits_are_told(void **state)
{
    struct test_import *t = *state;
    static const struct test_png_options deep = {.colour = 0, .depth = 16};
    for (int dark = 0; dark < 2; dark++) {
        uint8_t samples[8 * 8 * 2] = {0x0f, 0xff, 0, 7};
        samples[10] = dark ? 0 : 0xff;
        struct test_entry entries[] = {{"a/1.png", test_png(samples, 8, 8, &deep), 0, 0},
                                       {"a/2.png", test_picture(8, 1), 0, 0},
                                       {"b/1.png", test_picture(8, 2), 0, 0}};
        test_import_good(t, entries, COUNT(entries));
        assert_int_equal(test_import_count(t, "sixteen_bit"), 1);
        assert_true(test_import_warns(t, "sixteen_bit"));
        assert_int_equal(test_import_warns(t, "sixteen_bit_dark"), dark);
        assert_int_equal(nn_prepared_pixels(t->set, 0)[0], 16);
    }
    struct test_entry plain[] = {{"a/1.png", test_picture(8, 1), 0, 0}};
    test_import_good(t, plain, COUNT(plain));
    assert_int_equal(test_import_count(t, "sixteen_bit"), 0);
    assert_false(test_import_warns(t, "sixteen_bit"));
}

/* When the only pictures with colour turn out damaged, the set is grey after all. */
static void refused_colour_leaves_grey(void **state)
{
    struct test_import *t = *state;
    uint8_t *rgb = test_pattern(8, 8, 3, 1);
    struct test_bytes cut = test_png_simple(rgb, 8, 8, 3);
    free(rgb);
    cut.size -= 5;
    struct test_bytes grey = test_picture(8, 1);
    struct test_entry entries[] = {
        {"a/1.png", cut, 0, 0}, {"a/2.png", test_picture(8, 1), 0, 0}, {"a/3.png", grey, 0, 0}};
    test_import_good(t, entries, COUNT(entries));
    assert_int_equal(nn_prepared_info(t->set)->channels, 1);
    assert_int_equal(test_import_count(t, "items"), 2);
    assert_memory_equal(nn_prepared_pixels(t->set, 0), nn_prepared_pixels(t->set, 1), 64);
    assert_memory_not_equal(nn_prepared_pixels(t->set, 0), nn_prepared_pixels(t->set, 0) + 1, 9);
}

/* B36: what packs well is no bomb. */
static void case_b36_compressible_archives_are_honest(void **state)
{
    uint8_t *flat = calloc(1000, 1000);
    struct test_entry entries[] = {{"a/1.png", test_png_simple(flat, 1000, 1000, 1), 0, 0},
                                   {"b/2.png", test_picture(8, 2), 0, 0}};
    free(flat);
    struct test_archive_options options = {.format = TEST_TAR_GZ};
    test_import_entries(*state, &options, entries, COUNT(entries));
    assert_int_equal(((struct test_import *)*state)->status, NN_OK);
}

#define IMPORT_TEST(f) cmocka_unit_test_setup_teardown(f, test_import_setup, test_import_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IMPORT_TEST(case_a32_cut_image_is_named),
        IMPORT_TEST(case_a33_content_decides_not_the_name),
        IMPORT_TEST(case_a35_turned_twins_are_equal),
        IMPORT_TEST(case_a36_cmyk_is_never_lost),
        IMPORT_TEST(sizes_and_channels),
        IMPORT_TEST(grey_archives_can_get_three_channels),
        IMPORT_TEST(sixteen_bits_are_told),
        IMPORT_TEST(refused_colour_leaves_grey),
        IMPORT_TEST(case_b36_compressible_archives_are_honest),
    };
    return cmocka_run_group_tests_name("import_pictures", tests, NULL, NULL);
}
