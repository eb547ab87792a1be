/* SPDX-License-Identifier: MIT
 *
 * Texts of one line.
 */
#include "server/base/text.h"

#include <string.h>

size_t sv_text_control(const char *text)
{
    unsigned char first = (unsigned char)text[0];
    if ((first > 0 && first < 0x20) || first == 0x7f) {
        return 1;
    }
    unsigned char second = first == 0xc2 ? (unsigned char)text[1] : 0;
    return second >= 0x80 && second <= 0x9f ? 2 : 0;
}

bool sv_text_is_line(const char *text)
{
    while (*text && sv_text_control(text) == 0) {
        text++;
    }
    return *text == '\0';
}

void sv_text_copy(char *out, size_t size, const char *text)
{
    size_t n = strnlen(text, size);
    if (n == size) { /* back to the first byte of a character */
        n--;
        while (n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80) {
            n--;
        }
    }
    memcpy(out, text, n);
    out[n] = '\0';
}
