/* SPDX-License-Identifier: MIT
 *
 * core/base/base.h: the status table, error texts, checked sizes.
 */
#include "tests/support/cmocka_all.h"

#include <string.h>

#include "core/base/base.h"

static void statuses_have_unique_slugs(void **state)
{
    (void)state;
    for (int i = 0; i < NN_STATUS_COUNT; i++) {
        assert_true(strlen(nn_status_text((enum nn_status)i)) > 0);
        for (int j = 0; j < i; j++) {
            assert_string_not_equal(nn_status_slug((enum nn_status)i),
                                    nn_status_slug((enum nn_status)j));
        }
    }
}

static void fail_fills_error_once(void **state)
{
    (void)state;
    struct nn_error err = {0};
    assert_int_equal(nn_fail_at(&err, NN_ERR_LIMIT, "/training/epochs", "%d is too many", 7),
                     NN_ERR_LIMIT);
    assert_string_equal(err.text, "7 is too many");
    assert_string_equal(err.pointer, "/training/epochs");
    assert_int_equal(nn_fail(NULL, NN_ERR_IO, "no buffer"), NN_ERR_IO);
}

static void products_that_overflow_are_refused(void **state)
{
    (void)state;
    size_t out = 5;
    assert_false(nn_size_mul(SIZE_MAX / 2, 3, &out));
    assert_false(nn_size_add(SIZE_MAX, 1, &out));
    assert_int_equal(out, 5);
    assert_true(nn_size_mul(6, 7, &out));
    assert_int_equal(out, 42);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(statuses_have_unique_slugs),
        cmocka_unit_test(fail_fills_error_once),
        cmocka_unit_test(products_that_overflow_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
