/* SPDX-License-Identifier: MIT
 *
 * Birth, counters and the order of stopping: no new connections, waits answered, requests in flight
 * finished up to the deadline, threads ended, and only then libmicrohttpd, which would abort the
 * process if a connection were still suspended.
 */
#include "server/http/server.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "server/base/clock.h"
#include "server/http/server_internal.h"

#define WAIT_MS         10
#define FILES_OF_OTHERS 256 /* database, log, libraries */

static enum sv_status primitives_init(struct http_server *server, struct sv_error *err)
{
    pthread_condattr_t monotonic;
    bool made = pthread_condattr_init(&monotonic) == 0 &&
                pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC) == 0 &&
                pthread_mutex_init(&server->mutex, NULL) == 0 &&
                pthread_mutex_init(&server->connections_mutex, NULL) == 0 &&
                pthread_cond_init(&server->work, NULL) == 0 &&
                pthread_cond_init(&server->tick, &monotonic) == 0;
    (void)pthread_condattr_destroy(&monotonic);
    return made ? SV_OK : sv_fail(err, SV_ERR_INTERNAL, "cannot make a mutex");
}

/* Each connection may hold a socket and a spooled body. Raises the soft limit of open files; false
 * when the hard one is too low: accept(2) would fail for want of a descriptor and spin. */
static bool files_suffice(int64_t connections)
{
    struct rlimit limit;
    rlim_t wanted = (rlim_t)connections * 2 + FILES_OF_OTHERS;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted) {
        return true;
    }
    limit.rlim_cur = wanted;
    return setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

enum sv_status http_server_create(const struct http_settings *settings, struct http_server **out,
                                  struct sv_error *err)
{
    struct http_server *server = calloc(1, sizeof *server);
    if (!server) {
        return sv_fail(err, SV_ERR_INTERNAL, "out of memory");
    }
    server->settings = *settings;
    server->config = settings->config;
    server->listen_fd = -1;
    sv_id_make(server->id);
    enum sv_status status = primitives_init(server, err);
    if (status == SV_OK && !files_suffice(server->config->max_connections)) {
        status = sv_fail_parameter(err, SV_ERR_INVALID_PARAMETER, "max_connections",
                                   "the limit of open files is too low for so many connections");
    }
    status = status ? status : http_route_table_check(settings, err);
    status = status ? status : http_park_init(server, (uint32_t)settings->config->max_parked, err);
    status = status ? status : http_listen(server, err);
    status = status ? status : http_pool_start(server, err);
    status = status ? status : http_timer_start(server, err);
    status = status ? status : http_daemon_start(server, err);
    if (status != SV_OK) {
        http_server_stop(server, 0);
        http_server_destroy(server);
        return status;
    }
    *out = server;
    return SV_OK;
}

const char *http_server_host(const struct http_server *server)
{
    return server->host;
}

uint16_t http_server_port(const struct http_server *server)
{
    return server->port;
}

void http_server_drain(struct http_server *server)
{
    atomic_store(&server->draining, true);
    http_park_wake_all(server, HTTP_WAKE_DRAIN);
}

bool http_server_is_draining(const struct http_server *server)
{
    return atomic_load(&server->draining);
}

void http_server_stop(struct http_server *server, unsigned grace_ms)
{
    http_server_drain(server);
    if (server->daemon) {
        (void)MHD_quiesce_daemon(server->daemon); /* gives back listen_fd, which is ours */
    }
    int64_t until = sv_clock_monotonic_ms() + grace_ms;
    while (atomic_load(&server->exchanges) > 0 && sv_clock_monotonic_ms() < until) {
        sv_clock_sleep_ms(WAIT_MS);
    }
    http_pool_stop(server);
    http_timer_stop(server);
    if (server->daemon) {
        MHD_stop_daemon(server->daemon);
        server->daemon = NULL;
    }
    if (server->listen_fd >= 0) {
        (void)close(server->listen_fd);
        server->listen_fd = -1;
    }
}

void http_server_destroy(struct http_server *server)
{
    if (!server) {
        return;
    }
    NN_ASSERT(!server->daemon && !server->thread_count);
    http_park_deinit(server);
    (void)pthread_cond_destroy(&server->work);
    (void)pthread_cond_destroy(&server->tick);
    (void)pthread_mutex_destroy(&server->mutex);
    (void)pthread_mutex_destroy(&server->connections_mutex);
    free(server);
}

void http_server_stats(struct http_server *server, struct http_stats *out)
{
    *out = (struct http_stats){
        .requests = atomic_load(&server->requests),
        .refused_queue = atomic_load(&server->refused_queue),
        .connections = atomic_load(&server->open_connections),
    };
    for (size_t i = 0; i < sizeof out->by_class / sizeof out->by_class[0]; i++) {
        out->by_class[i] = atomic_load(&server->by_class[i]);
    }
    (void)pthread_mutex_lock(&server->mutex);
    out->queued = server->queued;
    out->running = server->running;
    out->parked = server->parked;
    (void)pthread_mutex_unlock(&server->mutex);
}
