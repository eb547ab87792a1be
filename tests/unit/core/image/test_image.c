/* SPDX-License-Identifier: MIT
 *
 * What holds for every format: content decides, caps come first, half a picture is refused.
 */
#include "core/image/image.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/cmocka_all.h"
#include "tests/support/pictures.h"

static enum nn_image_refusal refusal_of(const void *bytes, size_t size)
{
    struct nn_image image = {0};
    struct nn_error err = {0};
    enum nn_image_refusal refusal = NN_IMAGE_REFUSED_NONE;
    enum nn_status status = nn_image_decode(bytes, size, NULL, &image, &refusal, &err);
    if (status == NN_OK) {
        assert_int_equal(refusal, NN_IMAGE_REFUSED_NONE);
        nn_image_deinit(&image);
    } else {
        assert_null(image.pixels);
        assert_true(err.text[0] != '\0');
    }
    return refusal;
}

/* A33: the name is never asked; formats that are not supported are refused by their own name. */
static void case_a33_content_decides(void **state)
{
    (void)state;
    static const uint8_t bmp[60] = {'B', 'M', 60, 0, 0, 0, 0, 0, 0, 0, 54};
    struct nn_image image;
    struct nn_error err = {0};
    assert_int_equal(nn_image_decode(bmp, sizeof bmp, NULL, &image, NULL, &err),
                     NN_ERR_NOT_SUPPORTED);
    assert_non_null(strstr(err.text, "BMP"));
    assert_int_equal(refusal_of("GIF89a1234567", 13), NN_IMAGE_REFUSED_FORMAT);
    assert_int_equal(refusal_of("II*\0\x08\0\0\0\0", 9), NN_IMAGE_REFUSED_FORMAT);
    assert_int_equal(refusal_of("MM\0*\0\0\0\x08\0", 9), NN_IMAGE_REFUSED_FORMAT);
    assert_int_equal(refusal_of("\0\0\0\x18"
                                "ftypheic0000",
                                16),
                     NN_IMAGE_REFUSED_FORMAT);
}

static void refuses_what_is_no_picture(void **state)
{
    (void)state;
    assert_int_equal(refusal_of("", 0), NN_IMAGE_REFUSED_EMPTY);
    assert_int_equal(refusal_of("x", 1), NN_IMAGE_REFUSED_NOT_AN_IMAGE);
    assert_int_equal(refusal_of("BMW is a text, not a bitmap", 27), NN_IMAGE_REFUSED_NOT_AN_IMAGE);
    assert_int_equal(refusal_of("RIFF1234WAVEfmt ", 16), NN_IMAGE_REFUSED_NOT_AN_IMAGE);
    assert_int_equal(refusal_of("\xff\xd8\xff", 3), NN_IMAGE_REFUSED_TRUNCATED);
    assert_int_equal(refusal_of("\x89PNG\r\n\x1a\n", 8), NN_IMAGE_REFUSED_TRUNCATED);
    assert_int_equal(refusal_of("RIFF\x10\0\0\0WEBP", 12), NN_IMAGE_REFUSED_TRUNCATED);
    assert_string_equal(nn_image_refusal_slug(NN_IMAGE_REFUSED_NOT_AN_IMAGE), "not_an_image");
    assert_string_equal(nn_image_refusal_slug((enum nn_image_refusal)99), "unknown");
}

enum { H = 40, W = 56, N_SAMPLES = 7 };

static size_t make_samples(struct test_bytes samples[N_SAMPLES])
{
    uint8_t *rgb = test_pattern(H, W, 3, 1);
    uint8_t *rgba = test_pattern(H, W, 4, 1);
    struct test_jpeg_options progressive = {.progressive = true};
    size_t n = 0;
    samples[n++] = test_jpeg(rgb, H, W, 3, NULL);
    samples[n++] = test_jpeg(rgb, H, W, 3, &progressive);
    samples[n++] = test_jpeg(rgba, H, W, 4, NULL);
    samples[n++] = test_png_simple(rgb, H, W, 3);
    samples[n++] = test_webp(rgb, H, W, 3, true);
    samples[n++] = test_webp(rgb, H, W, 3, false);
    samples[n++] = test_webp(rgba, H, W, 4, false);
    free(rgb);
    free(rgba);
    return n;
}

/* A32: every format cut at each tenth, and by one and 23 bytes, is refused, and never by a crash */
static void case_a32_cut_files_are_refused(void **state)
{
    (void)state;
    struct test_bytes samples[N_SAMPLES];
    size_t n = make_samples(samples);
    for (size_t i = 0; i < n; i++) {
        size_t size = samples[i].size;
        assert_int_equal(refusal_of(samples[i].data, size), NN_IMAGE_REFUSED_NONE);
        for (size_t tenth = 1; tenth < 10; tenth++) {
            /* an exact allocation, so that the sanitizer sees a read behind it */
            size_t cut = size * tenth / 10;
            uint8_t *copy = malloc(cut);
            memcpy(copy, samples[i].data, cut);
            enum nn_image_refusal refusal = refusal_of(copy, cut);
            /* less than a signature is no picture at all */
            assert_int_equal(refusal, cut < 12 && refusal == NN_IMAGE_REFUSED_NOT_AN_IMAGE
                                          ? NN_IMAGE_REFUSED_NOT_AN_IMAGE
                                          : NN_IMAGE_REFUSED_TRUNCATED);
            free(copy);
        }
        assert_int_equal(refusal_of(samples[i].data, size - 1), NN_IMAGE_REFUSED_TRUNCATED);
        assert_int_equal(refusal_of(samples[i].data, size - 23), NN_IMAGE_REFUSED_TRUNCATED);
        free(samples[i].data);
    }
}

/* One flipped byte anywhere: any answer but a crash or a wild size. */
static void survives_flipped_bytes(void **state)
{
    (void)state;
    struct test_bytes samples[N_SAMPLES];
    size_t n = make_samples(samples);
    for (size_t i = 0; i < n; i++) {
        size_t step = samples[i].size / 150 + 1;
        for (size_t at = 0; at < samples[i].size; at += step) {
            samples[i].data[at] ^= 0x5a;
            struct nn_image image = {0};
            if (nn_image_decode(samples[i].data, samples[i].size, NULL, &image, NULL, NULL) ==
                NN_OK) {
                assert_true(image.height * image.width <= 50000000);
                nn_image_deinit(&image);
            }
            samples[i].data[at] ^= 0x5a;
        }
        free(samples[i].data);
    }
}

static void caps_come_before_pixels(void **state)
{
    (void)state;
    struct test_bytes samples[N_SAMPLES];
    size_t n = make_samples(samples);
    struct nn_image_limits limits[3] = {
        {.max_side = W - 1}, {.max_pixels = H * W - 1}, {.max_side = W, .max_pixels = H * W}};
    for (size_t i = 0; i < n; i++) {
        struct nn_image image;
        enum nn_image_refusal refusal;
        for (size_t k = 0; k < 2; k++) {
            assert_int_equal(nn_image_decode(samples[i].data, samples[i].size, &limits[k], &image,
                                             &refusal, NULL),
                             NN_ERR_LIMIT);
            assert_int_equal(refusal, NN_IMAGE_REFUSED_TOO_LARGE);
        }
        assert_int_equal(
            nn_image_decode(samples[i].data, samples[i].size, &limits[2], &image, &refusal, NULL),
            NN_OK);
        nn_image_deinit(&image);
        free(samples[i].data);
    }
}

static void probe_agrees_with_decode(void **state)
{
    (void)state;
    struct test_bytes samples[N_SAMPLES];
    size_t n = make_samples(samples);
    for (size_t i = 0; i < n; i++) {
        struct nn_image_header header;
        assert_int_equal(
            nn_image_probe(samples[i].data, samples[i].size, NULL, &header, NULL, NULL), NN_OK);
        assert_int_equal(header.height, H);
        assert_int_equal(header.width, W);
        assert_int_equal(header.channels, 3);
        assert_int_equal(header.format, nn_image_sniff(samples[i].data, samples[i].size));
        free(samples[i].data);
    }
}

static void grey_becomes_colour_but_not_back(void **state)
{
    (void)state;
    uint8_t grey[2] = {7, 200};
    struct nn_image src = {1, 2, 1, grey, false};
    struct nn_image rgb;
    struct nn_image none;
    assert_int_equal(nn_image_to_channels(&src, 3, &rgb, NULL), NN_OK);
    assert_memory_equal(rgb.pixels, "\x07\x07\x07\xc8\xc8\xc8", 6);
    assert_int_equal(nn_image_to_channels(&rgb, 1, &none, NULL), NN_ERR_INVALID);
    nn_image_deinit(&rgb);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(case_a33_content_decides),
        cmocka_unit_test(refuses_what_is_no_picture),
        cmocka_unit_test(case_a32_cut_files_are_refused),
        cmocka_unit_test(survives_flipped_bytes),
        cmocka_unit_test(caps_come_before_pixels),
        cmocka_unit_test(probe_agrees_with_decode),
        cmocka_unit_test(grey_becomes_colour_but_not_back),
    };
    return cmocka_run_group_tests_name("image", tests, NULL, NULL);
}
