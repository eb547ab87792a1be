/* SPDX-License-Identifier: MIT
 *
 * Single values of field tables: numbers with their ranges, lists of numbers, text, choices. Each
 * writes its place or reports why it cannot.
 */
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/json/decode_internal.h"

enum { RANGE_SIZE = 96 };

void jx_report(struct jx_decoder *d, const char *pointer, const char *fmt, ...)
{
    char text[JX_TEXT_SIZE];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    d->count++;
    d->issue(d->ctx, pointer, text);
}

const char *jx_type_name(const json_t *json)
{
    switch (json_typeof(json)) {
    case JSON_OBJECT:
        return "an object";
    case JSON_ARRAY:
        return "an array";
    case JSON_STRING:
        return "a string";
    case JSON_INTEGER:
    case JSON_REAL:
        return "a number";
    case JSON_TRUE:
    case JSON_FALSE:
        return "a boolean";
    case JSON_NULL:
        break;
    }
    return "null";
}

/* ---- numbers ---- */

static bool bounded(const struct jx_field *field)
{
    return field->min < 0 || field->max > 0 || field->min > 0 || field->max < 0;
}

static bool in_range(const struct jx_field *field, double x)
{
    if (!bounded(field)) {
        return true;
    }
    bool low = field->above_min ? x > field->min : x >= field->min;
    bool high = field->below_max ? x < field->max : x <= field->max;
    return low && high;
}

/* " from 1 to 10", " above 0 and below 1", "". */
static const char *range_text(const struct jx_field *field, char out[RANGE_SIZE])
{
    out[0] = '\0';
    if (!bounded(field)) {
        return out;
    }
    if (!field->above_min && !field->below_max) {
        (void)snprintf(out, RANGE_SIZE, " from %.15g to %.15g", field->min, field->max);
        return out;
    }
    (void)snprintf(out, RANGE_SIZE, " %s %.15g and %s %.15g",
                   field->above_min ? "above" : "at least", field->min,
                   field->below_max ? "below" : "at most", field->max);
    return out;
}

static void report_number(struct jx_decoder *d, const struct jx_field *field, const json_t *json,
                          const char *pointer, const char *noun)
{
    char range[RANGE_SIZE];
    range_text(field, range);
    if (json_is_number(json)) {
        jx_report(d, pointer, "must be %s%s, not %.15g", noun, range, json_number_value(json));
    } else {
        jx_report(d, pointer, "must be %s%s, not %s", noun, range, jx_type_name(json));
    }
}

/* An integer, or a real without a fraction that a double holds exactly. */
static bool integer_of(const json_t *json, int64_t *out)
{
    if (json_is_integer(json)) {
        *out = json_integer_value(json);
        return true;
    }
    double x = json_real_value(json);
    if (!json_is_real(json) || trunc(x) != x || fabs(x) > (double)JX_EXACT) {
        return false;
    }
    *out = (int64_t)x;
    return true;
}

void jx_decode_integer(struct jx_decoder *d, const struct jx_field *field, const json_t *json,
                       const char *pointer, union jx_value *out)
{
    int64_t x;
    bool fits = integer_of(json, &x) && in_range(field, (double)x);
    if (!fits || (field->type == JX_SIZE && x < 0)) {
        report_number(d, field, json, pointer, "an integer");
    } else if (field->type == JX_SIZE) {
        out->size = (size_t)x;
    } else {
        out->integer = x;
    }
}

static bool digits_of(const json_t *json, uint64_t *out)
{
    const char *text = json_string_value(json);
    if (!text || !text[0] || text[strspn(text, "0123456789")] != '\0' || strlen(text) > 20) {
        return false;
    }
    errno = 0;
    unsigned long long x = strtoull(text, NULL, 10);
    if (errno != 0) {
        return false;
    }
    *out = x;
    return true;
}

void jx_decode_unsigned(struct jx_decoder *d, const json_t *json, const char *pointer,
                        union jx_value *out)
{
    int64_t x;
    uint64_t value;
    if (integer_of(json, &x) && x >= 0) {
        out->unsigned_integer = (uint64_t)x;
    } else if (digits_of(json, &value)) {
        out->unsigned_integer = value;
    } else {
        jx_report(d, pointer, "must be an integer from 0 to 2^64 - 1, or its digits as a string");
    }
}

void jx_decode_real(struct jx_decoder *d, const struct jx_field *field, const json_t *json,
                    const char *pointer, union jx_value *out)
{
    double x = json_number_value(json);
    if (!json_is_number(json) || !isfinite(x) || !in_range(field, x)) {
        report_number(d, field, json, pointer, "a number");
        return;
    }
    if (x != 0 && fabs(x) < DBL_MIN) { /* what trains counts such numbers as 0 */
        jx_report(d, pointer, "must be 0 or at least %.3g in size, not %.15g", DBL_MIN, x);
        return;
    }
    out->real = x;
}

/* ---- lists ---- */

/* False (and reported) when the number of items is out of bounds; most 0: no upper bound. */
bool jx_count_fits(struct jx_decoder *d, const struct jx_field *field, size_t n, size_t most,
                   const char *pointer)
{
    if (n >= field->min_items && (most == 0 || n <= most)) {
        return true;
    }
    if (most == 0) {
        jx_report(d, pointer, "must have at least %zu items, not %zu", field->min_items, n);
    } else if (field->min_items == most) {
        jx_report(d, pointer, "must have %zu items, not %zu", most, n);
    } else {
        jx_report(d, pointer, "must have %zu to %zu items, not %zu", field->min_items, most, n);
    }
    return false;
}

static size_t list_cap(const struct jx_field *field)
{
    bool capped = field->max_items > 0 && field->max_items < JX_LIST_MAX;
    return capped ? field->max_items : (size_t)JX_LIST_MAX;
}

/* One element of a list of numbers, into its place. */
static void decode_list_element(struct jx_decoder *d, const struct jx_field *item,
                                const json_t *element, const char *pointer, size_t i,
                                union jx_value *out)
{
    union jx_value value = {0};
    if (item->type == JX_INT) {
        jx_decode_integer(d, item, element, pointer, &value);
        out->ints.value[i] = value.integer;
    } else {
        jx_decode_real(d, item, element, pointer, &value);
        out->reals.value[i] = value.real;
    }
}

void jx_decode_number_list(struct jx_decoder *d, const struct jx_field *field, const json_t *json,
                           const char *pointer, union jx_value *out)
{
    bool lone = field->scalar_too && json_is_number(json);
    size_t most = list_cap(field);
    if (!lone && !json_is_array(json)) {
        jx_report(d, pointer, "must be %san array of numbers, not %s",
                  field->scalar_too ? "a number or " : "", jx_type_name(json));
        return;
    }
    size_t n = lone ? 1 : json_array_size(json);
    if (!lone && !jx_count_fits(d, field, n, most, pointer)) {
        return;
    }
    struct jx_field item = *field;
    item.type = field->type == JX_INTS ? JX_INT : JX_REAL;
    for (size_t i = 0; i < n; i++) {
        char place[JX_POINTER_SIZE];
        jx_pointer_index(pointer, i, place, sizeof place);
        decode_list_element(d, &item, lone ? json : json_array_get(json, i), lone ? pointer : place,
                            i, out);
    }
    if (field->type == JX_INTS) {
        out->ints.count = n;
    } else {
        out->reals.count = n;
    }
}

/* ---- text ---- */

bool jx_string_fits(struct jx_decoder *d, const struct jx_field *field, const json_t *json,
                    const char *pointer)
{
    char range[RANGE_SIZE];
    if (!json_is_string(json)) {
        jx_report(d, pointer, "must be a string, not %s", jx_type_name(json));
        return false;
    }
    size_t n = json_string_length(json);
    if (!in_range(field, (double)n)) {
        jx_report(d, pointer, "must have a length%s bytes, not %zu", range_text(field, range), n);
        return false;
    }
    if (field->type == JX_CHARS && n >= field->size) {
        jx_report(d, pointer, "must have at most %zu bytes, not %zu", field->size - 1, n);
        return false;
    }
    if (strlen(json_string_value(json)) != n) {
        jx_report(d, pointer, "must not hold a NUL character");
        return false;
    }
    return true;
}

static void list_choices(const struct jx_choice *choices, char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; choices[i].name && used < size; i++) {
        int n = snprintf(out + used, size - used, "%s%s", i > 0 ? ", " : "", choices[i].name);
        used += n > 0 ? (size_t)n : 0;
    }
}

void jx_decode_choice(struct jx_decoder *d, const struct jx_field *field, const json_t *json,
                      const char *pointer, union jx_value *out)
{
    char names[JX_TEXT_SIZE / 2];
    const char *name = json_string_value(json);
    const struct jx_choice *choice = name ? jx_choice_find(field->choices, name) : NULL;
    if (choice) {
        out->choice = choice->value;
        return;
    }
    list_choices(field->choices, names, sizeof names);
    const char *nearest = name ? jx_nearest(name, field->choices, sizeof *field->choices) : NULL;
    if (nearest) {
        jx_report(d, pointer, "must be one of %s; did you mean %s?", names, nearest);
    } else {
        jx_report(d, pointer, "must be one of %s", names);
    }
}
