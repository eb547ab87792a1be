/* SPDX-License-Identifier: MIT
 *
 * Fallbacks of field tables. Written by programmers, so a malformed one is an assertion; read
 * without allocating, so that filling defaults cannot fail.
 */
#include <stdlib.h>
#include <string.h>

#include "core/json/fields_internal.h"

size_t jx_field_size(const struct jx_field *field)
{
    switch (field->type) {
    case JX_BOOL:
        return sizeof(bool);
    case JX_INT:
        return sizeof(int64_t);
    case JX_SIZE:
        return sizeof(size_t);
    case JX_UINT64:
        return sizeof(uint64_t);
    case JX_REAL:
        return sizeof(double);
    case JX_CHARS:
        return field->size;
    case JX_ENUM:
        return sizeof(int);
    case JX_INTS:
        return sizeof(struct jx_ints);
    case JX_REALS:
        return sizeof(struct jx_reals);
    case JX_OBJECT:
        return 0; /* its own fields are written one by one */
    case JX_STRING:
    case JX_ARRAY:
    case JX_MAP:
    case JX_ANY:
        break;
    }
    return sizeof(const void *);
}

void jx_field_set_given(const struct jx_field *field, void *out_struct, bool given)
{
    if (field->given > 0) {
        memcpy((char *)out_struct + field->given - 1, &given, sizeof given);
    }
}

/* The text between the quotes, copied. */
static void unquote(const char *text, char *out, size_t size)
{
    size_t n = strlen(text);
    NN_ASSERT(n >= 2 && text[0] == '"' && text[n - 1] == '"' && n - 2 < size);
    memcpy(out, text + 1, n - 2);
    out[n - 2] = '\0';
}

static int choice_value(const struct jx_field *field)
{
    char name[64];
    unquote(field->fallback, name, sizeof name);
    const struct jx_choice *choice = jx_choice_find(field->choices, name);
    NN_ASSERT(choice != NULL);
    return choice->value;
}

/* Numbers of "[a, b]" or "a" into out; returns how many. */
static size_t numbers(const char *text, double out[JX_LIST_MAX])
{
    size_t n = 0;
    text += text[0] == '[';
    while (*text && *text != ']') {
        char *end;
        NN_ASSERT(n < JX_LIST_MAX);
        out[n] = strtod(text, &end);
        NN_ASSERT(end != text);
        n++;
        text = end + strspn(end, ", ");
    }
    return n;
}

static void fill_list(const struct jx_field *field, union jx_value *value)
{
    double list[JX_LIST_MAX];
    size_t n = numbers(field->fallback, list);
    if (field->type == JX_REALS) {
        value->reals.count = n;
        memcpy(value->reals.value, list, n * sizeof *list);
        return;
    }
    value->ints.count = n;
    for (size_t i = 0; i < n; i++) {
        value->ints.value[i] = (int64_t)list[i];
    }
}

static void fill(const struct jx_field *field, union jx_value *value)
{
    const char *text = field->fallback;
    switch (field->type) {
    case JX_BOOL:
        value->boolean = strcmp(text, "true") == 0;
        break;
    case JX_INT:
        value->integer = (int64_t)strtod(text, NULL);
        break;
    case JX_SIZE:
        value->size = (size_t)strtod(text, NULL);
        break;
    case JX_UINT64:
        value->unsigned_integer = strtoull(text, NULL, 10);
        break;
    case JX_REAL:
        value->real = strtod(text, NULL);
        break;
    case JX_ENUM:
        value->choice = choice_value(field);
        break;
    case JX_INTS:
    case JX_REALS:
        fill_list(field, value);
        break;
    case JX_STRING:
    case JX_CHARS:
    case JX_OBJECT:
    case JX_ARRAY:
    case JX_MAP:
    case JX_ANY:
        NN_ASSERT(field->type == 0 && "a type that has no fallback");
        break;
    }
}

void jx_field_default(const struct jx_field *field, void *out_struct)
{
    char *place = (char *)out_struct + field->offset;
    if (field->type == JX_OBJECT) {
        jx_defaults(field->fields, place);
        jx_field_set_given(field, out_struct, false);
        return;
    }
    jx_field_set_given(field, out_struct, field->fallback != NULL);
    if (!field->fallback) {
        memset(place, 0, jx_field_size(field));
    } else if (field->type == JX_CHARS) {
        memset(place, 0, field->size);
        unquote(field->fallback, place, field->size);
    } else {
        union jx_value value = {0};
        fill(field, &value);
        memcpy(place, &value, jx_field_size(field));
    }
}

void jx_defaults(const struct jx_field *fields, void *out)
{
    for (; fields->name; fields++) {
        jx_field_default(fields, out);
    }
}
