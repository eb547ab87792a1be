/* SPDX-License-Identifier: MIT
 *
 * Texts of one line, in UTF-8. A control character is C0 (below U+0020), U+007F or C1 (U+0080 to
 * U+009F): what may move the cursor of a terminal, or end a line of a log.
 */
#ifndef SV_BASE_TEXT_H
#define SV_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes of the control character at text: 1 or 2; 0 when another character, or the end, is there.
 */
size_t sv_text_control(const char *text);
/* Holds text no control character? */
bool sv_text_is_line(const char *text);
/* Copies what fits, ended by NUL, never a part of a character. size >= 1. */
void sv_text_copy(char *out, size_t size, const char *text);

#endif
