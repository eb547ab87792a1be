/* SPDX-License-Identifier: MIT
 *
 * core/base/random.h: known answers of Philox4x32-10 (Random123's kat_vectors), independence of
 * streams, and the distributions that are drawn.
 */
#include "tests/support/cmocka_all.h"

#include <math.h>

#include "core/base/random.h"

static void philox_known_answers(void **state)
{
    (void)state;
    static const struct {
        uint32_t counter[4], key[2], expected[4];
    } rows[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         {0xffffffff, 0xffffffff},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint32_t out[4];
        nn_philox4x32(rows[i].counter, rows[i].key, out);
        assert_memory_equal(out, rows[i].expected, sizeof out);
    }
}

static void every_part_of_the_key_changes_the_stream(void **state)
{
    (void)state;
    static const struct {
        uint64_t seed;
        uint32_t purpose;
        uint64_t epoch, index;
    } keys[] = {{1, 2, 3, 4},         {2, 2, 3, 4}, {1ull << 32 | 1, 2, 3, 4}, {1, 3, 3, 4},
                {1, 2, 4, 4},         {1, 2, 3, 5}, {1, 2, 3, 1ull << 32 | 4}, {1, 66, 3, 4},
                {1, 2, 3, 4ull << 40}};
    uint64_t first[9];
    for (size_t i = 0; i < 9; i++) {
        struct nn_random random;
        nn_random_init(&random, keys[i].seed, keys[i].purpose, keys[i].epoch, keys[i].index);
        first[i] = nn_random_u64(&random);
        for (size_t j = 0; j < i; j++) {
            assert_true(first[i] != first[j]);
        }
    }
}

static void a_stream_repeats_itself(void **state)
{
    (void)state;
    struct nn_random a, b;
    nn_random_init(&a, 7, NN_RANDOM_TEST, 0, 0);
    nn_random_init(&b, 7, NN_RANDOM_TEST, 0, 0);
    for (int i = 0; i < 100; i++) {
        assert_int_equal(nn_random_u32(&a), nn_random_u32(&b));
    }
    uint32_t counter[4], words[4];
    nn_random_counter(NN_RANDOM_TEST, 0, 0, 25, counter);
    nn_philox4x32(counter, a.key, words);
    assert_int_equal(nn_random_u32(&a), words[0]); /* word 100 opens block 25 */
}

static void uniform_and_normal_have_their_moments(void **state)
{
    (void)state;
    struct nn_random random;
    nn_random_init(&random, 11, NN_RANDOM_TEST, 0, 0);
    double sum = 0, sum_normal = 0, squares_normal = 0;
    const int n = 100000;
    for (int i = 0; i < n; i++) {
        double u = nn_random_uniform(&random);
        assert_true(u >= 0 && u < 1);
        double z = nn_random_normal(&random);
        assert_true(isfinite(z));
        sum += u;
        sum_normal += z;
        squares_normal += z * z;
    }
    assert_true(fabs(sum / n - 0.5) < 0.005);
    assert_true(fabs(sum_normal / n) < 0.02);
    assert_true(fabs(squares_normal / n - 1) < 0.03);
}

static void below_is_in_range_and_even(void **state)
{
    (void)state;
    struct nn_random random;
    nn_random_init(&random, 3, NN_RANDOM_TEST, 0, 0);
    int counts[7] = {0};
    for (int i = 0; i < 70000; i++) {
        counts[nn_random_below(&random, 7)]++;
    }
    for (int i = 0; i < 7; i++) {
        assert_true(counts[i] > 9500 && counts[i] < 10500);
    }
    assert_int_equal(nn_random_below(&random, 1), 0);
    for (int i = 0; i < 100; i++) { /* about half of the draws are thrown away here */
        assert_true(nn_random_below(&random, (1ull << 63) + 1) <= 1ull << 63);
    }
}

static void shuffle_is_a_fair_permutation(void **state)
{
    (void)state;
    int at[4][4] = {{0}};
    for (uint64_t epoch = 0; epoch < 8000; epoch++) {
        uint32_t items[4] = {0, 1, 2, 3};
        struct nn_random random;
        nn_random_init(&random, 5, NN_RANDOM_SHUFFLE, epoch, 0);
        nn_random_shuffle(&random, items, 4);
        assert_int_equal(1u << items[0] | 1u << items[1] | 1u << items[2] | 1u << items[3], 15);
        for (int i = 0; i < 4; i++) {
            at[i][items[i]]++;
        }
    }
    for (int i = 0; i < 16; i++) {
        assert_true(at[i / 4][i % 4] > 1800 && at[i / 4][i % 4] < 2200);
    }
    struct nn_random random;
    nn_random_init(&random, 5, NN_RANDOM_SHUFFLE, 0, 0);
    nn_random_shuffle(&random, NULL, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(philox_known_answers),
        cmocka_unit_test(every_part_of_the_key_changes_the_stream),
        cmocka_unit_test(a_stream_repeats_itself),
        cmocka_unit_test(uniform_and_normal_have_their_moments),
        cmocka_unit_test(below_is_in_range_and_even),
        cmocka_unit_test(shuffle_is_a_fair_permutation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
