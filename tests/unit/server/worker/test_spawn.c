/* SPDX-License-Identifier: MIT
 *
 * server/worker/spawn.c: what a child finds. The child is this binary, started as role "fake".
 */
#include "tests/support/cmocka_all.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "server/wire/wire.h"
#include "server/worker/directory.h"
#include "server/worker/spawn.h"

extern char **environ;

/* The child: 0 when all it looked at was right, else the number of the first that was not. */
static int fake_child(int argc, char **argv)
{
    char text[8] = "";
    int open_files = 0;
    if (argc < 4 || strcmp(argv[2], "--parent") != 0 || atoi(argv[3]) != getppid()) {
        return 10;
    }
    if (getpgrp() != getpid()) {
        return 11;
    }
    if (getenv("ASSAY_DATABASE") || getenv("HOME") || !getenv("OPENBLAS_NUM_THREADS") ||
        !getenv("OPENBLAS_CORETYPE") || strcmp(getenv("OPENBLAS_CORETYPE"), "Haswell") != 0) {
        return 12;
    }
    DIR *list = opendir("/proc/self/fd");
    while (readdir(list) != NULL) {
        open_files++;
    }
    if (open_files != 2 + 4 + 1) { /* ".", "..", 0 to 3 and the list itself */
        return 13;
    }
    if (access("marker", F_OK) < 0) {
        return 14;
    }
    sigset_t blocked;
    if (sigprocmask(SIG_BLOCK, NULL, &blocked) < 0 || sigismember(&blocked, SIGTERM) ||
        signal(SIGPIPE, SIG_DFL) != SIG_DFL) {
        return 15;
    }
    (void)!write(1, "said", 4);
    if (read(WIRE_CHILD_FD, text, 4) != 4 || strcmp(text, "ping") != 0 ||
        write(WIRE_CHILD_FD, "pong", 4) != 4) {
        return 16;
    }
    return 0;
}

static void child_finds_what_it_needs_and_nothing_else(void **state)
{
    (void)state;
    char path[] = "/tmp/assay-spawn-XXXXXX";
    int pair[2];
    char text[8] = "";
    assert_non_null(mkdtemp(path));
    int fd = open(path, O_RDONLY | O_DIRECTORY); /* not close-on-exec on purpose */
    assert_true(worker_file_write(fd, "marker", "", 0));
    int log_fd = openat(fd, "log", O_RDWR | O_CREAT, 0600);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    assert_int_equal(setenv("ASSAY_DATABASE", "secret", 1), 0);
    sigset_t term;
    (void)sigemptyset(&term);
    (void)sigaddset(&term, SIGTERM);
    assert_int_equal(sigprocmask(SIG_BLOCK, &term, NULL), 0);
    (void)signal(SIGPIPE, SIG_IGN);
    struct worker_spawn spawn = {
        .program = "/proc/self/exe",
        .role = "fake",
        .core_type = "Haswell",
        .directory_fd = fd,
        .socket_fd = pair[1],
        .log_fd = log_fd,
        .file_size = 1000,
    };
    pid_t pid = 0;
    int status = -1;
    assert_int_equal(worker_spawn(&spawn, &pid, NULL), SV_OK);
    assert_int_equal(close(pair[1]), 0);
    assert_int_equal(write(pair[0], "ping", 4), 4);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_int_equal(read(pair[0], text, 4), 4);
    assert_string_equal(text, "pong");
    assert_int_equal(pread(log_fd, text, 8, 0), 4);
    assert_memory_equal(text, "said", 4);
    (void)close(pair[0]);
    (void)close(log_fd);
    assert_true(worker_directory_clear(fd));
    (void)close(fd);
    assert_int_equal(rmdir(path), 0);
}

static void program_that_is_not_there_is_an_error(void **state)
{
    (void)state;
    struct worker_spawn spawn = {.program = "/nonexistent", .role = "fake", .core_type = "Haswell"};
    struct sv_error err = {0};
    pid_t pid = 77;
    assert_int_equal(worker_spawn(&spawn, &pid, &err), SV_ERR_INTERNAL);
    assert_null(strstr(err.text, "/nonexistent"));
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "fake") == 0) {
        return fake_child(argc, argv);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(child_finds_what_it_needs_and_nothing_else),
        cmocka_unit_test(program_that_is_not_there_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
