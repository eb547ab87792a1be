/* SPDX-License-Identifier: MIT
 *
 * Tiles of attention as their formulas say: part of table_plain.c.
 */
#ifndef NN_KERNELS_ATTENTION_PLAIN_H
#define NN_KERNELS_ATTENTION_PLAIN_H

#include "core/kernels/lstm_plain.h"
#include "core/kernels/table.h"

static void row_attention_softmax(const struct nn_attention_softmax_args *s)
{
    for (size_t r = 0; r < s->tile.rows; r++) {
        nn_real *p = s->s + r * s->lds, *o = s->o + r * s->ldo;
        size_t seen = nn_attention_seen(&s->tile, r);
        nn_real max = s->first ? p[0] : s->max[r];
        for (size_t c = 0; c < seen; c++) {
            max = p[c] > max ? p[c] : max;
        }
        nn_real factor = s->first ? 0 : NN_EXP_NEGATIVE(max - s->max[r]);
        double sum = s->first ? 0 : (double)(s->sum[r] * factor);
        for (size_t c = 0; c < s->tile.columns; c++) {
            p[c] = c < seen ? NN_EXP_NEGATIVE(max - p[c]) : 0;
            sum += (double)p[c];
        }
        for (size_t c = 0; c < s->o_columns; c++) {
            o[c] = s->first ? 0 : o[c] * factor;
        }
        s->max[r] = max;
        s->sum[r] = (nn_real)sum;
    }
}

static void row_attention_gradient(const struct nn_attention_gradient_args *s)
{
    for (size_t r = 0; r < s->tile.rows; r++) {
        nn_real *p = s->s + r * s->lds, *d = s->d_s + r * s->ldd_s;
        size_t seen = nn_attention_seen(&s->tile, r);
        for (size_t c = 0; c < s->tile.columns; c++) {
            p[c] = c < seen ? NN_EXP_NEGATIVE(s->log_sum[r] - p[c]) : 0;
            d[c] = c < seen ? p[c] * (d[c] - s->dot[r]) : 0;
        }
    }
}

#endif
