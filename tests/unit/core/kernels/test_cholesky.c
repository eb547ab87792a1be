/* SPDX-License-Identifier: MIT
 *
 * core/kernels/cholesky.h: factors that give the matrix back, solutions, and what is not positive.
 */
#include "core/kernels/cholesky.h"

#include <math.h>
#include <string.h>

#include "core/base/random.h"
#include "tests/support/cmocka_all.h"

enum { N = 60 };

/* b b' + 1, of random numbers. */
static void make_positive(double *a, size_t n)
{
    static double b[N * N];
    struct nn_random random;
    nn_random_init(&random, n, NN_RANDOM_TEST, 0, 0);
    for (size_t i = 0; i < n * n; i++) {
        b[i] = nn_random_normal(&random);
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            a[i * n + j] = i == j;
            for (size_t k = 0; k < n; k++) {
                a[i * n + j] += b[i * n + k] * b[j * n + k];
            }
        }
    }
}

static void a_factor_gives_its_matrix_back(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 2, 7, N};
    static double a[N * N], l[N * N];
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        size_t n = sizes[s];
        make_positive(a, n);
        memcpy(l, a, sizeof a);
        assert_true(nn_cholesky(l, n));
        for (size_t i = 0; i < n; i++) {
            assert_true(l[i * n + i] > 0);
            for (size_t j = 0; j <= i; j++) {
                double sum = 0;
                for (size_t k = 0; k <= j; k++) {
                    sum += l[i * n + k] * l[j * n + k];
                }
                assert_true(fabs(sum - a[i * n + j]) < 1e-11 * (double)(n + 1));
            }
        }
    }
}

static void both_solutions_solve_the_matrix(void **state)
{
    (void)state;
    static double a[N * N], l[N * N];
    double x[N];
    make_positive(a, N);
    memcpy(l, a, sizeof a);
    assert_true(nn_cholesky(l, N));
    for (size_t i = 0; i < N; i++) {
        x[i] = (double)i - 7;
    }
    nn_cholesky_forward(l, N, x);
    nn_cholesky_backward(l, N, x);
    for (size_t i = 0; i < N; i++) {
        double sum = 0;
        for (size_t k = 0; k < N; k++) {
            sum += a[i * N + k] * x[k];
        }
        assert_true(fabs(sum - ((double)i - 7)) < 1e-9);
    }
}

static void what_is_not_positive_has_no_factor(void **state)
{
    (void)state;
    double rows[][4] = {{1, 0, 2, 1},   {0, 0, 0, 1},        {-1, 0, 0, 1}, {NAN, 0, 0, 1},
                        {1, 0, NAN, 1}, {INFINITY, 0, 0, 1}, {1, 0, 1, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_false(nn_cholesky(rows[i], 2));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_factor_gives_its_matrix_back),
        cmocka_unit_test(both_solutions_solve_the_matrix),
        cmocka_unit_test(what_is_not_positive_has_no_factor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
