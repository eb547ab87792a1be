/* SPDX-License-Identifier: MIT
 *
 * References of softmax and cross-entropy.
 */
#include "tests/ref/ref.h"

#include <math.h>

void ref_softmax(double *y, const nn_real *x, size_t ldx, size_t rows, size_t columns)
{
    for (size_t r = 0; r < rows; r++) {
        double max = -INFINITY, sum = 0;
        for (size_t c = 0; c < columns; c++) {
            max = fmax(max, (double)x[r * ldx + c]);
        }
        for (size_t c = 0; c < columns; c++) {
            sum += exp((double)x[r * ldx + c] - max);
        }
        for (size_t c = 0; c < columns; c++) {
            y[r * columns + c] = exp((double)x[r * ldx + c] - max) / sum;
        }
    }
}

/* d_x[i] = sum over j of d_y[j] * dy[j]/dx[i], dy[j]/dx[i] = y[j] * ((i == j) - y[i]) */
void ref_softmax_gradient(double *d_x, const nn_real *d_y, size_t ldd_y, const nn_real *y,
                          size_t ldy, size_t rows, size_t columns)
{
    for (size_t r = 0; r < rows; r++) {
        for (size_t i = 0; i < columns; i++) {
            double sum = 0;
            for (size_t j = 0; j < columns; j++) {
                double jacobian = (double)y[r * ldy + j] * ((i == j) - (double)y[r * ldy + i]);
                sum += (double)d_y[r * ldd_y + j] * jacobian;
            }
            d_x[r * columns + i] = sum;
        }
    }
}

double ref_cross_entropy(double *d_logits, double *probabilities, const nn_real *x, size_t ldx,
                         const double *q, size_t rows, size_t classes, double factor)
{
    double loss = 0;
    for (size_t r = 0; r < rows; r++) {
        double total = 0;
        for (size_t c = 0; c < classes; c++) {
            total += q[r * classes + c];
        }
        for (size_t c = 0; c < classes; c++) {
            double sum = 0; /* of exp(x[j] - x[c]) = 1 / softmax(x)[c] */
            for (size_t j = 0; j < classes; j++) {
                sum += exp((double)x[r * ldx + j] - (double)x[r * ldx + c]);
            }
            double p = 1 / sum;
            loss += q[r * classes + c] * log(sum);
            if (probabilities) {
                probabilities[r * classes + c] = p;
            }
            if (d_logits) {
                d_logits[r * classes + c] = (p * total - q[r * classes + c]) * factor;
            }
        }
    }
    return loss;
}
