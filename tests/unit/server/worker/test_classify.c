/* SPDX-License-Identifier: MIT
 *
 * server/worker/classify.c: every way to end has one verdict (B07, B08, B11, B32, B37).
 */
#include "tests/support/cmocka_all.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "server/worker/classify.h"

enum { EXITED_0 = 0, EXITED_1 = 1 << 8, EXITED_139 = 139 << 8 }; /* as waitpid gives them */

struct row {
    const char *name;
    struct worker_ending ending;
    enum worker_outcome outcome;
    enum worker_class class;
    const char *says; /* part of the text */
};

static const struct row ROWS[] = {
    {"done", {.started = true, .done = true}, WORKER_DONE, 0, ""},
    {"done, then a crash while leaving",
     {.started = true, .done = true, .wait_status = SIGSEGV},
     WORKER_DONE,
     0,
     ""},
    {"B11: done, and cancelled in the same moment",
     {.started = true, .done = true, .killed_for = WORKER_KILL_CANCEL, .wait_status = SIGKILL},
     WORKER_DONE,
     0,
     ""},
    {"the lease is lost, whatever else",
     {.started = true,
      .done = true,
      .killed_for = WORKER_KILL_LEASE_LOST,
      .failed_class = "internal"},
     WORKER_LOST,
     0,
     ""},
    {"B08: cancelled",
     {.started = true, .killed_for = WORKER_KILL_CANCEL, .wait_status = SIGTERM},
     WORKER_CANCELLED,
     0,
     ""},
    {"drained",
     {.started = true, .killed_for = WORKER_KILL_DRAIN, .wait_status = SIGKILL},
     WORKER_GIVEN_BACK,
     0,
     ""},
    {"said why",
     {.started = true,
      .failed_class = "diverged",
      .failed_text = "loss is NaN at step 3",
      .wait_status = EXITED_1},
     WORKER_FAILED,
     WORKER_CLASS_DIVERGED,
     "step 3"},
    {"said a class nobody knows",
     {.started = true, .failed_class = "gremlins", .wait_status = EXITED_1},
     WORKER_FAILED,
     WORKER_CLASS_INTERNAL,
     ""},
    {"watchdog",
     {.started = true, .killed_for = WORKER_KILL_NO_PROGRESS, .wait_status = SIGKILL},
     WORKER_FAILED,
     WORKER_CLASS_TIMEOUT,
     "no progress"},
    {"wall clock",
     {.started = true, .killed_for = WORKER_KILL_WALL_CLOCK, .wait_status = SIGKILL},
     WORKER_FAILED,
     WORKER_CLASS_TIMEOUT,
     "time limit"},
    {"B32: over its memory, seen by us",
     {.started = true, .killed_for = WORKER_KILL_MEMORY, .wait_status = SIGKILL},
     WORKER_FAILED,
     WORKER_CLASS_OUT_OF_MEMORY,
     "memory"},
    {"B32: killed by the kernel for memory",
     {.started = true, .out_of_memory_seen = true, .wait_status = SIGKILL},
     WORKER_FAILED,
     WORKER_CLASS_OUT_OF_MEMORY,
     "memory"},
    {"B32: SIGKILL alone proves nothing",
     {.started = true, .wait_status = SIGKILL},
     WORKER_FAILED,
     WORKER_CLASS_CRASHED,
     "SIGKILL"},
    {"a crash beside a kernel kill of another process",
     {.started = true, .out_of_memory_seen = true, .wait_status = SIGSEGV},
     WORKER_FAILED,
     WORKER_CLASS_CRASHED,
     "SIGSEGV"},
    {"abort with core bit",
     {.started = true, .wait_status = SIGABRT | 0x80},
     WORKER_FAILED,
     WORKER_CLASS_CRASHED,
     "SIGABRT"},
    {"file too large",
     {.started = true, .wait_status = SIGXFSZ},
     WORKER_FAILED,
     WORKER_CLASS_INTERNAL,
     "size limit"},
    {"left without a word",
     {.started = true, .wait_status = EXITED_0},
     WORKER_FAILED,
     WORKER_CLASS_CRASHED,
     "status 0"},
    {"left with a status",
     {.started = true, .wait_status = EXITED_139},
     WORKER_FAILED,
     WORKER_CLASS_CRASHED,
     "status 139"},
    {"nonsense on the wire",
     {.started = true, .killed_for = WORKER_KILL_PROTOCOL, .failed_class = "diverged"},
     WORKER_FAILED,
     WORKER_CLASS_INTERNAL,
     "protocol"},
    {"would not leave",
     {.started = true, .killed_for = WORKER_KILL_SLOW_END, .wait_status = SIGKILL},
     WORKER_FAILED,
     WORKER_CLASS_CRASHED,
     "did not end"},
    {"said why, and would not leave",
     {.started = true,
      .killed_for = WORKER_KILL_SLOW_END,
      .failed_class = "invalid_input",
      .failed_text = "too many",
      .wait_status = SIGKILL},
     WORKER_FAILED,
     WORKER_CLASS_INVALID_INPUT,
     "too many"},
    {"the worker could not prepare it", {.unprepared = true}, WORKER_GIVEN_BACK, 0, ""},
    {"the worker could not prepare it, and lost it",
     {.unprepared = true, .killed_for = WORKER_KILL_LEASE_LOST},
     WORKER_LOST,
     0,
     ""},
    {"never started", {.started = false}, WORKER_FAILED, WORKER_CLASS_INTERNAL, "started"},
};

static void every_ending_has_its_verdict(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        const struct row *row = &ROWS[i];
        struct worker_verdict verdict = worker_classify(&row->ending);
        if (verdict.outcome != row->outcome ||
            (row->outcome == WORKER_FAILED && verdict.class != row->class) ||
            !strstr(verdict.text, row->says)) {
            fail_msg("%s: outcome %d, class %s, text '%s'", row->name, (int)verdict.outcome,
                     worker_class_slug(verdict.class), verdict.text);
        }
    }
}

static void only_crashed_and_lost_are_tried_again(void **state)
{
    (void)state;
    for (int i = 0; i < WORKER_CLASS_COUNT; i++) {
        enum worker_class class = (enum worker_class)i;
        bool again = class == WORKER_CLASS_CRASHED || class == WORKER_CLASS_WORKER_LOST;
        assert_int_equal(worker_class_may_retry(class), again);
        assert_int_equal(worker_class_parse(worker_class_slug(class)), class);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_ending_has_its_verdict),
        cmocka_unit_test(only_crashed_and_lost_are_tried_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
