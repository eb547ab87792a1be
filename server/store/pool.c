/* SPDX-License-Identifier: MIT
 *
 * The pool. Invariants, guarded by `mutex`: open counts the connections that exist or are being
 * made; idle ones hang in a list, last used first; open <= max.
 *
 * While the database is away only one thread at a time tries to connect, at most every PROBE_MS;
 * all others fail at once. A lost connection raises `generation`: idle connections of an older one
 * are closed before their next use, since they died with it.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "server/base/clock.h"
#include "server/store/curves_internal.h"
#include "server/store/sql_internal.h"

enum {
    PROBE_MS = 250,
    WAIT_MS = 2000,
    LIFETIME_MS = 3600 * 1000,
    IDLE_IN_TRANSACTION_MS = 30000,
    SILENT_MS = 2000
};

struct store {
    struct store_address address;
    size_t max;
    int64_t patience_ms;
    _Atomic int64_t heard_ms; /* when the database last answered, or had nothing to answer */
    const struct sv_log *log;
    struct store_curves *curves; /* NULL: none are kept */

    pthread_mutex_t mutex;
    pthread_cond_t freed;
    struct store_conn *idle;
    size_t open, busy;
    uint64_t generation;
    bool down;    /* the last attempt to connect failed */
    bool probing; /* a thread tries again */
    int64_t probe_after_ms;
    uint64_t connects, failures, retries;
};

const struct sv_log *store_log(const struct store *store)
{
    return store->log;
}

int64_t store_patience_ms(const struct store *store)
{
    return store->patience_ms;
}

void store_heard(struct store *store)
{
    atomic_store(&store->heard_ms, sv_clock_monotonic_ms());
}

bool store_is_silent(struct store *store)
{
    (void)pthread_mutex_lock(&store->mutex);
    bool silent = store->down || (store->busy > 0 && sv_clock_monotonic_ms() >
                                                         atomic_load(&store->heard_ms) + SILENT_MS);
    (void)pthread_mutex_unlock(&store->mutex);
    return silent;
}

struct store_curves *store_curves_of(struct store *store)
{
    return store->curves;
}

static enum sv_status out_of_memory(struct sv_error *err)
{
    return sv_fail(err, SV_ERR_INTERNAL, "out of memory");
}

enum sv_status store_open(const struct store_options *options, struct store **out_store,
                          struct sv_error *err)
{
    enum sv_status st = store_address_check(options->conninfo, err);
    struct store *store = st == SV_OK ? calloc(1, sizeof *store) : NULL;
    if (!store) {
        return st ? st : out_of_memory(err);
    }
    store->address.conninfo = strdup(options->conninfo);
    store->address.application_name =
        strdup(options->application_name ? options->application_name : "");
    if (!store->address.conninfo || !store->address.application_name) {
        free(store->address.conninfo);
        free(store->address.application_name);
        free(store);
        return out_of_memory(err);
    }
    store->max = options->max_connections > 0 ? options->max_connections : 1;
    store->log = options->log;
    store->curves = store_curves_create(options->curve_bytes);
    int connect_s = options->connect_timeout_s > 0 ? options->connect_timeout_s : 3;
    int statement_ms = options->statement_timeout_ms > 0 ? options->statement_timeout_ms : 10000;
    store->patience_ms = statement_ms + statement_ms / 2;
    int lock_ms = options->lock_timeout_ms > 0 ? options->lock_timeout_ms : 5000;
    (void)snprintf(store->address.connect_timeout, sizeof store->address.connect_timeout, "%d",
                   connect_s);
    (void)snprintf(store->address.session, sizeof store->address.session,
                   "set statement_timeout = %d; set lock_timeout = %d;"
                   " set idle_in_transaction_session_timeout = %d; set timezone = 'UTC';"
                   " set client_min_messages = warning; set jit = off",
                   statement_ms, lock_ms, IDLE_IN_TRANSACTION_MS);
    (void)pthread_mutex_init(&store->mutex, NULL);
    pthread_condattr_t attributes;
    (void)pthread_condattr_init(&attributes);
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&store->freed, &attributes);
    (void)pthread_condattr_destroy(&attributes);
    *out_store = store;
    return SV_OK;
}

static void conn_close(struct store_conn *conn)
{
    sql_disconnect(conn);
    free(conn);
}

void store_close(struct store *store)
{
    if (!store) {
        return;
    }
    while (store->idle) {
        struct store_conn *conn = store->idle;
        store->idle = conn->next;
        conn_close(conn);
    }
    store_curves_destroy(store->curves);
    (void)pthread_cond_destroy(&store->freed);
    (void)pthread_mutex_destroy(&store->mutex);
    free(store->address.conninfo);
    free(store->address.application_name);
    free(store);
}

enum sv_status store_connect(struct store *store, PGconn **out_pg, struct sv_error *err)
{
    const char *why;
    return store_address_connect(&store->address, out_pg, &why, err);
}

/* ---- taking ---- */

/* The list without its first connection that is not outdated; outdated ones go to *out_dead. */
static struct store_conn *pop_idle(struct store *store, struct store_conn **out_dead)
{
    int64_t oldest = sv_clock_monotonic_ms() - LIFETIME_MS;
    while (store->idle) {
        struct store_conn *conn = store->idle;
        store->idle = conn->next;
        if (conn->generation == store->generation && conn->opened_ms >= oldest) {
            return conn;
        }
        store->open--;
        conn->next = *out_dead;
        *out_dead = conn;
    }
    return NULL;
}

static void close_all(struct store_conn *dead)
{
    while (dead) {
        struct store_conn *next = dead->next;
        conn_close(dead);
        dead = next;
    }
}

static struct timespec deadline_in(int ms)
{
    struct timespec at;
    (void)clock_gettime(CLOCK_MONOTONIC, &at);
    at.tv_sec += ms / 1000;
    at.tv_nsec += (ms % 1000) * 1000000L;
    if (at.tv_nsec >= 1000000000L) {
        at.tv_nsec -= 1000000000L;
        at.tv_sec++;
    }
    return at;
}

/* With the mutex held: an idle connection, or the right to open one (*out_conn NULL). */
static enum sv_status reserve(struct store *store, struct store_conn **out_conn,
                              struct store_conn **out_dead, struct sv_error *err)
{
    struct timespec deadline = deadline_in(WAIT_MS);
    for (;;) {
        struct store_conn *conn = pop_idle(store, out_dead);
        if (conn) {
            *out_conn = conn;
            return SV_OK;
        }
        if (store->down && (store->probing || sv_clock_monotonic_ms() < store->probe_after_ms)) {
            return sv_fail(err, SV_ERR_DATABASE, "the database cannot be reached");
        }
        if (store->open < store->max) {
            store->open++;
            store->probing = store->down;
            *out_conn = NULL;
            return SV_OK;
        }
        if (pthread_cond_timedwait(&store->freed, &store->mutex, &deadline) == ETIMEDOUT) {
            return sv_fail(err, SV_ERR_OVERLOADED, "no database connection is free");
        }
    }
}

/* With the mutex held: notes how an attempt to connect went. */
static void note_connect(struct store *store, bool connected, const char *why)
{
    if (connected && store->down) {
        log_event(store->log, SV_LOG_INFO, "database_back", LOG_INT("open", store->open));
    } else if (!connected && !store->down) {
        log_event(store->log, SV_LOG_WARN, "database_away", LOG_INT("open", store->open),
                  LOG_TEXT("reason", why));
    }
    store->down = !connected;
    store->probing = false;
    if (connected) {
        store->connects++;
    } else {
        store->failures++;
        store->open--;
        store->probe_after_ms = sv_clock_monotonic_ms() + PROBE_MS;
        (void)pthread_cond_broadcast(&store->freed);
    }
}

static void give_back_reservation(struct store *store)
{
    (void)pthread_mutex_lock(&store->mutex);
    store->open--;
    store->probing = false;
    (void)pthread_cond_signal(&store->freed);
    (void)pthread_mutex_unlock(&store->mutex);
}

static enum sv_status open_reserved(struct store *store, struct store_conn **out_conn,
                                    struct sv_error *err)
{
    struct store_conn *conn = calloc(1, sizeof *conn);
    if (!conn) {
        give_back_reservation(store);
        return out_of_memory(err);
    }
    const char *why;
    enum sv_status st = store_address_connect(&store->address, &conn->pg, &why, err);
    (void)pthread_mutex_lock(&store->mutex);
    note_connect(store, st == SV_OK, why);
    conn->store = store;
    conn->generation = store->generation;
    (void)pthread_mutex_unlock(&store->mutex);
    if (st != SV_OK) {
        free(conn);
        return st;
    }
    conn->opened_ms = sv_clock_monotonic_ms();
    *out_conn = conn;
    return SV_OK;
}

enum sv_status store_pool_take(struct store *store, struct store_conn **out_conn,
                               struct sv_error *err)
{
    struct store_conn *conn = NULL;
    struct store_conn *dead = NULL;
    (void)pthread_mutex_lock(&store->mutex);
    enum sv_status st = reserve(store, &conn, &dead, err);
    (void)pthread_mutex_unlock(&store->mutex);
    close_all(dead);
    if (st == SV_OK && !conn) {
        st = open_reserved(store, &conn, err);
    }
    if (st != SV_OK || !conn) {
        return st;
    }
    conn->failure = SQL_FINE;
    conn->repeated = false;
    (void)pthread_mutex_lock(&store->mutex);
    if (store->busy++ == 0) {
        store_heard(store);
    }
    (void)pthread_mutex_unlock(&store->mutex);
    *out_conn = conn;
    return SV_OK;
}

void store_pool_give(struct store_conn *conn)
{
    struct store *store = conn->store;
    bool usable =
        PQstatus(conn->pg) == CONNECTION_OK && PQtransactionStatus(conn->pg) == PQTRANS_IDLE;
    (void)pthread_mutex_lock(&store->mutex);
    store->busy--;
    if (usable) {
        conn->next = store->idle;
        store->idle = conn;
    } else {
        store->open--;
    }
    (void)pthread_cond_signal(&store->freed);
    (void)pthread_mutex_unlock(&store->mutex);
    if (!usable) {
        conn_close(conn);
    }
}

void store_pool_suspect(struct store *store)
{
    (void)pthread_mutex_lock(&store->mutex);
    store->generation++;
    (void)pthread_mutex_unlock(&store->mutex);
}

void store_count_retry(struct store *store)
{
    (void)pthread_mutex_lock(&store->mutex);
    store->retries++;
    (void)pthread_mutex_unlock(&store->mutex);
}

void store_pool_counters(struct store *store, struct store_pool_counters *out_counters)
{
    (void)pthread_mutex_lock(&store->mutex);
    *out_counters = (struct store_pool_counters){.open = store->open,
                                                 .busy = store->busy,
                                                 .connects = store->connects,
                                                 .failures = store->failures,
                                                 .retries = store->retries};
    (void)pthread_mutex_unlock(&store->mutex);
}
