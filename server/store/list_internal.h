/* SPDX-License-Identifier: MIT
 *
 * What lists and creating calls share: keyset cursors, statements put together from constant
 * pieces, idempotency keys, ids that may be nonsense.
 */
#ifndef STORE_LIST_INTERNAL_H
#define STORE_LIST_INTERNAL_H

#include "server/store/sql_internal.h"

/* Where a page begins: behind the row with this number and sort key. */
struct store_cursor {
    bool present;
    int64_t number;
    const char *key; /* NULL: the sort has none, or the row's is null */
};
/* cursor NULL or "": from the beginning. SV_ERR_INVALID_PARAMETER "cursor". */
SV_MUST_CHECK enum sv_status store_cursor_parse(const char *cursor, struct store_memory *memory,
                                                struct store_cursor *out_cursor,
                                                struct sv_error *err);
/* Checks the limit too. */
SV_MUST_CHECK enum sv_status store_page_begin(const struct store_page *page,
                                              struct store_memory *memory,
                                              struct store_cursor *out_cursor,
                                              struct sv_error *err);
const char *store_cursor_make(struct store_memory *memory, int64_t number, const char *key);
/* One order of a list over a table of alias r. $2, $3, $4 are the cursor's present, number, key. */
struct store_order {
    const char *after; /* predicate: behind the cursor */
    const char *by;    /* order by */
    const char *key;   /* expression of the sort key for the next cursor, or "null" */
};
/* An order by an expression that may be null, nulls last, then by number. */
#define STORE_ORDER_NULLABLE(expression, type)                                                     \
    {                                                                                              \
        "case when $4::text is null then " expression                                              \
        " is null and r.number > $3 else " expression " > ($4::text)::" type " or " expression     \
        " is null or (" expression " = ($4::text)::" type " and r.number > $3) end",               \
            expression " nulls last, r.number", expression                                         \
    }

struct store_list_query {
    const char *columns; /* behind number and key, which every list selects first */
    const char *table;
    const char *where; /* project ($1) and filters ($5 ...), on r alone */
    const char *joins; /* to the rows of the page, may be "" */
    const struct store_order *order;
    const struct store_page *page;
};
/* Composes the statement: the page is cut from the table first, then joined. Runs it (params holds
 * the project as $1, the cursor, then the filters) and hands out the rows, of which the first
 * *out_n belong to the page; *out_next is the next cursor or NULL. */
SV_MUST_CHECK enum sv_status store_list_run(struct store *store,
                                            const struct store_list_query *query,
                                            struct sql_params *params, struct store_memory *memory,
                                            struct sql_rows *rows, size_t *out_n,
                                            const char **out_next, struct sv_error *err);
/* Checks the page and begins the parameters: project, cursor. */
SV_MUST_CHECK enum sv_status store_list_begin(const struct store_scope *scope,
                                              const struct store_page *page,
                                              struct store_memory *memory,
                                              struct sql_params *out_params, struct sv_error *err);

/* What a creating transaction is about to make. */
struct store_creation {
    const char *project_id;
    const struct store_idempotency *idempotency; /* NULL: none */
    const char *resource;                        /* "job" */
    const char *exists;                          /* query that finds the id in $1 */
    const char *new_id;
};
/* Finds or notes the idempotency key inside the transaction. *out_created is what was made before
 * (replayed), or new_id; *out_done: nothing is left to do, because the key was used before or, when
 * conn->repeated, an earlier run of this transaction was committed. */
SV_MUST_CHECK enum sv_status store_create_begin(struct store_conn *conn,
                                                const struct store_creation *creation,
                                                struct store_created *out_created, bool *out_done,
                                                struct sv_error *err);

/* SV_ERR_NOT_FOUND with `what` in the text unless id is well formed. */
SV_MUST_CHECK enum sv_status store_id_check(const char *id, const char *what, struct sv_error *err);
enum sv_status store_not_found(const char *what, struct sv_error *err);

/* A pattern for ILIKE that finds text anywhere; NULL for NULL. */
const char *store_search_pattern(struct store_memory *memory, const char *text);

#endif
