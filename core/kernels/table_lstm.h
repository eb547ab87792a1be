/* SPDX-License-Identifier: MIT
 *
 * Arguments of the table's LSTM rows; part of table.h. One step of some sequences (rows) for some
 * units. Gate g (0 input, 1 forget, 2 cell, 3 output) of unit u stands at
 * gates[r * ldg + g * stride + u].
 */
#ifndef NN_KERNELS_TABLE_LSTM_H
#define NN_KERNELS_TABLE_LSTM_H

#include "core/kernels/exec.h"

/* gates hold sums and become i, f, o = sigmoid, g = tanh of them;
 * c = f * c_before + i * g (c_before NULL: 0);  h = o * tanh(c). */
struct nn_lstm_args {
    size_t rows, units, stride;
    nn_real *gates, *c, *h;
    const nn_real *c_before;
    size_t ldg, ldc, ldh;
};

/* With d = d_h + d_y (d_y NULL: 0) and e = d_c + d * o * (1 - tanh(c)^2):
 *     d_o = d * tanh(c) * o (1 - o),  d_i = e * g * i (1 - i),  d_f = e * c_before * f (1 - f),
 *     d_g = e * i * (1 - g^2)
 * take the places of the gates, and d_c becomes e * f, for the step before. */
struct nn_lstm_gradient_args {
    size_t rows, units, stride;
    nn_real *gates, *d_c;
    const nn_real *c, *c_before, *d_h, *d_y;
    size_t ldg, ldc, ldd, ldd_y; /* ldd: of d_c and d_h */
};

#endif
