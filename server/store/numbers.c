/* SPDX-License-Identifier: MIT
 *
 * From a number to an id.
 */
#include "server/store/numbers.h"

#include "server/store/list_internal.h"

#define OF(table) "select id from " table " where project_id = $1 and number = $2"

static const struct {
    const char *what, *sql;
} KINDS[] = {
    [STORE_NUMBERED_JOB] = {"job", OF("job")},
    [STORE_NUMBERED_TRIAL] = {"trial", OF("trial")},
    [STORE_NUMBERED_DATASET] = {"data set", OF("dataset")},
    [STORE_NUMBERED_WEIGHTS] = {"weights", OF("weights")},
    [STORE_NUMBERED_EXPERIMENT] = {"experiment", OF("experiment")},
};

enum sv_status store_number_find(struct store *store, const struct store_scope *scope,
                                 enum store_numbered kind, int64_t number, char out_id[SV_ID_SIZE],
                                 struct sv_error *err)
{
    struct sql_params params = {0};
    struct sql_rows rows = {0};
    sql_text(&params, scope->project_id);
    sql_int(&params, number);
    enum sv_status st = store_query(store, KINDS[kind].sql, &params, &rows, err);
    if (st != SV_OK) {
        return st;
    }
    struct sql_reader reader = {.rows = &rows};
    bool found = rows.n > 0;
    if (found) {
        sql_read_id(&reader, out_id);
    }
    sql_rows_clear(&rows);
    return found ? SV_OK : store_not_found(KINDS[kind].what, err);
}
