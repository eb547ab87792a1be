/* SPDX-License-Identifier: MIT
 *
 * server/worker/home.c and trouble.c: a directory that is taken away, and how long the worker
 * waits.
 */
#include "tests/support/cmocka_all.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/base/clock.h"
#include "server/config/config.h"
#include "server/worker/directory.h"
#include "server/worker/worker_internal.h"

struct place {
    char path[64];
    int fd;
    struct cfg config;
    struct worker_setup setup;
    struct worker worker;
};

static void worker_make(const struct place *place, struct worker *out)
{
    *out = (struct worker){.setup = &place->setup,
                           .config = &place->config,
                           .lock_fd = -1,
                           .attempts_fd = -1,
                           .checkpoints_fd = -1,
                           .supervisor_wake_fd = -1,
                           .keeper_wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    assert_int_equal(pthread_mutex_init(&out->mutex, NULL), 0);
}

static void worker_free(struct worker *worker)
{
    const int fds[] = {worker->lock_fd, worker->attempts_fd, worker->checkpoints_fd,
                       worker->keeper_wake_fd};
    worker_cache_destroy(worker->cache);
    for (size_t i = 0; i < sizeof fds / sizeof fds[0]; i++) {
        if (fds[i] >= 0) {
            (void)close(fds[i]);
        }
    }
    (void)pthread_mutex_destroy(&worker->mutex);
}

static void place_open(struct place *place)
{
    memset(place, 0, sizeof *place);
    (void)strcpy(place->path, "/tmp/assay-trouble-XXXXXX");
    assert_non_null(mkdtemp(place->path));
    place->fd = open(place->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    place->config.blob_cache_bytes = 1 << 20;
    place->setup.data_dir = place->path;
    worker_make(place, &place->worker);
    assert_int_equal(worker_home_open(&place->worker, NULL), SV_OK);
}

static void place_close(struct place *place)
{
    worker_free(&place->worker);
    assert_true(worker_directory_clear(place->fd));
    (void)close(place->fd);
    assert_int_equal(rmdir(place->path), 0);
}

static bool takes_attempts(struct place *place)
{
    int fd = worker_directory_make_private(place->worker.attempts_fd, "attempt", 0, 0);
    if (fd >= 0) {
        (void)close(fd);
    }
    return fd >= 0;
}

/* Made again under the same descriptors and the same id; the lock is ours again. */
static void a_lost_directory_is_made_again(void **state)
{
    (void)state;
    struct place place;
    struct worker other;
    char id[SV_ID_SIZE];
    place_open(&place);
    memcpy(id, place.worker.node_id, sizeof id);
    for (int i = 0; i < 2; i++) {
        int attempts_fd = place.worker.attempts_fd;
        assert_true(worker_directory_remove(place.fd, "work"));
        assert_false(takes_attempts(&place));
        assert_int_equal(worker_home_mend(&place.worker, NULL), SV_OK);
        assert_int_equal(place.worker.attempts_fd, attempts_fd);
        assert_true(takes_attempts(&place));
        assert_string_equal(place.worker.node_id, id);
        worker_make(&place, &other);
        assert_int_equal(worker_home_open(&other, NULL), SV_ERR_CONFLICT);
        worker_free(&other);
    }
    worker_free(&place.worker); /* whoever comes next finds the id */
    worker_make(&place, &place.worker);
    assert_int_equal(worker_home_open(&place.worker, NULL), SV_OK);
    assert_string_equal(place.worker.node_id, id);
    place_close(&place);
}

/* What is whole is left alone, attempts in it too. */
static void mending_disturbs_nothing(void **state)
{
    (void)state;
    struct place place;
    place_open(&place);
    assert_true(takes_attempts(&place));
    assert_int_equal(worker_home_mend(&place.worker, NULL), SV_OK);
    assert_int_equal(faccessat(place.worker.attempts_fd, "attempt", F_OK, 0), 0);
    assert_int_not_equal(faccessat(place.worker.attempts_fd, "probe", F_OK, 0), 0);
    place_close(&place);
}

/* Time passes: the pause is over. */
static void wait_is_over(struct worker *worker)
{
    worker->trouble.until_ms = sv_clock_monotonic_ms() - 1;
}

static void pauses_grow_to_a_minute(void **state)
{
    (void)state;
    static const int pauses[] = {1000, 2000, 4000, 8000, 16000, 32000, 60000, 60000, 60000};
    struct place place;
    int64_t again_ms = 0;
    place_open(&place);
    struct worker *worker = &place.worker;
    assert_true(worker_trouble_lets_claim(worker, &again_ms));
    for (size_t i = 0; i < sizeof pauses / sizeof pauses[0]; i++) {
        assert_int_equal(worker_trouble_met(worker, "first"), pauses[i]);
        int rest = worker_trouble_met(worker, "second"); /* of the same trouble */
        assert_true(rest > 0 && rest <= pauses[i]);
        assert_int_equal(worker_trouble_now(worker).in_a_row, i + 1);
        assert_string_equal(worker_trouble_now(worker).text, "second");
        assert_false(worker_trouble_lets_claim(worker, &again_ms));
        assert_true(again_ms > sv_clock_monotonic_ms());
        wait_is_over(worker);
    }
    assert_true(worker_trouble_lets_claim(worker, &again_ms)); /* to try */
    assert_string_equal(worker_trouble_now(worker).text, "");
    assert_true(worker_trouble_now(worker).in_a_row > 0);
    worker_trouble_over(worker);
    assert_int_equal(worker_trouble_now(worker).in_a_row, 0);
    assert_int_equal(worker_trouble_met(worker, "anew"), 1000);
    place_close(&place);
}

/* While the directory cannot be had, nothing is claimed to be given back again. */
static void no_claim_while_it_cannot_be_mended(void **state)
{
    (void)state;
    struct place place;
    int64_t again_ms = 0;
    place_open(&place);
    assert_true(worker_directory_remove(place.fd, "work"));
    assert_true(worker_file_write(place.fd, "work", "in the way", 10));
    assert_int_equal(worker_trouble_met(&place.worker, "lost"), 1000);
    wait_is_over(&place.worker);
    assert_false(worker_trouble_lets_claim(&place.worker, &again_ms));
    assert_int_equal(worker_trouble_now(&place.worker).in_a_row, 2);
    assert_non_null(strstr(worker_trouble_now(&place.worker).text, "cannot be made"));
    assert_int_equal(unlinkat(place.fd, "work", 0), 0);
    wait_is_over(&place.worker);
    assert_true(worker_trouble_lets_claim(&place.worker, &again_ms));
    assert_true(takes_attempts(&place));
    place_close(&place);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lost_directory_is_made_again),
        cmocka_unit_test(mending_disturbs_nothing),
        cmocka_unit_test(pauses_grow_to_a_minute),
        cmocka_unit_test(no_claim_while_it_cannot_be_mended),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
