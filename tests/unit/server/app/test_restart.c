/* SPDX-License-Identifier: MIT
 *
 * server/app/restart.c: a child that keeps dying is started less and less often, one that lived is
 * started at once.
 */
#include "tests/support/cmocka_all.h"

#include "server/app/restart.h"

static void pauses_double_up_to_the_cap(void **state)
{
    (void)state;
    int64_t pause = 0;
    int64_t total = 0;
    for (int i = 0; i < 7; i++) {
        pause = app_restart_pause_ms(pause, 50);
        assert_int_equal(pause, (int64_t)APP_RESTART_FIRST_MS << i);
        total += pause;
    }
    assert_true(total < 13000);
    for (int i = 0; i < 5; i++) {
        pause = app_restart_pause_ms(pause, 50);
        assert_int_equal(pause, APP_RESTART_MAX_MS);
    }
}

static void a_steady_child_is_forgiven(void **state)
{
    (void)state;
    assert_int_equal(app_restart_pause_ms(APP_RESTART_MAX_MS, APP_RESTART_STEADY_MS),
                     APP_RESTART_FIRST_MS);
    assert_int_equal(app_restart_pause_ms(400, APP_RESTART_STEADY_MS - 1), 800);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pauses_double_up_to_the_cap),
        cmocka_unit_test(a_steady_child_is_forgiven),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
