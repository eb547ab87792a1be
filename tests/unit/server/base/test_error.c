/* SPDX-License-Identifier: MIT
 *
 * server/base: the list of errors, whose slugs also come back from stored refusals.
 */
#include "tests/support/cmocka_all.h"

#include "server/base/error.h"

static void every_slug_is_one_of_its_own(void **state)
{
    (void)state;
    for (int i = 0; i < SV_STATUS_COUNT; i++) {
        assert_int_equal(sv_status_parse(sv_status_slug((enum sv_status)i)), i);
    }
}

static void what_is_no_slug_is_a_bug_of_ours(void **state)
{
    (void)state;
    assert_int_equal(sv_status_parse(NULL), SV_ERR_INTERNAL);
    assert_int_equal(sv_status_parse(""), SV_ERR_INTERNAL);
    assert_int_equal(sv_status_parse("invalid_pictures"), SV_ERR_INTERNAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_slug_is_one_of_its_own),
        cmocka_unit_test(what_is_no_slug_is_a_bug_of_ours),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
