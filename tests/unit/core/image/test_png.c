/* SPDX-License-Identifier: MIT
 *
 * PNG both ways: every colour type and depth, alpha, interlacing, and headers that lie.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <png.h>

#include "core/image/image.h"

#include "tests/support/cmocka_all.h"
#include "tests/support/pictures.h"

static struct nn_image decode_kept(const struct test_bytes *file)
{
    struct nn_image image = {0};
    struct nn_error err = {0};
    if (nn_image_decode(file->data, file->size, NULL, &image, NULL, &err) != NN_OK) {
        fail_msg("%s", err.text);
    }
    return image;
}

static void check(const uint8_t *rows, size_t height, size_t width,
                  const struct test_png_options *options, size_t channels, const uint8_t *expected)
{
    struct test_bytes file = test_png(rows, height, width, options);
    struct nn_image image = decode_kept(&file);
    assert_int_equal(image.channels, channels);
    assert_int_equal(image.height, height);
    assert_int_equal(image.width, width);
    assert_memory_equal(image.pixels, expected, height * width * channels);
    nn_image_deinit(&image);
    free(file.data);
}

static void small_depths_are_widened(void **state)
{
    (void)state;
    struct test_png_options o = {.colour = PNG_COLOR_TYPE_GRAY, .depth = 1};
    check((const uint8_t[]){0xa0}, 1, 3, &o, 1, (const uint8_t[]){255, 0, 255});
    o.depth = 2;
    check((const uint8_t[]){0x1b}, 1, 4, &o, 1, (const uint8_t[]){0, 85, 170, 255});
    o.depth = 4;
    check((const uint8_t[]){0x0f, 0x80}, 1, 3, &o, 1, (const uint8_t[]){0, 255, 136});
}

/* 16 bits are scaled, v * 255 / 65535 rounded: neither cut to the high byte nor read as linear. */
static void sixteen_bits_are_scaled(void **state)
{
    (void)state;
    struct test_png_options o = {.colour = PNG_COLOR_TYPE_GRAY, .depth = 16};
    check((const uint8_t[]){0x00, 0xff, 0x01, 0x00, 0x7f, 0xff, 0xff, 0xff, 0x00, 0x80}, 1, 5, &o,
          1, (const uint8_t[]){1, 1, 127, 255, 0});
    o.colour = PNG_COLOR_TYPE_RGB;
    check((const uint8_t[]){0x12, 0xff, 0x80, 0x00, 0x00, 0x00}, 1, 1, &o, 3,
          (const uint8_t[]){19, 128, 0});
}

static void palettes_are_expanded(void **state)
{
    (void)state;
    static const uint8_t palette[] = {10, 20, 30, 200, 100, 0, 1, 2, 3};
    struct test_png_options o = {
        .colour = PNG_COLOR_TYPE_PALETTE, .depth = 8, .palette = palette, .n_palette = 3};
    check((const uint8_t[]){1, 0, 2}, 1, 3, &o, 3,
          (const uint8_t[]){200, 100, 0, 10, 20, 30, 1, 2, 3});
    o.depth = 1;
    o.n_palette = 2;
    check((const uint8_t[]){0x80}, 1, 2, &o, 3, (const uint8_t[]){200, 100, 0, 10, 20, 30});
}

static void alpha_lies_on_white(void **state)
{
    (void)state;
    static const uint8_t palette[] = {10, 20, 30, 200, 100, 0};
    static const uint8_t palette_alpha[] = {0, 128};
    struct test_png_options o = {.colour = PNG_COLOR_TYPE_RGB_ALPHA, .depth = 8};
    check((const uint8_t[]){10, 20, 30, 0, 10, 20, 30, 255, 0, 100, 255, 51}, 1, 3, &o, 3,
          (const uint8_t[]){255, 255, 255, 10, 20, 30, 204, 224, 255});
    o.colour = PNG_COLOR_TYPE_GRAY_ALPHA;
    check((const uint8_t[]){0, 0, 0, 255, 0, 51}, 1, 3, &o, 1, (const uint8_t[]){255, 0, 204});
    struct test_png_options p = {.colour = PNG_COLOR_TYPE_PALETTE,
                                 .depth = 8,
                                 .palette = palette,
                                 .n_palette = 2,
                                 .alpha = palette_alpha,
                                 .n_alpha = 2};
    check((const uint8_t[]){0, 1}, 1, 2, &p, 3, (const uint8_t[]){255, 255, 255, 227, 177, 127});
    static const uint8_t key[] = {7}; /* grey 7 is transparent */
    struct test_png_options g = {
        .colour = PNG_COLOR_TYPE_GRAY, .depth = 8, .alpha = key, .n_alpha = 1};
    check((const uint8_t[]){7, 8}, 1, 2, &g, 1, (const uint8_t[]){255, 8});
}

static void orientation_is_applied_here_too(void **state)
{
    (void)state;
    struct test_png_options o = {.colour = PNG_COLOR_TYPE_GRAY, .depth = 8, .exif = 6};
    struct test_bytes file = test_png((const uint8_t[]){1, 2, 3, 4, 5, 6}, 2, 3, &o);
    struct nn_image image = decode_kept(&file);
    assert_int_equal(image.height, 3);
    assert_int_equal(image.width, 2);
    assert_memory_equal(image.pixels, ((const uint8_t[]){4, 1, 5, 2, 6, 3}), 6);
    nn_image_deinit(&image);
    free(file.data);
}

static enum nn_image_refusal refusal_of(const struct test_bytes *file)
{
    struct nn_image image;
    enum nn_image_refusal refusal = NN_IMAGE_REFUSED_NONE;
    if (nn_image_decode(file->data, file->size, NULL, &image, &refusal, NULL) == NN_OK) {
        nn_image_deinit(&image);
    }
    return refusal;
}

static void put_u32(uint8_t *at, uint32_t value)
{
    for (int i = 0; i < 4; i++) {
        at[i] = (uint8_t)(value >> (24 - 8 * i));
    }
}

static void headers_that_lie(void **state)
{
    (void)state;
    static const uint32_t sides[][2] = {
        {30000, 30000}, {0x7fffffff, 0x7fffffff}, {0xffffffff, 1}, {8193, 1}, {8000, 8000}};
    uint8_t *grey = test_pattern(8, 8, 1, 0);
    struct test_bytes file = test_png_simple(grey, 8, 8, 1);
    for (size_t i = 0; i < 5; i++) {
        put_u32(file.data + 16, sides[i][0]);
        put_u32(file.data + 20, sides[i][1]);
        assert_int_equal(refusal_of(&file), NN_IMAGE_REFUSED_TOO_LARGE);
    }
    put_u32(file.data + 16, 0);
    assert_int_equal(refusal_of(&file), NN_IMAGE_REFUSED_DAMAGED);
    put_u32(file.data + 16, 8);
    put_u32(file.data + 20, 9); /* checksum no longer fits */
    assert_int_equal(refusal_of(&file), NN_IMAGE_REFUSED_DAMAGED);
    put_u32(file.data + 20, 8);
    assert_int_equal(refusal_of(&file), NN_IMAGE_REFUSED_NONE);
    put_u32(file.data + 33, 0xfffffff0); /* length of the chunk behind the header */
    assert_true(refusal_of(&file) != NN_IMAGE_REFUSED_NONE);
    free(file.data);
    free(grey);
}

static void animations_are_refused(void **state)
{
    (void)state;
    static const char control[] = "\0\0\0\x08"
                                  "acTL\0\0\0\x02\0\0\0\0crc!";
    uint8_t *grey = test_pattern(8, 8, 1, 0);
    struct test_bytes file = test_png_simple(grey, 8, 8, 1);
    file.data = realloc(file.data, file.size + 20);
    memmove(file.data + 33 + 20, file.data + 33, file.size - 33);
    memcpy(file.data + 33, control, 20);
    file.size += 20;
    assert_int_equal(refusal_of(&file), NN_IMAGE_REFUSED_ANIMATED);
    free(file.data);
    free(grey);
}

static void interlacing_changes_nothing(void **state)
{
    (void)state;
    uint8_t *rgb = test_pattern(13, 21, 3, 4);
    struct test_png_options o = {.colour = PNG_COLOR_TYPE_RGB, .depth = 8, .interlaced = true};
    check(rgb, 13, 21, &o, 3, rgb);
    o.interlaced = false;
    check(rgb, 13, 21, &o, 3, rgb);
    free(rgb);
}

static void encoder_and_decoder_agree(void **state)
{
    (void)state;
    for (size_t channels = 1; channels <= 3; channels += 2) {
        uint8_t *pixels = test_pattern(37, 11, channels, 6);
        struct test_bytes file = {0};
        assert_int_equal(
            nn_image_encode_png(pixels, 37, 11, channels, &file.data, &file.size, NULL), NN_OK);
        struct nn_image image = decode_kept(&file);
        assert_int_equal(image.channels, channels);
        assert_memory_equal(image.pixels, pixels, 37 * 11 * channels);
        nn_image_deinit(&image);
        free(file.data);
        free(pixels);
    }
    uint8_t *none = NULL;
    size_t size = 0;
    assert_int_equal(nn_image_encode_png((const uint8_t *)"", 1, 1, 2, &none, &size, NULL),
                     NN_ERR_INVALID);
    assert_int_equal(nn_image_encode_png((const uint8_t *)"", 0, 1, 1, &none, &size, NULL),
                     NN_ERR_INVALID);
    assert_null(none);
}

static bool read_file(const char *folder, const char *name, struct test_bytes *out)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "rb");
    if (!f) {
        return false;
    }
    *out = (struct test_bytes){malloc(1 << 16), 0};
    out->size = fread(out->data, 1, 1 << 16, f);
    fclose(f);
    return true;
}

static void check_suite_file(const char *folder, const char *name)
{
    struct test_bytes file;
    struct test_bytes twin;
    char twin_name[300];
    assert_true(read_file(folder, name, &file));
    struct nn_image image = decode_kept(&file);
    assert_int_equal(image.height, 32);
    assert_int_equal(image.width, 32);
    snprintf(twin_name, sizeof twin_name, "i%s", name);
    if (read_file(folder, twin_name, &twin)) {
        struct nn_image other = decode_kept(&twin);
        assert_int_equal(other.channels, image.channels);
        assert_memory_equal(other.pixels, image.pixels, 32 * 32 * image.channels);
        nn_image_deinit(&other);
        free(twin.data);
    }
    nn_image_deinit(&image);
    free(file.data);
}

/* The PNG suite, where it is at hand: all of it decodes, and interlaced twins are equal. */
static void png_suite(void **state)
{
    (void)state;
    const char *root = getenv("ASSAY_TEST_DATA");
    char folder[512];
    snprintf(folder, sizeof folder, "%s/robustness/pngsuite", root ? root : "../shared/data");
    DIR *dir = opendir(folder);
    size_t seen = 0;
    if (!dir) {
        return;
    }
    for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir)) {
        if (strstr(entry->d_name, ".png")) {
            check_suite_file(folder, entry->d_name);
            seen++;
        }
    }
    closedir(dir);
    assert_true(seen > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_depths_are_widened),
        cmocka_unit_test(sixteen_bits_are_scaled),
        cmocka_unit_test(palettes_are_expanded),
        cmocka_unit_test(alpha_lies_on_white),
        cmocka_unit_test(orientation_is_applied_here_too),
        cmocka_unit_test(headers_that_lie),
        cmocka_unit_test(animations_are_refused),
        cmocka_unit_test(interlacing_changes_nothing),
        cmocka_unit_test(encoder_and_decoder_agree),
        cmocka_unit_test(png_suite),
    };
    return cmocka_run_group_tests_name("png", tests, NULL, NULL);
}
