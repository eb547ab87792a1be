/* SPDX-License-Identifier: MIT
 *
 * Windows of signals as pictures.
 */
#include <math.h>
#include <string.h>

#include "core/image/draw.h"

static size_t row_of(float value, float low, float high)
{
    double at = high > low ? ((double)high - (double)value) / ((double)high - (double)low) : 0.5;
    return (size_t)(at * (NN_PLOT_HEIGHT - 1) + 0.5);
}

void nn_draw_plot(const float *values, size_t n, size_t channels, uint8_t *out_grey)
{
    float low = values[0], high = values[0];
    for (size_t t = 0; t < n; t++) {
        low = values[t * channels] < low ? values[t * channels] : low;
        high = values[t * channels] > high ? values[t * channels] : high;
    }
    memset(out_grey, 255, (size_t)NN_PLOT_HEIGHT * NN_PLOT_WIDTH);
    for (size_t t = 0; t < n; t++) {
        size_t here = row_of(values[t * channels], low, high);
        size_t before = row_of(values[(t > 0 ? t - 1 : 0) * channels], low, high);
        size_t top = here < before ? here : before;
        size_t bottom = here < before ? before : here;
        size_t column = t * NN_PLOT_WIDTH / n;
        size_t columns = (t + 1) * NN_PLOT_WIDTH / n - column;
        for (size_t y = top; y <= bottom; y++) {
            memset(out_grey + y * NN_PLOT_WIDTH + column, 0, columns > 0 ? columns : 1);
        }
    }
}

void nn_draw_plot_map(const float *map, size_t n, float *out_map)
{
    for (size_t x = 0; x < NN_PLOT_WIDTH; x++) {
        size_t first = x * n / NN_PLOT_WIDTH;
        size_t end = (x + 1) * n / NN_PLOT_WIDTH;
        float largest = map[first];
        for (size_t t = first; t < end; t++) {
            largest = map[t] > largest || !isfinite(largest) ? map[t] : largest;
        }
        for (size_t y = 0; y < NN_PLOT_HEIGHT; y++) {
            out_map[y * NN_PLOT_WIDTH + x] = largest;
        }
    }
}
