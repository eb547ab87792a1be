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
    switch (rows->layout) {
    case NN_LAYOUT_GRID:
        return rows->batch * rows->height * rows->width;
    case NN_LAYOUT_PACKED:
        return rows->starts[rows->steps];
    }
    return 0;
}

size_t nn_rows_pack_count(size_t batch, size_t rows)
{
    return 2 * (rows + 1) + 2 * batch;
}

/* out[t] = number of sequences longer than t, for t up to steps, where it is 0. */
static void count_active(const size_t *lengths, size_t batch, size_t steps, size_t *out)
{
    for (size_t t = 0; t <= steps; t++) {
        out[t] = 0;
    }
    for (size_t i = 0; i < batch; i++) {
        out[lengths[i] - 1]++;
    }
    for (size_t t = steps; t-- > 0;) {
        out[t] += out[t + 1];
    }
}

/* Sequences of length L come behind the active[L] longer ones, so counting sorts them. */
struct nn_rows nn_rows_pack(const size_t *lengths, size_t batch, size_t *storage)
{
    size_t steps = 0;
    for (size_t i = 0; i < batch; i++) {
        steps = lengths[i] > steps ? lengths[i] : steps;
    }
    size_t *active = storage, *starts = active + steps + 1;
    size_t *samples = starts + steps + 1, *ranks = samples + batch;
    count_active(lengths, batch, steps, active);
    for (size_t t = 0; t <= steps; t++) {
        starts[t] = active[t]; /* for now, where the next sequence of that length goes */
    }
    for (size_t i = 0; i < batch; i++) {
        ranks[i] = starts[lengths[i]]++;
        samples[ranks[i]] = i;
    }
    starts[0] = 0;
    for (size_t t = 0; t < steps; t++) {
        starts[t + 1] = starts[t] + active[t];
    }
    return (struct nn_rows){.layout = NN_LAYOUT_PACKED,
                            .batch = batch,
                            .steps = steps,
                            .active = active,
                            .starts = starts,
                            .samples = samples,
                            .ranks = ranks};
}

size_t nn_padded_count(size_t count)
{
    size_t line = 64 / sizeof(nn_real);
    return (count + line - 1) / line * line;
}
