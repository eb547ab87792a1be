/* SPDX-License-Identifier: MIT
 *
 * `assayd serve`: the HTTP service. Started in this order and stopped in reverse: store, schema,
 * changes, server. Between, its main thread goes on with searches, keeps house in the database and
 * watches the schema.
 */
#include <malloc.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/build.h"
#include "server/api/api.h"
#include "server/app/app_internal.h"
#include "server/app/auth.h"
#include "server/base/clock.h"
#include "server/changes/changes.h"
#include "server/http/server.h"
#include "server/store/cluster.h"
#include "server/store/events.h"
#include "server/store/housekeeping.h"
#include "server/store/migrate.h"

enum {
    RETRY_MS = 500,
    ADDRESS_MARGIN_MS = 2000,
    CHECK_MS = 5000,
    HOUSEKEEPING_MS = 30000,
    SEARCH_GAP_MS = 200, /* between looks at searches that notifications ask for */
    SPARE_CONNECTIONS = 3
};

struct serve {
    struct api_ctx api; /* first: handlers get a pointer to it */
    struct app app;
    int drain_fd;
    int change_fd;     /* readable: something in the database has changed */
    int64_t search_ms; /* when searches are looked at again, after trouble */
    struct store *store;
    struct store_listener *listener;
    struct changes *changes;
    struct app_auth *auth;
    struct http_route *routes;
    struct http_server *server;
    char spool_dir[APP_PATH_SIZE + 16];
    char build[64];
};

static bool wait_drain(const struct serve *serve, int timeout_ms)
{
    struct pollfd fd = {.fd = serve->drain_fd, .events = POLLIN};
    return poll(&fd, 1, timeout_ms) > 0;
}

/* ---------------------------------------------------------------------------------- hooks */

static enum sv_status authenticate(void *state, const struct http_request *req,
                                   struct http_actor *out_actor, struct sv_error *err)
{
    struct serve *serve = state;
    return app_auth_check(serve->auth, req, out_actor, err);
}

static bool recall_actor(void *ctx, const struct http_request *req, struct http_actor *out_actor)
{
    const struct serve *serve = ctx;
    return app_auth_recall(serve->auth, req, out_actor);
}

static enum sv_status listen_changes(void *ctx, int timeout_ms, int wake_fd,
                                     enum changes_heard *out_heard,
                                     struct changes_notice *out_notice, struct sv_error *err)
{
    static const enum changes_heard heard_as[] = {
        [STORE_HEARD_CHANGE] = CHANGES_HEARD_NOTICE,
        [STORE_HEARD_NOTHING] = CHANGES_HEARD_NOTHING,
        [STORE_HEARD_CONNECTED] = CHANGES_HEARD_CONNECTED,
    };
    struct serve *serve = ctx;
    enum store_heard heard = STORE_HEARD_NOTHING;
    struct store_change change;
    enum sv_status st =
        store_listener_wait(serve->listener, timeout_ms, wake_fd, &heard, &change, err);
    if (st == SV_OK) {
        *out_heard = heard_as[heard];
        if (heard != STORE_HEARD_NOTHING) {
            (void)eventfd_write(serve->change_fd, 1);
        }
        if (heard == STORE_HEARD_CHANGE) {
            memcpy(out_notice->id, change.id, sizeof out_notice->id);
            memcpy(out_notice->project_id, change.project_id, sizeof out_notice->project_id);
            out_notice->revision = change.revision;
        }
    }
    return st;
}

/* ------------------------------------------------------------------------------- starting */

static enum sv_status open_store(struct serve *serve, struct sv_error *err)
{
    char conninfo[STORE_CONNINFO_SIZE];
    enum sv_status st = app_data_dir_make(serve->app.data_dir, err);
    st = st == SV_OK ? app_conninfo(&serve->app, conninfo, sizeof conninfo, err) : st;
    if (st != SV_OK) {
        return st;
    }
    struct store_options options = {
        .conninfo = conninfo,
        .application_name = "assayd serve",
        .max_connections = (size_t)serve->app.config.request_threads + SPARE_CONNECTIONS,
        .log = &serve->app.log,
        .curve_bytes = (size_t)serve->app.config.cache_bytes,
    };
    st = store_open(&options, &serve->store, err);
    return st == SV_OK ? store_listener_open(serve->store, &serve->listener, err) : st;
}

/* Brings the schema up to date, waiting for the database. */
static enum sv_status migrate(struct serve *serve, struct sv_error *err)
{
    struct store_migrated migrated = {0};
    enum sv_status st;
    bool told = false;
    while ((st = store_migrate(serve->store, &migrated, err)) == SV_ERR_DATABASE ||
           st == SV_ERR_OVERLOADED) {
        if (!told) {
            log_event(&serve->app.log, SV_LOG_INFO, "waiting_for_database",
                      LOG_TEXT("text", err->text));
        }
        told = true;
        if (wait_drain(serve, RETRY_MS)) {
            return st;
        }
    }
    if (st == SV_OK) {
        log_event(&serve->app.log, SV_LOG_INFO, "schema_ready",
                  LOG_INT("version", migrated.version), LOG_INT("applied", migrated.applied));
    }
    return st;
}

static enum sv_status open_changes(struct serve *serve, struct sv_error *err)
{
    serve->change_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (serve->change_fd < 0) {
        return sv_fail(err, SV_ERR_INTERNAL, "no descriptor is left");
    }
    struct changes_settings settings = {
        .source = {.ctx = serve, .wait = listen_changes},
        .log = &serve->app.log,
        .answer_bytes = (size_t)serve->app.config.cache_bytes,
    };
    return changes_create(&settings, &serve->changes, err);
}

/* A service that is ending keeps the address for a while; whoever keeps it longer is another. */
static enum sv_status create_server(struct serve *serve, const struct http_settings *settings,
                                    struct sv_error *err)
{
    int64_t wait_ms = serve->app.config.stop_seconds * 1000 + ADDRESS_MARGIN_MS;
    int64_t until_ms = sv_clock_monotonic_ms() + wait_ms;
    enum sv_status st;
    bool told = false;
    while ((st = http_server_create(settings, &serve->server, err)) == SV_ERR_CONFLICT &&
           sv_clock_monotonic_ms() < until_ms) {
        if (!told) {
            log_event(&serve->app.log, SV_LOG_WARN, "address_in_use", LOG_TEXT("text", err->text),
                      LOG_INT("gives_up_after_ms", wait_ms));
        }
        told = true;
        if (wait_drain(serve, RETRY_MS)) {
            break;
        }
    }
    return st;
}

static enum sv_status open_server(struct serve *serve, struct sv_error *err)
{
    struct http_settings settings = {
        .config = &serve->app.config,
        .spool_dir = serve->spool_dir,
        .log = &serve->app.log,
        .ctx = &serve->api,
        .authenticate = authenticate,
        .recall_actor = recall_actor,
        .written = api_written,
        .explain_number = api_explain_number,
        .default_project = STORE_DEFAULT_PROJECT,
    };
    (void)snprintf(serve->spool_dir, sizeof serve->spool_dir, "%s/spool", serve->app.data_dir);
    if (mkdir(serve->spool_dir, 0700) < 0 && access(serve->spool_dir, W_OK | X_OK) < 0) {
        return sv_fail(err, SV_ERR_INTERNAL, "the spool directory cannot be made");
    }
    (void)snprintf(serve->build, sizeof serve->build, "%s+%s", APP_VERSION, nn_core_build_id);
    serve->api = (struct api_ctx){.store = serve->store,
                                  .changes = serve->changes,
                                  .config = &serve->app.config,
                                  .build = serve->build};
    serve->routes = app_routes_create(&settings.route_count);
    settings.routes = serve->routes;
    if (!settings.routes) {
        return sv_fail(err, SV_ERR_INTERNAL, "out of memory");
    }
    enum sv_status st = create_server(serve, &settings, err);
    serve->api.server = st == SV_OK ? serve->server : NULL;
    return st;
}

/* ------------------------------------------------------------------------------- running */

static void keep_house(struct serve *serve)
{
    static const struct store_housekeeping limits = {
        .blob_grace_s = 3600, .event_age_s = 3600, .event_keep = 100000, .key_age_s = 86400};
    struct store_housekept done = {0};
    struct sv_error err = {0};
    if (store_housekeep(serve->store, &limits, &done, &err) == SV_OK && done.blobs > 0) {
        log_event(&serve->app.log, SV_LOG_INFO, "blobs_collected", LOG_INT("count", done.blobs));
    }
}

/* Notifications only make it look sooner: what it acts on is read from tables. */
static void go_on_with_searches(struct serve *serve)
{
    struct sv_error err = {0};
    size_t chosen = 0;
    int64_t now = sv_clock_monotonic_ms();
    if (now < serve->search_ms) {
        return;
    }
    enum sv_status st = api_searches_go_on(&serve->api, &chosen, &err);
    serve->search_ms = st == SV_OK ? now : now + CHECK_MS;
    if (st != SV_OK && st != SV_ERR_DATABASE && st != SV_ERR_OVERLOADED) {
        log_event(&serve->app.log, SV_LOG_ERROR, "search_failed",
                  LOG_TEXT("code", sv_status_slug(st)), LOG_TEXT("text", err.text));
    } else if (chosen > 0) {
        log_event(&serve->app.log, SV_LOG_INFO, "trials_chosen", LOG_INT("count", chosen));
    }
}

/* Waits for the drain (true), a change or the time; then for what else changes in a moment. */
static bool wait_change(const struct serve *serve)
{
    eventfd_t count;
    struct pollfd fds[] = {{.fd = serve->drain_fd, .events = POLLIN},
                           {.fd = serve->change_fd, .events = POLLIN}};
    if (poll(fds, 2, CHECK_MS) > 0 && (fds[0].revents != 0 || wait_drain(serve, SEARCH_GAP_MS))) {
        return true;
    }
    if (fds[1].revents & POLLIN) {
        (void)eventfd_read(serve->change_fd, &count);
    }
    return false;
}

static bool is_due(int64_t *at_ms, int64_t every_ms)
{
    int64_t now = sv_clock_monotonic_ms();
    bool due = now >= *at_ms;
    *at_ms = due ? now + every_ms : *at_ms;
    return due;
}

/* Until asked to stop, or until the schema is newer than this program. */
static void serve_on(struct serve *serve)
{
    int64_t house_ms = sv_clock_monotonic_ms() + HOUSEKEEPING_MS, check_ms = 0;
    while (!wait_change(serve)) {
        struct sv_error err = {0};
        if (is_due(&check_ms, CHECK_MS) && store_check(serve->store, &err) == SV_ERR_DRAINING) {
            log_event(&serve->app.log, SV_LOG_WARN, "schema_is_newer", LOG_TEXT("text", err.text));
            return;
        }
        go_on_with_searches(serve);
        if (is_due(&house_ms, HOUSEKEEPING_MS)) {
            keep_house(serve);
        }
    }
}

static void serve_close(struct serve *serve)
{
    if (serve->server) {
        http_server_stop(serve->server, (unsigned)serve->app.config.stop_seconds * 1000);
    }
    changes_destroy(serve->changes);
    http_server_destroy(serve->server);
    free(serve->routes);
    app_auth_destroy(serve->auth);
    store_listener_close(serve->listener);
    store_close(serve->store);
    if (serve->change_fd >= 0) {
        (void)close(serve->change_fd);
    }
}

static int exit_status(enum sv_status st)
{
    switch (st) {
    case SV_OK:
        return APP_EXIT_OK;
    case SV_ERR_INVALID_PARAMETER:
        return APP_EXIT_USAGE;
    case SV_ERR_DRAINING:
    case SV_ERR_CONFLICT: /* the address is another's: trying again would not help */
        return APP_EXIT_REFUSED;
    default:
        return APP_EXIT_FAILED;
    }
}

int app_serve_main(int argc, char **argv)
{
    struct serve serve = {.drain_fd = -1, .change_fd = -1};
    struct sv_error err = {0};
    (void)mallopt(M_ARENA_MAX, 1); /* else each request thread's heap grows to its own high water */
    if (!app_init(&serve.app, "serve", &argc, argv) || !app_no_arguments(argc, argv) ||
        !app_listen_is_sound(&serve.app)) {
        return APP_EXIT_USAGE;
    }
    serve.drain_fd = app_drain_open(&serve.app);
    enum sv_status st = serve.drain_fd < 0 ? SV_ERR_INTERNAL : open_store(&serve, &err);
    st = st == SV_OK ? migrate(&serve, &err) : st;
    bool leave = st != SV_OK && wait_drain(&serve, 0); /* asked to stop while starting */
    st = st == SV_OK ? app_auth_create(serve.store, &serve.auth, &err) : st;
    st = st == SV_OK ? open_changes(&serve, &err) : st;
    st = st == SV_OK ? open_server(&serve, &err) : st;
    if (st == SV_OK) {
        log_event(&serve.app.log, SV_LOG_INFO, "listening",
                  LOG_TEXT("host", http_server_host(serve.server)),
                  LOG_INT("port", http_server_port(serve.server)));
        serve_on(&serve);
    } else if (!leave) {
        log_event(&serve.app.log, SV_LOG_ERROR, "start_failed",
                  LOG_TEXT("code", sv_status_slug(st)), LOG_TEXT("text", err.text));
    }
    serve_close(&serve);
    app_deinit(&serve.app);
    return leave ? APP_EXIT_OK : exit_status(st);
}
