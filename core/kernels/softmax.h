/* SPDX-License-Identifier: MIT
 *
 * Softmax over the columns of each row, alone and joined with the cross-entropy.
 */
#ifndef NN_KERNELS_SOFTMAX_H
#define NN_KERNELS_SOFTMAX_H

#include "core/kernels/exec.h"

/* y = exp(x - max) / sum; y may alias x. A row with a NaN or +infinity becomes NaN. */
void nn_softmax_forward(const struct nn_exec *exec, nn_real *y, size_t ldy, const nn_real *x,
                        size_t ldx, size_t rows, size_t columns);

/* d_x = y * (d_y - sum(d_y * y)); d_x may alias d_y. */
struct nn_softmax_gradient {
    nn_real *d_x;
    const nn_real *d_y, *y; /* y: the output of the forward pass */
    size_t ldd_x, ldd_y, ldy;
    size_t rows, columns;
};
void nn_softmax_gradient(const struct nn_exec *exec, const struct nn_softmax_gradient *args);

/* loss of a row = sum of q[c] * (log(sum exp(x)) - x[c]), d_x = (softmax(x) * sum(q) - q) * factor,
 * with q[c] = weights[c] * ((1 - smoothing) * (c is label) + smoothing / classes): PyTorch's weight
 * and label_smoothing. Without both q is one at the label. */
struct nn_cross_entropy {
    size_t rows, classes;
    const nn_real *logits;
    size_t ld;
    const uint32_t *labels; /* each below classes */
    nn_real *d_logits;      /* may be logits; NULL: no gradient */
    size_t ldd;
    nn_real factor;         /* 1 / rows for the mean */
    nn_real *probabilities; /* or NULL; may be logits when d_logits is NULL */
    size_t ldp;
    uint32_t *predicted;    /* [rows] first largest logit, NN_NO_CLASS with a NaN; or NULL */
    nn_real smoothing;      /* [0, 1) */
    const nn_real *weights; /* [classes]; NULL: all 1 */
};
struct nn_cross_entropy_result {
    double loss_sum; /* not averaged, not multiplied by factor */
    size_t correct;  /* rows with a NaN are not */
};
size_t nn_cross_entropy_workspace(size_t rows);
struct nn_cross_entropy_result nn_cross_entropy(const struct nn_exec *exec,
                                                const struct nn_cross_entropy *args);

#endif
