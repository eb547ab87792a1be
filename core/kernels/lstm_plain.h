/* SPDX-License-Identifier: MIT
 *
 * Gates of an LSTM as their formulas say: part of table_plain.c.
 */
#ifndef NN_KERNELS_LSTM_PLAIN_H
#define NN_KERNELS_LSTM_PLAIN_H

#include <math.h>

#include "core/kernels/table_recurrence.h"

#ifdef NN_REAL_DOUBLE
#define NN_TANH(x)         tanh(x)
#define NN_EXP_NEGATIVE(x) exp(-(x))
#else
#define NN_TANH(x)         tanhf(x)
#define NN_EXP_NEGATIVE(x) expf(-(x))
#endif

static nn_real sigmoid(nn_real x)
{
    return 1 / (1 + NN_EXP_NEGATIVE(x));
}

static void row_lstm(const struct nn_cell_args *s)
{
    for (size_t e = 0; e < s->rows * s->units; e++) {
        size_t r = e / s->units, u = e % s->units;
        nn_real *gate = s->gates + r * s->ldg + u;
        nn_real i = sigmoid(gate[0]), f = sigmoid(gate[s->stride]);
        nn_real g = NN_TANH(gate[2 * s->stride]), o = sigmoid(gate[3 * s->stride]);
        nn_real c = i * g + (s->before ? f * s->before[r * s->ldb + u] : 0);
        gate[0] = i;
        gate[s->stride] = f;
        gate[2 * s->stride] = g;
        gate[3 * s->stride] = o;
        s->c[r * s->ldc + u] = c;
        s->h[r * s->ldh + u] = o * NN_TANH(c);
    }
}

static void row_lstm_gradient(const struct nn_cell_gradient_args *s)
{
    for (size_t k = 0; k < s->rows * s->units; k++) {
        size_t r = k / s->units, u = k % s->units;
        nn_real *gate = s->gates + r * s->ldg + u, *d_c = s->d_c + r * s->ldd + u;
        nn_real i = gate[0], f = gate[s->stride];
        nn_real g = gate[2 * s->stride], o = gate[3 * s->stride];
        nn_real t = NN_TANH(s->c[r * s->ldc + u]);
        nn_real d = s->d_h[r * s->ldd + u] + (s->d_y ? s->d_y[r * s->ldd_y + u] : 0);
        nn_real before = s->before ? s->before[r * s->ldb + u] : 0;
        nn_real e = *d_c + d * o * (1 - t * t);
        gate[0] = e * g * i * (1 - i);
        gate[s->stride] = e * before * f * (1 - f);
        gate[2 * s->stride] = e * i * (1 - g * g);
        gate[3 * s->stride] = d * t * o * (1 - o);
        *d_c = e * f;
    }
}

#endif
