/* SPDX-License-Identifier: MIT
 *
 * Tiny problems end to end: each must reach a stated loss. Sizes at the edges, divergence, early
 * stopping and the evaluation of the network kept. Cases A10, A17, A19, A24, A26, A28 of
 * tests/README.md.
 */
#include "tests/support/cmocka_all.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/training/predictions.h"
#include "tests/support/runs.h"

#define INPUT   "{\"kind\": \"image_input\", \"name\": \"input\"},"
#define SOFTMAX "{\"kind\": \"softmax\", \"name\": \"softmax\"}"
#define FC(name, outputs)                                                                          \
    "{\"kind\": \"fully_connected\", \"name\": \"" name "\", \"outputs\": " outputs "},"

static const char LINEAR[] = "{\"layers\": [" INPUT FC("fc", "2") SOFTMAX "]}";
static const char LINEAR_FOUR[] = "{\"layers\": [" INPUT FC("fc", "4") SOFTMAX "]}";
static const char HIDDEN[] = "{\"layers\": [" INPUT FC(
    "fc1", "16") "{\"kind\": \"relu\", \"name\": \"relu1\"}," FC("fc2", "2") SOFTMAX "]}";
static const char CNN[] =
    "{\"layers\": [" INPUT
    "{\"kind\": \"convolution\", \"name\": \"conv1\", \"filters\": 6, \"kernel\": 3},"
    "{\"kind\": \"batch_norm\", \"name\": \"bn1\"}, {\"kind\": \"relu\", \"name\": \"relu1\"},"
    "{\"kind\": \"max_pool\", \"name\": \"pool1\", \"kernel\": 2}," FC("fc", "4") SOFTMAX "]}";

struct problem {
    const char *name, *network, *training;
    struct synthetic_spec spec;
    double loss, test_accuracy; /* to reach; test_accuracy 0: there is no test part */
};

static const struct problem PROBLEMS[] = {
    {"xor, adam",
     HIDDEN,
     "{\"solver\": \"adam\", \"learning_rate\": 0.03, \"epochs\": 300, \"batch_size\": 4, \"l2\": "
     "0}",
     {1, 2, 4, 0, synthetic_xor},
     0.02,
     0},
    {"xor, sgdm",
     HIDDEN,
     "{\"solver\": \"sgdm\", \"learning_rate\": 0.1, \"epochs\": 500, \"batch_size\": 4, \"l2\": "
     "0}",
     {1, 2, 4, 0, synthetic_xor},
     0.05,
     0},
    {"blobs, sgdm",
     LINEAR,
     "{\"solver\": \"sgdm\", \"learning_rate\": 0.1, \"epochs\": 30, \"batch_size\": 16}",
     {2, 2, 128, 64, synthetic_blobs},
     0.1,
     0.99},
    {"blobs, rmsprop",
     LINEAR,
     "{\"solver\": \"rmsprop\", \"learning_rate\": 0.02, \"epochs\": 30, \"batch_size\": 16}",
     {2, 2, 128, 64, synthetic_blobs},
     0.1,
     0.99},
    {"bars, adam",
     CNN,
     "{\"solver\": \"adam\", \"learning_rate\": 0.01, \"epochs\": 6, \"batch_size\": 16, "
     "\"shuffle\": \"every_epoch\"}",
     {8, 8, 128, 64, synthetic_bars},
     0.1,
     0.95},
};

static void problems_are_learned(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof PROBLEMS / sizeof PROBLEMS[0]; i++) {
        const struct problem *p = &PROBLEMS[i];
        struct synthetic_set set;
        struct run_record record;
        synthetic_open(&set, &p->spec);
        const struct run_plan plan = {.network = p->network, .training = p->training, .seed = 1};
        run_do(&record, &set, &plan);
        if (record.status != NN_OK) {
            fail_msg("%s: %s", p->name, record.err.text);
        }
        double loss = record.result->parts[NN_PART_TRAIN].evaluation.loss;
        const struct nn_part_result *test = &record.result->parts[NN_PART_TEST];
        if (!(loss <= p->loss) ||
            (test->present && !(test->evaluation.accuracy.value >= p->test_accuracy))) {
            fail_msg("%s: loss %g, wanted %g; test accuracy %g, wanted %g", p->name, loss, p->loss,
                     test->evaluation.accuracy.value, p->test_accuracy);
        }
        run_record_deinit(&record);
        synthetic_close(&set);
    }
}

/* A10: matrix, accuracy and predictions are of the same network and the same samples. */
static void evaluation_is_consistent(void **state)
{
    (void)state;
    const struct synthetic_spec spec = {8, 8, 64, 37, synthetic_bars};
    struct synthetic_set set;
    struct run_record record;
    synthetic_open(&set, &spec);
    const struct run_plan plan = {.network = CNN,
                                  .training = "{\"epochs\": 1, \"batch_size\": 16, \"shuffle\": "
                                              "\"every_epoch\"}"};
    run_do(&record, &set, &plan);
    const struct nn_part_result *test = &record.result->parts[NN_PART_TEST];
    uint64_t trace = 0;
    uint64_t right = 0;
    for (size_t c = 0; c < 4; c++) {
        trace += test->evaluation.confusion.counts[c * 5];
    }
    for (size_t i = 0; i < 37; i++) {
        const struct nn_prediction *p = &test->predictions[i];
        assert_int_equal(p->sample, set.side[NN_PART_TEST].items[i]);
        assert_int_equal(p->truth, nn_prepared_label(set.prepared, p->sample));
        assert_true(p->probability > 0.0F && p->probability <= 1.0F);
        right += p->truth == p->predicted;
    }
    assert_int_equal(trace, right);
    assert_true((double)right / 37.0 == test->evaluation.accuracy.value);
    struct nn_prediction *read = NULL;
    size_t n = 0;
    char path[128];
    (void)snprintf(path, sizeof path, "%s/predictions", set.directory);
    assert_int_equal(nn_predictions_write(path, test->predictions, 37, NULL), NN_OK);
    assert_int_equal(nn_predictions_read(path, &read, &n, NULL), NN_OK);
    assert_int_equal(n, 37);
    assert_memory_equal(read, test->predictions, n * sizeof *read);
    free(read);
    assert_int_equal(truncate(path, 100), 0);
    assert_int_equal(nn_predictions_read(path, &read, &n, NULL), NN_ERR_CORRUPT);
    run_record_deinit(&record);
    synthetic_close(&set);
}

/* A17: fewer samples than a batch, with drop_last: one partial batch an epoch, and it learns. */
static void set_smaller_than_a_batch(void **state)
{
    (void)state;
    const struct synthetic_spec spec = {2, 2, 10, 0, synthetic_blobs};
    struct synthetic_set set;
    struct run_record record;
    synthetic_open(&set, &spec);
    const struct run_plan plan = {.network = LINEAR,
                                  .training = "{\"epochs\": 20, \"batch_size\": 1024, "
                                              "\"drop_last\": true, \"learning_rate\": 0.1}"};
    run_do(&record, &set, &plan);
    assert_int_equal(record.status, NN_OK);
    assert_int_equal(record.result->step, 20);
    assert_true(run_point_at(&record, "training_loss", 1) > 0.1);
    assert_true(run_last(&record, "training_loss") <
                0.7 * run_point_at(&record, "training_loss", 1));
    run_record_deinit(&record);
    synthetic_close(&set);
}

/* A19: 17 samples in batches of 16 with batch norm, on images and on vectors: the last batch has
 * one sample and everything stays finite. */
static void last_batch_of_one(void **state)
{
    (void)state;
    static const char VECTOR[] = "{\"layers\": [" INPUT FC(
        "fc1", "8") "{\"kind\": \"batch_norm\", \"name\": \"bn1\"}," FC("fc2", "4") SOFTMAX "]}";
    const char *const networks[] = {CNN, VECTOR};
    const struct synthetic_spec spec = {8, 8, 17, 4, synthetic_bars};
    struct synthetic_set set;
    synthetic_open(&set, &spec);
    for (size_t i = 0; i < 4; i++) {
        struct run_record record;
        const struct run_plan plan = {.network = networks[i % 2],
                                      .training = i < 2 ? "{\"epochs\": 3, \"batch_size\": 16}"
                                                        : "{\"epochs\": 3, \"batch_size\": 16, "
                                                          "\"batch_norm_statistics\": \"moving\"}"};
        run_do(&record, &set, &plan);
        assert_int_equal(record.status, NN_OK);
        assert_int_equal(record.result->step, 6);
        assert_true(isfinite(record.result->parts[NN_PART_TEST].evaluation.loss));
        run_record_deinit(&record);
    }
    synthetic_close(&set);
}

/* A26, A28: the rate jumps in the second epoch. The run ends at the first step that is not finite,
 * says which, and the network kept is that of the best validation before. */
static void divergence_keeps_the_best(void **state)
{
    (void)state;
    const struct synthetic_spec spec = {8, 8, 64, 16, synthetic_bars};
    struct synthetic_set set;
    struct run_record record;
    synthetic_open(&set, &spec);
    synthetic_hold_out(&set, 16);
    const struct run_plan plan = {
        .network = "{\"layers\": [" INPUT FC("fc1", "8") FC("fc2", "8") FC("fc3", "4") SOFTMAX "]}",
        .training = "{\"epochs\": 30, \"batch_size\": 8, \"learning_rate\": 0.01, "
                    "\"checkpoint_interval_seconds\": 0, \"validation_frequency\": 0, "
                    "\"schedule\": {\"kind\": \"piecewise\", \"drop_factor\": 1e8, "
                    "\"drop_period\": 1}}"};
    run_do(&record, &set, &plan);
    assert_int_equal(record.status, NN_ERR_DIVERGED);
    assert_non_null(record.result);
    assert_int_equal(record.result->outcome, NN_TRAINING_DIVERGED);
    uint64_t step = record.result->diverged_step;
    assert_true(step > 6 && step < 30);
    assert_int_equal(record.result->step, step);
    assert_true(!isfinite(run_last(&record, "gradient_norm")));
    for (size_t i = 0; i < record.n_points; i++) {
        assert_true(record.points[i].step <= step); /* nothing after it */
    }
    assert_int_equal(record.result->best_step, 6);
    assert_true(isfinite(record.result->best_validation_loss));
    assert_true(isfinite(record.result->parts[NN_PART_TEST].evaluation.loss));
    assert_true(record.result->parts[NN_PART_VALIDATION].evaluation.loss ==
                record.result->best_validation_loss);
    assert_true(record.last_checkpoint < step);
    assert_non_null(record.network);
    run_record_deinit(&record);
    /* resumed from the last finite checkpoint it diverges at the same step */
    struct run_plan again = plan;
    again.resume = true;
    run_do(&record, &set, &again);
    assert_int_equal(record.status, NN_ERR_DIVERGED);
    assert_int_equal(record.result->diverged_step, step);
    run_record_deinit(&record);
    synthetic_close(&set);
}

/* Diverging before anything was worth keeping leaves no network, but still a result. */
static void divergence_at_once(void **state)
{
    (void)state;
    const struct synthetic_spec spec = {2, 2, 64, 0, synthetic_blobs};
    struct synthetic_set set;
    struct run_record record;
    synthetic_open(&set, &spec);
    const struct run_plan plan = {.network = HIDDEN,
                                  .training = "{\"epochs\": 9, \"batch_size\": 1, "
                                              "\"learning_rate\": 1e12}"};
    run_do(&record, &set, &plan);
    assert_int_equal(record.status, NN_ERR_DIVERGED);
    assert_null(record.network);
    assert_false(record.result->parts[NN_PART_TRAIN].present);
    assert_non_null(strstr(record.err.text, "step"));
    run_record_deinit(&record);
    synthetic_close(&set);
}

static void patience_ends_the_run(void **state)
{
    (void)state;
    const struct synthetic_spec spec = {8, 8, 64, 0, synthetic_bars};
    struct synthetic_set set;
    struct run_record record;
    synthetic_open(&set, &spec);
    synthetic_hold_out(&set, 16);
    /* a rate of nearly nothing: no validation after the first is better by more than rounding */
    const struct run_plan plan = {
        .network = LINEAR_FOUR,
        .training = "{\"epochs\": 50, \"batch_size\": 16, \"learning_rate\": 1e-30, \"patience\": "
                    "3, \"validation_frequency\": 0}"};
    run_do(&record, &set, &plan);
    assert_int_equal(record.status, NN_OK);
    assert_true(record.result->patience_stopped);
    assert_int_equal(record.result->outcome, NN_TRAINING_COMPLETED);
    assert_int_equal(record.result->step, 4 * 3);
    assert_int_equal(record.result->best_step, 3);
    run_record_deinit(&record);
    synthetic_close(&set);
}

/* A24: constant pixels; their channel has no spread, and training stays finite. */
static unsigned char make_constant(size_t i, unsigned char *pixels)
{
    memset(pixels, 77, 4);
    return (unsigned char)(i % 2);
}

static void constant_channel_stays_finite(void **state)
{
    (void)state;
    const struct synthetic_spec spec = {2, 2, 16, 0, make_constant};
    struct synthetic_set set;
    struct run_record record;
    synthetic_open(&set, &spec);
    const struct run_plan plan = {.network = LINEAR,
                                  .training = "{\"epochs\": 2, \"batch_size\": 8}",
                                  .normalisation = NN_NORMALISATION_ZSCORE};
    run_do(&record, &set, &plan);
    assert_int_equal(record.status, NN_OK);
    assert_true(fabs(record.result->parts[NN_PART_TRAIN].evaluation.loss - log(2)) < 0.1);
    run_record_deinit(&record);
    synthetic_close(&set);
}

static void memory_cap_refuses_before_the_first_step(void **state)
{
    (void)state;
    const struct synthetic_spec spec = {8, 8, 64, 0, synthetic_bars};
    struct synthetic_set set;
    synthetic_open(&set, &spec);
    for (size_t cap = 1024; cap < (size_t)1 << 22; cap *= 2) {
        struct run_record record;
        const struct run_plan plan = {
            .network = CNN, .training = "{\"epochs\": 1, \"batch_size\": 16}", .memory_cap = cap};
        run_do(&record, &set, &plan);
        if (record.status != NN_OK) {
            assert_int_equal(record.status, NN_ERR_MEMORY);
            assert_int_equal(record.n_points, 0);
        }
        run_record_deinit(&record);
    }
    synthetic_close(&set);
}

/* Every allocation from the cap fails once: a clean ERR_MEMORY each time, until none is left. */
static void every_allocation_may_fail(void **state)
{
    (void)state;
    const struct synthetic_spec spec = {8, 8, 16, 4, synthetic_bars};
    struct synthetic_set set;
    bool pending = false;
    size_t n = 0;
    synthetic_open(&set, &spec);
    while (!pending) {
        struct run_record record;
        const struct run_plan plan = {.network = CNN,
                                      .training = "{\"epochs\": 1, \"batch_size\": 16, "
                                                  "\"solver\": \"adam\"}",
                                      .fail_at = ++n};
        run_do(&record, &set, &plan);
        pending = record.failure_pending;
        assert_int_equal(record.status, pending ? NN_OK : NN_ERR_MEMORY);
        run_record_deinit(&record);
    }
    assert_true(n > 10);
    synthetic_close(&set);
}

/* What a dry run promises is at least what the run takes, and not much more. */
static void plan_is_close_to_the_run(void **state)
{
    (void)state;
    const struct synthetic_spec spec = {8, 8, 64, 4, synthetic_bars};
    struct synthetic_set set;
    struct run_record record;
    synthetic_open(&set, &spec);
    const struct run_plan plan = {.network = CNN,
                                  .training = "{\"epochs\": 1, \"batch_size\": 64, \"solver\": "
                                              "\"adam\"}"};
    run_do(&record, &set, &plan);
    assert_true(record.planned_bytes >= record.result->plan_bytes);
    assert_true(record.planned_bytes <= 2 * record.result->plan_bytes + (1 << 21));
    run_record_deinit(&record);
    synthetic_close(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(problems_are_learned),
        cmocka_unit_test(evaluation_is_consistent),
        cmocka_unit_test(set_smaller_than_a_batch),
        cmocka_unit_test(last_batch_of_one),
        cmocka_unit_test(divergence_keeps_the_best),
        cmocka_unit_test(divergence_at_once),
        cmocka_unit_test(patience_ends_the_run),
        cmocka_unit_test(constant_channel_stays_finite),
        cmocka_unit_test(memory_cap_refuses_before_the_first_step),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(plan_is_close_to_the_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
