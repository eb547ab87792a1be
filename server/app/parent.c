/* SPDX-License-Identifier: MIT
 *
 * Plain `assayd`: a parent without HTTP and SQL over postgres (when embedded), serve and work. It
 * starts them in that order, restarts what dies, and stops in reverse. One thread.
 *
 * Each of serve and work reads from a pipe whose other end only this process has: when the parent
 * ends, in whatever way, they see the end of file and drain. A postmaster outlives a killed parent
 * and is adopted by the next one.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "server/app/database.h"
#include "server/app/restart.h"
#include "server/base/clock.h"

enum { START_TIMEOUT_MS = 120000, POSTGRES_STOP_MS = 120000, STOP_MARGIN_MS = 60000 };

enum child_kind { CHILD_POSTGRES, CHILD_SERVE, CHILD_WORK, CHILD_COUNT };
static const char *const CHILD_NAMES[CHILD_COUNT] = {"postgres", "serve", "work"};

struct child {
    pid_t pid;        /* 0: not running */
    bool adopted;     /* not our child: watched by pid_fd instead of waitpid */
    int pid_fd;       /* of an adopted one, else -1 */
    int pipe_fd;      /* serve and work: write end of their pipe, else -1 */
    bool wanted;      /* to be started (again) */
    int64_t due_ms;   /* when, if not running */
    int64_t pause_ms; /* the last backoff */
    int64_t started_ms;
};

struct parent {
    struct app app;
    int signal_fd;
    int lock_fd;
    bool embedded;
    struct store_cluster cluster;
    struct store_cluster_options cluster_options;
    struct child children[CHILD_COUNT];
    int stop_signals; /* how often we were asked to stop */
    int exit_status;
};

static void note(struct parent *parent, enum sv_log_level level, const char *event,
                 enum child_kind kind, int64_t value)
{
    log_event(&parent->app.log, level, event, LOG_TEXT("child", CHILD_NAMES[kind]),
              LOG_INT("value", value));
}

/* ------------------------------------------------------------------------------ starting */

static void start_postgres(struct parent *parent)
{
    struct child *child = &parent->children[CHILD_POSTGRES];
    pid_t running = store_cluster_pid(&parent->cluster);
    if (running > 0) {
        child->pid_fd = (int)syscall(SYS_pidfd_open, running, 0);
        child->adopted = child->pid_fd >= 0;
        child->pid = child->adopted ? running : 0;
        if (child->adopted) {
            (void)fcntl(child->pid_fd, F_SETFD, FD_CLOEXEC);
            note(parent, SV_LOG_INFO, "child_adopted", CHILD_POSTGRES, running);
        }
        return;
    }
    pid_t pid = app_postgres_fork(&parent->cluster, &parent->cluster_options);
    child->pid = pid > 0 ? pid : 0;
}

static int spawn_role(const char *role, int pipe_read_fd, pid_t *out_pid)
{
    enum { PIPE_FD = 3 };
    const char *argv[] = {"assayd", role, "--parent-pipe", "3", NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none;
    sigset_t all;
    (void)sigemptyset(&none);
    (void)sigfillset(&all);
    if (posix_spawn_file_actions_init(&actions) != 0 || posix_spawnattr_init(&attributes) != 0) {
        return -1;
    }
    int rc = posix_spawn_file_actions_adddup2(&actions, pipe_read_fd, PIPE_FD);
    rc = rc ? rc : posix_spawn_file_actions_addclosefrom_np(&actions, PIPE_FD + 1);
    rc = rc ? rc : posix_spawnattr_setpgroup(&attributes, 0);
    rc = rc ? rc : posix_spawnattr_setsigmask(&attributes, &none);
    rc = rc ? rc : posix_spawnattr_setsigdefault(&attributes, &all);
    rc = rc ? rc
            : posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                                        POSIX_SPAWN_SETSIGDEF);
    rc = rc ? rc
            : posix_spawn(out_pid, "/proc/self/exe", &actions, &attributes,
                          (char *const *)(void *)argv, environ);
    (void)posix_spawnattr_destroy(&attributes);
    (void)posix_spawn_file_actions_destroy(&actions);
    return rc;
}

static void start_role(struct parent *parent, enum child_kind kind)
{
    struct child *child = &parent->children[kind];
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0) {
        return;
    }
    int source = fcntl(ends[0], F_DUPFD_CLOEXEC, 16);
    if (source >= 0 && spawn_role(CHILD_NAMES[kind], source, &child->pid) == 0) {
        child->pipe_fd = ends[1];
    } else {
        child->pid = 0;
        (void)close(ends[1]);
    }
    (void)close(ends[0]);
    if (source >= 0) {
        (void)close(source);
    }
}

/* Starts what is wanted and due. */
static void start_due(struct parent *parent)
{
    for (int i = 0; i < CHILD_COUNT; i++) {
        struct child *child = &parent->children[i];
        int64_t now = sv_clock_monotonic_ms();
        if (!child->wanted || child->pid || now < child->due_ms) {
            continue;
        }
        child->started_ms = now;
        if (i == CHILD_POSTGRES) {
            start_postgres(parent);
        } else {
            start_role(parent, (enum child_kind)i);
        }
        if (child->pid) {
            note(parent, SV_LOG_INFO, "child_started", (enum child_kind)i, child->pid);
        } else {
            child->pause_ms = app_restart_pause_ms(child->pause_ms, 0);
            child->due_ms = now + child->pause_ms;
            note(parent, SV_LOG_ERROR, "child_not_started", (enum child_kind)i, child->pause_ms);
        }
    }
}

/* -------------------------------------------------------------------------------- ending */

static void child_ended(struct parent *parent, enum child_kind kind, int wait_status)
{
    struct child *child = &parent->children[kind];
    int64_t now = sv_clock_monotonic_ms();
    int status = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 128 + WTERMSIG(wait_status);
    if (child->pipe_fd >= 0) {
        (void)close(child->pipe_fd);
    }
    if (child->pid_fd >= 0) {
        (void)close(child->pid_fd);
    }
    child->pid = 0;
    child->pipe_fd = child->pid_fd = -1;
    child->adopted = false;
    note(parent, child->wanted ? SV_LOG_WARN : SV_LOG_INFO, "child_ended", kind, status);
    child->pause_ms = app_restart_pause_ms(child->pause_ms, now - child->started_ms);
    child->due_ms = now + child->pause_ms;
    bool final = status == APP_EXIT_USAGE || status == APP_EXIT_REFUSED;
    if (child->wanted && final && kind != CHILD_POSTGRES) {
        parent->exit_status = status; /* it would end alike for ever */
        parent->stop_signals++;
    }
}

static void reap(struct parent *parent)
{
    for (int i = 0; i < CHILD_COUNT; i++) {
        struct child *child = &parent->children[i];
        int wait_status = 0;
        if (child->pid && !child->adopted &&
            waitpid(child->pid, &wait_status, WNOHANG) == child->pid) {
            child_ended(parent, (enum child_kind)i, wait_status);
        }
    }
}

/* Waits up to timeout_ms for signals and ends of children, and takes them. */
static void wait_events(struct parent *parent, int timeout_ms)
{
    struct child *postgres = &parent->children[CHILD_POSTGRES];
    struct pollfd fds[2] = {{.fd = parent->signal_fd, .events = POLLIN},
                            {.fd = postgres->pid_fd, .events = POLLIN}};
    (void)poll(fds, 2, timeout_ms);
    int number;
    while ((number = app_signals_take(parent->signal_fd)) != 0) {
        if (number != SIGCHLD) {
            parent->stop_signals++;
            log_event(&parent->app.log, SV_LOG_INFO, "stop_requested", LOG_INT("signal", number));
        }
    }
    reap(parent);
    if (postgres->adopted && (fds[1].revents & POLLIN)) {
        child_ended(parent, CHILD_POSTGRES, 0);
    }
}

static int next_timeout_ms(const struct parent *parent)
{
    int64_t now = sv_clock_monotonic_ms();
    int64_t next = now + 60000;
    for (int i = 0; i < CHILD_COUNT; i++) {
        const struct child *child = &parent->children[i];
        if (child->wanted && !child->pid && child->due_ms < next) {
            next = child->due_ms;
        }
    }
    return next > now ? (int)(next - now) : 0;
}

/* Waits until the child has ended, at most until the deadline or until we are asked again. */
static bool wait_ended(struct parent *parent, enum child_kind kind, int64_t deadline_ms)
{
    int asked = parent->stop_signals;
    int64_t left;
    while (parent->children[kind].pid && parent->stop_signals == asked &&
           (left = deadline_ms - sv_clock_monotonic_ms()) > 0) {
        wait_events(parent, left > 1000 ? 1000 : (int)left);
    }
    return parent->children[kind].pid == 0;
}

static void stop_roles(struct parent *parent)
{
    const struct cfg *cfg = &parent->app.config;
    int64_t now = sv_clock_monotonic_ms();
    int64_t deadline_ms[CHILD_COUNT] = {
        [CHILD_SERVE] = now + cfg->stop_seconds * 1000 + STOP_MARGIN_MS / 4,
        [CHILD_WORK] = now + 2 * cfg->grace_seconds * 1000 + STOP_MARGIN_MS,
    };
    for (int i = 0; i < CHILD_COUNT; i++) {
        parent->children[i].wanted = false;
        if (parent->children[i].pipe_fd >= 0) {
            (void)close(parent->children[i].pipe_fd);
            parent->children[i].pipe_fd = -1;
        }
    }
    for (int i = CHILD_SERVE; i < CHILD_COUNT; i++) {
        struct child *child = &parent->children[i];
        if (child->pid && !wait_ended(parent, (enum child_kind)i, deadline_ms[i])) {
            note(parent, SV_LOG_WARN, "child_killed", (enum child_kind)i, child->pid);
            (void)kill(child->pid, SIGKILL);
            (void)wait_ended(parent, (enum child_kind)i, sv_clock_monotonic_ms() + 5000);
        }
    }
}

static void stop_postgres(struct parent *parent)
{
    struct child *child = &parent->children[CHILD_POSTGRES];
    int64_t deadline_ms = sv_clock_monotonic_ms() + POSTGRES_STOP_MS;
    child->wanted = false;
    if (!child->pid) {
        return;
    }
    if (child->adopted) {
        (void)syscall(SYS_pidfd_send_signal, child->pid_fd, store_cluster_stop_signal(), NULL, 0);
    } else {
        (void)kill(child->pid, store_cluster_stop_signal());
    }
    while (!wait_ended(parent, CHILD_POSTGRES, deadline_ms) &&
           sv_clock_monotonic_ms() < deadline_ms) {
    }
    if (child->pid) { /* never killed: the next start adopts or recovers it */
        note(parent, SV_LOG_ERROR, "child_left_running", CHILD_POSTGRES, child->pid);
    }
}

/* ------------------------------------------------------------------------------- running */

/* Starts the embedded cluster and waits until it takes connections. */
static enum sv_status open_cluster(struct parent *parent, struct sv_error *err)
{
    struct child *child = &parent->children[CHILD_POSTGRES];
    parent->cluster_options =
        (struct store_cluster_options){.data_dir = parent->app.data_dir, .sync = true};
    enum sv_status st = store_cluster_prepare(&parent->cluster_options, &parent->cluster, err);
    if (st != SV_OK) {
        return st;
    }
    int64_t deadline_ms = sv_clock_monotonic_ms() + START_TIMEOUT_MS;
    child->wanted = true;
    do {
        start_due(parent);
        st = store_cluster_wait_ready(&parent->cluster, 500, err);
        wait_events(parent, 0);
    } while (st == SV_ERR_DATABASE && !parent->stop_signals &&
             sv_clock_monotonic_ms() < deadline_ms);
    return st;
}

static void export_option(void *ctx, const char *name, const char *value)
{
    (void)ctx;
    (void)setenv(name, value, 1);
}

/* Serve and work get the whole configuration by environment, the connection string too. */
static void export_configuration(struct parent *parent)
{
    char conninfo[STORE_CONNINFO_SIZE];
    cfg_export(&parent->app.config, export_option, NULL);
    (void)setenv("ASSAY_DATA_DIR", parent->app.data_dir, 1);
    if (parent->embedded) {
        store_cluster_conninfo(&parent->cluster, conninfo);
        (void)setenv("ASSAY_DATABASE", conninfo, 1);
    }
}

static enum sv_status parent_open(struct parent *parent, struct sv_error *err)
{
    enum sv_status st = app_data_dir_make(parent->app.data_dir, err);
    if (st == SV_OK) {
        st = app_lock(parent->app.data_dir, "lock", &parent->lock_fd, err);
    }
    if (st != SV_OK) {
        return st;
    }
    parent->signal_fd = app_signals_open(true);
    if (parent->signal_fd < 0) {
        return sv_fail(err, SV_ERR_INTERNAL, "signals cannot be watched");
    }
    parent->embedded = parent->app.config.database[0] == '\0';
    if (parent->embedded) {
        st = open_cluster(parent, err);
    }
    return st;
}

int app_parent_main(int argc, char **argv)
{
    struct parent parent = {.signal_fd = -1, .lock_fd = -1};
    struct sv_error err = {0};
    for (int i = 0; i < CHILD_COUNT; i++) {
        parent.children[i].pid_fd = parent.children[i].pipe_fd = -1;
    }
    if (!app_init(&parent.app, "parent", &argc, argv)) {
        return APP_EXIT_USAGE;
    }
    if (!app_no_arguments(argc, argv) || !app_listen_is_sound(&parent.app)) {
        app_deinit(&parent.app);
        return APP_EXIT_USAGE;
    }
    enum sv_status st = parent_open(&parent, &err);
    if (st == SV_OK) {
        export_configuration(&parent);
        parent.children[CHILD_SERVE].wanted = parent.children[CHILD_WORK].wanted = true;
        while (!parent.stop_signals) {
            start_due(&parent);
            wait_events(&parent, next_timeout_ms(&parent));
        }
        stop_roles(&parent);
    } else if (!parent.stop_signals) {
        log_event(&parent.app.log, SV_LOG_ERROR, "start_failed", LOG_TEXT("text", err.text));
        parent.exit_status = APP_EXIT_FAILED;
    }
    stop_postgres(&parent);
    log_event(&parent.app.log, SV_LOG_INFO, "stopped", LOG_INT("status", parent.exit_status));
    app_deinit(&parent.app);
    return parent.exit_status;
}
