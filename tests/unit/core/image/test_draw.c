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

/* 512 samples of two channels: two in a column; the second channel is not drawn. */
static void plots_show_the_range_of_each_column(void **state)
{
    (void)state;
    enum { N = 2 * NN_PLOT_WIDTH, LOWEST = NN_PLOT_HEIGHT - 1 };
    static float values[2 * N], map[N], wide[NN_PLOT_HEIGHT * NN_PLOT_WIDTH];
    static uint8_t plot[NN_PLOT_HEIGHT * NN_PLOT_WIDTH];
    for (size_t t = 0; t < N; t++) {
        values[2 * t] = t < N / 2 ? -1 : 1;
        values[2 * t + 1] = 1e6f;
        map[t] = t == 101 ? 5 : t == 200 ? -3 : -4;
    }
    nn_draw_plot(values, N, 2, plot);
    assert_true(plot[0] == 255 && plot[LOWEST * NN_PLOT_WIDTH] == 0);
    assert_true(plot[NN_PLOT_WIDTH - 1] == 0 && plot[NN_PLOT_WIDTH * NN_PLOT_HEIGHT - 1] == 255);
    for (size_t y = 0; y < NN_PLOT_HEIGHT; y++) { /* the step between the halves */
        assert_int_equal(plot[y * NN_PLOT_WIDTH + NN_PLOT_WIDTH / 2], 0);
    }
    nn_draw_plot_map(map, N, wide);
    for (size_t x = 0; x < NN_PLOT_WIDTH; x++) {
        float want = x == 50 ? 5 : x == 100 ? -3 : -4;
        assert_memory_equal(&wide[x], &want, sizeof want);
        assert_memory_equal(&wide[LOWEST * NN_PLOT_WIDTH + x], &want, sizeof want);
    }
    nn_draw_plot_map(map + 100, 2, wide); /* fewer samples than columns */
    assert_true(wide[127] < 0 && wide[128] > 4);
    values[2] = values[0] = 3; /* a flat line stands in the middle */
    nn_draw_plot(values, 2, 2, plot);
    assert_int_equal(plot[64 * NN_PLOT_WIDTH + 9], 0);
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
        cmocka_unit_test(plots_show_the_range_of_each_column),
        cmocka_unit_test(huge_drawings_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
