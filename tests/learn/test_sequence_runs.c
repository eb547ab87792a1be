/* SPDX-License-Identifier: MIT
 *
 * Training on sequences, end to end: what is learned, what is reported, and that equal setups give
 * equal bits, on any number of threads, killed and resumed or not. Cases A24, B01, B02, B13 of
 * tests/README.md, here for sequences.
 */
#include "tests/support/cmocka_all.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/files/safetensors.h"
#include "core/training/checkpoint.h"
#include "tests/support/runs.h"

static const struct nn_scaling_options Z_SCORE = {.inputs = NN_SCALING_Z_SCORE};
static const struct nn_scaling_options BOTH = {.inputs = NN_SCALING_Z_SCORE,
                                               .targets = NN_SCALING_Z_SCORE};
static const struct nn_scaling_options CUT = {.inputs = NN_SCALING_Z_SCORE,
                                              .targets = NN_SCALING_RANGE,
                                              .target_max = 45,
                                              .target_max_given = true};

static const char STEPS_1[] = "{\"name\": \"lstm_regression\", \"units\": 16, \"hidden\": [8], "
                              "\"dropout\": 0, \"normalisation\": \"none\"}";
static const char LAST[] = "{\"name\": \"lstm_regression\", \"units\": 16, \"hidden\": [8], "
                           "\"dropout\": 0, \"output\": \"last\", \"normalisation\": \"none\"}";
static const char DROPPING[] = "{\"name\": \"lstm_regression\", \"units\": 9, \"depth\": 2, "
                               "\"hidden\": [5], \"dropout\": 0.3}";

/* 36 sequences that train, in batches of 8: 5 steps an epoch, the last of 4 sequences. */
#define TRAINING(solver, more)                                                                     \
    "{\"solver\": \"" solver "\", \"learning_rate\": 0.01, \"epochs\": 3, \"batch_size\": 8, "     \
    "\"validation_frequency\": 4, \"checkpoint_interval_seconds\": 0, \"schedule\": {\"kind\": "   \
    "\"piecewise\", \"drop_factor\": 0.5, \"drop_period\": 1}, \"output_network\": "               \
    "\"best_validation_loss\", \"gradient_clipping\": {\"method\": \"global_l2norm\", "            \
    "\"threshold\": 1}, " more "}"
static const char SHUFFLED[] = TRAINING("adam", "\"shuffle\": \"every_epoch\"");
static const char SORTED[] = TRAINING("sgdm", "\"shuffle\": \"never\"");
enum { STEPS = 15 };

static const struct nn_part_result *part(const struct run_record *record, enum nn_part which)
{
    return &record->result->parts[which];
}

static double figure(const struct run_record *record, enum nn_part which,
                     enum nn_regression_metric metric)
{
    return part(record, which)->regression.figure[metric].value;
}

static void assert_near(double a, double b, double relative)
{
    if (!(fabs(a - b) <= relative * fabs(b))) {
        fail_msg("%.17g and %.17g", a, b);
    }
}

/* The target remembers its past: a network that does not could not come below 15. */
static void what_has_memory_is_learned(void **state)
{
    (void)state;
    static const struct {
        const char *network;
        const struct nn_scaling_options *scaling;
        double rmse;
    } rows[] = {{STEPS_1, &BOTH, 1.5}, {LAST, &BOTH, 5}, {STEPS_1, &CUT, 1.5}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct synthetic_set set;
        struct run_record record;
        synthetic_open_sequences(&set, 120, 0, 30, rows[i].scaling);
        const struct run_plan plan = {
            .network = rows[i].network,
            .training = "{\"solver\": \"adam\", \"learning_rate\": 0.01, \"epochs\": 60, "
                        "\"batch_size\": 20, \"shuffle\": \"every_epoch\"}"};
        run_well(&record, &set, &plan);
        double rmse = figure(&record, NN_PART_TEST, NN_REGRESSION_RMSE);
        if (!(rmse < rows[i].rmse)) {
            fail_msg("row %zu: RMSE %g, wanted %g", i, rmse, rows[i].rmse);
        }
        run_record_deinit(&record);
        synthetic_close(&set);
    }
}

/* Figures and arrays are of the same network, in the target's unit, against the cut targets. */
static void figures_are_those_of_the_predictions(void **state)
{
    (void)state;
    struct synthetic_set set;
    struct run_record record;
    synthetic_open_sequences(&set, 36, 10, 21, &CUT);
    const struct run_plan plan = {.network = STEPS_1, .training = SHUFFLED};
    run_well(&record, &set, &plan);
    const struct nn_sequence_predictions *all = &part(&record, NN_PART_TEST)->sequences;
    double squares = 0;
    double largest = 0;
    double last = 0;
    assert_int_equal(all->count, 21);
    for (size_t i = 0; i < all->count; i++) {
        const struct nn_sequence_prediction *one = &all->sequences[i];
        double most = 0;
        double error = 0;
        assert_int_equal(one->sample, set.side[NN_PART_TEST].items[i]);
        assert_int_equal(one->rows, nn_sequences_length(set.sequences, one->sample));
        for (size_t t = one->first; t < one->first + one->rows; t++) {
            float target = nn_sequences_targets(set.sequences, one->sample)[t - one->first];
            assert_true(all->target[t] == fminf(target, 45));
            error = (double)all->predicted[t] - (double)all->target[t];
            squares += error * error;
            most = fmax(most, fabs(error));
        }
        largest += most;
        last += error * error;
    }
    assert_near(figure(&record, NN_PART_TEST, NN_REGRESSION_RMSE),
                sqrt(squares / (double)all->rows), 1e-6);
    assert_near(figure(&record, NN_PART_TEST, NN_REGRESSION_MEAN_MAX_ABSOLUTE_ERROR), largest / 21,
                1e-6);
    assert_near(figure(&record, NN_PART_TEST, NN_REGRESSION_LAST_STEP_RMSE), sqrt(last / 21), 1e-6);
    assert_null(part(&record, NN_PART_TRAIN)->sequences.predicted);
    assert_true(part(&record, NN_PART_VALIDATION)->regression.figure[NN_REGRESSION_LOSS].value ==
                record.result->best_validation_loss);
    run_record_deinit(&record);
    synthetic_close(&set);
}

/* Windows of 6 by 2; a network that predicts each step, and one that predicts the last. Predictions
 * of a part are of whole sequences all the same, those of a window's last steps that no window
 * before it has; of the test part those of the last window, or of every one. */
static void expect_predicted(const struct run_record *record, const struct synthetic_set *set,
                             enum nn_part which, bool each_step, bool last_window)
{
    const struct nn_sequence_predictions *all = &part(record, which)->sequences;
    assert_int_equal(all->count, set->side[which].count);
    for (size_t i = 0; i < all->count; i++) {
        const struct nn_sequence_prediction *one = &all->sequences[i];
        size_t steps = nn_sequences_length(set->sequences, one->sample);
        size_t window = steps < 6 ? steps : 6, windows = last_window ? 1 : (steps - window) / 2 + 1;
        assert_int_equal(one->sample, set->side[which].items[i]);
        assert_int_equal(one->rows, each_step ? window + 2 * (windows - 1) : windows);
        for (size_t r = 0; r < one->rows; r++) {
            size_t step = steps - 1 - (one->rows - 1 - r) * (each_step ? 1 : 2);
            float target = nn_sequences_targets(set->sequences, one->sample)[step];
            assert_true(all->target[one->first + r] == fminf(target, 45));
        }
    }
}

/* Trains next to nothing in batches of so many windows. */
static void run_on_windows(struct run_record *record, const struct synthetic_set *set,
                           const char *network, size_t batch)
{
    char training[96];
    (void)snprintf(training, sizeof training,
                   "{\"learning_rate\": 1e-30, \"epochs\": 1, \"batch_size\": %zu}", batch);
    const struct run_plan plan = {.network = network, .training = training};
    run_well(record, set, &plan);
}

/* And what is judged does not depend on where batches are cut. */
static void windows_of_a_sequence_are_judged_together(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        bool each_step = i < 2, last_window = i % 2 == 0;
        struct synthetic_set set;
        struct run_record small, large;
        const struct nn_window_options options = {.length = 6,
                                                  .length_given = true,
                                                  .stride = 2,
                                                  .tested = last_window ? NN_WINDOWS_TESTED_LAST
                                                                        : NN_WINDOWS_TESTED_EVERY};
        synthetic_open_sequences(&set, 36, 10, 21, &CUT);
        synthetic_cut(&set, &options);
        run_on_windows(&small, &set, each_step ? STEPS_1 : LAST, 5);
        run_on_windows(&large, &set, each_step ? STEPS_1 : LAST, 1000);
        expect_predicted(&small, &set, NN_PART_VALIDATION, each_step, false);
        expect_predicted(&small, &set, NN_PART_TEST, each_step, last_window);
        for (int p = 0; p < NN_PART_COUNT; p++) {
            for (int m = 0; m < NN_REGRESSION_COUNT; m++) {
                assert_near(figure(&small, (enum nn_part)p, (enum nn_regression_metric)m),
                            figure(&large, (enum nn_part)p, (enum nn_regression_metric)m), 1e-4);
            }
        }
        run_record_deinit(&small);
        run_record_deinit(&large);
        synthetic_close(&set);
    }
}

/* The first point of training without dropout is the evaluation of the untrained network on the
 * first batch: losses and units of both are the same thing. */
static void training_and_evaluation_agree(void **state)
{
    (void)state;
    static const struct nn_scaling_options *const scalings[] = {&Z_SCORE, &BOTH, &CUT};
    for (size_t i = 0; i < 6; i++) {
        struct synthetic_set set;
        struct run_record record;
        synthetic_open_sequences(&set, 12, 0, 0, scalings[i % 3]);
        const struct run_plan plan = {
            .network = i < 3 ? STEPS_1 : LAST,
            .training = "{\"learning_rate\": 1e-30, \"epochs\": 1, \"batch_size\": 12}"};
        run_well(&record, &set, &plan);
        assert_near(run_point_at(&record, "training_loss", 1),
                    figure(&record, NN_PART_TRAIN, NN_REGRESSION_LOSS), 1e-5);
        assert_near(run_point_at(&record, "training_rmse", 1),
                    figure(&record, NN_PART_TRAIN, NN_REGRESSION_RMSE), 1e-5);
        run_record_deinit(&record);
        synthetic_close(&set);
    }
}

static void same_setup_gives_same_bits(void **state)
{
    (void)state;
    struct synthetic_set set;
    synthetic_open_sequences(&set, 36, 10, 7, &BOTH);
    for (size_t i = 0; i < 2; i++) {
        set.sort = i ? NN_SEQUENCE_SORT_LENGTH_DESCENDING : NN_SEQUENCE_SORT_NONE;
        struct run_plan plan = {.network = DROPPING, .training = i ? SORTED : SHUFFLED, .seed = 3};
        struct run_record first;
        struct run_record again;
        run_well(&first, &set, &plan);
        assert_int_equal(first.result->step, STEPS);
        plan.threads = 3;
        for (int vary = 0; vary < 2; vary++) {
            plan.vary_threads = vary;
            run_well(&again, &set, &plan);
            run_assert_equal(&first, &again);
            run_record_deinit(&again);
        }
        plan.seed = 4; /* the comparison can fail */
        run_well(&again, &set, &plan);
        assert_true(run_point_at(&first, "training_loss", 1) !=
                    run_point_at(&again, "training_loss", 1));
        run_record_deinit(&again);
        run_record_deinit(&first);
    }
    synthetic_close(&set);
}

static void a_resumed_run_on_windows_equals_the_whole(void **state)
{
    (void)state;
    struct synthetic_set set;
    struct run_record whole;
    const struct nn_window_options options = {.length = 5, .length_given = true, .stride = 3};
    struct run_plan plan = {.network = DROPPING, .training = SHUFFLED, .seed = 7};
    synthetic_open_sequences(&set, 12, 4, 3, &BOTH);
    synthetic_cut(&set, &options);
    run_well(&whole, &set, &plan);
    assert_true(whole.result->step > 6);
    for (uint64_t step = 1; step < whole.result->step; step++) {
        plan.threads = 1 + step % 2;
        run_leave_and_resume(&set, plan, step, &whole);
    }
    run_record_deinit(&whole);
    synthetic_close(&set);
}

static void resumed_run_equals_whole(void **state)
{
    (void)state;
    struct synthetic_set set;
    synthetic_open_sequences(&set, 36, 10, 7, &BOTH);
    for (size_t i = 0; i < 2; i++) {
        set.sort = i ? NN_SEQUENCE_SORT_LENGTH_DESCENDING : NN_SEQUENCE_SORT_NONE;
        struct run_plan plan = {.network = DROPPING, .training = i ? SORTED : SHUFFLED, .seed = 7};
        struct run_record whole;
        run_well(&whole, &set, &plan);
        for (uint64_t step = 1; step < STEPS; step++) {
            plan.threads = 1 + step % 2;
            run_leave_and_resume(&set, plan, step, &whole);
        }
        run_record_deinit(&whole);
    }
    synthetic_close(&set);
}

/* Killed at any moment while every step is saved: the end is that of the run nobody killed. */
static void killed_anywhere(void **state)
{
    (void)state;
    struct synthetic_set set;
    synthetic_open_sequences(&set, 36, 10, 7, &BOTH);
    const struct run_plan plan = {.network = DROPPING, .training = SHUFFLED, .seed = 5};
    run_assert_survives_kills(&set, plan, 2, 42);
    synthetic_close(&set);
}

static void pause_stop_and_patience(void **state)
{
    (void)state;
    struct synthetic_set set;
    struct run_record record;
    synthetic_open_sequences(&set, 36, 10, 7, &BOTH);
    struct run_plan plan = {
        .network = STEPS_1, .training = SHUFFLED, .order_step = 6, .order = NN_PAUSE};
    run_well(&record, &set, &plan);
    assert_int_equal(record.result->outcome, NN_TRAINING_PAUSED);
    assert_false(part(&record, NN_PART_TEST)->present);
    run_record_deinit(&record);
    plan.order = NN_STOP;
    run_well(&record, &set, &plan);
    assert_int_equal(record.result->outcome, NN_TRAINING_STOPPED);
    assert_int_equal(part(&record, NN_PART_TEST)->regression.sequences, 7);
    run_record_deinit(&record);
    plan = (struct run_plan){.network = STEPS_1,
                             .training = "{\"epochs\": 50, \"batch_size\": 12, \"learning_rate\": "
                                         "1e-30, \"patience\": 3, \"validation_frequency\": 0}"};
    run_well(&record, &set, &plan);
    assert_true(record.result->patience_stopped);
    assert_int_equal(record.result->step, 3 * 4);
    assert_int_equal(record.result->best_step, 3);
    run_record_deinit(&record);
    synthetic_close(&set);
}

static void divergence_keeps_the_best(void **state)
{
    (void)state;
    struct synthetic_set set;
    struct run_record record;
    synthetic_open_sequences(&set, 36, 10, 7, &Z_SCORE);
    const struct run_plan plan = {
        .network = STEPS_1,
        .training = "{\"epochs\": 30, \"batch_size\": 36, \"learning_rate\": 0.001, "
                    "\"checkpoint_interval_seconds\": 0, \"validation_frequency\": 0, "
                    "\"schedule\": {\"kind\": \"piecewise\", \"drop_factor\": 1e12, "
                    "\"drop_period\": 1}}"};
    run_do(&record, &set, &plan);
    assert_int_equal(record.status, NN_ERR_DIVERGED);
    assert_non_null(record.result);
    assert_true(record.result->best_step >= 1);
    assert_true(isfinite(record.result->best_validation_loss));
    assert_true(figure(&record, NN_PART_VALIDATION, NN_REGRESSION_LOSS) ==
                record.result->best_validation_loss);
    assert_non_null(record.network);
    run_record_deinit(&record);
    synthetic_close(&set);
}

/* The network's file says how its inputs were scaled; statistics of an input that the network
 * normalises itself come from the train part. */
static void the_file_holds_the_scaling(void **state)
{
    (void)state;
    static const struct nn_scaling_options none = {0};
    static const char zscore[] = "{\"name\": \"lstm_regression\", \"units\": 4, \"hidden\": []}";
    struct synthetic_set set;
    struct run_record record;
    struct nn_safetensors *file = NULL;
    synthetic_open_sequences(&set, 36, 0, 7, &none);
    const struct run_plan plan = {.network = zscore, .training = "{\"epochs\": 1}"};
    run_well(&record, &set, &plan);
    assert_int_equal(nn_safetensors_open(record.result->network_path, NULL, &file, NULL), NN_OK);
    json_t *document = json_loads(nn_safetensors_metadata(file, "scaling"), 0, NULL);
    const char *dropped =
        json_string_value(json_array_get(json_object_get(document, "dropped"), 0));
    assert_string_equal(dropped, "constant");
    json_decref(document);
    nn_safetensors_close(file);
    run_record_deinit(&record);
    synthetic_close(&set);
}

static void sorting_and_shuffling_exclude_each_other(void **state)
{
    (void)state;
    struct synthetic_set set;
    struct run_record record;
    synthetic_open_sequences(&set, 12, 0, 0, &Z_SCORE);
    set.sort = NN_SEQUENCE_SORT_LENGTH_DESCENDING;
    const struct run_plan plan = {.network = STEPS_1, .training = "{\"shuffle\": \"once\"}"};
    run_do(&record, &set, &plan);
    assert_int_equal(record.status, NN_ERR_INVALID);
    assert_non_null(strstr(record.err.text, "sorted or shuffled"));
    run_record_deinit(&record);
    synthetic_close(&set);
}

static void memory_is_planned_and_may_fail(void **state)
{
    (void)state;
    struct synthetic_set set;
    synthetic_open_sequences(&set, 36, 5, 7, &BOTH);
    bool pending = false;
    size_t n = 0;
    while (!pending) {
        struct run_record record;
        const struct run_plan plan = {.network = DROPPING,
                                      .training = "{\"epochs\": 1, \"batch_size\": 20, "
                                                  "\"solver\": \"adam\"}",
                                      .fail_at = ++n};
        run_do(&record, &set, &plan);
        pending = record.failure_pending;
        assert_int_equal(record.status, pending ? NN_OK : NN_ERR_MEMORY);
        if (pending) {
            assert_true(record.planned_bytes >= record.result->plan_bytes);
            assert_true(record.planned_bytes <= 2 * record.result->plan_bytes + (1 << 21));
        }
        run_record_deinit(&record);
    }
    assert_true(n > 20);
    synthetic_close(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_has_memory_is_learned),
        cmocka_unit_test(figures_are_those_of_the_predictions),
        cmocka_unit_test(windows_of_a_sequence_are_judged_together),
        cmocka_unit_test(training_and_evaluation_agree),
        cmocka_unit_test(same_setup_gives_same_bits),
        cmocka_unit_test(a_resumed_run_on_windows_equals_the_whole),
        cmocka_unit_test(resumed_run_equals_whole),
        cmocka_unit_test(killed_anywhere),
        cmocka_unit_test(pause_stop_and_patience),
        cmocka_unit_test(divergence_keeps_the_best),
        cmocka_unit_test(the_file_holds_the_scaling),
        cmocka_unit_test(sorting_and_shuffling_exclude_each_other),
        cmocka_unit_test(memory_is_planned_and_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
