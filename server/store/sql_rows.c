/* SPDX-License-Identifier: MIT
 *
 * Rows of a statement: columns in binary form become plain values. Lengths are checked, since a
 * wrong column type in a query of ours must not read beyond the row.
 */
#include <endian.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "server/store/sql_internal.h"

void sql_rows_clear(struct sql_rows *rows)
{
    PQclear(rows->result);
    *rows = (struct sql_rows){0};
}

bool sql_read_null(struct sql_reader *reader)
{
    return PQgetisnull(reader->rows->result, reader->row, reader->column) == 1;
}

void sql_skip(struct sql_reader *reader)
{
    reader->column++;
}

/* The next column's bytes; NULL for null. */
static const unsigned char *next_bytes(struct sql_reader *reader, size_t *out_n)
{
    int column = reader->column++;
    *out_n = 0;
    if (PQgetisnull(reader->rows->result, reader->row, column)) {
        return NULL;
    }
    *out_n = (size_t)PQgetlength(reader->rows->result, reader->row, column);
    return (const unsigned char *)PQgetvalue(reader->rows->result, reader->row, column);
}

static uint32_t load_u32(const unsigned char *at)
{
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return be32toh(value);
}

static uint64_t load_u64(const unsigned char *at)
{
    uint64_t value;
    memcpy(&value, at, sizeof value);
    return be64toh(value);
}

static double load_real(const unsigned char *at, size_t width)
{
    if (width == 4) {
        uint32_t bits = load_u32(at);
        float value;
        memcpy(&value, &bits, sizeof value);
        return (double)value;
    }
    uint64_t bits = load_u64(at);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static int64_t load_int(const unsigned char *at, size_t width)
{
    return width == 8 ? (int64_t)load_u64(at) : (int64_t)(int32_t)load_u32(at);
}

int64_t sql_read_int(struct sql_reader *reader)
{
    size_t n;
    const unsigned char *bytes = next_bytes(reader, &n);
    return bytes && (n == 4 || n == 8) ? load_int(bytes, n) : 0;
}

bool sql_read_bool(struct sql_reader *reader)
{
    size_t n;
    const unsigned char *bytes = next_bytes(reader, &n);
    return bytes && n == 1 && bytes[0] != 0;
}

double sql_read_real(struct sql_reader *reader)
{
    size_t n;
    const unsigned char *bytes = next_bytes(reader, &n);
    return bytes && (n == 4 || n == 8) ? load_real(bytes, n) : (double)NAN;
}

const char *sql_read_text(struct sql_reader *reader)
{
    size_t n;
    const unsigned char *bytes = next_bytes(reader, &n);
    return bytes ? store_memory_copy(reader->memory, (const char *)bytes, n) : NULL;
}

const char *sql_read_text0(struct sql_reader *reader)
{
    const char *text = sql_read_text(reader);
    return text ? text : "";
}

uint64_t sql_read_seed(struct sql_reader *reader)
{
    size_t n;
    const unsigned char *bytes = next_bytes(reader, &n);
    return bytes ? strtoull((const char *)bytes, NULL, 10) : 0;
}

static void write_hex(const unsigned char *bytes, size_t n, char *out_text)
{
    static const char DIGITS[] = "0123456789abcdef";
    for (size_t i = 0; i < n; i++) {
        out_text[2 * i] = DIGITS[bytes[i] >> 4];
        out_text[2 * i + 1] = DIGITS[bytes[i] & 15];
    }
    out_text[2 * n] = '\0';
}

void sql_read_id(struct sql_reader *reader, char out_id[SV_ID_SIZE])
{
    size_t n;
    const unsigned char *bytes = next_bytes(reader, &n);
    write_hex(bytes, n == 16 ? n : 0, out_id);
}

void sql_read_digest(struct sql_reader *reader, char out_hex[65])
{
    size_t n;
    const unsigned char *bytes = next_bytes(reader, &n);
    write_hex(bytes, n == STORE_DIGEST_SIZE ? n : 0, out_hex);
}

void sql_read_time(struct sql_reader *reader, char out_time[STORE_TIME_SIZE])
{
    size_t n;
    const unsigned char *bytes = next_bytes(reader, &n);
    n = n < STORE_TIME_SIZE ? n : STORE_TIME_SIZE - 1;
    if (n > 0) {
        memcpy(out_time, bytes, n);
    }
    out_time[n] = '\0';
}

const void *sql_read_bytes(struct sql_reader *reader, size_t *out_n)
{
    return next_bytes(reader, out_n);
}

/* ---- arrays ---- */

enum { ARRAY_HEADER_BYTES = 20 };

/* Bytes behind the header of a one-dimensional array and its length; NULL for null, empty or
 * anything else. */
static const unsigned char *array_open(const unsigned char *bytes, size_t size, size_t *out_n)
{
    *out_n = 0;
    if (!bytes || size < ARRAY_HEADER_BYTES || load_u32(bytes) != 1) {
        return NULL;
    }
    *out_n = load_u32(bytes + 12);
    return bytes + ARRAY_HEADER_BYTES;
}

struct sql_array sql_read_array(struct sql_reader *reader)
{
    size_t size;
    size_t n;
    const unsigned char *bytes = next_bytes(reader, &size);
    const unsigned char *at = array_open(bytes, size, &n);
    if (!at || n == 0 || size < ARRAY_HEADER_BYTES + 8) {
        return (struct sql_array){0};
    }
    uint32_t width = load_u32(at);
    if ((width != 4 && width != 8) || (size - ARRAY_HEADER_BYTES) / (4 + width) < n) {
        return (struct sql_array){0};
    }
    return (struct sql_array){.elements = at, .n = n, .width = (int)width};
}

static const unsigned char *element_at(const struct sql_array *array, size_t i)
{
    return array->elements + i * (4 + (size_t)array->width) + 4;
}

int64_t sql_array_int(const struct sql_array *array, size_t i)
{
    return load_int(element_at(array, i), (size_t)array->width);
}

double sql_array_real(const struct sql_array *array, size_t i)
{
    return load_real(element_at(array, i), (size_t)array->width);
}

int64_t *sql_read_int_array(struct sql_reader *reader, size_t *out_n)
{
    struct sql_array array = sql_read_array(reader);
    int64_t *values = store_memory_array(reader->memory, array.n, sizeof *values);
    *out_n = values ? array.n : 0;
    for (size_t i = 0; i < *out_n; i++) {
        values[i] = sql_array_int(&array, i);
    }
    return values;
}

double *sql_read_real_array(struct sql_reader *reader, size_t *out_n)
{
    struct sql_array array = sql_read_array(reader);
    double *values = store_memory_array(reader->memory, array.n, sizeof *values);
    *out_n = values ? array.n : 0;
    for (size_t i = 0; i < *out_n; i++) {
        values[i] = sql_array_real(&array, i);
    }
    return values;
}

const char **sql_read_text_array(struct sql_reader *reader, size_t *out_n)
{
    size_t size;
    size_t n;
    const unsigned char *bytes = next_bytes(reader, &size);
    const unsigned char *end = bytes ? bytes + size : NULL;
    const unsigned char *at = array_open(bytes, size, &n);
    const char **values = store_memory_array(reader->memory, n, sizeof *values);
    *out_n = 0;
    for (size_t i = 0; values && at && i < n && end - at >= 4; i++) {
        uint32_t length = load_u32(at);
        at += 4;
        length = length == UINT32_MAX || (size_t)(end - at) < length ? 0 : length;
        values[i] = store_memory_copy(reader->memory, (const char *)at, length);
        at += length;
        *out_n = i + 1;
    }
    return values;
}
