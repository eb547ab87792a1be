/* SPDX-License-Identifier: MIT
 *
 * Colour jitter as one affine map of the channels. Grey is 0.299 R + 0.587 G + 0.114 B (Rec. 601);
 * hue is the angle in the plane of I and Q (NTSC), whose turn is linear, unlike that of HSV's.
 */
#include <math.h>
#include <string.h>

#include "core/data/augment_internal.h"

static const double GREY[3] = {0.299, 0.587, 0.114};

/* Mean grey of the image, from exact sums. */
static double mean_grey(const struct nn_augment_image *image, const uint8_t *src)
{
    size_t pixels = image->height * image->width, channels = image->channels;
    uint64_t sums[4] = {0};
    for (size_t i = 0; i < pixels; i++) {
        for (size_t c = 0; c < channels; c++) {
            sums[c] += src[i * channels + c];
        }
    }
    if (channels != 3) {
        return (double)sums[0] / (double)pixels;
    }
    double sum = 0;
    for (size_t c = 0; c < 3; c++) {
        sum += GREY[c] * (double)sums[c];
    }
    return sum / (double)pixels;
}

/* out = step * matrix, and the offset with it. */
static void then(struct nn_augment_colour *colour, double step[3][3])
{
    struct nn_augment_colour old = *colour;
    for (size_t r = 0; r < 3; r++) {
        colour->offset[r] = 0;
        for (size_t c = 0; c < 3; c++) {
            colour->offset[r] += step[r][c] * old.offset[c];
            colour->matrix[r][c] = 0;
            for (size_t k = 0; k < 3; k++) {
                colour->matrix[r][c] += step[r][k] * old.matrix[k][c];
            }
        }
    }
}

static void saturate(struct nn_augment_colour *colour, double factor)
{
    double step[3][3];
    for (size_t r = 0; r < 3; r++) {
        for (size_t c = 0; c < 3; c++) {
            step[r][c] = (1 - factor) * GREY[c] + (r == c ? factor : 0);
        }
    }
    then(colour, step);
}

/* To YIQ, turned, and back by the inverse of these very digits. */
static void turn(struct nn_augment_colour *colour, double hue)
{
    double to[3][3] = {{0.299, 0.587, 0.114}, {0.596, -0.274, -0.322}, {0.211, -0.523, 0.312}};
    double cosine = cos(2 * M_PI * hue), sine = sin(2 * M_PI * hue);
    double turned[3][3] = {{1, 0, 0}, {0, cosine, -sine}, {0, sine, cosine}};
    double determinant = 0, back[3][3];
    for (size_t r = 0; r < 3; r++) {
        for (size_t c = 0; c < 3; c++) { /* cofactors, transposed */
            size_t a = (r + 1) % 3, b = (r + 2) % 3, x = (c + 1) % 3, y = (c + 2) % 3;
            back[c][r] = to[a][x] * to[b][y] - to[a][y] * to[b][x];
        }
    }
    for (size_t c = 0; c < 3; c++) {
        determinant += to[0][c] * back[c][0];
    }
    for (size_t i = 0; i < 9; i++) {
        back[i / 3][i % 3] /= determinant;
    }
    then(colour, to);
    then(colour, turned);
    then(colour, back);
}

bool nn_augment_colour(const struct nn_augment_change *change, const struct nn_augment_image *image,
                       const uint8_t *src, struct nn_augment_colour *out)
{
    double level = change->brightness * change->contrast;
    bool coloured = image->channels == 3 && (change->saturation != 1 || change->hue != 0);
    if (change->brightness == 1 && change->contrast == 1 && !coloured) {
        return false;
    }
    *out = (struct nn_augment_colour){.matrix = {{level, 0, 0}, {0, level, 0}, {0, 0, level}}};
    if (change->contrast != 1) {
        double grey = (1 - change->contrast) * change->brightness * mean_grey(image, src);
        for (size_t c = 0; c < 3; c++) {
            out->offset[c] = grey;
        }
    }
    if (coloured && change->saturation != 1) {
        saturate(out, change->saturation);
    }
    if (coloured && change->hue != 0) {
        turn(out, change->hue);
    }
    return true;
}
