/* SPDX-License-Identifier: MIT
 *
 * server/worker/pending.c and memory.c: what waits for a commit, what the kernel says of memory.
 */
#include "tests/support/cmocka_all.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/worker/worker_internal.h"

static void points_outlive_the_record_they_came_in(void **state)
{
    (void)state;
    struct worker_pending pending = {0};
    for (int i = 0; i < 1000; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "metric_%d", i % 3);
        struct wire_point point = {name, i, i == 7 ? (double)NAN : i};
        assert_true(worker_pending_points(&pending, &point, 1));
        memset(name, 'x', sizeof name - 1);
    }
    struct store_commit commit = worker_pending_commit(&pending);
    assert_int_equal(commit.n_points, 1000);
    assert_int_equal(commit.progress->step, 999); /* a point is progress too */
    assert_string_equal(commit.points[998].metric, "metric_2");
    assert_ptr_equal(commit.points[998].metric, commit.points[2].metric);
    assert_true(isnan(commit.points[7].value));
    worker_pending_clear(&pending);
    assert_int_equal(worker_pending_commit(&pending).n_points, 0);
    worker_pending_deinit(&pending);
}

static void a_child_with_endless_names_is_not_sound(void **state)
{
    (void)state;
    struct worker_pending pending = {0};
    bool taken = true;
    int n = 0;
    while (taken && n < 1000) {
        char name[16];
        (void)snprintf(name, sizeof name, "m%d", n++);
        struct wire_point point = {name, 1, 1};
        taken = worker_pending_points(&pending, &point, 1);
    }
    assert_int_equal(n, 256);
    worker_pending_deinit(&pending);
}

static void levels_and_progress_are_made_sound(void **state)
{
    (void)state;
    struct worker_pending pending = {0};
    json_t *record = json_pack("{s:i, s:i, s:i, s:s}", "step", 5, "total_steps", 10, "epoch", 1,
                               "phase", "a phase whose name is longer than the row has room for");
    assert_true(worker_pending_line(&pending, "warn", "careful"));
    assert_true(worker_pending_line(&pending, "shout", "hey"));
    worker_pending_progress(&pending, record);
    json_decref(record);
    struct store_commit commit = worker_pending_commit(&pending);
    assert_string_equal(commit.lines[0].level, "warn");
    assert_string_equal(commit.lines[1].level, "info");
    assert_int_equal(commit.progress->step, 5);
    assert_int_equal(strlen(commit.progress->phase), 31);
    worker_pending_deinit(&pending);
}

static void resident_size_follows_private_memory(void **state)
{
    (void)state;
    enum { BYTES = 48 << 20 };
    int64_t before = worker_resident_bytes(getpid());
    volatile char *block = malloc(BYTES);
    for (size_t i = 0; i < BYTES; i += 512) {
        block[i] = 1;
    }
    int64_t with = worker_resident_bytes(getpid());
    free((void *)(uintptr_t)block);
    assert_true(before > 0);
    assert_true(with - before > BYTES / 2);
    assert_int_equal(worker_resident_bytes(-1), 0);
    assert_true(worker_kernel_kills() >= -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(points_outlive_the_record_they_came_in),
        cmocka_unit_test(a_child_with_endless_names_is_not_sound),
        cmocka_unit_test(levels_and_progress_are_made_sound),
        cmocka_unit_test(resident_size_follows_private_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
