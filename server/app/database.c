/* SPDX-License-Identifier: MIT
 *
 * The embedded cluster for the time of one command. The lock of the data directory is taken first:
 * who gets it is alone there; who does not finds the cluster of the daemon that has it.
 */
#include "server/app/database.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "server/base/clock.h"

enum { START_TIMEOUT_MS = 120000, START_STEP_MS = 500 };

pid_t app_postgres_fork(const struct store_cluster *cluster,
                        const struct store_cluster_options *options)
{
    struct store_cluster_command command;
    store_cluster_command(cluster, options, &command);
    pid_t pid = fork();
    if (pid == 0) {
        sigset_t none;
        (void)sigemptyset(&none);
        (void)sigprocmask(SIG_SETMASK, &none, NULL);
        (void)signal(SIGPIPE, SIG_DFL);
        (void)setpgid(0, 0); /* a Ctrl-C of the terminal is for us alone */
        store_cluster_exec(cluster, &command);
        _exit(127);
    }
    return pid;
}

/* Starts the cluster, or waits for one that a killed command has left: it may be stopping, and then
 * a new one is started. */
static enum sv_status start(struct app_database *database,
                            const struct store_cluster_options *options, struct sv_error *err)
{
    int64_t deadline_ms = sv_clock_monotonic_ms() + START_TIMEOUT_MS;
    enum sv_status st;
    do {
        if (database->postgres <= 0 && store_cluster_pid(&database->cluster) == 0) {
            database->postgres = app_postgres_fork(&database->cluster, options);
        }
        st = store_cluster_wait_ready(&database->cluster, START_STEP_MS, err);
        if (database->postgres > 0 && waitpid(database->postgres, NULL, WNOHANG) != 0) {
            database->postgres = 0;
            return sv_fail(err, SV_ERR_INTERNAL, "the embedded database ended as it started");
        }
    } while (st == SV_ERR_DATABASE && sv_clock_monotonic_ms() < deadline_ms);
    return st;
}

static bool has_cluster(const struct app *app)
{
    char path[APP_PATH_SIZE + 16];
    (void)snprintf(path, sizeof path, "%s/pg", app->data_dir);
    return access(path, F_OK) == 0;
}

static enum sv_status open_embedded(const struct app *app, bool make, struct app_database *database,
                                    struct sv_error *err)
{
    struct store_cluster_options options = {.data_dir = app->data_dir, .sync = true};
    if (!make && !has_cluster(app)) {
        return sv_fail(err, SV_ERR_NOT_FOUND,
                       "there is no database in the data directory; name it by --data-dir or"
                       " ASSAY_DATA_DIR, or the database by ASSAY_DATABASE");
    }
    enum sv_status st = app_data_dir_make(app->data_dir, err);
    st = st == SV_OK ? app_lock(app->data_dir, "lock", &database->lock_fd, err) : st;
    if (st == SV_ERR_CONFLICT) { /* a daemon is there, and its cluster with it */
        return app_conninfo(app, database->conninfo, sizeof database->conninfo, err);
    }
    st = st == SV_OK ? store_cluster_prepare(&options, &database->cluster, err) : st;
    st = st == SV_OK ? start(database, &options, err) : st;
    if (st == SV_OK) {
        store_cluster_conninfo(&database->cluster, database->conninfo);
    }
    return st;
}

enum sv_status app_database_open(const struct app *app, bool make,
                                 struct app_database *out_database, struct sv_error *err)
{
    *out_database = (struct app_database){.lock_fd = -1};
    if (app->config.database[0]) {
        return app_conninfo(app, out_database->conninfo, sizeof out_database->conninfo, err);
    }
    enum sv_status st = open_embedded(app, make, out_database, err);
    if (st != SV_OK) {
        app_database_close(out_database);
    }
    return st;
}

void app_database_close(struct app_database *database)
{
    if (database->postgres > 0) {
        (void)kill(database->postgres, store_cluster_stop_signal());
        (void)waitpid(database->postgres, NULL, 0);
        database->postgres = 0;
    }
    if (database->lock_fd >= 0) {
        (void)close(database->lock_fd);
        database->lock_fd = -1;
    }
}
