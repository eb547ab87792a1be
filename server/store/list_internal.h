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

/* ---- rows into structs ---- */

/* Reads the columns of one row, from left to right, into a zeroed struct. */
typedef void (*store_row_fn)(struct sql_reader *reader, void *out_row);

struct store_shape {
    size_t size; /* of the struct */
    store_row_fn read;
};
struct store_rows {
    void *rows; /* array of structs */
    size_t n;
    const char *next; /* cursor of the next page; NULL: none */
};
/* One statement, every row of it a struct in memory. params (NULL: none) is cleared. */
SV_MUST_CHECK enum sv_status store_read_rows(struct store *store, const char *sql,
                                             struct sql_params *params,
                                             const struct store_shape *shape,
                                             struct store_memory *memory,
                                             struct store_rows *out_rows, struct sv_error *err);
/* A page of them: the statement is given one row more than the page has, and its rows begin with
 * the number and the key (text or null) of a cursor. */
SV_MUST_CHECK enum sv_status
store_read_page(struct store *store, const char *sql, struct sql_params *params,
                const struct store_shape *shape, const struct store_page *page,
                struct store_memory *memory, struct store_rows *out_rows, struct sv_error *err);
/* As store_read_rows for a statement of at most one row; SV_ERR_NOT_FOUND with `what` when there is
 * none. */
SV_MUST_CHECK enum sv_status store_read_row(struct store *store, const char *sql,
                                            struct sql_params *params,
                                            const struct store_shape *shape, const char *what,
                                            struct store_memory *memory, void *out_row,
                                            struct sv_error *err);

/* ---- resources ---- */

/* A table as people see it: what a list of its rows and a look at one have in common. */
struct store_resource {
    const char *what; /* in words, for "no such ..." */
    const char *table;
    const char *columns; /* alias r and those of joins */
    const char *joins;   /* to the rows of the page, may be "" */
    const char *where;   /* project ($1) and filters ($5 ...), on r alone */
    const struct store_order *orders;
    struct store_shape row; /* reads columns */
    const char *more;       /* ", ...": further columns of a look at one; NULL: none */
    store_row_fn read_one;  /* reads columns and more */
};
/* A list of them. */
struct store_listing {
    const struct store_scope *scope;
    const struct store_page *page;
    int sort;                   /* into orders */
    const char *const *filters; /* $5 ...; NULL: any */
    size_t n_filters;
};
#define STORE_FILTERS(array) (array), sizeof(array) / sizeof((array)[0])
/* Composes the statement: the page is cut from the table first, then joined. */
SV_MUST_CHECK enum sv_status store_list_read(struct store *store,
                                             const struct store_resource *resource,
                                             const struct store_listing *listing,
                                             struct store_memory *memory,
                                             struct store_rows *out_rows, struct sv_error *err);
/* One by its id, with more. */
SV_MUST_CHECK enum sv_status store_one_read(struct store *store,
                                            const struct store_resource *resource,
                                            const struct store_scope *scope, const char *id,
                                            struct store_memory *memory, void *out_row,
                                            struct sv_error *err);
/* Of a list that is filtered by yes, no or either (-1). */
const char *store_flag_filter(int flag);

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
/* Forgets the key of a creation that is taken back, in the transaction that does so. */
SV_MUST_CHECK enum sv_status store_key_forget(struct store_conn *conn, const char *project_id,
                                              const char *key, const char *resource_id,
                                              struct sv_error *err);

/* SV_ERR_NOT_FOUND with `what` in the text unless id is well formed. */
SV_MUST_CHECK enum sv_status store_id_check(const char *id, const char *what, struct sv_error *err);
enum sv_status store_not_found(const char *what, struct sv_error *err);

/* A pattern for ILIKE that finds text anywhere; NULL for NULL. */
const char *store_search_pattern(struct store_memory *memory, const char *text);

#endif
