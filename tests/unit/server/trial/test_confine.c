/* SPDX-License-Identifier: MIT
 *
 * server/trial/confine.c and sandbox.c: in a forked process, what must work works and what must not
 * does not.
 */
#include "tests/support/cmocka_all.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "server/trial/confine.h"

/* Runs fn in a forked process; 0 = all its checks held, else the number of the first that did not.
 * A process that dies of a signal gives 1000 + signal. */
static int run_forked(int (*fn)(void))
{
    pid_t pid = fork();
    if (pid == 0) {
        _exit(fn());
    }
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void *thread_main(void *arg)
{
    return arg;
}

static int in_sandbox_work_goes_on(void)
{
    char name[] = "/tmp/assay-sandbox-XXXXXX";
    if (mkdtemp(name) == NULL || chdir(name) < 0 || trial_sandbox(NULL) != SV_OK) {
        return 1;
    }
    int fd = open("a.tmp", O_CREAT | O_RDWR | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, "x", 1) != 1 || fsync(fd) < 0 || rename("a.tmp", "a") < 0) {
        return 2;
    }
    if (mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0) == MAP_FAILED || unlink("a") < 0) {
        return 3;
    }
    pthread_t thread;
    void *result = NULL;
    if (pthread_create(&thread, NULL, thread_main, &fd) != 0 ||
        pthread_join(thread, &result) != 0 || result != &fd) {
        return 4;
    }
    void *block = malloc((size_t)64 << 20);
    if (!block) {
        return 5;
    }
    free(block);
    return 0;
}

static void nothing(int number)
{
    (void)number;
}

static int in_sandbox_the_rest_is_refused(void)
{
    char *const argv[] = {"true", NULL};
    (void)signal(SIGCHLD, nothing);
    if (trial_sandbox(NULL) != SV_OK) {
        return 1;
    }
    if (socket(AF_INET, SOCK_STREAM, 0) >= 0 || errno != EPERM) {
        return 2;
    }
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(9)};
    if (connect(0, (struct sockaddr *)&address, sizeof address) == 0 || errno != EPERM) {
        return 3;
    }
    if (execv("/bin/true", argv) == 0 || errno != EPERM) {
        return 4;
    }
    if (ptrace(PTRACE_ATTACH, getppid(), NULL, NULL) == 0 || errno != EPERM) {
        return 5;
    }
    if (fork() >= 0 || errno != EPERM) {
        return 6;
    }
    if (kill(getppid(), 0) == 0 || errno != EPERM) {
        return 7;
    }
    if (mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED) {
        return 8;
    }
    if (mkdir("/tmp/assay-never", 0700) == 0 || symlink("/etc", "/tmp/assay-never") == 0) {
        return 9;
    }
    struct rlimit limit = {1, 1};
    if (setrlimit(RLIMIT_NOFILE, &limit) == 0) {
        return 10;
    }
    return 0;
}

static int in_sandbox_abort_ends_the_process(void)
{
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    (void)dup2(null, 2);
    if (trial_sandbox(NULL) != SV_OK) {
        return 1;
    }
    abort();
}

static int confined(void)
{
    struct trial_limits limits = {
        .parent = getppid(),
        .uid = geteuid() == 0 ? 65534 : 0,
        .gid = 65534,
        .file_size = 1000,
        .open_files = 40,
    };
    struct rlimit core;
    struct rlimit files;
    if (trial_confine(&limits, NULL) != SV_OK) {
        return 1;
    }
    if (geteuid() == 0 || getegid() == 0 ||
        getgroups(0, NULL) != (limits.uid ? 0 : getgroups(0, NULL))) {
        return 2;
    }
    if (getrlimit(RLIMIT_CORE, &core) < 0 || core.rlim_max != 0 ||
        getrlimit(RLIMIT_NOFILE, &files) < 0 || files.rlim_max != 40) {
        return 3;
    }
    if (getpriority(PRIO_PROCESS, 0) < 10) {
        return 4;
    }
    return 0;
}

static int orphaned(void)
{
    struct trial_limits limits = {.parent = 1000000000};
    return trial_confine(&limits, NULL) == SV_ERR_DRAINING ? 0 : 1;
}

static void allowed_work_goes_on(void **state)
{
    (void)state;
    assert_int_equal(run_forked(in_sandbox_work_goes_on), 0);
}

static void everything_else_is_refused(void **state)
{
    (void)state;
    assert_int_equal(run_forked(in_sandbox_the_rest_is_refused), 0);
    assert_int_equal(access("/tmp/assay-never", F_OK), -1);
}

static void abort_still_aborts(void **state)
{
    (void)state;
    assert_int_equal(run_forked(in_sandbox_abort_ends_the_process), 1000 + SIGABRT);
}

static void limits_and_identity_hold(void **state)
{
    (void)state;
    assert_int_equal(run_forked(confined), 0);
    assert_int_equal(run_forked(orphaned), 0);
}

static void arguments_are_checked(void **state)
{
    (void)state;
    char *good[] = {"--uid", "65534", "--file-size", "1000"};
    char *bad[][2] = {{"--uid", "-1"}, {"--uid", "1x"}, {"--uid", ""}, {"--what", "1"}};
    struct trial_limits limits = {.gid = 5};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_false(trial_limits_parse(2, bad[i], &limits));
        assert_int_equal(limits.gid, 5);
    }
    assert_false(trial_limits_parse(3, good, &limits));
    assert_true(trial_limits_parse(4, good, &limits));
    assert_int_equal(limits.uid, 65534);
    assert_int_equal(limits.file_size, 1000);
    assert_int_equal(limits.gid, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(allowed_work_goes_on),  cmocka_unit_test(everything_else_is_refused),
        cmocka_unit_test(abort_still_aborts),    cmocka_unit_test(limits_and_identity_hold),
        cmocka_unit_test(arguments_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
