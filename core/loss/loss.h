/* SPDX-License-Identifier: MIT
 *
 * Losses: what training minimises, with its gradient, and what evaluation reports per sample.
 * The loss of a batch is the mean over its samples. Evaluation hands out one loss per sample, so
 * that the loss of a part depends on no batch size (core/metrics adds the samples up).
 */
#ifndef NN_LOSS_LOSS_H
#define NN_LOSS_LOSS_H

#include "core/base/base.h"
#include "core/kernels/exec.h"

/* A batch of scores before the softmax, and what they should have said. Borrowed. */
struct nn_loss_batch {
    const nn_real *logits; /* [rows, classes], leading dimension ld */
    size_t ld;
    const uint32_t *labels; /* [rows], each < classes */
    size_t rows, classes;
};

struct nn_loss_result {
    double loss;    /* mean over the rows of -log softmax(logits)[label]; NaN if a logit is */
    size_t correct; /* rows whose first largest logit is that of the label */
};

/* Bytes of exec->workspace that nn_loss_cross_entropy needs. */
size_t nn_loss_workspace(size_t rows);

/* Softmax cross-entropy of a batch (at least one row) and its gradient. d_logits [rows, classes],
 * leading dimension ldd, is written, not added to; it may be the logits; NULL: not wanted. */
struct nn_loss_result nn_loss_cross_entropy(const struct nn_exec *exec,
                                            const struct nn_loss_batch *batch, nn_real *d_logits,
                                            size_t ldd);

/* What evaluation wants to know of each row; arrays of `rows` entries. */
struct nn_loss_rows {
    double *loss;        /* -log softmax(logits)[label], in double */
    uint32_t *predicted; /* first largest logit; a NaN wins */
    float *probability;  /* of the predicted class */
};
void nn_loss_evaluate(const struct nn_loss_batch *batch, const struct nn_loss_rows *out_rows);

#endif
