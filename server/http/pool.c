/* SPDX-License-Identifier: MIT
 *
 * The request threads and their queue. A place is reserved before a connection is suspended, so a
 * full queue is noticed while the I/O thread can still answer 503. Work for a request that already
 * holds something (a chunk to write, a woken wait) always fits: there is at most one for each
 * connection.
 */
#include <stdlib.h>

#include "server/http/server_internal.h"

bool http_pool_reserve(struct http_server *server, bool must_fit)
{
    (void)pthread_mutex_lock(&server->mutex);
    size_t limit = (size_t)server->config->request_queue;
    bool fits = !server->pool_stopped && (must_fit || server->queued < limit);
    server->queued += fits;
    (void)pthread_mutex_unlock(&server->mutex);
    return fits;
}

static void queue_append(struct http_server *server, struct http_exchange *ex)
{
    ex->next = NULL;
    if (server->tail) {
        server->tail->next = ex;
    } else {
        server->head = ex;
    }
    server->tail = ex;
}

void http_pool_push_reserved(struct http_server *server, struct http_exchange *ex)
{
    (void)pthread_mutex_lock(&server->mutex);
    bool stopped = server->pool_stopped;
    if (stopped) {
        server->queued--;
    } else {
        queue_append(server, ex);
    }
    (void)pthread_mutex_unlock(&server->mutex);
    if (stopped) {
        http_exchange_abandon(ex);
    } else {
        (void)pthread_cond_signal(&server->work); /* unlocked: who wakes need not wait again */
    }
}

void http_pool_push_locked(struct http_server *server, struct http_exchange *ex)
{
    server->queued++;
    queue_append(server, ex);
    (void)pthread_cond_signal(&server->work);
}

static struct http_exchange *pool_pop(struct http_server *server)
{
    (void)pthread_mutex_lock(&server->mutex);
    while (!server->head && !server->pool_stopped) {
        (void)pthread_cond_wait(&server->work, &server->mutex);
    }
    struct http_exchange *ex = server->pool_stopped ? NULL : server->head;
    if (ex) {
        server->head = ex->next;
        server->tail = server->head ? server->tail : NULL;
        server->queued--;
        server->running++;
    }
    (void)pthread_mutex_unlock(&server->mutex);
    return ex;
}

struct start {
    struct http_server *server;
    unsigned index;
};

static void *request_thread(void *arg)
{
    struct start start = *(struct start *)arg;
    struct http_server *server = start.server;
    const struct http_settings *settings = &server->settings;
    free(arg);
    void *state =
        settings->thread_start ? settings->thread_start(settings->ctx, start.index) : settings->ctx;
    for (struct http_exchange *ex; (ex = pool_pop(server));) {
        http_exchange_run(ex, state);
        (void)pthread_mutex_lock(&server->mutex);
        server->running--;
        (void)pthread_mutex_unlock(&server->mutex);
    }
    if (settings->thread_end) {
        settings->thread_end(state);
    }
    return NULL;
}

enum sv_status http_pool_start(struct http_server *server, struct sv_error *err)
{
    unsigned count = (unsigned)server->config->request_threads;
    server->threads = calloc(count, sizeof *server->threads);
    if (!server->threads) {
        return sv_fail(err, SV_ERR_INTERNAL, "out of memory");
    }
    for (unsigned i = 0; i < count; i++) {
        struct start *start = malloc(sizeof *start);
        if (start) {
            *start = (struct start){server, i};
        }
        if (!start || pthread_create(&server->threads[i], NULL, request_thread, start) != 0) {
            free(start);
            return sv_fail(err, SV_ERR_INTERNAL, "cannot start a request thread");
        }
        server->thread_count++;
    }
    return SV_OK;
}

/* What no thread took before the end. I/O threads still run, and give back places they reserved. */
static struct http_exchange *take_left(struct http_server *server)
{
    (void)pthread_mutex_lock(&server->mutex);
    struct http_exchange *ex = server->head;
    if (ex) {
        server->head = ex->next;
        server->tail = server->head ? server->tail : NULL;
        server->queued--;
    }
    (void)pthread_mutex_unlock(&server->mutex);
    return ex;
}

void http_pool_stop(struct http_server *server)
{
    (void)pthread_mutex_lock(&server->mutex);
    server->pool_stopped = true;
    (void)pthread_cond_broadcast(&server->work);
    (void)pthread_mutex_unlock(&server->mutex);
    for (unsigned i = 0; i < server->thread_count; i++) {
        (void)pthread_join(server->threads[i], NULL);
    }
    free(server->threads);
    server->threads = NULL;
    server->thread_count = 0;
    for (struct http_exchange *ex; (ex = take_left(server));) {
        http_exchange_abandon(ex);
    }
}

void http_exchange_resume(struct http_exchange *ex)
{
    MHD_resume_connection(ex->mhd);
}
