/* SPDX-License-Identifier: MIT
 *
 * core/kernels/exec.h: the start-up test of the matrix product (cases B28 and B29), the tables, and
 * OpenBLAS under the core type that core/base/cpu.h names.
 */
#include "tests/support/cmocka_all.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/kernels/kernels.h"
#include "core/kernels/table.h"

#define CHILD_VARIABLE "NN_TEST_BLAS_CHILD"

static void every_table_passes(void **state)
{
    (void)state;
    assert_ptr_equal(nn_kernels_get(NN_ISA_PLAIN), &nn_kernels_plain);
    for (int i = 0; i < NN_ISA_COUNT; i++) {
        const struct nn_kernels *kernels = nn_kernels_get((enum nn_isa)i);
        struct nn_error err = {0};
        if (!kernels) {
            continue;
        }
        assert_int_equal(nn_kernels_isa(kernels), i);
        assert_int_equal(nn_kernels_self_test(kernels, &err), NN_OK);
        assert_string_equal(err.text, "");
    }
    assert_non_null(nn_kernels_best());
}

static void wrong_tile(const struct nn_tile_args *args)
{
    nn_kernels_plain.gemm_tile(args);
    if (args->n == 5 && args->m == 40) {
        args->y[3] += (nn_real)0.01;
    }
}

static void a_wrong_product_is_noticed(void **state)
{
    (void)state;
    struct nn_kernels broken = nn_kernels_plain;
    struct nn_error err = {0};
    broken.gemm_tile = wrong_tile;
    broken.isa = NN_ISA_AVX2; /* so that own tiles are chosen */
    assert_int_equal(nn_kernels_self_test(&broken, &err), NN_ERR_INTERNAL);
    assert_non_null(strstr(err.text, "40x5x40"));
}

/* B29: sgemm(1,1,0) with beta = 0 gave what was there before. */
static void b29_an_empty_sum_is_zero(void **state)
{
    (void)state;
    for (int i = 0; i < NN_ISA_COUNT; i++) {
        const struct nn_kernels *kernels = nn_kernels_get((enum nn_isa)i);
        nn_real one = 1, c = (nn_real)NAN;
        struct nn_gemm gemm = {.m = 1, .n = 1, .a = &one, .b = &one, .lda = 1, .ldb = 1, .ldc = 1};
        gemm.c = &c;
        if (kernels) {
            nn_gemm(&(struct nn_exec){.kernels = kernels}, &gemm);
            assert_true(c == 0);
        }
    }
}

/* B28: told the core type in its environment, a process does not run the Prescott kernels. The test
 * runs itself again, since OpenBLAS reads the environment before main. */
static void b28_blas_takes_the_core_type(void **state)
{
    (void)state;
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        (void)setenv(CHILD_VARIABLE, "1", 1);
        (void)setenv("OPENBLAS_CORETYPE", nn_cpu_openblas_core_type(), 1);
        (void)execl("/proc/self/exe", "test_self_test", (char *)NULL);
        _exit(126);
    }
    int status = -1;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static int child_main(void)
{
    bool taken = strcasecmp(nn_blas_core(), nn_cpu_openblas_core_type()) == 0;
    bool known = strlen(nn_blas_config()) > 0 && nn_kernels_best();
    return taken && known ? 0 : 1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_table_passes),
        cmocka_unit_test(a_wrong_product_is_noticed),
        cmocka_unit_test(b29_an_empty_sum_is_zero),
        cmocka_unit_test(b28_blas_takes_the_core_type),
    };
    if (getenv(CHILD_VARIABLE)) {
        return child_main();
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
