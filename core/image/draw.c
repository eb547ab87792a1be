/* SPDX-License-Identifier: MIT
 *
 * Drawing of maps and activations.
 */
#include "core/image/draw.h"

#include <math.h>
#include <string.h>

#define TILE_MIN   8
#define PIXELS_MAX ((size_t)64000000)

static uint8_t level(double value)
{
    double scaled = value * 255 + 0.5;
    return scaled >= 255 ? 255 : scaled > 0 ? (uint8_t)scaled : 0;
}

/* D. A. Green, "A colour scheme for the display of astronomical intensity images" (2011), eq. 2. */
void nn_draw_colour(double value, uint8_t out_rgb[3])
{
    static const double START = 0.5, ROTATIONS = -1.5, HUE = 1;
    double v = value > 1 ? 1 : value > 0 ? value : 0;
    double angle = 2 * M_PI * (START / 3 + 1 + ROTATIONS * v);
    double amplitude = HUE * v * (1 - v) / 2;
    double c = cos(angle), s = sin(angle);
    out_rgb[0] = level(v + amplitude * (-0.14861 * c + 1.78277 * s));
    out_rgb[1] = level(v + amplitude * (-0.29227 * c - 0.90649 * s));
    out_rgb[2] = level(v + amplitude * (1.97294 * c));
}

static double largest_of(const float *values, size_t n)
{
    double largest = 0;
    for (size_t i = 0; i < n; i++) {
        largest = isfinite(values[i]) && (double)values[i] > largest ? (double)values[i] : largest;
    }
    return largest;
}

static double share_of(float value, double largest)
{
    return largest > 0 && isfinite(value) && value > 0 ? (double)value / largest : 0;
}

void nn_draw_map(const float *map, size_t height, size_t width, uint8_t *out_rgb)
{
    double largest = largest_of(map, height * width);
    for (size_t i = 0; i < height * width; i++) {
        nn_draw_colour(share_of(map[i], largest), out_rgb + 3 * i);
    }
}

void nn_draw_overlay(const float *map, const uint8_t *pixels, size_t channels, size_t height,
                     size_t width, uint8_t *out_rgb)
{
    double largest = largest_of(map, height * width);
    for (size_t i = 0; i < height * width; i++) {
        const uint8_t *p = pixels + channels * i;
        double grey = channels == 3 ? 0.299 * p[0] + 0.587 * p[1] + 0.114 * p[2] : p[0];
        double share = share_of(map[i], largest);
        uint8_t colour[3];
        nn_draw_colour(share, colour);
        for (size_t c = 0; c < 3; c++) {
            double part = share / 2;
            out_rgb[3 * i + c] = level((grey * (1 - part) + colour[c] * part) / 255);
        }
    }
}

/* ---- tiles ---- */

static size_t root_of(size_t n)
{
    size_t root = 1;
    while (root * root < n) {
        root++;
    }
    return root;
}

enum nn_status nn_draw_tiles_plan(size_t height, size_t width, size_t channels,
                                  struct nn_tiles *out, struct nn_error *err)
{
    size_t side = height < width ? height : width;
    NN_ASSERT(height > 0 && width > 0 && channels > 0);
    if (height > PIXELS_MAX || width > PIXELS_MAX || channels > PIXELS_MAX) {
        return nn_fail(err, NN_ERR_LIMIT, "the activation is too large to be drawn");
    }
    struct nn_tiles tiles = {.columns = root_of(channels),
                             .scale = side < TILE_MIN ? (TILE_MIN + side - 1) / side : 1};
    size_t pixels;
    tiles.rows = (channels + tiles.columns - 1) / tiles.columns;
    tiles.height = tiles.rows * (height * tiles.scale + 1) - 1;
    tiles.width = tiles.columns * (width * tiles.scale + 1) - 1;
    if (!nn_size_mul(tiles.height, tiles.width, &pixels) || pixels > PIXELS_MAX) {
        return nn_fail(err, NN_ERR_LIMIT, "the activation is too large to be drawn");
    }
    *out = tiles;
    return NN_OK;
}

struct range {
    double low, high;
};

/* Of count numbers that stand `stride` apart. */
static struct range range_of(const float *values, size_t count, size_t stride)
{
    struct range range = {INFINITY, -INFINITY};
    for (size_t i = 0; i < count; i++) {
        double value = (double)values[i * stride];
        if (isfinite(value)) {
            range.low = value < range.low ? value : range.low;
            range.high = value > range.high ? value : range.high;
        }
    }
    return range;
}

static uint8_t grey_of(float value, struct range range)
{
    return isfinite(value) && range.high > range.low
               ? level(((double)value - range.low) / (range.high - range.low))
               : 0;
}

void nn_draw_tiles(const struct nn_tiles *tiles, const float *values, size_t height, size_t width,
                   size_t channels, uint8_t *out_grey)
{
    bool flat = height * width == 1;
    struct range all = range_of(values, channels, 1);
    memset(out_grey, 0, tiles->height * tiles->width);
    for (size_t k = 0; k < channels; k++) {
        struct range range = flat ? all : range_of(values + k, height * width, channels);
        size_t top = k / tiles->columns * (height * tiles->scale + 1);
        size_t left = k % tiles->columns * (width * tiles->scale + 1);
        for (size_t y = 0; y < height * tiles->scale; y++) {
            uint8_t *row = out_grey + (top + y) * tiles->width + left;
            const float *from = values + y / tiles->scale * width * channels + k;
            for (size_t x = 0; x < width * tiles->scale; x++) {
                row[x] = grey_of(from[x / tiles->scale * channels], range);
            }
        }
    }
}
