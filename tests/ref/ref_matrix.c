/* SPDX-License-Identifier: MIT
 *
 * References of matrix products and column sums.
 */
#include "tests/ref/ref.h"

void ref_gemm(double *c, const struct nn_gemm *g)
{
    for (size_t i = 0; i < g->m; i++) {
        for (size_t j = 0; j < g->n; j++) {
            double sum = g->accumulate ? c[i * g->n + j] : 0;
            for (size_t q = 0; q < g->k; q++) {
                nn_real a = g->transpose_a ? g->a[q * g->lda + i] : g->a[i * g->lda + q];
                nn_real b = g->transpose_b ? g->b[j * g->ldb + q] : g->b[q * g->ldb + j];
                sum += (double)a * (double)b;
            }
            c[i * g->n + j] = sum;
        }
    }
}

void ref_epilogue(double *y, size_t rows, size_t n, const nn_real *bias, bool relu)
{
    for (size_t i = 0; i < rows; i++) {
        for (size_t j = 0; j < n; j++) {
            double value = y[i * n + j] + (bias ? (double)bias[j] : 0);
            y[i * n + j] = relu && value < 0 ? 0 : value;
        }
    }
}

void ref_column_sums(double *sums, const nn_real *x, size_t ldx, size_t rows, size_t columns)
{
    for (size_t j = 0; j < columns; j++) {
        for (size_t i = 0; i < rows; i++) {
            sums[j] += (double)x[i * ldx + j];
        }
    }
}
