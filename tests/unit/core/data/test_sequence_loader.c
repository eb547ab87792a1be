/* SPDX-License-Identifier: MIT
 *
 * Batches of sequences: order, windows, bounds.
 */
#include "core/data/sequence_loader.h"

#include <string.h>

#include "core/data/split.h"

#include "tests/support/cmocka_all.h"
#include "tests/support/tables.h"

#define TARGET_Y "{'table': {'sequence': 'id', 'target': 'y'}}"

static const uint32_t ALL[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

static const struct nn_scaling_options PLAIN = {0};

/* Eight sequences; the i-th has LENGTHS[i] steps of the value i, y = 10 i. */
static const size_t LENGTHS[] = {3, 1, 4, 1, 5, 2, 4, 3};
enum { EIGHT = 8 };

static void import_eight(struct test_tables *t)
{
    char text[1024] = "id,a,y\n";
    for (size_t i = 0; i < EIGHT; i++) {
        for (size_t s = 0; s < LENGTHS[i]; s++) {
            snprintf(text + strlen(text), sizeof text - strlen(text), "%zu,%zu,%zu\n", i, i,
                     10 * i);
        }
    }
    test_tables_text(t, TARGET_Y, text);
    assert_int_equal(t->status, NN_OK);
}

static const struct nn_sequence_loader_options BASE = {
    .items = ALL, .count = EIGHT, .batch_size = 3, .seed = 5, .epochs = 2};

/* Items of all batches in order, each batch checked against the set; -1 between batches. */
static size_t walk(const struct nn_scaled_sequences *scaled,
                   const struct nn_sequence_loader_options *options, int out[64])
{
    struct nn_sequence_loader *loader = NULL;
    struct nn_sequence_loader_batch b;
    size_t n = 0;
    assert_int_equal(nn_sequence_loader_create(scaled, options, &loader, NULL), NN_OK);
    while (nn_sequence_loader_next(loader, &b)) {
        size_t steps = 0, longest = 0;
        assert_int_equal(b.first, b.index * options->batch_size);
        for (size_t i = 0; i < b.count; i++) {
            uint32_t item = b.items[i];
            assert_int_equal(b.lengths[i], LENGTHS[item]);
            for (size_t s = 0; s < b.lengths[i]; s++) {
                assert_true(b.inputs[i][s] == (nn_real)item);
                assert_true(b.targets[i][s] == (nn_real)(10 * item));
            }
            steps += b.lengths[i];
            longest = b.lengths[i] > longest ? b.lengths[i] : longest;
            out[n++] = (int)item;
        }
        assert_int_equal(b.steps, steps);
        assert_int_equal(b.longest, longest);
        assert_true(b.steps <= nn_sequence_loader_max_steps(nn_scaled_sequences_set(scaled), NULL,
                                                            options->items, options->count,
                                                            options->batch_size));
        out[n++] = -1;
    }
    assert_false(nn_sequence_loader_next(loader, &b));
    nn_sequence_loader_destroy(loader);
    return n;
}

static void batches_keep_the_order_asked_for(void **state)
{
    static const struct {
        enum nn_shuffle shuffle;
        enum nn_sequence_sort sort;
        bool drop_last;
        int wanted[22];
        size_t n;
    } rows[] = {
        {NN_SHUFFLE_NEVER,
         NN_SEQUENCE_SORT_NONE,
         false,
         {0, 1, 2, -1, 3, 4, 5, -1, 6, 7, -1, 0, 1, 2, -1, 3, 4, 5, -1, 6, 7, -1},
         22},
        {NN_SHUFFLE_NEVER,
         NN_SEQUENCE_SORT_LENGTH_DESCENDING,
         false,
         {4, 2, 6, -1, 0, 7, 5, -1, 1, 3, -1, 4, 2, 6, -1, 0, 7, 5, -1, 1, 3, -1},
         22},
        {NN_SHUFFLE_NEVER,
         NN_SEQUENCE_SORT_NONE,
         true,
         {0, 1, 2, -1, 3, 4, 5, -1, 0, 1, 2, -1, 3, 4, 5, -1},
         16},
    };
    struct test_tables *t = *state;
    import_eight(t);
    struct nn_scaling *scaling = test_tables_scaling(t, ALL, EIGHT, &PLAIN);
    struct nn_scaled_sequences *scaled = test_tables_scaled(t, scaling);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct nn_sequence_loader_options options = BASE;
        int found[64];
        options.shuffle = rows[i].shuffle;
        options.sort = rows[i].sort;
        options.drop_last = rows[i].drop_last;
        assert_int_equal(walk(scaled, &options, found), rows[i].n);
        assert_memory_equal(found, rows[i].wanted, rows[i].n * sizeof(int));
    }
    assert_int_equal(nn_sequence_loader_max_steps(t->set, NULL, ALL, EIGHT, 3), 5 + 4 + 4);
    assert_int_equal(nn_sequence_loader_max_steps(t->set, NULL, ALL, EIGHT, 100), 23);
    nn_scaled_sequences_destroy(scaled);
    nn_scaling_destroy(scaling);
}

/* The order is the image loader's, a function of seed and epoch; a resumed run goes on in it. */
static void shuffled_orders_are_those_of_images(void **state)
{
    struct test_tables *t = *state;
    import_eight(t);
    struct nn_scaling *scaling = test_tables_scaling(t, ALL, EIGHT, &PLAIN);
    struct nn_scaled_sequences *scaled = test_tables_scaled(t, scaling);
    for (int mode = NN_SHUFFLE_ONCE; mode <= NN_SHUFFLE_EVERY_EPOCH; mode++) {
        struct nn_sequence_loader_options options = BASE;
        const struct nn_loader_options like = {
            .items = ALL, .count = EIGHT, .shuffle = (enum nn_shuffle)mode, .seed = BASE.seed};
        int found[64], resumed[64];
        options.shuffle = (enum nn_shuffle)mode;
        assert_int_equal(walk(scaled, &options, found), 22);
        for (size_t epoch = 0; epoch < 2; epoch++) {
            uint32_t order[EIGHT];
            nn_loader_order(&like, epoch, order);
            for (size_t i = 0; i < EIGHT; i++) {
                assert_int_equal(found[11 * epoch + i + i / 3], order[i]);
            }
        }
        assert_true((memcmp(found, found + 11, 11 * sizeof(int)) == 0) ==
                    (mode == NN_SHUFFLE_ONCE));
        options.first_epoch = 1;
        options.first_batch = 1;
        assert_int_equal(walk(scaled, &options, resumed), 7);
        assert_memory_equal(resumed, found + 15, 7 * sizeof(int));
    }
    nn_scaled_sequences_destroy(scaled);
    nn_scaling_destroy(scaling);
}

/* Train sequences of 5, 2 and 8 steps whose input is the step, and one of 7 that is tested. */
static void import_steps(struct test_tables *t)
{
    static const size_t lengths[] = {5, 2, 8, 7};
    char text[2][1024] = {"id,a,y\n", "id,a,y\n"};
    for (size_t i = 0; i < 4; i++) {
        char *to = text[i == 3];
        for (size_t s = 0; s < lengths[i]; s++) {
            snprintf(to + strlen(to), sizeof text[0] - strlen(to), "%zu,%zu,%zu\n", i, s, 10 * s);
        }
    }
    const struct test_table_file files[] = {{"train.csv", text[0], 0}, {"test.csv", text[1], 0}};
    test_tables_import(t, NN_IMPORT_TABLE, TARGET_Y, files, 2);
    assert_int_equal(t->status, NN_OK);
}

static void expect_windows(const struct test_tables *t, const struct nn_window_options *options,
                           const struct nn_sequence_piece *wanted, size_t n)
{
    uint32_t items[] = {0, 1, 2, 3};
    const struct nn_split_side sides[NN_PART_COUNT] = {{items, 3}, {NULL, 0}, {items + 3, 1}};
    struct nn_sequence_windows *windows = NULL;
    assert_int_equal(nn_sequence_windows_create(t->set, sides, options, NULL, &windows, NULL),
                     NN_OK);
    size_t found = 0;
    for (int part = 0; part < NN_PART_COUNT; part++) {
        const struct nn_split_side side = nn_sequence_windows_side(windows, (enum nn_part)part);
        for (size_t i = 0; i < side.count; i++, found++) {
            const struct nn_sequence_piece piece =
                nn_sequence_piece_at(t->set, windows, side.items[i]);
            assert_true(found < n);
            assert_int_equal(piece.sequence, wanted[found].sequence);
            assert_int_equal(piece.first, wanted[found].first);
            assert_int_equal(piece.length, wanted[found].length);
            assert_int_equal(piece.fresh, wanted[found].fresh);
            assert_int_equal(piece.ends, wanted[found].ends);
        }
    }
    assert_int_equal(found, n);
    nn_sequence_windows_destroy(windows);
}

/* Written down by hand. Sequences shorter than a window are whole; what is left over is in front.
 */
static void windows_end_where_sequences_end(void **state)
{
    static const struct nn_sequence_piece three_by_two[] = {
        {0, 0, 3, 3, false}, {0, 2, 3, 2, true}, {1, 0, 2, 2, true}, {2, 1, 3, 3, false},
        {2, 3, 3, 2, false}, {2, 5, 3, 2, true}, {3, 4, 3, 3, true}};
    static const struct nn_sequence_piece two_by_five[] = {{0, 3, 2, 2, true},  {1, 0, 2, 2, true},
                                                           {2, 1, 2, 2, false}, {2, 6, 2, 2, true},
                                                           {3, 0, 2, 2, false}, {3, 5, 2, 2, true}};
    static const struct nn_sequence_piece whole[] = {
        {0, 0, 5, 5, true}, {1, 0, 2, 2, true}, {2, 0, 8, 8, true}, {3, 0, 7, 7, true}};
    struct test_tables *t = *state;
    import_steps(t);
    expect_windows(t, &(struct nn_window_options){.length = 3, .length_given = true, .stride = 2},
                   three_by_two, 7);
    expect_windows(
        t,
        &(struct nn_window_options){
            .length = 2, .length_given = true, .stride = 5, .tested = NN_WINDOWS_TESTED_EVERY},
        two_by_five, 6);
    expect_windows(t, &(struct nn_window_options){.length = 100, .length_given = true, .stride = 1},
                   whole, 4);
    assert_int_equal(nn_windows_count(&(struct nn_window_options){0}, 1000), 1);
}

/* A loader deals windows out as it does sequences: by length, and in batches of bounded steps. */
static void windows_are_dealt_out(void **state)
{
    static const size_t wanted[][2] = {{0, 3}, {2, 3}, {1, 3}, {3, 3}, {5, 3}, {0, 2}};
    struct test_tables *t = *state;
    uint32_t items[] = {0, 1, 2};
    const struct nn_split_side sides[NN_PART_COUNT] = {{items, 3}};
    const struct nn_window_options options = {.length = 3, .length_given = true, .stride = 2};
    struct nn_sequence_windows *windows = NULL;
    struct nn_sequence_loader *loader = NULL;
    struct nn_sequence_loader_batch b;
    import_steps(t);
    struct nn_scaling *scaling = test_tables_scaling(t, ALL, 3, &PLAIN);
    struct nn_scaled_sequences *scaled = test_tables_scaled(t, scaling);
    assert_int_equal(nn_sequence_windows_create(t->set, sides, &options, NULL, &windows, NULL),
                     NN_OK);
    const struct nn_split_side side = nn_sequence_windows_side(windows, NN_PART_TRAIN);
    const struct nn_sequence_loader_options deal = {.items = side.items,
                                                    .count = side.count,
                                                    .batch_size = 4,
                                                    .windows = windows,
                                                    .sort = NN_SEQUENCE_SORT_LENGTH_DESCENDING,
                                                    .epochs = 1};
    assert_int_equal(nn_sequence_loader_max_steps(t->set, windows, side.items, side.count, 4), 12);
    assert_int_equal(nn_sequence_loader_create(scaled, &deal, &loader, NULL), NN_OK);
    for (size_t n = 0; nn_sequence_loader_next(loader, &b);) {
        for (size_t i = 0; i < b.count; i++, n++) {
            assert_int_equal(b.lengths[i], wanted[n][1]);
            for (size_t s = 0; s < b.lengths[i]; s++) {
                assert_true(b.inputs[i][s] == (nn_real)(wanted[n][0] + s));
                assert_true(b.targets[i][s] == (nn_real)(10 * (wanted[n][0] + s)));
            }
        }
    }
    nn_sequence_loader_destroy(loader);
    nn_sequence_windows_destroy(windows);
    nn_scaled_sequences_destroy(scaled);
    nn_scaling_destroy(scaling);
}

static void loaders_out_of_range_are_refused(void **state)
{
    const uint32_t beyond[] = {0, EIGHT};
    struct test_tables *t = *state;
    import_eight(t);
    struct nn_scaling *scaling = test_tables_scaling(t, ALL, EIGHT, &PLAIN);
    struct nn_scaled_sequences *scaled = test_tables_scaled(t, scaling);
    for (int fault = 0; fault < 7; fault++) {
        struct nn_sequence_loader_options options = BASE;
        struct nn_sequence_loader *loader = NULL;
        options.count = fault == 0 ? 0 : options.count;
        options.batch_size = fault == 1 ? 0 : options.batch_size;
        options.epochs = fault == 2 ? 0 : options.epochs;
        options.first_epoch = fault == 3 ? 3 : 0;
        options.first_batch = fault == 4 ? 4 : 0;
        options.items = fault == 5 ? beyond : options.items;
        options.count = fault == 5 ? 2 : options.count;
        options.shuffle = fault == 6 ? NN_SHUFFLE_ONCE : NN_SHUFFLE_NEVER;
        options.sort = fault == 6 ? NN_SEQUENCE_SORT_LENGTH_DESCENDING : NN_SEQUENCE_SORT_NONE;
        assert_int_equal(nn_sequence_loader_create(scaled, &options, &loader, NULL),
                         NN_ERR_INVALID);
        assert_null(loader);
    }
    nn_scaled_sequences_destroy(scaled);
    nn_scaling_destroy(scaling);
}

/* Every failed allocation ends in a status, and nothing is left. */
static void memory_may_run_out_anywhere(void **state)
{
    struct test_tables *t = *state;
    import_eight(t);
    struct nn_scaling *scaling = test_tables_scaling(t, ALL, EIGHT, &PLAIN);
    struct nn_memory *memory = NULL;
    assert_int_equal(nn_memory_create(SIZE_MAX, &memory), NN_OK);
    bool whole = false;
    for (size_t n = 1; !whole; n++) {
        struct nn_sequence_loader_options options = BASE;
        struct nn_scaled_sequences *scaled = NULL;
        struct nn_sequence_loader *loader = NULL;
        options.memory = memory;
        options.sort = NN_SEQUENCE_SORT_LENGTH_DESCENDING;
        nn_memory_fail_at(memory, n);
        enum nn_status status = nn_scaled_sequences_create(t->set, scaling, memory, &scaled, NULL);
        if (status == NN_OK) {
            assert_true(nn_memory_used(memory) >= nn_scaled_sequences_bytes(t->set, scaling));
            status = nn_sequence_loader_create(scaled, &options, &loader, NULL);
        }
        whole = nn_memory_pending_failure(memory);
        assert_int_equal(status, whole ? NN_OK : NN_ERR_MEMORY);
        nn_sequence_loader_destroy(loader);
        nn_scaled_sequences_destroy(scaled);
        assert_int_equal(nn_memory_used(memory), 0);
    }
    nn_memory_destroy(memory);
    nn_scaling_destroy(scaling);
}

/* A40: a zero is a value. Lengths alone say where a sequence ends, whoever its mates are. */
static void case_a40_zeros_are_values(void **state)
{
    const float values[] = {4, 5, 0, 5, 0, 0, 0};
    struct test_tables *t = *state;
    test_tables_text(
        t, TARGET_Y,
        "id,a,y\n1,4,1\n1,5,1\n1,0,1\n1,5,1\n2,4,1\n2,5,1\n2,0,1\n2,5,1\n2,0,1\n2,0,1\n"
        "2,0,1\n3,1,1\n3,1,1\n3,1,1\n3,1,1\n3,1,1\n3,1,1\n3,1,1\n3,1,1\n3,1,1\n");
    struct nn_scaling *scaling = test_tables_scaling(t, ALL, 3, &PLAIN);
    struct nn_scaled_sequences *scaled = test_tables_scaled(t, scaling);
    for (size_t batch = 1; batch <= 3; batch++) {
        struct nn_sequence_loader_options options = {
            .items = ALL, .count = 3, .batch_size = batch, .epochs = 1};
        struct nn_sequence_loader *loader = NULL;
        struct nn_sequence_loader_batch b;
        assert_int_equal(nn_sequence_loader_create(scaled, &options, &loader, NULL), NN_OK);
        while (nn_sequence_loader_next(loader, &b)) {
            for (size_t i = 0; i < b.count && b.items[i] < 2; i++) {
                assert_int_equal(b.lengths[i], b.items[i] == 0 ? 4 : 7);
                for (size_t s = 0; s < b.lengths[i]; s++) {
                    assert_true(b.inputs[i][s] == (nn_real)values[s]);
                }
            }
        }
        nn_sequence_loader_destroy(loader);
    }
    nn_scaled_sequences_destroy(scaled);
    nn_scaling_destroy(scaling);
}

#define TABLE_TEST(name)                                                                           \
    cmocka_unit_test_setup_teardown(name, test_tables_setup, test_tables_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TABLE_TEST(batches_keep_the_order_asked_for),
        TABLE_TEST(shuffled_orders_are_those_of_images),
        TABLE_TEST(windows_end_where_sequences_end),
        TABLE_TEST(windows_are_dealt_out),
        TABLE_TEST(loaders_out_of_range_are_refused),
        TABLE_TEST(memory_may_run_out_anywhere),
        TABLE_TEST(case_a40_zeros_are_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
