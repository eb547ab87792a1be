/* SPDX-License-Identifier: MIT
 *
 * The binary payloads. Points: {u16 names, u16 points}, per name {u8 length, bytes}, per point
 * {u8 name index, i64 step, f64 value}, unaligned, in the machine's byte order (both ends are the
 * same binary). Predictions: {u32 part, u32 rows}, then the rows as they lie in memory. Threads:
 * one u32.
 */
#include <stdlib.h>
#include <string.h>

#include "server/wire/wire.h"

enum { MAX_NAMES = 255, POINT_BYTES = 1 + 8 + 8 };

struct name_table {
    const char *names[MAX_NAMES];
    size_t n;
    size_t bytes; /* of the encoded table */
};

/* Index of the name, added if new; -1 when the table is full or the name has no valid length. */
static int name_index(struct name_table *table, const char *name)
{
    for (size_t i = 0; i < table->n; i++) {
        if (table->names[i] == name || strcmp(table->names[i], name) == 0) {
            return (int)i;
        }
    }
    size_t length = strlen(name);
    if (table->n == MAX_NAMES || length == 0 || length > WIRE_METRIC_MAX) {
        return -1;
    }
    table->names[table->n] = name;
    table->bytes += 1 + length;
    return (int)table->n++;
}

static char *write_head(char *at, const struct name_table *table, size_t n)
{
    uint16_t counts[2] = {(uint16_t)table->n, (uint16_t)n};
    memcpy(at, counts, sizeof counts);
    at += sizeof counts;
    for (size_t i = 0; i < table->n; i++) {
        size_t length = strlen(table->names[i]);
        *at++ = (char)length;
        memcpy(at, table->names[i], length);
        at += length;
    }
    return at;
}

enum sv_status wire_points_encode(const struct wire_point *points, size_t n, void **out_bytes,
                                  size_t *out_size)
{
    struct name_table table = {.n = 0};
    if (n > UINT16_MAX) {
        return SV_ERR_TOO_LARGE;
    }
    for (size_t i = 0; i < n; i++) {
        if (name_index(&table, points[i].metric) < 0) {
            return table.n == MAX_NAMES ? SV_ERR_TOO_LARGE : SV_ERR_INVALID_FIELD;
        }
    }
    size_t size = 2 * sizeof(uint16_t) + table.bytes + n * POINT_BYTES;
    char *bytes = malloc(size);
    if (!bytes) {
        return SV_ERR_INTERNAL;
    }
    char *at = write_head(bytes, &table, n);
    for (size_t i = 0; i < n; i++) {
        *at++ = (char)name_index(&table, points[i].metric);
        memcpy(at, &points[i].step, 8);
        memcpy(at + 8, &points[i].value, 8);
        at += 16;
    }
    *out_bytes = bytes;
    *out_size = size;
    return SV_OK;
}

/* Copies the name table behind the points, as C strings. Moves *at behind the table; false when the
 * payload ends too early or a name is malformed. */
static bool read_names(const char **at, const char *end, size_t n, char *text,
                       const char *names[MAX_NAMES])
{
    for (size_t i = 0; i < n; i++) {
        if (*at == end) {
            return false;
        }
        size_t length = (unsigned char)*(*at)++;
        if (length == 0 || length > WIRE_METRIC_MAX || (size_t)(end - *at) < length ||
            memchr(*at, '\0', length)) {
            return false;
        }
        memcpy(text, *at, length);
        text[length] = '\0';
        names[i] = text;
        text += length + 1;
        *at += length;
    }
    return true;
}

static bool read_points(const char *at, size_t n, const char *const *names, size_t n_names,
                        struct wire_point *points)
{
    for (size_t i = 0; i < n; i++) {
        size_t index = (unsigned char)*at;
        if (index >= n_names) {
            return false;
        }
        points[i].metric = names[index];
        memcpy(&points[i].step, at + 1, 8);
        memcpy(&points[i].value, at + 9, 8);
        at += POINT_BYTES;
    }
    return true;
}

enum sv_status wire_points_decode(const void *bytes, size_t size, struct wire_point **out_points,
                                  size_t *out_n)
{
    uint16_t counts[2];
    if (size < sizeof counts) {
        return SV_ERR_INVALID_FIELD;
    }
    memcpy(counts, bytes, sizeof counts);
    if (counts[0] > MAX_NAMES || size < (size_t)counts[1] * POINT_BYTES) {
        return SV_ERR_INVALID_FIELD;
    }
    size_t points_size = counts[1] * sizeof(struct wire_point);
    size_t names_size = (size_t)counts[0] * (WIRE_METRIC_MAX + 1);
    char *block = malloc(points_size + names_size + 1);
    if (!block) {
        return SV_ERR_INTERNAL;
    }
    struct wire_point *points = (struct wire_point *)(void *)block;
    const char *names[MAX_NAMES];
    const char *at = (const char *)bytes + sizeof counts;
    const char *end = (const char *)bytes + size;
    if (!read_names(&at, end, counts[0], block + points_size, names) ||
        (size_t)(end - at) != (size_t)counts[1] * POINT_BYTES ||
        !read_points(at, counts[1], names, counts[0], points)) {
        free(block);
        return SV_ERR_INVALID_FIELD;
    }
    *out_points = points;
    *out_n = counts[1];
    return SV_OK;
}

_Static_assert(sizeof(struct wire_prediction) == 16, "rows travel without padding");

enum sv_status wire_predictions_encode(uint32_t part, const struct wire_prediction *rows, size_t n,
                                       void **out_bytes, size_t *out_size)
{
    uint32_t head[2] = {part, (uint32_t)n};
    if (n > WIRE_PREDICTIONS_MAX) {
        return SV_ERR_TOO_LARGE;
    }
    char *bytes = malloc(sizeof head + n * sizeof *rows);
    if (!bytes) {
        return SV_ERR_INTERNAL;
    }
    memcpy(bytes, head, sizeof head);
    if (n > 0) {
        memcpy(bytes + sizeof head, rows, n * sizeof *rows);
    }
    *out_bytes = bytes;
    *out_size = sizeof head + n * sizeof *rows;
    return SV_OK;
}

enum sv_status wire_predictions_decode(const void *bytes, size_t size, uint32_t *out_part,
                                       struct wire_prediction **out_rows, size_t *out_n)
{
    uint32_t head[2];
    if (size < sizeof head) {
        return SV_ERR_INVALID_FIELD;
    }
    memcpy(head, bytes, sizeof head);
    if (head[1] > WIRE_PREDICTIONS_MAX || size - sizeof head != head[1] * sizeof **out_rows) {
        return SV_ERR_INVALID_FIELD;
    }
    struct wire_prediction *rows = NULL;
    if (head[1] > 0) {
        rows = malloc(size - sizeof head);
        if (!rows) {
            return SV_ERR_INTERNAL;
        }
        memcpy(rows, (const char *)bytes + sizeof head, size - sizeof head);
    }
    *out_part = head[0];
    *out_rows = rows;
    *out_n = head[1];
    return SV_OK;
}

bool wire_threads_decode(const struct wire_record *record, unsigned *out_threads)
{
    uint32_t threads;
    if (record->size != sizeof threads) {
        return false;
    }
    memcpy(&threads, record->payload, sizeof threads);
    if (threads < 1 || threads > 1024) {
        return false;
    }
    *out_threads = threads;
    return true;
}
