/* SPDX-License-Identifier: MIT
 *
 * Numbers in tables. The grammar is checked here, so that neither hexadecimal floats nor words nor
 * the process's locale get a say; short numbers are converted here too, exactly: up to 15 digits
 * and a power of ten up to 22 are doubles without rounding, and one operation rounds once.
 */
#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/data/table_internal.h"

#define EXACT_DIGITS 15
#define EXACT_POWER  22
#define EXPONENT_MAX 100000 /* beyond, every number is 0 or too large */
#define NUMBER_BYTES 512    /* longest number that is read */

static const double POWERS[EXACT_POWER + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                               1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                               1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/* A number taken apart: digits x 10^exponent, as long as it has at most EXACT_DIGITS. */
struct parts {
    bool negative;
    uint64_t digits;
    size_t n_digits; /* without leading zeros */
    long exponent;
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Digits at *p, which moves behind them; how many there were. */
static size_t take_digits(const char **p, struct parts *parts, bool behind_point)
{
    size_t n = 0;
    for (; is_digit(**p); (*p)++, n++) {
        if (parts->n_digits > 0 || **p != '0') {
            parts->n_digits++;
        }
        if (parts->n_digits <= EXACT_DIGITS) {
            parts->digits = parts->digits * 10 + (uint64_t)(**p - '0');
        }
        parts->exponent -= behind_point;
    }
    return n;
}

static bool take_exponent(const char **p, struct parts *parts)
{
    long exponent = 0;
    bool negative = **p == '-';
    *p += **p == '-' || **p == '+';
    if (!is_digit(**p)) {
        return false;
    }
    for (; is_digit(**p); (*p)++) {
        exponent = exponent < EXPONENT_MAX ? exponent * 10 + (**p - '0') : exponent;
    }
    parts->exponent += negative ? -exponent : exponent;
    return true;
}

static bool take_apart(const char *text, char decimal, struct parts *out_parts)
{
    struct parts parts = {.negative = *text == '-'};
    const char *p = text + (*text == '-' || *text == '+');
    size_t n = take_digits(&p, &parts, false);
    if (*p == decimal) {
        p++;
        n += take_digits(&p, &parts, true);
    }
    if (n == 0) {
        return false;
    }
    if (*p == 'e' || *p == 'E') {
        p++;
        if (!take_exponent(&p, &parts)) {
            return false;
        }
    }
    *out_parts = parts;
    return *p == '\0';
}

/* The C library's conversion in the C locale, whatever the process has chosen. */
static double convert_slowly(const char *text, char decimal)
{
    char copy[NUMBER_BYTES];
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    NN_ASSERT(c_locale);
    snprintf(copy, sizeof copy, "%s", text);
    char *point = strchr(copy, decimal);
    if (point) {
        *point = '.';
    }
    double value = strtod_l(copy, NULL, c_locale);
    freelocale(c_locale);
    return value;
}

static bool is_word_for_infinite(const char *text)
{
    static const char *const words[] = {"nan",    "inf",    "infinity", "nan(ind)",
                                        "1.#inf", "1.#ind", "1.#qnan",  "1.#nan"};
    text += *text == '-' || *text == '+';
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcasecmp(text, words[i]) == 0) {
            return true;
        }
    }
    return false;
}

const char *nn_number_read(const char *text, char decimal, double *out_value)
{
    struct parts parts;
    double value;
    if (is_word_for_infinite(text)) {
        return "not_finite";
    }
    if (!take_apart(text, decimal, &parts) || strlen(text) >= NUMBER_BYTES) {
        return "not_a_number";
    }
    if (parts.n_digits <= EXACT_DIGITS && labs(parts.exponent) <= EXACT_POWER) {
        value = parts.exponent < 0 ? (double)parts.digits / POWERS[-parts.exponent]
                                   : (double)parts.digits * POWERS[parts.exponent];
        value = parts.negative ? -value : value;
    } else {
        value = convert_slowly(text, decimal);
    }
    if (!(fabs(value) <= (double)FLT_MAX)) {
        return "too_large";
    }
    *out_value = value;
    return NULL;
}
