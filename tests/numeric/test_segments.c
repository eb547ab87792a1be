/* SPDX-License-Identifier: MIT
 *
 * What LIME hides one by one: cells of a grid, and superpixels, which are whole, one colour each
 * and the same again.
 */
#include "tests/support/cmocka_all.h"

#include <string.h>

#include "core/explain/hiding_internal.h"

static void grids_follow_the_shape(void **state)
{
    (void)state;
    uint32_t out[64 * 64];
    static const struct {
        size_t height, width, wanted, segments;
    } CASES[] = {{28, 28, 49, 49}, {1, 64, 49, 49}, {64, 1, 5, 5}, {64, 16, 16, 16},
                 {3, 3, 400, 9},   {2, 5, 2, 2},    {1, 1, 9, 1}};
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        size_t n = nn_segments_grid(CASES[i].height, CASES[i].width, CASES[i].wanted, out);
        size_t seen[400] = {0};
        assert_int_equal(n, CASES[i].segments);
        for (size_t k = 0; k < CASES[i].height * CASES[i].width; k++) {
            assert_true(out[k] < n);
            seen[out[k]]++;
        }
        for (size_t k = 0; k < n; k++) {
            assert_true(seen[k] > 0);
        }
    }
}

enum { SIDE = 40, SPOT = 12 }; /* a spot of that radius, on a ground whose left is darker */

static bool in_spot(size_t i)
{
    double y = (double)(i / SIDE) - 17, x = (double)(i % SIDE) - 22;
    return y * y + x * x < SPOT * SPOT;
}

static void draw_spot(uint8_t *pixels, size_t channels)
{
    for (size_t i = 0; i < SIDE * SIDE; i++) {
        for (size_t c = 0; c < channels; c++) {
            pixels[i * channels + c] = in_spot(i)            ? (uint8_t)(220 - 70 * c)
                                       : i % SIDE < SIDE / 2 ? 30
                                                             : 90;
        }
    }
}

/* Pixels of a segment that can be reached from its first. */
static size_t reached(const uint32_t *label, size_t first)
{
    bool seen[SIDE * SIDE] = {false};
    size_t queue[SIDE * SIDE], n = 1;
    queue[0] = first;
    seen[first] = true;
    for (size_t at = 0; at < n; at++) {
        for (size_t j = 0; j < SIDE * SIDE; j++) {
            size_t down = j > queue[at] ? j - queue[at] : queue[at] - j;
            bool beside = (down == SIDE) || (down == 1 && j / SIDE == queue[at] / SIDE);
            if (beside && !seen[j] && label[j] == label[first]) {
                seen[j] = true;
                queue[n++] = j;
            }
        }
    }
    return n;
}

static void check_segments(const uint8_t *pixels, size_t channels, const uint32_t *label, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        size_t first = SIDE * SIDE, size = 0, other = 0;
        for (size_t i = SIDE * SIDE; i-- > 0;) {
            first = label[i] == k ? i : first;
            size += label[i] == k ? 1 : 0;
        }
        assert_true(size > 0);
        for (size_t i = 0; i < SIDE * SIDE; i++) {
            other += label[i] == k && pixels[i * channels] != pixels[first * channels] ? 1 : 0;
        }
        assert_int_equal(other, 0); /* like colours alone */
        assert_int_equal(reached(label, first), size);
    }
}

static void superpixels_follow_colours(void **state)
{
    (void)state;
    static uint8_t pixels[SIDE * SIDE * 3];
    static uint32_t label[SIDE * SIDE], again[SIDE * SIDE], queue[SIDE * SIDE];
    static int32_t pieces[SIDE * SIDE];
    static double numbers[SIDE * SIDE * 6];
    const struct nn_superpixels_room room = {numbers, pieces, queue};
    assert_true(nn_superpixels_numbers(SIDE * SIDE, 49) <= SIDE * SIDE * 6);
    for (size_t channels = 1; channels <= 3; channels += 2) {
        draw_spot(pixels, channels);
        size_t n = nn_segments_superpixels(pixels, SIDE, SIDE, channels, 49, &room, label);
        assert_in_range(n, 30, 49);
        check_segments(pixels, channels, label, n);
        assert_int_equal(nn_segments_superpixels(pixels, SIDE, SIDE, channels, 49, &room, again),
                         n);
        assert_memory_equal(label, again, sizeof label);
    }
    memset(pixels, 7, sizeof pixels); /* nothing to follow: the grid, but for ties */
    size_t n = nn_segments_superpixels(pixels, SIDE, SIDE, 3, 16, &room, label);
    assert_int_equal(n, 16);
    for (size_t i = 0; i < SIDE * SIDE; i++) {
        assert_int_equal(label[i], i / SIDE / 10 * 4 + i % SIDE / 10);
    }
    pixels[0] = 200;
    assert_int_equal(nn_segments_superpixels(pixels, 1, 1, 3, 9, &room, label), 1);
    assert_int_equal(nn_segments_superpixels(pixels, 2, 3, 1, 400, &room, label), 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grids_follow_the_shape),
        cmocka_unit_test(superpixels_follow_colours),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
