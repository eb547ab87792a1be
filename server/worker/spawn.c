/* SPDX-License-Identifier: MIT
 *
 * posix_spawn of a child.
 */
#include "server/worker/spawn.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/wire/wire.h"

enum { OPEN_FILES = 256, PROCESSES = 1024, TEXT_BYTES = 32, MAX_ENVIRONMENT = 12 };

/* Sanitizers need terabytes of address space; their builds run without that limit. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { LIMIT_ADDRESS_SPACE = 0 };
#else
enum { LIMIT_ADDRESS_SPACE = 1 };
#endif

struct argument_list {
    char numbers[8][TEXT_BYTES];
    const char *argv[2 + 2 * 8 + 1];
    size_t n;
    size_t n_numbers;
};

static void add_number(struct argument_list *list, const char *flag, int64_t value)
{
    if (value > 0) {
        char *text = list->numbers[list->n_numbers++];
        (void)snprintf(text, TEXT_BYTES, "%lld", (long long)value);
        list->argv[list->n++] = flag;
        list->argv[list->n++] = text;
    }
}

static void fill_arguments(const struct worker_spawn *spawn, struct argument_list *list)
{
    list->argv[list->n++] = "assayd";
    list->argv[list->n++] = spawn->role;
    add_number(list, "--parent", getpid());
    add_number(list, "--uid", spawn->uid);
    add_number(list, "--gid", spawn->uid ? spawn->gid : 0);
    add_number(list, "--address-space", LIMIT_ADDRESS_SPACE ? spawn->address_space : 0);
    add_number(list, "--file-size", spawn->file_size);
    add_number(list, "--open-files", OPEN_FILES);
    /* the limit counts all threads of the user: only where the user is not a person's */
    add_number(list, "--processes", spawn->uid ? PROCESSES : 0);
    list->argv[list->n] = NULL;
}

/* Sanitizers read their options here; nothing of the operator's shell passes otherwise. Leaks
 * cannot be looked for in a child: the search needs ptrace. */
static void fill_environment(const char **environment, char *core_type_text)
{
    size_t n = 0;
    environment[n++] = "LC_ALL=C.UTF-8";
    environment[n++] = "TZ=UTC";
    environment[n++] = "PATH=/usr/bin:/bin";
    environment[n++] = "OPENBLAS_NUM_THREADS=1";
    environment[n++] = "OMP_NUM_THREADS=1";
    environment[n++] = core_type_text;
    environment[n++] = "ASAN_OPTIONS=detect_leaks=0:abort_on_error=1";
    environment[n++] = "UBSAN_OPTIONS=print_stacktrace=1:abort_on_error=1";
    environment[n] = NULL;
}

/* A copy above the descriptors that are about to be set, so that no dup2 overwrites a source. */
static int copy_high(int fd)
{
    return fcntl(fd, F_DUPFD_CLOEXEC, 16);
}

static int spawn_with(const struct worker_spawn *spawn, const int fds[3], pid_t *out_pid)
{
    struct argument_list arguments = {.n = 0};
    const char *environment[MAX_ENVIRONMENT];
    char core_type_text[64];
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none;
    sigset_t all;
    (void)snprintf(core_type_text, sizeof core_type_text, "OPENBLAS_CORETYPE=%s", spawn->core_type);
    fill_arguments(spawn, &arguments);
    fill_environment(environment, core_type_text);
    (void)sigemptyset(&none);
    (void)sigfillset(&all);
    if (posix_spawn_file_actions_init(&actions) != 0) {
        return -1;
    }
    if (posix_spawnattr_init(&attributes) != 0) {
        (void)posix_spawn_file_actions_destroy(&actions);
        return -1;
    }
    int rc = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    rc = rc ? rc : posix_spawn_file_actions_adddup2(&actions, fds[0], 1);
    rc = rc ? rc : posix_spawn_file_actions_adddup2(&actions, fds[0], 2);
    rc = rc ? rc : posix_spawn_file_actions_adddup2(&actions, fds[1], WIRE_CHILD_FD);
    rc = rc ? rc : posix_spawn_file_actions_addfchdir_np(&actions, fds[2]);
    rc = rc ? rc : posix_spawn_file_actions_addclosefrom_np(&actions, WIRE_CHILD_FD + 1);
    rc = rc ? rc : posix_spawnattr_setsigmask(&attributes, &none);
    rc = rc ? rc : posix_spawnattr_setsigdefault(&attributes, &all);
    rc = rc ? rc
            : posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK |
                                                        POSIX_SPAWN_SETSIGDEF);
    rc =
        rc ? rc
           : posix_spawn(out_pid, spawn->program, &actions, &attributes,
                         (char *const *)(void *)arguments.argv, (char *const *)(void *)environment);
    (void)posix_spawnattr_destroy(&attributes);
    (void)posix_spawn_file_actions_destroy(&actions);
    return rc;
}

enum sv_status worker_spawn(const struct worker_spawn *spawn, pid_t *out_pid, struct sv_error *err)
{
    int fds[3] = {copy_high(spawn->log_fd), copy_high(spawn->socket_fd),
                  copy_high(spawn->directory_fd)};
    int rc = -1;
    if (fds[0] >= 0 && fds[1] >= 0 && fds[2] >= 0) {
        rc = spawn_with(spawn, fds, out_pid);
    }
    for (size_t i = 0; i < 3; i++) {
        if (fds[i] >= 0) {
            (void)close(fds[i]);
        }
    }
    return rc ? sv_fail(err, SV_ERR_INTERNAL, "a child process cannot be started") : SV_OK;
}
