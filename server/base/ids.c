/* SPDX-License-Identifier: MIT
 *
 * UUIDv7: 48 bits of milliseconds, 4 of version, 12 random, 2 of variant, 62 random.
 */
#include "server/base/ids.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "server/base/clock.h"

static void random_fill(uint8_t *bytes, size_t size)
{
    size_t done = 0;
    while (done < size) {
        ssize_t n = getrandom(bytes + done, size - done, 0);
        if (n > 0) {
            done += (size_t)n;
        }
    }
}

void sv_id_make(char out_id[SV_ID_SIZE])
{
    static const char DIGITS[] = "0123456789abcdef";
    uint8_t bytes[16];
    random_fill(bytes, sizeof bytes);
    uint64_t ms = (uint64_t)sv_clock_wall_ms();
    for (int i = 0; i < 6; i++) {
        bytes[i] = (uint8_t)(ms >> (40 - 8 * i));
    }
    bytes[6] = (uint8_t)((bytes[6] & 0x0f) | 0x70);
    bytes[8] = (uint8_t)((bytes[8] & 0x3f) | 0x80);
    for (size_t i = 0; i < sizeof bytes; i++) {
        out_id[2 * i] = DIGITS[bytes[i] >> 4];
        out_id[2 * i + 1] = DIGITS[bytes[i] & 15];
    }
    out_id[32] = '\0';
}

bool sv_id_is_valid(const char *text)
{
    return text && strlen(text) == 32 && strspn(text, "0123456789abcdef") == 32;
}
