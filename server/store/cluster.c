/* SPDX-License-Identifier: MIT
 *
 * The embedded cluster once it is prepared: how to start it, how to reach it, whether it lives.
 */
#include "server/store/cluster.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <libpq-fe.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/base/clock.h"
#include "server/store/cluster_internal.h"

enum { POLL_MS = 50 };

/* ---- start ---- */

struct command_writer {
    struct store_cluster_command *command;
    size_t used;
};

__attribute__((format(printf, 2, 3))) static char *put(struct command_writer *w, const char *fmt,
                                                       ...)
{
    char *at = w->command->text + w->used;
    size_t room = sizeof w->command->text - w->used;
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(at, room, fmt, args);
    va_end(args);
    w->used += n < 0 ? 0 : (size_t)n < room ? (size_t)n + 1 : room - 1;
    return at;
}

void store_cluster_command(const struct store_cluster *cluster,
                           const struct store_cluster_options *options,
                           struct store_cluster_command *out_command)
{
    *out_command = (struct store_cluster_command){0};
    struct command_writer w = {.command = out_command};
    char **arg = out_command->argv;
    *arg++ = put(&w, "%s/postgres", cluster->bin_dir);
    *arg++ = put(&w, "-D");
    *arg++ = put(&w, "%s", cluster->pg_dir);
    *arg++ = put(&w, "--unix_socket_directories=%s", cluster->socket_dir);
    *arg++ = put(&w, "--unix_socket_permissions=0700");
    *arg++ = put(&w, "--listen_addresses=");
    *arg++ = put(&w, "--port=5432");
    *arg++ = put(&w, "--max_connections=%d",
                 options->max_connections > 0 ? options->max_connections : 100);
    *arg++ = put(&w, "--fsync=%s", options->sync ? "on" : "off");
    *arg++ = put(&w, "--password_encryption=scram-sha-256");
    *arg++ = put(&w, "--log_destination=stderr");
    *arg++ = put(&w, "--logging_collector=off");
    *arg++ = put(&w, "--log_min_messages=warning");
    *arg++ = put(&w, "--log_min_error_statement=panic"); /* statements may hold what users wrote */
    *arg++ = put(&w, "--cluster_name=assay");
    char **env = out_command->envp;
    *env++ = put(&w, "PATH=%s:/usr/bin:/bin", cluster->bin_dir);
    *env++ = put(&w, "LC_ALL=C.UTF-8");
    *env++ = put(&w, "HOME=/nonexistent");
}

bool store_cluster_become(const struct store_cluster *cluster)
{
    return !cluster->switch_user || (setgroups(1, &cluster->gid) == 0 &&
                                     setgid(cluster->gid) == 0 && setuid(cluster->uid) == 0);
}

void store_cluster_exec(const struct store_cluster *cluster,
                        const struct store_cluster_command *command)
{
    (void)umask(077);
    if (store_cluster_become(cluster) && chdir(cluster->pg_dir) == 0) {
        (void)execve(command->argv[0], command->argv, command->envp);
    }
}

int store_cluster_stop_signal(void)
{
    return SIGINT;
}

/* ---- connect ---- */

/* A value of a connection string. */
static size_t quote(const char *value, char *out, size_t size)
{
    size_t n = 0;
    for (const char *c = value; *c && n + 3 < size; c++) {
        if (*c == '\'' || *c == '\\') {
            out[n++] = '\\';
        }
        out[n++] = *c;
    }
    out[n] = '\0';
    return n;
}

static void conninfo_for(const struct store_cluster *cluster, const char *database,
                         char out_conninfo[STORE_CONNINFO_SIZE])
{
    char host[2 * sizeof cluster->socket_dir];
    (void)quote(cluster->socket_dir, host, sizeof host);
    (void)snprintf(out_conninfo, STORE_CONNINFO_SIZE,
                   "host='%s' port=5432 user=assay password=%s dbname=%s", host, cluster->password,
                   database);
}

void store_cluster_conninfo(const struct store_cluster *cluster,
                            char out_conninfo[STORE_CONNINFO_SIZE])
{
    conninfo_for(cluster, "assay", out_conninfo);
}

static bool has_database(PGconn *pg)
{
    PGresult *result = PQexec(pg, "select 1 from pg_database where datname = 'assay'");
    bool has = PQntuples(result) > 0;
    PQclear(result);
    return has;
}

/* true when the database is there, made now or by another. */
static bool ensure_database(PGconn *pg)
{
    if (!has_database(pg)) {
        PQclear(PQexec(pg, "create database assay"));
    }
    return has_database(pg);
}

/* The eighth line of postmaster.pid tells how far it is. Who connects before it says "ready" gets
 * a FATAL into the log that is none. */
static bool says_ready(const struct store_cluster *cluster)
{
    char path[STORE_PATH_SIZE + 20];
    char line[STORE_PATH_SIZE + 2] = "";
    int number = 0;
    (void)snprintf(path, sizeof path, "%s/postmaster.pid", cluster->pg_dir);
    FILE *file = fopen(path, "re");
    while (file && number < 8 && fgets(line, sizeof line, file)) {
        number++;
    }
    if (file) {
        (void)fclose(file);
    }
    return number == 8 && strncmp(line, "ready", 5) == 0;
}

enum sv_status store_cluster_wait_ready(const struct store_cluster *cluster, int timeout_ms,
                                        struct sv_error *err)
{
    char conninfo[STORE_CONNINFO_SIZE];
    conninfo_for(cluster, "postgres", conninfo);
    int64_t end_ms = sv_clock_monotonic_ms() + timeout_ms;
    for (;;) {
        bool ready = false;
        if (says_ready(cluster)) {
            PGconn *pg = PQconnectdb(conninfo);
            ready = PQstatus(pg) == CONNECTION_OK && ensure_database(pg);
            PQfinish(pg);
        }
        if (ready) {
            return SV_OK;
        }
        if (sv_clock_monotonic_ms() >= end_ms) {
            return sv_fail(err, SV_ERR_DATABASE, "the embedded database did not start in time");
        }
        sv_clock_sleep_ms(POLL_MS);
    }
}

/* ---- alive? ---- */

/* Is that process a postgres whose working directory is the cluster? */
static bool works_in(const char *pid, const struct stat *directory)
{
    char path[300];
    char name[32] = "";
    struct stat cwd;
    (void)snprintf(path, sizeof path, "/proc/%s/cwd", pid);
    if (stat(path, &cwd) != 0 || cwd.st_dev != directory->st_dev ||
        cwd.st_ino != directory->st_ino) {
        return false;
    }
    (void)snprintf(path, sizeof path, "/proc/%s/comm", pid);
    FILE *file = fopen(path, "r");
    bool read = file && fgets(name, sizeof name, file);
    if (file) {
        (void)fclose(file);
    }
    return read && strncmp(name, "postgres", 8) == 0;
}

static pid_t read_pid_file(const struct store_cluster *cluster)
{
    char path[STORE_PATH_SIZE + 20];
    char line[32] = "";
    (void)snprintf(path, sizeof path, "%s/postmaster.pid", cluster->pg_dir);
    FILE *file = fopen(path, "r");
    if (!file) {
        return 0;
    }
    bool read = fgets(line, sizeof line, file) != NULL;
    (void)fclose(file);
    long pid = read ? strtol(line, NULL, 10) : 0;
    return pid > 1 ? (pid_t)pid : 0;
}

pid_t store_cluster_pid(const struct store_cluster *cluster)
{
    struct stat directory;
    char name[32];
    pid_t pid = read_pid_file(cluster);
    (void)snprintf(name, sizeof name, "%ld", (long)pid);
    return pid > 0 && stat(cluster->pg_dir, &directory) == 0 && works_in(name, &directory) ? pid
                                                                                           : 0;
}
