/* SPDX-License-Identifier: MIT
 *
 * Texts of a server on a terminal: nothing in them may move its cursor or change its title.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "server/base/text.h"
#include "server/cli/cli_internal.h"

enum { ESCAPE_SIZE = 6 }; /* "\u009b", as JSON writes it */

char *cli_plain(const char *text, const char *keep)
{
    char *plain = malloc(ESCAPE_SIZE * strlen(text) + 1);
    size_t used = 0;
    for (const char *at = text; plain && *at;) {
        size_t n = sv_text_control(at);
        if (n == 0 || strchr(keep, *at)) {
            plain[used++] = *at++;
        } else {
            unsigned code = (unsigned char)at[n - 1]; /* C1 is the last byte of two */
            used += (size_t)snprintf(plain + used, ESCAPE_SIZE + 1, "\\u%04x", code);
            at += n;
        }
    }
    if (plain) {
        plain[used] = '\0';
    }
    return plain;
}

void cli_say(const char *fmt, ...)
{
    char *line = NULL;
    va_list args;
    va_start(args, fmt);
    int n = vasprintf(&line, fmt, args);
    va_end(args);
    char *plain = n >= 0 ? cli_plain(line, "") : NULL;
    (void)fprintf(stderr, "%s\n", plain ? plain : "assayd: no memory");
    free(plain);
    if (n >= 0) {
        free(line);
    }
}
