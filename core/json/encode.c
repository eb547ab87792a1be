/* SPDX-License-Identifier: MIT
 *
 * Structs into full JSON objects, and the schema of a field table.
 */
#include <string.h>

#include "core/json/fields_internal.h"

/* Steals value; false when out of memory. */
static bool put(json_t *object, const char *key, json_t *value)
{
    return value && json_object_set_new(object, key, value) == 0;
}

static json_t *encode_list(const struct jx_field *field, const void *place)
{
    json_t *array = json_array();
    const struct jx_ints *ints = place;
    const struct jx_reals *reals = place;
    size_t n = field->type == JX_INTS ? ints->count : reals->count;
    for (size_t i = 0; array && i < n; i++) {
        json_t *item =
            field->type == JX_INTS ? json_integer(ints->value[i]) : jx_number(reals->value[i]);
        if (json_array_append_new(array, item) != 0) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

static json_t *encode_unsigned(uint64_t x)
{
    char digits[24];
    if (x <= (uint64_t)JX_EXACT) {
        return json_integer((json_int_t)x);
    }
    size_t at = sizeof digits;
    digits[--at] = '\0';
    for (; x > 0; x /= 10) {
        digits[--at] = (char)('0' + x % 10);
    }
    return json_string(digits + at);
}

static json_t *encode_simple(const struct jx_field *field, const union jx_value *value)
{
    switch (field->type) {
    case JX_BOOL:
        return json_boolean(value->boolean);
    case JX_INT:
        return json_integer(value->integer);
    case JX_SIZE:
        return json_integer((json_int_t)value->size);
    case JX_UINT64:
        return encode_unsigned(value->unsigned_integer);
    case JX_REAL:
        return jx_number(value->real);
    case JX_ENUM:
        return json_string(jx_choice_name(field->choices, value->choice));
    case JX_STRING:
        return value->string ? jx_text(value->string, SIZE_MAX) : json_null();
    case JX_INTS:
    case JX_REALS:
        return encode_list(field, value);
    case JX_ARRAY:
    case JX_MAP:
    case JX_ANY:
        return value->json ? json_deep_copy(value->json) : json_null();
    case JX_CHARS:
    case JX_OBJECT:
        break; /* jx_field_encode */
    }
    return NULL;
}

json_t *jx_field_encode(const struct jx_field *field, const void *place)
{
    if (field->type == JX_OBJECT) {
        return jx_encode(field->fields, place);
    }
    if (field->type == JX_CHARS) {
        return jx_text(place, strnlen(place, field->size));
    }
    union jx_value value = {0};
    memcpy(&value, place, jx_field_size(field));
    return encode_simple(field, &value);
}

static bool is_absent(const struct jx_field *field, const void *in)
{
    bool given = true;
    const void *pointer;
    switch (field->type) {
    case JX_STRING:
    case JX_ARRAY:
    case JX_MAP:
    case JX_ANY:
        memcpy(&pointer, (const char *)in + field->offset, sizeof pointer);
        return !pointer;
    case JX_OBJECT:
        if (!field->nullable) {
            return false;
        }
        break;
    case JX_BOOL:
    case JX_INT:
    case JX_SIZE:
    case JX_UINT64:
    case JX_REAL:
    case JX_CHARS:
    case JX_ENUM:
    case JX_INTS:
    case JX_REALS:
        break;
    }
    if (field->given > 0) {
        memcpy(&given, (const char *)in + field->given - 1, sizeof given);
    }
    return !given;
}

json_t *jx_encode(const struct jx_field *fields, const void *in)
{
    json_t *object = json_object();
    for (; object && fields->name; fields++) {
        bool absent = is_absent(fields, in);
        if (absent && !fields->nullable) {
            continue;
        }
        json_t *value =
            absent ? json_null() : jx_field_encode(fields, (const char *)in + fields->offset);
        if (!put(object, fields->name, value)) {
            json_decref(object);
            return NULL;
        }
    }
    return object;
}
