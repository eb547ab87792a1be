/* SPDX-License-Identifier: MIT
 *
 * Arguments of the table's rows of recurrent cells; part of table.h. One step of some sequences
 * (rows) for some units. Column q of unit u stands at gates[r * ldg + q * stride + u].
 */
#ifndef NN_KERNELS_TABLE_RECURRENCE_H
#define NN_KERNELS_TABLE_RECURRENCE_H

#include "core/kernels/exec.h"

/* lstm: columns hold sums and become i, f, o = sigmoid, g = tanh of them, in the order i, f, g, o;
 * c = f * before + i * g (before is c of the step before; NULL: 0);  h = o * tanh(c).
 * gru: columns hold the sums of n (without its recurrent part), r, z, and that part, a. With
 * r, z = sigmoid, n = tanh(its sum + r * a) they become n, r, z, a, and
 * h = n + z * (before - n) (before is h of the step before; NULL: 0). c is not used. */
struct nn_cell_args {
    size_t rows, units, stride;
    nn_real *gates, *c, *h;
    const nn_real *before;
    size_t ldg, ldc, ldh, ldb;
};

/* lstm_gradient: with d = d_h + d_y (d_y NULL: 0) and e = d_c + d * o * (1 - tanh(c)^2):
 *     d_o = d * tanh(c) * o (1 - o),  d_i = e * g * i (1 - i),  d_f = e * before * f (1 - f),
 *     d_g = e * i * (1 - g^2)
 * take the places of the gates, and d_c becomes e * f, for the step before.
 * gru_gradient: with d likewise and e = d * (1 - z) * (1 - n^2):
 *     d_n = e,  d_r = e * a * r (1 - r),  d_z = d * (before - n) * z (1 - z),  d_a = e * r
 * take the places of n, r, z, a, and d_h becomes d * z. c and d_c are not used. */
struct nn_cell_gradient_args {
    size_t rows, units, stride;
    nn_real *gates, *d_c, *d_h;
    const nn_real *c, *before, *d_y;
    size_t ldg, ldc, ldd, ldb, ldd_y; /* ldd: of d_c and d_h */
};

#endif
