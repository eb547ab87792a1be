/* SPDX-License-Identifier: MIT
 *
 * Antialiased bilinear resizing: one pass over the columns, one over the rows, with integer weights
 * so that the result is the same everywhere.
 *
 * Output pixel i of n looks at input position s = (i + 0.5) * m / n (m input pixels). Its weights
 * are the triangle max(0, 1 - |x + 0.5 - s| / f) with f = max(1, m / n), over the pixels x inside
 * the image, divided by their sum.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/image/image.h"

#define WEIGHT_BITS 22 /* 255 * 2^22 < 2^31 leaves room for the rounding of the weights */

/* Weights of all output positions along one axis: position i has count[i] weights from input
 * first[i] on, at weight[i * room]. */
struct axis {
    size_t *first;
    size_t *count;
    int32_t *weight;
    size_t room;
};

static void axis_deinit(struct axis *a)
{
    free(a->first);
    free(a->count);
    free(a->weight);
    *a = (struct axis){0};
}

static void fill_position(struct axis *a, size_t i, size_t m, double scale, double width)
{
    double centre = ((double)i + 0.5) * scale;
    double low = centre - width + 0.5;
    double high = centre + width + 0.5;
    size_t first = low > 0 ? (size_t)low : 0;
    size_t last = high < (double)m ? (size_t)high : m; /* one behind */
    double sum = 0;
    int32_t *weight = a->weight + i * a->room;
    for (size_t x = first; x < last; x++) {
        sum += fmax(0, 1 - fabs(((double)x + 0.5 - centre) / width));
    }
    for (size_t x = first; x < last; x++) {
        double w = fmax(0, 1 - fabs(((double)x + 0.5 - centre) / width)) / sum;
        weight[x - first] = (int32_t)(w * (1 << WEIGHT_BITS) + 0.5);
    }
    a->first[i] = first;
    a->count[i] = last - first;
}

static bool axis_init(struct axis *a, size_t m, size_t n)
{
    double scale = (double)m / (double)n;
    double width = fmax(1, scale);
    size_t cells;
    *a = (struct axis){.room = 2 * (size_t)ceil(width) + 1};
    if (!nn_size_mul(n, a->room, &cells)) {
        return false;
    }
    a->first = calloc(n, sizeof *a->first);
    a->count = calloc(n, sizeof *a->count);
    a->weight = calloc(cells, sizeof *a->weight);
    if (!a->first || !a->count || !a->weight) {
        axis_deinit(a);
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        fill_position(a, i, m, scale, width);
    }
    return true;
}

static uint8_t to_byte(int64_t sum)
{
    int64_t value = sum >> WEIGHT_BITS;
    return (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
}

/* dst[i * dst_step] = weighted sum of src[x * src_step], for one line of one channel. */
static void filter_line(const struct axis *a, size_t n, const uint8_t *src, size_t src_step,
                        uint8_t *dst, size_t dst_step)
{
    for (size_t i = 0; i < n; i++) {
        const uint8_t *from = src + a->first[i] * src_step;
        const int32_t *weight = a->weight + i * a->room;
        int64_t sum = (int64_t)1 << (WEIGHT_BITS - 1);
        for (size_t k = 0; k < a->count[i]; k++) {
            sum += (int64_t)from[k * src_step] * weight[k];
        }
        dst[i * dst_step] = to_byte(sum);
    }
}

/* rows x m x c -> rows x n x c */
static void filter_columns(const struct axis *a, const uint8_t *src, uint8_t *dst, size_t rows,
                           size_t m, size_t n, size_t c)
{
    for (size_t y = 0; y < rows; y++) {
        for (size_t k = 0; k < c; k++) {
            filter_line(a, n, src + y * m * c + k, c, dst + y * n * c + k, c);
        }
    }
}

/* m x cells -> n x cells; whole rows at a time, so that memory is read in order */
static void filter_rows(const struct axis *a, const uint8_t *src, uint8_t *dst, size_t n,
                        size_t cells, int32_t *sum)
{
    for (size_t i = 0; i < n; i++) {
        const int32_t *weight = a->weight + i * a->room;
        for (size_t j = 0; j < cells; j++) {
            sum[j] = 1 << (WEIGHT_BITS - 1);
        }
        for (size_t k = 0; k < a->count[i]; k++) {
            const uint8_t *row = src + (a->first[i] + k) * cells;
            for (size_t j = 0; j < cells; j++) {
                sum[j] += row[j] * weight[k];
            }
        }
        for (size_t j = 0; j < cells; j++) {
            dst[i * cells + j] = to_byte(sum[j]);
        }
    }
}

static bool resize(const struct nn_image *src, size_t height, size_t width, uint8_t *pixels)
{
    struct axis columns = {0};
    struct axis rows = {0};
    size_t c = src->channels;
    size_t cells = width * c;
    uint8_t *middle = malloc(src->height * cells);
    int32_t *sum = malloc(cells * sizeof *sum);
    bool ok = middle && sum && axis_init(&columns, src->width, width) &&
              axis_init(&rows, src->height, height);
    if (ok) {
        filter_columns(&columns, src->pixels, middle, src->height, src->width, width, c);
        filter_rows(&rows, middle, pixels, height, cells, sum);
    }
    axis_deinit(&rows);
    axis_deinit(&columns);
    free(middle);
    free(sum);
    return ok;
}

enum nn_status nn_image_resize(const struct nn_image *src, size_t height, size_t width,
                               struct nn_image *out_image, struct nn_error *err)
{
    size_t bytes;
    size_t middle;
    if (height == src->height && width == src->width) {
        return nn_image_to_channels(src, src->channels, out_image, err);
    }
    if (height == 0 || width == 0 || !nn_size_mul(height, width, &bytes) ||
        !nn_size_mul(bytes, 4 * src->channels, &bytes) ||
        !nn_size_mul(src->height, width * src->channels, &middle)) {
        return nn_fail(err, NN_ERR_INVALID, "cannot resize to %zu x %zu", height, width);
    }
    uint8_t *pixels = malloc(height * width * src->channels);
    if (!pixels || !resize(src, height, width, pixels)) {
        free(pixels);
        return nn_fail(err, NN_ERR_MEMORY, "no memory to resize to %zu x %zu", height, width);
    }
    *out_image = (struct nn_image){height, width, src->channels, pixels, src->sixteen_bit};
    return NN_OK;
}
