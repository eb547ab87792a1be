/* SPDX-License-Identifier: MIT
 *
 * The callbacks of libmicrohttpd, all on its I/O threads. None of them waits: whatever may block is
 * dispatched to a request thread while the connection is suspended.
 */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "server/base/clock.h"
#include "server/http/server_internal.h"

#define POOL_BYTES     (64u << 10) /* per connection: headers, and one piece of a body */
#define POOL_INCREMENT (32u << 10)

/* ------------------------------------------------------------------------------ connections */

static void peer_describe(struct http_connection *connection, const struct sockaddr *address)
{
    const void *at = NULL;
    if (address->sa_family == AF_INET) {
        const struct sockaddr_in *v4 = (const void *)address;
        at = &v4->sin_addr;
        connection->loopback = ntohl(v4->sin_addr.s_addr) >> 24 == 127;
    } else if (address->sa_family == AF_INET6) {
        const struct in6_addr *v6 =
            &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr;
        at = v6;
        connection->loopback =
            IN6_IS_ADDR_LOOPBACK(v6) || (IN6_IS_ADDR_V4MAPPED(v6) && v6->s6_addr[12] == 127);
    }
    if (at) {
        (void)inet_ntop(address->sa_family, at, connection->peer, sizeof connection->peer);
    }
}

static struct http_connection *connection_open(struct http_server *server,
                                               struct MHD_Connection *mhd)
{
    const union MHD_ConnectionInfo *address =
        MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    const union MHD_ConnectionInfo *fd =
        MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD);
    struct http_connection *connection = calloc(1, sizeof *connection);
    if (!connection || !fd) {
        free(connection);
        return NULL;
    }
    connection->fd = fd->connect_fd;
    if (address && address->client_addr) {
        peer_describe(connection, address->client_addr);
    }
    http_connection_phase(connection, HTTP_CONN_HEADERS);
    atomic_fetch_add(&server->open_connections, 1);
    (void)pthread_mutex_lock(&server->connections_mutex);
    connection->next = server->connections;
    if (connection->next) {
        connection->next->prev = connection;
    }
    server->connections = connection;
    (void)pthread_mutex_unlock(&server->connections_mutex);
    return connection;
}

static void connection_close(struct http_server *server, struct http_connection *connection)
{
    (void)pthread_mutex_lock(&server->connections_mutex);
    if (connection->prev) {
        connection->prev->next = connection->next;
    } else {
        server->connections = connection->next;
    }
    if (connection->next) {
        connection->next->prev = connection->prev;
    }
    (void)pthread_mutex_unlock(&server->connections_mutex);
    atomic_fetch_sub(&server->open_connections, 1);
    free(connection);
}

static void on_connection(void *cls, struct MHD_Connection *mhd, void **socket_context,
                          enum MHD_ConnectionNotificationCode code)
{
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        *socket_context = connection_open(cls, mhd);
    } else if (*socket_context) {
        connection_close(cls, *socket_context);
        *socket_context = NULL;
    }
}

/* -------------------------------------------------------------------------- birth and death */

static void exchange_free(struct http_exchange *ex)
{
    if (ex->answer) {
        MHD_destroy_response(ex->answer);
    }
    http_park_release(ex);
    http_response_reset(&ex->response);
    http_body_deinit(ex);
    nn_arena_destroy(ex->arena);
    atomic_fetch_sub(&ex->server->exchanges, 1);
    free(ex);
}

/* Copies the target; libmicrohttpd is going to decode and cut it in place. */
static void uri_keep(struct http_exchange *ex, const char *uri)
{
    size_t size = uri ? strlen(uri) : 0;
    ex->uri_size = size;
    ex->overlong_uri = size > HTTP_URI_MAX;
    if (ex->overlong_uri) {
        ex->request.path = "";
        return;
    }
    ex->uri = nn_arena_text(ex->arena, uri ? uri : "");
    char *path = ex->uri ? nn_arena_text(ex->arena, ex->uri) : NULL;
    char *query = path ? strchr(path, '?') : NULL;
    if (query) {
        *query++ = '\0';
        ex->query = query;
    }
    ex->request.path = path ? path : "";
    ex->uri = path ? ex->uri : NULL;
}

static void *on_uri(void *cls, const char *uri, struct MHD_Connection *mhd)
{
    struct http_server *server = cls;
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    struct http_exchange *ex = info && info->socket_context ? calloc(1, sizeof *ex) : NULL;
    if (!ex) {
        return NULL;
    }
    ex->server = server;
    ex->mhd = mhd;
    ex->connection = info->socket_context;
    ex->slot = -1;
    ex->body.fd = -1;
    ex->response.fd = -1;
    ex->request.body_fd = -1;
    ex->request.body_type = "";
    ex->request.id = ex->request_id;
    ex->request.peer = ex->connection->peer;
    ex->request.peer_is_loopback = ex->connection->loopback;
    ex->request.method = "";
    ex->started_ms = sv_clock_monotonic_ms();
    if (nn_arena_create(NULL, 4096, &ex->arena) != NN_OK) {
        free(ex);
        return NULL;
    }
    ex->response.arena = ex->arena;
    atomic_fetch_add(&server->exchanges, 1);
    uri_keep(ex, uri);
    return ex;
}

static void on_completed(void *cls, struct MHD_Connection *mhd, void **con_cls,
                         enum MHD_RequestTerminationCode code)
{
    struct http_server *server = cls;
    struct http_exchange *ex = *con_cls;
    (void)mhd;
    if (!ex) {
        return;
    }
    *con_cls = NULL;
    log_event(server->settings.log, SV_LOG_DEBUG, "http_request",
              LOG_TEXT("request", ex->request_id), LOG_TEXT("method", ex->request.method),
              LOG_TEXT("path", ex->request.path), LOG_INT("status", ex->answer_status),
              LOG_INT("bytes", ex->answer_bytes), LOG_INT("ended", code),
              LOG_INT("ms", sv_clock_monotonic_ms() - ex->started_ms));
    http_connection_phase(ex->connection, HTTP_CONN_IDLE);
    exchange_free(ex);
}

/* ------------------------------------------------------------------------------------ flow */

static enum MHD_Result answer_send(struct http_exchange *ex)
{
    struct http_server *server = ex->server;
    struct MHD_Response *answer = ex->answer;
    if (!answer) {
        return MHD_NO; /* out of memory: cut */
    }
    ex->answer = NULL;
    ex->phase = HTTP_PHASE_ANSWER;
    atomic_fetch_add(&server->requests, 1);
    atomic_fetch_add(&server->by_class[ex->answer_status / 100 % 6], 1);
    bool endless = ex->response.stream && ex->response.stream->events;
    http_connection_phase(ex->connection, endless ? HTTP_CONN_OURS : HTTP_CONN_SENDING);
    atomic_store(&ex->connection->bytes, ex->answer_bytes);
    enum MHD_Result queued = MHD_queue_response(ex->mhd, ex->answer_status, answer);
    MHD_destroy_response(answer);
    return queued;
}

static bool expects_continue(const struct http_exchange *ex)
{
    const char *expect = http_header(&ex->request, "Expect");
    return expect && strcasecmp(expect, "100-continue") == 0;
}

/* There is an answer before the body was read. Queued now it makes libmicrohttpd close the
 * connection, and a client that is still writing may lose it to a reset. So a small body is read
 * and dropped first, unless the client asked before sending it. */
static enum MHD_Result early_send(struct http_exchange *ex)
{
    const struct http_body_state *body = &ex->body;
    bool small = body->chunked || body->length <= HTTP_SWALLOW_BYTES;
    bool later = !body->present || (small && !expects_continue(ex));
    if (later && ex->answer && !ex->close) {
        ex->phase = HTTP_PHASE_BODY;
        http_connection_phase(ex->connection, HTTP_CONN_BODY);
        return MHD_YES;
    }
    return answer_send(ex);
}

static enum MHD_Result problem_send(struct http_exchange *ex, enum sv_status status,
                                    const struct sv_error *err)
{
    ex->close = ex->close || http_is_problem_closing(status);
    http_answer_problem(ex, status, err);
    return ex->phase == HTTP_PHASE_BODY ? answer_send(ex) : early_send(ex);
}

/* Hands the exchange to the request threads. */
static enum MHD_Result dispatch(struct http_exchange *ex, enum http_task task,
                                enum http_phase next_phase)
{
    struct http_server *server = ex->server;
    bool must_fit = task == HTTP_TASK_WRITE;
    if (!http_pool_reserve(server, must_fit)) {
        atomic_fetch_add(&server->refused_queue, 1);
        bool draining = atomic_load(&server->draining);
        return must_fit ? MHD_NO
                        : problem_send(ex, draining ? SV_ERR_DRAINING : SV_ERR_OVERLOADED, NULL);
    }
    if (!must_fit) {
        http_connection_phase(ex->connection, HTTP_CONN_OURS);
    }
    ex->task = task;
    ex->phase = next_phase;
    MHD_suspend_connection(ex->mhd);
    http_pool_push_reserved(server, ex);
    return MHD_YES;
}

static enum MHD_Result body_begin(struct http_exchange *ex)
{
    struct sv_error err = {0};
    enum sv_status status = http_body_begin(ex, &err);
    if (status != SV_OK) {
        return problem_send(ex, status, &err);
    }
    ex->phase = HTTP_PHASE_BODY;
    http_connection_phase(ex->connection, HTTP_CONN_BODY);
    return MHD_YES;
}

static enum MHD_Result body_more(struct http_exchange *ex, const char *data, size_t *size)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(ex->mhd, MHD_CONNECTION_INFO_CONNECTION_SUSPENDED);
    if (info && info->suspended == MHD_YES) {
        return MHD_YES; /* called once more although suspended: nothing is taken */
    }
    bool full = false;
    size_t taken = http_body_take(ex, data, *size, &full);
    if (taken == SIZE_MAX) {
        return MHD_NO;
    }
    *size -= taken;
    atomic_fetch_add(&ex->connection->bytes, taken);
    return full ? dispatch(ex, HTTP_TASK_WRITE, HTTP_PHASE_BODY) : MHD_YES;
}

static bool char_is_plain(char c)
{
    return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '-' ||
           c == '_' || c == '.';
}

static void request_id_set(struct http_exchange *ex)
{
    const char *given = http_header(&ex->request, "X-Request-Id");
    size_t n = 0;
    while (given && char_is_plain(given[n])) {
        n++;
    }
    if (given && n > 0 && n <= 64 && !given[n]) {
        memcpy(ex->request_id, given, n + 1);
    } else {
        uint64_t number = atomic_fetch_add(&ex->server->request_number, 1);
        (void)snprintf(ex->request_id, sizeof ex->request_id, "%.16s%016llx", ex->server->id,
                       (unsigned long long)number);
    }
}

static bool recall_actor(struct http_exchange *ex)
{
    const struct http_settings *settings = &ex->server->settings;
    struct http_actor *actor = &ex->request.actor;
    *actor = (struct http_actor){.role = HTTP_ROLE_PUBLIC};
    return ex->route->role == HTTP_ROLE_PUBLIC ||
           (settings->recall_actor && settings->recall_actor(settings->ctx, &ex->request, actor) &&
            actor->role >= ex->route->role);
}

/* Answers from memory if the route can: most polls, and what is open to all, need no other thread
 * and so wait behind nobody. */
static bool recall(struct http_exchange *ex)
{
    const struct http_settings *settings = &ex->server->settings;
    if (!ex->route->recall || ex->number || !recall_actor(ex)) {
        return false;
    }
    if (!ex->route->recall(settings->ctx, &ex->request, &ex->response)) {
        http_response_reset(&ex->response);
        return false;
    }
    http_answer_make(ex);
    return true;
}

/* First call, with the headers. Where no body follows the next call is the one that may answer. */
static enum MHD_Result request_begin(struct http_exchange *ex, const char *method,
                                     const char *version)
{
    struct sv_error err = {0};
    enum sv_status status = http_admit(ex, method, version, &err);
    request_id_set(ex);
    if (status != SV_OK) {
        return problem_send(ex, status, &err);
    }
    if (ex->answer || (!ex->body.present && recall(ex))) {
        return early_send(ex);
    }
    if (!ex->body.present) {
        ex->phase = HTTP_PHASE_BODY;
        return MHD_YES;
    }
    if (ex->route->body == HTTP_BODY_SPOOL || ex->body.length > HTTP_EARLY_BYTES) {
        return dispatch(ex, HTTP_TASK_ADMIT, HTTP_PHASE_ADMIT);
    }
    return body_begin(ex);
}

static enum MHD_Result on_request(void *cls, struct MHD_Connection *mhd, const char *url,
                                  const char *method, const char *version, const char *data,
                                  size_t *size, void **con_cls)
{
    struct http_exchange *ex = *con_cls;
    (void)cls;
    (void)mhd;
    (void)url; /* decoded and cut: router.c works on the target as sent */
    if (!ex || ex->gone) {
        return MHD_NO;
    }
    if (*size) {
        return body_more(ex, data, size);
    }
    switch (ex->phase) {
    case HTTP_PHASE_START:
        return request_begin(ex, method, version);
    case HTTP_PHASE_ADMIT:
        return ex->answer ? early_send(ex) : body_begin(ex);
    case HTTP_PHASE_BODY:
        return ex->answer ? answer_send(ex) : dispatch(ex, HTTP_TASK_HANDLE, HTTP_PHASE_ANSWER);
    case HTTP_PHASE_ANSWER:
        break;
    }
    return answer_send(ex);
}

/* ----------------------------------------------------------------------------------- start */

__attribute__((format(printf, 2, 0))) static void on_log(void *cls, const char *fmt, va_list args)
{
    const struct http_server *server = cls;
    char text[256];
    (void)vsnprintf(text, sizeof text, fmt, args);
    text[strcspn(text, "\r\n")] = '\0';
    log_event(server->settings.log, SV_LOG_DEBUG, "http_library", LOG_TEXT("text", text));
}

_Noreturn static void on_panic(void *cls, const char *file, unsigned line, const char *reason)
{
    (void)cls;
    struct sv_log log = {.fd = 2, .level = SV_LOG_DEBUG};
    log_event(&log, SV_LOG_ERROR, "http_library_panic", LOG_TEXT("file", file),
              LOG_INT("line", line), LOG_TEXT("reason", reason));
    abort();
}

enum sv_status http_daemon_start(struct http_server *server, struct sv_error *err)
{
    const struct cfg *config = server->config;
    unsigned threads = (unsigned)config->io_threads;
    struct MHD_OptionItem pool[] = {
        {threads > 1 ? MHD_OPTION_THREAD_POOL_SIZE : MHD_OPTION_END, (intptr_t)threads, NULL},
        {MHD_OPTION_END, 0, NULL}};
    MHD_set_panic_func(on_panic, NULL);
    server->daemon = MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG, 0, NULL, NULL,
        on_request, server, MHD_OPTION_EXTERNAL_LOGGER, on_log, server, MHD_OPTION_LISTEN_SOCKET,
        server->listen_fd, MHD_OPTION_CONNECTION_LIMIT, (unsigned)config->max_connections,
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)config->idle_seconds,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)POOL_BYTES,
        MHD_OPTION_CONNECTION_MEMORY_INCREMENT, (size_t)POOL_INCREMENT, MHD_OPTION_URI_LOG_CALLBACK,
        on_uri, server, MHD_OPTION_NOTIFY_COMPLETED, on_completed, server,
        MHD_OPTION_NOTIFY_CONNECTION, on_connection, server, MHD_OPTION_ARRAY, pool,
        MHD_OPTION_END);
    return server->daemon ? SV_OK : sv_fail(err, SV_ERR_INTERNAL, "cannot start the HTTP server");
}
