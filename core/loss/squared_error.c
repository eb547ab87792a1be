/* SPDX-License-Identifier: MIT
 *
 * Half mean squared error, the loss of regression:
 *     L = sum over rows of w / 2 * sum over responses of (y - t)^2      dL/dy = w (y - t)
 */
#include "core/loss/loss.h"

double nn_loss_half_squared_error(const struct nn_loss_responses *batch, nn_real *d_predictions,
                                  size_t ldd)
{
    double loss = 0;
    for (size_t r = 0; r < batch->rows; r++) {
        const nn_real *y = batch->predictions + r * batch->ld;
        const nn_real *t = batch->targets + r * batch->responses;
        double weight = (double)batch->weights[r];
        for (size_t k = 0; k < batch->responses; k++) {
            double difference = (double)y[k] - (double)t[k];
            loss += weight / 2 * (difference * difference);
            if (d_predictions) {
                d_predictions[r * ldd + k] = (nn_real)(weight * difference);
            }
        }
    }
    return loss;
}
