/* SPDX-License-Identifier: MIT
 *
 * Keyset pages. A cursor is the number of the page's last row and, behind a dot, its sort key in
 * hex ("-" for null): "17", "17.-", "17.6e616d65".
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/store/list_internal.h"

enum { LIMIT_MAX = 500, SQL_BYTES = 6000 };

static enum sv_status bad_cursor(struct sv_error *err)
{
    return sv_fail_parameter(err, SV_ERR_INVALID_PARAMETER, "cursor",
                             "cursor is not one that a list gave out");
}

static int hex_digit(char c)
{
    static const char DIGITS[] = "0123456789abcdef";
    const char *at = c ? strchr(DIGITS, c) : NULL;
    return at ? (int)(at - DIGITS) : -1;
}

/* NULL for anything but pairs of digits without a NUL among what they mean. */
static const char *decode_key(struct store_memory *memory, const char *hex)
{
    size_t n = strlen(hex) / 2;
    char *key = store_memory_take(memory, n + 1);
    for (size_t i = 0; key && i < n; i++) {
        int high = hex_digit(hex[2 * i]);
        int low = hex_digit(hex[2 * i + 1]);
        if (high < 0 || low < 0 || high + low == 0) {
            return NULL;
        }
        key[i] = (char)(high * 16 + low);
    }
    return strlen(hex) % 2 == 0 ? key : NULL;
}

enum sv_status store_cursor_parse(const char *cursor, struct store_memory *memory,
                                  struct store_cursor *out_cursor, struct sv_error *err)
{
    struct store_cursor parsed = {0};
    if (cursor && *cursor) {
        char *end = NULL;
        errno = 0;
        parsed.number = strtoll(cursor, &end, 10);
        if (*cursor < '0' || *cursor > '9' || errno != 0 || (*end != '\0' && *end != '.')) {
            return bad_cursor(err);
        }
        if (*end == '.' && strcmp(end, ".-") != 0) {
            parsed.key = decode_key(memory, end + 1);
            if (!parsed.key) {
                return bad_cursor(err);
            }
        }
        parsed.present = true;
    }
    *out_cursor = parsed;
    return SV_OK;
}

const char *store_cursor_make(struct store_memory *memory, int64_t number, const char *key)
{
    static const char DIGITS[] = "0123456789abcdef";
    size_t n = key ? strlen(key) : 1;
    char *text = store_memory_take(memory, 24 + 2 * n);
    if (!text) {
        return NULL;
    }
    int at = snprintf(text, 24, "%" PRId64 ".%s", number, key ? "" : "-");
    for (size_t i = 0; key && i < n; i++) {
        text[at++] = DIGITS[(unsigned char)key[i] >> 4];
        text[at++] = DIGITS[(unsigned char)key[i] & 15];
    }
    return text;
}

enum sv_status store_page_begin(const struct store_page *page, struct store_memory *memory,
                                struct store_cursor *out_cursor, struct sv_error *err)
{
    if (page->limit < 1 || page->limit > LIMIT_MAX) {
        return sv_fail_parameter(err, SV_ERR_INVALID_PARAMETER, "limit",
                                 "limit must be from 1 to %d", LIMIT_MAX);
    }
    return store_cursor_parse(page->cursor, memory, out_cursor, err);
}

/* Project, cursor, filters, which the predicates of every list count on; behind them how many rows
 * are wanted, one more than the page has. As a parameter: one statement serves pages of any size.
 */
static enum sv_status add_params(const struct store_listing *listing, struct store_memory *memory,
                                 struct sql_params *params, struct sv_error *err)
{
    struct store_cursor cursor = {0};
    enum sv_status st = store_page_begin(listing->page, memory, &cursor, err);
    if (st != SV_OK) {
        return st;
    }
    sql_text(params, listing->scope->project_id);
    sql_bool(params, cursor.present);
    sql_int(params, cursor.number);
    sql_text(params, cursor.key);
    for (size_t i = 0; i < listing->n_filters; i++) {
        sql_text(params, listing->filters[i]);
    }
    sql_int(params, (int64_t)listing->page->limit + 1);
    return SV_OK;
}

/* Hands out the rows of the page; one more row than that tells that there is a next page. */
static enum sv_status cut_page(struct sql_rows *rows, const struct store_shape *shape, size_t limit,
                               struct store_memory *memory, struct store_rows *out,
                               struct sv_error *err)
{
    out->n = (size_t)rows->n < limit ? (size_t)rows->n : limit;
    out->rows = store_memory_array(memory, out->n, shape->size);
    for (size_t i = 0; out->rows && i < out->n; i++) {
        struct sql_reader reader = {.rows = rows, .row = (int)i, .memory = memory};
        int64_t number = sql_read_int(&reader);
        const char *key = sql_read_text(&reader);
        shape->read(&reader, (char *)out->rows + i * shape->size);
        if (i + 1 == limit && (size_t)rows->n > limit) {
            out->next = store_cursor_make(memory, number, key);
        }
    }
    sql_rows_clear(rows);
    return store_memory_check(memory, err);
}

enum sv_status store_read_page(struct store *store, const char *sql, struct sql_params *params,
                               const struct store_shape *shape, const struct store_page *page,
                               struct store_memory *memory, struct store_rows *out_rows,
                               struct sv_error *err)
{
    struct sql_rows rows = {0};
    struct store_rows found = {0};
    enum sv_status st = store_query(store, sql, params, &rows, err);
    if (st == SV_OK) {
        st = cut_page(&rows, shape, page->limit, memory, &found, err);
    }
    if (st == SV_OK) {
        *out_rows = found;
    }
    return st;
}

enum sv_status store_list_read(struct store *store, const struct store_resource *resource,
                               const struct store_listing *listing, struct store_memory *memory,
                               struct store_rows *out_rows, struct sv_error *err)
{
    char sql[SQL_BYTES];
    const struct store_order *order = &resource->orders[listing->sort];
    struct sql_params params = {0};
    int n = snprintf(sql, sizeof sql,
                     "select r.number, (%s)::text, %s from (select r.* from %s r where %s and"
                     " (not $2::boolean or ($3::bigint is not null and $4::text is not distinct"
                     " from $4::text and (%s))) order by %s limit $%zu) r %s order by %s",
                     order->key, resource->columns, resource->table, resource->where, order->after,
                     order->by, listing->n_filters + 5, resource->joins, order->by);
    if (n < 0 || (size_t)n >= sizeof sql) {
        return sv_fail(err, SV_ERR_INTERNAL, "a statement is too long");
    }
    enum sv_status st = add_params(listing, memory, &params, err);
    if (st != SV_OK) {
        return st;
    }
    st = store_read_page(store, sql, &params, &resource->row, listing->page, memory, out_rows, err);
    if (st == SV_ERR_INVALID_FIELD) {
        return listing->page->cursor ? bad_cursor(err)
                                     : sv_fail_parameter(err, SV_ERR_INVALID_PARAMETER, "",
                                                         "a filter has a value that cannot be");
    }
    return st;
}

enum sv_status store_one_read(struct store *store, const struct store_resource *resource,
                              const struct store_scope *scope, const char *id,
                              struct store_memory *memory, void *out_row, struct sv_error *err)
{
    char sql[SQL_BYTES];
    struct sql_params params = {0};
    struct store_shape shape = {resource->row.size, resource->read_one};
    enum sv_status st = store_id_check(id, resource->what, err);
    if (st != SV_OK) {
        return st;
    }
    int n = snprintf(
        sql, sizeof sql, "select %s%s from %s r %s where r.id = $1 and r.project_id = $2",
        resource->columns, resource->more ? resource->more : "", resource->table, resource->joins);
    if (n < 0 || (size_t)n >= sizeof sql) {
        return sv_fail(err, SV_ERR_INTERNAL, "a statement is too long");
    }
    sql_text(&params, id);
    sql_text(&params, scope->project_id);
    return store_read_row(store, sql, &params, &shape, resource->what, memory, out_row, err);
}

enum sv_status store_not_found(const char *what, struct sv_error *err)
{
    return sv_fail(err, SV_ERR_NOT_FOUND, "no such %s", what);
}

enum sv_status store_id_check(const char *id, const char *what, struct sv_error *err)
{
    return sv_id_is_valid(id) ? SV_OK : store_not_found(what, err);
}

const char *store_flag_filter(int flag)
{
    return flag < 0 ? NULL : flag ? "t" : "f";
}

const char *store_search_pattern(struct store_memory *memory, const char *text)
{
    if (!text) {
        return NULL;
    }
    char *pattern = store_memory_array(memory, 2 * strlen(text) + 3, 1);
    size_t n = 0;
    if (pattern) {
        pattern[n++] = '%';
        for (const char *c = text; *c; c++) {
            if (strchr("%_\\", *c)) {
                pattern[n++] = '\\';
            }
            pattern[n++] = *c;
        }
        pattern[n] = '%';
    }
    return pattern;
}
