/* SPDX-License-Identifier: MIT
 *
 * Worker instances. The lock (LOCK_SPACE, worker.number) lives on a connection of the instance's
 * own, so it goes when the process goes. An instance of the same node whose lock can be taken is
 * dead: what it ran is given back without waiting for the lease.
 */
#include "server/store/workers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/store/attempt_internal.h"

#define LOCK_SPACE "1634956002"

enum { DEAD_MAX = 64 };

struct store_instance {
    struct store *store;
    struct store_conn conn; /* outside the pool; conn.pg NULL while there is no connection */
    char id[SV_ID_SIZE];
    int64_t number;
};

const char *store_instance_id(const struct store_instance *instance)
{
    return instance->id;
}

static enum sv_status insert_worker(struct store_instance *instance,
                                    const struct store_worker_info *info, struct sv_error *err)
{
    struct sql_params params = {0};
    struct sql_rows rows = {0};
    sql_text(&params, instance->id);
    sql_text(&params, info->node_id);
    sql_text(&params, info->host);
    sql_int(&params, info->pid);
    sql_text(&params, info->build);
    sql_text(&params, info->core_type);
    sql_text(&params, info->instruction_set);
    sql_text(&params, info->cpu);
    sql_int(&params, info->core_tokens);
    enum sv_status st = store_query(
        instance->store,
        "insert into worker (id, node_id, host, pid, build, core_type, instruction_set, cpu,"
        " core_tokens) values ($1, $2, $3, $4, $5, $6, $7, $8, $9) on conflict (id) do update set"
        " heartbeat_at = now() returning number",
        &params, &rows, err);
    if (st == SV_OK) {
        struct sql_reader r = {.rows = &rows};
        instance->number = sql_read_int(&r);
        sql_rows_clear(&rows);
    }
    return st;
}

/* Connects and takes the lock. Nobody waits for it: only this instance has its number, and a
 * successor lets it go at once. */
static enum sv_status take_lock(struct store_instance *instance, struct sv_error *err)
{
    sql_disconnect(&instance->conn);
    enum sv_status st = store_connect(instance->store, &instance->conn.pg, err);
    if (st != SV_OK) {
        return st;
    }
    instance->conn.failure = SQL_FINE;
    struct sql_params params = {0};
    sql_int(&params, instance->number);
    st = sql_run(&instance->conn, "select pg_advisory_lock(" LOCK_SPACE ", $1::bigint::integer)",
                 &params, NULL, err);
    if (st != SV_OK) {
        sql_disconnect(&instance->conn);
    }
    return st;
}

/* Instances of the node that never said they stopped and whose lock is free. */
static enum sv_status find_dead(struct store_instance *instance, const char *node_id,
                                char dead[DEAD_MAX][SV_ID_SIZE], size_t *out_n,
                                struct sv_error *err)
{
    struct sql_params params = {0};
    struct sql_rows rows = {0};
    sql_text(&params, node_id);
    sql_text(&params, instance->id);
    sql_int(&params, DEAD_MAX);
    enum sv_status st = store_query(
        instance->store,
        "select w.id from worker w where w.node_id = $1 and w.id <> $2 and w.stopped_at is null and"
        " not exists (select 1 from pg_locks l where l.locktype = 'advisory' and l.classid ="
        " " LOCK_SPACE " and l.objid = w.number::bigint::oid and l.objsubid = 2 and l.granted and"
        " l.database = (select d.oid from pg_database d where d.datname = current_database()))"
        " order by w.number limit $3",
        &params, &rows, err);
    if (st != SV_OK) {
        return st;
    }
    for (int i = 0; i < rows.n; i++) {
        struct sql_reader r = {.rows = &rows, .row = i};
        sql_read_id(&r, dead[i]);
    }
    *out_n = (size_t)rows.n;
    sql_rows_clear(&rows);
    return SV_OK;
}

static enum sv_status mark_stopped(struct store *store, const char *worker_id, struct sv_error *err)
{
    struct sql_params params = {0};
    sql_text(&params, worker_id);
    return store_query(store,
                       "update worker set stopped_at = coalesce(stopped_at, now()) where id = $1",
                       &params, NULL, err);
}

static enum sv_status reap_node(struct store_instance *instance, const char *node_id,
                                size_t *out_reaped, struct sv_error *err)
{
    char dead[DEAD_MAX][SV_ID_SIZE];
    size_t n = 0;
    enum sv_status st = find_dead(instance, node_id, dead, &n, err);
    for (size_t i = 0; st == SV_OK && i < n; i++) {
        size_t reaped = 0;
        st = store_reap_worker(instance->store, dead[i], &reaped, err);
        *out_reaped += reaped;
        if (st == SV_OK) {
            st = mark_stopped(instance->store, dead[i], err);
        }
    }
    return st;
}

enum sv_status store_instance_open(struct store *store, const struct store_worker_info *info,
                                   struct store_instance **out_instance, size_t *out_reaped,
                                   struct sv_error *err)
{
    struct store_instance *instance = calloc(1, sizeof *instance);
    if (!instance) {
        return sv_fail(err, SV_ERR_INTERNAL, "out of memory");
    }
    size_t reaped = 0;
    instance->store = store;
    instance->conn.store = store;
    sv_id_make(instance->id);
    enum sv_status st = insert_worker(instance, info, err);
    if (st == SV_OK) {
        st = take_lock(instance, err);
    }
    if (st == SV_OK) {
        st = reap_node(instance, info->node_id, &reaped, err);
    }
    if (st != SV_OK) {
        sql_disconnect(&instance->conn);
        free(instance);
        return st;
    }
    if (out_reaped) {
        *out_reaped = reaped;
    }
    *out_instance = instance;
    return SV_OK;
}

static enum sv_status beat(struct store_instance *instance, const char *trouble,
                           struct sv_error *err)
{
    struct sql_params params = {0};
    sql_text(&params, instance->id);
    sql_text(&params, trouble);
    return sql_run(&instance->conn,
                   "update worker set heartbeat_at = now(), stopped_at = null, trouble = $2"
                   " where id = $1",
                   &params, NULL, err);
}

enum sv_status store_instance_renew(struct store_instance *instance, const char *trouble,
                                    struct sv_error *err)
{
    if (instance->conn.pg) {
        enum sv_status st = beat(instance, trouble, err);
        enum sql_failure failure = instance->conn.failure;
        if (st == SV_OK || (failure != SQL_LOST && failure != SQL_OVERDUE)) {
            return st;
        }
    }
    enum sv_status st = take_lock(instance, err);
    return st == SV_OK ? beat(instance, trouble, err) : st;
}

void store_instance_close(struct store_instance *instance)
{
    if (instance) {
        enum sv_status st = mark_stopped(instance->store, instance->id, NULL);
        (void)st; /* else a successor finds the lock free */
        sql_disconnect(&instance->conn);
        free(instance);
    }
}

enum sv_status store_worker_check(struct store *store, const char *node_id, int silent_ms,
                                  struct sv_error *err)
{
    struct sql_params params = {0};
    struct sql_rows rows = {0};
    struct store_memory memory = {0};
    sql_text(&params, node_id);
    sql_int(&params, silent_ms);
    enum sv_status st =
        store_query(store,
                    "select trouble from worker where node_id = $1 and stopped_at is null and"
                    " heartbeat_at > now() - $2 * interval '1 ms' order by number desc limit 1",
                    &params, &rows, err);
    if (st != SV_OK) {
        return st;
    }
    struct sql_reader r = {.rows = &rows, .memory = &memory};
    const char *trouble = rows.n > 0 ? sql_read_text0(&r) : "the worker gives no sign";
    if (trouble[0]) {
        st = sv_fail(err, SV_ERR_WRONG_STATE, "%s", trouble);
    }
    sql_rows_clear(&rows);
    store_memory_clear(&memory);
    return st;
}
