/* SPDX-License-Identifier: MIT
 *
 * The loader: every item once an epoch, the same order whoever waits, defined at the edges.
 */
#include "core/data/loader.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/support/cmocka_all.h"
#include "tests/support/sets.h"

enum { N = 103, BYTES = 3 * 2 * 3 };

struct fixture {
    char *directory;
    struct nn_prepared *set;
    uint32_t items[N];
};

static struct nn_loader *create(const struct fixture *f, const struct nn_loader_options *options)
{
    struct nn_loader *loader = NULL;
    assert_int_equal(nn_loader_create(f->set, options, &loader, NULL), NN_OK);
    return loader;
}

static struct nn_loader_options base_options(const struct fixture *f)
{
    return (struct nn_loader_options){.items = f->items,
                                      .count = N,
                                      .batch_size = 10,
                                      .shuffle = NN_SHUFFLE_EVERY_EPOCH,
                                      .seed = 5,
                                      .epochs = 1};
}

static void assert_batch_holds(const struct fixture *f, const struct nn_batch *batch)
{
    assert_int_equal(batch->stride, BYTES);
    assert_int_equal((uintptr_t)batch->pixels % 64, 0);
    for (size_t i = 0; i < batch->count; i++) {
        uint32_t item = batch->items[i];
        assert_int_equal(batch->labels[i], nn_prepared_label(f->set, item));
        assert_memory_equal(batch->pixels + i * BYTES, nn_prepared_pixels(f->set, item), BYTES);
    }
}

static void every_item_once_an_epoch(void **state)
{
    struct fixture *f = *state;
    struct nn_loader_options options = base_options(f);
    options.epochs = 3;
    struct nn_loader *loader = create(f, &options);
    struct nn_batch batch;
    for (size_t epoch = 0; epoch < 3; epoch++) {
        uint8_t seen[N] = {0};
        uint32_t order[N];
        nn_loader_order(&options, epoch, order);
        for (size_t b = 0; b < 11; b++) {
            assert_true(nn_loader_next(loader, &batch));
            assert_int_equal(batch.epoch, epoch);
            assert_int_equal(batch.index, b);
            assert_int_equal(batch.first, 10 * b);
            assert_int_equal(batch.count, b == 10 ? 3 : 10);
            assert_memory_equal(batch.items, order + 10 * b, batch.count * 4);
            assert_batch_holds(f, &batch);
            for (size_t i = 0; i < batch.count; i++) {
                assert_int_equal(seen[batch.items[i]]++, 0);
            }
        }
    }
    assert_false(nn_loader_next(loader, &batch));
    assert_false(nn_loader_next(loader, &batch));
    nn_loader_destroy(loader);
}

static void shuffle_modes(void **state)
{
    struct fixture *f = *state;
    struct nn_loader_options options = base_options(f);
    uint32_t a[N];
    uint32_t b[N];
    nn_loader_order(&options, 0, a);
    nn_loader_order(&options, 1, b);
    assert_memory_not_equal(a, b, sizeof a);
    options.seed = 6;
    nn_loader_order(&options, 0, b);
    assert_memory_not_equal(a, b, sizeof a);
    options.seed = 5;
    options.shuffle = NN_SHUFFLE_ONCE;
    nn_loader_order(&options, 0, b);
    assert_memory_equal(a, b, sizeof a);
    nn_loader_order(&options, 9, b);
    assert_memory_equal(a, b, sizeof a);
    options.shuffle = NN_SHUFFLE_NEVER;
    nn_loader_order(&options, 1, b);
    assert_memory_equal(f->items, b, sizeof b);
}

/* B03: the order is drawn from (seed, epoch), whatever runs ahead and wherever one begins. */
static void case_b03_order_depends_on_nothing_else(void **state)
{
    struct fixture *f = *state;
    struct nn_loader_options options = base_options(f);
    uint32_t order[N];
    options.epochs = 4;
    nn_loader_order(&options, 2, order);
    static const size_t aheads[] = {1, 2, 30};
    for (size_t k = 0; k < 3; k++) {
        struct nn_batch batch;
        options.ahead = aheads[k];
        options.first_epoch = 2;
        options.first_batch = 4;
        struct nn_loader *loader = create(f, &options);
        for (size_t b = 4; b < 11; b++) {
            assert_true(nn_loader_next(loader, &batch));
            assert_int_equal(batch.epoch, 2);
            assert_int_equal(batch.index, b);
            assert_memory_equal(batch.items, order + 10 * b, batch.count * 4);
        }
        assert_true(nn_loader_next(loader, &batch));
        assert_int_equal(batch.epoch, 3);
        assert_int_equal(batch.index, 0);
        nn_loader_destroy(loader); /* with batches still ahead */
    }
}

/* A17: fewer items than a batch, with the partial batch dropped: it is the only one, so it stays.
 */
static void case_a17_small_sets_still_give_a_batch(void **state)
{
    struct fixture *f = *state;
    struct nn_loader_options options = base_options(f);
    struct nn_batch batch;
    options.count = 7;
    options.batch_size = 1024;
    options.drop_last = true;
    struct nn_loader *loader = create(f, &options);
    assert_true(nn_loader_next(loader, &batch));
    assert_int_equal(batch.count, 7);
    assert_batch_holds(f, &batch);
    assert_false(nn_loader_next(loader, &batch));
    nn_loader_destroy(loader);
    assert_int_equal(nn_loader_batches(10, 1024, true), 1);
    assert_int_equal(nn_loader_batches(10, 3, true), 3);
    assert_int_equal(nn_loader_batches(10, 3, false), 4);
    assert_int_equal(nn_loader_batches(9, 3, false), 3);
    assert_int_equal(nn_loader_batches(9, 3, true), 3);
}

static void dropped_batches_are_not_seen(void **state)
{
    struct fixture *f = *state;
    struct nn_loader_options options = base_options(f);
    struct nn_batch batch;
    size_t total = 0;
    options.drop_last = true;
    struct nn_loader *loader = create(f, &options);
    while (nn_loader_next(loader, &batch)) {
        assert_int_equal(batch.count, 10);
        total += batch.count;
    }
    assert_int_equal(total, 100);
    nn_loader_destroy(loader);
}

static void bytes_become_numbers(void **state)
{
    struct fixture *f = *state;
    struct nn_loader_options options = base_options(f);
    struct nn_batch batch;
    nn_real rows[10 * (BYTES + 2)];
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        rows[i] = -1;
    }
    struct nn_loader *loader = create(f, &options);
    assert_true(nn_loader_next(loader, &batch));
    nn_batch_to_real(&batch, rows, BYTES + 2);
    for (size_t i = 0; i < 10; i++) {
        for (size_t j = 0; j < BYTES + 2; j++) {
            nn_real expected = j < BYTES ? (nn_real)batch.pixels[i * BYTES + j] : -1;
            assert_true(rows[i * (BYTES + 2) + j] == expected);
        }
    }
    nn_loader_destroy(loader);
}

static double count_calls(void *ctx)
{
    return (double)++*(int *)ctx;
}

/* The clock is asked only around a wait: each wait lasts one tick of this one. */
static void stalls_are_counted(void **state)
{
    struct fixture *f = *state;
    struct nn_loader_options options = base_options(f);
    struct nn_batch batch;
    int calls = 0;
    options.clock = count_calls;
    options.clock_ctx = &calls;
    options.ahead = 30;
    struct nn_loader *loader = create(f, &options);
    size_t seen = 0;
    while (nn_loader_next(loader, &batch)) {
        seen++;
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
    assert_int_equal(seen, 11);
    assert_int_equal(calls % 2, 0);
    assert_true(nn_loader_stall_seconds(loader) == calls / 2);
    nn_loader_destroy(loader);
}

static void nonsense_is_refused(void **state)
{
    struct fixture *f = *state;
    struct nn_loader *loader = NULL;
    for (int k = 0; k < 6; k++) {
        struct nn_loader_options options = base_options(f);
        uint32_t bad[2] = {0, N};
        options.count = k == 0 ? 0 : options.count;
        options.batch_size = k == 1 ? 0 : options.batch_size;
        options.epochs = k == 2 ? 0 : options.epochs;
        options.first_epoch = k == 3 ? 2 : 0;
        options.first_batch = k == 4 ? 12 : 0;
        if (k == 5) {
            options.items = bad;
            options.count = 2;
        }
        assert_int_equal(nn_loader_create(f->set, &options, &loader, NULL), NN_ERR_INVALID);
        assert_null(loader);
    }
}

static void budget_is_kept(void **state)
{
    struct fixture *f = *state;
    struct nn_loader_options options = base_options(f);
    struct nn_loader *loader = NULL;
    size_t bytes = nn_loader_bytes(f->set, &options);
    assert_int_equal(nn_memory_create(bytes + 4096, &options.memory), NN_OK);
    assert_int_equal(nn_loader_create(f->set, &options, &loader, NULL), NN_OK);
    assert_true(nn_memory_used(options.memory) >= bytes);
    nn_loader_destroy(loader);
    assert_int_equal(nn_memory_used(options.memory), 0);
    loader = NULL;
    for (size_t n = 1; n <= 4; n++) {
        nn_memory_fail_at(options.memory, n);
        assert_int_equal(nn_loader_create(f->set, &options, &loader, NULL), NN_ERR_MEMORY);
        assert_null(loader);
        assert_int_equal(nn_memory_used(options.memory), 0);
    }
    nn_memory_destroy(options.memory);
}

static int setup(void **state)
{
    struct test_set_item items[N];
    struct fixture *f = calloc(1, sizeof *f);
    for (uint32_t i = 0; i < N; i++) {
        items[i] = (struct test_set_item){i % 7, NN_PART_TRAIN, i};
        f->items[i] = i;
    }
    f->directory = test_directory();
    f->set = test_set(f->directory, items, N, 3, 2, 3, 7);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    nn_prepared_close(f->set);
    test_directory_remove(f->directory);
    free(f);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_item_once_an_epoch),
        cmocka_unit_test(shuffle_modes),
        cmocka_unit_test(case_b03_order_depends_on_nothing_else),
        cmocka_unit_test(case_a17_small_sets_still_give_a_batch),
        cmocka_unit_test(dropped_batches_are_not_seen),
        cmocka_unit_test(bytes_become_numbers),
        cmocka_unit_test(stalls_are_counted),
        cmocka_unit_test(nonsense_is_refused),
        cmocka_unit_test(budget_is_kept),
    };
    return cmocka_run_group_tests_name("loader", tests, setup, teardown);
}
