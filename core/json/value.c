/* SPDX-License-Identifier: MIT
 *
 * Single values on their way out: numbers that survive NaN, and text that is always UTF-8.
 */
#include "core/json/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

json_t *jx_number(double value)
{
    if (isnan(value)) {
        return json_string("NaN");
    }
    if (isinf(value)) {
        return json_string(value > 0 ? "Infinity" : "-Infinity");
    }
    return json_real(value);
}

json_t *jx_number_f32(float value)
{
    if (!isfinite(value)) {
        return jx_number((double)value);
    }
    char text[32];
    (void)snprintf(text, sizeof text, "%.9g", (double)value);
    for (int digits = 6; digits < 9; digits++) {
        char shorter[32];
        (void)snprintf(shorter, sizeof shorter, "%.*g", digits, (double)value);
        if (strtof(shorter, NULL) == value) {
            memcpy(text, shorter, sizeof text);
            break;
        }
    }
    return json_real(strtod(text, NULL));
}

bool jx_number_get(const json_t *json, double *out)
{
    static const struct {
        const char *name;
        double value;
    } NAMES[] = {{"NaN", NAN}, {"Infinity", INFINITY}, {"-Infinity", -INFINITY}};
    if (json_is_number(json)) {
        *out = json_number_value(json);
        return true;
    }
    for (size_t i = 0; json_is_string(json) && i < sizeof NAMES / sizeof NAMES[0]; i++) {
        if (strcmp(json_string_value(json), NAMES[i].name) == 0) {
            *out = NAMES[i].value;
            return true;
        }
    }
    return false;
}

/* Bytes of the UTF-8 character at text (n left), 0 if it is malformed, overlong, a surrogate, above
 * U+10FFFF, or NUL. */
static size_t utf8_length(const unsigned char *text, size_t n)
{
    static const uint32_t LEAST[] = {0, 1, 0x80, 0x800, 0x10000};
    unsigned char c = text[0];
    size_t length = c < 0x80 ? 1 : (c >> 5 == 6 ? 2 : (c >> 4 == 14 ? 3 : (c >> 3 == 30 ? 4 : 0)));
    if (length == 0 || length > n) {
        return 0;
    }
    uint32_t code = length == 1 ? c : c & (0x7fU >> length);
    for (size_t i = 1; i < length; i++) {
        if (text[i] >> 6 != 2) {
            return 0;
        }
        code = code << 6 | (text[i] & 0x3fU);
    }
    bool surrogate = code >= 0xd800 && code <= 0xdfff;
    return code < LEAST[length] || code > 0x10ffff || surrogate ? 0 : length;
}

json_t *jx_text(const char *text, size_t n)
{
    static const char REPLACEMENT[] = "\xEF\xBF\xBD";
    n = n == SIZE_MAX ? strlen(text) : n;
    if (n > SIZE_MAX / 4) {
        return NULL;
    }
    char *clean = malloc(3 * n + 1);
    if (!clean) {
        return NULL;
    }
    size_t used = 0;
    for (size_t i = 0; i < n;) {
        size_t length = utf8_length((const unsigned char *)text + i, n - i);
        memcpy(clean + used, length ? text + i : REPLACEMENT, length ? length : 3);
        used += length ? length : 3;
        i += length ? length : 1;
    }
    json_t *json = json_stringn(clean, used);
    free(clean);
    return json;
}
