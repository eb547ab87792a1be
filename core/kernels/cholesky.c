/* SPDX-License-Identifier: MIT
 *
 * Row by row (Cholesky-Banachiewicz): every sum runs over two rows that lie in memory as they are
 * read. Golub, van Loan: Matrix Computations, 4.2.
 */
#include "core/kernels/cholesky.h"

#include <math.h>

/* Four sums side by side, added in one order: a single one would wait for itself at each step. */
static double product(const double *a, const double *b, size_t n)
{
    double sum[4] = {0};
    size_t k = 0;
    for (; k + 4 <= n; k += 4) {
        sum[0] += a[k] * b[k];
        sum[1] += a[k + 1] * b[k + 1];
        sum[2] += a[k + 2] * b[k + 2];
        sum[3] += a[k + 3] * b[k + 3];
    }
    for (; k < n; k++) {
        sum[k % 4] += a[k] * b[k];
    }
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

bool nn_cholesky(double *a, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double *row = a + i * n;
        for (size_t j = 0; j < i; j++) {
            row[j] = (row[j] - product(row, a + j * n, j)) / a[j * n + j];
        }
        double rest = row[i] - product(row, row, i);
        if (!(rest > 0) || !isfinite(rest)) {
            return false;
        }
        row[i] = sqrt(rest);
    }
    return true;
}

void nn_cholesky_forward(const double *l, size_t n, double *x)
{
    for (size_t i = 0; i < n; i++) {
        x[i] = (x[i] - product(l + i * n, x, i)) / l[i * n + i];
    }
}

void nn_cholesky_backward(const double *l, size_t n, double *x)
{
    for (size_t i = n; i-- > 0;) {
        x[i] /= l[i * n + i];
        for (size_t k = 0; k < i; k++) {
            x[k] -= l[i * n + k] * x[i];
        }
    }
}
