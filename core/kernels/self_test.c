/* SPDX-License-Identifier: MIT
 *
 * The start-up test of the matrix product. OpenBLAS has returned garbage for k = 0 (#2914), zeros
 * (#3152) and wrong sums for thin shapes on new processors (numpy#24903): twenty odd shapes against
 * a plain loop take a millisecond and are cheaper than a wrong model.
 */
#include "core/kernels/matrix.h"

#include <math.h>

#include "core/base/random.h"
#include "core/kernels/blas_internal.h"

#define SIDE_MAX  40
#define LD        (SIDE_MAX + 3)
#define TOLERANCE 1e-5

struct self_shape {
    size_t m, n, k;
    bool transpose_a, transpose_b, accumulate;
};

static const struct self_shape SHAPES[] = {
    {1, 1, 0, false, false, false},   {3, 5, 0, false, true, false},
    {4, 4, 0, true, false, true},     {1, 1, 1, false, false, false},
    {1, 7, 5, false, false, false},   {7, 1, 5, false, false, false},
    {1, 40, 33, false, true, false},  {40, 1, 33, true, false, false},
    {5, 5, 1, false, false, false},   {37, 31, 1, true, true, false},
    {16, 16, 16, false, false, true}, {17, 19, 23, false, false, false},
    {17, 19, 23, true, false, false}, {17, 19, 23, false, true, false},
    {17, 19, 23, true, true, true},   {40, 5, 40, false, false, false},
    {5, 40, 5, false, false, false},  {33, 40, 37, false, true, true},
    {40, 40, 39, true, false, false}, {31, 29, 5, true, true, false},
};

static nn_real element(const nn_real *x, bool transpose, size_t i, size_t j)
{
    return transpose ? x[j * LD + i] : x[i * LD + j];
}

/* Largest error of c, measured against the sum of the magnitudes of what was added. */
static double worst_error(const struct nn_gemm *g, const nn_real *before)
{
    double worst = 0;
    for (size_t i = 0; i < g->m; i++) {
        for (size_t j = 0; j < g->n; j++) {
            double sum = g->accumulate ? (double)before[i * LD + j] : 0, size = fabs(sum);
            for (size_t q = 0; q < g->k; q++) {
                double term = (double)element(g->a, g->transpose_a, i, q) *
                              (double)element(g->b, g->transpose_b, q, j);
                sum += term;
                size += fabs(term);
            }
            double error = fabs((double)g->c[i * LD + j] - sum) / (size + 1e-3);
            if (!(error <= worst) && worst == worst) { /* a NaN is the worst and stays it */
                worst = error;
            }
        }
    }
    return worst;
}

static void fill(nn_real x[LD * LD], uint64_t stream)
{
    struct nn_random random;
    nn_random_init(&random, 0, NN_RANDOM_TEST, 0, stream);
    for (size_t i = 0; i < (size_t)LD * LD; i++) {
        x[i] = (nn_real)(nn_random_uniform(&random) * 2 - 1);
    }
}

/* One shape, through the room's choice of implementation or (exec NULL) straight to OpenBLAS. */
static double shape_error(const struct nn_exec *exec, const struct self_shape *s, const nn_real *a,
                          const nn_real *b, const nn_real *before)
{
    nn_real c[LD * LD];
    for (size_t e = 0; e < (size_t)LD * LD; e++) {
        c[e] = s->accumulate ? before[e] : (nn_real)NAN;
    }
    struct nn_gemm gemm = {.m = s->m, .n = s->n, .k = s->k, .a = a, .b = b, .lda = LD, .ldb = LD};
    gemm.transpose_a = s->transpose_a;
    gemm.transpose_b = s->transpose_b;
    gemm.accumulate = s->accumulate;
    gemm.c = c;
    gemm.ldc = LD;
    if (exec) {
        nn_gemm(exec, &gemm);
    } else {
        nn_blas_gemm(&gemm);
    }
    return worst_error(&gemm, before);
}

enum nn_status nn_kernels_self_test(const struct nn_kernels *kernels, struct nn_error *err)
{
    nn_real a[LD * LD], b[LD * LD], before[LD * LD];
    const struct nn_exec exec = {.kernels = kernels};
    fill(a, 0);
    fill(b, 1);
    fill(before, 2);
    for (size_t i = 0; i < sizeof SHAPES / sizeof *SHAPES; i++) {
        const struct self_shape *s = &SHAPES[i];
        double own = shape_error(&exec, s, a, b, before);
        double blas = shape_error(NULL, s, a, b, before);
        if (!(own <= TOLERANCE) || !(blas <= TOLERANCE)) {
            return nn_fail(err, NN_ERR_INTERNAL,
                           "matrix product %zux%zux%zu%s%s is wrong: error %g with kernels %s, %g "
                           "with OpenBLAS core %s",
                           s->m, s->n, s->k, s->transpose_a ? " A transposed" : "",
                           s->transpose_b ? " B transposed" : "", own,
                           nn_isa_name(nn_kernels_isa(kernels)), blas, nn_blas_core());
        }
    }
    return NN_OK;
}
