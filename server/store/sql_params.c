/* SPDX-License-Identifier: MIT
 *
 * Parameters of a statement. Arrays are written in PostgreSQL's binary form: dimensions, a flag for
 * nulls, the element type, length and lower bound, then {length, payload} per element, all in
 * network order.
 */
#include <endian.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "server/store/sql_internal.h"

/* Types by their fixed numbers in pg_type. */
enum {
    OID_BYTEA = 17,
    OID_INT8 = 20,
    OID_INT4 = 23,
    OID_TEXT = 25,
    OID_FLOAT4 = 700,
    OID_FLOAT8 = 701,
    OID_INT4_ARRAY = 1007,
    OID_TEXT_ARRAY = 1009,
    OID_INT8_ARRAY = 1016,
    OID_FLOAT4_ARRAY = 1021,
    OID_FLOAT8_ARRAY = 1022,
};

enum { ARRAY_HEADER_BYTES = 20 };

static void add(struct sql_params *params, Oid type, const void *value, size_t length, int format)
{
    if (params->n >= SQL_PARAMS_MAX || length > INT32_MAX) {
        params->memory.failed = true;
        return;
    }
    params->types[params->n] = type;
    params->values[params->n] = value;
    params->lengths[params->n] = (int)length;
    params->formats[params->n] = format;
    params->n++;
}

void sql_text(struct sql_params *params, const char *text)
{
    add(params, 0, text, 0, 0);
}

void sql_text_or_null(struct sql_params *params, const char *text)
{
    sql_text(params, text && *text ? text : NULL);
}

__attribute__((format(printf, 2, 3))) static void add_printed(struct sql_params *params,
                                                              const char *fmt, ...)
{
    char text[32];
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    add(params, 0, store_memory_copy(&params->memory, text, (size_t)n), 0, 0);
}

void sql_int(struct sql_params *params, int64_t value)
{
    add_printed(params, "%" PRId64, value);
}

void sql_bool(struct sql_params *params, bool value)
{
    sql_text(params, value ? "t" : "f");
}

static uint64_t bits_of_double(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

void sql_real(struct sql_params *params, double value)
{
    uint64_t *word = store_memory_take(&params->memory, sizeof *word);
    if (word) {
        *word = htobe64(bits_of_double(value));
        add(params, OID_FLOAT8, word, sizeof *word, 1);
    }
}

void sql_bytes(struct sql_params *params, const void *data, size_t size)
{
    add(params, OID_BYTEA, data, size, 1);
}

static unsigned char *put_u32(unsigned char *at, uint32_t value)
{
    value = htobe32(value);
    memcpy(at, &value, sizeof value);
    return at + sizeof value;
}

static unsigned char *put_u64(unsigned char *at, uint64_t value)
{
    value = htobe64(value);
    memcpy(at, &value, sizeof value);
    return at + sizeof value;
}

/* Room for an array of n elements with `payload` bytes in all; *out_at is behind the header. An
 * empty array has no dimension. */
static unsigned char *array_begin(struct sql_params *params, Oid element, size_t n, bool nulls,
                                  size_t payload, unsigned char **out_at)
{
    if (n > INT32_MAX / 16 || payload > INT32_MAX / 2) {
        params->memory.failed = true;
        return NULL;
    }
    unsigned char *bytes = store_memory_take(&params->memory, ARRAY_HEADER_BYTES + 4 * n + payload);
    if (!bytes) {
        return NULL;
    }
    unsigned char *at = put_u32(bytes, n > 0);
    at = put_u32(at, nulls);
    at = put_u32(at, element);
    if (n > 0) {
        at = put_u32(at, (uint32_t)n);
        at = put_u32(at, 1);
    }
    *out_at = at;
    return bytes;
}

void sql_int_array(struct sql_params *params, const int64_t *values, size_t n)
{
    unsigned char *at;
    unsigned char *bytes = array_begin(params, OID_INT8, n, false, 8 * n, &at);
    for (size_t i = 0; bytes && i < n; i++) {
        at = put_u64(put_u32(at, 8), (uint64_t)values[i]);
    }
    if (bytes) {
        add(params, OID_INT8_ARRAY, bytes, (size_t)(at - bytes), 1);
    }
}

void sql_int4_array(struct sql_params *params, const int32_t *values, size_t n)
{
    unsigned char *at;
    unsigned char *bytes = array_begin(params, OID_INT4, n, false, 4 * n, &at);
    for (size_t i = 0; bytes && i < n; i++) {
        at = put_u32(put_u32(at, 4), (uint32_t)values[i]);
    }
    if (bytes) {
        add(params, OID_INT4_ARRAY, bytes, (size_t)(at - bytes), 1);
    }
}

void sql_real_array(struct sql_params *params, const double *values, size_t n)
{
    unsigned char *at;
    unsigned char *bytes = array_begin(params, OID_FLOAT8, n, false, 8 * n, &at);
    for (size_t i = 0; bytes && i < n; i++) {
        at = put_u64(put_u32(at, 8), bits_of_double(values[i]));
    }
    if (bytes) {
        add(params, OID_FLOAT8_ARRAY, bytes, (size_t)(at - bytes), 1);
    }
}

void sql_float_array(struct sql_params *params, const float *values, size_t n)
{
    unsigned char *at;
    unsigned char *bytes = array_begin(params, OID_FLOAT4, n, false, 4 * n, &at);
    for (size_t i = 0; bytes && i < n; i++) {
        uint32_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        at = put_u32(put_u32(at, 4), bits);
    }
    if (bytes) {
        add(params, OID_FLOAT4_ARRAY, bytes, (size_t)(at - bytes), 1);
    }
}

void sql_text_array(struct sql_params *params, const char *const *values, size_t n)
{
    size_t payload = 0;
    bool nulls = false;
    for (size_t i = 0; i < n; i++) {
        payload += values[i] ? strlen(values[i]) : 0;
        nulls = nulls || !values[i];
    }
    unsigned char *at;
    unsigned char *bytes = array_begin(params, OID_TEXT, n, nulls, payload, &at);
    for (size_t i = 0; bytes && i < n; i++) {
        size_t size = values[i] ? strlen(values[i]) : 0;
        at = put_u32(at, values[i] ? (uint32_t)size : UINT32_MAX);
        if (size > 0) {
            memcpy(at, values[i], size);
            at += size;
        }
    }
    if (bytes) {
        add(params, OID_TEXT_ARRAY, bytes, (size_t)(at - bytes), 1);
    }
}

void sql_params_clear(struct sql_params *params)
{
    store_memory_clear(&params->memory);
    params->n = 0;
}
