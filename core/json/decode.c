/* SPDX-License-Identifier: MIT
 *
 * JSON objects into structs, by field tables. Goes on after a mistake, so that all are known at
 * once; every mistake carries the JSON pointer of its value.
 */
#include <string.h>

#include "core/json/decode_internal.h"

static void decode_value(struct jx_decoder *d, const struct jx_field *field, const json_t *json,
                         const char *pointer, void *place);

static void check_item(struct jx_decoder *d, const struct jx_field *item, const json_t *json,
                       const char *pointer)
{
    union jx_value scratch = {0};
    if (item->type != JX_OBJECT) {
        NN_ASSERT(item->type != JX_CHARS);
        decode_value(d, item, json, pointer, &scratch);
    } else if (!json_is_object(json)) {
        jx_report(d, pointer, "must be an object, not %s", jx_type_name(json));
    }
}

static void decode_array(struct jx_decoder *d, const struct jx_field *field, const json_t *json,
                         const char *pointer, union jx_value *out)
{
    if (!json_is_array(json)) {
        jx_report(d, pointer, "must be an array, not %s", jx_type_name(json));
        return;
    }
    out->json = json;
    if (!jx_count_fits(d, field, json_array_size(json), field->max_items, pointer)) {
        return;
    }
    for (size_t i = 0; field->items && i < json_array_size(json); i++) {
        char place[JX_POINTER_SIZE];
        jx_pointer_index(pointer, i, place, sizeof place);
        check_item(d, field->items, json_array_get(json, i), place);
    }
}

static void decode_map(struct jx_decoder *d, const struct jx_field *field, const json_t *json,
                       const char *pointer, union jx_value *out)
{
    if (!json_is_object(json)) {
        jx_report(d, pointer, "must be an object, not %s", jx_type_name(json));
        return;
    }
    out->json = json;
    if (!jx_count_fits(d, field, json_object_size(json), field->max_items, pointer)) {
        return;
    }
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)json, key, value)
    {
        char place[JX_POINTER_SIZE];
        jx_pointer_key(pointer, key, place, sizeof place);
        if (field->items) {
            check_item(d, field->items, value, place);
        }
    }
}

/* ---- objects ---- */

static void decode_object(struct jx_decoder *d, const struct jx_field *fields, const json_t *json,
                          const char *pointer, void *out);

static void decode_simple(struct jx_decoder *d, const struct jx_field *field, const json_t *json,
                          const char *pointer, union jx_value *out)
{
    switch (field->type) {
    case JX_BOOL:
        out->boolean = json_is_true(json);
        if (!json_is_boolean(json)) {
            jx_report(d, pointer, "must be true or false, not %s", jx_type_name(json));
        }
        break;
    case JX_INT:
    case JX_SIZE:
        jx_decode_integer(d, field, json, pointer, out);
        break;
    case JX_UINT64:
        jx_decode_unsigned(d, json, pointer, out);
        break;
    case JX_REAL:
        jx_decode_real(d, field, json, pointer, out);
        break;
    case JX_ENUM:
        jx_decode_choice(d, field, json, pointer, out);
        break;
    case JX_INTS:
    case JX_REALS:
        jx_decode_number_list(d, field, json, pointer, out);
        break;
    case JX_ARRAY:
        decode_array(d, field, json, pointer, out);
        break;
    case JX_MAP:
        decode_map(d, field, json, pointer, out);
        break;
    case JX_STRING:
        out->string = jx_string_fits(d, field, json, pointer) ? json_string_value(json) : NULL;
        break;
    case JX_ANY:
        out->json = json;
        break;
    case JX_CHARS:
    case JX_OBJECT:
        break; /* decode_value */
    }
}

static void decode_value(struct jx_decoder *d, const struct jx_field *field, const json_t *json,
                         const char *pointer, void *place)
{
    if (field->type == JX_OBJECT) {
        decode_object(d, field->fields, json, pointer, place);
    } else if (field->type == JX_CHARS) {
        memset(place, 0, field->size);
        if (jx_string_fits(d, field, json, pointer)) {
            memcpy(place, json_string_value(json), json_string_length(json));
        }
    } else {
        union jx_value value = {0};
        decode_simple(d, field, json, pointer, &value);
        memcpy(place, &value, jx_field_size(field));
    }
}

static void decode_field(struct jx_decoder *d, const struct jx_field *field, const json_t *json,
                         const char *object_pointer, void *out)
{
    char pointer[JX_POINTER_SIZE];
    jx_pointer_key(object_pointer, field->name, pointer, sizeof pointer);
    jx_field_default(field, out);
    if (!json) {
        if (field->required) {
            jx_report(d, pointer, "is required");
        }
    } else if (json_is_null(json) && field->nullable) {
        memset((char *)out + field->offset, 0, jx_field_size(field));
        jx_field_set_given(field, out, false);
    } else {
        jx_field_set_given(field, out, true);
        decode_value(d, field, json, pointer, (char *)out + field->offset);
    }
}

static void report_unknown(struct jx_decoder *d, const struct jx_field *fields, const json_t *json,
                           const char *object_pointer)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)json, key, value)
    {
        if (jx_field_find(fields, key)) {
            continue;
        }
        char pointer[JX_POINTER_SIZE];
        jx_pointer_key(object_pointer, key, pointer, sizeof pointer);
        const char *nearest = jx_nearest(key, fields, sizeof *fields);
        if (nearest) {
            jx_report(d, pointer, "unknown field \"%.64s\"; did you mean \"%s\"?", key, nearest);
        } else {
            jx_report(d, pointer, "unknown field \"%.64s\"", key);
        }
    }
}

static void decode_object(struct jx_decoder *d, const struct jx_field *fields, const json_t *json,
                          const char *pointer, void *out)
{
    if (!json_is_object(json)) {
        jx_defaults(fields, out);
        jx_report(d, pointer, "must be an object, not %s", json ? jx_type_name(json) : "missing");
        return;
    }
    report_unknown(d, fields, json, pointer);
    for (; fields->name; fields++) {
        decode_field(d, fields, json_object_get(json, fields->name), pointer, out);
    }
}

size_t jx_decode_all(const struct jx_field *fields, const json_t *json, const char *pointer,
                     void *out, jx_issue_fn issue, void *ctx)
{
    struct jx_decoder d = {.issue = issue, .ctx = ctx};
    decode_object(&d, fields, json, pointer, out);
    return d.count;
}

/* Keeps the first issue. */
struct first_issue {
    struct nn_error *err;
    bool seen;
};

static void keep_first(void *ctx, const char *pointer, const char *text)
{
    struct first_issue *first = ctx;
    if (!first->seen) {
        first->seen = true;
        (void)nn_fail_at(first->err, NN_ERR_INVALID, pointer, "%s", text);
    }
}

enum nn_status jx_decode(const struct jx_field *fields, const json_t *json, const char *pointer,
                         void *out, struct nn_error *err)
{
    struct first_issue first = {.err = err};
    size_t n = jx_decode_all(fields, json, pointer, out, keep_first, &first);
    return n == 0 ? NN_OK : NN_ERR_INVALID;
}
