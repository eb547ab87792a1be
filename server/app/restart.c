/* SPDX-License-Identifier: MIT
 *
 * Backoff of restarts.
 */
#include "server/app/restart.h"

int64_t app_restart_pause_ms(int64_t last_pause_ms, int64_t lived_ms)
{
    if (last_pause_ms == 0 || lived_ms >= APP_RESTART_STEADY_MS) {
        return APP_RESTART_FIRST_MS;
    }
    int64_t pause = 2 * last_pause_ms;
    return pause < APP_RESTART_MAX_MS ? pause : APP_RESTART_MAX_MS;
}
