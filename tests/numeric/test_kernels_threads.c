/* SPDX-License-Identifier: MIT
 *
 * Bits do not depend on threads: every case of tests/numeric/cases with no pool and with pools of
 * 1, 2 and 3 threads, output by output; nor on running twice.
 */
#include "tests/support/cmocka_all.h"

#include <stdio.h>

#include "core/base/cpu.h"

#include "tests/numeric/cases/cases.h"

static const struct numeric_case *const GROUPS[] = {
    matrix_cases,    convolution_cases, normalization_cases, pooling_cases,
    softmax_cases,   recurrence_cases,  pointwise_cases,     activation_cases,
    broadcast_cases, framing_cases,     update_cases,        attention_cases};

#define POOLS 3

struct pools {
    struct nn_pool *pool[POOLS];
};

static size_t differences(const struct numeric_case *c, const struct nn_kernels *kernels,
                          const struct pools *pools)
{
    struct numeric alone, other;
    size_t different = 0;
    numeric_run(&alone, c, kernels, NULL, true);
    for (size_t i = 0; i < POOLS; i++) {
        numeric_run(&other, c, kernels, pools->pool[i], true);
        if (other.digest != alone.digest || other.comparisons != alone.comparisons) {
            printf("%s of %s: other bits with %zu threads\n", c->name,
                   nn_isa_name(nn_kernels_isa(kernels)), nn_pool_threads(pools->pool[i]));
            different++;
        }
    }
    return different;
}

static void bits_do_not_depend_on_threads(void **state)
{
    (void)state;
    nn_cpu_flush_denormals(); /* as the threads of a pool do */
    struct pools pools;
    size_t different = 0;
    for (size_t i = 0; i < POOLS; i++) {
        assert_int_equal(nn_pool_create(NULL, i + 1, &pools.pool[i], NULL), NN_OK);
    }
    for (int isa = 0; isa < NN_ISA_COUNT; isa++) {
        const struct nn_kernels *kernels = nn_kernels_get((enum nn_isa)isa);
        for (size_t g = 0; kernels && g < sizeof GROUPS / sizeof *GROUPS; g++) {
            for (const struct numeric_case *c = GROUPS[g]; c->name; c++) {
                different += differences(c, kernels, &pools);
            }
        }
    }
    for (size_t i = 0; i < POOLS; i++) {
        nn_pool_destroy(pools.pool[i]);
    }
    assert_int_equal(different, 0);
}

/* A sum that is taken in the order in which lanes come by must be told apart. */
static void digests_differ_when_bits_do(void **state)
{
    (void)state;
    struct numeric a, b;
    struct nn_kernels other = *nn_kernels_best();
    const struct numeric_case *c = &update_cases[0];
    numeric_run(&a, c, &other, NULL, true);
    other.sgdm = other.rmsprop;
    numeric_run(&b, c, &other, NULL, true);
    assert_true(a.digest != b.digest);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bits_do_not_depend_on_threads),
        cmocka_unit_test(digests_differ_when_bits_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
