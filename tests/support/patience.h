/* SPDX-License-Identifier: MIT
 *
 * How long a test waits for what must come. Only a mistake makes a test wait so long: a machine
 * that is merely slow or busy must not make one fail. Where a test shows that something does not
 * wait for a deadline, that deadline is well above this.
 */
#ifndef TESTS_SUPPORT_PATIENCE_H
#define TESTS_SUPPORT_PATIENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "server/base/clock.h"

#define TEST_PATIENCE_MS 40000

/* For `for (int64_t until = test_patience(); !there && test_patience_lasts(until);)`: a pause of 5
 * ms and true until the patience is over. */
static inline int64_t test_patience(void)
{
    return sv_clock_monotonic_ms() + TEST_PATIENCE_MS;
}

static inline bool test_patience_lasts(int64_t until_ms)
{
    sv_clock_sleep_ms(5);
    return sv_clock_monotonic_ms() < until_ms;
}

#endif
