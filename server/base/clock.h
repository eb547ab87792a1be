/* SPDX-License-Identifier: MIT
 *
 * The clocks of a process: a monotonic one for waits and durations, and the wall clock for log
 * lines and new ids. What is stored takes the database's clock instead.
 */
#ifndef SV_BASE_CLOCK_H
#define SV_BASE_CLOCK_H

#include <stddef.h>
#include <stdint.h>

/* Milliseconds since an arbitrary moment; never goes back. */
int64_t sv_clock_monotonic_ms(void);

/* Milliseconds since 1970-01-01T00:00:00Z. */
int64_t sv_clock_wall_ms(void);

enum { SV_TIME_SIZE = 25 }; /* "2026-01-02T03:04:05.678Z" and NUL */

/* RFC 3339 in UTC with milliseconds; years 1970 to 9999. */
void sv_time_format(int64_t wall_ms, char out_text[SV_TIME_SIZE]);

/* Sleeps at least that long, signals or not. */
void sv_clock_sleep_ms(int64_t ms);

#endif
