/* SPDX-License-Identifier: MIT
 *
 * What every role does first: configuration, log, signals, data directory, connection string.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/app/app_internal.h"
#include "server/http/server.h"
#include "server/store/cluster.h"

/* Takes "--parent-pipe N" out of argv: how the parent tells serve and work where its pipe is. */
static int take_parent_pipe(int *inout_argc, char **argv)
{
    for (int i = 0; i + 1 < *inout_argc; i++) {
        if (strcmp(argv[i], "--parent-pipe") == 0) {
            int fd = (int)strtol(argv[i + 1], NULL, 10);
            for (int k = i; k + 2 < *inout_argc; k++) {
                argv[k] = argv[k + 2];
            }
            *inout_argc -= 2;
            (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
            return fd;
        }
    }
    return -1;
}

static bool resolve_data_dir(struct app *app)
{
    const char *home = getenv("HOME");
    int n = -1;
    if (app->config.data_dir[0] == '/') {
        n = snprintf(app->data_dir, sizeof app->data_dir, "%s", app->config.data_dir);
    } else if (app->config.data_dir[0]) {
        char here[APP_PATH_SIZE];
        if (getcwd(here, sizeof here)) {
            n = snprintf(app->data_dir, sizeof app->data_dir, "%s/%s", here, app->config.data_dir);
        }
    } else if (geteuid() == 0) {
        n = snprintf(app->data_dir, sizeof app->data_dir, "/var/lib/assay");
    } else if (home && home[0] == '/') {
        n = snprintf(app->data_dir, sizeof app->data_dir, "%s/.local/share/assay", home);
    }
    return n > 0 && (size_t)n < sizeof app->data_dir;
}

bool app_init(struct app *app, const char *process, int *inout_argc, char **argv)
{
    struct sv_error err = {0};
    *app = (struct app){.parent_pipe = take_parent_pipe(inout_argc, argv)};
    if (cfg_load(inout_argc, argv, environ, &app->config, &err) != SV_OK) {
        (void)fprintf(stderr, "assayd: %s\n", err.text);
        return false;
    }
    app->log = (struct sv_log){.fd = STDERR_FILENO, .level = SV_LOG_INFO, .process = process};
    (void)log_level_parse(app->config.log_level, &app->log.level);
    if (!resolve_data_dir(app)) {
        (void)fputs("assayd: no usable data directory; set ASSAY_DATA_DIR\n", stderr);
        cfg_deinit(&app->config);
        return false;
    }
    return true;
}

void app_deinit(struct app *app)
{
    cfg_deinit(&app->config);
}

bool app_no_arguments(int argc, char *const *argv)
{
    if (argc > 0) {
        (void)fprintf(stderr, "assayd: unknown argument '%s'; see assayd help\n", argv[0]);
    }
    return argc <= 0;
}

bool app_listen_is_sound(const struct app *app)
{
    struct sv_error err = {0};
    bool sound = http_listen_check(app->config.listen, &err) == SV_OK;
    if (!sound) {
        (void)fprintf(stderr, "assayd: %s\n", err.text);
    }
    return sound;
}

int app_signals_open(bool with_children)
{
    sigset_t set;
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGTERM);
    (void)sigaddset(&set, SIGINT);
    (void)sigaddset(&set, SIGHUP);
    if (with_children) {
        (void)sigaddset(&set, SIGCHLD);
    }
    if (signal(SIGPIPE, SIG_IGN) == SIG_ERR || sigprocmask(SIG_BLOCK, &set, NULL) < 0) {
        return -1;
    }
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

int app_signals_take(int signal_fd)
{
    struct signalfd_siginfo info;
    ssize_t n = read(signal_fd, &info, sizeof info);
    return n == (ssize_t)sizeof info ? (int)info.ssi_signo : 0;
}

int app_drain_open(const struct app *app)
{
    struct epoll_event event = {.events = EPOLLIN};
    int signal_fd = app_signals_open(false);
    int fd = epoll_create1(EPOLL_CLOEXEC);
    bool ok = signal_fd >= 0 && fd >= 0 && epoll_ctl(fd, EPOLL_CTL_ADD, signal_fd, &event) == 0;
    if (ok && app->parent_pipe >= 0) {
        ok = epoll_ctl(fd, EPOLL_CTL_ADD, app->parent_pipe, &event) == 0;
    }
    if (!ok && fd >= 0) {
        (void)close(fd);
        fd = -1;
    }
    return fd; /* signal_fd lives as long as the process */
}

enum sv_status app_data_dir_make(const char *path, struct sv_error *err)
{
    char partial[APP_PATH_SIZE];
    (void)snprintf(partial, sizeof partial, "%s", path);
    for (char *slash = partial + 1; *slash; slash++) {
        if (*slash == '/') {
            *slash = '\0';
            (void)mkdir(partial, 0755);
            *slash = '/';
        }
    }
    /* others may pass through: PostgreSQL and child processes run as users of their own */
    if (mkdir(path, 0711) < 0 && errno != EEXIST) {
        return sv_fail(err, SV_ERR_INTERNAL, "the data directory cannot be made: %s",
                       strerror(errno));
    }
    if (access(path, R_OK | W_OK | X_OK) < 0) {
        return sv_fail(err, SV_ERR_INTERNAL, "the data directory cannot be used: %s",
                       strerror(errno));
    }
    return SV_OK;
}

enum sv_status app_lock(const char *directory, const char *name, int *out_fd, struct sv_error *err)
{
    char path[APP_PATH_SIZE + 64];
    (void)snprintf(path, sizeof path, "%s/%s", directory, name);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) {
        return sv_fail(err, SV_ERR_INTERNAL, "the lock of the data directory cannot be opened");
    }
    if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
        (void)close(fd);
        return sv_fail(err, SV_ERR_CONFLICT, "another assayd uses the data directory");
    }
    *out_fd = fd;
    return SV_OK;
}

enum sv_status app_conninfo(const struct app *app, char *out, size_t size, struct sv_error *err)
{
    if (app->config.database[0]) {
        int n = snprintf(out, size, "%s", app->config.database);
        return n > 0 && (size_t)n < size
                   ? SV_OK
                   : sv_fail(err, SV_ERR_INVALID_PARAMETER, "ASSAY_DATABASE is too long");
    }
    struct store_cluster cluster;
    struct store_cluster_options options = {.data_dir = app->data_dir, .sync = true};
    char conninfo[STORE_CONNINFO_SIZE];
    if (access(app->data_dir, F_OK) < 0) {
        return sv_fail(err, SV_ERR_DATABASE, "no assayd runs here; set ASSAY_DATABASE");
    }
    enum sv_status st = store_cluster_prepare(&options, &cluster, err);
    if (st != SV_OK) {
        return st;
    }
    if (cluster.running_pid == 0) {
        return sv_fail(err, SV_ERR_DATABASE,
                       "the embedded database is not running: start assayd, or set ASSAY_DATABASE");
    }
    store_cluster_conninfo(&cluster, conninfo);
    (void)snprintf(out, size, "%s", conninfo);
    return SV_OK;
}
