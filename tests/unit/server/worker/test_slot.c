/* SPDX-License-Identifier: MIT
 *
 * server/worker/slot.c with children that fall silent: one that hangs is ended, one that works is
 * not, however long the slot itself is busy. The children are this binary, started with the
 * behaviour as their role.
 */
#include "tests/support/cmocka_all.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "server/config/config.h"
#include "server/worker/worker_internal.h"
#include "tests/support/patience.h"

enum {
    MOST_SILENT_MS = 1500, /* longer than the time between two commits */
    SAYS_EVERY_MS = 250,
    FAR_MS = 3600 * 1000,
};

/* ------------------------------------------------------------------------- the children */

static void say(struct wire_channel *channel, enum wire_type type, const char *text)
{
    if (wire_send(channel, type, text, strlen(text), -1) != SV_OK) {
        _exit(9);
    }
}

/* "hang" says one word and no more, "fail" what went wrong; "work" says one in time and ends after
 * a while. */
static int behave(const char *behaviour)
{
    struct wire_channel *channel = NULL;
    if (wire_channel_create(WIRE_CHILD_FD, wire_limits_default(), &channel, NULL) != SV_OK) {
        return 9;
    }
    say(channel, WIRE_HELLO, "{}");
    if (strcmp(behaviour, "fail") == 0) {
        say(channel, WIRE_FAILED, "{\"class\": \"diverged\", \"text\": \"at step 3\"}");
    }
    while (strcmp(behaviour, "work") != 0) {
        (void)pause();
    }
    for (int ms = 0; ms < 3 * MOST_SILENT_MS; ms += SAYS_EVERY_MS) {
        sv_clock_sleep_ms(SAYS_EVERY_MS);
        say(channel, WIRE_PROGRESS, "{}");
    }
    say(channel, WIRE_DONE, "{\"outcome\": \"completed\"}");
    return 0;
}

/* ---------------------------------------------------------------------------- the tasks */

/* Of the attempt that runs; written before it starts, read after its end. */
static int64_t take_ms, commit_ms;
static struct worker_verdict verdict;

static enum sv_status prepare(struct worker_slot *slot, json_t **out_start, struct sv_error *err)
{
    (void)err;
    slot->most_silent_ms = MOST_SILENT_MS;
    *out_start = json_object();
    return SV_OK;
}

static bool take(struct worker_slot *slot, const struct wire_record *record)
{
    (void)slot;
    sv_clock_sleep_ms(record->type == WIRE_HELLO ? take_ms : 0);
    return true;
}

static void commit(struct worker_slot *slot, bool all)
{
    (void)slot;
    sv_clock_sleep_ms(all ? 0 : commit_ms);
}

static void end(struct worker_slot *slot, const struct worker_verdict *how)
{
    (void)slot;
    verdict = *how;
}

static const struct worker_task HANGS = {"hang", prepare, take, commit, end};
static const struct worker_task FAILS = {"fail", prepare, take, commit, end};
static const struct worker_task WORKS = {"work", prepare, take, commit, end};

/* -------------------------------------------------------------------------- the harness */

struct harness {
    struct worker worker;
    struct worker_setup setup;
    struct cfg config;
    struct sv_log log;
    struct worker_slot slot;
    pthread_t supervisor;
    char directory[32];
};

static void *supervise(void *worker)
{
    worker_supervise(worker);
    return NULL;
}

static void worker_make(struct harness *harness)
{
    struct worker *worker = &harness->worker;
    pthread_condattr_t attributes;
    worker->setup = &harness->setup;
    worker->config = &harness->config;
    worker->log = &harness->log;
    worker->slots = &harness->slot;
    worker->n_slots = 1;
    worker->supervisor_wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    worker->keeper_wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    worker->attempts_fd = open(harness->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    worker->environment.core_type = "Haswell";
    assert_int_equal(pthread_mutex_init(&worker->mutex, NULL), 0);
    assert_int_equal(pthread_condattr_init(&attributes), 0);
    assert_int_equal(pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC), 0);
    assert_int_equal(pthread_cond_init(&worker->changed, &attributes), 0);
    (void)pthread_condattr_destroy(&attributes);
}

static void slot_make(struct harness *harness, const struct worker_task *task)
{
    struct worker_slot *slot = &harness->slot;
    slot->worker = &harness->worker;
    slot->task = task;
    slot->busy = true;
    slot->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    slot->process.pid_fd = -1;
    slot->control.lease_until_ms = sv_clock_monotonic_ms() + FAR_MS;
    (void)snprintf(slot->directory_name, sizeof slot->directory_name, "attempt");
}

static bool is_busy(struct harness *harness)
{
    worker_lock(&harness->worker);
    bool busy = harness->slot.busy;
    worker_unlock(&harness->worker);
    return busy;
}

/* One attempt from beginning to end, in a slot and under a supervisor as they are. */
static void run(const struct worker_task *task)
{
    struct harness harness = {.setup = {.program = "/proc/self/exe"},
                              .config = {.grace_seconds = 1},
                              .directory = "/tmp/test-slot-XXXXXX"};
    assert_non_null(mkdtemp(harness.directory));
    harness.setup.drain_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    harness.log.fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
    worker_make(&harness);
    slot_make(&harness, task);
    assert_int_equal(pthread_create(&harness.supervisor, NULL, supervise, &harness.worker), 0);
    assert_int_equal(pthread_create(&harness.slot.thread, NULL, worker_slot_main, &harness.slot),
                     0);
    for (int64_t until = test_patience(); is_busy(&harness) && test_patience_lasts(until);) {
    }
    assert_false(is_busy(&harness));
    worker_start_draining(&harness.worker);
    assert_int_equal(pthread_join(harness.slot.thread, NULL), 0);
    assert_int_equal(pthread_join(harness.supervisor, NULL), 0);
    const int fds[] = {harness.setup.drain_fd,
                       harness.log.fd,
                       harness.worker.supervisor_wake_fd,
                       harness.worker.keeper_wake_fd,
                       harness.worker.attempts_fd,
                       harness.slot.wake_fd};
    for (size_t i = 0; i < sizeof fds / sizeof fds[0]; i++) {
        (void)close(fds[i]);
    }
    assert_int_equal(rmdir(harness.directory), 0);
}

/* ---------------------------------------------------------------------------- the tests */

/* Commits go on beside it: they are no sign of life of the child. */
static void a_child_that_hangs_is_ended(void **state)
{
    (void)state;
    take_ms = commit_ms = 0;
    run(&HANGS);
    assert_int_equal(verdict.outcome, WORKER_FAILED);
    assert_int_equal(verdict.class, WORKER_CLASS_TIMEOUT);
    assert_non_null(strstr(verdict.text, "no progress"));
}

static void a_child_that_works_is_left_alone(void **state)
{
    (void)state;
    take_ms = commit_ms = 0;
    run(&WORKS);
    assert_int_equal(verdict.outcome, WORKER_DONE);
}

/* The database is slow: what the child says meanwhile is read late, and it is not blamed for it. */
static void a_slot_that_is_busy_blames_no_child(void **state)
{
    (void)state;
    take_ms = 2 * MOST_SILENT_MS;
    commit_ms = 0;
    run(&WORKS);
    assert_int_equal(verdict.outcome, WORKER_DONE);
    take_ms = 0;
    commit_ms = 2 * MOST_SILENT_MS;
    run(&WORKS);
    assert_int_equal(verdict.outcome, WORKER_DONE);
}

static void what_a_child_said_before_it_hung_stands(void **state)
{
    (void)state;
    take_ms = commit_ms = 0;
    run(&FAILS);
    assert_int_equal(verdict.outcome, WORKER_FAILED);
    assert_int_equal(verdict.class, WORKER_CLASS_DIVERGED);
    assert_string_equal(verdict.text, "at step 3");
}

/* And a child that hangs is seen all the same. */
static void a_slow_database_hides_no_child_that_hangs(void **state)
{
    (void)state;
    take_ms = commit_ms = MOST_SILENT_MS;
    run(&HANGS);
    assert_int_equal(verdict.outcome, WORKER_FAILED);
    assert_int_equal(verdict.class, WORKER_CLASS_TIMEOUT);
}

int main(int argc, char **argv)
{
    if (argc > 2 && strcmp(argv[2], "--parent") == 0) {
        return behave(argv[1]);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_child_that_hangs_is_ended),
        cmocka_unit_test(a_child_that_works_is_left_alone),
        cmocka_unit_test(a_slot_that_is_busy_blames_no_child),
        cmocka_unit_test(what_a_child_said_before_it_hung_stands),
        cmocka_unit_test(a_slow_database_hides_no_child_that_hangs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
