/* SPDX-License-Identifier: MIT
 *
 * Scaling of sequences: definitions, what is measured, its document; splits.
 */
#include "core/data/sequence_loader.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/data/split.h"

#include "tests/support/cmocka_all.h"
#include "tests/support/tables.h"

#define TARGET_Y "{'table': {'sequence': 'id', 'target': 'y'}}"

static const uint32_t ALL[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

static const struct nn_scaling_options PLAIN = {0};

static bool near(double a, double b, double tolerance)
{
    return fabs(a - b) <= tolerance * fmax(1, fabs(b));
}

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
        struct nn_scaling *scaling = test_tables_scaling(t, ALL, 2, &options);
        struct nn_scaled_sequences *scaled = test_tables_scaled(t, scaling);
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
    scaling = test_tables_scaling(t, ALL, 2, &options);
    struct nn_scaled_sequences *scaled = test_tables_scaled(t, scaling);
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
    struct nn_scaling *scaling = test_tables_scaling(t, second, 2, &options);
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
    struct nn_scaling *scaling = test_tables_scaling(t, ALL, 3, &options);
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
    struct nn_scaling *scaling = test_tables_scaling(t, items, n, &options);
    struct nn_scaled_sequences *scaled = test_tables_scaled(t, scaling);
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
        TABLE_TEST(turbofan_is_scaled),
        TABLE_TEST(splits_keep_sequences_whole),
        TABLE_TEST(splits_say_when_there_is_too_little),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
