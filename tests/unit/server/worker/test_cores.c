/* SPDX-License-Identifier: MIT
 *
 * server/worker/cores.c: at least one core a trial, none over its limit, none idle for no reason.
 */
#include "tests/support/cmocka_all.h"

#include "server/worker/cores.h"

static void cores_are_shared(void **state)
{
    (void)state;
    static const struct {
        size_t cores, n, limits[4], shares[4];
    } rows[] = {
        {1, 1, {9}, {1}},
        {8, 1, {9}, {8}},
        {8, 1, {3}, {3}},
        {8, 3, {9, 9, 9}, {3, 3, 2}},
        {8, 3, {1, 9, 9}, {1, 4, 3}},
        {2, 4, {9, 9, 9, 9}, {1, 1, 1, 1}},
        {9, 2, {2, 2}, {2, 2}},
        {5, 0, {0}, {0}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t shares[4] = {0};
        worker_cores_share(rows[i].cores, rows[i].limits, rows[i].n, shares);
        assert_memory_equal(shares, rows[i].shares, sizeof shares);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(cores_are_shared)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
