/* SPDX-License-Identifier: MIT
 *
 * Shared by the files that walk field tables.
 */
#ifndef NN_JSON_FIELDS_INTERNAL_H
#define NN_JSON_FIELDS_INTERNAL_H

#include "core/json/json.h"

/* Integers beyond this do not survive a double (nor a browser). */
#define JX_EXACT ((int64_t)1 << 53)

/* One value of any type but JX_CHARS and JX_OBJECT. */
union jx_value {
    bool boolean;
    int64_t integer;
    size_t size;
    uint64_t unsigned_integer;
    double real;
    const char *string;
    int choice;
    struct jx_ints ints;
    struct jx_reals reals;
    const json_t *json;
};

/* Bytes of a field's value in its struct. */
size_t jx_field_size(const struct jx_field *field);

/* Writes the fallback (or zero) of a field to its place; `given` too. An object: its defaults. */
void jx_field_default(const struct jx_field *field, void *out_struct);

/* Sets the bool that tells whether there is a value, if the field has one. */
void jx_field_set_given(const struct jx_field *field, void *out_struct, bool given);

/* A value as JSON; `value` points to the field's storage. NULL when out of memory. */
json_t *jx_field_encode(const struct jx_field *field, const void *value);

#endif
