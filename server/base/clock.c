/* SPDX-License-Identifier: MIT
 *
 * Clocks of the process.
 */
#include "server/base/clock.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>

static int64_t clock_ms(clockid_t id)
{
    struct timespec now;
    (void)clock_gettime(id, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int64_t sv_clock_monotonic_ms(void)
{
    return clock_ms(CLOCK_MONOTONIC);
}

int64_t sv_clock_wall_ms(void)
{
    return clock_ms(CLOCK_REALTIME);
}

void sv_time_format(int64_t wall_ms, char out_text[SV_TIME_SIZE])
{
    time_t seconds = (time_t)(wall_ms / 1000);
    struct tm parts = {0};
    (void)gmtime_r(&seconds, &parts);
    char text[64];
    (void)snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", parts.tm_year + 1900,
                   parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
                   (int)(wall_ms % 1000));
    (void)snprintf(out_text, SV_TIME_SIZE, "%.24s", text);
}

void sv_clock_sleep_ms(int64_t ms)
{
    struct timespec left = {.tv_sec = ms / 1000, .tv_nsec = (ms % 1000) * 1000000};
    while (clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) == EINTR) {
    }
}
