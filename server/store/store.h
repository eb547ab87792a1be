/* SPDX-License-Identifier: MIT
 *
 * The pool of database connections and what every call of this room shares: the scope it acts in,
 * the memory that results live in, pages of lists.
 *
 * Thread-safe: any thread may call any function of this room with the same store; each call borrows
 * one connection for its own length. A lost connection is replaced at the next call; while the
 * database is away every call fails at once with SV_ERR_DATABASE.
 */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "server/base/error.h"
#include "server/base/ids.h"
#include "server/base/log.h"

struct store;

struct store_options {
    const char *conninfo;         /* libpq connection string or URI; copied */
    const char *application_name; /* shown in pg_stat_activity; copied */
    size_t max_connections;       /* of this pool, >= 1; give every calling thread one */
    int connect_timeout_s;        /* 0: 3 */
    int statement_timeout_ms;     /* 0: 10000 */
    int lock_timeout_ms;          /* 0: 5000 */
    size_t curve_bytes;           /* memory for curves of running trials between reads; 0: none */
    const struct sv_log *log;     /* borrowed until closed; may be NULL */
};

/* Connects lazily: succeeds while the database is away. SV_ERR_INVALID_PARAMETER: conninfo is
 * malformed. */
SV_MUST_CHECK enum sv_status store_open(const struct store_options *options,
                                        struct store **out_store, struct sv_error *err);
/* No call may be running. NULL is allowed. */
void store_close(struct store *store);

/* One round trip: SV_OK when the database answers and its schema is the one this program knows,
 * SV_ERR_DATABASE when it is away, SV_ERR_DRAINING when the schema is newer (drain), and
 * SV_ERR_WRONG_STATE when migrations are missing. For /readyz and start-up. */
SV_MUST_CHECK enum sv_status store_check(struct store *store, struct sv_error *err);

struct store_pool_counters {
    size_t open, busy;
    uint64_t connects, failures, retries;
};
void store_pool_counters(struct store *store, struct store_pool_counters *out_counters);

/* Has the database been asked and said nothing for two seconds, or can it not be reached? From
 * memory: never waits. */
bool store_is_silent(struct store *store);

/* The project that always exists. */
#define STORE_DEFAULT_PROJECT "00000000000070008000000000000001"

/* In whose name a call acts: nothing outside the project is seen (another project's id is
 * SV_ERR_NOT_FOUND), and the actor is written into what changes. */
struct store_scope {
    char project_id[SV_ID_SIZE];
    char actor[96]; /* token name, "loopback", "worker <id>" ... */
};

/* Owner of every string and array that reads hand out. Zero it, pass it to any number of reads,
 * clear it once; rows are valid until then. Confined to one thread. */
struct store_memory {
    struct store_memory_block *blocks;
    bool failed; /* an allocation failed; the call that met it said so */
};
void store_memory_clear(struct store_memory *memory);

/* A piece of a list. Cursors are opaque texts made by the list function that takes them back;
 * printable ASCII, below 400 bytes. A malformed one is SV_ERR_INVALID_PARAMETER "cursor". */
struct store_page {
    size_t limit;       /* 1 to 500 */
    const char *cursor; /* NULL: from the beginning */
};

/* Idempotency-Key of a creating request. The same key and digest again is answered with what the
 * first one made; SV_ERR_KEY_REUSED with another digest; SV_ERR_IN_PROGRESS while the first is
 * still at work. */
struct store_idempotency {
    const char *key;    /* 1 to 255 bytes */
    uint8_t digest[32]; /* SHA-256 of method, path and canonical body */
};

/* What a creating call made. */
struct store_created {
    char id[SV_ID_SIZE];
    bool replayed; /* it was there: the key had been used by the same request */
};

/* Bytes or text in result columns that hold digests. */
enum { STORE_DIGEST_SIZE = 32, STORE_TIME_SIZE = 32 };

#endif
