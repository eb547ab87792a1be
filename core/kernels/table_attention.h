/* SPDX-License-Identifier: MIT
 *
 * Arguments of the table's attention rows; part of table.h. A tile: scores of some queries (rows)
 * and some keys (columns). Query r sees the first visible + r keys, or all of them when whole.
 */
#ifndef NN_KERNELS_TABLE_ATTENTION_H
#define NN_KERNELS_TABLE_ATTENTION_H

#include "core/base/base.h"

struct nn_attention_tile {
    size_t rows, columns;
    bool whole;
    long visible; /* may be below 0: the first queries see none of these keys */
};

/* One more tile of a softmax whose keys come in tiles, with max and sum [rows] so far:
 *     m = max(max, seen scores),  s = e^(s - m), 0 where unseen
 *     sum = sum * e^(max - m) + the sum of s,  o *= e^(max - m),  max = m
 * first: max, sum and o hold nothing yet and are written (o: zeros). */
struct nn_attention_softmax_args {
    struct nn_attention_tile tile;
    nn_real *s, *o, *max, *sum;
    size_t lds, ldo, o_columns;
    bool first;
};

/* s = e^(s - log_sum), 0 where unseen;  d_s = s * (d_s - dot);  log_sum and dot [rows]. */
struct nn_attention_gradient_args {
    struct nn_attention_tile tile;
    nn_real *s, *d_s;
    const nn_real *log_sum, *dot;
    size_t lds, ldd_s;
};

static inline size_t nn_attention_seen(const struct nn_attention_tile *tile, size_t row)
{
    long seen = tile->visible + (long)row;
    size_t count = seen > 0 ? (size_t)seen : 0;
    return tile->whole || count > tile->columns ? tile->columns : count;
}

#endif
