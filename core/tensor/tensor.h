/* SPDX-License-Identifier: MIT
 *
 * Every activation is a matrix of rows x channels with a leading dimension. This header names the
 * matrix (a view), what its rows stand for (a row layout) and the shape of one sample. Value types
 * only; owns and allocates nothing.
 */
#ifndef NN_TENSOR_TENSOR_H
#define NN_TENSOR_TENSOR_H

#include "core/base/base.h"

/* Element (row, channel) is data[row * ld + channel]; ld >= channels. Borrowed memory. */
struct nn_view {
    nn_real *data;
    size_t ld;
};

/* Columns from `first` on: how a concatenation's inputs share one matrix. */
static inline struct nn_view nn_view_columns(struct nn_view view, size_t first)
{
    return (struct nn_view){view.data + first, view.ld};
}

static inline struct nn_view nn_view_rows(struct nn_view view, size_t first)
{
    return (struct nn_view){view.data + first * view.ld, view.ld};
}

/* Shape of one sample: an image, or 1 x 1 x features. */
struct nn_shape {
    size_t height, width, channels;
};

bool nn_shape_equal(struct nn_shape a, struct nn_shape b);

/* height * width * channels; false, out untouched, when it does not fit. */
NN_MUST_CHECK bool nn_shape_count(struct nn_shape shape, size_t *out_count);

/* "28x28x20" or "10" for 1 x 1; always terminated. */
void nn_shape_text(struct nn_shape shape, char *out_text, size_t size);

/* What the rows of a matrix are. */
enum nn_layout {
    NN_LAYOUT_GRID,   /* batch x height x width, width fastest */
    NN_LAYOUT_PACKED, /* time-major: step t is rows starts[t] .. + active[t], a row each of the */
                      /* active[t] longest sequences, longest first: padding has no rows */
};

struct nn_rows {
    enum nn_layout layout;
    size_t batch;          /* samples or sequences */
    size_t height, width;  /* GRID */
    size_t steps;          /* PACKED: the longest sequence */
    const size_t *active;  /* PACKED: steps entries, not increasing; borrowed, as are the others */
    const size_t *starts;  /* PACKED: steps + 1 entries, the last one the number of rows */
    const size_t *samples; /* PACKED: batch entries: which sequence the k-th row of a step is of */
    const size_t *ranks;   /* PACKED: the inverse: of sequence i, the k */
};

/* Numbers of storage that nn_rows_pack needs for at most so many sequences and rows. */
size_t nn_rows_pack_count(size_t batch, size_t rows);

/* The packed layout of `batch` >= 1 sequences, each of lengths[i] >= 1 steps; equal lengths keep
 * their order. Borrows storage, not lengths. */
struct nn_rows nn_rows_pack(const size_t *lengths, size_t batch, size_t *storage);

/* The row of a step of a sequence in a packed layout. */
static inline size_t nn_rows_at(const struct nn_rows *rows, size_t sample, size_t step)
{
    return rows->starts[step] + rows->ranks[sample];
}

static inline struct nn_rows nn_rows_grid(size_t batch, size_t height, size_t width)
{
    return (struct nn_rows){
        .layout = NN_LAYOUT_GRID, .batch = batch, .height = height, .width = width};
}

/* Number of rows; sizes were checked when the layout was built. */
size_t nn_rows_count(const struct nn_rows *rows);

/* Counts rounded up to whole 64-byte lines: nn_real elements between two aligned pieces. */
size_t nn_padded_count(size_t count);

#endif
