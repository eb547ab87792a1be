/* SPDX-License-Identifier: MIT
 *
 * WebP: lossless is exact, alpha lies on white, animations and giants are refused.
 */
#include <stdlib.h>
#include <string.h>

#include "core/image/image.h"

#include "tests/support/cmocka_all.h"
#include "tests/support/pictures.h"

static void lossless_is_exact(void **state)
{
    (void)state;
    uint8_t *rgb = test_pattern(19, 33, 3, 1);
    struct test_bytes file = test_webp(rgb, 19, 33, 3, true);
    struct nn_image image;
    assert_int_equal(nn_image_decode(file.data, file.size, NULL, &image, NULL, NULL), NN_OK);
    assert_int_equal(image.height, 19);
    assert_int_equal(image.width, 33);
    assert_int_equal(image.channels, 3);
    assert_memory_equal(image.pixels, rgb, 19 * 33 * 3);
    nn_image_deinit(&image);
    free(file.data);
    free(rgb);
}

static void alpha_lies_on_white(void **state)
{
    (void)state;
    uint8_t rgba[16 * 16 * 4];
    for (size_t i = 0; i < sizeof rgba; i += 4) {
        memcpy(rgba + i, i < sizeof rgba / 2 ? "\x00\x64\xff\x33" : "\x10\x20\x30\x00", 4);
    }
    struct test_bytes file = test_webp(rgba, 16, 16, 4, true);
    struct nn_image image;
    assert_int_equal(nn_image_decode(file.data, file.size, NULL, &image, NULL, NULL), NN_OK);
    assert_memory_equal(image.pixels, "\xcc\xe0\xff", 3);
    assert_memory_equal(image.pixels + 16 * 16 * 3 - 3, "\xff\xff\xff", 3);
    nn_image_deinit(&image);
    free(file.data);
}

/* RIFF, then VP8X with the given flags and width, and nothing more. */
static enum nn_image_refusal extended_refusal(uint8_t flags, uint32_t width)
{
    uint8_t file[30] = "RIFF\x16\0\0\0WEBPVP8X\x0a\0\0";
    struct nn_image image;
    enum nn_image_refusal refusal = NN_IMAGE_REFUSED_NONE;
    file[20] = flags;
    for (int i = 0; i < 3; i++) {
        file[24 + i] = (uint8_t)((width - 1) >> (8 * i));
    }
    enum nn_status status = nn_image_decode(file, sizeof file, NULL, &image, &refusal, NULL);
    assert_true(status != NN_OK);
    return refusal;
}

static void animations_and_giants_are_refused(void **state)
{
    (void)state;
    assert_int_equal(extended_refusal(0x02, 100), NN_IMAGE_REFUSED_ANIMATED);
    assert_int_equal(extended_refusal(0x02, 1 << 24), NN_IMAGE_REFUSED_TOO_LARGE);
    assert_int_equal(extended_refusal(0x00, 100), NN_IMAGE_REFUSED_TRUNCATED);
}

/* A plain lossless file wrapped into the extended form with an EXIF chunk of orientation 8. */
static void orientation_is_applied_here_too(void **state)
{
    (void)state;
    enum { EXIF_BYTES = 8 + 26, EXTENDED = 30 };
    static const uint8_t exif[EXIF_BYTES] = {'E', 'X', 'I', 'F', 26, 0, 0,    0,    'I', 'I', 42, 0,
                                             8,   0,   0,   0,   1,  0, 0x12, 0x01, 3,   0,   1,  0,
                                             0,   0,   8,   0,   0,  0, 0,    0,    0,   0};
    uint8_t rgb[] = {1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 5, 5, 5, 6, 6, 6};
    struct test_bytes plain = test_webp(rgb, 2, 3, 3, true);
    size_t body = plain.size - 12;
    size_t size = EXTENDED + body + EXIF_BYTES;
    uint8_t *file = calloc(1, size);
    memcpy(file, "RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0\x08", 21);
    file[4] = (uint8_t)(size - 8);
    file[24] = 2; /* width - 1 */
    file[27] = 1; /* height - 1 */
    memcpy(file + EXTENDED, plain.data + 12, body);
    memcpy(file + EXTENDED + body, exif, EXIF_BYTES);
    struct nn_image image;
    assert_int_equal(nn_image_decode(file, size, NULL, &image, NULL, NULL), NN_OK);
    assert_int_equal(image.height, 3);
    assert_int_equal(image.width, 2);
    assert_int_equal(image.pixels[0], 3);
    assert_int_equal(image.pixels[3], 6);
    assert_int_equal(image.pixels[15], 4);
    nn_image_deinit(&image);
    free(file);
    free(plain.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lossless_is_exact),
        cmocka_unit_test(alpha_lies_on_white),
        cmocka_unit_test(animations_and_giants_are_refused),
        cmocka_unit_test(orientation_is_applied_here_too),
    };
    return cmocka_run_group_tests_name("webp", tests, NULL, NULL);
}
