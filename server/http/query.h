/* SPDX-License-Identifier: MIT
 *
 * Query parameters decoded by a table, and keyset cursors. A parameter that is not in the table,
 * comes twice or is out of range is 400 invalid_parameter and names the parameter.
 */
#ifndef HTTP_QUERY_H
#define HTTP_QUERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "server/base/error.h"
#include "server/http/request.h"

#define HTTP_LIMIT_MAX     500
#define HTTP_LIMIT_DEFAULT 100
#define HTTP_WAIT_MAX      55

enum http_param_type {
    HTTP_PARAM_INT,    /* int64_t, min..max */
    HTTP_PARAM_NUMBER, /* double, finite */
    HTTP_PARAM_BOOL,   /* bool: true, false */
    HTTP_PARAM_TEXT,   /* const char *, UTF-8 without control characters, at most max bytes */
    HTTP_PARAM_ID,     /* const char *, 32 lower-case hex digits */
    HTTP_PARAM_CHOICE, /* int, index into choices */
    HTTP_PARAM_LIST    /* struct http_list, comma separated; each in choices if there are any */
};

struct http_list {
    const char *const *items; /* NULL-terminated; NULL if the parameter is absent */
    size_t count;
};

/* One parameter. What is absent keeps the value that the caller put into the struct before. */
struct http_param {
    const char *name;
    enum http_param_type type;
    size_t offset; /* of the field in the caller's struct */
    int64_t min;
    int64_t max;                /* INT: range; TEXT: bytes, LIST: items (0: 1024 and 64) */
    const char *const *choices; /* NULL-terminated */
};

/* Rows that lists and polls share. */
#define HTTP_PARAM_ROW_LIMIT(type, field)                                                          \
    {                                                                                              \
        "limit", HTTP_PARAM_INT, offsetof(type, field), 1, HTTP_LIMIT_MAX, NULL                    \
    }
#define HTTP_PARAM_ROW_CURSOR(type, field)                                                         \
    {                                                                                              \
        "cursor", HTTP_PARAM_TEXT, offsetof(type, field), 1, 1024, NULL                            \
    }
#define HTTP_PARAM_ROW_WAIT(type, field)                                                           \
    {                                                                                              \
        "wait", HTTP_PARAM_INT, offsetof(type, field), 0, HTTP_WAIT_MAX, NULL                      \
    }

/* Decodes the whole query string into the struct at out. table may be NULL with n 0: then no
 * parameter is allowed at all. */
SV_MUST_CHECK enum sv_status http_query_decode(const struct http_request *req,
                                               const struct http_param *table, size_t n, void *out,
                                               struct sv_error *err);

/* The parameter's decoded text, unchecked; NULL if absent. */
const char *http_query_value(const struct http_request *req, const char *name);

/* A keyset cursor: the key values of the last row of a page, opaque to the client, bound to the
 * query (filters and sort) it was made for. */
#define HTTP_CURSOR_VALUES 4
#define HTTP_CURSOR_TEXT   256
enum http_cursor_kind { HTTP_CURSOR_INT, HTTP_CURSOR_NUMBER, HTTP_CURSOR_STRING, HTTP_CURSOR_NULL };
struct http_cursor_value {
    enum http_cursor_kind kind;
    int64_t integer;
    double number; /* NaN and infinities pass */
    char text[HTTP_CURSOR_TEXT];
};
struct http_cursor {
    size_t count; /* 0: none given, first page */
    struct http_cursor_value values[HTTP_CURSOR_VALUES];
};

/* signature: a hash of path, filters and sort, e.g. of the SQL order; the same must be given to
 * both.
 * encode: text in the request's memory, NULL when memory is exhausted or a text is too long. */
const char *http_cursor_encode(const struct http_request *req, uint64_t signature,
                               const struct http_cursor *cursor);
/* text NULL gives an empty cursor. kinds has one letter for each value: i(nteger), n(umber),
 * s(tring); a capital one may also be NULL. Damaged, of another signature or of other kinds:
 * SV_ERR_INVALID_PARAMETER. */
SV_MUST_CHECK enum sv_status http_cursor_decode(const char *text, uint64_t signature,
                                                const char *kinds, struct http_cursor *out,
                                                struct sv_error *err);
/* FNV-1a over a string; start with seed HTTP_HASH_SEED or chain. */
#define HTTP_HASH_SEED UINT64_C(14695981039346656037)
uint64_t http_hash(uint64_t seed, const char *text);

#endif
