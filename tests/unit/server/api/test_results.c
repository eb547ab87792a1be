/* SPDX-License-Identifier: MIT
 *
 * Mean, deviation and 95 % interval over seeds, against values worked out by hand or taken from
 * tables of Student's t.
 */
#include "server/api/results_internal.h"

#include <math.h>

#include "tests/support/cmocka_all.h"

static void expect_close(double seen, double expected)
{
    if (!(fabs(seen - expected) <= 1e-4 * fabs(expected) + 1e-9)) {
        fail_msg("%.10g, not %.10g", seen, expected);
    }
}

static void nothing_has_no_mean(void **state)
{
    (void)state;
    const double none[] = {NAN, INFINITY};
    struct results_mean m = results_mean_of_values(none, 2);
    assert_int_equal(m.n, 0);
    assert_true(isnan(m.mean) && isnan(m.deviation) && isnan(m.low) && isnan(m.high));
}

static void one_value_has_no_interval(void **state)
{
    (void)state;
    const double one[] = {0.75};
    struct results_mean m = results_mean_of_values(one, 1);
    assert_int_equal(m.n, 1);
    assert_true(m.mean == 0.75);
    assert_true(isnan(m.deviation) && isnan(m.low) && isnan(m.high));
}

static void three_values_by_hand(void **state)
{
    (void)state;
    /* mean 2, deviation 1, half width 4.3027 / sqrt(3) */
    const double values[] = {1, 2, 3};
    struct results_mean m = results_mean_of_values(values, 3);
    assert_int_equal(m.n, 3);
    expect_close(m.mean, 2);
    expect_close(m.deviation, 1);
    expect_close(m.low, 2 - 2.484138);
    expect_close(m.high, 2 + 2.484138);
}

static void values_that_are_not_finite_do_not_count(void **state)
{
    (void)state;
    const double values[] = {1, NAN, 2, INFINITY, 3, -INFINITY};
    struct results_mean m = results_mean_of_values(values, 6);
    assert_int_equal(m.n, 3);
    expect_close(m.mean, 2);
    expect_close(m.deviation, 1);
}

/* Half width of n values with deviation 1 times sqrt(n) is the t of n - 1 degrees of freedom. */
static void the_table_goes_over_into_the_formula(void **state)
{
    (void)state;
    static const struct {
        size_t n;
        double t;
    } rows[] = {{2, 12.7062}, {5, 2.7764},  {10, 2.2622}, {30, 2.0452},  {31, 2.0423},
                {32, 2.0395}, {41, 2.0211}, {61, 2.0003}, {121, 1.9799}, {1001, 1.9623}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        double values[1001];
        for (size_t k = 0; k < rows[i].n; k++) {
            values[k] = k % 2 ? 1.0 : -1.0;
        }
        struct results_mean m = results_mean_of_values(values, rows[i].n);
        expect_close((m.high - m.mean) * sqrt((double)rows[i].n) / m.deviation, rows[i].t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_has_no_mean),
        cmocka_unit_test(one_value_has_no_interval),
        cmocka_unit_test(three_values_by_hand),
        cmocka_unit_test(values_that_are_not_finite_do_not_count),
        cmocka_unit_test(the_table_goes_over_into_the_formula),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
