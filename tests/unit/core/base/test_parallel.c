/* SPDX-License-Identifier: MIT
 *
 * core/base/parallel.h: every chunk once, lanes never shared, thread counts that change.
 */
#include "tests/support/cmocka_all.h"

#include <stdatomic.h>
#include <string.h>

#include "core/base/cpu.h"
#include "core/base/parallel.h"

#define CHUNKS 1000

struct tally {
    atomic_int calls[CHUNKS];
    atomic_int lane_busy[4];
    atomic_int mistakes;
    size_t lanes;
};

static void count_chunk(void *ctx, size_t chunk, size_t lane)
{
    struct tally *tally = ctx;
    if (lane >= tally->lanes || atomic_fetch_add(&tally->lane_busy[lane], 1) != 0) {
        atomic_fetch_add(&tally->mistakes, 1);
    }
    if (!nn_cpu_flushes_denormals() && lane > 0) {
        atomic_fetch_add(&tally->mistakes, 1);
    }
    atomic_fetch_add(&tally->calls[chunk], 1);
    atomic_fetch_sub(&tally->lane_busy[lane], 1);
}

static void run_rounds(struct nn_pool *pool, size_t lanes, size_t chunks, int rounds)
{
    static struct tally tally;
    memset(&tally, 0, sizeof tally);
    tally.lanes = lanes;
    for (int i = 0; i < rounds; i++) {
        nn_parallel_for(pool, chunks, count_chunk, &tally);
    }
    for (size_t i = 0; i < CHUNKS; i++) {
        assert_int_equal(atomic_load(&tally.calls[i]), i < chunks ? rounds : 0);
    }
    assert_int_equal(atomic_load(&tally.mistakes), 0);
}

static void every_chunk_runs_once(void **state)
{
    (void)state;
    struct nn_pool *pool = NULL;
    assert_int_equal(nn_pool_create(NULL, 4, &pool, NULL), NN_OK);
    assert_int_equal(nn_pool_lanes(pool), 4);
    static const size_t chunks[] = {0, 1, 2, 3, 5, 8, CHUNKS};
    for (size_t i = 0; i < sizeof chunks / sizeof *chunks; i++) {
        run_rounds(pool, 4, chunks[i], 50);
    }
    nn_pool_destroy(pool);
}

static void thread_count_may_change_between_rounds(void **state)
{
    (void)state;
    struct nn_pool *pool = NULL;
    assert_int_equal(nn_pool_create(NULL, 4, &pool, NULL), NN_OK);
    for (size_t i = 0; i < 60; i++) {
        size_t threads = i % 6;
        nn_pool_set_threads(pool, threads);
        size_t expected = threads < 1 ? 1 : threads > 4 ? 4 : threads;
        assert_int_equal(nn_pool_threads(pool), expected);
        run_rounds(pool, expected, 17, 3);
    }
    nn_pool_destroy(pool);
}

static void no_pool_means_the_caller(void **state)
{
    (void)state;
    assert_int_equal(nn_pool_lanes(NULL), 1);
    run_rounds(NULL, 1, 9, 2);
    nn_pool_destroy(NULL);
}

static void failures_are_told_and_leak_nothing(void **state)
{
    (void)state;
    struct nn_memory *memory = NULL;
    struct nn_pool *pool = NULL;
    struct nn_error err = {0};
    assert_int_equal(nn_memory_create(SIZE_MAX, &memory), NN_OK);
    assert_int_equal(nn_pool_create(memory, 0, &pool, &err), NN_ERR_INVALID);
    assert_int_equal(nn_pool_create(memory, 257, &pool, &err), NN_ERR_INVALID);
    assert_true(strlen(err.text) > 0);
    for (size_t n = 1; n <= 2; n++) {
        nn_memory_fail_at(memory, n);
        assert_int_equal(nn_pool_create(memory, 2, &pool, &err), NN_ERR_MEMORY);
    }
    assert_null(pool);
    assert_int_equal(nn_memory_used(memory), 0);
    nn_memory_destroy(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_chunk_runs_once),
        cmocka_unit_test(thread_count_may_change_between_rounds),
        cmocka_unit_test(no_pool_means_the_caller),
        cmocka_unit_test(failures_are_told_and_leak_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
