/* SPDX-License-Identifier: MIT
 *
 * server/worker/supervisor.c with children that misbehave. The children are this binary, started
 * with the behaviour as their role (B08, B32).
 */
#include "tests/support/cmocka_all.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "server/worker/worker_internal.h"
#include "tests/support/patience.h"

enum { MIB = 1 << 20, FAR_MS = 3600 * 1000 };

/* ------------------------------------------------------------------------- the children */

static void say_pid(pid_t pid)
{
    (void)!write(WIRE_CHILD_FD, &pid, sizeof pid);
}

static _Noreturn void sleep_for_ever(void)
{
    for (;;) {
        (void)pause();
    }
}

static int misbehave(const char *behaviour)
{
    if (strcmp(behaviour, "obey") == 0) { /* until the socket ends */
        char byte;
        return read(WIRE_CHILD_FD, &byte, 1) == 0 ? 0 : 9;
    }
    if (strcmp(behaviour, "stubborn") == 0) { /* ignores SIGTERM, and so does its own child */
        (void)signal(SIGTERM, SIG_IGN);
        pid_t pid = fork();
        if (pid > 0) {
            say_pid(pid);
        }
        sleep_for_ever();
    }
    if (strcmp(behaviour, "hog") == 0) {
        char *block = malloc((size_t)360 * MIB);
        for (size_t i = 0; block && i < (size_t)360 * MIB; i += 4096) {
            ((volatile char *)block)[i] = 1;
        }
        sleep_for_ever();
    }
    if (strcmp(behaviour, "crash") == 0) {
        (void)signal(SIGSEGV, SIG_DFL);
        (void)raise(SIGSEGV);
    }
    sleep_for_ever();
}

/* --------------------------------------------------------------------------- the harness */

struct harness {
    struct worker worker;
    struct worker_setup setup;
    struct worker_slot slot;
    pthread_t thread;
    int socket_fd, null_fd, directory_fd;
};

static void *supervise(void *arg)
{
    worker_supervise(arg);
    return NULL;
}

static void harness_open(struct harness *harness)
{
    struct worker *worker = &harness->worker;
    memset(harness, 0, sizeof *harness);
    harness->setup.drain_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    harness->null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    harness->directory_fd = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    worker->setup = &harness->setup;
    worker->slots = &harness->slot;
    worker->n_slots = 1;
    worker->supervisor_wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    worker->keeper_wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    assert_int_equal(pthread_mutex_init(&worker->mutex, NULL), 0);
    pthread_condattr_t attributes;
    assert_int_equal(pthread_condattr_init(&attributes), 0);
    assert_int_equal(pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC), 0);
    assert_int_equal(pthread_cond_init(&worker->changed, &attributes), 0);
    (void)pthread_condattr_destroy(&attributes);
    harness->slot.worker = worker;
    harness->slot.busy = true;
    harness->slot.wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    harness->slot.process.pid_fd = -1;
    harness->slot.control.lease_until_ms = sv_clock_monotonic_ms() + FAR_MS;
    assert_int_equal(pthread_create(&harness->thread, NULL, supervise, worker), 0);
}

static bool start(struct harness *harness, const char *behaviour, const char *program)
{
    int pair[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    harness->socket_fd = pair[0];
    worker_lock(&harness->worker);
    harness->slot.process.spawn = (struct worker_spawn){
        .program = program,
        .role = behaviour,
        .core_type = "Haswell",
        .directory_fd = harness->directory_fd,
        .socket_fd = pair[1],
        .log_fd = harness->null_fd,
    };
    worker_unlock(&harness->worker);
    bool started = worker_process_start(&harness->slot);
    (void)close(pair[1]);
    return started;
}

static void harness_close(struct harness *harness)
{
    worker_lock(&harness->worker);
    harness->slot.finished = true;
    worker_unlock(&harness->worker);
    worker_wake(harness->worker.supervisor_wake_fd);
    assert_int_equal(pthread_join(harness->thread, NULL), 0);
    const int fds[] = {harness->socket_fd,
                       harness->null_fd,
                       harness->directory_fd,
                       harness->setup.drain_fd,
                       harness->slot.wake_fd,
                       harness->worker.supervisor_wake_fd,
                       harness->worker.keeper_wake_fd};
    for (size_t i = 0; i < sizeof fds / sizeof fds[0]; i++) {
        (void)close(fds[i]);
    }
}

static void assert_ended(struct harness *harness, enum worker_kill why, int wait_status)
{
    assert_true(worker_process_wait(&harness->slot, TEST_PATIENCE_MS));
    assert_int_equal(harness->slot.process.state, PROCESS_ENDED);
    assert_int_equal(harness->slot.process.kill_for, why);
    assert_int_equal(harness->slot.process.wait_status & ~0x80, wait_status);
}

/* ------------------------------------------------------------------------------ the tests */

static void child_that_leaves_is_reaped(void **state)
{
    (void)state;
    struct harness harness;
    harness_open(&harness);
    assert_true(start(&harness, "obey", "/proc/self/exe"));
    assert_false(worker_process_wait(&harness.slot, 50));
    (void)shutdown(harness.socket_fd, SHUT_WR);
    assert_ended(&harness, WORKER_KILL_NONE, 0);
    harness_close(&harness);
}

static void crash_is_seen_as_its_signal(void **state)
{
    (void)state;
    struct harness harness;
    harness_open(&harness);
    assert_true(start(&harness, "crash", "/proc/self/exe"));
    assert_ended(&harness, WORKER_KILL_NONE, SIGSEGV);
    harness_close(&harness);
}

static void missing_program_is_not_a_process(void **state)
{
    (void)state;
    struct harness harness;
    harness_open(&harness);
    assert_false(start(&harness, "obey", "/nonexistent"));
    assert_true(worker_process_wait(&harness.slot, 0));
    harness_close(&harness);
}

/* True once the process is gone (or a zombie that nobody reaps). */
static bool is_gone(pid_t pid)
{
    int64_t until = test_patience();
    do {
        char path[64];
        char text[128] = "";
        (void)snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
        FILE *file = fopen(path, "re");
        if (!file) {
            return true;
        }
        bool zombie = fgets(text, sizeof text, file) && strstr(text, ") Z ");
        (void)fclose(file);
        if (zombie) {
            return true;
        }
    } while (test_patience_lasts(until));
    return false;
}

/* B08: the whole group goes, also what ignores SIGTERM; the first reason stays. */
static void cancel_ends_the_group_within_the_grace(void **state)
{
    (void)state;
    struct harness harness;
    pid_t grandchild = 0;
    harness_open(&harness);
    assert_true(start(&harness, "stubborn", "/proc/self/exe"));
    assert_int_equal(read(harness.socket_fd, &grandchild, sizeof grandchild),
                     (ssize_t)sizeof grandchild);
    int64_t asked_ms = sv_clock_monotonic_ms();
    worker_process_kill(&harness.slot, WORKER_KILL_CANCEL, 100);
    worker_process_kill(&harness.slot, WORKER_KILL_DRAIN, 0);
    assert_ended(&harness, WORKER_KILL_CANCEL, SIGKILL);
    assert_true(harness.slot.process.term_sent);
    assert_true(sv_clock_monotonic_ms() - asked_ms >= 100);
    assert_true(is_gone(grandchild));
    harness_close(&harness);
}

static void lost_lease_kills_at_once_and_overrides(void **state)
{
    (void)state;
    struct harness harness;
    harness_open(&harness);
    assert_true(start(&harness, "hang", "/proc/self/exe"));
    worker_process_kill(&harness.slot, WORKER_KILL_CANCEL, FAR_MS);
    worker_lock(&harness.worker);
    harness.slot.control.lease_until_ms = sv_clock_monotonic_ms() - 1;
    worker_unlock(&harness.worker);
    assert_ended(&harness, WORKER_KILL_LEASE_LOST, SIGKILL);
    assert_true(harness.slot.control.lost);
    harness_close(&harness);
}

static void wall_clock_ends_what_takes_too_long(void **state)
{
    (void)state;
    struct harness harness;
    harness_open(&harness);
    assert_true(start(&harness, "hang", "/proc/self/exe"));
    worker_lock(&harness.worker);
    harness.slot.process.wall_clock_ms = 50;
    worker_unlock(&harness.worker);
    assert_ended(&harness, WORKER_KILL_WALL_CLOCK, SIGKILL);
    harness_close(&harness);
}

/* B32: growth beyond the budget is ended, and known as such. */
static void memory_backstop_acts(void **state)
{
    (void)state;
    struct harness harness;
    harness_open(&harness);
    worker_lock(&harness.worker);
    harness.slot.process.memory_bytes = 16 * (int64_t)MIB;
    worker_unlock(&harness.worker);
    assert_true(start(&harness, "hog", "/proc/self/exe"));
    assert_ended(&harness, WORKER_KILL_MEMORY, SIGKILL);
    harness_close(&harness);
}

int main(int argc, char **argv)
{
    if (argc > 2 && strcmp(argv[2], "--parent") == 0) {
        return misbehave(argv[1]);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(child_that_leaves_is_reaped),
        cmocka_unit_test(crash_is_seen_as_its_signal),
        cmocka_unit_test(missing_program_is_not_a_process),
        cmocka_unit_test(cancel_ends_the_group_within_the_grace),
        cmocka_unit_test(lost_lease_kills_at_once_and_overrides),
        cmocka_unit_test(wall_clock_ends_what_takes_too_long),
        cmocka_unit_test(memory_backstop_acts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
