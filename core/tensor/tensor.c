/* SPDX-License-Identifier: MIT
 *
 * Counts and texts of shapes and layouts.
 */
#include "core/tensor/tensor.h"

#include <stdio.h>

bool nn_shape_equal(struct nn_shape a, struct nn_shape b)
{
    return a.height == b.height && a.width == b.width && a.channels == b.channels;
}

bool nn_shape_count(struct nn_shape shape, size_t *out_count)
{
    size_t count;
    if (!nn_size_mul(shape.height, shape.width, &count) ||
        !nn_size_mul(count, shape.channels, &count)) {
        return false;
    }
    *out_count = count;
    return true;
}

void nn_shape_text(struct nn_shape shape, char *out_text, size_t size)
{
    if (shape.height == 1 && shape.width == 1) {
        (void)snprintf(out_text, size, "%zu", shape.channels);
    } else {
        (void)snprintf(out_text, size, "%zux%zux%zu", shape.height, shape.width, shape.channels);
    }
}

size_t nn_rows_count(const struct nn_rows *rows)
{
    size_t count = 0;
    switch (rows->layout) {
    case NN_LAYOUT_GRID:
        return rows->batch * rows->height * rows->width;
    case NN_LAYOUT_PACKED:
        for (size_t t = 0; t < rows->steps; t++) {
            count += rows->active[t];
        }
        return count;
    case NN_LAYOUT_RAGGED:
        return rows->offsets[rows->batch];
    }
    return count;
}

size_t nn_padded_count(size_t count)
{
    size_t line = 64 / sizeof(nn_real);
    return (count + line - 1) / line * line;
}
