/* SPDX-License-Identifier: MIT
 *
 * The small grammar of HTTP: percent escapes, tokens, comma lists, UTF-8.
 */
#include <string.h>
#include <strings.h>

#include "server/http/exchange_internal.h"

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool http_text_unescape(char *text, bool plus)
{
    char *to = text;
    for (const char *from = text; *from; from++) {
        if (*from == '+' && plus) {
            *to++ = ' ';
        } else if (*from != '%') {
            *to++ = *from;
        } else {
            int high = hex_digit(from[1]);
            int low = high < 0 ? -1 : hex_digit(from[2]);
            if (low < 0 || high + low == 0) {
                return false;
            }
            *to++ = (char)(high * 16 + low);
            from += 2;
        }
    }
    *to = '\0';
    return http_text_is_utf8(text);
}

/* Length of a well-formed sequence at p (RFC 3629), 0 if it is not. */
static size_t utf8_length(const unsigned char *p)
{
    if (p[0] < 0x80) {
        return 1;
    }
    size_t n = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
    if (p[0] < 0xc2 || p[0] > 0xf4) {
        return 0;
    }
    for (size_t i = 1; i < n; i++) {
        if ((p[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    bool overlong = (p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xf0 && p[1] < 0x90);
    bool surrogate = p[0] == 0xed && p[1] >= 0xa0;
    bool beyond = p[0] == 0xf4 && p[1] >= 0x90;
    return overlong || surrogate || beyond ? 0 : n;
}

bool http_text_is_utf8(const char *text)
{
    const unsigned char *p = (const unsigned char *)text;
    while (*p) {
        size_t n = utf8_length(p);
        if (!n) {
            return false;
        }
        p += n;
    }
    return true;
}

bool http_text_is_token(const char *text)
{
    if (!*text) {
        return false;
    }
    for (const char *p = text; *p; p++) {
        bool letter = (*p >= '0' && *p <= '9') || ((*p | 0x20) >= 'a' && (*p | 0x20) <= 'z');
        if (!letter && !strchr("!#$%&'*+-.^_`|~", *p)) {
            return false;
        }
    }
    return true;
}

bool http_text_next(const char **inout_list, const char **out_item, size_t *out_size,
                    const char **out_parameters)
{
    const char *p = *inout_list + strspn(*inout_list, " \t,");
    if (!*p) {
        return false;
    }
    const char *end = p + strcspn(p, ",");
    size_t size = strcspn(p, ",;");
    *out_parameters = p[size] == ';' ? p + size + 1 : NULL;
    while (size && (p[size - 1] == ' ' || p[size - 1] == '\t')) {
        size--;
    }
    *out_item = p;
    *out_size = size;
    *inout_list = end;
    return true;
}

bool http_text_in_list(const char *list, const char *item, size_t size)
{
    const char *have = NULL;
    const char *parameters = NULL;
    size_t have_size = 0;
    while (http_text_next(&list, &have, &have_size, &parameters)) {
        if (have_size == size && strncasecmp(have, item, size) == 0) {
            return true;
        }
    }
    return false;
}
