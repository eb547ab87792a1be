/* SPDX-License-Identifier: MIT
 *
 * Maps and activations as pictures.
 */
#include "tests/support/cmocka_all.h"

#include <math.h>
#include <string.h>

#include "core/image/draw.h"

static double brightness(const uint8_t rgb[3])
{
    return 0.30 * rgb[0] + 0.59 * rgb[1] + 0.11 * rgb[2];
}

/* The property the scheme was made for: brightness is the value. */
static void colours_grow_evenly_in_brightness(void **state)
{
    (void)state;
    uint8_t rgb[3];
    for (int i = 0; i <= 100; i++) {
        nn_draw_colour(i / 100.0, rgb);
        assert_true(fabs(brightness(rgb) - 2.55 * i) < 2);
    }
    nn_draw_colour(-1, rgb);
    assert_true(rgb[0] == 0 && rgb[1] == 0 && rgb[2] == 0);
    nn_draw_colour(7, rgb);
    assert_true(rgb[0] == 255 && rgb[1] == 255 && rgb[2] == 255);
    nn_draw_colour(0.5, rgb); /* it is coloured: not all grey */
    assert_true(rgb[0] != rgb[1] || rgb[1] != rgb[2]);
}

static void maps_go_from_zero_to_the_largest(void **state)
{
    (void)state;
    const float map[4] = {0, 2, 4, NAN};
    const float nothing[4] = {0, -1, NAN, 0};
    uint8_t out[12], want[3];
    nn_draw_map(map, 2, 2, out);
    nn_draw_colour(0.5, want);
    assert_memory_equal(out + 3, want, 3);
    assert_true(out[0] == 0 && out[6] == 255 && out[9] == 0);
    nn_draw_map(nothing, 2, 2, out);
    for (size_t i = 0; i < 12; i++) {
        assert_int_equal(out[i], 0);
    }
}

static void overlays_keep_the_picture_where_the_map_is_zero(void **state)
{
    (void)state;
    const float map[2] = {0, 3};
    const uint8_t grey[2] = {40, 100};
    const uint8_t colours[6] = {255, 0, 0, 100, 100, 100};
    uint8_t out[6];
    nn_draw_overlay(map, grey, 1, 1, 2, out);
    assert_true(out[0] == 40 && out[1] == 40 && out[2] == 40);
    assert_true(out[3] == 178 && out[4] == 178 && out[5] == 178); /* half 100, half white */
    nn_draw_overlay(map, colours, 3, 1, 2, out);
    assert_true(out[0] == 76 && out[1] == 76 && out[2] == 76); /* 0.299 of 255 */
    assert_true(out[3] == 178);
}

static void tiles_show_each_channel_in_its_own_range(void **state)
{
    (void)state;
    /* 1 x 9 pixels, 2 channels: 0, 1, .. 8 and the same a thousand times smaller, falling */
    float values[18];
    struct nn_tiles tiles;
    static uint8_t out[4096];
    for (size_t i = 0; i < 9; i++) {
        values[2 * i] = (float)i;
        values[2 * i + 1] = (float)(8 - i) / 1000;
    }
    assert_int_equal(nn_draw_tiles_plan(1, 9, 2, &tiles, NULL), NN_OK);
    assert_true(tiles.columns == 2 && tiles.rows == 1 && tiles.scale == 8);
    assert_true(tiles.height == 8 && tiles.width == 2 * 9 * 8 + 1);
    nn_draw_tiles(&tiles, values, 1, 9, 2, out);
    assert_true(out[0] == 0 && out[8] == 32 && out[71] == 255);
    assert_true(out[72] == 0); /* the line between */
    assert_true(out[73] == 255 && out[144] == 0);
    assert_memory_equal(out, out + 7 * tiles.width, tiles.width);
}

static void vectors_are_tiles_in_one_range(void **state)
{
    (void)state;
    const float values[5] = {0, 1, 2, 3, 4};
    struct nn_tiles tiles;
    static uint8_t out[4096];
    assert_int_equal(nn_draw_tiles_plan(1, 1, 5, &tiles, NULL), NN_OK);
    assert_true(tiles.columns == 3 && tiles.rows == 2 && tiles.width == 26 && tiles.height == 17);
    nn_draw_tiles(&tiles, values, 1, 1, 5, out);
    assert_true(out[0] == 0 && out[9] == 64 && out[18] == 128);
    assert_true(out[9 * 26] == 191 && out[9 * 26 + 9] == 255);
    assert_int_equal(out[9 * 26 + 18], 0); /* no sixth channel */
}

static void huge_drawings_are_refused(void **state)
{
    (void)state;
    struct nn_tiles tiles = {.rows = 7};
    assert_int_equal(nn_draw_tiles_plan(10000, 10000, 3, &tiles, NULL), NN_ERR_LIMIT);
    assert_int_equal(nn_draw_tiles_plan(1, 1, SIZE_MAX, &tiles, NULL), NN_ERR_LIMIT);
    assert_int_equal(tiles.rows, 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(colours_grow_evenly_in_brightness),
        cmocka_unit_test(maps_go_from_zero_to_the_largest),
        cmocka_unit_test(overlays_keep_the_picture_where_the_map_is_zero),
        cmocka_unit_test(tiles_show_each_channel_in_its_own_range),
        cmocka_unit_test(vectors_are_tiles_in_one_range),
        cmocka_unit_test(huge_drawings_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
