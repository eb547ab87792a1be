/* SPDX-License-Identifier: MIT
 *
 * A recurrent layer over a batch of sequences, packed time-major: step t is rows starts[t] ..
 * starts[t] + active[t], and its k-th row continues the k-th row of the step before. Every sequence
 * begins with state 0. With the gates of a row one behind the other, `units` numbers each:
 *
 *   long short-term memory, weights of 4 gates i, f, g, o:
 *     z = x w_ih^T + b + h_before w_hh^T
 *     c = sigmoid(z_f) c_before + sigmoid(z_i) tanh(z_g),  h = sigmoid(z_o) tanh(c)
 *   gated recurrent unit, weights of 3 gates r, z, n (Cho et al. 2014, with the reset gate behind
 *   the recurrent product, as cuDNN and PyTorch have it):
 *     u = x w_ih^T + b,  v = h_before w_hh^T + b_hh
 *     r = sigmoid(u_r + v_r),  z = sigmoid(u_z + v_z),  n = tanh(u_n + r v_n)
 *     h = (1 - z) n + z h_before
 *
 * A row's result does not depend on the other rows of its step, to the bit.
 */
#ifndef NN_KERNELS_RECURRENCE_H
#define NN_KERNELS_RECURRENCE_H

#include "core/kernels/exec.h"

enum nn_cell_kind { NN_CELL_LSTM, NN_CELL_GRU };

/* Numbers that are kept of each unit of a row: i, f, g, o; or n, r, z, v_n. */
#define NN_CELL_COLUMNS ((size_t)4)

/* G: gates of the weights, nn_cell_gates. */
struct nn_recurrence {
    enum nn_cell_kind cell;
    size_t inputs, units;
    size_t steps;                      /* of the longest sequence, at least 1 */
    const size_t *active, *starts;     /* [steps], not increasing; [steps + 1], sums of active */
    const nn_real *w_ih, *w_hh, *bias; /* [G units, inputs], [G units, units], [G units] or NULL */
    const nn_real *bias_hh; /* [G units]; of a GRU, NULL if and only if bias is; of an LSTM NULL */
    const nn_real *x;       /* [rows, inputs] */
    size_t ldx;
    nn_real *gates, *c; /* [rows, NN_CELL_COLUMNS units]; LSTM: [rows, units]; dense */
    nn_real *h;         /* [rows, units] */
    size_t ldh;
    nn_real *storage; /* nn_recurrence_storage numbers, 64-byte aligned */
};

size_t nn_cell_gates(enum nn_cell_kind cell);

/* Numbers of storage for either direction of a pass with at most so many sequences and rows. */
size_t nn_recurrence_storage(size_t inputs, size_t units, size_t sequences, size_t rows);

/* Writes gates (activated), c and h. */
void nn_recurrence_forward(const struct nn_exec *exec, const struct nn_recurrence *layer);

/* Bytes of the exec's workspace for at most so many rows, backward. */
size_t nn_recurrence_workspace(size_t units, size_t rows);

/* Of the loss by what a layer read. Gradients of parameters are added to, NULL: not wanted. */
struct nn_recurrence_gradient {
    const nn_real *d_y; /* by h, [rows, units]; or, with last, by each sequence's last h */
    size_t ldd_y;
    const size_t *last; /* [sequences]: row of d_y of the k-th sequence; NULL: d_y has all rows */
    nn_real *d_x;       /* [rows, inputs] */
    size_t ldd_x;
    bool add_to_x; /* d_x is added to */
    nn_real *d_w_ih, *d_w_hh, *d_bias, *d_bias_hh;
};

/* After the forward of the same batch, whose gates it overwrites. */
void nn_recurrence_backward(const struct nn_exec *exec, const struct nn_recurrence *layer,
                            const struct nn_recurrence_gradient *gradient);

/* The rows of each sequence from its last step to its first, as a layer reads them that runs from
 * the end: the row of step t of a sequence of n steps is that of its step n - 1 - t. out (+)= in,
 * which may not overlap; doing it twice gives what was there. */
struct nn_sequence_reversal {
    size_t steps, columns;
    const size_t *active, *starts; /* as above */
    nn_real *out;
    const nn_real *in;
    size_t ldo, ldi;
    bool add;
};
void nn_sequences_reverse(const struct nn_exec *exec, const struct nn_sequence_reversal *reversal);

#endif
