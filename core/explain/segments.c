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

struct nn_grid nn_segments_shape(size_t height, size_t width, size_t wanted)
{
    size_t most_rows = height < wanted ? height : wanted;
    size_t rows = clamped(sqrt((double)wanted * (double)height / (double)width), most_rows);
    return (struct nn_grid){rows, clamped((double)wanted / (double)rows, width)};
}

size_t nn_segments_grid(size_t height, size_t width, size_t wanted, uint32_t *out)
{
    struct nn_grid grid = nn_segments_shape(height, width, wanted);
    for (size_t y = 0; y < height; y++) {
        for (size_t x = 0; x < width; x++) {
            out[y * width + x] =
                (uint32_t)(y * grid.rows / height * grid.columns + x * grid.columns / width);
        }
    }
    return grid.rows * grid.columns;
}
