/* SPDX-License-Identifier: MIT
 *
 * Losses: what training minimises, with its gradient, and what evaluation reports per sample.
 * A loss of a batch is the mean over its samples; sums are taken in double, in sample order, so
 * that the reported loss of a part depends on no batch size (core/metrics adds the samples up).
 */
#ifndef NN_LOSS_LOSS_H
#define NN_LOSS_LOSS_H

#include "core/base/base.h"

struct nn_pool;

/* What one pass over a batch yields; every array has one entry per row, NULL = not wanted. */
struct nn_loss_rows {
    double *loss;         /* -log probability of the true class */
    uint32_t *predicted;  /* index of the largest logit; ties go to the lowest index */
    nn_real *probability; /* probability of the predicted class */
};

/**
 * Softmax cross-entropy of a batch: mean over the rows r of -log softmax(logits[r])[label[r]].
 *
 * d_logits  [rows, classes], leading dimension ld; the gradient of the mean, written (not added);
 *           may alias logits; NULL when only evaluating
 * rows_out  per-row results, see above
 * logits    [rows, classes], leading dimension ld
 * labels    [rows], each < classes
 * pool      NULL = on the calling thread; the bits do not depend on it
 *
 * Returns the mean; 0 for no rows. NaN when a logit is NaN. Cannot fail; allocates nothing.
 */
double nn_loss_cross_entropy(nn_real *d_logits, const struct nn_loss_rows *rows_out,
                             const nn_real *logits, size_t ld, const uint32_t *labels, size_t rows,
                             size_t classes, struct nn_pool *pool);

#endif
