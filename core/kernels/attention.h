/* SPDX-License-Identifier: MIT
 *
 * Scaled dot-product attention (Vaswani et al. 2017) of each sequence of a packed batch over itself
 * alone. A head is width / heads neighbouring columns of the queries, keys and values; with d its
 * columns, for step t of a sequence:
 *     p[t, u] = softmax over u of q[t] . k[u] / sqrt(d),  o[t] = sum over u of p[t, u] v[u]
 * u runs over the steps of the sequence, when causal over those up to t. Scores exist a tile at a
 * time (Dao et al. 2022): memory does not grow with the square of the steps, and rows of one
 * sequence are gathered as they are needed, so the layout of the batch costs nothing.
 */
#ifndef NN_KERNELS_ATTENTION_H
#define NN_KERNELS_ATTENTION_H

#include "core/kernels/exec.h"

struct nn_attention {
    size_t width, heads; /* heads divide width */
    bool causal;
    size_t steps;                  /* of the longest sequence */
    const size_t *active, *starts; /* step t has active[t] rows from starts[t] on (core/tensor) */
    const nn_real *qkv;            /* [rows, 3 width]: queries, keys, values */
    nn_real *o;                    /* [rows, width], dense, as qkv and log_sum are */
    nn_real *log_sum;              /* [rows, heads]: log of the sum of e^score, for the gradient */
};

/* Bytes of workspace of both. */
size_t nn_attention_workspace(size_t width, size_t heads, size_t lanes);

void nn_attention_forward(const struct nn_exec *exec, const struct nn_attention *args);

/* d_qkv [rows, 3 width], dense, is written; d_o [rows, width], dense. With d_p = d_o v^T:
 *     d_s = p (d_p - d_o . o),  d_q = d_s k / sqrt(d),  d_k = d_s^T q / sqrt(d),  d_v = p^T d_o */
void nn_attention_gradient(const struct nn_exec *exec, const struct nn_attention *args,
                           nn_real *d_qkv, const nn_real *d_o);

#endif
