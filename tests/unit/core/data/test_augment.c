/* SPDX-License-Identifier: MIT
 *
 * core/data: augmentation: what happens to an image by hand, how often, and that it depends on
 * seed, epoch and item alone.
 */
#include "core/data/augment.h"

#include <string.h>

#include "tests/support/cmocka_all.h"

enum { H = 3, W = 4, C = 2, BYTES = H * W * C };

static void fill(uint8_t *image)
{
    for (size_t i = 0; i < BYTES; i++) {
        image[i] = (uint8_t)(i + 1);
    }
}

static void mirror(const uint8_t *image, uint8_t *out)
{
    for (size_t y = 0; y < H; y++) {
        for (size_t x = 0; x < W; x++) {
            memcpy(out + (y * W + x) * C, image + (y * W + W - 1 - x) * C, C);
        }
    }
}

static void a_reflection_is_one_or_the_other(void **state)
{
    (void)state;
    const struct nn_augmentation reflection = {.x_reflection = true};
    uint8_t image[BYTES], mirrored[BYTES], out[BYTES];
    size_t times = 0;
    fill(image);
    mirror(image, mirrored);
    for (uint64_t item = 0; item < 1000; item++) {
        const struct nn_augment_key key = {7, 3, item};
        nn_augment(&reflection, &key, image, out, H, W, C);
        bool is_mirrored = memcmp(out, mirrored, BYTES) == 0;
        assert_true(is_mirrored || memcmp(out, image, BYTES) == 0);
        times += is_mirrored;
    }
    assert_true(times > 430 && times < 570); /* 500 within 4.4 deviations */
}

/* The image moved down by y and right by x, black where nothing is left. */
static void move(const uint8_t *image, int y, int x, uint8_t *out)
{
    memset(out, 0, BYTES);
    for (int row = 0; row < H; row++) {
        for (int column = 0; column < W; column++) {
            int from_y = row - y, from_x = column - x;
            if (from_y >= 0 && from_y < H && from_x >= 0 && from_x < W) {
                memcpy(out + (row * W + column) * C, image + (from_y * W + from_x) * C, C);
            }
        }
    }
}

static void a_crop_moves_the_image_to_every_place(void **state)
{
    (void)state;
    const struct nn_augmentation crop = {.crop_padding = 2};
    uint8_t image[BYTES], moved[BYTES], out[BYTES];
    size_t seen[5][5] = {{0}};
    fill(image);
    for (uint64_t item = 0; item < 5000; item++) {
        const struct nn_augment_key key = {1, 0, item};
        size_t found = 0;
        nn_augment(&crop, &key, image, out, H, W, C);
        for (int place = 0; place < 25; place++) {
            move(image, place / 5 - 2, place % 5 - 2, moved);
            if (memcmp(out, moved, BYTES) == 0) {
                seen[place / 5][place % 5]++;
                found++;
            }
        }
        assert_int_equal(found, 1);
    }
    for (int place = 0; place < 25; place++) { /* 200 each, within 5 deviations */
        assert_true(seen[place / 5][place % 5] > 130 && seen[place / 5][place % 5] < 270);
    }
}

static void it_depends_on_seed_epoch_and_item_alone(void **state)
{
    (void)state;
    const struct nn_augmentation both = {.x_reflection = true, .crop_padding = 2};
    uint8_t image[BYTES], first[BYTES], again[BYTES];
    size_t differ[3] = {0};
    fill(image);
    for (uint64_t i = 0; i < 100; i++) {
        const struct nn_augment_key keys[] = {
            {i, 1, 1}, {i, 1, 1}, {i + 1, 1, 1}, {i, 2, 1}, {i, 1, 2}};
        nn_augment(&both, &keys[0], image, first, H, W, C);
        nn_augment(&both, &keys[1], image, again, H, W, C);
        assert_memory_equal(first, again, BYTES);
        for (size_t k = 0; k < 3; k++) {
            nn_augment(&both, &keys[2 + k], image, again, H, W, C);
            differ[k] += memcmp(first, again, BYTES) != 0;
        }
    }
    for (size_t k = 0; k < 3; k++) {
        assert_true(differ[k] > 80);
    }
}

/* What one option draws does not depend on whether the other is on. */
static void options_do_not_disturb_each_other(void **state)
{
    (void)state;
    const struct nn_augmentation crop = {.crop_padding = 1};
    const struct nn_augmentation both = {.x_reflection = true, .crop_padding = 1};
    uint8_t image[BYTES], mirrored[BYTES], a[BYTES], b[BYTES], c[BYTES];
    fill(image);
    mirror(image, mirrored);
    for (uint64_t item = 0; item < 50; item++) {
        const struct nn_augment_key key = {2, 9, item};
        nn_augment(&crop, &key, image, a, H, W, C);
        nn_augment(&crop, &key, mirrored, b, H, W, C);
        nn_augment(&both, &key, image, c, H, W, C);
        assert_true(memcmp(c, a, BYTES) == 0 || memcmp(c, b, BYTES) == 0);
    }
}

static void nothing_is_nothing(void **state)
{
    (void)state;
    const struct nn_augmentation none = {0};
    const struct nn_augment_key key = {1, 2, 3};
    uint8_t image[BYTES], out[BYTES];
    fill(image);
    assert_false(nn_augmentation_is_on(&none));
    nn_augment(&none, &key, image, out, H, W, C);
    assert_memory_equal(out, image, BYTES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_reflection_is_one_or_the_other),
        cmocka_unit_test(a_crop_moves_the_image_to_every_place),
        cmocka_unit_test(it_depends_on_seed_epoch_and_item_alone),
        cmocka_unit_test(options_do_not_disturb_each_other),
        cmocka_unit_test(nothing_is_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
