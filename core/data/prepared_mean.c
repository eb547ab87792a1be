/* SPDX-License-Identifier: MIT
 *
 * The mean of each channel over items of a prepared set.
 */
#include <string.h>

#include "core/data/prepared.h"

enum { LANES = 32, PIXEL_CHANNELS_MAX = 3 };

/* Sums of bytes side by side, so that the compiler can make vectors of them: a lane holds what is
 * LANES pixels apart. */
static void add_pixels(const uint8_t *pixels, size_t bytes, size_t channels, uint64_t *sums)
{
    uint32_t lanes[LANES * PIXEL_CHANNELS_MAX] = {0};
    size_t width = LANES * channels, at = 0;
    for (; at + width <= bytes; at += width) {
        for (size_t j = 0; j < width; j++) {
            lanes[j] += pixels[at + j];
        }
    }
    for (; at < bytes; at++) {
        sums[at % channels] += pixels[at];
    }
    for (size_t j = 0; j < width; j++) {
        sums[j % channels] += lanes[j];
    }
}

static void mean_of_pixels(const struct nn_prepared *prepared, const uint32_t *items, size_t count,
                           double *out)
{
    const struct nn_prepared_info *info = nn_prepared_info(prepared);
    size_t places = info->height * info->width;
    uint64_t sums[PIXEL_CHANNELS_MAX] = {0};
    for (size_t i = 0; i < count; i++) {
        add_pixels(nn_prepared_pixels(prepared, items[i]), places * info->channels, info->channels,
                   sums);
    }
    for (size_t c = 0; c < info->channels; c++) {
        out[c] = (double)sums[c] / ((double)count * (double)places);
    }
}

/* In double, in the order of the items. */
static void mean_of_values(const struct nn_prepared *prepared, const uint32_t *items, size_t count,
                           double *out)
{
    const struct nn_prepared_info *info = nn_prepared_info(prepared);
    size_t places = info->height * info->width;
    memset(out, 0, info->channels * sizeof *out);
    for (size_t i = 0; i < count; i++) {
        const float *values = nn_prepared_values(prepared, items[i]);
        for (size_t t = 0; t < places; t++) {
            for (size_t c = 0; c < info->channels; c++) {
                out[c] += (double)values[t * info->channels + c];
            }
        }
    }
    for (size_t c = 0; c < info->channels; c++) {
        out[c] /= (double)count * (double)places;
    }
}

void nn_prepared_mean(const struct nn_prepared *prepared, const uint32_t *items, size_t count,
                      double out[NN_SIGNAL_CHANNELS_MAX])
{
    NN_ASSERT(count > 0);
    if (nn_prepared_info(prepared)->value_bytes == 1) {
        mean_of_pixels(prepared, items, count, out);
    } else {
        mean_of_values(prepared, items, count, out);
    }
}
