/* SPDX-License-Identifier: MIT
 *
 * Gates of a GRU as their formulas say: part of table_plain.c, behind lstm_plain.h.
 */
#ifndef NN_KERNELS_GRU_PLAIN_H
#define NN_KERNELS_GRU_PLAIN_H

#include "core/kernels/lstm_plain.h"

static void row_gru(const struct nn_cell_args *s)
{
    for (size_t e = 0; e < s->rows * s->units; e++) {
        size_t r = e / s->units, u = e % s->units;
        nn_real *gate = s->gates + r * s->ldg + u;
        nn_real before = s->before ? s->before[r * s->ldb + u] : 0;
        nn_real reset = sigmoid(gate[s->stride]), z = sigmoid(gate[2 * s->stride]);
        nn_real n = NN_TANH(gate[0] + reset * gate[3 * s->stride]);
        gate[0] = n;
        gate[s->stride] = reset;
        gate[2 * s->stride] = z;
        s->h[r * s->ldh + u] = n + z * (before - n);
    }
}

static void row_gru_gradient(const struct nn_cell_gradient_args *s)
{
    for (size_t k = 0; k < s->rows * s->units; k++) {
        size_t r = k / s->units, u = k % s->units;
        nn_real *gate = s->gates + r * s->ldg + u, *d_h = s->d_h + r * s->ldd + u;
        nn_real n = gate[0], reset = gate[s->stride];
        nn_real z = gate[2 * s->stride], a = gate[3 * s->stride];
        nn_real before = s->before ? s->before[r * s->ldb + u] : 0;
        nn_real d = *d_h + (s->d_y ? s->d_y[r * s->ldd_y + u] : 0);
        nn_real e = d * (1 - z) * (1 - n * n);
        gate[0] = e;
        gate[s->stride] = e * a * reset * (1 - reset);
        gate[2 * s->stride] = d * (before - n) * z * (1 - z);
        gate[3 * s->stride] = e * reset;
        *d_h = d * z;
    }
}

#endif
