/* SPDX-License-Identifier: MIT
 *
 * Probabilities of all classes, for what wants more of an evaluation than the predicted class. In
 * double, with the maximum subtracted, so that they are those of nn_loss_evaluate.
 */
#include <math.h>

#include "core/loss/loss.h"

void nn_loss_probabilities(const struct nn_loss_batch *batch, float *out)
{
    for (size_t r = 0; r < batch->rows; r++) {
        const nn_real *z = batch->logits + r * batch->ld;
        float *row = out + r * batch->classes;
        double max = (double)z[0];
        double sum = 0.0;
        for (size_t i = 1; i < batch->classes; i++) {
            max = (double)z[i] > max ? (double)z[i] : max;
        }
        for (size_t i = 0; i < batch->classes; i++) {
            sum += exp((double)z[i] - max);
        }
        for (size_t i = 0; i < batch->classes; i++) {
            row[i] = (float)(exp((double)z[i] - max) / sum);
        }
    }
}
