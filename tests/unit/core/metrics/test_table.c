/* SPDX-License-Identifier: MIT
 *
 * core/metrics: the table, the comparison, the summary. Cases A28, A30, A31 of tests/README.md.
 */
#include "tests/support/cmocka_all.h"

#include <math.h>
#include <string.h>

#include "core/metrics/metrics.h"

static void every_row_is_found_by_its_name(void **state)
{
    (void)state;
    size_t count;
    const struct nn_metric *rows = nn_metric_table(&count);
    assert_true(count > 8);
    for (size_t i = 0; i < count; i++) {
        assert_ptr_equal(nn_metric_find(rows[i].name), &rows[i]);
        assert_true(strlen(rows[i].doc) > 0);
        assert_true(strlen(nn_direction_name(rows[i].direction)) > 0);
    }
    assert_null(nn_metric_find("no_such_metric"));
}

static void what_is_not_finite_never_wins(void **state)
{
    (void)state;
    const double bad[] = {NAN, INFINITY, -INFINITY};
    for (size_t i = 0; i < 3; i++) {
        assert_false(nn_metric_better(NN_DIRECTION_LOWER, bad[i], 1.0));
        assert_false(nn_metric_better(NN_DIRECTION_HIGHER, bad[i], 1.0));
        assert_false(nn_metric_better(NN_DIRECTION_LOWER, bad[i], NAN));
        assert_true(nn_metric_better(NN_DIRECTION_LOWER, 1.0, bad[i]));
        assert_true(nn_metric_better(NN_DIRECTION_HIGHER, 1.0, bad[i]));
    }
    assert_true(nn_metric_better(NN_DIRECTION_LOWER, 1.0, 2.0));
    assert_false(nn_metric_better(NN_DIRECTION_LOWER, 2.0, 2.0));
    assert_false(nn_metric_better(NN_DIRECTION_HIGHER, 1.0, 2.0));
    assert_true(nn_metric_better(NN_DIRECTION_HIGHER, 3.0, 2.0));
    assert_false(nn_metric_better(NN_DIRECTION_NONE, 3.0, 2.0));
}

static void summary_survives_nan(void **state)
{
    (void)state;
    struct nn_summary summary = {0};
    nn_summary_add(&summary, 1, NAN);
    assert_true(isnan(summary.min) && isnan(summary.max));
    nn_summary_add(&summary, 2, 5.0);
    nn_summary_add(&summary, 3, 2.0);
    nn_summary_add(&summary, 4, 2.0);
    nn_summary_add(&summary, 5, INFINITY);
    assert_true(summary.min == 2.0 && summary.min_step == 3);
    assert_true(summary.max == 5.0 && summary.max_step == 2);
    assert_true(isinf(summary.last) && summary.last_step == 5);
    assert_int_equal(summary.count, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_is_found_by_its_name),
        cmocka_unit_test(what_is_not_finite_never_wins),
        cmocka_unit_test(summary_survives_nan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
