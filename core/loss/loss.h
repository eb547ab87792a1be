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
    double weight; /* times the loss and its gradient; 0 counts as 1 */
    /* Of nn_loss_cross_entropy alone, evaluation does not look at them: */
    double label_smoothing;       /* [0, 1): the share of a label that all classes divide */
    const nn_real *class_weights; /* [classes] borrowed; NULL: all 1 */
};

struct nn_loss_result {
    double loss;    /* mean over the rows (not over their weights), times the weight; NaN if a logit
                       is */
    size_t correct; /* rows whose first largest logit is that of the label, and a number */
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
    uint32_t *predicted; /* first largest logit; NN_NO_CLASS with a NaN or +infinity among them */
    float *probability;  /* of the predicted class; NaN without one */
};
void nn_loss_evaluate(const struct nn_loss_batch *batch, const struct nn_loss_rows *out_rows);
/* softmax(logits): out [rows, classes], dense; equal to the above's probability where predicted. */
void nn_loss_probabilities(const struct nn_loss_batch *batch, float *out);

/* ---- regression ---- */

/* Predictions and what they should have been. A row is a sample, or a step of a sequence; its
 * weight is 1 / (samples * rows of its sample), as nn_network_row_weights gives it. Borrowed. */
struct nn_loss_responses {
    const nn_real *predictions; /* [rows, responses], leading dimension ld */
    size_t ld;
    const nn_real *targets; /* [rows, responses], dense */
    const nn_real *weights; /* [rows] */
    size_t rows, responses;
};

/* Half mean squared error: of a sample 1 / (2 S) times the sum over its S rows and all responses of
 * (y - t)^2, not divided by the number of responses; the mean over the samples. The gradient
 * (y - t) * weight is written to d_predictions, leading dimension ldd; it may be the predictions;
 * NULL: not wanted. NaN if a prediction is. Sums in double, in order of the rows. */
double nn_loss_half_squared_error(const struct nn_loss_responses *batch, nn_real *d_predictions,
                                  size_t ldd);

#endif
