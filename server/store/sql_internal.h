/* SPDX-License-Identifier: MIT
 *
 * What the files of this room share: connections of the pool, one statement (parameters in, rows
 * out, errors sorted), transactions, and the memory of results.
 *
 * Every result comes in binary format, so that floats are exact and arrays need no parser; select
 * lists therefore hold no numeric (cast to bigint, float8 or text). Parameters are text of unknown
 * type, so that the server infers it, except arrays, floats and bytes, which are binary.
 */
#ifndef STORE_SQL_INTERNAL_H
#define STORE_SQL_INTERNAL_H

#include <libpq-fe.h>

#include "server/store/store.h"

/* ---- connections ---- */

/* What went wrong with the last statement of a connection, as far as repeating goes. */
enum sql_failure {
    SQL_FINE,
    SQL_REPEAT,  /* serialization, deadlock, lock time-out: the whole transaction again */
    SQL_LOST,    /* the connection is gone */
    SQL_OVERDUE, /* no answer in time: the connection is of no use, the outcome unknown */
    SQL_BROKEN,  /* anything else: repeating would not help */
};

/* Borrowed from the pool by one thread. */
struct store_conn {
    PGconn *pg;
    struct store *store;
    enum sql_failure failure;
    int64_t until_ms;    /* deadline of the statement under way */
    char sqlstate[6];    /* of the last failure, "" if none */
    char constraint[64]; /* that was violated, "" if none */
    bool repeated;       /* an earlier run of this transaction may have been committed */
    uint64_t generation;
    int64_t opened_ms;
    struct sql_statements *statements; /* that this session has prepared; NULL: none yet */
    struct store_conn *next;
};

/* How a pool connects (connect.c). */
struct store_address {
    char *conninfo;
    char *application_name;
    char session[320]; /* statements that every new session runs */
    char connect_timeout[16];
};
/* SV_ERR_INVALID_PARAMETER for a malformed connection string. */
SV_MUST_CHECK enum sv_status store_address_check(const char *conninfo, struct sv_error *err);
/* A session with its settings made. SV_ERR_DATABASE, and *out_why says why, for the log: no names,
 * no secrets, a lasting text. */
SV_MUST_CHECK enum sv_status store_address_connect(const struct store_address *address,
                                                   PGconn **out_pg, const char **out_why,
                                                   struct sv_error *err);

SV_MUST_CHECK enum sv_status store_pool_take(struct store *store, struct store_conn **out_conn,
                                             struct sv_error *err);
void store_pool_give(struct store_conn *conn);
/* Connections opened so far may be dead: close idle ones before their next use. */
void store_pool_suspect(struct store *store);
/* A connection outside the pool (LISTEN, advisory locks): session settings made, not counted. */
SV_MUST_CHECK enum sv_status store_connect(struct store *store, PGconn **out_pg,
                                           struct sv_error *err);
const struct sv_log *store_log(const struct store *store);
/* How long a statement may take, seen from here: statement_timeout and half of it again. */
int64_t store_patience_ms(const struct store *store);
/* The database has answered something. */
void store_heard(struct store *store);
void store_count_retry(struct store *store);

/* ---- memory of results ---- */

/* 16-byte aligned, zeroed. NULL when memory is exhausted; memory->failed then stays true. */
void *store_memory_take(struct store_memory *memory, size_t size);
/* As above for n elements; checks the product. */
void *store_memory_array(struct store_memory *memory, size_t n, size_t size);
char *store_memory_copy(struct store_memory *memory, const char *text, size_t n);
/* SV_OK, or SV_ERR_INTERNAL when an allocation failed. */
SV_MUST_CHECK enum sv_status store_memory_check(const struct store_memory *memory,
                                                struct sv_error *err);

/* ---- parameters ---- */

enum { SQL_PARAMS_MAX = 40 };

/* Zero it, add in order $1, $2, ...; a statement that runs clears it. Texts are borrowed until
 * then. */
struct sql_params {
    int n;
    Oid types[SQL_PARAMS_MAX];
    const char *values[SQL_PARAMS_MAX];
    int lengths[SQL_PARAMS_MAX];
    int formats[SQL_PARAMS_MAX];
    struct store_memory memory;
};
void sql_text(struct sql_params *params, const char *text); /* NULL: null; ids too */
/* "" and NULL are null: for optional ids and digests. */
void sql_text_or_null(struct sql_params *params, const char *text);
void sql_int(struct sql_params *params, int64_t value);
void sql_real(struct sql_params *params, double value);
void sql_bool(struct sql_params *params, bool value);
void sql_bytes(struct sql_params *params, const void *data, size_t size);
void sql_int_array(struct sql_params *params, const int64_t *values, size_t n);  /* bigint[] */
void sql_int4_array(struct sql_params *params, const int32_t *values, size_t n); /* integer[] */
void sql_real_array(struct sql_params *params, const double *values, size_t n);  /* float8[] */
void sql_float_array(struct sql_params *params, const float *values, size_t n);  /* real[] */
/* text[]; NULL elements are null. */
void sql_text_array(struct sql_params *params, const char *const *values, size_t n);
void sql_params_clear(struct sql_params *params);

/* ---- statements ---- */

struct sql_rows {
    PGresult *result;
    int n;        /* rows returned */
    int affected; /* rows an UPDATE, INSERT or DELETE touched */
};
void sql_rows_clear(struct sql_rows *rows);

/* Runs one statement; params (NULL: none) is cleared in any case, except that a lost connection
 * leaves nothing half read. rows NULL: the result is dropped. On failure rows is untouched and
 * conn->failure, sqlstate and constraint say more than the status: SV_ERR_CONFLICT for a violated
 * unique key or foreign key, SV_ERR_DATABASE, SV_ERR_OVERLOADED, SV_ERR_INVALID_FIELD for a value
 * that no column takes, SV_ERR_INTERNAL. */
SV_MUST_CHECK enum sv_status sql_run(struct store_conn *conn, const char *sql,
                                     struct sql_params *params, struct sql_rows *rows,
                                     struct sv_error *err);
/* Sends the statement, prepared for the session at its first use; results are the caller's to take
 * with sql_next until it gives NULL. params is not cleared. */
SV_MUST_CHECK enum sv_status sql_send(struct store_conn *conn, const char *sql,
                                      const struct sql_params *params, struct sv_error *err);
/* ---- waiting: nothing else may wait for an answer (sql_wait.c) ---- */

/* Sets the deadline of what is sent next. */
void sql_wait_begin(struct store_conn *conn);
/* The next result of what was sent; NULL at the end, and with failure SQL_OVERDUE when it did not
 * come in time. */
PGresult *sql_next(struct store_conn *conn);
/* The last result of what was sent, NULL if there was none; sql_sort knows an overdue one. */
PGresult *sql_last(struct store_conn *conn);
/* One statement without parameters, as sql_last. */
PGresult *sql_command(struct store_conn *conn, const char *sql);
/* The next piece of a COPY TO STDOUT: its length, and PQfreemem frees it; -1 at the end, -2 when it
 * broke. */
int sql_copy_read(struct store_conn *conn, char **out_piece);
/* Sends a piece of a COPY FROM STDIN; false when it broke. */
bool sql_copy_write(struct store_conn *conn, const char *piece, int n);
/* SV_ERR_DATABASE when an answer on this connection is overdue. */
SV_MUST_CHECK enum sv_status sql_overdue_check(const struct store_conn *conn, struct sv_error *err);
/* One statement on a connection outside the pool: was it done in time? If not, close it. */
SV_MUST_CHECK bool sql_command_plain(PGconn *pg, const char *sql, int64_t patience_ms);

/* Closes the connection, if there is one, and forgets what its session has prepared. */
void sql_disconnect(struct store_conn *conn);
/* Sorts a result into a status, and into conn->failure, sqlstate and constraint. */
SV_MUST_CHECK enum sv_status sql_sort(struct store_conn *conn, const PGresult *result,
                                      const char *sql, struct sv_error *err);

/* ---- COPY (sql_copy.c): binary, between a table and a function of the caller ---- */

/* Takes the next piece; SV_OK to go on. */
typedef enum sv_status (*sql_copy_sink)(void *ctx, const char *piece, size_t n,
                                        struct sv_error *err);
/* Gives the next piece: valid until the next call; *out_n 0 at the end. */
typedef enum sv_status (*sql_copy_source)(void *ctx, const char **out_piece, size_t *out_n,
                                          struct sv_error *err);
/* Run a COPY statement to its end. *out_rows: how many there were. */
SV_MUST_CHECK enum sv_status sql_copy_out(struct store_conn *conn, const char *sql,
                                          sql_copy_sink sink, void *ctx, int64_t *out_rows,
                                          struct sv_error *err);
SV_MUST_CHECK enum sv_status sql_copy_in(struct store_conn *conn, const char *sql,
                                         sql_copy_source source, void *ctx, int64_t *out_rows,
                                         struct sv_error *err);

/* ---- rows ---- */

/* Reads a row's columns from left to right. */
struct sql_reader {
    const struct sql_rows *rows;
    int row, column;
    struct store_memory *memory; /* for texts and arrays */
};
bool sql_read_null(struct sql_reader *reader); /* is the next column null? does not advance */
void sql_skip(struct sql_reader *reader);
int64_t sql_read_int(struct sql_reader *reader); /* null: 0 */
bool sql_read_bool(struct sql_reader *reader);
double sql_read_real(struct sql_reader *reader);                      /* null: NaN */
const char *sql_read_text(struct sql_reader *reader);                 /* null: NULL */
const char *sql_read_text0(struct sql_reader *reader);                /* null: "" */
uint64_t sql_read_seed(struct sql_reader *reader);                    /* a text of digits */
void sql_read_id(struct sql_reader *reader, char out_id[SV_ID_SIZE]); /* null: "" */
void sql_read_time(struct sql_reader *reader, char out_time[STORE_TIME_SIZE]);
void sql_read_digest(struct sql_reader *reader, char out_hex[65]);     /* bytea; null: "" */
const void *sql_read_bytes(struct sql_reader *reader, size_t *out_n);  /* borrowed from the rows */
int64_t *sql_read_int_array(struct sql_reader *reader, size_t *out_n); /* bigint[], integer[] */
double *sql_read_real_array(struct sql_reader *reader, size_t *out_n); /* float8[], real[] */
const char **sql_read_text_array(struct sql_reader *reader, size_t *out_n);

/* A whole column of arrays without copying: element i of a binary array of 8-byte elements. */
struct sql_array {
    const unsigned char *elements; /* each {4 bytes length, payload} */
    size_t n;
    int width; /* of the payload */
};
struct sql_array sql_read_array(struct sql_reader *reader);
int64_t sql_array_int(const struct sql_array *array, size_t i);
double sql_array_real(const struct sql_array *array, size_t i);

/* ---- transactions ---- */

/* Must be repeatable and write to ctx only what a later run overwrites. */
typedef enum sv_status (*store_tx_fn)(struct store_conn *conn, void *ctx, struct sv_error *err);

/* The one place that begins, commits, rolls back and repeats: after a serialization failure,
 * deadlock or lock time-out up to 5 runs with jitter; after a lost connection one more run, with
 * conn->repeated set when a COMMIT was under way, so that fn looks first whether its work is done
 * already. `name` is for the log. */
SV_MUST_CHECK enum sv_status store_tx_run(struct store *store, const char *name, store_tx_fn fn,
                                          void *ctx, struct sv_error *err);
/* The same without a transaction around: for reads, and for one repeatable statement. */
SV_MUST_CHECK enum sv_status store_run(struct store *store, const char *name, store_tx_fn fn,
                                       void *ctx, struct sv_error *err);
/* One repeatable statement. params is cleared. */
SV_MUST_CHECK enum sv_status store_query(struct store *store, const char *sql,
                                         struct sql_params *params, struct sql_rows *rows,
                                         struct sv_error *err);

#endif
