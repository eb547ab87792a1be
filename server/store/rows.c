/* SPDX-License-Identifier: MIT
 *
 * Statements whose rows become structs.
 */
#include <string.h>

#include "server/store/list_internal.h"

enum sv_status store_read_rows(struct store *store, const char *sql, struct sql_params *params,
                               const struct store_shape *shape, struct store_memory *memory,
                               struct store_rows *out_rows, struct sv_error *err)
{
    struct sql_rows rows = {0};
    enum sv_status st = store_query(store, sql, params, &rows, err);
    if (st != SV_OK) {
        return st;
    }
    size_t n = (size_t)rows.n;
    char *found = store_memory_array(memory, n, shape->size);
    for (size_t i = 0; found && i < n; i++) {
        struct sql_reader reader = {.rows = &rows, .row = (int)i, .memory = memory};
        shape->read(&reader, found + i * shape->size);
    }
    sql_rows_clear(&rows);
    st = store_memory_check(memory, err);
    if (st == SV_OK) {
        *out_rows = (struct store_rows){.rows = found, .n = n};
    }
    return st;
}

enum sv_status store_read_row(struct store *store, const char *sql, struct sql_params *params,
                              const struct store_shape *shape, const char *what,
                              struct store_memory *memory, void *out_row, struct sv_error *err)
{
    struct store_rows found = {0};
    enum sv_status st = store_read_rows(store, sql, params, shape, memory, &found, err);
    if (st == SV_OK && found.n == 0) {
        st = store_not_found(what, err);
    }
    if (st == SV_OK) {
        memcpy(out_row, found.rows, shape->size);
    }
    return st;
}
