/* SPDX-License-Identifier: MIT
 *
 * Samples cut into segments that are hidden or shown as a whole.
 */
#include <math.h>

#include "core/explain/hiding_internal.h"

static size_t clamped(double wanted, size_t most)
{
    double whole = floor(wanted + 0.5);
    return whole < 1 ? 1 : whole > (double)most ? most : (size_t)whole;
}

size_t nn_segments_grid(size_t height, size_t width, size_t wanted, uint32_t *out)
{
    size_t most_rows = height < wanted ? height : wanted;
    size_t rows = clamped(sqrt((double)wanted * (double)height / (double)width), most_rows);
    size_t columns = clamped((double)wanted / (double)rows, width);
    for (size_t y = 0; y < height; y++) {
        for (size_t x = 0; x < width; x++) {
            out[y * width + x] = (uint32_t)(y * rows / height * columns + x * columns / width);
        }
    }
    return rows * columns;
}
