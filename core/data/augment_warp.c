/* SPDX-License-Identifier: MIT
 *
 * One affine map with bilinear interpolation. The channels of a pixel, up to four, are one vector:
 * a pixel costs four loads of four bytes. Every sum is in one order, so the bits depend on no
 * instruction set.
 */
#include <string.h>

#include "core/data/augment_internal.h"

typedef float channels4 __attribute__((vector_size(16)));
typedef int32_t integers4 __attribute__((vector_size(16)));
typedef uint8_t bytes4 __attribute__((vector_size(4)));

/* What is the same for all pixels. */
struct sampler {
    const struct nn_augment_image *image;
    const uint8_t *src, *wide_end; /* from there on, four bytes are too many to read */
    channels4 column[4], offset, fill;
    bool coloured;
};

static channels4 load(const uint8_t *pixel)
{
    bytes4 bytes;
    memcpy(&bytes, pixel, sizeof bytes);
    return __builtin_convertvector(bytes, channels4);
}

static channels4 load_few(const uint8_t *pixel, size_t channels)
{
    uint8_t bytes[4] = {0};
    memcpy(bytes, pixel, channels);
    return load(bytes);
}

/* A sample whose neighbours within the image weigh `within` in all. */
static channels4 finish(const struct sampler *s, channels4 sample, float within)
{
    if (s->coloured) {
        sample = s->column[0] * sample[0] + s->column[1] * sample[1] + s->column[2] * sample[2] +
                 s->column[3] * sample[3] + s->offset * within;
    }
    return sample + s->fill * (1 - within);
}

/* a where the mask is set, else b. */
static channels4 choose(integers4 mask, channels4 a, channels4 b)
{
    return (channels4)(((integers4)a & mask) | ((integers4)b & ~mask));
}

static void store(uint8_t *dst, channels4 level, size_t channels)
{
    const channels4 none = {0}, full = {255, 255, 255, 255};
    level = choose(level > none, level, none);
    level = choose(level < full, level, full);
    integers4 rounded = __builtin_convertvector(level + 0.5F, integers4);
    bytes4 bytes = __builtin_convertvector(rounded, bytes4);
    uint8_t out[4];
    memcpy(out, &bytes, sizeof out);
    memcpy(dst, out, channels);
}

/* At the borders: neighbours that are not there have the fill value. */
static channels4 sample_border(const struct sampler *s, int32_t x, int32_t y, float right,
                               float below)
{
    const float weights[4] = {(1 - right) * (1 - below), right * (1 - below), (1 - right) * below,
                              right * below};
    const struct nn_augment_image *image = s->image;
    channels4 sum = {0};
    float within = 0;
    for (int i = 0; i < 4; i++) {
        int32_t column = x + (i & 1), row = y + (i >> 1);
        if (column >= 0 && row >= 0 && (size_t)column < image->width &&
            (size_t)row < image->height) {
            size_t pixel = (size_t)row * image->width + (size_t)column;
            sum += weights[i] * load_few(s->src + pixel * image->channels, image->channels);
            within += weights[i];
        }
    }
    return finish(s, sum, within);
}

static channels4 sample(const struct sampler *s, float x, float y)
{
    const struct nn_augment_image *image = s->image;
    int32_t column = (int32_t)x, row = (int32_t)y;
    column -= x < (float)column;
    row -= y < (float)row;
    float right = x - (float)column, below = y - (float)row;
    size_t line = image->width * image->channels;
    if (column < 0 || row < 0 || (size_t)column + 1 >= image->width ||
        (size_t)row + 1 >= image->height) {
        return sample_border(s, column, row, right, below);
    }
    const uint8_t *at = s->src + (size_t)row * line + (size_t)column * image->channels;
    if (at + line + image->channels >= s->wide_end) {
        return sample_border(s, column, row, right, below);
    }
    channels4 a = load(at), b = load(at + image->channels);
    channels4 c = load(at + line), d = load(at + line + image->channels);
    channels4 upper = a + right * (b - a), lower = c + right * (d - c);
    return finish(s, upper + below * (lower - upper), 1);
}

static struct sampler sampler_of(const struct nn_augment_warp *warp,
                                 const struct nn_augment_image *image, const uint8_t *src)
{
    size_t bytes = image->height * image->width * image->channels;
    struct sampler s = {.image = image, .src = src, .coloured = warp->colour != NULL};
    s.wide_end = src + (bytes > 3 ? bytes - 3 : 0);
    for (size_t c = 0; c < 4; c++) {
        s.fill[c] = (float)warp->fill[c];
        s.column[c][c] = 1;
    }
    for (size_t c = 0; s.coloured && c < 3; c++) {
        s.offset[c] = (float)warp->colour->offset[c];
        for (size_t r = 0; r < 3; r++) {
            s.column[c][r] = (float)warp->colour->matrix[r][c];
        }
    }
    return s;
}

/* Far outside is as far as needed: numbers stay small enough for an integer. */
static float limit(float x, size_t n)
{
    float high = (float)n + 1;
    return x < -2 ? -2 : x > high ? high : x;
}

void nn_augment_warp(const struct nn_augment_warp *warp, const struct nn_augment_image *image,
                     const uint8_t *src, uint8_t *dst)
{
    const double *m = warp->map;
    const struct sampler s = sampler_of(warp, image, src);
    for (size_t i = 0; i < image->height; i++) {
        double v = (double)i + 0.5;
        float x = (float)(m[0] * 0.5 + m[1] * v + m[2] - 0.5), x_step = (float)m[0];
        float y = (float)(m[3] * 0.5 + m[4] * v + m[5] - 0.5), y_step = (float)m[3];
        for (size_t j = 0; j < image->width; j++) {
            channels4 level = sample(&s, limit(x + (float)j * x_step, image->width),
                                     limit(y + (float)j * y_step, image->height));
            store(dst + (i * image->width + j) * image->channels, level, image->channels);
        }
    }
}
