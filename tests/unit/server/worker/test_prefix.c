/* SPDX-License-Identifier: MIT
 *
 * server/worker/prefix.c: one slot makes the rows of a frozen prefix, the others wait for them and
 * share them; a maker that ends without does not keep them waiting.
 */
#include "tests/support/cmocka_all.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/json/json.h"
#include "server/config/config.h"
#include "server/worker/directory.h"
#include "server/worker/worker_internal.h"

enum { SLOTS = 5 };

struct harness {
    struct worker worker;
    struct cfg config;
    struct sv_log log;
    struct worker_slot slots[SLOTS];
    pthread_t threads[SLOTS];
    char path[64];
    int fd;
};

static json_t *spec(const char *freeze, bool weights, bool mirrored)
{
    return json_pack("{s:{s:s}, s:s, s:s?, s:{s:b, s:i}, s:{}, s:s}", "network", "name", "n",
                     "freeze", freeze, "weights", weights ? "digest" : NULL, "augmentation",
                     "x_reflection", mirrored, "crop_padding", 0, "data", "operators", "optimised");
}

static void open_harness(struct harness *h)
{
    pthread_condattr_t attributes;
    *h = (struct harness){.config = {.blob_cache_bytes = 1000}};
    strcpy(h->path, "/tmp/assay-prefix-XXXXXX");
    assert_non_null(mkdtemp(h->path));
    h->fd = open(h->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    h->log = (struct sv_log){.fd = open("/dev/null", O_WRONLY | O_CLOEXEC)};
    h->worker = (struct worker){
        .config = &h->config,
        .log = &h->log,
        .slots = h->slots,
        .n_slots = SLOTS,
        .environment = {.core_build = "b", .core_type = "t", .instruction_set = "i"}};
    assert_int_equal(worker_cache_create(worker_directory_open(h->fd, "cache", 0700), 1000,
                                         &h->worker.cache, NULL),
                     SV_OK);
    assert_int_equal(pthread_condattr_init(&attributes), 0);
    assert_int_equal(pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC), 0);
    assert_int_equal(pthread_cond_init(&h->worker.changed, &attributes), 0);
    assert_int_equal(pthread_mutex_init(&h->worker.mutex, NULL), 0);
    for (int i = 0; i < SLOTS; i++) {
        struct worker_slot *slot = &h->slots[i];
        (void)snprintf(slot->directory_name, sizeof slot->directory_name, "slot%d", i);
        slot->worker = &h->worker;
        slot->directory_fd = worker_directory_make_private(h->fd, slot->directory_name, 0, 0);
        slot->process.spawn.file_size = 500;
        assert_true(slot->directory_fd >= 0);
    }
}

static void close_harness(struct harness *h)
{
    for (int i = 0; i < SLOTS; i++) {
        (void)close(h->slots[i].directory_fd);
    }
    worker_cache_destroy(h->worker.cache);
    assert_true(worker_directory_clear(h->fd));
    (void)close(h->fd);
    (void)close(h->log.fd);
    assert_int_equal(rmdir(h->path), 0);
}

static bool has_file(const struct worker_slot *slot)
{
    char bytes[16] = {0};
    int fd = openat(slot->directory_fd, "prefix", O_RDONLY | O_CLOEXEC);
    bool has = fd >= 0 && read(fd, bytes, sizeof bytes) == 4 && strcmp(bytes, "rows") == 0;
    if (fd >= 0) {
        (void)close(fd);
    }
    return has;
}

static bool is_maker(struct worker_slot *slot)
{
    worker_lock(slot->worker);
    bool maker = slot->prefix_key[0] != '\0';
    worker_unlock(slot->worker);
    return maker;
}

/* The child of a slot says what became of its rows. */
static void child_says(struct worker_slot *slot, bool kept)
{
    json_t *record = json_pack("{s:b, s:b}", "kept", kept, "new", kept);
    if (kept) {
        int fd = openat(slot->directory_fd, "prefix", O_WRONLY | O_CREAT | O_EXCL, 0600);
        assert_int_equal(write(fd, "rows", 4), 4);
        (void)close(fd);
    }
    assert_true(worker_prefix_take(slot, record));
    json_decref(record);
}

static void *begin(void *arg)
{
    json_t *resolved = spec("all_but_head", true, false); /* of this thread, as in a slot */
    const char *name = worker_prefix_begin(arg, resolved);
    json_decref(resolved);
    return (void *)(uintptr_t)name;
}

static void start(struct harness *h, int i)
{
    assert_int_equal(pthread_create(&h->threads[i], NULL, begin, &h->slots[i]), 0);
}

static void join(struct harness *h, int i)
{
    void *name = NULL;
    assert_int_equal(pthread_join(h->threads[i], &name), 0);
    assert_string_equal(name, "prefix");
}

static void one_makes_and_all_share(void **state)
{
    (void)state;
    struct harness h;
    open_harness(&h);
    start(&h, 0);
    join(&h, 0);
    assert_true(is_maker(&h.slots[0]) && !has_file(&h.slots[0]));
    for (int i = 1; i < SLOTS; i++) {
        start(&h, i);
    }
    (void)usleep(50000);
    for (int i = 1; i < SLOTS; i++) {
        assert_false(is_maker(&h.slots[i]) || has_file(&h.slots[i]));
    }
    child_says(&h.slots[0], true);
    for (int i = 1; i < SLOTS; i++) {
        join(&h, i);
        assert_true(has_file(&h.slots[i]) && !is_maker(&h.slots[i]));
    }
    /* what the maker does to its own file afterwards reaches nobody */
    int fd = openat(h.slots[0].directory_fd, "prefix", O_WRONLY | O_CLOEXEC);
    assert_int_equal(write(fd, "lies", 4), 4);
    (void)close(fd);
    assert_true(has_file(&h.slots[1]));
    close_harness(&h);
}

static void a_maker_that_dies_is_followed(void **state)
{
    (void)state;
    struct harness h;
    open_harness(&h);
    for (int i = 0; i < SLOTS; i++) {
        start(&h, i);
    }
    for (int round = 0; round < SLOTS; round++) {
        int maker = -1;
        for (int tries = 0; maker < 0 && tries < 1000; tries++) {
            for (int i = 0; i < SLOTS; i++) {
                maker = h.threads[i] && is_maker(&h.slots[i]) ? i : maker;
            }
            (void)usleep(1000);
        }
        assert_true(maker >= 0);
        join(&h, maker);
        h.threads[maker] = 0;
        for (int i = 0; i < SLOTS; i++) {
            assert_true(i == maker || !is_maker(&h.slots[i]));
        }
        if (round % 2 == 0) {
            worker_prefix_end(&h.slots[maker]); /* killed */
        } else {
            child_says(&h.slots[maker], false); /* it has no prefix */
        }
    }
    close_harness(&h);
}

static void who_is_told_to_leave_does_not_wait(void **state)
{
    (void)state;
    struct harness h;
    open_harness(&h);
    start(&h, 0);
    join(&h, 0);
    start(&h, 1);
    (void)usleep(20000);
    worker_lock(&h.worker);
    h.slots[1].control.cancel = true;
    worker_unlock(&h.worker);
    join(&h, 1);
    assert_false(is_maker(&h.slots[1]) || has_file(&h.slots[1]));
    close_harness(&h);
}

static void a_file_that_is_too_large_is_not_shared(void **state)
{
    (void)state;
    struct harness h;
    open_harness(&h);
    start(&h, 0);
    join(&h, 0);
    h.config.blob_cache_bytes = 6; /* half of it is the most */
    child_says(&h.slots[0], true);
    assert_false(is_maker(&h.slots[0]));
    start(&h, 1);
    join(&h, 1);
    assert_true(is_maker(&h.slots[1]) && !has_file(&h.slots[1]));
    close_harness(&h);
}

static void only_frozen_weights_without_augmentation_have_one(void **state)
{
    (void)state;
    struct harness h;
    open_harness(&h);
    json_t *none[] = {spec("none", true, false), spec("all_but_head", false, false),
                      spec("all_but_head", true, true)};
    for (size_t i = 0; i < 3; i++) {
        assert_null(worker_prefix_begin(&h.slots[0], none[i]));
        assert_false(is_maker(&h.slots[0]));
        json_decref(none[i]);
    }
    close_harness(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_makes_and_all_share),
        cmocka_unit_test(a_maker_that_dies_is_followed),
        cmocka_unit_test(who_is_told_to_leave_does_not_wait),
        cmocka_unit_test(a_file_that_is_too_large_is_not_shared),
        cmocka_unit_test(only_frozen_weights_without_augmentation_have_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
