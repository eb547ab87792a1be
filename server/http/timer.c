/* SPDX-License-Identifier: MIT
 *
 * One thread for all deadlines, four times a second: parked requests and slow clients.
 * libmicrohttpd's own timeout only sees silence; a client that sends a byte now and then is cut
 * here, by shutdown(2) on its socket: libmicrohttpd then finds the connection closed. The socket is
 * still open then, since a connection leaves the list before its socket is closed.
 */
#include <sys/socket.h>
#include <time.h>

#include "server/base/clock.h"
#include "server/http/server_internal.h"

#define TICK_MS         250
#define TICKS_A_LOOK    4 /* whether clients of parked requests are still there */
#define SENDING_SECONDS 60

void http_connection_phase(struct http_connection *connection, enum http_conn_phase phase)
{
    atomic_store(&connection->bytes, 0);
    atomic_store(&connection->since_ms, sv_clock_monotonic_ms());
    atomic_store(&connection->phase, phase);
}

/* Milliseconds that the connection may spend in its phase; INT64_MAX: no limit. */
static int64_t phase_limit_ms(const struct cfg *config, const struct http_connection *connection)
{
    int64_t for_bytes = (int64_t)(atomic_load(&connection->bytes) * 1000 / HTTP_BYTES_A_SECOND);
    switch (atomic_load(&connection->phase)) {
    case HTTP_CONN_HEADERS:
        return config->header_seconds * 1000;
    case HTTP_CONN_IDLE:
        return (config->idle_seconds + config->header_seconds) * 1000;
    case HTTP_CONN_BODY:
        return config->body_seconds * 1000 + for_bytes;
    case HTTP_CONN_SENDING:
        return SENDING_SECONDS * INT64_C(1000) + for_bytes;
    case HTTP_CONN_OURS:
        break;
    }
    return INT64_MAX;
}

static void sweep(struct http_server *server, int64_t now_ms)
{
    (void)pthread_mutex_lock(&server->connections_mutex);
    for (struct http_connection *c = server->connections; c; c = c->next) {
        int64_t age = now_ms - atomic_load(&c->since_ms);
        if (!c->cut && age > phase_limit_ms(server->config, c)) {
            c->cut = true;
            (void)shutdown(c->fd, SHUT_RDWR);
        }
    }
    (void)pthread_mutex_unlock(&server->connections_mutex);
}

static bool timer_wait(struct http_server *server)
{
    struct timespec at;
    (void)clock_gettime(CLOCK_MONOTONIC, &at);
    at.tv_nsec += TICK_MS * 1000000L;
    at.tv_sec += at.tv_nsec / 1000000000L;
    at.tv_nsec %= 1000000000L;
    (void)pthread_mutex_lock(&server->mutex);
    if (!server->timer_stopped) {
        (void)pthread_cond_timedwait(&server->tick, &server->mutex, &at);
    }
    bool goes_on = !server->timer_stopped;
    (void)pthread_mutex_unlock(&server->mutex);
    return goes_on;
}

static void *timer_thread(void *arg)
{
    struct http_server *server = arg;
    for (unsigned tick = 0; timer_wait(server); tick++) {
        int64_t now = sv_clock_monotonic_ms();
        http_park_tick(server, now, tick % TICKS_A_LOOK == 0);
        sweep(server, now);
    }
    return NULL;
}

enum sv_status http_timer_start(struct http_server *server, struct sv_error *err)
{
    server->timer_running = pthread_create(&server->timer, NULL, timer_thread, server) == 0;
    return server->timer_running ? SV_OK
                                 : sv_fail(err, SV_ERR_INTERNAL, "cannot start the timer thread");
}

void http_timer_stop(struct http_server *server)
{
    if (!server->timer_running) {
        return;
    }
    (void)pthread_mutex_lock(&server->mutex);
    server->timer_stopped = true;
    (void)pthread_cond_signal(&server->tick);
    (void)pthread_mutex_unlock(&server->mutex);
    (void)pthread_join(server->timer, NULL);
    server->timer_running = false;
}
