/* SPDX-License-Identifier: MIT
 *
 * The JSON schema of a field table: what a client may send, from the rows that decode it.
 */
#include <string.h>

#include "core/json/fields_internal.h"

/* Steals value; false when out of memory. */
static bool put(json_t *object, const char *key, json_t *value)
{
    return value && json_object_set_new(object, key, value) == 0;
}

static const char *schema_type(const struct jx_field *field)
{
    switch (field->type) {
    case JX_BOOL:
        return "boolean";
    case JX_INT:
    case JX_SIZE:
        return "integer";
    case JX_REAL:
        return "number";
    case JX_STRING:
    case JX_CHARS:
    case JX_ENUM:
        return "string";
    case JX_INTS:
    case JX_REALS:
    case JX_ARRAY:
        return "array";
    case JX_OBJECT:
    case JX_MAP:
        return "object";
    case JX_UINT64:
    case JX_ANY:
        break;
    }
    return NULL;
}

/* "integer", or ["integer", "null", ...] where more than one type is taken. */
static json_t *type_value(const struct jx_field *field)
{
    if (field->type == JX_UINT64) {
        return field->nullable ? json_pack("[sss]", "integer", "string", "null")
                               : json_pack("[ss]", "integer", "string");
    }
    const char *type = schema_type(field);
    const char *lone = !field->scalar_too ? NULL : (field->type == JX_INTS ? "integer" : "number");
    if (!lone && !field->nullable) {
        return json_string(type);
    }
    return lone && field->nullable ? json_pack("[sss]", type, lone, "null")
                                   : json_pack("[ss]", type, lone ? lone : "null");
}

static json_t *bound(double x)
{
    bool whole = x >= -(double)JX_EXACT && x <= (double)JX_EXACT && x == (double)(int64_t)x;
    return whole ? json_integer((json_int_t)x) : json_real(x);
}

static bool put_bounds(json_t *schema, const struct jx_field *field)
{
    bool none = !(field->min < 0 || field->min > 0 || field->max < 0 || field->max > 0);
    if (none) {
        return field->type != JX_SIZE || put(schema, "minimum", json_integer(0));
    }
    return put(schema, field->above_min ? "exclusiveMinimum" : "minimum", bound(field->min)) &&
           put(schema, field->below_max ? "exclusiveMaximum" : "maximum", bound(field->max));
}

static bool put_lengths(json_t *schema, const struct jx_field *field)
{
    double most = field->max;
    if (field->type == JX_CHARS && (!(most > 0) || most > (double)(field->size - 1))) {
        most = (double)(field->size - 1);
    }
    return (!(field->min > 0) || put(schema, "minLength", bound(field->min))) &&
           (!(most > 0) || put(schema, "maxLength", bound(most)));
}

static bool put_counts(json_t *schema, const struct jx_field *field, bool map)
{
    size_t most = field->max_items;
    if (field->type == JX_INTS || field->type == JX_REALS) {
        most = most > 0 && most < JX_LIST_MAX ? most : JX_LIST_MAX;
    }
    const char *low = map ? "minProperties" : "minItems";
    const char *high = map ? "maxProperties" : "maxItems";
    return (field->min_items == 0 ||
            put(schema, low, json_integer((json_int_t)field->min_items))) &&
           (most == 0 || put(schema, high, json_integer((json_int_t)most)));
}

static bool put_choices(json_t *schema, const struct jx_field *field)
{
    json_t *names = json_array();
    bool fine = names != NULL;
    for (const struct jx_choice *c = field->choices; fine && c->name; c++) {
        fine = json_array_append_new(names, json_string(c->name)) == 0;
    }
    if (fine && field->nullable) {
        fine = json_array_append_new(names, json_null()) == 0;
    }
    return json_object_set_new(schema, "enum", names) == 0 && fine;
}

static json_t *field_schema(const struct jx_field *field);

static bool put_items(json_t *schema, const struct jx_field *field)
{
    if (field->type == JX_INTS || field->type == JX_REALS) {
        struct jx_field item = {.type = field->type == JX_INTS ? JX_INT : JX_REAL,
                                .min = field->min,
                                .max = field->max,
                                .above_min = field->above_min,
                                .below_max = field->below_max};
        return put(schema, "items", field_schema(&item));
    }
    const char *key = field->type == JX_MAP ? "additionalProperties" : "items";
    return !field->items || put(schema, key, field_schema(field->items));
}

static bool put_constraints(json_t *schema, const struct jx_field *field)
{
    switch (field->type) {
    case JX_INT:
    case JX_SIZE:
    case JX_REAL:
        return put_bounds(schema, field);
    case JX_STRING:
    case JX_CHARS:
        return put_lengths(schema, field);
    case JX_ENUM:
        return put_choices(schema, field);
    case JX_INTS:
    case JX_REALS:
    case JX_ARRAY:
    case JX_MAP:
        return put_counts(schema, field, field->type == JX_MAP) && put_items(schema, field);
    case JX_BOOL:
    case JX_UINT64:
    case JX_OBJECT:
    case JX_ANY:
        break;
    }
    return true;
}

static bool put_default(json_t *schema, const struct jx_field *field)
{
    if (!field->fallback) {
        return true;
    }
    json_t *value = json_loads(field->fallback, JSON_DECODE_ANY, NULL);
    if (!value && field->type == JX_UINT64) {
        value = json_string(field->fallback); /* beyond 63 bits: the digits */
    }
    return put(schema, "default", value);
}

static json_t *field_schema(const struct jx_field *field)
{
    json_t *schema = field->type == JX_OBJECT ? jx_schema(field->fields) : json_object();
    bool fine = schema != NULL;
    if (fine && (field->type != JX_OBJECT || field->nullable) && field->type != JX_ANY) {
        fine = put(schema, "type", type_value(field));
    }
    fine = fine && put_constraints(schema, field) && put_default(schema, field);
    fine = fine && (!field->doc || put(schema, "description", json_string(field->doc)));
    fine = fine &&
           (!field->unit || !field->unit[0] || put(schema, "x-unit", json_string(field->unit)));
    fine = fine && (!field->ref || put(schema, "$ref", json_string(field->ref)));
    if (!fine) {
        json_decref(schema);
        return NULL;
    }
    return schema;
}

json_t *jx_schema(const struct jx_field *fields)
{
    json_t *schema = json_object();
    json_t *properties = json_object();
    json_t *required = json_array();
    bool fine = schema && properties && required;
    for (; fine && fields->name; fields++) {
        fine = put(properties, fields->name, field_schema(fields));
        if (fine && fields->required) {
            fine = json_array_append_new(required, json_string(fields->name)) == 0;
        }
    }
    fine = fine && put(schema, "type", json_string("object")) &&
           put(schema, "additionalProperties", json_false()) &&
           json_object_set(schema, "properties", properties) == 0 &&
           (json_array_size(required) == 0 || json_object_set(schema, "required", required) == 0);
    json_decref(properties);
    json_decref(required);
    if (!fine) {
        json_decref(schema);
        return NULL;
    }
    return schema;
}
