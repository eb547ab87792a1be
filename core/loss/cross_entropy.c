/* SPDX-License-Identifier: MIT
 *
 * Softmax cross-entropy with the softmax fused in. With p = softmax(z):
 *     L = -log p[t] = log(sum exp(z - m)) - (z[t] - m),  m = max z      dL/dz = p - onehot(t)
 * or, with classes weighted and labels smoothed (core/kernels/softmax.h), the onehot replaced by q.
 * The maximum is subtracted so that no exponential overflows.
 */
#include <math.h>

#include "core/kernels/softmax.h"
#include "core/loss/loss.h"

size_t nn_loss_workspace(size_t rows)
{
    return nn_cross_entropy_workspace(rows);
}

struct nn_loss_result nn_loss_cross_entropy(
    const struct nn_exec *exec, const struct nn_loss_batch *batch,
    nn_real *d_logits, /* NOLINT(readability-non-const-parameter): written by the kernel */
    size_t ldd)
{
    NN_ASSERT(batch->rows > 0);
    double weight = batch->weight > 0 ? batch->weight : 1;
    struct nn_cross_entropy args = {
        .rows = batch->rows,
        .classes = batch->classes,
        .logits = batch->logits,
        .ld = batch->ld,
        .labels = batch->labels,
        .d_logits = d_logits,
        .ldd = ldd,
        .factor = (nn_real)(weight / (double)batch->rows),
        .smoothing = (nn_real)batch->label_smoothing,
        .weights = batch->class_weights,
    };
    struct nn_cross_entropy_result sums = nn_cross_entropy(exec, &args);
    return (struct nn_loss_result){.loss = sums.loss_sum / (double)batch->rows * weight,
                                   .correct = sums.correct};
}

/* The first largest; the first NaN if there is one. */
static size_t first_largest(const nn_real *z, size_t n)
{
    size_t best = 0;
    for (size_t i = 1; i < n; i++) {
        if (!(z[i] <= z[best]) && !isnan(z[best])) {
            best = i;
        }
    }
    return best;
}

void nn_loss_evaluate(const struct nn_loss_batch *batch, const struct nn_loss_rows *out_rows)
{
    for (size_t r = 0; r < batch->rows; r++) {
        const nn_real *z = batch->logits + r * batch->ld;
        size_t predicted = first_largest(z, batch->classes);
        double max = (double)z[predicted];
        double sum = 0.0;
        for (size_t i = 0; i < batch->classes; i++) {
            sum += exp((double)z[i] - max);
        }
        out_rows->loss[r] = log(sum) - ((double)z[batch->labels[r]] - max);
        out_rows->predicted[r] = isfinite(sum) ? (uint32_t)predicted : NN_NO_CLASS;
        out_rows->probability[r] = (float)(1.0 / sum);
    }
}
