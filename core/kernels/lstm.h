/* SPDX-License-Identifier: MIT
 *
 * A layer of long short-term memory over a batch of sequences, packed time-major: step t is rows
 * starts[t] .. starts[t] + active[t], and its k-th row continues the k-th row of the step before.
 * Every sequence begins with state 0:
 *     z = x w_ih^T + b + h_before w_hh^T        [4 units], gates i, f, g, o one behind the other
 *     c = sigmoid(z_f) c_before + sigmoid(z_i) tanh(z_g),  h = sigmoid(z_o) tanh(c)
 * A row's result does not depend on the other rows of its step, to the bit.
 */
#ifndef NN_KERNELS_LSTM_H
#define NN_KERNELS_LSTM_H

#include "core/kernels/exec.h"

struct nn_lstm {
    size_t inputs, units;
    size_t steps;                      /* of the longest sequence, at least 1 */
    const size_t *active, *starts;     /* [steps], not increasing; [steps + 1], sums of active */
    const nn_real *w_ih, *w_hh, *bias; /* [4 units, inputs], [4 units, units], [4 units] or NULL */
    const nn_real *x;                  /* [rows, inputs] */
    size_t ldx;
    nn_real *gates, *c; /* [rows, 4 units], [rows, units], dense */
    nn_real *h;         /* [rows, units] */
    size_t ldh;
    nn_real *storage; /* nn_lstm_storage numbers, 64-byte aligned */
};

/* Numbers of storage for either direction with at most so many sequences and rows. */
size_t nn_lstm_storage(size_t inputs, size_t units, size_t sequences, size_t rows);

/* Writes gates (activated), c and h. */
void nn_lstm_forward(const struct nn_exec *exec, const struct nn_lstm *lstm);

/* Bytes of the exec's workspace for at most so many rows, backward. */
size_t nn_lstm_workspace(size_t units, size_t rows);

/* Of the loss by what a layer read. Gradients of parameters are added to, NULL: not wanted. */
struct nn_lstm_gradient {
    const nn_real *d_y; /* by h, [rows, units]; or, with last, by each sequence's last h */
    size_t ldd_y;
    const size_t *last; /* [sequences]: row of d_y of the k-th sequence; NULL: d_y has all rows */
    nn_real *d_x;       /* [rows, inputs] */
    size_t ldd_x;
    bool add_to_x; /* d_x is added to */
    nn_real *d_w_ih, *d_w_hh, *d_bias;
};

/* After the forward of the same batch, whose gates it overwrites. */
void nn_lstm_backward(const struct nn_exec *exec, const struct nn_lstm *lstm,
                      const struct nn_lstm_gradient *gradient);

#endif
