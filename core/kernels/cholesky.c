/* SPDX-License-Identifier: MIT
 *
 * Row by row (Cholesky-Banachiewicz): every sum runs over two rows that lie in memory as they are
 * read. Golub, van Loan: Matrix Computations, 4.2.
 */
#include "core/kernels/cholesky.h"

#include <math.h>

static double product(const double *a, const double *b, size_t n)
{
    double sum = 0;
    for (size_t k = 0; k < n; k++) {
        sum += a[k] * b[k];
    }
    return sum;
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
