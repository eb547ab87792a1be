/* SPDX-License-Identifier: MIT
 *
 * Resizing against the definition: a double sum over the whole image for every pixel.
 */
#include <math.h>
#include <stdlib.h>

#include "core/image/image.h"

#include "tests/support/cmocka_all.h"
#include "tests/support/pictures.h"

static double triangle(size_t x, double centre, double width)
{
    return fmax(0, 1 - fabs(((double)x + 0.5 - centre) / width));
}

/* One output pixel as the normalised sum over all input pixels of both triangles' product. */
static double reference(const struct nn_image *src, size_t height, size_t width, size_t y, size_t x,
                        size_t c)
{
    double scale_y = (double)src->height / (double)height;
    double scale_x = (double)src->width / (double)width;
    double sum = 0;
    double weights = 0;
    for (size_t i = 0; i < src->height; i++) {
        double wy = triangle(i, ((double)y + 0.5) * scale_y, fmax(1, scale_y));
        for (size_t j = 0; j < src->width; j++) {
            double w = wy * triangle(j, ((double)x + 0.5) * scale_x, fmax(1, scale_x));
            sum += w * src->pixels[(i * src->width + j) * src->channels + c];
            weights += w;
        }
    }
    return sum / weights;
}

static void check(size_t h, size_t w, size_t channels, size_t height, size_t width)
{
    struct nn_image src = {h, w, channels, malloc(h * w * channels), false};
    struct nn_image dst;
    uint32_t noise = 1;
    for (size_t i = 0; i < h * w * channels; i++) {
        noise = noise * 1664525 + 1013904223;
        src.pixels[i] = (uint8_t)(noise >> 24);
    }
    assert_int_equal(nn_image_resize(&src, height, width, &dst, NULL), NN_OK);
    assert_int_equal(dst.height, height);
    assert_int_equal(dst.width, width);
    assert_int_equal(dst.channels, channels);
    for (size_t i = 0; i < height * width * channels; i++) {
        size_t pixel = i / channels;
        double expected =
            reference(&src, height, width, pixel / width, pixel % width, i % channels);
        assert_true(fabs(dst.pixels[i] - expected) <= 1.001);
    }
    nn_image_deinit(&dst);
    nn_image_deinit(&src);
}

static void agrees_with_the_definition(void **state)
{
    (void)state;
    check(32, 32, 1, 28, 28);
    check(40, 61, 3, 16, 16);
    check(16, 16, 3, 37, 50);
    check(5, 40, 1, 40, 5);
    check(1, 1, 3, 4, 7);
    check(9, 1, 1, 1, 9);
    check(100, 3, 1, 1, 1);
}

static void keeps_flat_colours(void **state)
{
    (void)state;
    for (unsigned level = 0; level <= 255; level += 51) {
        uint8_t flat[30 * 17];
        for (size_t i = 0; i < sizeof flat; i++) {
            flat[i] = (uint8_t)level;
        }
        struct nn_image src = {30, 17, 1, flat, false};
        struct nn_image dst;
        assert_int_equal(nn_image_resize(&src, 11, 23, &dst, NULL), NN_OK);
        for (size_t i = 0; i < 11 * 23; i++) {
            assert_int_equal(dst.pixels[i], level);
        }
        nn_image_deinit(&dst);
    }
}

/* Without antialiasing a fine checkerboard would alias to black or white. */
static void fine_checks_become_grey(void **state)
{
    (void)state;
    uint8_t checks[64 * 64];
    for (size_t i = 0; i < sizeof checks; i++) {
        checks[i] = (i / 64 + i % 64) % 2 ? 255 : 0;
    }
    struct nn_image src = {64, 64, 1, checks, false};
    struct nn_image dst;
    assert_int_equal(nn_image_resize(&src, 16, 16, &dst, NULL), NN_OK);
    for (size_t i = 0; i < 256; i++) {
        assert_in_range(dst.pixels[i], 126, 129);
    }
    nn_image_deinit(&dst);
}

static void halves_by_hand(void **state)
{
    (void)state;
    /* 4 -> 2: weights of output 0 at x + 0.5 - 1 = -0.5, 0.5, 1.5 (of 2): 0.75, 0.75, 0.25 */
    uint8_t row[4] = {0, 100, 200, 250};
    struct nn_image src = {1, 4, 1, row, false};
    struct nn_image dst;
    assert_int_equal(nn_image_resize(&src, 1, 2, &dst, NULL), NN_OK);
    assert_int_equal(dst.pixels[0], 71);  /* (75 + 50) / 1.75 = 71.4 */
    assert_int_equal(dst.pixels[1], 207); /* (25 + 150 + 187.5) / 1.75 = 207.1 */
    nn_image_deinit(&dst);
}

static void refuses_nothing(void **state)
{
    (void)state;
    uint8_t pixel = 5;
    struct nn_image src = {1, 1, 1, &pixel, false};
    struct nn_image dst;
    assert_int_equal(nn_image_resize(&src, 0, 4, &dst, NULL), NN_ERR_INVALID);
    assert_int_equal(nn_image_resize(&src, SIZE_MAX / 2, 4, &dst, NULL), NN_ERR_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_the_definition),
        cmocka_unit_test(keeps_flat_colours),
        cmocka_unit_test(fine_checks_become_grey),
        cmocka_unit_test(halves_by_hand),
        cmocka_unit_test(refuses_nothing),
    };
    return cmocka_run_group_tests_name("resize", tests, NULL, NULL);
}
