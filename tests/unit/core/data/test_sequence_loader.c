/* SPDX-License-Identifier: MIT
 *
 * Scaling, splitting and loading of sequences.
 */
#include "core/data/sequence_loader.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/data/split.h"

#include "tests/support/cmocka_all.h"
#include "tests/support/sets.h"
#include "tests/support/tables.h"

#define TARGET_Y "{'table': {'sequence': 'id', 'target': 'y'}}"

static const uint32_t ALL[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
static const struct nn_scaling_options PLAIN = {0};

static bool near(double a, double b, double tolerance)
{
    return fabs(a - b) <= tolerance * fmax(1, fabs(b));
}

static struct nn_scaling *scaling_of(const struct test_tables *t, const uint32_t *items, size_t n,
                                     const struct nn_scaling_options *options)
{
    struct nn_scaling *scaling = NULL;
    assert_int_equal(nn_scaling_create(t->set, items, n, options, &scaling, NULL), NN_OK);
    return scaling;
}

static struct nn_scaled_sequences *scaled_of(const struct test_tables *t,
                                             const struct nn_scaling *scaling)
{
    struct nn_scaled_sequences *scaled = NULL;
    assert_int_equal(nn_scaled_sequences_create(t->set, scaling, NULL, &scaled, NULL), NN_OK);
    return scaled;
}

/* --------------------------------------------------------------------------------------- scaling
 */

#define SMALL "id,a,k,y\n1,1,3,10\n1,2,3,20\n2,6,3,60\n3,100,3,1000\n"

static void scaling_follows_its_definition(void **state)
{
    static const struct {
        int rule;
        double a[3]; /* of 1, 2, 6: mean 3, std sqrt(7) */
        double y[3]; /* of 10, 20, 60 cut off at 50: mean 80 / 3, std sqrt(1300 / 3) */
    } rows[] = {
        {NN_SCALING_NONE, {1, 2, 6}, {10, 20, 50}},
        {NN_SCALING_Z_SCORE,
         {-0.7559289460184544, -0.3779644730092272, 1.1338934190276817},
         {-0.80064076902543, -0.32025630761017, 1.12089707663561}},
        {NN_SCALING_RANGE, {0, 0.2, 1}, {0, 0.25, 1}},
    };
    struct test_tables *t = *state;
    test_tables_text(t, TARGET_Y, SMALL);
    for (size_t i = 0; i < 3; i++) {
        const struct nn_scaling_options options = {.inputs = rows[i].rule,
                                                   .targets = rows[i].rule,
                                                   .target_max = 50,
                                                   .target_max_given = true};
        struct nn_scaling *scaling = scaling_of(t, ALL, 2, &options);
        struct nn_scaled_sequences *scaled = scaled_of(t, scaling);
        size_t dropped;
        assert_int_equal(nn_scaling_inputs(scaling), 1);
        assert_int_equal(nn_scaling_dropped(scaling, &dropped)[0], 1);
        assert_int_equal(dropped, 1);
        for (size_t step = 0; step < 3; step++) {
            size_t item = step / 2;
            nn_real a = nn_scaled_sequences_inputs(scaled, item)[step % 2];
            nn_real y = nn_scaled_sequences_targets(scaled, item)[step % 2];
            const float original[] = {10, 20, 50};
            assert_true(near((double)a, rows[i].a[step], 1e-6));
            assert_true(near((double)y, rows[i].y[step], 1e-6));
            assert_true(
                near(nn_scaling_restore(scaling, 0, (double)y), (double)original[step], 1e-6));
        }
        nn_scaled_sequences_destroy(scaled);
        nn_scaling_destroy(scaling);
    }
}

/* A24: a constant input that is kept becomes 0, never NaN; so does a constant target. */
static void case_a24_constant_columns_stay_finite(void **state)
{
    const struct nn_scaling_options options = {
        .inputs = NN_SCALING_Z_SCORE, .targets = NN_SCALING_Z_SCORE, .keep_constant = true};
    struct test_tables *t = *state;
    struct nn_scaling *scaling = NULL;
    struct nn_error err = {0};
    test_tables_text(t, TARGET_Y, "id,a,y\n1,0.1,7\n1,0.1,7\n2,0.1,7\n");
    scaling = scaling_of(t, ALL, 2, &options);
    struct nn_scaled_sequences *scaled = scaled_of(t, scaling);
    assert_true(nn_scaled_sequences_inputs(scaled, 0)[1] == 0);
    assert_true(nn_scaled_sequences_targets(scaled, 1)[0] == 0);
    assert_true(nn_scaling_restore(scaling, 0, 0) == 7);
    nn_scaled_sequences_destroy(scaled);
    nn_scaling_destroy(scaling);
    assert_int_equal(nn_scaling_create(t->set, ALL, 2, &PLAIN, &scaling, &err), NN_ERR_INVALID);
    assert_non_null(strstr(err.text, "every input has one value"));
}

/* What is held out leaves no trace in the numbers. */
static void only_what_trains_is_measured(void **state)
{
    const struct nn_scaling_options options = {.inputs = NN_SCALING_RANGE};
    const uint32_t second[] = {1, 2};
    struct test_tables *t = *state;
    test_tables_text(t, TARGET_Y, SMALL);
    struct nn_scaling *scaling = scaling_of(t, second, 2, &options);
    assert_true(nn_scaling_input(scaling)[0].offset == 6);
    assert_true(nn_scaling_input(scaling)[0].factor == 94);
    nn_scaling_destroy(scaling);
    const uint32_t absent[] = {3};
    struct nn_scaling *none = NULL;
    assert_int_equal(nn_scaling_create(t->set, absent, 1, &options, &none, NULL), NN_ERR_INVALID);
    assert_int_equal(nn_scaling_create(t->set, absent, 0, &options, &none, NULL), NN_ERR_INVALID);
    assert_null(none);
}

static void scaling_travels_as_a_document(void **state)
{
    const struct nn_scaling_options options = {.inputs = NN_SCALING_Z_SCORE,
                                               .targets = NN_SCALING_RANGE,
                                               .target_max = 55.5,
                                               .target_max_given = true};
    static const char *const turned[] = {"k", "spare", "a"};
    const float row[] = {3, 77, 2};
    struct test_tables *t = *state;
    test_tables_text(t, TARGET_Y, SMALL);
    struct nn_scaling *scaling = scaling_of(t, ALL, 3, &options);
    json_t *document = nn_scaling_encode(scaling);
    char *text = jx_dump(document, NULL);
    json_t *parsed = json_loads(text, 0, NULL);
    struct nn_scaling *back = NULL;
    assert_int_equal(nn_scaling_decode(parsed, turned, 3, &back, NULL), NN_OK);
    const struct nn_scaling_column *c = nn_scaling_input(back);
    assert_int_equal(c->column, 2);
    assert_true(c->offset == nn_scaling_input(scaling)->offset);
    assert_true(c->factor == nn_scaling_input(scaling)->factor);
    assert_true(nn_scaling_target(back)->factor == nn_scaling_target(scaling)->factor);
    assert_true(nn_scaling_target_max(back) == 55.5);
    nn_real out;
    nn_scaling_apply_inputs(back, row, 1, &out);
    assert_true(out == (nn_real)((2 - c->offset) / c->factor));
    nn_scaling_destroy(back);
    back = NULL;
    assert_int_equal(nn_scaling_decode(parsed, turned, 2, &back, NULL), NN_ERR_INVALID);
    json_object_set_new(json_array_get(json_object_get(parsed, "inputs"), 0), "factor",
                        json_real(0));
    assert_int_equal(nn_scaling_decode(parsed, turned, 3, &back, NULL), NN_ERR_INVALID);
    assert_null(back);
    json_decref(parsed);
    json_decref(document);
    free(text);
    nn_scaling_destroy(scaling);
}

/* ----------------------------------------------------------------------------------------- loader
 */

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
    struct nn_scaling *scaling = scaling_of(t, ALL, EIGHT, &PLAIN);
    struct nn_scaled_sequences *scaled = scaled_of(t, scaling);
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
    struct nn_scaling *scaling = scaling_of(t, ALL, EIGHT, &PLAIN);
    struct nn_scaled_sequences *scaled = scaled_of(t, scaling);
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

/* ---------------------------------------------------------------------------------------- windows
 */

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
    struct nn_scaling *scaling = scaling_of(t, ALL, 3, &PLAIN);
    struct nn_scaled_sequences *scaled = scaled_of(t, scaling);
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
    struct nn_scaling *scaling = scaling_of(t, ALL, EIGHT, &PLAIN);
    struct nn_scaled_sequences *scaled = scaled_of(t, scaling);
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
    struct nn_scaling *scaling = scaling_of(t, ALL, EIGHT, &PLAIN);
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
    struct nn_scaling *scaling = scaling_of(t, ALL, 3, &PLAIN);
    struct nn_scaled_sequences *scaled = scaled_of(t, scaling);
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

/* ---------------------------------------------------------------------------------------- splits
 */

/* Twenty training sequences, the last two equal; one for testing. */
static void splits_keep_sequences_whole(void **state)
{
    char train[2048] = "id,a,y\n";
    struct test_tables *t = *state;
    for (int i = 0; i < 20; i++) {
        int value = i == 19 ? 18 : i;
        snprintf(train + strlen(train), sizeof train - strlen(train), "%d,%d,1\n%d,%d,1\n", i,
                 value, i, value + 1);
    }
    const struct test_table_file files[] = {{"train.csv", train, 0},
                                            {"test.csv", "id,a,y\n1,100,1\n", 0}};
    test_tables_import(t, NN_IMPORT_TABLE, TARGET_Y, files, 2);
    bool moved = false;
    for (uint64_t seed = 1; seed <= 8; seed++) {
        const struct nn_split_options options = {.train = 0.8, .validation = 0.2, .seed = seed};
        struct nn_split *split = NULL, *again = NULL;
        bool seen[21] = {false};
        assert_int_equal(nn_split_make_sequences(t->set, &options, &split, NULL), NN_OK);
        assert_int_equal(nn_split_make_sequences(t->set, &options, &again, NULL), NN_OK);
        for (size_t side = 0; side < NN_PART_COUNT; side++) {
            assert_int_equal(split->side[side].count, again->side[side].count);
            for (size_t i = 0; i < split->side[side].count; i++) {
                uint32_t item = split->side[side].items[i];
                assert_int_equal(item, again->side[side].items[i]);
                assert_false(seen[item]);
                seen[item] = true;
            }
        }
        size_t validation = split->side[NN_PART_VALIDATION].count;
        assert_true(validation >= 3 && validation <= 5);
        assert_int_equal(split->side[NN_PART_TRAIN].count + validation, 20);
        assert_int_equal(split->side[NN_PART_TEST].count, 1);
        assert_int_equal(split->side[NN_PART_TEST].items[0], 20);
        size_t twins = 0;
        for (size_t i = 0; i < validation; i++) {
            twins += split->side[NN_PART_VALIDATION].items[i] >= 18;
        }
        assert_true(twins == 0 || twins == 2);
        moved = moved || split->side[NN_PART_VALIDATION].items[0] != 0;
        assert_string_equal(split->warnings, "");
        nn_split_destroy(split);
        nn_split_destroy(again);
    }
    assert_true(moved);
}

static void splits_say_when_there_is_too_little(void **state)
{
    const struct nn_split_options options = {.train = 0.5, .validation = 0.5, .seed = 1};
    struct test_tables *t = *state;
    struct nn_split *split = NULL;
    test_tables_text(t, TARGET_Y, "id,a,y\n1,1,1\n1,2,1\n");
    assert_int_equal(nn_split_make_sequences(t->set, &options, &split, NULL), NN_OK);
    assert_string_equal(split->warnings,
                        "the train part has one distinct sequence: it trains, nothing else\n");
    assert_int_equal(split->side[NN_PART_TRAIN].count, 1);
    nn_split_destroy(split);
}

/* -------------------------------------------------------------------------------------- turbofan
 */

/* First and last row of the train part of FD001, z-scored by an independent program in double. */
static const double FIRST[17] = {-0.31597201, -1.37291988, -1.7216696,  -0.13425987, -0.92591624,
                                 0.14167989,  1.12109699,  -0.51586839, -0.86277302, -0.26645555,
                                 0.33421746,  -1.05909276, -0.26905841, -0.60379176, -0.78169084,
                                 1.34846755,  1.19440389};
static const double LAST[17] = {-1.45892659, -1.71414457, 2.33783547,  1.60767346,  2.57829713,
                                0.14167989,  -2.91238975, 2.30174086,  -0.17037967, 2.46673062,
                                -2.86552974, 2.2787644,   -0.33668407, 1.63856757,  1.80101545,
                                -2.46904844, -2.19402409};

static void check_real(const struct nn_scaled_sequences *scaled, const struct nn_scaling *scaling)
{
    const nn_real *first = nn_scaled_sequences_inputs(scaled, 0);
    const nn_real *last = nn_scaled_sequences_inputs(scaled, 99);
    size_t length = nn_sequences_length(nn_scaled_sequences_set(scaled), 99);
    for (size_t k = 0; k < 17; k++) {
        assert_true(near((double)first[k], FIRST[k], 1e-6));
        assert_true(near((double)last[(length - 1) * 17 + k], LAST[k], 1e-6));
    }
    assert_true(near(nn_scaling_target(scaling)->offset, 95.85807765013814, 1e-12));
    assert_true(near(nn_scaling_target(scaling)->factor, 49.66940071605437, 1e-12));
}

static void turbofan_is_scaled(void **state)
{
    const struct nn_scaling_options options = {.inputs = NN_SCALING_Z_SCORE,
                                               .targets = NN_SCALING_Z_SCORE,
                                               .target_max = 150,
                                               .target_max_given = true};
    struct test_tables *t = *state;
    uint32_t items[200];
    char *paths[3];
    bool real = test_tables_turbofan(t, paths);
    test_tables_paths(t, NN_IMPORT_CMAPSS, NULL, (const char *const *)paths, 3);
    size_t n = nn_sequences_info(t->set)->part_count[NN_PART_TRAIN];
    for (size_t i = 0; i < n; i++) {
        items[i] = (uint32_t)i;
    }
    struct nn_scaling *scaling = scaling_of(t, items, n, &options);
    struct nn_scaled_sequences *scaled = scaled_of(t, scaling);
    assert_int_equal(nn_scaling_inputs(scaling), 17);
    double sum[17] = {0}, squares[17] = {0};
    size_t steps = nn_sequences_info(t->set)->part_steps[NN_PART_TRAIN];
    const nn_real *inputs = nn_scaled_sequences_inputs(scaled, 0);
    for (size_t j = 0; j < steps * 17; j++) {
        sum[j % 17] += (double)inputs[j];
        squares[j % 17] += (double)inputs[j] * (double)inputs[j];
    }
    for (size_t k = 0; k < 17; k++) {
        assert_true(fabs(sum[k] / (double)steps) < 1e-5);
        assert_true(near(squares[k] / (double)(steps - 1), 1, 1e-5));
    }
    for (size_t i = 0; i < n; i++) {
        double begin =
            nn_scaling_restore(scaling, 0, (double)nn_scaled_sequences_targets(scaled, i)[0]);
        double wanted = fmin(150, (double)nn_sequences_length(t->set, i));
        assert_true(near(begin, wanted, 1e-5));
    }
    if (real) {
        check_real(scaled, scaling);
    }
    nn_scaled_sequences_destroy(scaled);
    nn_scaling_destroy(scaling);
    for (size_t i = 0; i < 3; i++) {
        free(paths[i]);
    }
}

#define TABLE_TEST(name)                                                                           \
    cmocka_unit_test_setup_teardown(name, test_tables_setup, test_tables_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TABLE_TEST(scaling_follows_its_definition),
        TABLE_TEST(case_a24_constant_columns_stay_finite),
        TABLE_TEST(only_what_trains_is_measured),
        TABLE_TEST(scaling_travels_as_a_document),
        TABLE_TEST(batches_keep_the_order_asked_for),
        TABLE_TEST(shuffled_orders_are_those_of_images),
        TABLE_TEST(windows_end_where_sequences_end),
        TABLE_TEST(windows_are_dealt_out),
        TABLE_TEST(loaders_out_of_range_are_refused),
        TABLE_TEST(memory_may_run_out_anywhere),
        TABLE_TEST(case_a40_zeros_are_values),
        TABLE_TEST(splits_keep_sequences_whole),
        TABLE_TEST(splits_say_when_there_is_too_little),
        TABLE_TEST(turbofan_is_scaled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
