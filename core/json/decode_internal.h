/* SPDX-License-Identifier: MIT
 *
 * Decoding of single values, shared by decode.c and decode_value.c.
 */
#ifndef NN_JSON_DECODE_INTERNAL_H
#define NN_JSON_DECODE_INTERNAL_H

#include "core/json/fields_internal.h"

enum { JX_POINTER_SIZE = 160, JX_TEXT_SIZE = 320 };

/* Where mistakes go, and how many there were. */
struct jx_decoder {
    jx_issue_fn issue;
    void *ctx;
    size_t count;
};

void jx_report(struct jx_decoder *d, const char *pointer, const char *fmt, ...) NN_PRINTF(3, 4);

/* "an object", "a number", ... */
const char *jx_type_name(const json_t *json);

/* False (and reported) when the number of items is out of bounds; most 0: no upper bound. */
bool jx_count_fits(struct jx_decoder *d, const struct jx_field *field, size_t n, size_t most,
                   const char *pointer);

/* False (and reported) unless json is a string within the field's bounds. */
bool jx_string_fits(struct jx_decoder *d, const struct jx_field *field, const json_t *json,
                    const char *pointer);

void jx_decode_integer(struct jx_decoder *d, const struct jx_field *field, const json_t *json,
                       const char *pointer, union jx_value *out);
void jx_decode_unsigned(struct jx_decoder *d, const json_t *json, const char *pointer,
                        union jx_value *out);
void jx_decode_real(struct jx_decoder *d, const struct jx_field *field, const json_t *json,
                    const char *pointer, union jx_value *out);
void jx_decode_number_list(struct jx_decoder *d, const struct jx_field *field, const json_t *json,
                           const char *pointer, union jx_value *out);
void jx_decode_choice(struct jx_decoder *d, const struct jx_field *field, const json_t *json,
                      const char *pointer, union jx_value *out);

#endif
