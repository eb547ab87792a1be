/* SPDX-License-Identifier: MIT
 *
 * PostgreSQL's programs: where they are, and the run of initdb.
 */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <glob.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "server/base/clock.h"
#include "server/store/cluster_internal.h"

enum { REMOVE_TRIES = 50, REMOVE_PAUSE_MS = 100 };

/* ---- finding ---- */

/* Runs argv and returns its standard output's first line; false unless it ends with status 0. */
static bool run_line(char *const argv[], char *out_line, size_t size)
{
    int fds[2];
    if (pipe2(fds, O_CLOEXEC) != 0) {
        return false;
    }
    pid_t pid = fork();
    if (pid == 0) {
        char *const env[] = {"LC_ALL=C", NULL};
        (void)dup2(fds[1], STDOUT_FILENO);
        (void)execve(argv[0], argv, env);
        _exit(127);
    }
    (void)close(fds[1]);
    size_t used = 0;
    for (ssize_t n = 1; pid > 0 && n > 0 && used<size - 1; used += n> 0 ? (size_t)n : 0) {
        n = read(fds[0], out_line + used, size - 1 - used);
    }
    out_line[used] = '\0';
    (void)close(fds[0]);
    int status = 1;
    return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

/* Major version of dir/postgres ("postgres (PostgreSQL) 15.20 ..."), 0 if it cannot be run. */
static int programs_major(const char *directory)
{
    char program[STORE_PATH_SIZE + 16];
    char line[128];
    (void)snprintf(program, sizeof program, "%s/postgres", directory);
    char flag[] = "--version";
    char *const argv[] = {program, flag, NULL};
    if (access(program, X_OK) != 0 || !run_line(argv, line, sizeof line)) {
        return 0;
    }
    const char *number = strstr(line, "(PostgreSQL) ");
    return number ? (int)strtol(number + strlen("(PostgreSQL) "), NULL, 10) : 0;
}

struct search {
    int wanted; /* 0: the newest */
    int major;  /* best so far */
    char directory[STORE_PATH_SIZE];
};

static void consider(struct search *search, const char *directory)
{
    int major = programs_major(directory);
    bool fits = search->wanted == 0 ? major > search->major : major == search->wanted;
    if (major > 0 && fits && strlen(directory) < STORE_PATH_SIZE) {
        search->major = major;
        (void)snprintf(search->directory, sizeof search->directory, "%s", directory);
    }
}

bool store_cluster_find_programs(const char *bin_dir, int major, char out_dir[STORE_PATH_SIZE],
                                 int *out_major)
{
    static const char *const patterns[] = {"/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin",
                                           "/usr/local/pgsql/bin", "/usr/local/bin", "/usr/bin"};
    struct search search = {.wanted = major};
    if (bin_dir) {
        consider(&search, bin_dir);
    }
    for (size_t i = 0; !bin_dir && i < sizeof patterns / sizeof patterns[0]; i++) {
        glob_t found = {0};
        if (glob(patterns[i], 0, NULL, &found) == 0) {
            for (size_t k = 0; k < found.gl_pathc; k++) {
                consider(&search, found.gl_pathv[k]);
            }
        }
        globfree(&found);
    }
    if (search.major > 0) {
        *out_major = search.major;
        (void)snprintf(out_dir, STORE_PATH_SIZE, "%s", search.directory);
    }
    return search.major > 0;
}

/* ---- initdb ---- */

static void exec_initdb(const struct store_cluster *cluster, char *const argv[])
{
    char *const env[] = {"LC_ALL=C.UTF-8", "PATH=/usr/bin:/bin", NULL};
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    (void)umask(077);
    if (null >= 0 && dup2(null, STDIN_FILENO) >= 0 && dup2(null, STDOUT_FILENO) >= 0 &&
        store_cluster_become(cluster) && chdir("/") == 0 &&
        prctl(PR_SET_PDEATHSIG, SIGKILL) == 0) { /* who comes after us finds nobody at work */
        if (access(argv[2], R_OK | W_OK | X_OK) != 0) {
            _exit(126);
        }
        (void)execve(argv[0], argv, env);
    }
    _exit(127);
}

enum sv_status store_cluster_initdb(const struct store_cluster *cluster, const char *directory,
                                    const char *password_file, bool sync, struct sv_error *err)
{
    char program[STORE_PATH_SIZE + 16];
    char target[STORE_PATH_SIZE];
    char pwfile[STORE_PATH_SIZE + 16];
    (void)snprintf(program, sizeof program, "%s/initdb", cluster->bin_dir);
    (void)snprintf(target, sizeof target, "%s", directory);
    (void)snprintf(pwfile, sizeof pwfile, "--pwfile=%s", password_file);
    char *const argv[] = {program,
                          "-D",
                          target,
                          "--username=assay",
                          pwfile,
                          "--auth=scram-sha-256",
                          "--encoding=UTF8",
                          "--locale=C.UTF-8",
                          "--data-checksums",
                          "--no-instructions",
                          sync ? NULL : "--no-sync",
                          NULL};
    pid_t pid = fork();
    if (pid == 0) {
        exec_initdb(cluster, argv);
    }
    int status = 1;
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 126) {
        return sv_fail(err, SV_ERR_INTERNAL,
                       "the embedded database: its user cannot enter the data directory; choose one"
                       " below /var/lib, or open the directories above it (mode 711)");
    }
    return pid > 0 && status == 0
               ? SV_OK
               : sv_fail(err, SV_ERR_INTERNAL, "the embedded database: initdb failed");
}

/* ---- removing ---- */

static int remove_entry(const char *path, const struct stat *info, int kind, struct FTW *at)
{
    (void)info;
    (void)kind;
    (void)at;
    return remove(path);
}

bool store_cluster_remove_tree(const char *path)
{
    bool gone = access(path, F_OK) != 0;
    for (int i = 0; i < REMOVE_TRIES && !gone; i++) {
        gone = nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT) == 0;
        if (!gone) { /* what a killed initdb had started may still write for a moment */
            sv_clock_sleep_ms(REMOVE_PAUSE_MS);
        }
    }
    return gone;
}
