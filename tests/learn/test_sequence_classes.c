/* SPDX-License-Identifier: MIT
 *
 * Classification of sequences, end to end: what is learned, what is reported, and that equal setups
 * give equal bits, on any number of threads, killed and resumed or not.
 */
#include "tests/support/cmocka_all.h"

#include <math.h>
#include <string.h>

#include "tests/support/runs.h"

static const char SMALL[] = "{\"name\": \"lstm_classification\", \"units\": 8, \"dropout\": 0, "
                            "\"normalisation\": \"none\"}";
static const char DROPPING[] = "{\"name\": \"lstm_classification\", \"units\": 9, \"depth\": 2, "
                               "\"hidden\": [5], \"dropout\": 0.3}";

/* 36 sequences that train, in batches of 8: 5 steps an epoch, the last of 4 sequences. */
#define TRAINING(more)                                                                             \
    "{\"solver\": \"adam\", \"learning_rate\": 0.01, \"epochs\": 3, \"batch_size\": 8, "           \
    "\"validation_frequency\": 4, \"checkpoint_interval_seconds\": 0, " more "}"
static const char SHUFFLED[] = TRAINING("\"shuffle\": \"every_epoch\", \"output_network\": "
                                        "\"best_validation_loss\"");
static const char SORTED[] = TRAINING("\"shuffle\": \"never\", \"ema_decay\": 0.9, "
                                      "\"label_smoothing\": 0.1, \"micro_batch_size\": 3");
enum { STEPS = 15 };

static const struct nn_part_result *part(const struct run_record *record, enum nn_part which)
{
    return &record->result->parts[which];
}

static void assert_near(double a, double b, double relative)
{
    if (!(fabs(a - b) <= relative * fabs(b))) {
        fail_msg("%.17g and %.17g", a, b);
    }
}

/* Each template that classifies; the last step alone does not tell the class. */
static void classes_are_learned(void **state)
{
    (void)state;
    static const char *const networks[] = {
        "{\"name\": \"lstm_classification\", \"units\": 16, \"dropout\": 0}",
        "{\"name\": \"bilstm\", \"task\": \"classification\", \"units\": 8, \"dropout\": 0}",
        "{\"name\": \"gru\", \"task\": \"classification\", \"units\": 16, \"dropout\": 0}",
    };
    struct synthetic_set set;
    synthetic_open_classes(&set, 150, 0, 100);
    for (size_t i = 0; i < sizeof networks / sizeof networks[0]; i++) {
        struct run_record record;
        const struct run_plan plan = {
            .network = networks[i],
            .training = "{\"solver\": \"adam\", \"learning_rate\": 0.01, \"epochs\": 40, "
                        "\"batch_size\": 20, \"shuffle\": \"every_epoch\"}"};
        run_well(&record, &set, &plan);
        double accuracy = part(&record, NN_PART_TEST)->evaluation.accuracy.value;
        if (!(accuracy >= 0.95)) {
            fail_msg("%s: accuracy %g", networks[i], accuracy);
        }
        run_record_deinit(&record);
    }
    synthetic_close(&set);
}

/* The matrix counts the predictions, which are those of the part's own sequences. */
static void figures_are_those_of_the_predictions(void **state)
{
    (void)state;
    struct synthetic_set set;
    struct run_record record;
    synthetic_open_classes(&set, 36, 10, 21);
    const struct run_plan plan = {.network = SMALL, .training = SHUFFLED};
    run_well(&record, &set, &plan);
    for (int p = 0; p < NN_PART_COUNT; p++) {
        const struct nn_part_result *result = part(&record, (enum nn_part)p);
        const struct nn_evaluation *evaluation = &result->evaluation;
        uint64_t counts[9] = {0};
        assert_true(result->present);
        assert_int_equal(evaluation->samples, set.side[p].count);
        assert_int_equal(evaluation->confusion.classes, 3);
        for (size_t i = 0; i < evaluation->samples; i++) {
            const struct nn_prediction *one = &result->predictions[i];
            assert_int_equal(one->sample, set.side[p].items[i]);
            assert_int_equal(one->truth, nn_sequences_label(set.sequences, one->sample));
            assert_true(one->probability > 0.333F && one->probability <= 1);
            counts[one->truth * 3 + one->predicted]++;
        }
        assert_memory_equal(counts, evaluation->confusion.counts, sizeof counts);
        assert_int_equal(result->sequences.count, 0);
    }
    assert_true(part(&record, NN_PART_VALIDATION)->evaluation.loss ==
                record.result->best_validation_loss);
    run_record_deinit(&record);
    synthetic_close(&set);
}

static double first_loss(const struct synthetic_set *set, const char *training,
                         const nn_real *class_weights, double *out_evaluated)
{
    struct run_record record;
    const struct run_plan plan = {
        .network = SMALL, .training = training, .class_weights = class_weights};
    run_well(&record, set, &plan);
    double loss = run_point_at(&record, "training_loss", 1);
    *out_evaluated = part(&record, NN_PART_TRAIN)->evaluation.loss;
    assert_near(run_point_at(&record, "training_accuracy", 1),
                part(&record, NN_PART_TRAIN)->evaluation.accuracy.value, 1e-12);
    run_record_deinit(&record);
    return loss;
}

#define STILL(more)                                                                                \
    "{\"learning_rate\": 1e-30, \"epochs\": 1, \"batch_size\": 12, \"shuffle\": \"never\"" more "}"

/* What trains next to nothing has the loss of its evaluation at the first step, also in pieces;
 * weights of one change nothing, those of two double it; a smoothed loss is another one. */
static void training_and_evaluation_agree(void **state)
{
    (void)state;
    struct synthetic_set set;
    double evaluated = 0;
    const nn_real ones[] = {1, 1, 1}, twos[] = {2, 2, 2};
    synthetic_open_classes(&set, 12, 0, 0);
    double plain = first_loss(&set, STILL(""), NULL, &evaluated);
    assert_near(plain, evaluated, 1e-5);
    assert_near(first_loss(&set, STILL(", \"micro_batch_size\": 5"), NULL, &evaluated), plain,
                1e-5);
    assert_near(first_loss(&set, STILL(""), ones, &evaluated), plain, 1e-6);
    assert_near(first_loss(&set, STILL(""), twos, &evaluated), 2 * plain, 1e-6);
    assert_near(evaluated, plain, 1e-5); /* is plain all the same */
    double smoothed = first_loss(&set, STILL(", \"label_smoothing\": 0.2"), NULL, &evaluated);
    assert_true(fabs(smoothed - plain) > 1e-6);
    assert_near(evaluated, plain, 1e-5);
    synthetic_close(&set);
}

static void same_setup_gives_same_bits(void **state)
{
    (void)state;
    struct synthetic_set set;
    struct run_record first, again;
    struct run_plan plan = {.network = DROPPING, .training = SHUFFLED, .seed = 3};
    synthetic_open_classes(&set, 36, 10, 7);
    run_well(&first, &set, &plan);
    assert_int_equal(first.result->step, STEPS);
    plan.threads = 3;
    plan.vary_threads = true;
    run_well(&again, &set, &plan);
    run_assert_equal(&first, &again);
    run_record_deinit(&again);
    plan.seed = 4; /* the comparison can fail */
    run_well(&again, &set, &plan);
    assert_true(run_point_at(&first, "training_loss", 1) !=
                run_point_at(&again, "training_loss", 1));
    run_record_deinit(&again);
    run_record_deinit(&first);
    synthetic_close(&set);
}

/* Shuffled; and sorted by length, averaged, smoothed, in pieces. */
static void resumed_run_equals_whole(void **state)
{
    (void)state;
    struct synthetic_set set;
    synthetic_open_classes(&set, 36, 10, 7);
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

static void killed_anywhere(void **state)
{
    (void)state;
    struct synthetic_set set;
    synthetic_open_classes(&set, 36, 10, 7);
    const struct run_plan plan = {.network = DROPPING, .training = SHUFFLED, .seed = 5};
    run_assert_survives_kills(&set, plan, 2, 42);
    synthetic_close(&set);
}

static void expect_refused(const struct synthetic_set *set, const char *network,
                           const char *training, const char *words)
{
    struct run_record record;
    const struct run_plan plan = {.network = network, .training = training};
    run_do(&record, set, &plan);
    assert_int_equal(record.status, NN_ERR_INVALID);
    if (!strstr(record.err.text, words)) {
        fail_msg("%s", record.err.text);
    }
    run_record_deinit(&record);
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    struct synthetic_set set;
    const struct nn_window_options windows = {.length = 5, .length_given = true, .stride = 3};
    synthetic_open_classes(&set, 12, 0, 0);
    set.sort = NN_SEQUENCE_SORT_LENGTH_DESCENDING;
    expect_refused(&set, SMALL, "{\"shuffle\": \"once\"}", "sorted or shuffled");
    set.sort = NN_SEQUENCE_SORT_NONE;
    synthetic_cut(&set, &windows);
    expect_refused(&set, SMALL, "{}", "not of each of its windows");
    synthetic_close(&set);
}

static void memory_is_planned_and_may_fail(void **state)
{
    (void)state;
    struct synthetic_set set;
    synthetic_open_classes(&set, 36, 5, 7);
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
        cmocka_unit_test(classes_are_learned),
        cmocka_unit_test(figures_are_those_of_the_predictions),
        cmocka_unit_test(training_and_evaluation_agree),
        cmocka_unit_test(same_setup_gives_same_bits),
        cmocka_unit_test(resumed_run_equals_whole),
        cmocka_unit_test(killed_anywhere),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(memory_is_planned_and_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
