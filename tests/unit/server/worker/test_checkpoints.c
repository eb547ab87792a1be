/* SPDX-License-Identifier: MIT
 *
 * server/worker/checkpoints.c: files of a child that goes on while its supervisor takes its time.
 */
#include "tests/support/cmocka_all.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/worker/checkpoints_internal.h"
#include "server/worker/directory.h"
#include "server/worker/worker_internal.h"

#define TRIAL "cccccccccccccccccccccccccccccccc"

struct place {
    char path[64];
    int fd;
    struct worker worker;
    struct worker_slot slot;
};

static void place_open(struct place *place)
{
    memset(place, 0, sizeof *place);
    (void)strcpy(place->path, "/tmp/assay-checkpoints-XXXXXX");
    assert_non_null(mkdtemp(place->path));
    place->fd = open(place->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    place->worker.checkpoints_fd = worker_directory_open(place->fd, "checkpoints", 0700);
    place->slot.worker = &place->worker;
    place->slot.directory_fd = worker_directory_open(place->fd, "attempt", 0700);
    (void)strcpy(place->slot.trial.claim.trial_id, TRIAL);
    place->slot.trial.claim.fence = 3;
}

static void place_close(struct place *place)
{
    (void)close(place->worker.checkpoints_fd);
    (void)close(place->slot.directory_fd);
    assert_true(worker_directory_clear(place->fd));
    (void)close(place->fd);
    assert_int_equal(rmdir(place->path), 0);
}

/* What the child replaces afterwards stays; the newest two are kept. */
static void kept_files_outlive_the_child(void **state)
{
    (void)state;
    struct place place;
    struct store_checkpoint made;
    place_open(&place);
    for (int64_t step = 10; step <= 30; step += 10) {
        assert_true(worker_file_write(place.slot.directory_fd, "c", "content", 7));
        assert_int_equal(worker_checkpoint_keep(&place.slot, "c", step, 1, &made), WORKER_KEPT);
        assert_false(worker_checkpoint_is_gone(&place.slot, "c"));
        assert_int_equal(made.step, step);
        assert_int_equal(made.size, 7);
        assert_int_equal(unlinkat(place.slot.directory_fd, "c", 0), 0);
    }
    static const char *const files[] = {"10-3", "20-3", "30-3"};
    int trial_fd = worker_directory_open(place.worker.checkpoints_fd, TRIAL, 0700);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(faccessat(trial_fd, files[i], F_OK, 0), i == 0 ? -1 : 0);
    }
    (void)close(trial_fd);
    place_close(&place);
}

/* The child keeps two files: a record that waited for the database may name an older one. That is
 * no mistake of the child; a name that leads elsewhere or to no plain file is. */
static void a_replaced_file_is_told_from_a_wrong_one(void **state)
{
    (void)state;
    struct place place;
    struct store_checkpoint made = {.step = 77};
    static const struct {
        const char *name;
        bool gone;
    } rows[] = {{"checkpoint-1", true}, {"../node", false}, {"", false},
                {NULL, false},          {"link", false},    {"directory", false}};
    place_open(&place);
    assert_int_equal(symlinkat("/etc/passwd", place.slot.directory_fd, "link"), 0);
    (void)close(worker_directory_open(place.slot.directory_fd, "directory", 0700));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(worker_checkpoint_keep(&place.slot, rows[i].name, 5, 1, &made),
                         WORKER_NOT_A_FILE);
        assert_int_equal(worker_checkpoint_is_gone(&place.slot, rows[i].name), rows[i].gone);
        assert_int_equal(made.step, 77);
    }
    place_close(&place);
}

/* A disk that does not take it is no mistake of the child either. */
static void a_disk_that_takes_nothing_is_told_apart(void **state)
{
    (void)state;
    struct place place;
    struct store_checkpoint made = {.step = 77};
    place_open(&place);
    assert_true(worker_file_write(place.slot.directory_fd, "c", "content", 7));
    assert_int_equal(unlinkat(place.fd, "checkpoints", AT_REMOVEDIR), 0);
    assert_int_equal(worker_checkpoint_keep(&place.slot, "c", 5, 1, &made), WORKER_NOT_KEPT);
    assert_int_equal(made.step, 77);
    place_close(&place);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kept_files_outlive_the_child),
        cmocka_unit_test(a_replaced_file_is_told_from_a_wrong_one),
        cmocka_unit_test(a_disk_that_takes_nothing_is_told_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
