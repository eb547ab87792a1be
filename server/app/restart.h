/* SPDX-License-Identifier: MIT
 *
 * When an ended child process is started again.
 */
#ifndef APP_RESTART_H
#define APP_RESTART_H

#include <stdint.h>

enum { APP_RESTART_FIRST_MS = 100, APP_RESTART_MAX_MS = 10000, APP_RESTART_STEADY_MS = 30000 };

/* The pause before the next start: the first one after a child that lived APP_RESTART_STEADY_MS or
 * longer, else twice the last pause (0: there was none), at most APP_RESTART_MAX_MS. */
int64_t app_restart_pause_ms(int64_t last_pause_ms, int64_t lived_ms);

#endif
