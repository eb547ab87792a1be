/* SPDX-License-Identifier: MIT
 *
 * OpenBLAS: the only file that includes cblas.h.
 */
#include "core/kernels/blas_internal.h"

#include <cblas.h>
#include <limits.h>

void nn_blas_gemm(const struct nn_gemm *g)
{
    NN_ASSERT(g->m <= INT_MAX && g->n <= INT_MAX && g->k <= INT_MAX);
    NN_ASSERT(g->lda <= INT_MAX && g->ldb <= INT_MAX && g->ldc <= INT_MAX);
    enum CBLAS_TRANSPOSE ta = g->transpose_a ? CblasTrans : CblasNoTrans;
    enum CBLAS_TRANSPOSE tb = g->transpose_b ? CblasTrans : CblasNoTrans;
    nn_real beta = g->accumulate ? 1 : 0;
#ifdef NN_REAL_DOUBLE
    cblas_dgemm(CblasRowMajor, ta, tb, (int)g->m, (int)g->n, (int)g->k, 1, g->a, (int)g->lda, g->b,
                (int)g->ldb, beta, g->c, (int)g->ldc);
#else
    cblas_sgemm(CblasRowMajor, ta, tb, (int)g->m, (int)g->n, (int)g->k, 1, g->a, (int)g->lda, g->b,
                (int)g->ldb, beta, g->c, (int)g->ldc);
#endif
}

void nn_blas_use_one_thread(void)
{
    if (openblas_get_num_threads() != 1) {
        openblas_set_num_threads(1);
    }
}

const char *nn_blas_core(void)
{
    return openblas_get_corename();
}

const char *nn_blas_config(void)
{
    return openblas_get_config();
}
