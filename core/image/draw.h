/* SPDX-License-Identifier: MIT
 *
 * Numbers as pictures: a map as colours, a map over the picture it belongs to, a window of a signal
 * as a plot, an activation as tiles. Packed 8-bit pixels, for nn_image_encode_png. Values that are
 * not finite count as the lowest. Equal input gives equal bytes.
 */
#ifndef NN_IMAGE_DRAW_H
#define NN_IMAGE_DRAW_H

#include "core/base/base.h"

/* Colour of a value from 0 to 1 (beyond: clamped): Green's cubehelix (2011) with start 0.5,
 * rotations -1.5, hue 1, gamma 1. Its brightness grows evenly from black to white, so that the
 * order of values can be seen without colours too. */
void nn_draw_colour(double value, uint8_t out_rgb[3]);

/* height x width numbers, from 0 to the largest, to height x width x 3 pixels. A map without a
 * number above 0 is black. */
void nn_draw_map(const float *map, size_t height, size_t width, uint8_t *out_rgb);

/* The same over the picture's pixels (height x width x channels, 1 or 3): a pixel is the mean of
 * both where the map is at its largest, and the picture in grey where it is 0. */
void nn_draw_overlay(const float *map, const uint8_t *pixels, size_t channels, size_t height,
                     size_t width, uint8_t *out_rgb);

/* The first channel of a window, n samples x channels of finite values, black on white from its
 * lowest to its highest: in each column the range of its samples and of the step to them.
 * NN_PLOT_HEIGHT x NN_PLOT_WIDTH grey pixels. */
enum { NN_PLOT_HEIGHT = 128, NN_PLOT_WIDTH = 256 };
void nn_draw_plot(const float *values, size_t n, size_t channels, uint8_t *out_grey);
/* A map of n samples as one of the plot's size: each column is the largest of its samples. */
void nn_draw_plot_map(const float *map, size_t n, float *out_map);

/* An activation of height x width x channels numbers, channels last, as grey tiles, one for each
 * channel, in rows of ceil(sqrt(channels)), a black line of a pixel between them. Each tile goes
 * from its smallest (black) to its largest (white) number; of an activation without height and
 * width all go from the smallest to the largest of all. Small tiles are enlarged by a whole
 * factor to at least 8 pixels. */
struct nn_tiles {
    size_t columns, rows, scale;
    size_t height, width; /* of the drawing, grey */
};
/* NN_ERR_LIMIT: the drawing would have more than 64 million pixels. */
NN_MUST_CHECK enum nn_status nn_draw_tiles_plan(size_t height, size_t width, size_t channels,
                                                struct nn_tiles *out, struct nn_error *err);
void nn_draw_tiles(const struct nn_tiles *tiles, const float *values, size_t height, size_t width,
                   size_t channels, uint8_t *out_grey);

#endif
