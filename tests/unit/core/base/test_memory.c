/* SPDX-License-Identifier: MIT
 *
 * core/base/memory.h: the budget, the planned failure, arenas.
 */
#include "tests/support/cmocka_all.h"

#include <string.h>

#include "core/base/memory.h"

static struct nn_memory *budget(size_t cap)
{
    struct nn_memory *memory = NULL;
    assert_int_equal(nn_memory_create(cap, &memory), NN_OK);
    return memory;
}

static bool is_zero(const void *block, size_t bytes)
{
    const unsigned char *p = block;
    for (size_t i = 0; i < bytes; i++) {
        if (p[i] != 0) {
            return false;
        }
    }
    return true;
}

static void blocks_are_aligned_and_zeroed(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 63, 64, 65, 4095, 1000003, (size_t)4 << 20, 9000001};
    struct nn_memory *memory = budget(SIZE_MAX);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char *block = nn_memory_alloc(memory, sizes[i], 1);
        assert_non_null(block);
        assert_int_equal((uintptr_t)block % NN_ALIGNMENT, 0);
        assert_true(is_zero(block, sizes[i]));
        memset(block, 0xAB, sizes[i]);
        nn_memory_free(memory, block);
    }
    assert_int_equal(nn_memory_used(memory), 0);
    nn_memory_destroy(memory);
}

static void cap_is_never_passed(void **state)
{
    (void)state;
    struct nn_memory *memory = budget(1000);
    assert_null(nn_memory_alloc(memory, 1000, 1)); /* with its head it would be 1064 */
    void *a = nn_memory_alloc(memory, 936, 1);
    assert_non_null(a);
    assert_int_equal(nn_memory_used(memory), 1000);
    assert_null(nn_memory_alloc(memory, 1, 1));
    nn_memory_free(memory, a);
    assert_int_equal(nn_memory_used(memory), 0);
    assert_int_equal(nn_memory_peak(memory), 1000);
    assert_int_equal(nn_memory_cap(memory), 1000);
    nn_memory_destroy(memory);
}

static void overflowing_sizes_are_refused(void **state)
{
    (void)state;
    struct nn_memory *memory = budget(SIZE_MAX);
    assert_null(nn_memory_alloc(memory, SIZE_MAX / 2, 3));
    assert_null(nn_memory_alloc(memory, SIZE_MAX, 1));
    assert_null(nn_memory_alloc(NULL, SIZE_MAX - 64, 1));
    assert_int_equal(nn_memory_used(memory), 0);
    nn_memory_destroy(memory);
}

static void nth_allocation_fails_once(void **state)
{
    (void)state;
    struct nn_memory *memory = budget(SIZE_MAX);
    nn_memory_fail_at(memory, 2);
    void *a = nn_memory_alloc(memory, 8, 1);
    assert_non_null(a);
    assert_true(nn_memory_pending_failure(memory));
    assert_null(nn_memory_alloc(memory, 8, 1));
    assert_false(nn_memory_pending_failure(memory));
    void *b = nn_memory_alloc(memory, 8, 1);
    assert_non_null(b);
    nn_memory_free(memory, a);
    nn_memory_free(memory, b);
    nn_memory_free(memory, NULL);
    nn_memory_destroy(memory);
}

static void no_budget_is_allowed(void **state)
{
    (void)state;
    void *block = nn_memory_alloc(NULL, 10, 10);
    assert_non_null(block);
    nn_memory_free(NULL, block);
}

static void arena_pieces_do_not_overlap(void **state)
{
    (void)state;
    struct nn_memory *memory = budget(SIZE_MAX);
    struct nn_arena *arena = NULL;
    assert_int_equal(nn_arena_create(memory, 512, &arena), NN_OK);
    for (int round = 0; round < 3; round++) {
        unsigned char *pieces[60];
        for (size_t i = 0; i < 60; i++) {
            pieces[i] = nn_arena_alloc(arena, 1, 7 * i);
            assert_non_null(pieces[i]);
            assert_int_equal((uintptr_t)pieces[i] % NN_ALIGNMENT, 0);
            assert_true(is_zero(pieces[i], 7 * i));
            memset(pieces[i], (int)(i + 1), 7 * i);
        }
        for (size_t i = 0; i < 60; i++) {
            for (size_t j = 0; j < 7 * i; j++) {
                assert_int_equal(pieces[i][j], i + 1);
            }
        }
        size_t used = nn_memory_used(memory);
        nn_arena_reset(arena);
        assert_int_equal(nn_memory_used(memory), used);
    }
    char *text = nn_arena_text(arena, "conv1.weight");
    assert_string_equal(text, "conv1.weight");
    nn_arena_destroy(arena);
    nn_memory_destroy(memory);
}

static void arena_reports_lack_of_memory(void **state)
{
    (void)state;
    struct nn_memory *memory = budget(4096);
    struct nn_arena *arena = NULL;
    assert_int_equal(nn_arena_create(memory, 1024, &arena), NN_OK);
    assert_null(nn_arena_alloc(arena, 1, 8192));
    assert_null(nn_arena_alloc(arena, SIZE_MAX, 2));
    assert_non_null(nn_arena_alloc(arena, 1, 900));
    nn_memory_fail_at(memory, 1);
    assert_null(nn_arena_alloc(arena, 1, 900));
    assert_non_null(nn_arena_alloc(arena, 1, 900));
    nn_arena_destroy(arena);
    nn_memory_fail_at(memory, 1);
    assert_int_equal(nn_arena_create(memory, 0, &arena), NN_ERR_MEMORY);
    nn_memory_destroy(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_aligned_and_zeroed),
        cmocka_unit_test(cap_is_never_passed),
        cmocka_unit_test(overflowing_sizes_are_refused),
        cmocka_unit_test(nth_allocation_fails_once),
        cmocka_unit_test(no_budget_is_allowed),
        cmocka_unit_test(arena_pieces_do_not_overlap),
        cmocka_unit_test(arena_reports_lack_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
