/* SPDX-License-Identifier: MIT
 *
 * JPEG: colours, polarity of inks, orientation, and files made to hurt.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "core/image/image.h"

#include "tests/support/cmocka_all.h"
#include "tests/support/pictures.h"

static struct nn_image decode(struct test_bytes file)
{
    struct nn_image image = {0};
    struct nn_error err = {0};
    if (nn_image_decode(file.data, file.size, NULL, &image, NULL, &err) != NN_OK) {
        fail_msg("%s", err.text);
    }
    free(file.data);
    return image;
}

static void assert_near(const uint8_t *a, const uint8_t *b, size_t n, int tolerance)
{
    for (size_t i = 0; i < n; i++) {
        int difference = a[i] - b[i];
        assert_in_range(difference + tolerance, 0, 2 * tolerance);
    }
}

static void grey_stays_one_channel(void **state)
{
    (void)state;
    uint8_t *grey = test_pattern(20, 30, 1, 3);
    struct nn_image image = decode(test_jpeg(grey, 20, 30, 1, NULL));
    assert_int_equal(image.channels, 1);
    assert_int_equal(image.height, 20);
    assert_int_equal(image.width, 30);
    assert_near(image.pixels, grey, 600, 4);
    nn_image_deinit(&image);
    free(grey);
}

static void colours_keep_their_order(void **state)
{
    (void)state;
    uint8_t flat[16 * 16 * 3];
    for (size_t i = 0; i < sizeof flat; i += 3) {
        memcpy(flat + i, "\xf0\x50\x10", 3);
    }
    struct test_jpeg_options progressive = {.progressive = true};
    struct nn_image image = decode(test_jpeg(flat, 16, 16, 3, NULL));
    assert_int_equal(image.channels, 3);
    assert_near(image.pixels, flat, sizeof flat, 4);
    nn_image_deinit(&image);
    image = decode(test_jpeg(flat, 16, 16, 3, &progressive));
    assert_near(image.pixels, flat, sizeof flat, 4);
    nn_image_deinit(&image);
}

/* Stored samples and the colour they mean: with Adobe's marker 255 is no ink. */
static void check_cmyk(const uint8_t stored[4], bool adobe, bool ycck, const uint8_t rgb[3])
{
    uint8_t flat[16 * 16 * 4];
    for (size_t i = 0; i < sizeof flat; i += 4) {
        memcpy(flat + i, stored, 4);
    }
    struct test_jpeg_options options = {.quality = 100, .no_adobe = !adobe, .ycck = ycck};
    struct nn_image image = decode(test_jpeg(flat, 16, 16, 4, &options));
    assert_int_equal(image.channels, 3);
    for (size_t i = 0; i < 16 * 16; i++) {
        assert_near(image.pixels + 3 * i, rgb, 3, 4);
    }
    nn_image_deinit(&image);
}

static void case_a36_cmyk_has_the_right_polarity(void **state)
{
    (void)state;
    static const uint8_t orange[3] = {250, 120, 20};
    check_cmyk((const uint8_t[4]){250, 120, 20, 255}, true, false, orange);
    check_cmyk((const uint8_t[4]){250, 120, 20, 255}, true, true, orange);
    check_cmyk((const uint8_t[4]){5, 135, 235, 0}, false, false, orange);
    check_cmyk((const uint8_t[4]){255, 255, 255, 0}, true, false, (const uint8_t[3]){0, 0, 0});
    check_cmyk((const uint8_t[4]){0, 0, 0, 0}, false, false, (const uint8_t[3]){255, 255, 255});
    /* half the light left by the ink, half of that by the black */
    check_cmyk((const uint8_t[4]){128, 255, 255, 128}, true, false,
               (const uint8_t[3]){64, 128, 128});
}

/* The stored picture that looks upright under an orientation: pixel by pixel, by its definition. */
static uint8_t *store_turned(const uint8_t *upright, size_t h, size_t w, unsigned orientation)
{
    uint8_t *stored = malloc(h * w * 3);
    bool swap = orientation >= 5;
    for (size_t y = 0; y < h; y++) {
        for (size_t x = 0; x < w; x++) {
            size_t row = orientation == 3 || orientation == 4   ? h - 1 - y
                         : orientation == 1 || orientation == 2 ? y
                         : orientation == 6 || orientation == 7 ? w - 1 - x
                                                                : x;
            size_t column = orientation == 2 || orientation == 3   ? w - 1 - x
                            : orientation == 1 || orientation == 4 ? x
                            : orientation == 7 || orientation == 8 ? h - 1 - y
                                                                   : y;
            memcpy(stored + (row * (swap ? h : w) + column) * 3, upright + (y * w + x) * 3, 3);
        }
    }
    return stored;
}

static void check_orientation(unsigned written, unsigned meant)
{
    enum { H = 24, W = 40 };
    uint8_t *upright = test_pattern(H, W, 3, 2);
    uint8_t *stored = store_turned(upright, H, W, meant);
    bool swap = meant >= 5;
    struct test_jpeg_options options = {.quality = 100, .exif = written};
    struct test_bytes file =
        test_jpeg(stored, swap ? W : H, swap ? H : W, 3, written ? &options : NULL);
    struct nn_image_header header;
    assert_int_equal(nn_image_probe(file.data, file.size, NULL, &header, NULL, NULL), NN_OK);
    struct nn_image image = decode(file);
    assert_int_equal(image.height, H);
    assert_int_equal(image.width, W);
    assert_int_equal(header.height, H);
    assert_int_equal(header.width, W);
    assert_near(image.pixels, upright, (size_t)H * W * 3, 8);
    nn_image_deinit(&image);
    free(stored);
    free(upright);
}

static void case_a35_orientation_is_applied(void **state)
{
    (void)state;
    for (unsigned orientation = 1; orientation <= 8; orientation++) {
        check_orientation(orientation, orientation);
        check_orientation(100 + orientation, orientation); /* big endian */
    }
    check_orientation(9, 1);
    check_orientation(100, 1); /* a tag with value 0 */
    check_orientation(0, 1);   /* no tag */
}

/* SOI, SOF of the given size, SOS: nothing behind it. */
static size_t make_bare(uint8_t *out, uint8_t sof, unsigned height, unsigned width)
{
    static const uint8_t head[] = {0xff, 0xd8, 0xff, 0xc0, 0,    17, 8, 0,    0, 0,    0,    3,
                                   1,    0x11, 0,    2,    0x11, 0,  3, 0x11, 0, 0xff, 0xda, 0,
                                   12,   3,    1,    0,    2,    0,  3, 0,    0, 63,   0};
    memcpy(out, head, sizeof head);
    out[3] = sof;
    out[7] = (uint8_t)(height >> 8);
    out[8] = (uint8_t)height;
    out[9] = (uint8_t)(width >> 8);
    out[10] = (uint8_t)width;
    return sizeof head;
}

static enum nn_image_refusal refusal_of(const uint8_t *bytes, size_t size)
{
    struct nn_image image;
    enum nn_image_refusal refusal = NN_IMAGE_REFUSED_NONE;
    if (nn_image_decode(bytes, size, NULL, &image, &refusal, NULL) == NN_OK) {
        nn_image_deinit(&image);
    }
    return refusal;
}

/* B21: a few bytes that declare gigabytes, just over and just under the cap. */
static void case_b21_header_of_a_giant(void **state)
{
    (void)state;
    uint8_t file[64];
    struct rusage before;
    struct rusage after;
    getrusage(RUSAGE_SELF, &before);
    size_t n = make_bare(file, 0xc2, 65000, 65000);
    assert_int_equal(refusal_of(file, n), NN_IMAGE_REFUSED_TOO_LARGE);
    n = make_bare(file, 0xc2, 7000, 7000);
    assert_int_equal(refusal_of(file, n), NN_IMAGE_REFUSED_TRUNCATED);
    getrusage(RUSAGE_SELF, &after);
    assert_true(after.ru_maxrss - before.ru_maxrss < 16 << 10); /* KiB: a decoder, no picture */
    n = make_bare(file, 0xc0, 0, 100);
    assert_true(refusal_of(file, n) != NN_IMAGE_REFUSED_NONE);
    n = make_bare(file, 0xc3, 16, 16); /* lossless */
    assert_int_equal(refusal_of(file, n), NN_IMAGE_REFUSED_FORMAT);
    n = make_bare(file, 0xc9, 16, 16); /* arithmetic coding */
    assert_int_equal(refusal_of(file, n), NN_IMAGE_REFUSED_FORMAT);
}

/* Offset of the k-th start of scan. */
static size_t find_scan(const struct test_bytes *file, size_t k)
{
    for (size_t i = 0; i + 1 < file->size; i++) {
        if (file->data[i] == 0xff && file->data[i + 1] == 0xda && k-- == 0) {
            return i;
        }
    }
    fail_msg("no such scan");
    return 0;
}

/* B22: the first scan of a file repeated a thousand times. */
static void case_b22_a_thousand_scans(void **state)
{
    (void)state;
    enum { SIDE = 512, TIMES = 1000 };
    uint8_t *rgb = test_pattern(SIDE, SIDE, 3, 1);
    struct test_jpeg_options options = {.quality = 5, .scan_per_colour = true};
    struct test_bytes file = test_jpeg(rgb, SIDE, SIDE, 3, &options);
    assert_int_equal(refusal_of(file.data, file.size), NN_IMAGE_REFUSED_NONE);
    size_t from = find_scan(&file, 0);
    size_t length = find_scan(&file, 1) - from;
    struct test_bytes bomb = {malloc(file.size + TIMES * length), 0};
    memcpy(bomb.data, file.data, from);
    bomb.size = from;
    for (size_t i = 0; i < TIMES; i++) {
        memcpy(bomb.data + bomb.size, file.data + from, length);
        bomb.size += length;
    }
    memcpy(bomb.data + bomb.size, file.data + from, file.size - from);
    bomb.size += file.size - from;
    clock_t begin = clock();
    assert_int_equal(refusal_of(bomb.data, bomb.size), NN_IMAGE_REFUSED_TOO_MANY_SCANS);
    assert_true(clock() - begin < CLOCKS_PER_SEC);
    free(bomb.data);
    free(file.data);
    free(rgb);
}

static void odd_sizes(void **state)
{
    (void)state;
    static const size_t sizes[][2] = {{1, 1}, {1, 300}, {300, 1}, {17, 9}};
    for (size_t i = 0; i < 4; i++) {
        size_t h = sizes[i][0];
        size_t w = sizes[i][1];
        uint8_t *rgb = test_pattern(h, w, 3, 5);
        struct nn_image image = decode(test_jpeg(rgb, h, w, 3, NULL));
        assert_int_equal(image.height, h);
        assert_int_equal(image.width, w);
        nn_image_deinit(&image);
        free(rgb);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grey_stays_one_channel),
        cmocka_unit_test(colours_keep_their_order),
        cmocka_unit_test(case_a36_cmyk_has_the_right_polarity),
        cmocka_unit_test(case_a35_orientation_is_applied),
        cmocka_unit_test(case_b21_header_of_a_giant),
        cmocka_unit_test(case_b22_a_thousand_scans),
        cmocka_unit_test(odd_sizes),
    };
    return cmocka_run_group_tests_name("jpeg", tests, NULL, NULL);
}
