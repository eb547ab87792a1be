/* SPDX-License-Identifier: MIT
 *
 * `assayd work`: a worker pool on this machine. Its main thread becomes the supervisor of the
 * children, so it lives as long as they may.
 */
#include <stdio.h>
#include <unistd.h>

#include "core/kernels/exec.h"
#include "server/app/app_internal.h"
#include "server/store/cluster.h"
#include "server/store/store.h"
#include "server/worker/worker.h"

enum { SPARE_CONNECTIONS = 4 };

static size_t connections(const struct app *app)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    size_t cores = app->config.cores > 0 ? (size_t)app->config.cores
                   : processors > 0      ? (size_t)processors
                                         : 1;
    return cores + SPARE_CONNECTIONS;
}

static enum sv_status work(struct app *app, int drain_fd, struct sv_error *err)
{
    char conninfo[STORE_CONNINFO_SIZE];
    char libraries[192];
    struct store *store = NULL;
    enum sv_status st = app_data_dir_make(app->data_dir, err);
    st = st == SV_OK ? app_conninfo(app, conninfo, sizeof conninfo, err) : st;
    if (st != SV_OK) {
        return st;
    }
    struct store_options options = {
        .conninfo = conninfo,
        .application_name = "assayd work",
        .max_connections = connections(app),
        .log = &app->log,
    };
    (void)snprintf(libraries, sizeof libraries, "%.180s", nn_blas_config());
    st = store_open(&options, &store, err);
    if (st == SV_OK) {
        struct worker_setup setup = {
            .config = &app->config,
            .store = store,
            .log = &app->log,
            .data_dir = app->data_dir,
            .program = "/proc/self/exe",
            .libraries = libraries,
            .drain_fd = drain_fd,
        };
        st = worker_run(&setup, err);
    }
    store_close(store);
    return st;
}

int app_work_main(int argc, char **argv)
{
    struct app app;
    struct sv_error err = {0};
    if (!app_init(&app, "work", &argc, argv) || !app_no_arguments(argc, argv)) {
        return APP_EXIT_USAGE;
    }
    int drain_fd = app_drain_open(&app);
    enum sv_status st = drain_fd < 0 ? SV_ERR_INTERNAL : work(&app, drain_fd, &err);
    if (st != SV_OK) {
        log_event(&app.log, SV_LOG_ERROR, "work_failed", LOG_TEXT("code", sv_status_slug(st)),
                  LOG_TEXT("text", err.text));
    }
    app_deinit(&app);
    return st == SV_OK                      ? APP_EXIT_OK
           : st == SV_ERR_INVALID_PARAMETER ? APP_EXIT_USAGE
           : st == SV_ERR_DRAINING          ? APP_EXIT_REFUSED
                                            : APP_EXIT_FAILED;
}
